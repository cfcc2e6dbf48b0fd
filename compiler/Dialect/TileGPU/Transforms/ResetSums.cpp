// Sums that a loop begins anew.
//
// A persistent program that goes through its tiles and their products in one loop begins with zeros
// again where a tile is done:
//
//     for … iter_args(sum): next = dot(a, b, sum); if last: store(next); yield(last ? zeros : next)
//
// A choice for each register of the sum. A unit that reads shared memory can leave out what its
// registers held before, so the loop carries the condition instead, and the product begins with it:
//
//     for … iter_args(sum, begins): next = dot(a, b, begins ? zeros : sum); …; yield(next, last)

#include "compiler/Dialect/TileGPU/Transforms/ResetSums.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kiln {

arith::SelectOp resetOfSum(Value sum) {
  auto select = sum.getDefiningOp<arith::SelectOp>();
  bool isReset = select && select.getCondition().getType().isInteger(1) &&
                 (matchPattern(select.getTrueValue(), m_AnyZeroFloat()) ||
                  matchPattern(select.getTrueValue(), m_Zero()));
  return isReset ? select : nullptr;
}

namespace {

/// The choice that the loop yields for the argument, if only a product takes the argument.
arith::SelectOp resetOf(scf::ForOp loop, BlockArgument argument) {
  if (!argument.hasOneUse())
    return nullptr;
  OpOperand &use = *argument.use_begin();
  auto dot = dyn_cast<tilegpu::DotOp>(use.getOwner());
  arith::SelectOp select = resetOfSum(loop.getTiedLoopYieldedValue(argument)->get());
  if (!dot || dot.getC() != argument || dot->getBlock() != loop.getBody() || !dot.getUnit() ||
      !dot.getUnit()->getTiling().instruction->readsSharedMemory() || !select ||
      select->getBlock() != loop.getBody())
    return nullptr;
  return select;
}

void carryCondition(scf::ForOp loop, BlockArgument argument, arith::SelectOp select) {
  IRRewriter rewriter(loop.getContext());
  unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
  Value zeros = select.getTrueValue(), condition = select.getCondition();
  if (Operation *made = zeros.getDefiningOp(); made && loop->isAncestor(made))
    made->moveBefore(loop);
  rewriter.setInsertionPoint(loop);
  Value no = arith::ConstantOp::create(rewriter, loop.getLoc(), rewriter.getBoolAttr(false));
  auto yieldCondition = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return SmallVector<Value>{condition};
  };
  auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, no, /*replaceInitOperandUsesInLoop=*/false, yieldCondition));
  BlockArgument sum = carrying.getRegionIterArg(number),
                begins = carrying.getRegionIterArgs().back();
  auto dot = cast<tilegpu::DotOp>(*sum.user_begin());
  auto choose = [&](Value isReset, Value value) {
    return arith::SelectOp::create(rewriter, loop.getLoc(), isReset, zeros, value);
  };
  rewriter.setInsertionPoint(dot);
  dot.getCMutable().assign(choose(begins, sum));
  carrying.getTiedLoopYieldedValue(sum)->set(select.getFalseValue());
  Value result = carrying.getResult(number);
  if (!result.use_empty()) {
    rewriter.setInsertionPointAfter(carrying);
    auto last = choose(carrying.getResults().back(), result);
    rewriter.replaceAllUsesExcept(result, last, last);
  }
  if (select.use_empty())
    rewriter.eraseOp(select);
}

struct ResetSumsPass : PassWrapper<ResetSumsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResetSumsPass)

  StringRef getArgument() const override { return "kiln-reset-sums"; }
  StringRef getDescription() const override {
    return "Begin sums anew by the product's own means, not by a choice for each register";
  }

  void runOnOperation() override {
    while (changeOne()) {
    }
  }

private:
  bool changeOne() {
    WalkResult found = getOperation().walk([](scf::ForOp loop) {
      for (BlockArgument argument : loop.getRegionIterArgs())
        if (arith::SelectOp select = resetOf(loop, argument)) {
          carryCondition(loop, argument, select);
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return found.wasInterrupted();
  }
};

} // namespace

std::unique_ptr<Pass> createResetSumsPass() { return std::make_unique<ResetSumsPass>(); }

} // namespace kiln
