// tile.print and tile.assert: calls of the runtime. Elements print in row-major order.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Expansion/Messages/Messages.h"

using namespace mlir;

namespace kiln::cpu {

/// Calls a function of the runtime (kiln_records.h).
Value KernelEmitter::call(StringRef name, ValueRange arguments, Type result) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        top, loc, name,
        LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(b->getContext()),
                                    SmallVector<Type>(arguments.getTypes())));
  }
  auto called = LLVM::CallOp::create(*b, loc, callee, arguments);
  return result ? called.getResult() : Value();
}

/// Every value is a word of 64 bits.
void KernelEmitter::emitLine(tile::PrintOp op, ArrayRef<Value> indices, Value element) {
  SmallVector<Value> values;
  for (uint32_t axis = 0; axis < 3; ++axis)
    values.push_back(gridValue(programIds, axis));
  values.append(indices.begin(), indices.end());
  if (element)
    values.push_back(element);
  VectorBuilder v = vectors();
  Type word = b->getI64Type(), pointer = LLVM::LLVMPointerType::get(b->getContext());
  Value memory;
  {
    OpBuilder::InsertionGuard restore(*b);
    b->setInsertionPointToStart(entry);
    memory =
        LLVM::AllocaOp::create(*b, loc, pointer, word, v.constant(int64_t(values.size()), word),
                               /*alignment=*/8);
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    Type type = value.getType();
    if (type.isF32())
      value = v.extendFloat(value, b->getF64Type());
    if (isa<FloatType>(type) || isa<LLVM::LLVMPointerType>(type))
      value = v.bitcast(value, word);
    SmallVector<LLVM::GEPArg> place{int32_t(number)};
    Value address = LLVM::GEPOp::create(*b, loc, pointer, word, memory, place);
    LLVM::StoreOp::create(*b, loc, v.resize(value, word), address);
  }
  call("kiln_device_print", {textAddress(*b, loc, module, lineFormat(op)), memory});
}

void KernelEmitter::emitPrint(tile::PrintOp op) {
  Value value = op.getValue();
  if (!value || !isa<RankedTensorType>(value.getType()))
    return emitLine(op, {}, value ? scalar(value) : Value());
  Coords coords = openNest(plan.of(op).nest);
  Value element = elements(value, coords);
  setLevel(level());
  SmallVector<Value> indices;
  for (const Coord &coord : coords)
    indices.push_back(coord.base);
  emitLine(op, indices, element);
  endNest();
}

void KernelEmitter::emitAssert(tile::AssertOp op) {
  Value condition = op.getCondition();
  bool isTensor = isa<RankedTensorType>(condition.getType());
  Value holds;
  if (isTensor) {
    Coords coords = openNest(plan.of(op).nest);
    holds = elements(condition, coords);
    setLevel(level());
  } else {
    holds = scalar(condition);
  }
  VectorBuilder v = vectors();
  Value violated = arith::XOrIOp::create(*b, loc, holds, v.integer(1, holds));
  {
    auto branch = scf::IfOp::create(*b, loc, violated, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(*b);
    b->setInsertionPointToStart(branch.thenBlock());
    std::string place = placeText(loc);
    std::string where = (place.empty() ? "" : place + ": ") + kernel.getName().str();
    call("kiln_device_fail",
         {textAddress(*b, loc, module, where),
          textAddress(*b, loc, module, "tl.device_assert: " + op.getMessage().str()), programIds});
  }
  if (isTensor)
    endNest();
}

} // namespace kiln::cpu
