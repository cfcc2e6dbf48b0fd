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

#include "compiler/Dialect/TileGPU/Transforms/ClusterCopies.h"
#include "compiler/Dialect/TileGPU/Transforms/DotsInFlight.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// A loop whose dots read blocks only.
struct ProductLoop {
  scf::ForOp loop;
  StagedLoads staged;
};

/// The loops of a kernel that one producer can serve: all fill slots of the same blocks.
class ProductLoops {
public:
  ProductLoops(func::FuncOp kernel, const TargetInfo &target) : copies(kernel) {
    AxisInfoAnalysis facts(kernel);
    kernel.walk([&](scf::ForOp loop) {
      if (!isInnermost(loop))
        return;
      ProductLoop candidate{loop, findStagedLoads(loop, facts, target)};
      if (!candidate.staged.loads.empty())
        loops.push_back(std::move(candidate));
    });
    isServed = llvm::any_of(loops, [&](ProductLoop &each) { return pays(each, kernel, target); }) &&
               llvm::all_of(loops, [&](ProductLoop &candidate) {
                 return readsBlocksOnly(candidate) && isInLoopsOnly(candidate.loop) &&
                        isOrdered(candidate, target) &&
                        slotTypes(candidate) == slotTypes(loops.front());
               });
  }

  static SmallVector<tilegpu::BufferType> slotTypes(const ProductLoop &candidate) {
    return llvm::map_to_vector(candidate.staged.loads, [](const StagedLoad &load) {
      return tilegpu::AllocOp(load.buffer).getType();
    });
  }

  /// As many as the loop that wishes most, and as there is room for.
  RingPlan plan(func::FuncOp kernel, const TargetInfo &target) {
    SmallVector<Operation *> replaced;
    for (ProductLoop &product : loops)
      llvm::append_range(replaced, RingBudget::buffersOf(product.staged));
    RingPlan all;
    for (ProductLoop &product : loops) {
      RingPlan plan =
          RingBudget(kernel, target)
              .planFor(product.loop, product.staged, DotsInFlight(product.loop, product.staged),
                       replaced, outermost(product.loop));
      if (plan.stages >= 2 && plan.slots > all.slots)
        all = plan;
    }
    return all;
  }

  /// Whether blocks of the cluster copy for each other.
  bool shares() const {
    return llvm::any_of(loops, [&](const ProductLoop &each) { return shares(each); });
  }

  std::vector<ProductLoop> loops;
  ClusterCopies copies;
  bool isServed = false;

private:
  bool shares(const ProductLoop &candidate) const {
    return llvm::any_of(candidate.staged.loads, [&](const StagedLoad &staged) {
      auto load = dyn_cast<tile::DescriptorLoadOp>(staged.load);
      return load && copies.sharersOf(load) > 1;
    });
  }

  static scf::ForOp outermost(scf::ForOp loop) {
    while (auto around = dyn_cast<scf::ForOp>(loop->getParentOp()))
      loop = around;
    return loop;
  }

  /// By maps of the launcher's: those that the kernel makes its own threads make, and use.
  static bool readsBlocksOnly(ProductLoop &candidate) {
    return llvm::all_of(candidate.staged.loads, [](const StagedLoad &staged) {
      auto load = dyn_cast<tile::DescriptorLoadOp>(staged.load);
      return load && isa<BlockArgument>(load.getDescriptor());
    });
  }

  /// Whether what comes before, in an iteration of a loop around too, writes no array that the
  /// producer reads ahead. Arrays of different arguments are taken to be different ones here.
  static bool isOrdered(ProductLoop &candidate, const TargetInfo &target) {
    GlobalOrder order(target);
    return llvm::none_of(candidate.staged.loads, [&](const StagedLoad &load) {
      return order.behindWrites(load.load).always;
    });
  }

  bool pays(ProductLoop &candidate, func::FuncOp kernel, const TargetInfo &target) const {
    scf::ForOp loop = candidate.loop;
    return outermost(loop) != loop || shares(candidate) ||
           loop->hasAttr(tile::TileDialect::warpSpecializeAttr) ||
           paysForReworkedSums(candidate, kernel, target);
  }

  static bool paysForReworkedSums(ProductLoop &candidate, func::FuncOp kernel,
                                  const TargetInfo &target) {
    constexpr unsigned warpsOfGroup = 4;
    DotsInFlight flight(candidate.loop, candidate.staged);
    return flight.isReworked() && tilegpu::numWarpsOf(kernel) > warpsOfGroup &&
           RingBudget(kernel, target)
                   .planFor(candidate.loop, candidate.staged, flight,
                            RingBudget::buffersOf(candidate.staged), candidate.loop)
                   .blocks <= 1;
  }

  static bool isInLoopsOnly(scf::ForOp loop) {
    return isa<func::FuncOp>(outermost(loop)->getParentOp());
  }
};

//===-- what the producer computes
//-----------------------------------------------------------------===//

/// The values from which the coordinates of blocks, and bounds of the loops around them, come.
class ProducerSlice {
public:
  explicit ProducerSlice(ProductLoops &served) {
    SmallVector<Value> wanted;
    for (ProductLoop &candidate : served.loops) {
      for (const StagedLoad &load : candidate.staged.loads)
        llvm::append_range(wanted, cast<tile::DescriptorLoadOp>(load.load).getOffsets());
      for (Operation *op = candidate.loop; auto loop = dyn_cast<scf::ForOp>(op);
           op = op->getParentOp())
        if (around.insert(loop).second)
          wanted.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    }
    while (!wanted.empty() && isScalar)
      add(wanted.pop_back_val(), wanted);
  }

  /// Whether one thread can compute all of it: scalars, without looking at memory.
  bool isScalar = true;

  bool has(Value value) const { return values.contains(value); }
  bool isAround(Operation *op) const { return around.contains(op); }

private:
  void add(Value value, SmallVectorImpl<Value> &wanted) {
    if (!values.insert(value).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return addArgument(argument, wanted);
    Operation *op = value.getDefiningOp();
    if (around.contains(op) || !isMemoryEffectFree(op) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
      isScalar = false;
      return;
    }
    op->walk([&](Operation *inner) { llvm::append_range(wanted, outsideOf(op, inner)); });
  }

  static SmallVector<Value> outsideOf(Operation *op, Operation *inner) {
    SmallVector<Value> values;
    for (Value operand : inner->getOperands())
      if (inner == op || !op->isAncestor(operand.getParentBlock()->getParentOp()))
        values.push_back(operand);
    return values;
  }

  void addArgument(BlockArgument argument, SmallVectorImpl<Value> &wanted) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(owner))
      return;
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop || !around.contains(loop)) {
      isScalar = false;
      return;
    }
    if (argument == loop.getInductionVar())
      return;
    if (isa<RankedTensorType>(argument.getType()))
      isScalar = false;
    wanted.push_back(loop.getTiedLoopInit(argument)->get());
    wanted.push_back(loop.getTiedLoopYieldedValue(argument)->get());
  }

  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> around;
};

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
        rewriter(kernel.getContext()) {}

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
    tilegpu::MBarrierInvalOp::create(rewriter, loc, empty);
  }

  void allocate(Location loc) {
    unsigned readers = tilegpu::numWarpsOf(kernel);
    if (isShared)
      readers *= tilegpu::clusterBlocksOf(kernel);
    for (tilegpu::BufferType type : ProductLoops::slotTypes(served.loops.front()))
      rings.push_back(tilegpu::AllocOp::create(rewriter, loc, type.withSlots(slots)));
    full = tilegpu::allocateMBarriers(rewriter, loc, slots, rings.size());
    empty = tilegpu::allocateMBarriers(rewriter, loc, slots, readers);
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
      else if (llvm::any_of(op.getResults(), [&](Value value) { return slice.has(value); }))
        b.clone(op, mapping);
    }
    return state;
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
    tilegpu::MBarrierWaitOp::create(b, loc, tilegpu::SlotOp::create(b, loc, empty, state.slot),
                                    before);
    Value arrival = tilegpu::SlotOp::create(b, loc, full, state.slot);
    for (auto [load, ring] : llvm::zip(product.staged.loads, rings)) {
      auto block = cast<tile::DescriptorLoadOp>(load.load);
      SmallVector<Value> offsets;
      for (Value offset : block.getOffsets())
        offsets.push_back(mapping.lookupOrDefault(offset));
      tilegpu::TmaLoadOp::create(b, block.getLoc(), block.getDescriptor(), offsets,
                                 tilegpu::SlotOp::create(b, block.getLoc(), ring, state.slot),
                                 arrival, Value(), load.order(), /*isByOneThread=*/true,
                                 sharers[load.load], block.getEvict());
    }
    return stateAfter(b, loc, state, slots);
  }

  //===-- consumers
  //------------------------------------------------------------------------------===//

  RingState rewriteConsumer(Block &block, RingState state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (slice.isAround(&op))
        state = rewriteLoop(cast<scf::ForOp>(op), state);
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
    Operation *reader = firstReader(product.staged);
    rewriter.setInsertionPoint(reader);
    Location loc = reader->getLoc();
    Value filled = tilegpu::SlotOp::create(rewriter, loc, full, state.slot);
    Operation *arrival = tilegpu::MBarrierWaitOp::create(rewriter, loc, filled, state.phase);
    eraseFences(rewriter, loop, product.staged);
    replaceBySlots(rewriter, product.staged, arrival, rings, state.slot);
    flight.startBeside(rewriter);
    if (flight.any())
      releaseLater(loop, flight, state);
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    if (!flight.any())
      release(loop.getLoc(), state.slot, Value());
    return stateAfter(rewriter, loop.getLoc(), state, slots);
  }

  /// Dots in flight read their slot until the next iteration's wait, the last ones until the one
  /// behind the loop.
  void releaseLater(scf::ForOp loop, const DotsInFlight &flight, RingState state) {
    Location loc = loop.getLoc();
    DotsInFlight::Places places = flight.start(rewriter, loop);
    rewriter.setInsertionPointAfter(places.done);
    Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                          loop.getInductionVar(), loop.getLowerBound());
    release(loc, numberBefore(rewriter, loc, state.slot, slots), isLater);
    Operation *behind = loop->getNextNode(); // the wait for the last dots
    rewriter.setInsertionPointAfter(behind);
    auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value ran =
        arith::CmpIOp::create(rewriter, loc, predicate, loop.getLowerBound(), loop.getUpperBound());
    unsigned number = cast<BlockArgument>(state.slot).getArgNumber() - loop.getNumInductionVars();
    release(loc, numberBefore(rewriter, loc, loop.getResult(number), slots), ran);
  }

  void release(Location loc, Value slot, Value condition) {
    tilegpu::MBarrierArriveOp::create(rewriter, loc,
                                      tilegpu::SlotOp::create(rewriter, loc, empty, slot),
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
  Value full, empty; ///< mbarriers
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
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(kernel);
    if (!target) {
      kernel.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
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
