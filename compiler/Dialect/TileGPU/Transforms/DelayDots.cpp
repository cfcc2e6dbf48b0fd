// Attention's second product beside the next block's softmax.
//
// A loop that multiplies twice, as attention does,
//
//     s   = q * k[i]                       (started, waited for)
//     p   = what threads make of s
//     sum = p * v[i] + sum * correction    (started, waited for in the next iteration)
//
// leaves the unit idle while the threads make p: products end in the order in which they were
// started, so that the next iteration's wait for s is one for the sum, too. Here the second product
// is started one iteration later, behind the next first one:
//
//     s   = q * k[i]                       started
//     sum = p' * v[i - 1] + sum'           started; p' and sum' as the iteration before left them
//     wait for s, the older one; make p of it, while the unit is at the second product
//     wait for sum; sum' = sum * correction
//
// The loop's first half stands in front of it once more, and the last second product behind it.
// Slots are read as long as before, until the second wait of the next iteration. What waits for the
// second product's slot to be filled goes with it.

#include "compiler/Dialect/TileGPU/Transforms/DotsInFlight.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// A loop with two products, the second of which is only carried on.
struct DelayableDot {
  scf::ForOp loop;
  tilegpu::DotOp first, second;
  tilegpu::DotWaitOp wait; ///< for the first, and for the second of the iteration before
  unsigned number = 0;     ///< of the loop's results: the second's sum
};

/// The slot of a ring that a dot of the loop reads: null for values and for buffers of before.
tilegpu::SlotOp slotReadBy(Value operand, scf::ForOp loop) {
  auto slot = operand.getDefiningOp<tilegpu::SlotOp>();
  return slot && slot->getBlock() == loop.getBody() ? slot : nullptr;
}

bool isOfLoop(Value value, scf::ForOp loop) { return value.getParentBlock() == loop.getBody(); }

/// A buffer of the loop's own is gone an iteration later, but for a ring's slot.
bool canBeReadLater(Value operand, scf::ForOp loop) {
  if (!isa<tilegpu::BufferType>(operand.getType()) || !isOfLoop(operand, loop))
    return true;
  tilegpu::SlotOp slot = slotReadBy(operand, loop);
  return slot && !isOfLoop(slot.getRing(), loop);
}

/// The wait behind the loop, of the last second product.
tilegpu::DotWaitOp waitBehind(DelayableDot &found) {
  Value sum = found.loop.getResult(found.number);
  auto wait = sum.hasOneUse() ? dyn_cast<tilegpu::DotWaitOp>(*sum.getUsers().begin()) : nullptr;
  return wait && wait.getPending() == 0 && wait.getAccumulators().size() == 1 ? wait : nullptr;
}

/// What kiln-specialise-warps or kiln-pipeline-loops has made of an attention's loop.
std::optional<DelayableDot> delayableDot(scf::ForOp loop) {
  auto waits = llvm::to_vector(loop.getBody()->getOps<tilegpu::DotWaitOp>());
  auto dots = llvm::to_vector(loop.getBody()->getOps<tilegpu::DotOp>());
  if (waits.size() != 1 || dots.size() != 2 || waits[0].getPending() != 0 ||
      waits[0].getAccumulators().size() != 2)
    return std::nullopt;
  DelayableDot found{loop, dots[0], dots[1], waits[0], /*number=*/0};
  auto carried = dyn_cast<BlockArgument>(found.wait.getAccumulators()[1]);
  if (found.wait.getAccumulators()[0] != found.first.getResult() || !carried ||
      carried.getOwner() != loop.getBody() || !carried.hasOneUse())
    return std::nullopt;
  found.number = carried.getArgNumber() - loop.getNumInductionVars();
  bool isCarriedOnly = loop.getYieldedValues()[found.number] == found.second.getResult() &&
                       found.second->hasOneUse() && found.second.getIsAsync() &&
                       found.first.getIsAsync();
  bool lasts =
      canBeReadLater(found.second.getA(), loop) && canBeReadLater(found.second.getB(), loop);
  if (!isCarriedOnly || !lasts || !waitBehind(found))
    return std::nullopt;
  return found;
}

class DotDelayer {
public:
  explicit DotDelayer(DelayableDot found)
      : loop(found.loop), first(found.first), second(found.second), wait(found.wait),
        behind(waitBehind(found)), number(found.number), b(found.loop) {
    orderBody();
    for (Value operand : second->getOperands())
      delay(operand);
    for (tilegpu::MBarrierWaitOp arrival : arrivals) {
      delay(arrival.getMbarrier());
      delay(arrival.getParity());
    }
  }

  void run() {
    Location loc = loop.getLoc();
    auto isBelow = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value any = arith::CmpIOp::create(b, loc, isBelow, loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, loop.getInits());
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, rotated());
    behind.getResult(0).replaceAllUsesWith(branch.getResult(number));
    behind.erase();
    loop.replaceAllUsesWith(branch);
    loop.erase();
  }

private:
  /// Of a slot its number is kept for the next iteration.
  void delay(Value operand) {
    tilegpu::SlotOp slot = slotReadBy(operand, loop);
    Value kept = slot ? slot.getIndex() : operand;
    if (isOfLoop(kept, loop) && !llvm::is_contained(delayed, kept))
      delayed.push_back(kept);
  }

  /// Whether that says that the slot which the first product reads is free. There are two at least,
  /// so the second product of the iteration before reads another.
  bool freesFirst(Operation &op) {
    auto arrive = dyn_cast<tilegpu::MBarrierArriveOp>(op);
    if (!arrive || arrive.getCondition())
      return false;
    auto slot = slotReadBy(arrive.getMbarrier(), loop), read = slotReadBy(first.getB(), loop);
    return slot && read && slot.getIndex() == read.getIndex();
  }

  /// What stands behind the wait, but does not need the sum, comes before the wait for it. The
  /// operand of the next second product has to take the registers of this one's, which the unit
  /// reads until then: what makes it waits, too.
  void orderBody() {
    llvm::DenseSet<Operation *> waiting;
    auto isBehind = [&](Operation &op) {
      return (!isMemoryEffectFree(&op) && !freesFirst(op)) ||
             &op == second.getA().getDefiningOp() ||
             llvm::any_of(op.getOperands(), [&](Value operand) {
               return operand == wait.getResult(1) || waiting.contains(operand.getDefiningOp());
             });
    };
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (&op == first || &op == second || &op == wait)
        continue;
      if (op.isBeforeInBlock(first))
        beforeFirst.push_back(&op);
      else if (op.isBeforeInBlock(wait))
        besideFirst.push_back(&op);
      else if (auto arrival = dyn_cast<tilegpu::MBarrierWaitOp>(op))
        arrivals.push_back(arrival);
      else if (!isBehind(op))
        besideSecond.push_back(&op);
      else {
        behindSecond.push_back(&op);
        waiting.insert(&op);
      }
    }
  }

  /// The loop with its second product an iteration later; the results.
  SmallVector<Value> rotated() {
    Location loc = loop.getLoc();
    IRMapping peeled;
    peeled.map(loop.getInductionVar(), loop.getLowerBound());
    for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInits()))
      peeled.map(argument, init);
    peeled.map(wait.getResult(1), loop.getInits()[number]);
    startFirst(peeled);
    waitForFirst(peeled, /*pending=*/0);
    copy(behindSecond, peeled);

    Value start = arith::AddIOp::create(b, loc, loop.getLowerBound(), loop.getStep());
    auto rest = scf::ForOp::create(
        b, loc, start, loop.getUpperBound(), loop.getStep(), carriedOn(peeled),
        [](OpBuilder &, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
    rest->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    ValueRange before = rest.getRegionIterArgs();
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(rest.getBody());
      IRMapping inside;
      inside.map(loop.getInductionVar(), rest.getInductionVar());
      unsigned next = 0;
      for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (index != number)
          inside.map(argument, before[next++]);
      startFirst(inside);
      Value sum = startSecond(before.take_back(delayed.size()));
      waitForFirst(inside, /*pending=*/1);
      inside.map(wait.getResult(1), waitFor(sum));
      copy(behindSecond, inside);
      scf::YieldOp::create(b, loc, carriedOn(inside));
    }
    SmallVector<Value> results =
        llvm::to_vector_of<Value>(rest.getResults().drop_back(delayed.size()));
    Value last = startSecond(rest.getResults().take_back(delayed.size()));
    results.insert(results.begin() + number, waitFor(last));
    return results;
  }

  void startFirst(IRMapping &mapping) {
    copy(beforeFirst, mapping);
    b.clone(*first, mapping);
    copy(besideFirst, mapping);
  }

  /// And all that has to do with its result alone.
  void waitForFirst(IRMapping &mapping, unsigned pending) {
    Value result = mapping.lookup(first.getResult());
    auto done = tilegpu::DotWaitOp::create(b, wait.getLoc(), result.getType(), pending, result);
    mapping.map(wait.getResult(0), done.getResult(0));
    copy(besideSecond, mapping);
  }

  Value waitFor(Value sum) {
    return tilegpu::DotWaitOp::create(b, wait.getLoc(), sum.getType(), 0, sum).getResult(0);
  }

  /// The second product, of what the iteration before has left.
  Value startSecond(ValueRange left) {
    IRMapping mapping;
    mapping.map(delayed, left);
    for (tilegpu::MBarrierWaitOp arrival : arrivals) {
      cloneSlot(arrival.getMbarrier(), mapping);
      b.clone(*arrival, mapping);
    }
    for (Value operand : {second.getA(), second.getB()})
      cloneSlot(operand, mapping);
    return b.clone(*second, mapping)->getResult(0);
  }

  void cloneSlot(Value operand, IRMapping &mapping) {
    if (tilegpu::SlotOp slot = slotReadBy(operand, loop))
      b.clone(*slot, mapping);
  }

  void copy(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      b.clone(*op, mapping);
  }

  /// All that an iteration leaves to the next but the sum, which is not there yet.
  SmallVector<Value> carriedOn(IRMapping &mapping) {
    SmallVector<Value> values;
    for (auto [index, value] : llvm::enumerate(loop.getYieldedValues()))
      if (index != number)
        values.push_back(mapping.lookupOrDefault(value));
    for (Value value : delayed)
      values.push_back(mapping.lookupOrDefault(value));
    return values;
  }

  scf::ForOp loop;
  tilegpu::DotOp first, second;
  tilegpu::DotWaitOp wait, behind;
  unsigned number;
  OpBuilder b;
  /// Of the loop: what the second product reads, and is waited for before.
  SmallVector<Value> delayed;
  SmallVector<tilegpu::MBarrierWaitOp> arrivals;
  SmallVector<Operation *> beforeFirst, besideFirst, besideSecond, behindSecond;
};

//===-- registers
//------------------------------------------------------------------------------===//

/// Whether two sums, and the second product's operand of this iteration and of the one before, fit
/// a thread's registers.
bool fits(DelayableDot &found, func::FuncOp kernel, const TargetInfo &target) {
  // Addresses, rows' maxima and sums, and what the operand is made with.
  constexpr unsigned others = 32;
  unsigned needed = registersOf(found.first.getType()) + registersOf(found.second.getType()) +
                    2 * registersOf(found.second.getA().getType()) + others;
  return needed <= registersOfThread(kernel, target);
}

struct DelayDotsPass : PassWrapper<DelayDotsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DelayDotsPass)

  StringRef getArgument() const override { return "kiln-delay-dots"; }
  StringRef getDescription() const override {
    return "Start a loop's second dot beside what follows the next iteration's first one";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    // Where barriers keep all warps in step, all make their operands at once: slower than before.
    if (!tilegpu::producerWarpsOf(kernel))
      return;
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    SmallVector<DelayableDot> found;
    kernel.walk([&](scf::ForOp loop) {
      if (std::optional<DelayableDot> dot = delayableDot(loop); dot && fits(*dot, kernel, *target))
        found.push_back(*dot);
    });
    for (DelayableDot &dot : found)
      DotDelayer(dot).run();
  }
};

} // namespace

std::unique_ptr<Pass> createDelayDotsPass() { return std::make_unique<DelayDotsPass>(); }

} // namespace kiln
