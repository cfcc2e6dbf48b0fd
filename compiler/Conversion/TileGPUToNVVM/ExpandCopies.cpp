// Expansion of target operations: asynchronous copies as PTX text.
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

NVVM::LoadCacheModifierKind cacheOfCopy(unsigned bytes) {
  return bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
}

/// "cp.async.cg.shared.global [$0], [$1], 16"
static std::string instruction(NVVM::LoadCacheModifierKind cache, unsigned bytes) {
  return "cp.async." + stringifyLoadCacheModifierKind(cache).str() + ".shared.global [$0], [$1], " +
         std::to_string(bytes);
}

/// i1: all `bytes` are copied, none otherwise; null where some may be.
static Value isCopied(Value copied, unsigned bytes) {
  auto choice = copied ? copied.getDefiningOp<LLVM::SelectOp>() : LLVM::SelectOp();
  bool isAllOrNone = choice && getConstantIntValue(choice.getTrueValue()) == int64_t(bytes) &&
                     getConstantIntValue(choice.getFalseValue()) == 0;
  return isAllOrNone ? choice.getCondition() : Value();
}

/// The instruction that copies all bytes where the operand `condition` holds, else writes zeros.
static std::string allOrNone(StringRef instruction, StringRef condition) {
  return "{\n"
         ".reg .pred ignored;\n"
         "not.pred ignored, " +
         condition.str() + ";\n" + instruction.str() +
         ", ignored;\n"
         "}";
}

LogicalResult expandCopyToPTX(NVVM::CpAsyncOp op, OpBuilder &b) {
  Value condition = isCopied(op.getCpSize(), op.getSize());
  if (!condition)
    return success();
  assemble(b, op.getLoc(), TypeRange(), {op.getDst(), op.getSrc(), condition},
           allOrNone(instruction(op.getModifier(), op.getSize()), "$2"), "l,l,b,~{memory}");
  op.erase();
  return success();
}

LogicalResult expandCopyToPTX(tilegpu::GlobalCopyOp op, OpBuilder &b) {
  std::string text = "@$2 " + instruction(cacheOfCopy(op.getBytes()), op.getBytes());
  SmallVector<Value> operands{op.getTo(), op.getFrom(), op.getPredicate()};
  std::string constraints = "l,l,b,";
  if (Value condition = isCopied(op.getCopied(), op.getBytes())) {
    operands.push_back(condition);
    constraints += "b,";
    text = allOrNone(text, "$3");
  } else if (op.getCopied()) {
    operands.push_back(op.getCopied());
    constraints += "r,";
    text += ", $3;";
  } else {
    text += ";";
  }
  assemble(b, op.getLoc(), TypeRange(), operands, text, constraints + "~{memory}");
  op.erase();
  return success();
}

} // namespace kiln
