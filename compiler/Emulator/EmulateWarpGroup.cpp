// Products of warp groups, the proxy fences between ordinary stores and them, and the groups'
// registers.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/emulator/kiln_emu.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Replaces `op` by what the call wrote to `out`, result by result.
FailureOr<bool> takeResults(Operation *op, OpBuilder &b, Value out) {
  Location loc = op->getLoc();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Value address = LLVM::GEPOp::create(b, loc, out.getType(), b.getI8Type(), out,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(4 * index))});
    result.replaceAllUsesWith(LLVM::LoadOp::create(b, loc, result.getType(), address));
  }
  op->erase();
  return true;
}

FailureOr<bool> multiply(tilegpu::WgmmaOp op, OpBuilder &b, ThreadCode &code) {
  Location loc = op.getLoc();
  bool hasRegisters = op.hasRegistersOfA();
  unsigned maxSteps = ThreadCode::slotBytes / (hasRegisters ? 16 : 8);
  if (op.numSteps() > maxSteps)
    return op.emitError() << "'tilegpu.wgmma' of more than " << maxSteps
                          << " steps is not emulated";
  Value product = code.words(b, loc,
                             {int32_t(op.getN()), int32_t(op.numSteps()),
                              emulatedTypeNamed(op.getOperand(), false),
                              emulatedTypeNamed(op.getAccumulator(), false), hasRegisters,
                              op.getTransposeA(), op.getTransposeB(), 0});
  Value adds = code.i32(b, loc, 1);
  if (op.getUseAccumulator())
    adds = LLVM::ZExtOp::create(b, loc, b.getI32Type(), op.getUseAccumulator());
  Value out = code.slot(3);
  code.call(b, op, "kiln_emu_wgmma", {},
            {product, code.pass(b, loc, 0, op.getA()), code.pass(b, loc, 1, op.getB()),
             code.pass(b, loc, 2, op.getAccumulators()), adds, out});
  return takeResults(op, b, out);
}

FailureOr<bool> wait(Operation *op, OpBuilder &b, ThreadCode &code, unsigned pending) {
  Location loc = op->getLoc();
  Value out = code.slot(3);
  code.call(b, op, "kiln_emu_wgmma_wait", {},
            {code.i32(b, loc, pending), code.i32(b, loc, op->getNumOperands()),
             code.pass(b, loc, 0, op->getOperands()), out});
  return takeResults(op, b, out);
}

/// One of the calls that have no operands.
FailureOr<bool> plain(Operation *op, OpBuilder &b, ThreadCode &code, StringRef function) {
  code.call(b, op, function, {}, {});
  op->erase();
  return true;
}

/// Whether the fence is one between ordinary accesses and asynchronous ones of shared memory.
bool ordersSharedMemory(NVVM::FenceProxyOp fence) {
  return fence.getKind() == NVVM::ProxyKind::async ||
         (fence.getKind() == NVVM::ProxyKind::async_shared &&
          fence.getSpace() == NVVM::SharedSpace::shared_cta);
}

} // namespace

FailureOr<bool> emulateWarpGroup(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  // Hopper alone has them.
  if (isa<tilegpu::WgmmaOp, tilegpu::WgmmaWaitOp, NVVM::SetMaxRegisterOp>(op) &&
      code.target().archNumber != 90)
    return op->emitError() << "'" << op->getName() << "' is not supported on "
                           << code.target().name;
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](tilegpu::WgmmaOp product) { return multiply(product, b, code); })
      .Case([&](tilegpu::WgmmaWaitOp waiting) { return wait(op, b, code, waiting.getPending()); })
      .Case(
          [&](NVVM::WgmmaWaitGroupSyncOp waiting) { return wait(op, b, code, waiting.getGroup()); })
      .Case([&](NVVM::WgmmaGroupSyncAlignedOp) {
        return plain(op, b, code, "kiln_emu_wgmma_commit");
      })
      .Case([&](NVVM::WgmmaFenceAlignedOp) { return plain(op, b, code, "kiln_emu_wgmma_fence"); })
      .Case([&](NVVM::SetMaxRegisterOp set) -> FailureOr<bool> {
        code.call(b, op, "kiln_emu_set_max_registers", {},
                  code.i32(b, op->getLoc(), set.getRegCount()));
        op->erase();
        return true;
      })
      .Case([&](NVVM::FenceProxyOp fence) -> FailureOr<bool> {
        if (!ordersSharedMemory(fence))
          return false;
        return plain(op, b, code, "kiln_emu_proxy_fence");
      })
      .Default([](Operation *) { return false; });
}

} // namespace kiln
