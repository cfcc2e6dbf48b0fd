// tile.reduce: registers, then lanes, then warps through shared memory (see AxisSteps.h).

#include "compiler/Conversion/TileGPUToLLVM/AxisCombiner.h"
#include "compiler/Dialect/Tile/Combiners.h"

using namespace mlir;

namespace kiln {
namespace {

/// The empty layout for a scalar result.
std::optional<LinearLayout> resultLayout(tile::ReduceOp op) {
  if (!isa<RankedTensorType>(op.getResult(0).getType()))
    return std::nullopt;
  return tilegpu::layoutOf(op.getResult(0).getType());
}

bool staysInThread(const AxisStep &step) { return !step.lanes && !step.warps; }
bool isBetweenLanes(const AxisStep &step) { return step.lanes; }

struct ReduceDistribution : DistributionPattern<tile::ReduceOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::ReduceOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &source = tilegpu::layoutOf(op.getSources()[0].getType());
    std::optional<LinearLayout> result = resultLayout(op);
    bool inOrder = !tile::commutes(op);
    AxisSteps steps = planAxisSteps(source, op.getAxis(), inOrder);
    AxisCombiner combiner(s, lowering, source, op.getAxis(), op.getCombine(), inOrder);
    SmallVector<Elements> totals = byRegister(adaptor.getSources());
    combineLocally(combiner, steps.local, inOrder, totals);

    SmallVector<Elements> results;
    if (reduceScratchElements(source, result ? &*result : nullptr, op.getAxis(), inOrder) == 0) {
      SmallVector<unsigned> registers{0};
      if (result)
        registers = *renameRegisters(reducedLayout(source, op.getAxis()), *result);
      for (unsigned reg : registers)
        results.push_back(totals[reg]);
    } else if (failed(exchange(op, s, combiner, steps, totals, result, results))) {
      return failure();
    }
    finish(op, results, rewriter);
    return success();
  }

private:
  /// The steps within warps.
  void combineLocally(AxisCombiner &combiner, ArrayRef<AxisStep> steps, bool inOrder,
                      MutableArrayRef<Elements> totals) const {
    if (!inOrder) {
      ArrayRef<AxisStep> own = steps.take_while(staysInThread);
      combiner.accumulate(own, totals);
      steps = steps.drop_front(own.size());
    }
    while (!steps.empty()) {
      ArrayRef<AxisStep> lanes = steps.take_while(isBetweenLanes);
      if (inOrder && lanes.size() > 1 && combiner.areLaneBits(lanes)) {
        combiner.gather(lanes, totals);
        steps = steps.drop_front(lanes.size());
      } else {
        combiner.walk(steps[0], combiner.neighbours(steps[0], totals), totals);
        steps = steps.drop_front();
      }
    }
  }

  /// Every thread reads the partial totals that its results consist of.
  LogicalResult exchange(tile::ReduceOp op, const ScalarBuilder &s, const AxisCombiner &combiner,
                         const AxisSteps &steps, ArrayRef<Elements> totals,
                         const std::optional<LinearLayout> &result,
                         SmallVectorImpl<Elements> &results) const {
    Value scratch = lowering.scratch(s, op);
    if (!scratch)
      return failure();
    SmallVector<SharedArray> arrays = combiner.publish(steps, scratch, totals);
    SmallVector<Value> bases{s.i32(0)};
    SmallVector<unsigned> first{0};
    if (result) {
      Value thread = lowering.device.threadId(s.builder(), op.getLoc());
      bases = flatOutputs(s, *result, thread, lowering.target());
      first = firstDuplicates(*result);
    }
    for (unsigned reg = 0; reg < bases.size(); ++reg) {
      if (first[reg] != reg) {
        results.push_back(results[first[reg]]);
        continue;
      }
      Value base = s.shiftLeft(bases[reg], steps.rowShift);
      Elements total = combiner.fetch(arrays, base);
      for (unsigned partial = 1; partial < 1u << steps.exchanged.size(); ++partial) {
        Value place = s.add(base, s.i32(partial << steps.totalShift));
        total = combiner.combine(total, combiner.fetch(arrays, place));
      }
      results.push_back(total);
    }
    return success();
  }

  void finish(tile::ReduceOp op, ArrayRef<Elements> results,
              ConversionPatternRewriter &rewriter) const {
    SmallVector<SmallVector<Value>> replacements(op.getNumResults());
    for (const Elements &elements : results)
      for (auto [operand, value] : llvm::enumerate(elements))
        replacements[operand].push_back(value);
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
  }
};

} // namespace

void populateReducePatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ReduceDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
