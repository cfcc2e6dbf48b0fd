#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/RowEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Has effects, but on no memory that a kernel's pointers reach.
bool leavesMemoryAlone(Operation *op) {
  if (isa<tile::PrintOp, tile::AssertOp, tile::AssumeOp, tile::BarrierOp, tile::FenceOp,
          tile::ReadRegisterOp>(op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op);
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::all_of(instances, [](const MemoryEffects::EffectInstance &effect) {
    return isa<tilegpu::SharedMemory>(effect.getResource());
  });
}

bool isByEngine(Operation *op) {
  return isa<tile::DescriptorLoadOp, tile::DescriptorStoreOp, tile::DescriptorReduceOp,
             tilegpu::TmaLoadOp, tilegpu::TmaStoreOp, tilegpu::TmaStoreWaitOp>(op);
}

std::optional<tile::AtomicKind> commutingKind(tile::AtomicRMWOp op) {
  if (!op->use_empty() || op.getKind() == tile::AtomicKind::Exchange)
    return std::nullopt;
  return op.getKind();
}

/// Of a store to a described block, or, with a kind, of what combines the two.
GlobalAccess blockAccess(Operation *op, Value descriptor, std::optional<tile::AtomicKind> kind) {
  return {op, tilegpu::baseOfMap(descriptor), kind.has_value(), true, true, kind, true};
}

bool isScalar(const GlobalAccess &access) {
  return !isa<RankedTensorType>(access.pointers.getType());
}

bool hasDuplicates(const LinearLayout &layout, const TargetInfo &target) {
  return layout.freeBits(Dim::Lane) || layout.freeBits(Dim::Warp) ||
         layout.numLanes() < int64_t(target.warpSize);
}

} // namespace

std::optional<GlobalAccess> globalAccessOf(Operation *op) {
  using Result = std::optional<GlobalAccess>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](tile::LoadOp load) {
        return GlobalAccess{.op = load,
                            .pointers = load.getPtr(),
                            .reads = true,
                            .writes = false,
                            .byOwners = tilegpu::isReadForAll(load) || isLoadedByOwner(load),
                            .commutes = std::nullopt,
                            .mask = load.getMask()};
      })
      .Case([](tile::StoreOp store) {
        return GlobalAccess{.op = store,
                            .pointers = store.getPtr(),
                            .reads = false,
                            .writes = true,
                            .byOwners = true,
                            .commutes = std::nullopt,
                            .mask = store.getMask()};
      })
      .Case([](tile::AtomicRMWOp atomic) {
        return GlobalAccess{atomic, atomic.getPtr(), true, true, true, commutingKind(atomic)};
      })
      .Case([](tile::AtomicCASOp atomic) {
        return GlobalAccess{atomic, atomic.getPtr(), true, true, true, std::nullopt};
      })
      .Case([](tilegpu::CopyAsyncOp copy) {
        return GlobalAccess{copy, copy.getPtr(), true, false, false, std::nullopt};
      })
      .Case([](tile::DescriptorStoreOp store) {
        return blockAccess(store, store.getDescriptor(), std::nullopt);
      })
      .Case([](tile::DescriptorReduceOp reduce) {
        return blockAccess(reduce, reduce.getDescriptor(), reduce.getKind());
      })
      .Case<tilegpu::TmaStoreOp, tilegpu::TmaStoreWaitOp>(
          [](auto store) { return blockAccess(store, store.getDescriptor(), store.getKind()); })
      .Case<tile::DescriptorLoadOp, tilegpu::TmaLoadOp>([](auto load) {
        return GlobalAccess{
            load, tilegpu::baseOfMap(load.getDescriptor()), true, false, false, std::nullopt, true};
      })
      .Default([](Operation *other) -> Result {
        if (leavesMemoryAlone(other))
          return std::nullopt;
        return GlobalAccess{other, Value(), true, true, false, std::nullopt};
      });
}

bool tellsOthers(Operation *op) {
  auto releases = [](tile::MemorySemantic order) {
    return order != tile::MemorySemantic::Relaxed && order != tile::MemorySemantic::Acquire;
  };
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op))
    return releases(atomic.getSemantic());
  if (auto atomic = dyn_cast<tile::AtomicCASOp>(op))
    return releases(atomic.getSemantic());
  return isa<tile::FenceOp>(op);
}

bool showsOthersWrites(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  bool isSeen =
      (isa<tile::AtomicRMWOp>(op) && !op->use_empty()) || (load && tilegpu::isReadForAll(load));
  return isSeen || isa<tile::BarrierOp, tile::FenceOp, tile::AtomicCASOp>(op);
}

/// An element that has one index in both is one thread's in both.
bool GlobalOrder::keepsThreads(const GlobalAccess &earlier, const GlobalAccess &later) const {
  tilegpu::LayoutAttr layout = tilegpu::layoutAttrOf(earlier.pointers.getType());
  if (layout != tilegpu::layoutAttrOf(later.pointers.getType()))
    return false;
  if (earlier.byOwners && later.byOwners)
    return true;
  return !hasSeveralThreads(earlier.pointers);
}

bool GlobalOrder::hasSeveralThreads(Value elements) const {
  tilegpu::LayoutAttr layout = tilegpu::layoutAttrOf(elements.getType());
  return !layout || hasDuplicates(layout.getLayout(), target);
}

BarrierNeed GlobalOrder::between(const GlobalAccess &earlier, const GlobalAccess &later,
                                 ArrayRef<Operation *> passed) {
  BarrierNeed need = betweenArrays(earlier, later);
  if (need.isNever() || !earlier.hasElements() || !later.hasElements())
    return need;
  // A scalar's owner is always the same thread.
  bool haveOneOwner = earlier.byOwners && later.byOwners && isScalar(earlier) && isScalar(later);
  auto isOrdered = [&](Meeting meeting) {
    return meeting == Meeting::Never || haveOneOwner ||
           (meeting == Meeting::SameIndex && keepsThreads(earlier, later));
  };
  if (isOrdered(meetings.meet(earlier.elements(), later.elements(), passed)))
    return BarrierNeed();
  std::optional<RowEnds> rows = rowEndsOf(later.op);
  if (!rows || !(rowEndsOf(earlier.op) == rows))
    return need;
  Value stride = later.op->getParentOfType<func::FuncOp>().getArgument(rows->stride);
  if (!isOrdered(meetings.meetInRows(earlier.elements(), later.elements(), stride, passed)))
    return need;
  if (rows->stride == rows->end)
    return BarrierNeed();
  // Of two arguments that may be one array it is asked whether they are, which says more.
  if (need.always) {
    need.always = false;
    need.pairs = {{rows->stride, rows->end}};
  }
  return need;
}

bool GlobalOrder::mayMeet(const GlobalAccess &earlier, const GlobalAccess &later,
                          ArrayRef<Operation *> passed) {
  if (betweenArrays(earlier, later).isNever())
    return false;
  return !earlier.hasElements() || !later.hasElements() ||
         meetings.meet(earlier.elements(), later.elements(), passed) != Meeting::Never;
}

/// What holds operations that are looked at by themselves.
static bool isStructure(Operation *op) {
  return op->getNumRegions() && isa<scf::SCFDialect, func::FuncDialect>(op->getDialect());
}

/// Whether the program may come to `op` before it comes to `other`, be it an iteration before.
static bool mayComeBefore(Operation *op, Operation *other) {
  for (auto loop = other->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (loop->isProperAncestor(op))
      return true;
  Operation *at = other;
  while (!at->getBlock()->findAncestorOpInBlock(*op))
    at = at->getParentOp();
  Operation *beside = at->getBlock()->findAncestorOpInBlock(*op);
  return beside != at && beside->isBeforeInBlock(at);
}

bool GlobalOrder::threadsMayMeet(Operation *byEngine) {
  GlobalAccess access = *globalAccessOf(byEngine);
  return byEngine->getParentOfType<func::FuncOp>()
      .walk([&](Operation *op) {
        std::optional<GlobalAccess> other = isStructure(op) ? std::nullopt : globalAccessOf(op);
        bool meets = other && !isByEngine(op) && mayComeBefore(op, byEngine) &&
                     !needAt(byEngine, betweenArrays(*other, access)).isNever();
        return meets ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

BarrierNeed GlobalOrder::behindWrites(Operation *read) {
  const GlobalAccess later = *globalAccessOf(read);
  BarrierNeed need;
  read->getParentOfType<func::FuncOp>().walk([&](Operation *op) {
    if (isStructure(op))
      return;
    std::optional<GlobalAccess> earlier = globalAccessOf(op);
    if (earlier && earlier->writes && mayComeBefore(op, read))
      need.add(betweenArrays(*earlier, later));
  });
  return need;
}

BarrierNeed GlobalOrder::againstRunningAhead(Operation *read, scf::ForOp loop) {
  const GlobalAccess later = *globalAccessOf(read);
  Operation *passed = loop;
  BarrierNeed need;
  loop.getBody()->walk([&](Operation *op) {
    std::optional<GlobalAccess> write = isStructure(op) ? std::nullopt : globalAccessOf(op);
    if (!write || !write->writes)
      return;
    bool isBefore = loop.getBody()->findAncestorOpInBlock(*op)->isBeforeInBlock(read);
    if (mayMeet(*write, later, passed) || (isBefore && mayMeet(*write, later, {})))
      need.add(betweenArrays(*write, later));
  });
  return need;
}

BarrierNeed GlobalOrder::betweenArrays(const GlobalAccess &earlier, const GlobalAccess &later) {
  BarrierNeed need;
  if ((!earlier.writes && !later.writes) || isa<tilegpu::TmaStoreWaitOp>(later.op))
    return need;
  if (earlier.commutes && earlier.commutes == later.commutes)
    return need;
  need.ofWrites = earlier.writes;
  if (!earlier.pointers || !later.pointers) {
    need.always = true;
    return need;
  }
  SharedOrigin origin = meetings.originOf(earlier.pointers, later.pointers);
  need.always = origin.always;
  need.pairs.insert(origin.pairs.begin(), origin.pairs.end());
  return need;
}

} // namespace kiln
