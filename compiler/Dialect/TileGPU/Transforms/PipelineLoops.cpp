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
// Where the dot reads the buffers by itself and the loop only adds its results up, it is not waited
// for in its own iteration, so that the matrix units never run dry:
//
//     wait, barrier
//     start multiplying slot i
//     wait for the product of iteration i - 1; barrier: now nobody reads its slot
//     start the copies of iteration i + S - 1
//
// MLIR's loop pipeliner writes the prologue and gives each operation the values of its own
// iteration. Copies that are beyond the loop's end copy nothing (their mask is false), so there is
// no epilogue, and any number of iterations is right, none as well. The rings' order is made here:
// InsertBarriers takes accesses to one ring as ordered.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
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

/// Narrows the mask of a load or copy to iterations that there are.
template <typename OpT> void narrowMask(RewriterBase &rewriter, OpT op, Value predicate) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value exists = splatLike(rewriter, op.getLoc(), predicate, op.getPtr().getType());
  if (op.getMask())
    exists = arith::AndIOp::create(rewriter, op.getLoc(), op.getMask(), exists);
  rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().assign(exists); });
}

Operation *predicated(RewriterBase &rewriter, Operation *op, Value predicate) {
  if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
    narrowMask(rewriter, copy, predicate);
  else if (auto load = dyn_cast<tile::LoadOp>(op))
    narrowMask(rewriter, load, predicate);
  return op;
}

class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, StagedLoads staged, unsigned stages)
      : loop(loop), staged(std::move(staged)), stages(stages), rewriter(loop.getContext()) {}

  LogicalResult run() {
    unshareAddresses();
    addSlotNumbers();
    copyIntoRings();
    startDotsAsync();
    waitAfterLoop();
    return schedule();
  }

private:
  unsigned distance() const { return stages - 1; }

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

  /// Two numbers that go round: the slot that copies fill, and the one that is read.
  void addSlotNumbers() {
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    auto constant = [&](unsigned value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(int32_t(value)));
    };
    Value zero = constant(0), one = constant(1), end = constant(stages);
    unsigned first = loop.getNumRegionIterArgs();
    auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> numbers) {
      SmallVector<Value> values;
      for (BlockArgument number : numbers) {
        Value more = arith::AddIOp::create(b, loc, number, one);
        Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, end);
        values.push_back(arith::SelectOp::create(b, loc, isEnd, zero, more));
      }
      return values;
    };
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, {zero, zero}, /*replaceInitOperandUsesInLoop=*/false, next));
    filled = loop.getRegionIterArgs()[first];
    read = loop.getRegionIterArgs()[first + 1];
    auto choice = loop.getYieldedValues()[first].getDefiningOp<arith::SelectOp>();
    staged.addresses.insert(choice);
    staged.addresses.insert(choice.getCondition().getDefiningOp());
    staged.addresses.insert(choice.getFalseValue().getDefiningOp());
  }

  void copyIntoRings() {
    Operation *reader = nullptr;
    SmallVector<Value> rings;
    for (StagedLoad &load : staged.loads) {
      Location loc = load.load.getLoc();
      rewriter.setInsertionPoint(loop);
      tilegpu::BufferType type = load.buffer.getType().withSlots(stages);
      Value ring = tilegpu::AllocOp::create(rewriter, loc, type);
      rings.push_back(ring);
      rewriter.setInsertionPoint(load.load);
      Value slot = tilegpu::SlotOp::create(rewriter, loc, ring, filled);
      Value pointers = transposed(load, load.load.getPtr());
      Value mask = load.load.getMask() ? transposed(load, load.load.getMask()) : Value();
      auto copy = tilegpu::CopyAsyncOp::create(rewriter, loc, pointers, slot, mask, load.vector,
                                               load.load.getCache(), load.load.getEvict());
      staged.addresses.insert(slot.getDefiningOp());
      staged.addresses.insert(copy);
      if (!lastCopy || lastCopy->isBeforeInBlock(copy))
        lastCopy = copy;
      for (Operation *user : load.buffer->getUsers())
        if (user != load.store && (!reader || user->isBeforeInBlock(reader)))
          reader = user;
    }
    rewriter.setInsertionPointAfter(lastCopy);
    lastCopy = tilegpu::CommitOp::create(rewriter, lastCopy->getLoc());
    staged.addresses.insert(lastCopy);
    // A fence of the stores' is in front of the reader, and becomes one of the copies'.
    if (auto fence = dyn_cast_or_null<tilegpu::ProxyFenceOp>(reader->getPrevNode()))
      reader = fence;
    waitForCopies(reader, rings);
    readSlots(rings);
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

  void waitForCopies(Operation *reader, ValueRange rings) {
    rewriter.setInsertionPoint(reader);
    Location loc = reader->getLoc();
    auto wait = tilegpu::WaitOp::create(rewriter, loc, distance() - 1, rings);
    arrival.push_back(wait);
    if (isa<tilegpu::ProxyFenceOp>(reader)) {
      rewriter.setInsertionPointAfter(reader);
      arrival.push_back(reader);
    }
    arrival.push_back(tilegpu::BarrierOp::create(rewriter, loc, Value()));
  }

  void readSlots(ValueRange rings) {
    for (auto [load, ring] : llvm::zip(staged.loads, rings)) {
      rewriter.setInsertionPointAfter(arrival.back());
      Value slot = tilegpu::SlotOp::create(rewriter, load.load.getLoc(), ring, read);
      rewriter.eraseOp(load.store);
      rewriter.replaceOp(load.buffer, slot);
      for (tile::TransOp trans : llvm::reverse(load.transpositions))
        rewriter.eraseOp(trans);
      rewriter.eraseOp(load.load);
    }
  }

  //===-- dots in flight
  //-------------------------------------------------------------------------===//

  /// Dots that only add up are waited for an iteration later, if all of the loop's can be.
  void startDotsAsync() {
    SmallVector<tilegpu::DotOp> dots(loop.getBody()->getOps<tilegpu::DotOp>());
    if (!llvm::all_of(dots, [&](tilegpu::DotOp dot) { return onlyAddsUp(dot); }))
      return;
    for (tilegpu::DotOp dot : dots)
      dot.setIsAsync(true);
    rewriter.setInsertionPointAfter(dots.back());
    Location loc = dots.back().getLoc();
    auto wait = tilegpu::DotWaitOp::create(rewriter, loc, TypeRange(), dots.size(), ValueRange());
    completion = {wait, tilegpu::BarrierOp::create(rewriter, loc, Value())};
    rewriter.setInsertionPointAfter(loop);
    for (tilegpu::DotOp dot : dots) {
      auto carried = cast<BlockArgument>(dot.getC()).getArgNumber() - loop.getNumInductionVars();
      Value sum = loop.getResult(carried);
      auto done = tilegpu::DotWaitOp::create(rewriter, loc, sum.getType(), 0, sum);
      sum.replaceAllUsesExcept(done.getResult(0), done);
    }
  }

  bool onlyAddsUp(tilegpu::DotOp dot) {
    auto sum = dyn_cast<BlockArgument>(dot.getC());
    bool isCarried = sum && sum.getOwner() == loop.getBody() && sum.hasOneUse() &&
                     dot->hasOneUse() && isa<tilegpu::BufferType>(dot.getA().getType()) &&
                     dot.readsBuffers();
    if (!isCarried || isStoredAnew(dot.getA()) || isStoredAnew(dot.getB()))
      return false;
    unsigned carried = sum.getArgNumber() - loop.getNumInductionVars();
    return loop.getYieldedValues()[carried] == dot.getResult();
  }

  /// A buffer that is no ring: what the next iteration stores there comes while the dot reads.
  bool isStoredAnew(Value buffer) {
    auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
    return alloc && alloc->getBlock() == loop.getBody();
  }

  /// Copies of zeros may be in flight, and what comes next may use the memory.
  void waitAfterLoop() {
    rewriter.setInsertionPointAfter(loop);
    tilegpu::WaitOp::create(rewriter, loop.getLoc(), 0, ValueRange());
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

  /// The copies come when their slot is free: behind the first barrier, or the second.
  std::vector<std::pair<Operation *, unsigned>> order() {
    std::vector<std::pair<Operation *, unsigned>> list;
    Operation *free = completion.empty() ? arrival.back() : completion.back();
    auto addAhead = [&] {
      for (Operation &op : loop.getBody()->without_terminator())
        if (staged.addresses.contains(&op))
          list.push_back({&op, 0});
    };
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!staged.addresses.contains(&op))
        list.push_back({&op, distance()});
      if (&op == free)
        addAhead();
    }
    return list;
  }

  scf::ForOp loop;
  StagedLoads staged;
  unsigned stages;
  IRRewriter rewriter;
  Value filled, read; ///< numbers of slots
  Operation *lastCopy = nullptr;
  SmallVector<Operation *> arrival;    ///< what makes copies readable
  SmallVector<Operation *> completion; ///< what ends the reading of a slot by dots in flight
};

//===-- which loops, and how many stages
//-----------------------------------------------------------===//

class StageBudget {
public:
  StageBudget(func::FuncOp kernel, const TargetInfo &target) : kernel(kernel), target(target) {
    auto attribute = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr);
    wished = attribute ? attribute.getInt() : 1;
  }

  /// What is asked for, or as many as there is shared memory for.
  unsigned stagesOf(scf::ForOp loop, const StagedLoads &staged) {
    auto own = loop->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr);
    int64_t stages = own ? own.getInt() : wished;
    int64_t slotBytes = 0;
    for (const StagedLoad &load : staged.loads)
      slotBytes += tilegpu::AllocOp(load.buffer).getType().getBytes();
    int64_t room = target.maxSharedBytes - bytesBeside(loop) + slotBytes;
    return std::min(stages, room / slotBytes);
  }

private:
  /// Shared memory that is in use while the loop runs, its buffers' first slots included.
  int64_t bytesBeside(scf::ForOp loop) {
    int64_t buffers = 0, scratch = 0;
    kernel.walk([&](tilegpu::AllocOp alloc) { buffers += alloc.getType().getBytes(); });
    loop.walk([&](tilegpu::ScratchOpInterface op) {
      scratch += llvm::alignTo(op.getScratchBytes(target), 128);
    });
    return buffers + scratch;
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  int64_t wished;
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

  LogicalResult pipeline(scf::ForOp loop, const TargetInfo &target) {
    StagedLoads staged;
    {
      AxisInfoAnalysis facts(getOperation());
      staged = findStagedLoads(loop, facts, target);
    }
    if (staged.loads.empty())
      return success();
    unsigned stages = StageBudget(getOperation(), target).stagesOf(loop, staged);
    if (stages < 2)
      return success();
    Location loc = loop.getLoc();
    if (succeeded(LoopPipeliner(loop, std::move(staged), stages).run()))
      return success();
    return emitError(loc, "expected a loop that can be pipelined: this is a mistake in Kiln");
  }
};

} // namespace

std::unique_ptr<Pass> createPipelineLoopsPass() { return std::make_unique<PipelineLoopsPass>(); }

} // namespace kiln
