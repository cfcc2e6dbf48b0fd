// Expansion of target operations: waits for mbarriers as PTX text.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace kiln {

/// A try may end before the phase does (PTX ISA, "mbarrier.try_wait"). The braces make the label
/// and the predicate this text's own.
LogicalResult expandPhaseWaitToPTX(NVVM::MBarrierTryWaitParityOp op, OpBuilder &b) {
  static constexpr char text[] = "{\n"
                                 ".reg .pred complete;\n"
                                 "again:\n"
                                 "mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1;\n"
                                 "@!complete bra again;\n"
                                 "}";
  assemble(b, op.getLoc(), TypeRange(), {op.getAddr(), op.getPhase()}, text, "r,r,~{memory}");
  op.erase();
  return success();
}

} // namespace kiln
