// Expansion of target operations: a failed assertion traps, and what a kernel prints is lost, with
// a warning.
//
// Printing needs the host to serve the kernel while it runs (hostcalls), through a hidden argument
// that the vendor's compiler and runtime agree on; Kiln's kernels have no hidden arguments.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

using namespace mlir;

namespace kiln {

/// Every register of a printed tensor has an operation of its own: the last of a place warns.
static bool isLastOfItsPlace(tilegpu::PrintOp op) {
  bool hasOthers = false;
  op->getParentOfType<LLVM::LLVMFuncOp>().walk(
      [&](tilegpu::PrintOp other) { hasOthers |= other != op && other.getLoc() == op.getLoc(); });
  return !hasOthers;
}

LogicalResult expandPrintToNothing(tilegpu::PrintOp op, const TargetInfo &target) {
  if (isLastOfItsPlace(op))
    op.emitWarning() << "nothing is printed on " << target.name
                     << ": its code has no way to the host (emu:" << target.arch << " prints)";
  op.erase();
  return success();
}

LogicalResult expandFailToTrap(tilegpu::FailOp op, OpBuilder &b) {
  LLVM::Trap::create(b, op.getLoc());
  op.erase();
  return success();
}

} // namespace kiln
