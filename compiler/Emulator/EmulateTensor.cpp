// Copies of boxes of tensors by the copy engine (TMA), which are told of the tensor by a map, and
// maps that the kernel makes.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/emulator/kiln_emu.h"
#include "llvm/ADT/StringSwitch.h"
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
  if (load.getGroup())
    return notEmulated(load, "of a pair of blocks");
  if (load.getPredicate())
    return notEmulated(load, "with a predicate");
  Location loc = load.getLoc();
  SmallVector<Value> operands{load.getDstMem(), load.getTmaDescriptor(),
                              code.pass(b, loc, 0, load.getCoordinates()),
                              code.i32(b, loc, load.getCoordinates().size()), load.getMbar()};
  if (load.getMulticastMask())
    operands.push_back(LLVM::ZExtOp::create(b, loc, b.getI32Type(), load.getMulticastMask()));
  code.call(b, load, load.getMulticastMask() ? "kiln_emu_tensor_multicast" : "kiln_emu_tensor_load",
            {}, operands);
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

//===-- tensor maps that the kernel makes
//--------------------------------------------------------===//

FailureOr<bool> convert(tilegpu::ClaimMapsOp claim, OpBuilder &b, ThreadCode &code) {
  Value record =
      code.call(b, claim, "kiln_emu_map_claim", LLVM::LLVMPointerType::get(b.getContext()),
                code.i32(b, claim.getLoc(), claim.getMaps()));
  // Of the same type until address spaces go.
  claim.replaceAllUsesWith(
      LLVM::AddrSpaceCastOp::create(b, claim.getLoc(), claim.getType(), record).getResult());
  return gone(claim);
}

FailureOr<bool> convert(tilegpu::ReleaseMapsOp release, OpBuilder &b, ThreadCode &code) {
  code.call(b, release, "kiln_emu_map_release", {}, release.getRecord());
  return gone(release);
}

FailureOr<bool> convert(tilegpu::PublishMapOp publish, OpBuilder &b, ThreadCode &code) {
  code.call(b, publish, "kiln_emu_map_publish", {}, {publish.getMap(), publish.getImage()});
  return gone(publish);
}

FailureOr<bool> convert(NVVM::FenceProxyAcquireOp fence, OpBuilder &b, ThreadCode &code) {
  if (fence.getFromProxy() != NVVM::ProxyKind::GENERIC ||
      fence.getToProxy() != NVVM::ProxyKind::TENSORMAP)
    return notEmulated(fence, "for another proxy than that of tensor maps");
  code.call(b, fence, "kiln_emu_map_acquire", {}, fence.getAddr());
  return gone(fence);
}

/// The field that `llvm.nvvm.tensormap.replace.*` writes; -1: it is another intrinsic.
int32_t mapField(StringRef intrinsic) {
  if (!intrinsic.consume_front("llvm.nvvm.tensormap.replace."))
    return -1;
  return llvm::StringSwitch<int32_t>(intrinsic)
      .Case("global.address", KILN_EMU_MAP_ADDRESS)
      .Case("rank", KILN_EMU_MAP_RANK)
      .Case("box.dim", KILN_EMU_MAP_BOX)
      .Case("global.dim", KILN_EMU_MAP_EXTENT)
      .Case("global.stride", KILN_EMU_MAP_STRIDE)
      .Case("element.stride", KILN_EMU_MAP_ELEMENT_STRIDE)
      .Case("elemtype", KILN_EMU_MAP_ELEMENT)
      .Case("interleave.layout", KILN_EMU_MAP_INTERLEAVE)
      .Case("swizzle.mode", KILN_EMU_MAP_SWIZZLE)
      .Case("fill.mode", KILN_EMU_MAP_FILL)
      .Default(-1);
}

FailureOr<bool> convertField(LLVM::CallIntrinsicOp op, int32_t field, OpBuilder &b,
                             ThreadCode &code) {
  Location loc = op.getLoc();
  ValueRange operands = op.getArgs();
  Value axis = operands.size() == 3 ? operands[1] : code.i32(b, loc, 0), value = operands.back();
  if (value.getType().isInteger(32))
    value = LLVM::ZExtOp::create(b, loc, b.getI64Type(), value);
  code.call(b, op, "kiln_emu_map_replace", {},
            {operands.front(), code.i32(b, loc, field), axis, value});
  return gone(op);
}

} // namespace

FailureOr<bool> emulateTensor(Operation *op, ThreadCode &code) {
  // Of a map: it is where it is.
  if (auto prefetch = dyn_cast<NVVM::PrefetchOp>(op); prefetch && prefetch.getTensormap())
    return gone(op);
  using namespace NVVM;
  OpBuilder b(op);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    if (int32_t field = mapField(call.getIntrin()); field >= 0)
      return convertField(call, field, b, code);
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case<CpAsyncBulkTensorGlobalToSharedClusterOp, CpAsyncBulkTensorSharedCTAToGlobalOp,
            CpAsyncBulkTensorReduceOp, CpAsyncBulkCommitGroupOp, CpAsyncBulkWaitGroupOp,
            FenceProxyAcquireOp, tilegpu::ClaimMapsOp, tilegpu::ReleaseMapsOp,
            tilegpu::PublishMapOp>([&](auto copy) -> FailureOr<bool> {
        if (code.target().archNumber < 90)
          return op->emitError() << "'" << op->getName() << "' is not supported on "
                                 << code.target().name;
        return convert(copy, b, code);
      })
      .Default([](Operation *) { return false; });
}

} // namespace kiln
