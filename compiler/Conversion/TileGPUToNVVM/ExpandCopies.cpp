// Below the emulator's cut: asynchronous copies as PTX text.
//
// LLVM's operation has a number of bytes to copy, zeros being written behind them. ptxas makes a
// predicate of it again: "0 or 16" costs two instructions a copy that the predicate itself, as the
// operand `ignore-src` (PTX ISA, "cp.async"), does not.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln {

/// i1: all of the copy's bytes are copied, none otherwise; null where some may be.
static Value isCopied(NVVM::CpAsyncOp op) {
  Value copied = op.getCpSize();
  auto choice = copied ? copied.getDefiningOp<LLVM::SelectOp>() : LLVM::SelectOp();
  bool isAllOrNone = choice &&
                     getConstantIntValue(choice.getTrueValue()) == int64_t(op.getSize()) &&
                     getConstantIntValue(choice.getFalseValue()) == 0;
  return isAllOrNone ? choice.getCondition() : Value();
}

LogicalResult expandCopyToPTX(NVVM::CpAsyncOp op, OpBuilder &b) {
  Value condition = isCopied(op);
  if (!condition)
    return success();
  std::string text = "{\n"
                     ".reg .pred ignored;\n"
                     "not.pred ignored, $2;\n"
                     "cp.async." +
                     stringifyLoadCacheModifierKind(op.getModifier()).str() +
                     ".shared.global [$0], [$1], " + std::to_string(op.getSize()) +
                     ", ignored;\n"
                     "}";
  assemble(b, op.getLoc(), TypeRange(), {op.getDst(), op.getSrc(), condition}, text,
           "l,l,b,~{memory}");
  op.erase();
  return success();
}

} // namespace kiln
