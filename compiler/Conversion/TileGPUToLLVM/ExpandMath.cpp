// Which operations of `math` a target cannot select, and by what they are replaced.
//
// f16 and bf16 are computed in f32. f32 and f64 use the formulas of Expansion/Math. What LLVM
// selects on all targets (absolute values, roots, rounding, fma, counting bits) stays, and fma of
// bf16 and logarithms of f32 where the target has them.

#include "compiler/Conversion/TileGPUToLLVM/DeviceMath.h"
#include "compiler/Conversion/TileGPUToLLVM/DropStores.h"
#include "compiler/Conversion/TileGPUToLLVM/ExpandAngles.h"
#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln {
namespace {

/// Selectable as they are in f32 and f64 (and, with `small` set, in f16 and bf16).
bool isNative(Operation *op, bool small, const TargetLowering &device) {
  if (isa<math::AbsFOp, math::CopySignOp>(op))
    return true;
  if (isa<math::FmaOp>(op))
    return !op->getResult(0).getType().isBF16() || device.fusesBF16();
  if (isa<math::LogOp, math::Log2Op, math::Log10Op>(op))
    return !small && !op->getResult(0).getType().isF64() && device.hasLogarithms();
  return !small &&
         isa<math::SqrtOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op);
}

/// Of f32, and permitted to be an approximation (`afn`).
bool mayApproximate(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && op->getOperand(0).getType().isF32() &&
         bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

bool isFunctionOfAngle(Operation *op) {
  return isa<math::SinOp, math::CosOp, math::TanOp>(op) && op->getResult(0).getType().isF32() &&
         !mayApproximate(op);
}

bool hasFunctionsOfAngles(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isFunctionOfAngle(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult expandOperation(Operation *op, const TargetLowering &device) {
  Type type = op->getResult(0).getType();
  bool small = type.isF16() || type.isBF16();
  if (!isa<FloatType>(type))
    return success();
  OpBuilder b(op);
  VectorBuilder v(b, op->getLoc());
  DeviceMath estimates(device);
  if (Value fast = mayApproximate(op) ? estimates.fastFunction(v, op) : Value()) {
    op->getResult(0).replaceAllUsesWith(fast);
    op->erase();
    return success();
  }
  if (isNative(op, small, device))
    return success();
  Type wide = small ? b.getF32Type() : type;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand.getType() == type && small ? v.make<arith::ExtFOp>(wide, operand)
                                                          : operand);
  Value result;
  if (small && (isNative(op, false, device) || isa<math::FmaOp>(op))) {
    OperationState state(op->getLoc(), op->getName(), operands, wide, op->getAttrs());
    result = b.create(state)->getResult(0);
  } else {
    result = MathBuilder(v, estimates, wide).function(op, operands);
  }
  if (!result)
    return op->emitError() << "'" << op->getName() << "' of " << type << " is not supported on "
                           << device.target().name << " yet";
  op->getResult(0).replaceAllUsesWith(small ? v.make<arith::TruncFOp>(type, result) : result);
  op->erase();
  return success();
}

/// Divisions that need not be correctly rounded, where the target has an instruction for it: of any
/// divisor (`arcp`), or of one that is not too large (`afn`).
void expandDivision(arith::DivFOp op, const TargetLowering &device) {
  if (!op.getType().isF32())
    return;
  OpBuilder b(op);
  Value quick;
  if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
    quick =
        LLVM::FDivOp::create(b, op.getLoc(), op.getLhs(), op.getRhs(), LLVM::FastmathFlags::afn);
  else if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::arcp))
    quick = device.divideApproximately(b, op.getLoc(), op.getLhs(), op.getRhs());
  if (quick) {
    op.replaceAllUsesWith(quick);
    op.erase();
  }
}

/// LLVM's own are x - trunc(x / y) * y. Small floats' are exact in f32.
void expandRemainder(arith::RemFOp op, const TargetLowering &device) {
  Type type = op.getType();
  bool small = type.isF16() || type.isBF16();
  OpBuilder b(op);
  VectorBuilder v(b, op.getLoc());
  Type wide = small ? b.getF32Type() : type;
  auto widened = [&](Value x) { return small ? v.make<arith::ExtFOp>(wide, x) : x; };
  DeviceMath estimates(device);
  Value result =
      MathBuilder(v, estimates, wide).remainder(widened(op.getLhs()), widened(op.getRhs()));
  op.replaceAllUsesWith(small ? v.make<arith::TruncFOp>(type, result) : result);
  op.erase();
}

} // namespace

LogicalResult expandMath(ModuleOp module, const TargetLowering &device) {
  // Angles share branches: one that nothing needs would take part in all of them.
  if (hasFunctionsOfAngles(module))
    dropStores(module);
  SmallVector<Operation *> functions, ofAngles;
  SmallVector<arith::DivFOp> divisions;
  SmallVector<arith::RemFOp> remainders;
  module.walk([&](Operation *op) {
    if (isFunctionOfAngle(op))
      ofAngles.push_back(op);
    else if (isa<math::MathDialect>(op->getDialect()))
      functions.push_back(op);
    else if (auto division = dyn_cast<arith::DivFOp>(op))
      divisions.push_back(division);
    else if (auto remainder = dyn_cast<arith::RemFOp>(op))
      remainders.push_back(remainder);
  });
  DeviceMath estimates(device);
  expandAngles(ofAngles, estimates);
  for (Operation *op : functions)
    if (failed(expandOperation(op, device)))
      return failure();
  for (arith::DivFOp division : divisions)
    expandDivision(division, device);
  for (arith::RemFOp remainder : remainders)
    expandRemainder(remainder, device);
  return success();
}

} // namespace kiln
