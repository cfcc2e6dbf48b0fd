// Loads of a loop's next iteration, started before the work of this one.
//
//     for …: x = load(p(i)); …; store(…)
//
// waits for memory in every iteration, as nothing of the next one may be loaded before this one has
// stored. Where stores cannot reach what is loaded, the loop carries what it has loaded ahead:
//
//     x = load(p(first)) if there is an iteration
//     for …: next = load(p(i + 1)) if there is one; …; store(…); x = next
//
// Where the source asks for more than two stages, and threads have a few registers for each, loads
// are as many iterations ahead as the stages say (LoadsAhead.h).
//
// Stores through other arguments reach it only if two arguments are equal (AddressMeeting.h). The
// kernel compares them, and has the loop twice: as it was for equal ones, else with loads ahead.
//
// It is done where threads have registers for it, and the source asks for stages (`tl.range(…,
// num_stages=)`) or the loop gains by it: nothing else hides the wait where threads meet in every
// iteration, as for a reduction, if that leaves two blocks a processor where there were two and
// registers for the widest tile of an iteration, or where a warp by itself carries a state; other
// loops are unrolled if they are small, so that what is loaded has to be more than a little, and in
// a few loads, as many of one iteration hide each other's wait; and blocks of the processor wait
// for memory in turns, so that there have to be two of them. A small loop that only reads does
// several iterations in one, whose loads come first.
// Loads that feed matrix units are not among these: they run ahead through shared memory
// (PipelineLoops.cpp), iterations ahead and without registers. Where they do so through registers
// (PrefetchOperands.cpp), what else their loop loads, as scales, sums to begin with, and operands
// that are computed of it, is carried beside them, if it is little and waits for no comparison.

#include "compiler/Analysis/AccessVector.h"
#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/ImpliedConditions.h"
#include "compiler/Dialect/TileGPU/Transforms/LoadsAhead.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Dialect/TileGPU/Transforms/WaitingLoops.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

using Operations = llvm::SmallSetVector<Operation *, 16>;

SmallVector<Operation *> inOrder(const Operations &ops) {
  SmallVector<Operation *> ordered(ops.begin(), ops.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// What a loop computes for some values of an iteration: operations of its body without effects,
/// and what they take from the iteration before.
struct Slice {
  Operations ops;
  llvm::SmallSetVector<BlockArgument, 4> carried;
};

/// Whether the value is another one in another iteration, as far as can be seen.
bool changesIn(scf::ForOp loop, Value value) {
  llvm::SmallSetVector<Value, 8> parts;
  parts.insert(value);
  for (unsigned i = 0; i < parts.size(); ++i) {
    if (loop.isDefinedOutsideOfLoop(parts[i]))
      continue;
    Operation *op = parts[i].getDefiningOp();
    if (!op || !isMemoryEffectFree(op))
      return true;
    parts.insert_range(op->getOperands());
  }
  return false;
}

/// Divides by what an iteration computes, which may be zero where there is none.
bool dividesByItsOwn(scf::ForOp loop, Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) &&
         changesIn(loop, op->getOperand(1));
}

/// False where more than that is computed, or it might not be computed for an iteration too many.
bool addSlice(scf::ForOp loop, ValueRange values, Slice &slice) {
  SmallVector<Value> pending(values.begin(), values.end());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody() && value != loop.getInductionVar())
        slice.carried.insert(argument);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!loop->isProperAncestor(op) || slice.ops.contains(op))
      continue;
    if (op->getBlock() != loop.getBody() || op->getNumRegions() || !isMemoryEffectFree(op) ||
        dividesByItsOwn(loop, op))
      return false;
    slice.ops.insert(op);
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The loads of a loop that can be made an iteration ahead.
struct AheadLoads {
  SmallVector<tile::LoadOp> loads;
  Slice addresses;              ///< of an iteration, by what it gets from the one before
  Slice carried;                ///< what the addresses of the next one get from this one
  std::set<ArgumentPair> pairs; ///< of arguments, if none of which are equal

  unsigned registers() const {
    unsigned sum = 0;
    for (tile::LoadOp load : loads)
      sum += registersOf(load.getResult());
    return sum;
  }
};

/// Whether the loop's dots have their operands brought by threads.
bool multipliesByThreads(scf::ForOp loop, const TargetInfo &target) {
  return !target.asyncCopies && !loop.getBody()->getOps<tilegpu::DotOp>().empty();
}

class Finder {
public:
  Finder(scf::ForOp loop, const TargetInfo &target)
      : loop(loop), order(target), multiplies(multipliesByThreads(loop, target)) {}

  std::optional<AheadLoads> run() {
    AheadLoads found;
    if (!isInnermost(loop) || !hasOrderOfItsOwn())
      return std::nullopt;
    for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
      BarrierNeed need = needAt(load, order.againstRunningAhead(load, loop));
      Slice addresses = found.addresses, carried = found.carried;
      if (multiplies && (!need.pairs.empty() || !isLittle(load, found.registers())))
        continue;
      if (need.always || !addSlice(loop, load->getOperands(), addresses) ||
          !addSlice(loop, yieldedFor(addresses.carried), carried))
        continue;
      found.loads.push_back(load);
      found.addresses = addresses;
      found.carried = carried;
      found.pairs.insert(need.pairs.begin(), need.pairs.end());
    }
    return found.loads.empty() ? std::nullopt : std::optional(found);
  }

  SmallVector<Value> yieldedFor(const llvm::SmallSetVector<BlockArgument, 4> &carried) {
    SmallVector<Value> yielded;
    for (BlockArgument argument : carried)
      yielded.push_back(loop.getTiedLoopYieldedValue(argument)->get());
    return yielded;
  }

private:
  /// No iteration waits for other threads or programs to write, or asks what they have written, and
  /// none of its products wait for copies, which have an order of their own.
  bool hasOrderOfItsOwn() {
    return !loop.getBody()
                ->walk([&](Operation *op) {
                  auto dot = dyn_cast<tilegpu::DotOp>(op);
                  bool waits = (dot && dot.getUnit() && !multiplies) ||
                               (isa<tilegpu::CopyAsyncOp>(op) && hasDots()) ||
                               isa<tilegpu::TmaLoadOp, tilegpu::MBarrierWaitOp>(op);
                  return showsOthersWrites(op) || waits ? WalkResult::interrupt()
                                                        : WalkResult::advance();
                })
                .wasInterrupted();
  }

  bool hasDots() { return !loop.getBody()->getOps<tilegpu::DotOp>().empty(); }

  /// A few registers with what the others take, and not what is stored for dots, or carried, which
  /// is ahead already.
  bool isLittle(tile::LoadOp load, unsigned others) {
    constexpr unsigned few = 24;
    return registersOf(load.getResult()) + others <= few && !isAhead(load.getResult());
  }

  bool isAhead(Value loaded) {
    return llvm::any_of(loaded.getUsers(), [&](Operation *user) {
      auto trans = dyn_cast<tile::TransOp>(user);
      return isa<tilegpu::SharedStoreOp, scf::YieldOp>(user) ||
             (trans && llvm::any_of(trans->getUsers(), isForNext) && productsHideLoads());
    });
  }

  /// Whether it stores to a buffer what the next iteration reads.
  static bool isForNext(Operation *user) {
    auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
    tilegpu::AllocOp buffer = store ? allocationBehind(store.getBuffer()) : tilegpu::AllocOp();
    return buffer && llvm::none_of(usersOf(buffer), [&](Operation *reader) {
             return reader->getBlock() == store->getBlock() && store->isBeforeInBlock(reader);
           });
  }

  /// Whether a warp's products of an iteration take about as long as a load, so that one iteration
  /// ahead is enough: some 500 cycles of CDNA's units.
  bool productsHideLoads() {
    constexpr int64_t enough = int64_t(1) << 17;
    int64_t products = 0;
    for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>())
      products += cast<RankedTensorType>(dot.getType()).getNumElements() *
                  cast<RankedTensorType>(dot.getA().getType()).getShape().back();
    return products >= enough * tilegpu::numWarpsOf(loop);
  }

  scf::ForOp loop;
  GlobalOrder order;
  bool multiplies;
};

class Prefetcher {
public:
  Prefetcher(scf::ForOp loop, AheadLoads ahead, const TargetInfo &target)
      : loop(loop), ahead(std::move(ahead)), rewriter(loop.getContext()) {
    if (memoryFeaturesOf(target).boundedBuffers && isShortStream(loop))
      for (tile::LoadOp load : this->ahead.loads)
        if (isChosenLater(load))
          chosenLater.insert(load);
  }

  void run() {
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    for (BlockArgument argument : ahead.addresses.carried)
      first.map(argument, loop.getTiedLoopInit(argument)->get());
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value exists =
        arith::CmpIOp::create(rewriter, loc, below, loop.getLowerBound(), loop.getUpperBound());
    SmallVector<Value> loaded = loadIf(exists, first);
    SmallVector<tile::LoadOp> loads = ahead.loads;
    auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return loadNext(); };
    auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, loaded, /*replaceInitOperandUsesInLoop=*/false, next));
    auto mine = carrying.getRegionIterArgs().take_back(loads.size());
    for (auto [load, value] : llvm::zip_equal(loads, mine))
      rewriter.replaceOp(load, chosenLater.contains(load) ? chosen(load, value) : value);
    SmallVector<Operation *> addresses = inOrder(ahead.addresses.ops);
    for (Operation *op : llvm::reverse(addresses))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
  }

private:
  /// The loads of an iteration by the values of `iteration`, if there is one.
  SmallVector<Value> loadIf(Value exists, IRMapping &iteration) {
    for (Operation *op : inOrder(ahead.addresses.ops))
      rewriter.clone(*op, iteration);
    SmallVector<Value> loaded;
    for (tile::LoadOp load : ahead.loads) {
      auto copy = cast<tile::LoadOp>(rewriter.clone(*load, iteration));
      if (chosenLater.contains(load))
        copy.getOtherMutable().clear();
      makeConditional(rewriter, copy, exists);
      loaded.push_back(copy.getResult());
    }
    return loaded;
  }

  /// Where hardware bounds mask a load, what else than zero there is beyond them is chosen where it
  /// is used if only the last iteration has to ask (PeelLoops.cpp).
  bool isChosenLater(tile::LoadOp load) {
    return load.getOther() && !isZero(load.getOther()) &&
           holdsBeforeLast(load.getMask(), loop, polynomials);
  }

  Value chosen(tile::LoadOp load, Value loaded) {
    rewriter.setInsertionPoint(load);
    return arith::SelectOp::create(rewriter, load.getLoc(), load.getMask(), loaded,
                                   load.getOther());
  }

  /// At the beginning of the body, into which the operations have moved by now.
  SmallVector<Value> loadNext() {
    Block *body = ahead.loads.front()->getBlock();
    auto around = cast<scf::ForOp>(body->getParentOp());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(body);
    Location loc = around.getLoc();
    Value now = around.getInductionVar();
    Value exists = nextExists(around);
    IRMapping current, next;
    for (Operation *op : inOrder(ahead.carried.ops))
      rewriter.clone(*op, current);
    auto yield = cast<scf::YieldOp>(body->getTerminator());
    for (BlockArgument argument : around.getRegionIterArgs().take_front(yield.getNumOperands()))
      next.map(argument, current.lookupOrDefault(yield.getOperand(argument.getArgNumber() -
                                                                  around.getNumInductionVars())));
    next.map(now, arith::AddIOp::create(rewriter, loc, now, around.getStep()));
    return loadIf(exists, next);
  }

  /// From 0 on as MLIR's pipeliner asks it, so that a loop with both has one comparison. Else by
  /// what is left, which is above 0: the end less a step may be below all numbers.
  Value nextExists(scf::ForOp around) {
    Location loc = around.getLoc();
    Value now = around.getInductionVar(), end = around.getUpperBound(), step = around.getStep();
    APInt first;
    bool isFromZero = !around.getUnsignedCmp() &&
                      matchPattern(around.getLowerBound(), m_ConstantInt(&first)) &&
                      !first.isNegative();
    if (!isFromZero)
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ugt,
                                   arith::SubIOp::create(rewriter, loc, end, now), step);
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, now,
                                 arith::SubIOp::create(rewriter, loc, end, step));
  }

  scf::ForOp loop;
  AheadLoads ahead;
  IRRewriter rewriter;
  IndexPolynomials polynomials;
  DenseSet<Operation *> chosenLater;
};

struct PrefetchLoadsPass : PassWrapper<PrefetchLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchLoadsPass)

  StringRef getArgument() const override { return "kiln-prefetch-loads"; }
  StringRef getDescription() const override {
    return "Load what a loop's next iteration reads before the work of this one";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    ArgumentComparisons comparisons(kernel);
    for (scf::ForOp loop : loops) {
      std::optional<AheadLoads> ahead = Finder(loop, *target).run();
      if (!ahead)
        continue;
      if (!pays(loop, *ahead, *target)) {
        if (unsigned count = countTogether(loop, *ahead, *target); count > 1)
          loadTogether(loop, ahead->loads, inOrder(ahead->addresses.ops), count);
        continue;
      }
      unsigned distance = distanceOf(loop, *ahead, *target);
      if (!ahead->pairs.empty())
        loop = versionFor(ahead->pairs, loop, comparisons);
      if (distance > 1)
        loadAhead(loop, ahead->loads, inOrder(ahead->addresses.ops), distance);
      else
        Prefetcher(loop, std::move(*ahead), *target).run();
    }
  }

private:
  bool pays(scf::ForOp loop, const AheadLoads &ahead, const TargetInfo &target) {
    unsigned registers = ahead.registers();
    unsigned needed = estimateRegisters(getOperation(), target) + registers;
    if (needed > registersOfThread(getOperation(), target))
      return false;
    if (multipliesByThreads(loop, target))
      return leavesEnoughBlocks(registers, target);
    if (asksForStages(loop) || oneWarpMeetsIn(loop))
      return true;
    if (threadsMeetIn(loop, target))
      return !loop.getBody()->getOps<tilegpu::DotOp>().empty() ||
             (leavesTwoBlocks(registers, target) &&
              needed + widestIn(loop) <= registersOfThread(getOperation(), target));
    constexpr unsigned many = 16, fewLoads = 8, fewAccesses = 32, blocks = 2;
    return registers >= many && ahead.loads.size() <= fewLoads &&
           needed * blocks <= registerShare(getOperation(), target) &&
           needed + widestIn(loop) < registersOfThread(getOperation(), target) &&
           accessesOf(ahead.loads, target) <= fewAccesses;
  }

  /// How many accesses a thread makes for the loads.
  int64_t accessesOf(ArrayRef<tile::LoadOp> loads, const TargetInfo &target) {
    AxisInfoAnalysis facts(getOperation());
    int64_t accesses = 0;
    for (tile::LoadOp load : loads) {
      if (!isa<RankedTensorType>(load.getType())) {
        ++accesses;
        continue;
      }
      const LinearLayout &layout = tilegpu::layoutOf(load.getPtr());
      AccessVector vector =
          accessVector(load.getPtr(), load.getMask(), layout, target.maxVectorBits, facts);
      accesses += layout.numRegisters() / vector.elements;
    }
    return accesses;
  }

  /// How many iterations ahead loads are that are: as many as the source asks for by its stages, as
  /// far as they are a few registers and a short program.
  unsigned distanceOf(scf::ForOp loop, const AheadLoads &ahead, const TargetInfo &target) {
    constexpr unsigned few = 32, most = 4, shortBody = 128;
    if (!asksForStages(loop) || !ahead.addresses.carried.empty() ||
        multipliesByThreads(loop, target) || loop.getBody()->getOperations().size() > shortBody)
      return 1;
    unsigned stages = loop->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr).getInt();
    unsigned registers = ahead.registers();
    unsigned distance = std::min({stages - 1, most, few / std::max(registers, 1u)});
    // Of a group and of the next. Where another block fits the processor, it hides more.
    auto blocks = [&](unsigned more) { return blocksByRegisters(getOperation(), target, more); };
    while (distance > 1 && blocks(2 * distance * registers) < std::max(blocks(registers), 2u))
      --distance;
    unsigned needed = estimateRegisters(getOperation(), target) + 2 * distance * registers;
    return needed <= registersOfThread(getOperation(), target) ? std::max(distance, 1u) : 1;
  }

  /// How many iterations' loads begin together, of a loop that only reads, and little at a time,
  /// and would be unrolled without that. Where accesses are wide, what it costs rows of few
  /// iterations is as much as others gain; and of scalars LLVM makes vectors.
  unsigned countTogether(scf::ForOp loop, const AheadLoads &ahead, const TargetInfo &target) {
    constexpr unsigned little = 8, few = 16, most = 4, shortBody = 64, enoughThreads = 1024;
    auto onlyReads = [](Operation &op) {
      return isMemoryEffectFree(&op) ||
             (isa<tile::LoadOp>(op) && isa<RankedTensorType>(op.getResult(0).getType()));
    };
    unsigned registers = ahead.registers();
    if (!target.reorderingAssembler || loop.getStaticTripCount() || registers >= little ||
        !ahead.addresses.carried.empty() || threadsMeetIn(loop, target) ||
        loop.getBody()->getOperations().size() > shortBody ||
        !llvm::all_of(loop.getBody()->without_terminator(), onlyReads))
      return 1;
    constexpr unsigned wideAccess = 2;
    if (registers >= wideAccess * accessesOf(ahead.loads, target))
      return 1;
    auto threads = [&](unsigned more) {
      func::FuncOp kernel = getOperation();
      return blocksByRegisters(kernel, target, more) *
             target.threadsPerBlock(tilegpu::numWarpsOf(kernel));
    };
    unsigned count = std::min(most, few / registers);
    while (count > 1 && threads(count * registers) < std::min(threads(registers), enoughThreads))
      --count;
    return count;
  }

  /// Whether a processor has three of four of the kernel's blocks at a time if a thread holds so
  /// much more. Of n blocks whose iterations take W, and wait L for loads that do not run ahead, n
  /// iterations take L + W; of m whose loads run ahead m take L. So m are as good from
  /// n * L / (L + W) on, and W is a third of L or more where operands are computed.
  bool leavesEnoughBlocks(unsigned registers, const TargetInfo &target) {
    func::FuncOp kernel = getOperation();
    unsigned uncounted = std::max(missingBesideProducts, uncountedRegisters(target));
    if (estimateRegisters(kernel, target) + registers + uncounted >
        registersOfThread(kernel, target))
      return false;
    int64_t bytes = std::max<int64_t>(StoragePlan(kernel, target).place(), 1);
    int64_t before = std::min<int64_t>(target.maxSharedBytes / bytes,
                                       blocksByRegisters(kernel, target, uncounted));
    return before * 3 <= 4 * blocksByRegisters(kernel, target, registers + uncounted);
  }

  /// Whether two of the kernel's blocks fit a processor if a thread holds so much more, or did not
  /// before: two hide each other's wait, also that for what is loaded in front of the loop.
  bool leavesTwoBlocks(unsigned registers, const TargetInfo &target) {
    auto blocks = [&](unsigned more) { return blocksByRegisters(getOperation(), target, more); };
    return blocks(registers) >= std::min(2u, blocks(0));
  }

  /// Registers of the largest value that the loop computes: the estimate is of places where threads
  /// meet, and none of this loop's is one.
  static unsigned widestIn(scf::ForOp loop) {
    unsigned widest = 0;
    for (Operation &op : *loop.getBody())
      for (Value result : op.getResults())
        if (isa<FloatType>(getElementTypeOrSelf(result)))
          widest = std::max(widest, registersOf(result));
    return widest;
  }

  static bool asksForStages(scf::ForOp loop) {
    auto stages = loop->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr);
    return stages && stages.getInt() > 1;
  }

  /// Whether it is a warp by itself whose lanes combine what they have, as programs that carry a
  /// state from iteration to iteration are: there are few of them, and they wait for each step.
  static bool oneWarpMeetsIn(scf::ForOp loop) {
    auto kernel = loop->getParentOfType<func::FuncOp>();
    auto warps = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numWarpsAttr);
    bool carriesTensor = llvm::any_of(loop.getRegionIterArgs(), [](Value argument) {
      return isa<FloatType>(getElementTypeOrSelf(argument.getType())) &&
             isa<RankedTensorType>(argument.getType());
    });
    return warps && warps.getInt() == 1 && carriesTensor &&
           !loop.getBody()->getOps<tile::ReduceOp>().empty();
  }
};

} // namespace

std::unique_ptr<Pass> createPrefetchLoadsPass() { return std::make_unique<PrefetchLoadsPass>(); }

} // namespace kiln
