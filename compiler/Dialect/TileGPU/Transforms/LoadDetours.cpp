#include "compiler/Dialect/TileGPU/Transforms/LoadDetours.h"
#include "compiler/Dialect/TileGPU/Transforms/WaitingLoops.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

/// Whether the value goes to a buffer as it is, perhaps transposed.
static bool isStoredAsLoaded(Value value) {
  while (value.hasOneUse() && isa<tile::TransOp>(*value.getUsers().begin()))
    value = value.getUsers().begin()->getResult(0);
  return value.hasOneUse() && isa<tilegpu::SharedStoreOp>(*value.getUsers().begin());
}

/// Whether operand A or B of a dot, in registers or in a buffer, is computed from the value in the
/// same block.
static bool isPartOfOperand(Value value) {
  Block *block = value.getParentBlock();
  SmallVector<Value> pending{value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value part = pending.pop_back_val();
    if (!seen.insert(part).second)
      continue;
    for (OpOperand &use : part.getUses()) {
      Operation *user = use.getOwner();
      bool isOperand = isa<tilegpu::DotOp>(user) && use.getOperandNumber() < 2;
      if (isOperand || isa<tilegpu::SharedStoreOp>(user))
        return true;
      if (user->getBlock() == block && !isa<tilegpu::DotOp>(user) && user->getNumRegions() == 0 &&
          isMemoryEffectFree(user))
        llvm::append_range(pending, user->getResults());
    }
  }
  return false;
}

/// The store, in the same block, of the value as it is to a dot's buffer, where others use it too.
static tilegpu::SharedStoreOp storeForDot(tile::LoadOp load) {
  for (Operation *user : load->getUsers()) {
    auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
    if (store && store->getBlock() == load->getBlock() &&
        store.getBuffer().getDefiningOp<tilegpu::AllocOp>())
      return store;
  }
  return {};
}

static tilegpu::SharedStoreOp storeApart(OpBuilder &b, tile::LoadOp load,
                                         const TargetInfo &target) {
  auto type = cast<RankedTensorType>(load.getType());
  const LinearLayout &layout = tilegpu::layoutOf(type);
  SharedLayout shared = planStaging(layout, layout, tilegpu::storageBits(type.getElementType()),
                                    tilegpu::sharedMemoryOf(target), target.matrix.matrixLoads)
                            .shared;
  auto buffer = tilegpu::AllocOp::create(b, load.getLoc(), tilegpu::BufferType::of(type, shared));
  return tilegpu::SharedStoreOp::create(b, load.getLoc(), load.getResult(), buffer);
}

static LoadDetour detour(tile::LoadOp load, const TargetInfo &target) {
  OpBuilder b(load->getContext());
  b.setInsertionPointAfter(load);
  LoadDetour result{load, {}, {}, {}, nullptr};
  if (tilegpu::SharedStoreOp store = storeForDot(load)) {
    result.storedBefore = store->getNextNode();
    store->moveAfter(load);
    store.getBuffer().getDefiningOp()->moveAfter(load);
    b.setInsertionPointAfter(store);
    result.store = store;
  } else {
    result.store = storeApart(b, load, target);
  }
  result.buffer = result.store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  result.read = tilegpu::SharedLoadOp::create(
      b, load.getLoc(), cast<RankedTensorType>(load.getType()), result.buffer);
  load.getResult().replaceAllUsesExcept(result.read.getResult(), result.store);
  return result;
}

void LoadDetour::takeBack() {
  read.getResult().replaceAllUsesWith(load.getResult());
  read.erase();
  if (storedBefore) {
    buffer->moveBefore(storedBefore);
    store->moveBefore(storedBefore);
    return;
  }
  store.erase();
  buffer.erase();
}

bool isLargeTile(tile::LoadOp load) {
  constexpr int64_t fewElements = 256;
  return cast<RankedTensorType>(load.getType()).getNumElements() >= fewElements;
}

SmallVector<LoadDetour> detourLoads(scf::ForOp loop, const TargetInfo &target,
                                    llvm::function_ref<bool(tile::LoadOp)> may) {
  SmallVector<tile::LoadOp> loads;
  const bool takesAll = waitsAlone(loop, target);
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && !isa<tile::PtrType>(type.getElementType()) && !isStoredAsLoaded(load.getResult()) &&
        (takesAll ? isLargeTile(load) : isPartOfOperand(load.getResult())) && may(load))
      loads.push_back(load);
  }
  SmallVector<LoadDetour> detours;
  for (tile::LoadOp load : loads)
    detours.push_back(detour(load, target));
  return detours;
}

} // namespace kiln
