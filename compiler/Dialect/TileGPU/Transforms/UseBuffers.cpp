// Loads, stores, copies and atomic operations of tiles as accesses to buffers, whose bounds the
// hardware checks.
//
// The problem: a load under a mask is a comparison and a branch for each vector, and an address of
// 64 bits for each lane. AMD's buffer accesses have a base and a number of bytes that a wave has
// once, in scalar registers, and an offset of 32 bits; what is not below the number of bytes is not
// accessed, and reads as zero.
//
// The approach: an address is a sum of what is one number for the tile (the argument, a program's
// or an iteration's place) and of what the element's index adds. The first part, of 64 bits, goes
// to the base, so that arrays of any size will do; the second is small, as it is of constants
// alone. A mask `index < bound` of the same index becomes the number of bytes:
//
//   x + pid * 1024 + i, mask pid * 1024 + i < n     base x + pid * 1024, bytes 4 * (n - pid * 1024)
//
// What else is in a mask sends the offset of a lane out of range. Words of 4 bytes are in range or
// not. In a loop up to that bound over arrays below 2 GiB (`tile.small_arrays`) lanes move, not the
// base, so that the number of bytes is one for all iterations:
//
//   x + k + i, mask k + i < n, in a loop up to n    base x, bytes 4 * n, start 4 * k
//
// So they do where each iteration accesses all of a short tile, whatever the loop ends at.
//
// Where elements are shorter and the bound may divide a word, and where several numbers per
// lane make up the index (strides at run time), accesses stay what they are, unless arrays are
// promised to be below 2 GiB. Then the argument is the base, and all of the
// index an offset of 32 bits, where masks select one that is out of range. What loops move pointers
// by goes to the base, so that offsets are the same in all iterations. A lane that is masked off
// when the loop begins, and not later, may begin in front of the array: so the base begins 2 GiB
// less 32 bytes in front of it.
//
// Single elements of such arrays stay what they are, by fewer additions (ScalarAddresses.h).
//
// What an access becomes by itself BufferPlanner says; here is what accesses ask of each other.

#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/TileGPU/Transforms/BufferPlanner.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/ScalarAddresses.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Whether a thread makes one of the two or the other, as in versions of a loop, of which one runs.
bool excludeEachOther(Operation *access, Operation *other) {
  for (Operation *around = access; (around = around->getParentOfType<LoopLikeOpInterface>());)
    if (around->isProperAncestor(other))
      return false;
  return insideMutuallyExclusiveRegions(access, other);
}

/// Whether LLVM could take the load out of a loop that goes on until another program has stored
/// what it waits for, as it may an access to a buffer: its address is the same in all iterations.
bool mayPoll(tile::LoadOp load) {
  for (Operation *loop = load; (loop = loop->getParentOfType<LoopLikeOpInterface>());) {
    Operation *owner = load.getPtr().getParentBlock()->getParentOp();
    if (isa<scf::WhileOp>(loop) || !loop->isAncestor(owner))
      return true;
  }
  return false;
}

bool isWrite(const BufferPlace &place) {
  return isa<tile::StoreOp, tile::AtomicRMWOp>(place.access);
}

void useBuffer(tile::LoadOp load, const BufferPlace &place, BufferPlanner &planner) {
  OpBuilder b(load);
  auto [base, bytes, mask, offset, start] = planner.write(place, load.getPtr(), b);
  Value loaded = tilegpu::BufferLoadOp::create(b, load.getLoc(), load.getType(), base, bytes, mask,
                                               offset, start, place.strides, place.axis,
                                               place.vector, load.getCache(), load.getEvict());
  if (isLoadedByOwner(load))
    setLoadedByOwner(loaded.getDefiningOp());
  if (load.getMask() && load.getOther() && !isZero(load.getOther()))
    loaded = arith::SelectOp::create(b, load.getLoc(), load.getMask(), loaded, load.getOther());
  load.getResult().replaceAllUsesWith(loaded);
}

void useBuffer(tile::StoreOp store, const BufferPlace &place, BufferPlanner &planner) {
  OpBuilder b(store);
  auto [base, bytes, mask, offset, start] = planner.write(place, store.getPtr(), b);
  tilegpu::BufferStoreOp::create(b, store.getLoc(), store.getValue(), base, bytes, mask, offset,
                                 start, place.strides, place.axis, place.vector, store.getCache(),
                                 store.getEvict());
}

void useBuffer(tile::AtomicRMWOp atomic, const BufferPlace &place, BufferPlanner &planner) {
  OpBuilder b(atomic);
  auto [base, bytes, mask, offset, start] = planner.write(place, atomic.getPtr(), b);
  Type result = atomic.use_empty() ? Type() : atomic.getType();
  auto reduce = tilegpu::BufferReduceOp::create(
      b, atomic.getLoc(), result, atomic.getKind(), atomic.getValue(), base, bytes, mask, offset,
      start, place.strides, place.axis, place.vector, tile::CacheModifier::None,
      tile::EvictionPolicy::Normal, atomic.getSemantic(), atomic.getScope());
  if (result)
    atomic.getResult().replaceAllUsesWith(reduce.getResult());
}

void useBuffer(tilegpu::CopyAsyncOp copy, const BufferPlace &place, BufferPlanner &planner) {
  OpBuilder b(copy);
  auto [base, bytes, mask, offset, start] = planner.write(place, copy.getPtr(), b);
  auto layout = cast<tilegpu::LayoutAttr>(copy.getPtr().getType().getEncoding());
  tilegpu::BufferCopyOp::create(b, copy.getLoc(), copy.getBuffer(), base, bytes, mask, offset,
                                start, place.strides, place.axis, place.vector, copy.getCache(),
                                copy.getEvict(), layout);
}

struct UseBuffersPass : PassWrapper<UseBuffersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseBuffersPass)

  StringRef getArgument() const override { return "kiln-use-buffers"; }
  StringRef getDescription() const override {
    return "Turn loads, stores and copies into accesses to buffers with hardware bounds";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (!memoryFeaturesOf(*target).boundedBuffers)
      return;
    BufferPlanner planner(getOperation(), *target);
    // What is known of values holds until the first one changes.
    std::vector<BufferPlace> places;
    auto plan = [&](auto access) {
      if (std::optional<BufferPlace> place =
              planner.plan(access, access.getPtr(), access.getMask()))
        places.push_back(*place);
    };
    getOperation().walk([&](tile::LoadOp load) {
      bool isForOthers = load.getCache() == tile::CacheModifier::CG;
      if (!tilegpu::isReadForAll(load) && !(isForOthers && mayPoll(load)))
        plan(load);
    });
    getOperation().walk([&](tile::StoreOp store) { plan(store); });
    getOperation().walk([&](tile::AtomicRMWOp atomic) {
      unsigned bits = tilegpu::bufferReductionBits(atomic, *target);
      if (!bits)
        return;
      std::optional<BufferPlace> place = planner.plan(atomic, atomic.getPtr(), atomic.getMask());
      unsigned elementBits = tile::elementTypeOf(atomic.getType()).getIntOrFloatBitWidth();
      if (place && place->vector * elementBits == bits)
        places.push_back(*place);
    });
    getOperation().walk([&](tilegpu::CopyAsyncOp copy) {
      std::optional<BufferPlace> place =
          planner.plan(copy, copy.getPtr(), copy.getMask(), copy.getCondition());
      if (place && !copy.getCounted() && place->vector == copy.getVector())
        places.push_back(*place);
    });
    compareOnce(places, planner);
    dropDifferentBases(places);
    keepApart(places);
    for (BufferPlace &place : places)
      planner.moveLanes(place);
    moveAlike(places, planner);
    for (const BufferPlace &place : places)
      llvm::TypeSwitch<Operation *>(place.access)
          .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tilegpu::CopyAsyncOp>(
              [&](auto access) { useBuffer(access, place, planner); });
    for (const BufferPlace &place : places)
      place.access->erase();
    // The addresses.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    addIndicesFirst(getOperation());
  }

private:
  /// Bounds by which lanes are sent out of range for other accesses, as of rows that an index leads
  /// to, are no numbers of bytes as well.
  static void compareOnce(std::vector<BufferPlace> &places, BufferPlanner &planner) {
    DenseSet<Value> compared;
    for (const BufferPlace &place : places)
      compared.insert(place.masks.begin(), place.masks.end());
    for (BufferPlace &place : places) {
      bool isCompared = llvm::all_of(
          place.bounds, [&](const BufferBound &bound) { return compared.contains(bound.mask); });
      if (place.bounds.empty() || !isCompared)
        continue;
      std::optional<BufferPlace> inLanes =
          llvm::TypeSwitch<Operation *, std::optional<BufferPlace>>(place.access)
              .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp>([&](auto access) {
                return planner.planInLanes(place, access.getPtr(), access.getMask());
              })
              .Default([](Operation *) { return std::nullopt; });
      if (inLanes)
        place = *inLanes;
    }
  }

  /// An array of which some access has short offsets, and one writes, has one base for all: LLVM's
  /// scheduler takes two that are a constant apart for different memory, as a loop's are that LLVM
  /// has unrolled. So a thread's element that iterations meet in must have one base in them. Of
  /// versions, of which one runs, each may have its own.
  static void dropDifferentBases(std::vector<BufferPlace> &places) {
    DenseSet<Value> mixed;
    for (const BufferPlace &place : places)
      for (const BufferPlace &other : places)
        if (place.isShort && place.argument == other.argument &&
            (isWrite(place) || isWrite(other)) && !excludeEachOther(place.access, other.access) &&
            (!other.isShort || !(place.offset == other.offset) ||
             (place.isMoved && (!place.rest || !(*place.rest == other.rest)))))
          mixed.insert(place.argument);
    llvm::erase_if(places, [&](const BufferPlace &place) {
      return place.isShort && mixed.contains(place.argument);
    });
  }

  /// Nor are there two bases in one block of which one moves and one does not.
  static void moveAlike(std::vector<BufferPlace> &places, BufferPlanner &planner) {
    DenseSet<Value> mixed;
    for (const BufferPlace &place : places)
      for (const BufferPlace &other : places)
        if (place.argument == other.argument && (isWrite(place) || isWrite(other)) &&
            !excludeEachOther(place.access, other.access) &&
            !(place.offset == other.offset &&
              place.start.terms().empty() == other.start.terms().empty()))
          mixed.insert(place.argument);
    for (Value argument : mixed) {
      SmallVector<BufferPlace *> all;
      for (BufferPlace &place : places)
        if (place.argument == argument)
          all.push_back(&place);
      bool areAlike =
          llvm::all_of(all, [&](BufferPlace *place) { return planner.moveAll(*place); });
      if (!areAlike)
        for (BufferPlace *place : all)
          planner.moveBase(*place);
    }
  }

  /// An array has accesses to buffers or plain ones, where one of them writes: LLVM's scheduler
  /// takes one to a buffer for one to where the buffer begins, and might change their order.
  void keepApart(std::vector<BufferPlace> &places) {
    DenseSet<Operation *> planned;
    for (const BufferPlace &place : places)
      planned.insert(place.access);
    DenseSet<Value> stored;
    for (const BufferPlace &place : places)
      if (isWrite(place))
        stored.insert(place.argument);
    /// By argument; null: some array.
    DenseSet<Value> read, written;
    getOperation().walk([&](Operation *op) {
      if (planned.contains(op))
        return;
      if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
        read.insert(argumentOf(copy.getPtr()));
      if (auto load = dyn_cast<tile::LoadOp>(op))
        read.insert(argumentOf(load.getPtr()));
      if (auto store = dyn_cast<tile::StoreOp>(op))
        written.insert(argumentOf(store.getPtr()));
    });
    auto holds = [](const DenseSet<Value> &arguments, const BufferPlace &place) {
      return arguments.contains(place.argument) || arguments.contains(Value());
    };
    llvm::erase_if(places, [&](const BufferPlace &place) {
      return holds(written, place) || (stored.contains(place.argument) && holds(read, place));
    });
  }
};

} // namespace

std::unique_ptr<Pass> createUseBuffersPass() { return std::make_unique<UseBuffersPass>(); }

} // namespace kiln
