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

/// Whether a warp's lanes want the same results.
bool isOneForWarp(const std::optional<LinearLayout> &result) {
  return !result || llvm::all_of(result->columns(Dim::Lane), [](uint64_t c) { return c == 0; });
}

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
    } else if (failed(exchange(op, s, combiner, steps, inOrder, totals, result, results))) {
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

  /// Every thread reads the partial totals that its results consist of; where these are many and
  /// the same for all lanes of a warp, each lane reads one, and they exchange them.
  LogicalResult exchange(tile::ReduceOp op, const ScalarBuilder &s, const AxisCombiner &combiner,
                         const AxisSteps &steps, bool inOrder, ArrayRef<Elements> totals,
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
    constexpr unsigned many = 16;
    unsigned count = 1u << steps.exchanged.size();
    bool byLanes =
        !inOrder && count >= many && count <= lowering.target().warpSize && isOneForWarp(result);
    for (unsigned reg = 0; reg < bases.size(); ++reg) {
      if (first[reg] != reg) {
        results.push_back(results[first[reg]]);
        continue;
      }
      Value base = s.shiftLeft(bases[reg], steps.rowShift);
      results.push_back(byLanes ? totalByLanes(s, combiner, steps, arrays, base)
                                : totalByThread(s, combiner, steps, arrays, base));
    }
    return success();
  }

  Elements totalByThread(const ScalarBuilder &s, const AxisCombiner &combiner,
                         const AxisSteps &steps, ArrayRef<SharedArray> arrays, Value base) const {
    Elements total = combiner.fetch(arrays, base);
    for (unsigned partial = 1; partial < 1u << steps.exchanged.size(); ++partial) {
      Value place = s.add(base, s.i32(partial << steps.totalShift));
      total = combiner.combine(total, combiner.fetch(arrays, place));
    }
    return total;
  }

  Elements totalByLanes(const ScalarBuilder &s, const AxisCombiner &combiner,
                        const AxisSteps &steps, ArrayRef<SharedArray> arrays, Value base) const {
    Value thread = lowering.device.threadId(s.builder(), s.location());
    unsigned count = 1u << steps.exchanged.size();
    Value partial = s.shiftLeft(s.bitAnd(thread, int64_t(count - 1)), steps.totalShift);
    Elements total = combiner.fetch(arrays, s.add(base, partial));
    for (unsigned lanes = 1; lanes < count; lanes *= 2) {
      Elements other;
      for (Value value : total)
        other.push_back(shuffleXor(s, lowering.device, value, lanes));
      total = combiner.combine(total, other);
    }
    return total;
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
