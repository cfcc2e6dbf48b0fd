// Software pipelining: a loop's loads run iterations ahead of the dots that they feed.
//
// A load whose only use is a buffer of a dot becomes a copy into a slot of a ring, `stages - 1`
// iterations before the dot reads the slot. With S slots an iteration i of the loop is:
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
// Blocks that the copy engine brings (TMA) have no groups, but an mbarrier for each slot: all wait
// for its phase in place of their own copies, and see what has come without the barrier, which
// still says that the slot of iteration i - 1 is free.
//
// MLIR's loop pipeliner writes the prologue and gives each operation the values of its own
// iteration. Copies that are beyond the loop's end copy nothing (their mask is false), so there is
// no epilogue, and any number of iterations is right, none as well. The rings' order is made here:
// InsertBarriers takes accesses to one ring as ordered.

#include "compiler/Dialect/TileGPU/Transforms/DotsInFlight.h"
#include "compiler/Dialect/TileGPU/Transforms/LoadDetours.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kiln {
namespace {

/// The value whose elements all are `scalar`, of the shape and layout of `like`.
Value splatLike(OpBuilder &b, Location loc, Value scalar, Type like) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  if (!tensor)
    return scalar;
  auto type = RankedTensorType::get(tensor.getShape(), scalar.getType(), tensor.getEncoding());
  return tile::SplatOp::create(b, loc, type, scalar);
}

/// The same operation for iterations that there are.
Operation *predicated(RewriterBase &rewriter, Operation *op, Value exists) {
  if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
    rewriter.modifyOpInPlace(copy, [&] { copy.getConditionMutable().assign(exists); });
  if (auto copy = dyn_cast<tilegpu::TmaLoadOp>(op))
    rewriter.modifyOpInPlace(copy, [&] { copy.getConditionMutable().assign(exists); });
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load)
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value mask = splatLike(rewriter, op->getLoc(), exists, load.getPtr().getType());
  if (load.getMask())
    mask = arith::AndIOp::create(rewriter, op->getLoc(), load.getMask(), mask);
  rewriter.modifyOpInPlace(load, [&] { load.getMaskMutable().assign(mask); });
  return op;
}

/// How a loop is pipelined.
struct RingPlan {
  unsigned stages = 1, slots = 1;
};

class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, StagedLoads staged, DotsInFlight flight, const RingPlan &plan)
      : loop(loop), staged(std::move(staged)), flight(std::move(flight)), plan(plan),
        rewriter(loop.getContext()) {}

  LogicalResult run() {
    unshareAddresses();
    addSlotNumbers();
    copyIntoRings();
    startDots();
    endCopies();
    return schedule();
  }

private:
  /// Iterations that copies are ahead.
  unsigned distance() const { return plan.stages - 1; }

  //===-- before the rewriting
  //-------------------------------------------------------------------===//

  /// What else the loop does with parts of an address it computes for itself: values that go from
  /// one stage to another would have to be kept for as many iterations.
  void unshareAddresses() {
    for (Operation *op : orderedAddresses()) {
      if (!isMemoryEffectFree(op))
        continue;
      auto isElsewhere = [&](OpOperand &use) {
        Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
        return !staged.addresses.contains(user) && !isStagedLoad(user) && !isa<scf::YieldOp>(user);
      };
      if (llvm::none_of(op->getUses(), isElsewhere))
        continue;
      rewriter.setInsertionPointAfter(op);
      Operation *copy = rewriter.clone(*op);
      for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults()))
        result.replaceUsesWithIf(copied, isElsewhere);
    }
  }

  /// Users before what they use.
  SmallVector<Operation *> orderedAddresses() const {
    SmallVector<Operation *> ops(staged.addresses.begin(), staged.addresses.end());
    llvm::sort(ops, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    return ops;
  }

  bool isStagedLoad(Operation *op) const {
    return llvm::any_of(staged.loads, [&](const StagedLoad &load) { return load.load == op; });
  }

  //===-- rings
  //----------------------------------------------------------------------------------===//

  int64_t numBlocks() const {
    return llvm::count_if(staged.loads, [](const StagedLoad &load) { return load.isBlock(); });
  }
  bool hasThreadsCopies() const { return numBlocks() < int64_t(staged.loads.size()); }

  /// Two numbers that go round: the slot that copies fill, and the one that is read. A third is the
  /// parity of the rounds of the second, which is the phase of its mbarrier.
  void addSlotNumbers() {
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    auto constant = [&](unsigned value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(int32_t(value)));
    };
    Value zero = constant(0), one = constant(1), end = constant(plan.slots);
    unsigned first = loop.getNumRegionIterArgs();
    auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> numbers) {
      SmallVector<Value> values;
      Value isEnd;
      for (BlockArgument number : numbers.take_front(2)) {
        Value more = arith::AddIOp::create(b, loc, number, one);
        isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, end);
        values.push_back(arith::SelectOp::create(b, loc, isEnd, zero, more));
      }
      for (BlockArgument phase : numbers.drop_front(2))
        values.push_back(arith::XOrIOp::create(
            b, loc, phase, arith::ExtUIOp::create(b, loc, phase.getType(), isEnd)));
      return values;
    };
    loop = cast<scf::ForOp>(
        *loop.replaceWithAdditionalYields(rewriter, SmallVector<Value>(numBlocks() ? 3 : 2, zero),
                                          /*replaceInitOperandUsesInLoop=*/false, next));
    filled = loop.getRegionIterArgs()[first];
    read = loop.getRegionIterArgs()[first + 1];
    phase = numBlocks() ? loop.getRegionIterArgs()[first + 2] : BlockArgument();
    auto choice = loop.getYieldedValues()[first].getDefiningOp<arith::SelectOp>();
    staged.addresses.insert(choice);
    staged.addresses.insert(choice.getCondition().getDefiningOp());
    staged.addresses.insert(choice.getFalseValue().getDefiningOp());
  }

  void copyIntoRings() {
    Operation *reader = nullptr;
    SmallVector<Value> rings;
    allocateMBarriers();
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
      if (!lastCopy || lastCopy->isBeforeInBlock(copy))
        lastCopy = copy;
      for (Operation *user : load.buffer->getUsers())
        if (user != load.store && (!reader || user->isBeforeInBlock(reader)))
          reader = user;
    }
    if (hasThreadsCopies()) {
      rewriter.setInsertionPointAfter(lastCopy);
      lastCopy = tilegpu::CommitOp::create(rewriter, lastCopy->getLoc());
      staged.addresses.insert(lastCopy);
    }
    eraseFences();
    waitForCopies(reader, rings);
    readSlots(rings);
  }

  /// Before the loop, with what stands between earlier stores to the rings' memory and the engine.
  void allocateMBarriers() {
    if (!numBlocks())
      return;
    rewriter.setInsertionPoint(loop);
    mbarriers = tilegpu::allocateMBarriers(rewriter, loop.getLoc(), plan.slots, numBlocks());
  }

  Operation *copyBlock(const StagedLoad &staging, Value slot) {
    auto load = cast<tile::DescriptorLoadOp>(staging.load);
    Value mbarrier = tilegpu::SlotOp::create(rewriter, load.getLoc(), mbarriers, filled);
    staged.addresses.insert(mbarrier.getDefiningOp());
    return tilegpu::TmaLoadOp::create(rewriter, load.getLoc(), load.getDescriptor(),
                                      load.getOffsets(), slot, mbarrier, Value(), staging.order(),
                                      load.getEvict());
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

  /// Units see what copies have brought without a fence: NVIDIA's own products read it so (CUTLASS,
  /// "MainloopSm90CpAsyncGmma"), although the PTX ISA counts cp.async among the generic proxy.
  void eraseFences() {
    auto isCopied = [&](tilegpu::SharedStoreOp store) {
      return llvm::any_of(staged.loads,
                          [&](const StagedLoad &load) { return load.store == store; });
    };
    if (!llvm::all_of(loop.getBody()->getOps<tilegpu::SharedStoreOp>(), isCopied))
      return;
    for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<tilegpu::ProxyFenceOp>()))
      rewriter.eraseOp(fence);
  }

  void waitForCopies(Operation *reader, ValueRange rings) {
    // Behind what is stored for the same reader, and its fence.
    rewriter.setInsertionPoint(reader);
    Location loc = reader->getLoc();
    if (hasThreadsCopies())
      tilegpu::WaitOp::create(rewriter, loc, distance() - 1, rings);
    if (numBlocks()) {
      Value mbarrier = tilegpu::SlotOp::create(rewriter, loc, mbarriers, read);
      tilegpu::MBarrierWaitOp::create(rewriter, loc, mbarrier, phase);
    }
    slotIsFree = arrival = tilegpu::BarrierOp::create(rewriter, loc, Value());
  }

  void readSlots(ValueRange rings) {
    for (auto [load, ring] : llvm::zip(staged.loads, rings)) {
      rewriter.setInsertionPointAfter(arrival);
      Value slot = tilegpu::SlotOp::create(rewriter, load.load->getLoc(), ring, read);
      rewriter.eraseOp(load.store);
      rewriter.replaceOp(load.buffer, slot);
      for (tile::TransOp trans : llvm::reverse(load.transpositions))
        rewriter.eraseOp(trans);
      rewriter.eraseOp(load.load);
    }
  }

  //===-- dots in flight
  //-------------------------------------------------------------------------===//

  void startDots() {
    if (!flight.any())
      return;
    DotsInFlight::Places places = flight.start(rewriter, loop);
    slotIsFree = places.started;
    if (plan.slots > plan.stages)
      return;
    rewriter.setInsertionPointAfter(places.done);
    slotIsFree = tilegpu::BarrierOp::create(rewriter, places.done->getLoc(), Value());
  }

  /// Copies of zeros may be in flight, and what comes next may use the memory.
  void endCopies() {
    rewriter.setInsertionPointAfter(loop);
    if (hasThreadsCopies())
      tilegpu::WaitOp::create(rewriter, loop.getLoc(), 0, ValueRange());
    if (numBlocks())
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
    return scf::pipelineForLoop(rewriter, loop, options);
  }

  /// The copies come when their slot is free.
  std::vector<std::pair<Operation *, unsigned>> order() {
    std::vector<std::pair<Operation *, unsigned>> list;
    auto addAhead = [&] {
      for (Operation &op : loop.getBody()->without_terminator())
        if (staged.addresses.contains(&op))
          list.push_back({&op, 0});
    };
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!staged.addresses.contains(&op))
        list.push_back({&op, distance()});
      if (&op == slotIsFree)
        addAhead();
    }
    return list;
  }

  scf::ForOp loop;
  StagedLoads staged;
  DotsInFlight flight;
  RingPlan plan;
  IRRewriter rewriter;
  Value filled, read; ///< numbers of slots
  Value phase;        ///< of the slot that is read
  Value mbarriers;    ///< one for each slot
  Operation *lastCopy = nullptr;
  Operation *arrival = nullptr; ///< behind it copies can be read
  /// Behind it the slot that copies fill is free.
  Operation *slotIsFree = nullptr;
};

//===-- which loops, and how many stages
//-----------------------------------------------------------===//

class RingBudget {
public:
  RingBudget(func::FuncOp kernel, const TargetInfo &target) : kernel(kernel), target(target) {}

  /// As many stages as are asked for, or as there is shared memory for.
  RingPlan planFor(scf::ForOp loop, const StagedLoads &staged, const DotsInFlight &flight) {
    int64_t slotBytes = 0;
    for (const StagedLoad &load : staged.loads)
      slotBytes += tilegpu::AllocOp(load.buffer).getType().getBytes();
    constexpr int64_t mbarrierBytes = 128;
    int64_t beside = bytesBeside(loop) - slotBytes + mbarrierBytes;
    int64_t room = (target.maxSharedBytes - beside) / slotBytes;
    RingPlan plan;
    plan.stages = plan.slots = std::min(wishedStages(loop), room);
    SmallVector<tilegpu::DotOp> dots(loop.getBody()->getOps<tilegpu::DotOp>());
    if (flight.any() && plan.slots < room &&
        blocksWith(beside + (plan.slots + 1) * slotBytes, dots) ==
            blocksWith(beside + plan.slots * slotBytes, dots))
      ++plan.slots;
    return plan;
  }

private:
  int64_t wishedStages(scf::ForOp loop) {
    for (Operation *op : {loop.getOperation(), kernel.getOperation()})
      if (auto stages = op->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr))
        return stages.getInt();
    return 1;
  }

  /// Shared memory that is in use while the loop runs, its buffers' first slots included.
  int64_t bytesBeside(scf::ForOp loop) {
    int64_t buffers = 0, scratch = 0;
    kernel.walk([&](tilegpu::AllocOp alloc) { buffers += alloc.getType().getBytes(); });
    loop.walk([&](tilegpu::ScratchOpInterface op) {
      scratch += llvm::alignTo(op.getScratchBytes(target), 128);
    });
    return buffers + scratch;
  }

  /// Blocks that a processor can hold, by shared memory and by the registers of accumulators.
  int64_t blocksWith(int64_t sharedBytes, ArrayRef<tilegpu::DotOp> dots) {
    // Registers of addresses and masks beside the accumulators; a processor's registers (CUDA C++
    // Programming Guide, "Compute Capabilities").
    constexpr int64_t otherRegisters = 64, allRegisters = 65536;
    int64_t registers = otherRegisters;
    for (tilegpu::DotOp dot : dots)
      registers += tilegpu::layoutOf(dot.getC()).numRegisters();
    int64_t threads = target.threadsPerBlock(tilegpu::numWarpsOf(kernel));
    return std::min(target.maxSharedBytes / std::max<int64_t>(1, sharedBytes),
                    allRegisters / (threads * registers));
  }

  func::FuncOp kernel;
  const TargetInfo &target;
};

struct PipelineLoopsPass : PassWrapper<PipelineLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelineLoopsPass)

  StringRef getArgument() const override { return "kiln-pipeline-loops"; }
  StringRef getDescription() const override {
    return "Let the loads that feed dots run iterations ahead of them";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(kernel);
    if (!target) {
      kernel.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    if (!target->asyncCopies)
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) {
      WalkResult inner = loop.getBodyRegion().walk([](Operation *op) {
        return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (!inner.wasInterrupted())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(pipeline(loop, *target)))
        return signalPassFailure();
  }

  StagedLoads stagedLoads(scf::ForOp loop, const TargetInfo &target) {
    AxisInfoAnalysis facts(getOperation());
    return findStagedLoads(loop, facts, target);
  }

  unsigned stagesFor(scf::ForOp loop, const StagedLoads &staged, const TargetInfo &target) {
    if (staged.loads.empty())
      return 1;
    DotsInFlight flight(loop, staged);
    return RingBudget(getOperation(), target).planFor(loop, staged, flight).stages;
  }

  /// Takes what operands are computed from through buffers, where it can then be copied ahead, 8
  /// bytes or more at a time, and the others still as far as in `stages`. Whether there is any.
  bool addDetours(scf::ForOp loop, unsigned stages, const TargetInfo &target) {
    SmallVector<LoadDetour> detours = detourLoads(loop, target);
    if (detours.empty())
      return false;
    auto isStaged = [&](const StagedLoads &staged, LoadDetour &detour) {
      return llvm::any_of(staged.loads, [&](const StagedLoad &load) {
        unsigned bits = tilegpu::storageBits(detour.buffer.getType().getElementType());
        return load.load == detour.load && load.vector * bits >= 64;
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
    unsigned withDetours = stagesFor(loop, stagedLoads(loop, target), target);
    if (withDetours >= std::max(2u, stages))
      return true;
    for (LoadDetour &detour : detours)
      detour.takeBack();
    return false;
  }

  LogicalResult pipeline(scf::ForOp loop, const TargetInfo &target) {
    StagedLoads staged = stagedLoads(loop, target);
    unsigned stages = stagesFor(loop, staged, target);
    if (addDetours(loop, stages, target))
      staged = stagedLoads(loop, target);
    if (staged.loads.empty())
      return success();
    DotsInFlight flight(loop, staged);
    RingPlan plan = RingBudget(getOperation(), target).planFor(loop, staged, flight);
    if (plan.stages < 2)
      return success();
    Location loc = loop.getLoc();
    if (succeeded(LoopPipeliner(loop, std::move(staged), std::move(flight), plan).run()))
      return success();
    return emitError(loc, "expected a loop that can be pipelined: this is a mistake in Kiln");
  }
};

} // namespace

std::unique_ptr<Pass> createPipelineLoopsPass() { return std::make_unique<PipelineLoopsPass>(); }

} // namespace kiln
