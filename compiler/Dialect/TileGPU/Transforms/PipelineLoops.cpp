// Software pipelining: a loop's loads run iterations ahead of the dots that they feed.
//
// A load whose only use is a buffer of a dot, or of a loop that waits (WaitingLoops.h), becomes a
// copy into a slot of a ring, `stages - 1` iterations before the dot reads the slot. With S slots
// an iteration i of the loop is:
//
//     wait until the copies of iteration i have landed: S - 2 younger groups may be in flight
//     barrier: now all threads' copies have, and everyone has read slot i - 1
//     start the copies of iteration i + S - 1, into the slot of iteration i - 1
//     read slot i, multiply
//
// Dots that read the buffers by themselves may run into the next iteration (DotsInFlight.h), so
// that the matrix units never run dry. With one slot more:
//
//     wait, barrier: everyone has waited for the dots of iteration i - 2
//     start multiplying slot i
//     start the copies of iteration i + S - 2, into the slot of iteration i - 2
//     wait for the dots of iteration i - 1
//
// Where there is no room for it, or where it would take the room of another block, the copies go
// into the slot of iteration i - 1: behind the wait for its dots, and a second barrier.
//
// Where a slot less makes room for more blocks, slots are filled again in the iteration that reads
// them, part by part (Refills.h).
//
// What the copies' addresses hang on, as an index or an entry of a table of pages, is loaded an
// iteration ahead of them, to registers: nothing waits for it.
//
// A loop that is known to run no more than S times, as one over a head's columns, needs no more
// slots than that, and no slot is filled twice: all copies start in front of the loop.
//
// Blocks that the copy engine brings (TMA) have no groups, but an mbarrier for each slot: all wait
// for its phase in place of their own copies, and see what has come without the barrier, which
// stands there only where it says that the slot of iteration i - 1 is free.
//
// MLIR's loop pipeliner writes the prologue and gives each operation the values of its own
// iteration. Copies that are beyond the loop's end copy nothing (their mask is false), so there is
// no epilogue, and any number of iterations is right, none as well. The rings' order is made here:
// InsertBarriers takes accesses to one ring as ordered.

#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "compiler/Dialect/TileGPU/Transforms/LoadDetours.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/Refills.h"
#include "compiler/Dialect/TileGPU/Transforms/WarpCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// The same operation for iterations that there are.
Operation *predicated(RewriterBase &rewriter, Operation *op, Value exists) {
  if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
    rewriter.modifyOpInPlace(copy, [&] { copy.getConditionMutable().assign(exists); });
  if (auto copy = dyn_cast<tilegpu::TmaLoadOp>(op))
    rewriter.modifyOpInPlace(copy, [&] { copy.getConditionMutable().assign(exists); });
  if (auto load = dyn_cast<tile::LoadOp>(op))
    makeConditional(rewriter, load, exists);
  return op;
}

class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, StagedLoads staged, DotsInFlight flight, const RingPlan &plan,
                const TargetInfo &target)
      : loop(loop), staged(std::move(staged)),
        numCopies(target.warpCopies ? countCopies(this->staged) : 0), flight(std::move(flight)),
        plan(plan), target(target), rewriter(loop.getContext()) {}

  LogicalResult run() {
    defineCarried(rewriter, loop);
    unshareAddresses(rewriter, loop, staged);
    indices = findIndices(rewriter, loop, staged);
    addSlotNumbers();
    copyIntoRings();
    startDots();
    endCopies();
    return schedule();
  }

private:
  /// Iterations that copies are ahead.
  unsigned distance() const { return plan.stages - 1; }

  //===-- rings
  //----------------------------------------------------------------------------------===//

  /// Two numbers that go round: the slot that copies fill, and the one that is read. A third is the
  /// parity of the rounds of the second, which is the phase of its mbarrier.
  void addSlotNumbers() {
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
    unsigned first = loop.getNumRegionIterArgs();
    auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> numbers) {
      Value isEnd;
      SmallVector<Value> values{numberAfter(b, loc, numbers[0], plan.slots, isEnd)};
      if (!numBlocks) {
        values.push_back(numberAfter(b, loc, numbers[1], plan.slots, isEnd));
        return values;
      }
      RingState after = stateAfter(b, loc, {numbers[1], numbers[2]}, plan.slots);
      values.append({after.slot, after.phase});
      return values;
    };
    loop = cast<scf::ForOp>(
        *loop.replaceWithAdditionalYields(rewriter, SmallVector<Value>(numBlocks ? 3 : 2, zero),
                                          /*replaceInitOperandUsesInLoop=*/false, next));
    filled = loop.getRegionIterArgs()[first];
    read = loop.getRegionIterArgs()[first + 1];
    phase = numBlocks ? loop.getRegionIterArgs()[first + 2] : BlockArgument();
    addToAddresses(loop.getYieldedValues()[first]);
  }

  /// With all that the loop computes it from.
  void addToAddresses(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && staged.addresses.insert(op))
      for (Value operand : op->getOperands())
        addToAddresses(operand);
  }

  void copyIntoRings() {
    Operation *reader = firstReader(staged.loads);
    findGroups();
    allocateMBarriers();
    SmallVector<Operation *> copies;
    for (StagedLoad &load : staged.loads) {
      Location loc = load.load->getLoc();
      rewriter.setInsertionPoint(loop);
      tilegpu::BufferType type = load.buffer.getType().withSlots(plan.slots);
      Value ring = tilegpu::AllocOp::create(rewriter, loc, type);
      rings.push_back(ring);
      rewriter.setInsertionPoint(load.load);
      Value slot = tilegpu::SlotOp::create(rewriter, loc, ring, filled);
      Operation *copy = load.isBlock() ? copyBlock(load, slot) : copyByThreads(load, slot);
      staged.addresses.insert(slot.getDefiningOp());
      staged.addresses.insert(copy);
      copies.push_back(copy);
    }
    for (Refill &group : groups)
      commit(llvm::map_to_vector(group.loads, [&](unsigned load) { return copies[load]; }));
    eraseFences(rewriter, loop, staged.loads);
    waitForCopies(reader);
    replaceBySlots(rewriter, staged.loads, arrival, rings, read);
  }

  /// All copies are one, unless slots are filled again part by part.
  void findGroups() {
    if (plan.isRefilled)
      groups = findRefills(loop, staged, target, /*inOneGroup=*/numBlocks > 0);
    else
      groups.push_back({llvm::to_vector(llvm::seq<unsigned>(0, staged.loads.size()))});
  }

  /// Makes the copies a group, behind the last of them.
  void commit(SmallVector<Operation *> copies) {
    if (hasThreadsCopies) {
      Operation *last = *llvm::max_element(
          copies, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      rewriter.setInsertionPointAfter(last);
      copies.push_back(tilegpu::CommitOp::create(rewriter, last->getLoc()));
      staged.addresses.insert(copies.back());
    }
    copiesOf.push_back(std::move(copies));
  }

  /// Before the loop, with what stands between earlier stores to the rings' memory and the engine.
  void allocateMBarriers() {
    if (!numBlocks)
      return;
    rewriter.setInsertionPoint(loop);
    mbarriers = tilegpu::allocateMBarriers(rewriter, loop.getLoc(), plan.slots, numBlocks);
    GlobalOrder order(target);
    bool isGlobal = llvm::any_of(staged.loads, [&](const StagedLoad &load) {
      return load.isBlock() && !order.behindWrites(load.load).isNever();
    });
    tilegpu::publishMBarriers(rewriter, loop.getLoc(), isGlobal, /*toAllWarps=*/false);
  }

  Operation *copyBlock(const StagedLoad &staging, Value slot) {
    auto load = cast<tile::DescriptorLoadOp>(staging.load);
    Value mbarrier = tilegpu::SlotOp::create(rewriter, load.getLoc(), mbarriers, filled);
    staged.addresses.insert(mbarrier.getDefiningOp());
    return tilegpu::TmaLoadOp::create(rewriter, load.getLoc(), load.getDescriptor(),
                                      load.getOffsets(), slot, mbarrier, Value(), staging.order(),
                                      /*isByOneThread=*/false, /*shared_by=*/1, load.getEvict());
  }

  Operation *copyByThreads(const StagedLoad &staging, Value slot) {
    auto load = cast<tile::LoadOp>(staging.load);
    Value pointers = transposed(staging, load.getPtr());
    Value mask = load.getMask() ? transposed(staging, load.getMask()) : Value();
    return tilegpu::CopyAsyncOp::create(rewriter, load.getLoc(), pointers, slot, mask, Value(),
                                        staging.vector, staging.counted, load.getCache(),
                                        load.getEvict());
  }

  /// Transposed as the loaded value is on its way to the buffer.
  Value transposed(const StagedLoad &load, Value value) {
    for (tile::TransOp trans : load.transpositions) {
      auto element = cast<RankedTensorType>(value.getType()).getElementType();
      auto shaped = cast<RankedTensorType>(trans.getType());
      auto type = RankedTensorType::get(shaped.getShape(), element, shaped.getEncoding());
      value = tile::TransOp::create(rewriter, trans.getLoc(), type, value, trans.getOrder());
      staged.addresses.insert(value.getDefiningOp());
    }
    return value;
  }

  void waitForCopies(Operation *reader) {
    // Behind what is stored for the same reader, and its fence.
    rewriter.setInsertionPoint(reader);
    Location loc = reader->getLoc();
    if (hasThreadsCopies && !plan.isRefilled)
      tilegpu::WaitOp::create(rewriter, loc, distance() - 1, rings, numCopies);
    if (numBlocks) {
      Value mbarrier = tilegpu::SlotOp::create(rewriter, loc, mbarriers, read);
      arrival = tilegpu::MBarrierWaitOp::create(rewriter, loc, mbarrier, phase);
    }
    if (hasThreadsCopies || !(isFreedBehindDots() || plan.isRefilled))
      groups.front().barrier = arrival = tilegpu::BarrierOp::create(rewriter, loc, Value());
    if (plan.isRefilled)
      addBarriers(rewriter, groups);
    if (plan.isRefilled && hasThreadsCopies)
      waitForRefills(rewriter, groups, staged, arrival, distance(), rings);
  }

  /// Whether a second barrier says that the slot is free.
  bool isFreedBehindDots() const { return flight.any() && plan.slots == plan.stages; }

  //===-- dots in flight
  //-------------------------------------------------------------------------===//

  void startDots() {
    flight.startBeside(rewriter);
    if (!flight.any())
      return;
    DotsInFlight::Places places = flight.start(rewriter, loop);
    groups.front().barrier = places.started;
    if (!isFreedBehindDots())
      return;
    rewriter.setInsertionPointAfter(places.done);
    groups.front().barrier = tilegpu::BarrierOp::create(rewriter, places.done->getLoc(), Value());
  }

  /// Copies of zeros may be in flight, whatever barriers have been passed, and what comes next may
  /// use the memory.
  void endCopies() {
    rewriter.setInsertionPointAfter(loop);
    if (hasThreadsCopies)
      tilegpu::WaitOp::create(rewriter, loop.getLoc(), 0, rings);
    if (numBlocks)
      tilegpu::releaseMBarriers(rewriter, loop.getLoc(), mbarriers);
  }

  //===-- order and stages
  //-----------------------------------------------------------------------===//

  LogicalResult schedule() {
    scf::PipeliningOption options;
    options.getScheduleFn = [&](scf::ForOp, std::vector<std::pair<Operation *, unsigned>> &order) {
      order = this->order();
    };
    options.peelEpilogue = false;
    options.supportDynamicLoops = true;
    options.predicateFn = predicated;
    rewriter.setInsertionPoint(loop);
    FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop, options);
    if (succeeded(pipelined) && plan.isFilledOnce())
      eraseCopies(*pipelined);
    return pipelined;
  }

  /// All are beyond the loop's end, and would fill slots with zeros that are yet to be read. Their
  /// groups stay, by which the others are counted.
  void eraseCopies(scf::ForOp pipelined) {
    for (Operation &op : llvm::make_early_inc_range(pipelined.getBody()->without_terminator())) {
      Value filled = llvm::TypeSwitch<Operation *, Value>(&op)
                         .Case<tilegpu::CopyAsyncOp, tilegpu::TmaLoadOp>(
                             [](auto copy) { return copy.getBuffer(); })
                         .Default(Value());
      auto slot = filled ? filled.getDefiningOp<tilegpu::SlotOp>() : tilegpu::SlotOp();
      if (slot && llvm::is_contained(rings, slot.getRing()))
        rewriter.eraseOp(&op);
    }
  }

  /// The copies come when their slot is free.
  std::vector<std::pair<Operation *, unsigned>> order() {
    std::vector<std::pair<Operation *, unsigned>> list;
    llvm::SmallPtrSet<Operation *, 16> added;
    unsigned ofCopies = indices.empty() ? 0 : 1;
    auto addAhead = [&](size_t group) {
      llvm::SmallPtrSet<Operation *, 16> needed = neededBy(copiesOf[group], staged.addresses);
      bool isLast = group + 1 == groups.size();
      for (Operation &op : loop.getBody()->without_terminator())
        if (staged.addresses.contains(&op) && (isLast || needed.contains(&op)) &&
            added.insert(&op).second)
          list.push_back({&op, indices.contains(&op) ? 0 : ofCopies});
    };
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!staged.addresses.contains(&op))
        list.push_back({&op, ofCopies + distance()});
      for (auto [number, group] : llvm::enumerate(groups))
        if (&op == group.barrier)
          addAhead(number);
    }
    return list;
  }

  static int64_t countBlocks(const StagedLoads &staged) {
    return llvm::count_if(staged.loads, [](const StagedLoad &load) { return load.isBlock(); });
  }

  scf::ForOp loop;
  StagedLoads staged;
  llvm::SmallPtrSet<Operation *, 16> indices; ///< what is loaded for addresses
  /// How many of the loads the copy engine makes, and whether threads make some.
  const int64_t numBlocks = countBlocks(staged);
  const bool hasThreadsCopies = numBlocks < int64_t(staged.loads.size());
  const unsigned numCopies; ///< of a thread in each group, where the target counts them
  DotsInFlight flight;
  RingPlan plan;
  const TargetInfo &target;
  IRRewriter rewriter;
  SmallVector<Value> rings;
  Value filled, read;           ///< numbers of slots
  Value phase;                  ///< of the slot that is read
  Value mbarriers;              ///< one for each slot
  Operation *arrival = nullptr; ///< behind it copies can be read
  /// Of copies: behind the barrier, or what else it is, their slot is free.
  SmallVector<Refill> groups;
  SmallVector<SmallVector<Operation *>> copiesOf; ///< each group, which they end with
};

//===-- which loops, and how many stages
//-----------------------------------------------------------===//

struct PipelineLoopsPass : PassWrapper<PipelineLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelineLoopsPass)

  StringRef getArgument() const override { return "kiln-pipeline-loops"; }
  StringRef getDescription() const override {
    return "Let the loads that feed dots run iterations ahead of them";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    for (scf::ForOp loop : innermostLoops(kernel))
      if ((target->asyncCopies && failed(pipeline(loop, *target))) ||
          (target->warpCopies && failed(pipelineWarpCopies(loop, *target))))
        return signalPassFailure();
  }

  StagedLoads stagedLoads(scf::ForOp loop, const TargetInfo &target) {
    AxisInfoAnalysis facts(getOperation());
    return findStagedLoads(loop, facts, target);
  }

  RingPlan planFor(scf::ForOp loop, const StagedLoads &staged, const TargetInfo &target) {
    RingBudget budget(getOperation(), target);
    DotsInFlight flight(loop, staged);
    RingPlan plan =
        budget.planFor(loop, staged, flight, RingBudget::buffersOf(staged), /*life=*/loop);
    std::optional<APInt> times = loop.getStaticTripCount();
    if (flight.waitsForEach() && plan.stages >= 2 && (!times || times->ugt(plan.stages)))
      budget.tryToRefill(plan, loop, staged);
    return plan;
  }

  /// Takes what operands are computed from through buffers, where it can then be copied ahead in
  /// pieces that are large enough, and the others still as far as in the plan `without` buffers,
  /// and where the processor loses no blocks by it that count. Whether there is any. Loops that
  /// another warp serves are left as they are, and so are loads that the addresses of others hang
  /// on, which would have to stay.
  bool addDetours(scf::ForOp loop, const StagedLoads &before, const RingPlan &without,
                  const TargetInfo &target) {
    if (!loop.getBody()->getOps<tilegpu::MBarrierWaitOp>().empty())
      return false;
    SmallVector<LoadDetour> detours = detourLoads(
        loop, target, [&](tile::LoadOp load) { return !before.addresses.contains(load); });
    if (detours.empty())
      return false;
    auto isStaged = [&](const StagedLoads &staged, LoadDetour &detour) {
      return llvm::any_of(staged.loads, [&](const StagedLoad &load) {
        unsigned bits = tilegpu::storageBits(detour.buffer.getType().getElementType());
        return load.load == detour.load && load.vector * bits >= detour.leastBits();
      });
    };
    StagedLoads staged = stagedLoads(loop, target);
    llvm::erase_if(detours, [&](LoadDetour &detour) {
      bool isInVain = !isStaged(staged, detour);
      if (isInVain)
        detour.takeBack();
      return isInVain;
    });
    if (detours.empty())
      return false;
    RingPlan with = planFor(loop, stagedLoads(loop, target), target);
    // Where few warps run few times, little is copied ahead of anything, and every block counts.
    constexpr unsigned fewTimes = 2;
    std::optional<APInt> times = loop.getStaticTripCount();
    bool losesBlocks = tilegpu::numWarpsOf(getOperation()) < RingBudget::schedulers && times &&
                       times->ule(fewTimes) && with.blocks <= RingBudget::schedulers &&
                       without.blocks > with.blocks;
    if (with.stages >= std::max(2u, without.stages) && !losesBlocks)
      return true;
    for (LoadDetour &detour : llvm::reverse(detours))
      detour.takeBack();
    return false;
  }

  LogicalResult pipeline(scf::ForOp loop, const TargetInfo &target) {
    StagedLoads staged = stagedLoads(loop, target);
    if (addDetours(loop, staged, planFor(loop, staged, target), target))
      staged = stagedLoads(loop, target);
    if (staged.loads.empty())
      return success();
    RingPlan plan = planFor(loop, staged, target);
    if (plan.stages < 2)
      return success();
    loop = countSigned(loop, staged, /*isWide=*/loop.getBody()->getOps<tilegpu::DotOp>().empty());
    if (!loop)
      return success();
    plan.fillOnce(loop);
    DotsInFlight flight(loop, staged);
    if (!plan.hasSpareSlot() && !plan.isFilledOnce() && !plan.isRefilled)
      flight.withoutSpareSlot();
    return run(loop, std::move(staged), std::move(flight), plan, target);
  }

  /// Where all that feeds the loop's dots is laid out for them (kiln-arrange-copies).
  LogicalResult pipelineWarpCopies(scf::ForOp loop, const TargetInfo &target) {
    StagedLoads staged;
    {
      AxisInfoAnalysis facts(getOperation());
      staged = findWarpCopies(loop, facts, target);
    }
    if (staged.loads.empty() || !areArranged(staged, target))
      return success();
    RingPlan plan = planWarpCopies(getOperation(), loop, staged, target);
    loop = plan.stages < 2 ? scf::ForOp() : countSigned(loop, staged, /*isWide=*/false);
    if (!loop)
      return success();
    DotsInFlight flight(loop, staged);
    return run(loop, std::move(staged), std::move(flight), plan, target);
  }

  static LogicalResult run(scf::ForOp loop, StagedLoads staged, DotsInFlight flight,
                           const RingPlan &plan, const TargetInfo &target) {
    Location loc = loop.getLoc();
    if (succeeded(LoopPipeliner(loop, std::move(staged), std::move(flight), plan, target).run()))
      return success();
    return emitError(loc, "expected a loop that can be pipelined: this is a mistake in Kiln");
  }
};

} // namespace

std::unique_ptr<Pass> createPipelineLoopsPass() { return std::make_unique<PipelineLoopsPass>(); }

} // namespace kiln
