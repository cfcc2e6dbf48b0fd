#include "compiler/Dialect/TileGPU/Transforms/DotsInFlight.h"
#include "compiler/Dialect/TileGPU/Transforms/ResetSums.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

/// Whether the buffer lasts: it is made before the loop, or becomes a ring. What an iteration
/// stores into any other the dot of the one before may still be reading.
bool lasts(Value buffer, scf::ForOp loop, const StagedLoads &staged) {
  tilegpu::AllocOp alloc = allocationBehind(buffer);
  return alloc &&
         (alloc->getBlock() != loop.getBody() ||
          llvm::any_of(staged.loads, [&](const StagedLoad &load) { return load.buffer == alloc; }));
}

/// Uses in branches of the loop's body, which can wait for the result by themselves.
bool isInBranch(OpOperand &use, scf::ForOp loop) {
  Operation *inBody = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
  return inBody != use.getOwner() && isa<scf::IfOp>(inBody);
}

/// Where the loop yields the dot's result, if that is all that is done with it but in branches.
OpOperand *yieldOf(tilegpu::DotOp dot, scf::ForOp loop) {
  OpOperand *yield = nullptr;
  for (OpOperand &use : dot->getUses()) {
    if (isInBranch(use, loop))
      continue;
    if (yield || use.getOwner() != loop.getBody()->getTerminator())
      return nullptr;
    yield = &use;
  }
  return yield;
}

/// The loop's argument that holds the dot's result in the next iteration, if it is used for nothing
/// else but in branches.
BlockArgument carriedBy(tilegpu::DotOp dot, scf::ForOp loop) {
  OpOperand *yield = yieldOf(dot, loop);
  return yield ? loop.getRegionIterArgs()[yield->getOperandNumber()] : BlockArgument();
}

/// What the dot adds to, where it does not begin anew (ResetSums.cpp).
Value sumBefore(tilegpu::DotOp dot) {
  arith::SelectOp reset = resetOfSum(dot.getC());
  return reset && reset->hasOneUse() ? reset.getFalseValue() : dot.getC();
}

/// Waits for the dot's result at the beginning of branches that use it.
void waitInBranches(RewriterBase &rewriter, tilegpu::DotOp dot, scf::ForOp loop) {
  llvm::SetVector<Region *> branches;
  for (OpOperand &use : dot->getUses())
    if (isInBranch(use, loop)) {
      Operation *branch = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      for (Region &region : branch->getRegions())
        if (region.isAncestor(use.getOwner()->getParentRegion()))
          branches.insert(&region);
    }
  for (Region *branch : branches) {
    rewriter.setInsertionPointToStart(&branch->front());
    auto wait = tilegpu::DotWaitOp::create(rewriter, dot.getLoc(), dot->getResultTypes(), 0,
                                           dot->getResults());
    rewriter.replaceUsesWithIf(dot.getResult(), wait->getResult(0), [&](OpOperand &use) {
      return use.getOwner() != wait && branch->isAncestor(use.getOwner()->getParentRegion());
    });
  }
}

/// The unit reads the operands by itself, and makes the whole sum.
bool canBeInFlight(tilegpu::DotOp dot) { return dot.readsBuffers() && dot.getSumDepth() == 0; }

bool isCarriedOnly(tilegpu::DotOp dot, scf::ForOp loop, const StagedLoads &staged) {
  bool keepsA = !isa<tilegpu::BufferType>(dot.getA().getType()) || lasts(dot.getA(), loop, staged);
  return canBeInFlight(dot) && carriedBy(dot, loop) && keepsA && lasts(dot.getB(), loop, staged);
}

bool onlyAddsUp(tilegpu::DotOp dot, scf::ForOp loop, const StagedLoads &staged) {
  return isCarriedOnly(dot, loop, staged) && sumBefore(dot) == carriedBy(dot, loop) &&
         sumBefore(dot).hasOneUse();
}

/// Whether the sum has more columns than the product is deep. Of others, as of square blocks of
/// attention's scores, the wait is hidden by the block's other warps, and slots are worth more.
bool isWide(tilegpu::DotOp dot) {
  return dot.getType().getShape().back() > tilegpu::shapeOfOperand(dot.getA()).back();
}

/// The operation of the loop's body that is, or holds, the first use of the value.
Operation *firstUse(Value value, scf::ForOp loop) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (!first || inBody->isBeforeInBlock(first))
      first = inBody;
  }
  return first;
}

/// Waits behind `place` for all dots, and hands out the values that they make.
tilegpu::DotWaitOp waitBehind(RewriterBase &rewriter, Operation *place, Location loc,
                              ArrayRef<Value> values) {
  rewriter.setInsertionPointAfter(place);
  auto wait = tilegpu::DotWaitOp::create(rewriter, loc, TypeRange(ValueRange(values)), 0, values);
  for (auto [value, done] : llvm::zip(values, wait.getResults()))
    rewriter.replaceAllUsesExcept(value, done, wait);
  return wait;
}

} // namespace

DotsInFlight::DotsInFlight(scf::ForOp loop, const StagedLoads &staged) {
  SmallVector<tilegpu::DotOp> all(loop.getBody()->getOps<tilegpu::DotOp>()), sums;
  llvm::copy_if(all, std::back_inserter(sums),
                [&](tilegpu::DotOp dot) { return onlyAddsUp(dot, loop, staged); });
  // Registers that A is in are written again before the next iteration's wait.
  onlyAddUp =
      !all.empty() && sums.size() == all.size() && llvm::all_of(sums, [](tilegpu::DotOp dot) {
        return isa<tilegpu::BufferType>(dot.getA().getType());
      });
  if (onlyAddUp) {
    dots = sums;
    return;
  }
  for (tilegpu::DotOp dot : all)
    // Where others are waited for, a dot that takes the last one's sum as it stands is too.
    if (isCarriedOnly(dot, loop, staged) && dot->hasOneUse() &&
        sumBefore(dot) != carriedBy(dot, loop) && firstUse(carriedBy(dot, loop), loop))
      dots.push_back(dot);
  reworked = dots;
  llvm::erase_if(sums, [](tilegpu::DotOp sum) { return !isWide(sum) || !sum->hasOneUse(); });
  int64_t room = mostRegisters - registersOfDots(loop);
  auto nextOfOthers = [&](tilegpu::DotOp sum) {
    auto next = llvm::find_if(all, [&](tilegpu::DotOp dot) {
      return sum->isBeforeInBlock(dot) && canBeInFlight(dot) && !llvm::is_contained(sums, dot);
    });
    return next == all.end() ? tilegpu::DotOp() : *next;
  };
  for (tilegpu::DotOp sum : sums)
    if (tilegpu::DotOp next = nextOfOthers(sum); next && room >= 0)
      beside[next].push_back(sum);
    else if (!next && room >= registersOfAddresses(staged))
      dots.push_back(sum);
  if (!waitedBeside(loop))
    dots = reworked;
}

void DotsInFlight::startBeside(RewriterBase &rewriter) const {
  for (auto &[next, sums] : beside) {
    SmallVector<Value> values{next->getResult(0)};
    for (tilegpu::DotOp dot : sums) {
      tilegpu::DotOp(dot).setIsAsync(true);
      values.push_back(dot.getResult());
    }
    cast<tilegpu::DotOp>(next).setIsAsync(true);
    waitBehind(rewriter, next, next->getLoc(), values);
  }
}

DotsInFlight::Places DotsInFlight::start(RewriterBase &rewriter, scf::ForOp loop) const {
  SmallVector<unsigned> carried;
  for (tilegpu::DotOp dot : dots)
    carried.push_back(yieldOf(dot, loop)->getOperandNumber());
  Places places = onlyAddUp ? startSums(rewriter, loop) : startResults(rewriter, loop);
  SmallVector<Value> results;
  for (unsigned number : carried)
    results.push_back(loop.getResult(number));
  waitBehind(rewriter, loop, dots.back()->getLoc(), results);
  return places;
}

DotsInFlight::Places DotsInFlight::startSums(RewriterBase &rewriter, scf::ForOp loop) const {
  for (tilegpu::DotOp dot : dots) {
    dot.setIsAsync(true);
    waitInBranches(rewriter, dot, loop);
  }
  rewriter.setInsertionPointAfter(dots.back());
  auto wait = tilegpu::DotWaitOp::create(rewriter, dots.back()->getLoc(), TypeRange(), dots.size(),
                                         ValueRange());
  return {dots.back(), wait};
}

Operation *DotsInFlight::firstRework(scf::ForOp loop) const {
  Operation *use = nullptr;
  for (tilegpu::DotOp dot : reworked)
    if (Operation *first = firstUse(carriedBy(dot, loop), loop);
        !use || first->isBeforeInBlock(use))
      use = first;
  return use;
}

tilegpu::DotOp DotsInFlight::waitedBeside(scf::ForOp loop) const {
  Operation *use = firstRework(loop);
  auto isInFlight = [&](tilegpu::DotOp dot) {
    return llvm::is_contained(dots, dot) || llvm::any_of(beside, [&](const auto &sums) {
             return llvm::is_contained(sums.second, dot);
           });
  };
  for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>())
    if (canBeInFlight(dot) && !isInFlight(dot) && (!use || dot->isBeforeInBlock(use)))
      return dot;
  return {};
}

DotsInFlight::Places DotsInFlight::startResults(RewriterBase &rewriter, scf::ForOp loop) const {
  SmallVector<Value> carried = llvm::map_to_vector(
      reworked, [&](tilegpu::DotOp dot) -> Value { return carriedBy(dot, loop); });
  Operation *use = firstRework(loop);
  tilegpu::DotOp before = waitedBeside(loop);
  for (tilegpu::DotOp dot : dots)
    tilegpu::DotOp(dot).setIsAsync(true);
  if (!before) {
    rewriter.setInsertionPoint(use);
    auto wait = tilegpu::DotWaitOp::create(rewriter, use->getLoc(), TypeRange(ValueRange(carried)),
                                           0, carried);
    for (auto [value, done] : llvm::zip(carried, wait.getResults()))
      rewriter.replaceAllUsesExcept(value, done, wait);
    return {wait, wait};
  }
  before.setIsAsync(true);
  SmallVector<Value> values{before.getResult()};
  values.append(carried);
  return {before, waitBehind(rewriter, before, before.getLoc(), values)};
}

unsigned registersOf(Type operand) {
  auto tensor = dyn_cast<RankedTensorType>(operand);
  if (!tensor)
    return 0;
  constexpr unsigned registerBits = 32;
  unsigned bits = tilegpu::storageBits(tensor.getElementType());
  return llvm::divideCeil(tilegpu::layoutOf(tensor).numRegisters() * bits, registerBits);
}

unsigned registersOf(tilegpu::DotOp dot) {
  unsigned ofOperand = dot.readsBuffers() ? registersOf(dot.getA().getType()) : 0;
  return registersOf(dot.getType()) + ofOperand;
}

int64_t registersOfDots(scf::ForOp loop) {
  int64_t results = 0, operand = 0;
  for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>()) {
    results += registersOf(dot.getType());
    operand = std::max<int64_t>(operand, registersOf(dot) - registersOf(dot.getType()));
  }
  return results + operand;
}

int64_t registersOfAddresses(const StagedLoads &staged) {
  return llvm::all_of(staged.loads, [](const StagedLoad &load) { return load.isBlock(); }) ? 24
                                                                                           : 64;
}

} // namespace kiln
