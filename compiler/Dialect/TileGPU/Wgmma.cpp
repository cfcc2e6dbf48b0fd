// What holds of products of warp groups (PTX ISA, "Asynchronous Multiply-and-Accumulate
// Instruction: wgmma.mma_async": shapes, types, and where matrices may be transposed).

#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tilegpu;

namespace {

struct OperandType {
  llvm::StringLiteral name;
  unsigned bits;
  /// The accumulators that there are, one or two.
  llvm::StringLiteral accumulator, otherAccumulator;
};

constexpr OperandType operandTypes[] = {
    {"f16", 16, "f32", "f16"}, {"bf16", 16, "f32", "f32"}, {"tf32", 32, "f32", "f32"},
    {"s8", 8, "s32", "s32"},   {"u8", 8, "s32", "s32"},    {"e4m3", 8, "f32", "f16"},
    {"e5m2", 8, "f32", "f16"},
};

const OperandType *operandTypeNamed(StringRef name) {
  const auto *found =
      llvm::find_if(operandTypes, [&](const OperandType &type) { return type.name == name; });
  return found == std::end(operandTypes) ? nullptr : found;
}

/// Integers have fewer shapes than floats.
bool hasShape(int32_t n, StringRef accumulator) {
  bool isInteger = accumulator == "s32";
  return n >= 8 && n <= 256 && n % (isInteger && n != 8 && n != 24 ? 16 : 8) == 0;
}

LogicalResult verifyTypes(WgmmaOp op) {
  const OperandType *type = operandTypeNamed(op.getOperand());
  if (!type)
    return op.emitOpError("expected the operand type f16, bf16, tf32, s8, u8, e4m3 or e5m2, got ")
           << op.getOperandAttr();
  StringRef accumulator = op.getAccumulator();
  if (accumulator != type->accumulator && accumulator != type->otherAccumulator) {
    auto error = op.emitOpError("expected accumulators of ") << type->accumulator;
    if (type->otherAccumulator != type->accumulator)
      error << " or " << type->otherAccumulator;
    return error << " for operands of " << type->name << ", got " << op.getAccumulatorAttr();
  }
  if (!hasShape(op.getN(), accumulator))
    return op.emitOpError("expected n to be a multiple of 8 from 8 to 256")
           << (accumulator == "s32" ? " (of integers 8, 24 or a multiple of 16)" : "") << ", got "
           << op.getN();
  if ((op.getTransposeA() || op.getTransposeB()) && type->bits != 16)
    return op.emitOpError("expected 16-bit operands of a transposed matrix, got ")
           << op.getOperandAttr();
  if (op.getTransposeA() && op.hasRegistersOfA())
    return op.emitOpError("expected a transposed A in shared memory, got registers");
  return success();
}

LogicalResult verifySteps(WgmmaOp op) {
  if (op.getB().empty())
    return op.emitOpError("expected a descriptor of b for each step, got none");
  size_t perStep = op.hasRegistersOfA() ? 4 : 1;
  if (op.getA().size() != perStep * op.getB().size())
    return op.emitOpError("expected ")
           << perStep * op.getB().size() << " operands a for " << op.getB().size()
           << " steps (one descriptor or four registers each), got " << op.getA().size();
  Type first = op.getA().front().getType();
  for (Type type : op.getA().getTypes())
    if (type != first)
      return op.emitOpError("expected operands a of one type, got ") << first << " and " << type;
  if (isa<VectorType>(first) && op.getOperand() != "f16")
    return op.emitOpError("expected registers of a of i32 for ")
           << op.getOperand() << ", got " << first;
  return success();
}

LogicalResult verifyAccumulators(WgmmaOp op) {
  StringRef name = op.getAccumulator();
  Builder b(op.getContext());
  Type wanted = name == "f16"   ? Type(VectorType::get(2, b.getF16Type()))
                : name == "s32" ? Type(b.getI32Type())
                                : Type(b.getF32Type());
  size_t count = op.getN() / (name == "f16" ? 4 : 2);
  if (op.getAccumulators().size() != count)
    return op.emitOpError("expected ")
           << count << " accumulators of " << wanted << ", got " << op.getAccumulators().size();
  for (Type type : op.getAccumulators().getTypes())
    if (type != wanted)
      return op.emitOpError("expected accumulators of ") << wanted << ", got " << type;
  return success();
}

/// Whether `use` leaves a product in flight alone: it goes on, or around a loop.
bool mayTake(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto next = dyn_cast<WgmmaOp>(user)) {
    OperandRange taken = next.getAccumulators();
    unsigned first = taken.getBeginOperandIndex(), number = use.getOperandNumber();
    return number >= first && number < first + taken.size();
  }
  return isa<WgmmaWaitOp, RegionBranchOpInterface, UnrealizedConversionCastOp>(user) ||
         user->hasTrait<OpTrait::IsTerminator>();
}

} // namespace

unsigned WgmmaOp::stepSize() { return 256 / operandTypeNamed(getOperand())->bits; }

LogicalResult WgmmaOp::verify() {
  if (failed(verifySteps(*this)) || failed(verifyTypes(*this)) || failed(verifyAccumulators(*this)))
    return failure();
  for (Value product : getProducts())
    for (OpOperand &use : product.getUses())
      if (!mayTake(use))
        return emitOpError("expected products to be used by tilegpu.wgmma as accumulators, or by "
                           "tilegpu.wgmma_wait, got a use by '")
               << use.getOwner()->getName() << "'";
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  // The PTX ISA gives no bound, and ptxas takes any; more than seven are nobody's practice.
  if (getPending() > 7)
    return emitOpError("expected 0 to 7 groups pending, got ") << int32_t(getPending());
  return success();
}
