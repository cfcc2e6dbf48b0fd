// Barriers between accesses of different threads, to shared and to global memory.
//
// The state is the set of accesses since the last barrier. An access that meets an earlier one of
// another thread, one of the two a write, needs a barrier before it. In shared memory accesses are
// ranges of offsets, and all threads are taken to touch all of a range. In global memory addresses
// are compared (GlobalAccesses.h), as a barrier in a streaming kernel would cost something; where
// the answer is that two accesses meet only if two of the kernel's arguments are equal, the barrier
// is executed only if they are.
//
// Where a barrier of shared memory alone costs less (MemoryFeatures::partialBarriers), what stands
// between accesses to shared memory is one of these, and orders nothing in global memory: that has
// barriers of its own, which cost less, too, where they order nothing but reads before writes, as
// of a row that is read, and written in another layout.
//
// States flow through structured control flow: branches join, and a loop's body is visited until
// the state at its start, which its back edge feeds, no longer grows. What a loop needs only
// because of what came before it stands in front of the loop, so that iterations do not repeat it.
//
// A barrier in a branch or loop is reached by all threads or by none: what steers it is a scalar,
// and all threads have the same scalars. They are computed from the same values by the same
// operations; what is read from memory is ordered by these very barriers against this program
// instance's writes, and is read once for all threads where others may be writing it
// (isReadForAll). What its owner alone reads (OwnerLoads.h) steers nothing.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/BufferAliases.h"
#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

using namespace mlir;

namespace kiln {
namespace {

struct SharedAccess {
  int64_t begin, end; ///< bytes
  bool isWrite;
  /// Of a ring: whoever made it has ordered the accesses to it. Likewise of an exchange of each
  /// warp with itself.
  Operation *ring = nullptr;
  bool meets(const SharedAccess &other) const {
    return (isWrite || other.isWrite) && begin < other.end && other.begin < end &&
           !(ring && ring == other.ring);
  }
  bool operator==(const SharedAccess &other) const {
    return begin == other.begin && end == other.end && isWrite == other.isWrite &&
           ring == other.ring;
  }
};

/// A global access, by its number, in an earlier iteration of some of the loops around it.
struct GlobalInstance {
  unsigned access;
  std::vector<unsigned> passed; ///< numbers of the loops, increasing
  bool operator<(const GlobalInstance &other) const {
    return std::tie(access, passed) < std::tie(other.access, other.passed);
  }
};

/// Whether a barrier is between what `earlier` does and all that comes behind it.
bool orders(const BarrierNeed &need, const GlobalAccess &earlier) {
  return need.ofWrites || !earlier.writes;
}

/// Accesses since the last barrier.
struct Pending {
  SmallVector<SharedAccess> shared;
  /// With the pairs of arguments for which a barrier followed it if they are equal.
  std::map<GlobalInstance, std::set<ArgumentPair>> global;

  void clear() { *this = Pending(); }

  void passBarrier(const BarrierNeed &need, ArrayRef<GlobalAccess> accesses) {
    if (need.always && need.ofWrites)
      return clear();
    if (need.ofShared)
      shared.clear();
    for (auto entry = global.begin(); entry != global.end();) {
      bool isOrdered = orders(need, accesses[entry->first.access]);
      if (isOrdered)
        entry->second.insert(need.pairs.begin(), need.pairs.end());
      entry = isOrdered && need.always ? global.erase(entry) : std::next(entry);
    }
  }

  /// True if something was new.
  bool add(ArrayRef<SharedAccess> more) {
    bool grew = false;
    for (const SharedAccess &access : more)
      if (!llvm::is_contained(shared, access)) {
        shared.push_back(access);
        grew = true;
      }
    return grew;
  }
  bool add(const GlobalInstance &instance, const std::set<ArgumentPair> &ordered) {
    auto [entry, isNew] = global.try_emplace(instance, ordered);
    if (isNew)
      return true;
    std::set<ArgumentPair> &known = entry->second, both;
    std::set_intersection(known.begin(), known.end(), ordered.begin(), ordered.end(),
                          std::inserter(both, both.end()));
    std::swap(known, both);
    return known.size() != both.size();
  }
  bool add(const Pending &other) {
    bool grew = add(other.shared);
    for (auto &[instance, ordered] : other.global)
      grew |= add(instance, ordered);
    return grew;
  }
};

/// Decides where barriers stand.
class BarrierPlanner {
public:
  BarrierPlanner(func::FuncOp kernel, const TargetInfo &target)
      : target(target), hasPartialBarriers(memoryFeaturesOf(target).partialBarriers),
        aliases(kernel), order(target) {
    loadByOwners(kernel, order);
    kernel.walk([&](tilegpu::DotOp dot) {
      if (dot.getIsAsync())
        dotsInFlight.push_back(dot);
    });
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { collect(op); });
    Pending pending;
    visit(kernel.getBody(), pending);
  }

  /// What stands before each operation.
  llvm::MapVector<Operation *, BarrierNeed> needs;

private:
  //===-- what operations touch
  //------------------------------------------------------------------===//

  void collect(Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      loopNumbers[op] = loops.size();
      loops.push_back(op);
    }
    if (op->getNumRegions() != 0 && isa<scf::SCFDialect, func::FuncDialect>(op->getDialect()))
      return;
    if (std::optional<GlobalAccess> access = globalAccessOf(op)) {
      accessNumbers[op] = accesses.size();
      accesses.push_back(*access);
    } else if (sharedAccessesOf(op).empty() && !isa<tilegpu::BarrierOp, tile::BarrierOp>(op)) {
      return;
    }
    if (isWithinWarps(op))
      ownExchanges.insert(op);
    for (Operation *holder = op; holder; holder = holder->getParentOp())
      active.insert(holder);
  }

  bool isScratch(Operation *op) const {
    return isa<tilegpu::ScratchOpInterface>(op) && offsetOf(op);
  }

  /// Whether it is an exchange in which no warp waits for another.
  bool isWithinWarps(Operation *op) const {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op);
    if (!convert || !isScratch(op))
      return false;
    auto slices = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::slicesAttr);
    return exchangesWithinWarps(tilegpu::layoutOf(convert.getSource()),
                                tilegpu::layoutOf(convert.getResult()),
                                tilegpu::storageBits(convert.getType().getElementType()),
                                tilegpu::sharedMemoryOf(target), slices ? slices.getInt() : 1);
  }

  static std::optional<int64_t> offsetOf(Operation *op) {
    auto attr = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::offsetAttr);
    return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
  }

  SmallVector<SharedAccess> sharedAccessesOf(Operation *op) {
    SmallVector<SharedAccess> result;
    if (auto store = dyn_cast<tilegpu::SharedStoreOp>(op))
      addBuffer(store.getBuffer(), /*isWrite=*/true, result);
    else if (auto load = dyn_cast<tilegpu::SharedLoadOp>(op))
      addBuffer(load.getBuffer(), /*isWrite=*/false, result);
    else if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
      addBuffer(copy.getBuffer(), /*isWrite=*/true, result);
    else if (auto copy = dyn_cast<tilegpu::TmaLoadOp>(op))
      addBuffer(copy.getBuffer(), /*isWrite=*/true, result);
    else if (auto copy = dyn_cast<tilegpu::TmaStoreOp>(op))
      addBuffer(copy.getBuffer(), /*isWrite=*/false, result);
    else if (auto wait = dyn_cast<tilegpu::TmaReadWaitOp>(op))
      // Until then the engine may be reading, also behind a barrier.
      addBuffer(wait.getBuffer(), /*isWrite=*/false, result);
    else if (isa<tilegpu::MBarrierInitOp, tilegpu::MBarrierInvalOp>(op))
      addBuffer(op->getOperand(0), /*isWrite=*/true, result);
    else if (auto wait = dyn_cast<tilegpu::MBarrierWaitOp>(op))
      addBuffer(wait.getMbarrier(), /*isWrite=*/false, result);
    else if (auto arrive = dyn_cast<tilegpu::MBarrierArriveOp>(op))
      addBuffer(arrive.getMbarrier(), /*isWrite=*/false, result);
    else if (auto wait = dyn_cast<tilegpu::WaitOp>(op))
      // What this thread's copies brought becomes visible to others only by a barrier.
      for (Value buffer : wait.getBuffers())
        addBuffer(buffer, /*isWrite=*/true, result);
    else if (auto dot = dyn_cast<tilegpu::DotOp>(op))
      addOperands(dot, result);
    else if (auto wait = dyn_cast<tilegpu::DotWaitOp>(op))
      // Until then any dot in flight may be reading, also behind a barrier.
      addDotsInFlight(wait, result);
    else if (isScratch(op))
      result.push_back(
          {*offsetOf(op),
           *offsetOf(op) + cast<tilegpu::ScratchOpInterface>(op).getScratchBytes(target),
           /*isWrite=*/true, ownExchanges.contains(op) ? op : nullptr});
    return result;
  }

  /// Behind a loop whose dots are in flight stands a wait for all of them.
  void addDotsInFlight(tilegpu::DotWaitOp wait, SmallVectorImpl<SharedAccess> &result) {
    for (tilegpu::DotOp dot : dotsInFlight) {
      Operation *loop = dot->getParentOp();
      if (loop->isAncestor(wait) || loop->getBlock() == wait->getBlock())
        addOperands(dot, result);
    }
  }

  void addOperands(tilegpu::DotOp dot, SmallVectorImpl<SharedAccess> &result) {
    for (Value operand : {dot.getA(), dot.getB()})
      if (isa<tilegpu::BufferType>(operand.getType()))
        addBuffer(operand, /*isWrite=*/false, result);
  }

  void addBuffer(Value buffer, bool isWrite, SmallVectorImpl<SharedAccess> &result) {
    for (tilegpu::AllocOp alloc : aliases.of(buffer)) {
      int64_t offset = offsetOf(alloc).value_or(0);
      result.push_back({offset, offset + alloc.getType().getBytes(), isWrite,
                        isRing(alloc) ? alloc.getOperation() : nullptr});
    }
  }

  //===-- operations in order
  //--------------------------------------------------------------------===//

  void visit(Region &region, Pending &pending) {
    for (Block &block : region)
      for (Operation &op : block)
        if (active.contains(&op))
          visit(&op, pending);
  }

  void visit(Operation *op, Pending &pending) {
    if (auto known = needs.find(op); known != needs.end())
      pending.passBarrier(known->second, accesses);
    if (isa<tilegpu::BarrierOp, tile::BarrierOp>(op)) {
      auto barrier = dyn_cast<tilegpu::BarrierOp>(op);
      passOwnBarrier(pending, /*isOfShared=*/barrier && barrier.getIsOfShared());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending other = pending;
      visit(branch.getThenRegion(), pending);
      visit(branch.getElseRegion(), other);
      pending.add(other);
    } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
      visitLoop(op, pending);
    } else {
      visitAccesses(op, pending);
    }
  }

  void visitAccesses(Operation *op, Pending &pending) {
    auto meeting = dyn_cast<tilegpu::ScratchOpInterface>(op);
    if (meeting && meeting.startsWithBarrier())
      pending.clear();
    SmallVector<SharedAccess> shared = sharedAccessesOf(op);
    auto global = accessNumbers.find(op);
    bool meetsShared = llvm::any_of(shared, [&](const SharedAccess &access) {
      return llvm::any_of(pending.shared,
                          [&](const SharedAccess &earlier) { return earlier.meets(access); });
    });
    BarrierNeed need;
    (hasPartialBarriers ? need.ofShared : need.always) = meetsShared;
    need.ofWrites = need.always;
    require(op, op, need, pending);
    if (global != accessNumbers.end() && !need.always) {
      BarrierNeed ofGlobal;
      Operation *place = addNeed(pending, global->second, ofGlobal);
      require(op, place, ofGlobal, pending);
    }

    if (global != accessNumbers.end())
      pending.add(GlobalInstance{global->second, {}}, {});
    bool endsWithBarrier = meeting && meeting.endsWithBarrier();
    if ((isScratch(op) && !ownExchanges.contains(op)) || endsWithBarrier) {
      // The barrier of its own lies between its writes and its reads, and behind its global access.
      passOwnBarrier(pending, /*isOfShared=*/hasPartialBarriers && !endsWithBarrier);
      for (SharedAccess &access : shared)
        access.isWrite = false;
    }
    pending.add(shared);
  }

  void passOwnBarrier(Pending &pending, bool isOfShared) const {
    BarrierNeed met;
    (isOfShared ? met.ofShared : met.always) = true;
    met.ofWrites = met.always;
    pending.passBarrier(met, accesses);
  }

  /// What has to stand between pending accesses and the global access `later`, and before which
  /// operation.
  Operation *addNeed(const Pending &pending, unsigned later, BarrierNeed &need) {
    // In unrolled code a barrier now and then costs less than comparing each access with all.
    constexpr size_t mostCompared = 256;
    bool byArrays = pending.global.size() > mostCompared;
    Operation *op = accesses[later].op, *last = nullptr;
    for (auto &[instance, ordered] : pending.global) {
      BarrierNeed between = byArrays
                                ? order.betweenArrays(accesses[instance.access], accesses[later])
                                : needBetween(instance, later);
      for (const ArgumentPair &pair : ordered)
        between.pairs.erase(pair);
      if (between.isNever())
        continue;
      between.ofWrites |= !hasPartialBarriers;
      need.add(between);
      Operation *inBlock = inBlockOf(op, instance);
      if (inBlock && (!last || last->isBeforeInBlock(inBlock)))
        last = inBlock;
    }
    return need.isNever() ? op : placeBetween(last, op, /*early=*/!accesses[later].writes);
  }

  /// The operation in the block of `op` that made an access since the block was entered; null for
  /// accesses before that.
  Operation *inBlockOf(Operation *op, const GlobalInstance &instance) const {
    for (unsigned loop : instance.passed)
      if (loops[loop]->isProperAncestor(op))
        return nullptr;
    Operation *found = op->getBlock()->findAncestorOpInBlock(*accesses[instance.access].op);
    return found && found->isBeforeInBlock(op) ? found : nullptr;
  }

  /// The operation before which a barrier stands that is to be behind `last` (null: the start of
  /// the block) and before `op`: one that has a barrier anyway, so that it serves several accesses.
  /// Otherwise loads want it early, when no other load is in flight, which a barrier would wait
  /// for even if its condition does not hold; what writes wants it late, when all values are there.
  Operation *placeBetween(Operation *last, Operation *op, bool early) const {
    Operation *first = nullptr;
    for (Operation *at = last ? last->getNextNode() : &op->getBlock()->front();;
         at = at->getNextNode()) {
      if (active.contains(at) && needs.contains(at))
        return at;
      if (active.contains(at) && !first)
        first = at;
      if (at == op)
        return early ? first : op;
    }
  }

  const BarrierNeed &needBetween(const GlobalInstance &earlier, unsigned later) {
    auto [entry, isNew] = between.try_emplace({earlier, later});
    if (isNew) {
      SmallVector<Operation *> passed;
      for (unsigned loop : earlier.passed)
        passed.push_back(loops[loop]);
      entry->second = order.between(accesses[earlier.access], accesses[later], passed);
    }
    return entry->second;
  }

  /// A barrier stands before `place`, which is `op` or before it in its block.
  void require(Operation *op, Operation *place, const BarrierNeed &need, Pending &pending) {
    if (need.isNever())
      return;
    if (probe)
      probe->add(need);
    else
      needs[place].add(need);
    if (probe || place == op)
      return pending.passBarrier(need, accesses);
    // It separates what came before it.
    Pending after;
    after.shared = pending.shared;
    for (auto &[instance, ordered] : pending.global) {
      Operation *inBlock = inBlockOf(op, instance);
      bool isSeparated =
          (!inBlock || inBlock->isBeforeInBlock(place)) && orders(need, accesses[instance.access]);
      if (isSeparated && need.always)
        continue;
      std::set<ArgumentPair> &pairs = after.global[instance] = ordered;
      if (isSeparated)
        pairs.insert(need.pairs.begin(), need.pairs.end());
    }
    pending = std::move(after);
  }

  //===-- loops
  //----------------------------------------------------------------------------------===//

  struct LoopStates {
    Pending next; ///< at the start of the next iteration
    Pending exit;
  };

  LoopStates iterate(Operation *loop, const Pending &start) {
    LoopStates states{start, {}};
    if (auto whileLoop = dyn_cast<scf::WhileOp>(loop)) {
      visit(whileLoop.getBefore(), states.next);
      // Left from its condition, never from its body.
      states.exit = states.next;
      visit(whileLoop.getAfter(), states.next);
      passIteration(loop, states.next);
    } else {
      visit(loop->getRegion(0), states.next);
      passIteration(loop, states.next);
      states.exit = states.next;
      // There may be no iteration.
      states.exit.add(start);
    }
    return states;
  }

  /// Now the accesses in the loop are of an earlier iteration.
  void passIteration(Operation *loop, Pending &pending) {
    unsigned number = loopNumbers[loop];
    Pending passed;
    for (auto &[instance, ordered] : pending.global) {
      GlobalInstance older = instance;
      auto place = llvm::lower_bound(older.passed, number);
      bool isNew = place == older.passed.end() || *place != number;
      if (isNew && loop->isAncestor(accesses[instance.access].op))
        older.passed.insert(place, number);
      passed.add(older, ordered);
    }
    pending.global = std::move(passed.global);
  }

  Pending untilNothingChanges(Operation *loop, Pending start) {
    while (true) {
      LoopStates states = iterate(loop, start);
      if (!start.add(states.next))
        return states.exit;
    }
  }

  void visitLoop(Operation *loop, Pending &pending) {
    // What the loop needs whatever came before it.
    untilNothingChanges(loop, Pending());
    BarrierNeed before;
    {
      llvm::SaveAndRestore<BarrierNeed *> probing(probe, &before);
      iterate(loop, pending);
    }
    require(loop, loop, before, pending);
    pending = untilNothingChanges(loop, pending);
  }

  const TargetInfo &target;
  const bool hasPartialBarriers;
  BufferAliases aliases;
  GlobalOrder order;
  SmallVector<GlobalAccess> accesses;
  SmallVector<Operation *> loops;
  DenseMap<Operation *, unsigned> accessNumbers, loopNumbers;
  SmallVector<tilegpu::DotOp> dotsInFlight;
  /// Operations that touch memory, and those around them.
  llvm::DenseSet<Operation *> active;
  std::map<std::pair<GlobalInstance, unsigned>, BarrierNeed> between;
  /// In which no warp waits for another.
  llvm::DenseSet<Operation *> ownExchanges;
  /// Collects what is needed in place of `needs`.
  BarrierNeed *probe = nullptr;
};

/// The pairs of arguments that barriers ask for.
std::set<ArgumentPair> pairsAskedFor(const BarrierPlanner &planner) {
  std::set<ArgumentPair> pairs;
  for (const auto &[op, need] : planner.needs)
    if (BarrierNeed left = needAt(op, need); !left.always)
      pairs.insert(left.pairs.begin(), left.pairs.end());
  return pairs;
}

/// Whether barriers need no condition. On NVIDIA those of one warp cost no more than that loads in
/// flight are waited for: less than many comparisons of arguments, and code of which there are two
/// versions for them (VersionBarriers.cpp). Kernels of one warp with four comparisons or more were
/// up to 1.17 times as fast without them, those with one to three 0.90 to 1.04 times. On CDNA those
/// of one wave are no instructions, and a comparison is three: with two of them for each barrier
/// that is in no loop, waves had better meet, as nothing in flight is waited for. So it is on RDNA,
/// but that several waves have to order nothing but reads before writes: other barriers wait for
/// stores and drop what the cache holds.
bool alwaysMeet(func::FuncOp kernel, const TargetInfo &target, const BarrierPlanner &planner,
                size_t comparisons) {
  bool isOneWarp = tilegpu::numWarpsOf(kernel) == 1;
  if (target.predicatedBarriers)
    return isOneWarp && comparisons >= 4;
  if (isOneWarp)
    return true;
  auto areAll = [&](function_ref<bool(Operation *, const BarrierNeed &)> holds) {
    return llvm::all_of(planner.needs, [&](const auto &each) {
      BarrierNeed left = needAt(each.first, each.second);
      return left.always || left.pairs.empty() || holds(each.first, left);
    });
  };
  bool isPartial = memoryFeaturesOf(target).partialBarriers;
  if (isPartial && !areAll([](Operation *, const BarrierNeed &left) { return !left.ofWrites; }))
    return false;
  size_t barriers = 0;
  bool areOnce = areAll([&](Operation *op, const BarrierNeed &) {
    ++barriers;
    return !op->getParentOfType<LoopLikeOpInterface>();
  });
  return areOnce && comparisons >= 2 * barriers;
}

/// Whether what was loaded in front of the operation, outside of loops, has been used there: so
/// that a wait for it is none.
bool hasAllLoaded(Operation *op) {
  if (op->getParentOfType<LoopLikeOpInterface>())
    return false;
  auto isUsed = [&](Operation &load) {
    return llvm::any_of(load.getUsers(), [&](Operation *user) {
      Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
      return inBlock && inBlock->isBeforeInBlock(op);
    });
  };
  return llvm::all_of(
      llvm::make_range(op->getBlock()->begin(), op->getIterator()), [&](Operation &earlier) {
        return !isa<tile::LoadOp, tilegpu::BufferLoadOp>(earlier) || isUsed(earlier);
      });
}

/// Whether the operation stands behind a loop that may have no iteration.
bool isBehindLoop(Operation *op) {
  return llvm::any_of(
      llvm::make_range(op->getBlock()->begin(), op->getIterator()), [](Operation &earlier) {
        auto loop = dyn_cast<scf::ForOp>(earlier);
        return isa<LoopLikeOpInterface>(earlier) && !(loop && loop.getStaticTripCount());
      });
}

/// Whether threads lack so many registers that indices behind loops are not computed again
/// (Target/AMD/EmitAMD.cpp).
bool lacksManyRegisters(func::FuncOp kernel, const TargetInfo &target) {
  constexpr unsigned many = 64;
  return estimateRegisters(kernel, target) >= registersOfThread(kernel, target) + many;
}

/// Writes the barriers.
class BarrierWriter {
public:
  BarrierWriter(func::FuncOp kernel, const TargetInfo &target, const BarrierPlanner &planner)
      : comparisons(kernel), pairs(pairsAskedFor(planner)),
        hasOneCondition(!target.predicatedBarriers && !tilegpu::multiplies(kernel)),
        meetAlways((target.predicatedBarriers || hasOneCondition) &&
                   alwaysMeet(kernel, target, planner, pairs.size())),
        lacksRegisters(memoryFeaturesOf(target).partialBarriers &&
                       lacksManyRegisters(kernel, target)) {}

  void write(Operation *op, const BarrierNeed &need) {
    OpBuilder builder(op);
    // What threads have done before comes before what the copy engine does.
    if (isa<tilegpu::TmaLoadOp, tilegpu::TmaStoreOp>(op))
      tilegpu::ProxyFenceOp::create(builder, op->getLoc(), /*isGlobal=*/true);
    BarrierNeed left = needAt(op, need);
    bool orderShared = left.ofShared;
    if (left.always || !left.pairs.empty()) {
      bool isThere = left.always || meetAlways || meetsAnyway(op, left);
      auto barrier = tilegpu::BarrierOp::create(
          builder, op->getLoc(),
          isThere ? Value() : comparisons.anyEqual(hasOneCondition ? pairs : left.pairs));
      barrier.setIsOfReads(!left.ofWrites);
      // A full one orders shared memory, too.
      barrier.setIsOfShared(isThere && left.ofShared && !left.ofWrites);
      orderShared &= !isThere;
    }
    if (orderShared)
      tilegpu::BarrierOp::create(builder, op->getLoc(), Value()).setIsOfShared(true);
  }

private:
  /// Whether threads meet for shared memory, with nothing on its way. Where the branch around a
  /// barrier behind a loop is gone, LLVM takes indices there from in front of the loop, and threads
  /// hold them all through it: they are computed again where the branch is.
  bool meetsAnyway(Operation *op, const BarrierNeed &left) const {
    return !hasOneCondition && left.ofShared && !left.ofWrites && hasAllLoaded(op) &&
           (lacksRegisters || !isBehindLoop(op));
  }

  ArgumentComparisons comparisons;
  std::set<ArgumentPair> pairs;
  /// All barriers ask whether any of the pairs is equal: AMD's conditions are scalar registers, of
  /// which long kernels have too few for several. Beside products of matrices neither a barrier nor
  /// its condition is anything.
  bool hasOneCondition;
  /// Whatever the arguments.
  bool meetAlways;
  bool lacksRegisters;
};

struct InsertBarriersPass : PassWrapper<InsertBarriersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertBarriersPass)

  StringRef getArgument() const override { return "kiln-insert-barriers"; }
  StringRef getDescription() const override {
    return "Put barriers between conflicting accesses of different threads";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    // Those that stand already are between accesses to slots.
    if (memoryFeaturesOf(*target).partialBarriers)
      getOperation().walk([](tilegpu::BarrierOp barrier) { barrier.setIsOfShared(true); });
    BarrierPlanner planner(getOperation(), *target);
    BarrierWriter writer(getOperation(), *target, planner);
    for (auto &[op, need] : planner.needs)
      writer.write(op, need);
  }
};

} // namespace

std::unique_ptr<Pass> createInsertBarriersPass() { return std::make_unique<InsertBarriersPass>(); }

} // namespace kiln
