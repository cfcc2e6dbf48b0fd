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

/// Of registers that are told by the first one that holds the same.
size_t numDistinct(ArrayRef<unsigned> firstRegisters) {
  return llvm::count_if(llvm::enumerate(firstRegisters),
                        [](auto each) { return each.index() == each.value(); });
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
      if (!inOrder && !lanes.empty()) {
        combiner.walkLanes(lanes, totals);
        steps = steps.drop_front(lanes.size());
      } else if (lanes.size() > 1 && combiner.areLaneBits(lanes)) {
        combiner.gather(lanes, totals);
        steps = steps.drop_front(lanes.size());
      } else {
        combiner.walk(steps[0], combiner.neighbours(steps[0], totals), totals);
        steps = steps.drop_front();
      }
    }
  }

  /// Every thread reads the partial totals that its results consist of. Where these are many and
  /// the same for all lanes of a warp, each lane reads one, and they exchange them. Where threads
  /// have several results and a combination is more than an operation, or would read very many,
  /// each first makes one total.
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
    constexpr size_t veryMany = 64;
    bool readsVeryMany = !byLanes && numDistinct(first) * count >= veryMany;
    if (result && (!op.getSingleCombiner() || readsVeryMany))
      if (std::optional<LinearLayout> shares = sharesOf(*result, steps, first)) {
        count = 1;
        publishShares(s, combiner, steps, arrays, *shares);
      }
    for (unsigned reg = 0; reg < bases.size(); ++reg) {
      if (first[reg] != reg) {
        results.push_back(results[first[reg]]);
        continue;
      }
      Value base = s.shiftLeft(bases[reg], steps.rowShift);
      results.push_back(byLanes ? totalByLanes(s, combiner, steps, arrays, base)
                                : totalByThread(s, combiner, count, steps, arrays, base));
    }
    return success();
  }

  /// Where threads would combine the same partial totals as others, and several of them: each
  /// result's place in scratch, where its total is to be, by the thread that is to make it.
  static std::optional<LinearLayout> sharesOf(const LinearLayout &result, const AxisSteps &steps,
                                              ArrayRef<unsigned> firstRegisters) {
    unsigned lanes = result.in().bits(Dim::Lane), warps = result.in().bits(Dim::Warp);
    unsigned rows = result.out().totalBits();
    if (numDistinct(firstRegisters) < 2 || rows > lanes + warps || steps.exchanged.size() < 2)
      return std::nullopt;
    BinaryColumns columns;
    for (unsigned bit = 0; bit < lanes + warps; ++bit)
      columns.push_back(bit < rows ? uint64_t(1) << (bit + steps.rowShift) : 0);
    return LinearLayout(LayoutSpace({{Dim::Register, 0}, {Dim::Lane, lanes}, {Dim::Warp, warps}}),
                        steps.partials.out(), columns);
  }

  /// Replaces the first partial total of each row by the row's total.
  void publishShares(const ScalarBuilder &s, const AxisCombiner &combiner, const AxisSteps &steps,
                     ArrayRef<SharedArray> arrays, const LinearLayout &shares) const {
    Value thread = lowering.device.threadId(s.builder(), s.location());
    Value row = flatOutputs(s, shares, thread, lowering.target())[0];
    Elements total = totalByThread(s, combiner, 1u << steps.exchanged.size(), steps, arrays, row);
    lowering.device.sharedBarrier(s.builder(), s.location());
    for (auto [array, value] : llvm::zip_equal(arrays, total))
      storeShared(s, lowering, array, accessByOffsets(shares, array.element), value);
    lowering.device.sharedBarrier(s.builder(), s.location());
  }

  Elements totalByThread(const ScalarBuilder &s, const AxisCombiner &combiner, unsigned count,
                         const AxisSteps &steps, ArrayRef<SharedArray> arrays, Value base) const {
    Elements total = combiner.fetch(arrays, base);
    for (unsigned partial = 1; partial < count; ++partial) {
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
