// Asynchronous copies and mbarriers.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

FailureOr<bool> replaced(Operation *op, Value result) {
  if (op->getNumResults() && result)
    op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

FailureOr<bool> copies(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](NVVM::CpAsyncOp copy) {
        Value bytes = code.i32(b, loc, copy.getSize());
        code.call(b, op, "kiln_emu_cp_async", {},
                  {copy.getDst(), copy.getSrc(), bytes,
                   copy.getCpSize() ? Value(copy.getCpSize()) : bytes});
        return replaced(op, {});
      })
      .Case([&](tilegpu::GlobalCopyOp copy) {
        Value bytes = code.i32(b, loc, copy.getBytes()), none = code.i32(b, loc, 0);
        Value copied = copy.getCopied() ? Value(copy.getCopied()) : bytes;
        auto ifAny = [&](Value value) -> Value {
          return LLVM::SelectOp::create(b, loc, copy.getPredicate(), value, none);
        };
        code.call(b, op, "kiln_emu_cp_async", {},
                  {copy.getTo(), copy.getFrom(), ifAny(bytes), ifAny(copied)});
        return replaced(op, {});
      })
      .Case([&](tilegpu::WarpCopyOp copy) {
        Value isCopied = LLVM::ZExtOp::create(b, loc, b.getI32Type(), copy.getPredicate());
        code.call(b, op, "kiln_emu_warp_copy", {}, {copy.getTo(), copy.getFrom(), isCopied});
        return replaced(op, {});
      })
      .Case([&](ROCDL::SWaitcntOp wait) {
        // GFX9: vmcnt in bits 0 to 3, 14 and 15.
        unsigned counts = wait.getBitfield(), pending = (counts & 15) | (counts >> 14 & 3) << 4;
        code.call(b, op, "kiln_emu_wait_copies", {}, code.i32(b, loc, pending),
                  /*hasPlace=*/false);
        return replaced(op, {});
      })
      .Case([&](NVVM::CpAsyncCommitGroupOp) {
        code.call(b, op, "kiln_emu_cp_async_commit", {}, {}, /*hasPlace=*/false);
        return replaced(op, {});
      })
      .Case([&](NVVM::CpAsyncWaitGroupOp wait) {
        code.call(b, op, "kiln_emu_cp_async_wait", {}, code.i32(b, loc, wait.getN()),
                  /*hasPlace=*/false);
        return replaced(op, {});
      })
      .Case([&](NVVM::CpAsyncMBarrierArriveOp arrive) {
        code.call(b, op, "kiln_emu_cp_async_arrive", {},
                  {arrive.getAddr(), code.i32(b, loc, arrive.getNoinc())});
        return replaced(op, {});
      })
      .Default([](Operation *) { return false; });
}

FailureOr<bool> test(Operation *op, OpBuilder &b, ThreadCode &code, Value address, Value state) {
  Location loc = op->getLoc();
  bool isParity = state.getType().isInteger(32);
  if (isParity)
    state = LLVM::ZExtOp::create(b, loc, b.getI64Type(), state);
  Value result = code.call(b, op, "kiln_emu_mbarrier_test", b.getI32Type(),
                           {address, state, code.i32(b, loc, isParity)});
  return replaced(op, LLVM::TruncOp::create(b, loc, b.getI1Type(), result));
}

FailureOr<bool> barriers(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  auto arrive = [&](Value address, Value count, Value expected) {
    Value one = code.i32(b, loc, 1), none = code.i32(b, loc, 0);
    return replaced(op, code.call(b, op, "kiln_emu_mbarrier_arrive", b.getI64Type(),
                                  {address, count ? count : one, expected ? expected : none}));
  };
  auto transactions = [&](Value address, Value bytes) {
    code.call(b, op, "kiln_emu_mbarrier_transactions", {}, {address, bytes});
    return replaced(op, {});
  };
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](NVVM::MBarrierInitOp init) -> FailureOr<bool> {
        if (init.getPredicate())
          return false;
        code.call(b, op, "kiln_emu_mbarrier_init", {}, {init.getAddr(), init.getCount()});
        return replaced(op, {});
      })
      .Case([&](NVVM::MBarrierInvalOp inval) {
        code.call(b, op, "kiln_emu_mbarrier_inval", {}, inval.getAddr());
        return replaced(op, {});
      })
      .Case([&](NVVM::FenceMbarrierInitOp) {
        code.call(b, op, "kiln_emu_mbarrier_init_fence", {}, {}, /*hasPlace=*/false);
        return replaced(op, {});
      })
      .Case([&](NVVM::MapaOp mapa) {
        Value address =
            code.call(b, op, "kiln_emu_cluster_address", LLVM::LLVMPointerType::get(b.getContext()),
                      {mapa.getA(), mapa.getB()});
        // Of the same type until address spaces go.
        return replaced(op, LLVM::AddrSpaceCastOp::create(b, loc, mapa.getType(), address));
      })
      .Case([&](NVVM::MBarrierArriveOp op) { return arrive(op.getAddr(), op.getCount(), {}); })
      .Case([&](NVVM::MBarrierArriveExpectTxOp op) -> FailureOr<bool> {
        if (op.getPredicate())
          return false;
        return arrive(op.getAddr(), {}, op.getTxcount());
      })
      .Case(
          [&](NVVM::MBarrierExpectTxOp op) { return transactions(op.getAddr(), op.getTxcount()); })
      .Case([&](NVVM::MBarrierCompleteTxOp op) {
        Value negative = LLVM::SubOp::create(b, loc, code.i32(b, loc, 0), op.getTxcount());
        return transactions(op.getAddr(), negative);
      })
      .Case<NVVM::MBarrierTestWaitOp, NVVM::MBarrierTryWaitOp>(
          [&](auto wait) { return test(op, b, code, wait.getAddr(), wait.getStateOrPhase()); })
      // The operation loops until the phase is complete.
      .Case([&](NVVM::MBarrierTryWaitParityOp wait) {
        code.call(b, op, "kiln_emu_mbarrier_wait", {}, {wait.getAddr(), wait.getPhase()});
        return replaced(op, {});
      })
      .Default([](Operation *) { return false; });
}

} // namespace

FailureOr<bool> emulateAsync(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  FailureOr<bool> done = copies(op, b, code);
  if (failed(done) || *done)
    return done;
  return barriers(op, b, code);
}

} // namespace kiln
