// Warp specialisation: a warp of its own brings what the others multiply.
//
// Where all that a loop's dots read comes from the copy engine (TMA), starting the copies takes one
// thread, which needs nothing but the loop's bounds and the blocks' coordinates. It becomes a warp
// beside the kernel's own, with a copy of the loops around: it fills the slots of a ring as fast as
// they become free, also while the others are between two loops, at the end of one tile and the
// beginning of the next. Nobody waits at a barrier in the loop: a slot has two mbarriers,
//
//     full:  the engine has brought this round's blocks    (the producer's announcements, bytes)
//     empty: every warp has read this round's blocks       (an arrival of each warp)
//
// and who waits knows the round by its parity. Slots and rounds go on from loop to loop.
//
// Where there are two slots, and a product runs into the next iteration, nothing could be copied
// ahead: this iteration reads one of them, and that product the other. Then blocks that different
// operations read have mbarriers of their own. Attention's keys are read an iteration before its
// values are, and the next ones come in their place meanwhile. With more slots, and in attention's
// backward pass, that lost up to a fifth (H200).
//
// The kernel's own warps keep their numbers, and its barriers are theirs alone.
//
// Registers come in equal shares for each warp of a launch, rounded up to groups of four warps. If
// that would leave the kernel's threads too few beside their sums, a whole group is added, whose
// threads give theirs to the others (setmaxnreg).
//
// That pays where a loop over tiles is around: the next tile's first blocks come while this one is
// stored. In a single loop that only adds up, barrier and copies by one of the kernel's own threads
// cost less than the arrivals, unless the loop asks for it (`warp_specialize`). Attention's loop,
// which works on one product to make the next, gains where several groups of four warps are all
// that a processor holds: without barriers some multiply while others work.
//
// In a cluster, blocks that all of its blocks read are copied once, to all of them
// (ClusterCopies.h). Each block's producer starts a part, when the slot is free everywhere: a warp
// that has read a slot says so to the producers of all blocks. Before the first copy all mbarriers
// are ready, and no block ends, or uses the mbarriers' memory otherwise, before all are done.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/ProductLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
namespace {

//===-- registers
//------------------------------------------------------------------------------===//

/// Registers of a thread: of all at launch, then of the kernel's own and of those beside them. None
/// of them: one warp is added, which has as many as the others.
struct RegisterShares {
  unsigned atLaunch = 0, ofConsumers = 0, ofProducers = 0;
  unsigned producerWarps() const { return atLaunch ? warpsOfGroup : 1; }

  static constexpr unsigned warpsOfGroup = 4;
};

/// Registers that a thread needs for a loop's dots at most: their results, and operands that units
/// read from registers.
unsigned registersOfDots(ProductLoops &served) {
  unsigned most = 0;
  for (ProductLoop &product : served.loops) {
    unsigned registers = 0;
    product.loop.walk([&](tilegpu::DotOp dot) { registers += registersOf(dot); });
    most = std::max(most, registers);
  }
  return most;
}

RegisterShares shareRegisters(func::FuncOp kernel, ProductLoops &served, const TargetInfo &target) {
  // PTX ISA, "setmaxnreg": multiples of 8 from 24 to 256.
  constexpr unsigned ofProcessor = 1 << 16, unit = 8, least = 24, most = 240;
  // Beside the sums: addresses and what the end of a tile works with.
  constexpr unsigned others = 56;
  constexpr unsigned group = RegisterShares::warpsOfGroup;
  unsigned numWarps = tilegpu::numWarpsOf(kernel);
  bool isAskedFor = kernel->hasAttr(tilegpu::TileGPUDialect::launchRegistersAttr);
  if (!target.matrix.wgmma || isAskedFor || numWarps % group != 0)
    return {};
  unsigned threads = target.threadsPerBlock(numWarps + group);
  unsigned atLaunch = ofProcessor / threads / unit * unit;
  if (threads > target.maxThreadsPerBlock || atLaunch < least ||
      registersOfDots(served) + others <= atLaunch)
    return {};
  unsigned rest = atLaunch * threads - least * target.threadsPerBlock(group);
  unsigned ofConsumers = std::min(rest / target.threadsPerBlock(numWarps) / unit * unit, most);
  return ofConsumers > atLaunch ? RegisterShares{atLaunch, ofConsumers, least} : RegisterShares();
}

//===-- the two roles
//------------------------------------------------------------------------------===//

class WarpSpecialiser {
public:
  WarpSpecialiser(func::FuncOp kernel, ProductLoops &served, const ProducerSlice &slice,
                  const RingPlan &plan, RegisterShares registers)
      : kernel(kernel), served(served), slice(slice), slots(plan.slots),
        hasSpareSlot(plan.hasSpareSlot()), registers(registers), isShared(served.shares()),
        rewriter(kernel.getContext()) {
    for (LoadGroup &loads : served.groups(plan))
      groups.push_back({std::move(loads), {}, {}});
  }

  void run() {
    Location loc = kernel.getLoc();
    Block &body = kernel.front();
    Operation *first = &body.front();
    rewriter.setInsertionPointToStart(&body);
    for (const ProductLoop &product : served.loops)
      for (const StagedLoad &load : product.staged.loads)
        sharers[load.load] = served.copies.sharersOf(cast<tile::DescriptorLoadOp>(load.load));
    allocate(loc);
    Value isExtra = tilegpu::InProducerWarpOp::create(rewriter, loc);
    auto roles = scf::IfOp::create(rewriter, loc, isExtra, /*withElseRegion=*/true);
    Block *consumer = roles.elseBlock();
    consumer->getOperations().splice(consumer->begin(), body.getOperations(), first->getIterator(),
                                     std::prev(body.end()));
    writeProducer(roles.thenBlock(), *consumer, loc);
    rewriteConsumer(*consumer, start);
    if (isShared)
      endTogether(roles);
    kernel->setAttr(tilegpu::TileGPUDialect::producerWarpsAttr,
                    rewriter.getI32IntegerAttr(int32_t(registers.producerWarps())));
    if (registers.atLaunch)
      moveRegisters(roles);
  }

private:
  /// Loads with mbarriers of their own.
  struct Group {
    LoadGroup loads;
    Value full, empty;
  };

  void moveRegisters(scf::IfOp roles) {
    kernel->setAttr(tilegpu::TileGPUDialect::launchRegistersAttr,
                    rewriter.getI32IntegerAttr(int32_t(registers.atLaunch)));
    rewriter.setInsertionPointToStart(roles.thenBlock());
    tilegpu::SetRegistersOp::create(rewriter, roles.getLoc(), registers.ofProducers,
                                    /*isMore=*/false);
    rewriter.setInsertionPointToStart(roles.elseBlock());
    tilegpu::SetRegistersOp::create(rewriter, roles.getLoc(), registers.ofConsumers,
                                    /*isMore=*/true);
  }

  /// Others arrive at the block's mbarriers until all have come to the end of their loops. Threads
  /// say so there, not behind the stores that follow, which the arrival would wait for.
  void endTogether(scf::IfOp roles) {
    Location loc = roles.getLoc();
    Operation *last = nullptr;
    for (Operation &op : *roles.elseBlock())
      op.walk([&](tilegpu::MBarrierArriveOp) { last = &op; });
    rewriter.setInsertionPointAfter(last);
    tilegpu::ClusterArriveOp::create(rewriter, loc);
    rewriter.setInsertionPoint(roles.thenBlock()->getTerminator());
    tilegpu::ClusterArriveOp::create(rewriter, loc);
    for (Block *role : {roles.thenBlock(), roles.elseBlock()}) {
      rewriter.setInsertionPoint(role->getTerminator());
      tilegpu::ClusterWaitOp::create(rewriter, loc);
    }
    for (const Group &group : groups)
      tilegpu::MBarrierInvalOp::create(rewriter, loc, group.empty);
  }

  void allocate(Location loc) {
    unsigned readers = tilegpu::numWarpsOf(kernel);
    if (isShared)
      readers *= tilegpu::clusterBlocksOf(kernel);
    for (tilegpu::BufferType type : ProductLoops::slotTypes(served.loops.front()))
      rings.push_back(tilegpu::AllocOp::create(rewriter, loc, type.withSlots(slots)));
    for (Group &group : groups) {
      group.full = tilegpu::allocateMBarriers(rewriter, loc, slots, group.loads.size());
      group.empty = tilegpu::allocateMBarriers(rewriter, loc, slots, readers);
    }
    tilegpu::publishMBarriers(rewriter, loc, /*isGlobal=*/false, /*toAllWarps=*/true, isShared);
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
    start = {zero, zero};
  }

  const ProductLoop *productLoopOf(Operation *op) const {
    auto found =
        llvm::find_if(served.loops, [&](const ProductLoop &each) { return each.loop == op; });
    return found == served.loops.end() ? nullptr : &*found;
  }

  //===-- producer
  //-------------------------------------------------------------------------------===//

  void writeProducer(Block *block, Block &source, Location loc) {
    OpBuilder b = OpBuilder::atBlockBegin(block);
    Value isFirst = tilegpu::IsProducerOp::create(b, loc);
    auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping mapping;
    copySlice(source, b, mapping, start);
  }

  /// Copies what the producer needs of a block; the state behind it.
  RingState copySlice(Block &source, OpBuilder &b, IRMapping &mapping, RingState state) {
    for (Operation &op : source.without_terminator()) {
      if (slice.isAround(&op))
        state = copyLoop(cast<scf::ForOp>(op), b, mapping, state);
      else if (&op == served.branch)
        copyBranch(b, mapping, state);
      else if (llvm::any_of(op.getResults(), [&](Value value) { return slice.has(value); }))
        b.clone(op, mapping);
    }
    return state;
  }

  /// The loops of the branch are all that there are.
  void copyBranch(OpBuilder &b, IRMapping &mapping, RingState state) {
    scf::IfOp branch = served.branch;
    bool isElse = served.place == branch.elseBlock();
    auto copy =
        scf::IfOp::create(b, branch.getLoc(), mapping.lookupOrDefault(branch.getCondition()),
                          /*withElseRegion=*/isElse);
    OpBuilder inside = OpBuilder::atBlockBegin(isElse ? copy.elseBlock() : copy.thenBlock());
    copySlice(*served.place, inside, mapping, state);
  }

  RingState copyLoop(scf::ForOp loop, OpBuilder &b, IRMapping &mapping, RingState state) {
    Location loc = loop.getLoc();
    SmallVector<BlockArgument> carried;
    SmallVector<Value> inits{state.slot, state.phase};
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (slice.has(argument)) {
        carried.push_back(argument);
        inits.push_back(mapping.lookupOrDefault(loop.getTiedLoopInit(argument)->get()));
      }
    auto copy = scf::ForOp::create(
        b, loc, mapping.lookupOrDefault(loop.getLowerBound()),
        mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()),
        inits, /*bodyBuilder=*/[](OpBuilder &, Location, Value, ValueRange) {},
        loop.getUnsignedCmp());
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [argument, copied] : llvm::zip(carried, copy.getRegionIterArgs().drop_front(2)))
      mapping.map(argument, copied);
    RingState inside{copy.getRegionIterArgs()[0], copy.getRegionIterArgs()[1]};
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    inside = copySlice(*loop.getBody(), b, mapping, inside);
    if (const ProductLoop *product = productLoopOf(loop))
      inside = fillSlot(*product, b, mapping, inside);
    SmallVector<Value> yields{inside.slot, inside.phase};
    for (BlockArgument argument : carried)
      yields.push_back(mapping.lookupOrDefault(loop.getTiedLoopYieldedValue(argument)->get()));
    scf::YieldOp::create(b, loc, yields);
    return {copy.getResult(0), copy.getResult(1)};
  }

  /// Of a fresh mbarrier the phase before the first counts as complete.
  RingState fillSlot(const ProductLoop &product, OpBuilder &b, IRMapping &mapping,
                     RingState state) {
    Location loc = scf::ForOp(product.loop).getLoc();
    Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
    Value before = arith::XOrIOp::create(b, loc, state.phase, one);
    for (const Group &group : groups) {
      tilegpu::MBarrierWaitOp::create(
          b, loc, tilegpu::SlotOp::create(b, loc, group.empty, state.slot), before);
      Value arrival = tilegpu::SlotOp::create(b, loc, group.full, state.slot);
      for (unsigned number : group.loads)
        copyBlock(product.staged.loads[number], b, mapping,
                  tilegpu::SlotOp::create(b, loc, rings[number], state.slot), arrival);
    }
    return stateAfter(b, loc, state, slots);
  }

  void copyBlock(const StagedLoad &staged, OpBuilder &b, IRMapping &mapping, Value slot,
                 Value arrival) {
    auto block = cast<tile::DescriptorLoadOp>(staged.load);
    SmallVector<Value> offsets;
    for (Value offset : block.getOffsets())
      offsets.push_back(mapping.lookupOrDefault(offset));
    tilegpu::TmaLoadOp::create(b, block.getLoc(), block.getDescriptor(), offsets, slot, arrival,
                               Value(), staged.order(), /*isByOneThread=*/true,
                               sharers[staged.load], block.getEvict());
  }

  //===-- consumers
  //------------------------------------------------------------------------------===//

  RingState rewriteConsumer(Block &block, RingState state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (slice.isAround(&op))
        state = rewriteLoop(cast<scf::ForOp>(op), state);
      else if (&op == served.branch)
        rewriteConsumer(*served.place, state);
    return state;
  }

  RingState rewriteLoop(scf::ForOp loop, RingState state) {
    const ProductLoop *product = productLoopOf(loop);
    unsigned first = loop.getNumRegionIterArgs();
    // What is yielded is known when the body is done.
    auto same = [&](OpBuilder &, Location, ArrayRef<BlockArgument> numbers) {
      return SmallVector<Value>(numbers.begin(), numbers.end());
    };
    rewriter.setInsertionPoint(loop);
    auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, {state.slot, state.phase}, /*replaceInitOperandUsesInLoop=*/false, same));
    RingState inside{carrying.getRegionIterArgs()[first], carrying.getRegionIterArgs()[first + 1]};
    inside = product ? readSlots(carrying, *product, inside)
                     : rewriteConsumer(*carrying.getBody(), inside);
    auto yield = cast<scf::YieldOp>(carrying.getBody()->getTerminator());
    yield->setOperand(first, inside.slot);
    yield->setOperand(first + 1, inside.phase);
    return {carrying.getResult(first), carrying.getResult(first + 1)};
  }

  RingState readSlots(scf::ForOp loop, const ProductLoop &product, RingState state) {
    DotsInFlight flight(loop, product.staged);
    if (!hasSpareSlot)
      flight.withoutSpareSlot();
    eraseFences(rewriter, loop, product.staged.loads);
    SmallVector<llvm::SmallSetVector<Operation *, 4>> readers;
    for (const Group &group : groups)
      readers.push_back(takeSlots(group, product, state));
    flight.startBeside(rewriter);
    DotsInFlight::Places places = {};
    if (flight.any())
      places = flight.start(rewriter, loop);
    for (auto [group, readers] : llvm::zip_equal(groups, readers))
      release(loop, group, readers, places, state);
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    return stateAfter(rewriter, loop.getLoc(), state, slots);
  }

  /// Has the group's readers wait for its blocks; the readers.
  llvm::SmallSetVector<Operation *, 4> takeSlots(const Group &group, const ProductLoop &product,
                                                 RingState state) {
    SmallVector<StagedLoad> loads;
    SmallVector<Value> ringsOfGroup;
    llvm::SmallSetVector<Operation *, 4> readers;
    for (unsigned number : group.loads) {
      loads.push_back(product.staged.loads[number]);
      ringsOfGroup.push_back(rings[number]);
      readers.insert_range(readersOf(loads.back()));
    }
    Operation *reader = firstReader(loads);
    rewriter.setInsertionPoint(reader);
    Location loc = reader->getLoc();
    Value filled = tilegpu::SlotOp::create(rewriter, loc, group.full, state.slot);
    Operation *arrival = tilegpu::MBarrierWaitOp::create(rewriter, loc, filled, state.phase);
    replaceBySlots(rewriter, loads, arrival, ringsOfGroup, state.slot);
    return readers;
  }

  /// What has read when the iteration is over, if all that reads has.
  static Operation *lastDone(const llvm::SmallSetVector<Operation *, 4> &readers) {
    Operation *last = nullptr;
    for (Operation *reader : readers) {
      Operation *done = reader;
      if (auto dot = dyn_cast<tilegpu::DotOp>(reader); dot && dot.getIsAsync()) {
        auto waits = llvm::make_filter_range(dot->getUsers(), llvm::IsaPred<tilegpu::DotWaitOp>);
        if (waits.empty() || (*waits.begin())->getBlock() != dot->getBlock())
          return nullptr;
        done = *waits.begin();
      }
      if (!last || last->isBeforeInBlock(done))
        last = done;
    }
    return last;
  }

  /// Dots in flight read their slot until the next iteration's wait, the last ones until the one
  /// behind the loop.
  void release(scf::ForOp loop, const Group &group,
               const llvm::SmallSetVector<Operation *, 4> &readers, DotsInFlight::Places places,
               RingState state) {
    Location loc = loop.getLoc();
    if (Operation *done = lastDone(readers)) {
      if (groups.size() > 1)
        rewriter.setInsertionPointAfter(done);
      else
        rewriter.setInsertionPoint(loop.getBody()->getTerminator());
      return arrive(loc, group, state.slot, Value());
    }
    rewriter.setInsertionPointAfter(places.done);
    Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                          loop.getInductionVar(), loop.getLowerBound());
    arrive(loc, group, numberBefore(rewriter, loc, state.slot, slots), isLater);
    Operation *behind = loop->getNextNode(); // the wait for the last dots
    rewriter.setInsertionPointAfter(behind);
    auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value ran =
        arith::CmpIOp::create(rewriter, loc, predicate, loop.getLowerBound(), loop.getUpperBound());
    unsigned number = cast<BlockArgument>(state.slot).getArgNumber() - loop.getNumInductionVars();
    arrive(loc, group, numberBefore(rewriter, loc, loop.getResult(number), slots), ran);
  }

  void arrive(Location loc, const Group &group, Value slot, Value condition) {
    tilegpu::MBarrierArriveOp::create(rewriter, loc,
                                      tilegpu::SlotOp::create(rewriter, loc, group.empty, slot),
                                      condition, /*isOfCluster=*/isShared);
  }

  func::FuncOp kernel;
  ProductLoops &served;
  const ProducerSlice &slice;
  unsigned slots;
  bool hasSpareSlot;
  RegisterShares registers;
  /// Whether blocks of the cluster copy for each other, and which loads, by their number of blocks.
  bool isShared;
  DenseMap<Operation *, unsigned> sharers;
  IRRewriter rewriter;
  SmallVector<Value> rings;
  SmallVector<Group> groups;
  RingState start;
};

struct SpecialiseWarpsPass : PassWrapper<SpecialiseWarpsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpecialiseWarpsPass)

  StringRef getArgument() const override { return "kiln-specialise-warps"; }
  StringRef getDescription() const override {
    return "Let a warp of its own copy the blocks that the others multiply";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    if (!target->tensorMaps || !hasRoomForWarp(kernel, *target))
      return;
    ProductLoops served(kernel, *target);
    if (!served.isServed)
      return;
    ProducerSlice slice(served);
    RingPlan plan = served.plan(kernel, *target);
    if (slice.isScalar && plan.slots >= 2)
      WarpSpecialiser(kernel, served, slice, plan, shareRegisters(kernel, served, *target)).run();
  }

private:
  static bool hasRoomForWarp(func::FuncOp kernel, const TargetInfo &target) {
    return target.threadsPerBlock(tilegpu::numWarpsOf(kernel) + 1) <= target.maxThreadsPerBlock;
  }
};

} // namespace

std::unique_ptr<Pass> createSpecialiseWarpsPass() {
  return std::make_unique<SpecialiseWarpsPass>();
}

} // namespace kiln
