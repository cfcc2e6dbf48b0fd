// tile.scan: a value and a total per place, merged block by block.
//
// After the steps for the k lowest coordinate bits, a place holds the scan within its block of 2^k
// elements, and the block's total. The next bit pairs blocks: the later of two puts the earlier's
// total before its values, and both know the sum of the totals. From the first bit that moves
// between warps on, all totals go to shared memory and every thread sums up those before its own.

#include "compiler/Conversion/TileGPUToLLVM/Fold.h"

using namespace mlir;

namespace kiln {
namespace {

struct ScanSpread : SpreadPattern<tile::ScanOp> {
  using SpreadPattern::SpreadPattern;

  LogicalResult spread(tile::ScanOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &layout = tilegpu::layoutOf(op.getSources()[0].getType());
    AxisSteps steps = planAxisSteps(layout, op.getAxis(), /*inOrder=*/true);
    Fold fold(s, lowering, layout, op.getAxis(), op.getCombine(), /*inOrder=*/true,
              op.getReverse());
    SmallVector<Elements> values = byRegister(adaptor.getSources()), totals = values;
    for (const AxisStep &step : steps.local)
      merge(fold, step, values, totals);
    if (!steps.exchanged.empty()) {
      Value scratch = lowering.scratch(s, op);
      if (!scratch)
        return failure();
      exchange(fold, s, steps, scratch, values, totals);
    }
    SmallVector<SmallVector<Value>> replacements(op.getNumResults());
    for (unsigned reg : fold.firstRegisters())
      for (auto [operand, value] : llvm::enumerate(values[reg]))
        replacements[operand].push_back(value);
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }

private:
  void merge(Fold &fold, const AxisStep &step, SmallVectorImpl<Elements> &values,
             SmallVectorImpl<Elements> &totals) const {
    SmallVector<Elements> others = fold.neighbours(step, totals);
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      if (fold.firstRegisters()[reg] != reg)
        continue;
      Fold::Flag later = fold.coordinateBit(reg, step.bit);
      if (later.runtime || later.constant)
        values[reg] = fold.selectByFlag(later, fold.combine(others[reg], values[reg]), values[reg]);
    }
    fold.walk(step, totals);
  }

  void exchange(Fold &fold, const ScalarBuilder &s, const AxisSteps &steps, Value scratch,
                SmallVectorImpl<Elements> &values, ArrayRef<Elements> totals) const {
    SmallVector<SharedArray> arrays = fold.publish(steps, scratch, totals);
    Value thread = lowering.device.threadId(s.builder(), s.location());
    SmallVector<Value> places = flatOutputs(s, steps.partials, thread, lowering.target());
    unsigned bits = steps.exchanged.size();
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      if (fold.firstRegisters()[reg] != reg)
        continue;
      Value own = fold.coordinateBits(reg, steps.exchanged);
      Value base = s.shiftLeft(s.shiftRight(places[reg], bits), bits);
      Elements before, prefix;
      for (unsigned block = 0; block + 1 < 1u << bits; ++block) {
        // Blocks are numbered along the scan; in scratch by coordinate.
        unsigned place = fold.isReversed() ? (1u << bits) - 1 - block : block;
        Elements total = fold.fetch(arrays, s.add(base, s.i32(place)));
        before = block == 0 ? total : fold.combine(before, total);
        Fold::Flag mine{false, s.equal(own, block + 1)};
        prefix = block == 0 ? before : fold.selectByFlag(mine, before, prefix);
      }
      Fold::Flag leading{false, s.equal(own, 0)};
      values[reg] = fold.selectByFlag(leading, values[reg], fold.combine(prefix, values[reg]));
    }
  }
};

} // namespace

void populateScanPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ScanSpread>(lowering, patterns.getContext());
}

} // namespace kiln
