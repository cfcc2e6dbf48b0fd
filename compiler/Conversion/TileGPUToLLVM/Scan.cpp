// tile.scan: a value and a total per place, merged block by block.
//
// After the steps for the k lowest coordinate bits, a place holds the scan within its block of 2^k
// elements, and the block's total. The next bit pairs blocks: the later of two puts the earlier's
// total before its values, and both know the sum of the totals. From the first bit that moves
// between warps on, all totals go to shared memory and every thread sums up those before its own:
// once for all of its registers in one row, each of which takes the sum that it finds on the way.

#include "compiler/Conversion/TileGPUToLLVM/AxisCombiner.h"

#include <map>

using namespace mlir;

namespace kiln {
namespace {

struct ScanDistribution : DistributionPattern<tile::ScanOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::ScanOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &layout = tilegpu::layoutOf(op.getSources()[0].getType());
    AxisSteps steps = planAxisSteps(layout, op.getAxis(), /*inOrder=*/true);
    AxisCombiner combiner(s, lowering, layout, op.getAxis(), op.getCombine(), /*inOrder=*/true,
                          op.getReverse());
    SmallVector<Elements> values = byRegister(adaptor.getSources()), totals = values;
    for (const AxisStep &step : steps.local)
      merge(combiner, step, values, totals);
    if (!steps.exchanged.empty()) {
      Value scratch = lowering.scratch(s, op);
      if (!scratch)
        return failure();
      exchange(combiner, s, steps, scratch, values, totals);
    }
    SmallVector<SmallVector<Value>> replacements(op.getNumResults());
    for (unsigned reg : combiner.firstRegisters())
      for (auto [operand, value] : llvm::enumerate(values[reg]))
        replacements[operand].push_back(value);
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }

private:
  void merge(AxisCombiner &combiner, const AxisStep &step, SmallVectorImpl<Elements> &values,
             SmallVectorImpl<Elements> &totals) const {
    SmallVector<Elements> others = combiner.neighbours(step, totals);
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      if (combiner.firstRegisters()[reg] != reg)
        continue;
      AxisCombiner::Flag later = combiner.coordinateBit(reg, step.bit);
      if (later.runtime || later.constant)
        values[reg] =
            combiner.selectByFlag(later, combiner.combine(others[reg], values[reg]), values[reg]);
    }
    combiner.walk(step, others, totals);
  }

  void exchange(AxisCombiner &combiner, const ScalarBuilder &s, const AxisSteps &steps,
                Value scratch, SmallVectorImpl<Elements> &values, ArrayRef<Elements> totals) const {
    SmallVector<SharedArray> arrays = combiner.publish(steps, scratch, totals);
    Value thread = lowering.device.threadId(s.builder(), s.location());
    SmallVector<Value> places = flatOutputs(s, steps.partials, thread, lowering.target());
    unsigned bits = steps.exchanged.size();
    // By what tells the rows of a thread's registers apart.
    std::map<uint64_t, SmallVector<unsigned>> rows;
    for (unsigned reg = 0; reg < values.size(); ++reg)
      if (combiner.firstRegisters()[reg] == reg)
        rows[multiply(steps.partials.columns(Dim::Register), reg) >> bits].push_back(reg);
    for (auto &[row, registers] : rows) {
      Value base = s.shiftLeft(s.shiftRight(places[registers[0]], bits), bits);
      addEarlierBlocks(combiner, s, steps, arrays, base, registers, values);
    }
  }

  void addEarlierBlocks(AxisCombiner &combiner, const ScalarBuilder &s, const AxisSteps &steps,
                        ArrayRef<SharedArray> arrays, Value base, ArrayRef<unsigned> registers,
                        SmallVectorImpl<Elements> &values) const {
    unsigned last = (1u << steps.exchanged.size()) - 1;
    SmallVector<AxisCombiner::Bits> own;
    for (unsigned reg : registers)
      own.push_back(combiner.coordinateBits(reg, steps.exchanged));
    SmallVector<Elements> prefixes(registers.size());
    Elements before;
    for (unsigned block = 0; block < last; ++block) {
      // Blocks are numbered along the scan; in scratch by coordinate.
      unsigned place = combiner.isReversed() ? last - block : block;
      Elements total = combiner.fetch(arrays, s.add(base, s.i32(place)));
      before = block == 0 ? total : combiner.combine(before, total);
      for (auto [bits, prefix] : llvm::zip_equal(own, prefixes))
        if (bits.mayBe(block + 1))
          prefix = prefix.empty() ? before
                                  : combiner.selectByFlag({false, s.equal(bits.value, block + 1)},
                                                          before, prefix);
    }
    for (auto [reg, bits, prefix] : llvm::zip_equal(registers, own, prefixes)) {
      if (prefix.empty())
        continue;
      Elements sum = combiner.combine(prefix, values[reg]);
      values[reg] = bits.mayBe(0)
                        ? combiner.selectByFlag({false, s.equal(bits.value, 0)}, values[reg], sum)
                        : sum;
    }
  }
};

} // namespace

void populateScanPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ScanDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
