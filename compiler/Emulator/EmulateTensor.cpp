// Copies of boxes of tensors by the copy engine (TMA), which are told of the tensor by a map.

#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/emulator/kiln_emu.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

FailureOr<bool> notEmulated(Operation *op, const Twine &what) {
  return op->emitError() << "'" << op->getName() << "' " << what.str() << " is not emulated";
}

FailureOr<bool> gone(Operation *op) {
  op->erase();
  return true;
}

FailureOr<bool> convert(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp load, OpBuilder &b,
                        ThreadCode &code) {
  if (load.getMode() != NVVM::TMALoadMode::TILE)
    return notEmulated(load, "in a mode other than tile");
  if (load.getMulticastMask() || load.getGroup())
    return notEmulated(load, "to several blocks");
  if (load.getPredicate())
    return notEmulated(load, "with a predicate");
  Location loc = load.getLoc();
  code.call(b, load, "kiln_emu_tensor_load", {},
            {load.getDstMem(), load.getTmaDescriptor(), code.pass(b, loc, 0, load.getCoordinates()),
             code.i32(b, loc, load.getCoordinates().size()), load.getMbar()});
  return gone(load);
}

FailureOr<bool> store(Operation *op, OpBuilder &b, ThreadCode &code, int32_t operation, Value map,
                      ValueRange coordinates, Value from) {
  Location loc = op->getLoc();
  code.call(b, op, "kiln_emu_tensor_store", {},
            {code.i32(b, loc, operation), map, code.pass(b, loc, 0, coordinates),
             code.i32(b, loc, coordinates.size()), from});
  return gone(op);
}

FailureOr<bool> convert(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op, OpBuilder &b,
                        ThreadCode &code) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE)
    return notEmulated(op, "in a mode other than tile");
  if (op.getPredicate())
    return notEmulated(op, "with a predicate");
  return store(op, b, code, KILN_EMU_BOX_STORE, op.getTmaDescriptor(), op.getCoordinates(),
               op.getSrcMem());
}

std::optional<int32_t> emulatedReduction(NVVM::TMAReduxKind kind) {
  switch (kind) {
  case NVVM::TMAReduxKind::ADD:
    return KILN_EMU_BOX_ADD;
  case NVVM::TMAReduxKind::MIN:
    return KILN_EMU_BOX_MIN;
  case NVVM::TMAReduxKind::MAX:
    return KILN_EMU_BOX_MAX;
  case NVVM::TMAReduxKind::AND:
    return KILN_EMU_BOX_AND;
  case NVVM::TMAReduxKind::OR:
    return KILN_EMU_BOX_OR;
  case NVVM::TMAReduxKind::XOR:
    return KILN_EMU_BOX_XOR;
  default:
    return std::nullopt;
  }
}

FailureOr<bool> convert(NVVM::CpAsyncBulkTensorReduceOp op, OpBuilder &b, ThreadCode &code) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE)
    return notEmulated(op, "in a mode other than tile");
  std::optional<int32_t> operation = emulatedReduction(op.getRedKind());
  if (!operation)
    return notEmulated(op, "that counts");
  return store(op, b, code, *operation, op.getTmaDescriptor(), op.getCoordinates(), op.getSrcMem());
}

FailureOr<bool> convert(NVVM::CpAsyncBulkCommitGroupOp commit, OpBuilder &b, ThreadCode &code) {
  code.call(b, commit, "kiln_emu_bulk_commit", {}, {}, /*hasPlace=*/false);
  return gone(commit);
}

FailureOr<bool> convert(NVVM::CpAsyncBulkWaitGroupOp wait, OpBuilder &b, ThreadCode &code) {
  Location loc = wait.getLoc();
  code.call(b, wait, "kiln_emu_bulk_wait", {},
            {code.i32(b, loc, wait.getGroup()), code.i32(b, loc, wait.getRead().value_or(false))},
            /*hasPlace=*/false);
  return gone(wait);
}

} // namespace

FailureOr<bool> emulateTensor(Operation *op, ThreadCode &code) {
  // Of a map: it is where it is.
  if (auto prefetch = dyn_cast<NVVM::PrefetchOp>(op); prefetch && prefetch.getTensormap())
    return gone(op);
  using namespace NVVM;
  OpBuilder b(op);
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case<CpAsyncBulkTensorGlobalToSharedClusterOp, CpAsyncBulkTensorSharedCTAToGlobalOp,
            CpAsyncBulkTensorReduceOp, CpAsyncBulkCommitGroupOp, CpAsyncBulkWaitGroupOp>(
          [&](auto copy) -> FailureOr<bool> {
            if (code.target().archNumber < 90)
              return op->emitError()
                     << "'" << op->getName() << "' is not supported on " << code.target().name;
            return convert(copy, b, code);
          })
      .Default([](Operation *) { return false; });
}

} // namespace kiln
