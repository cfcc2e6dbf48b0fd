// tile.gather: the source goes to shared memory as a row-major array, and every thread fetches the
// elements that its indices name. tile.histogram: counters in shared memory, to which the owners of
// elements add.

#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"
#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// Onto places in a row-major array of the source's shape.
LinearLayout ontoArray(const LinearLayout &layout, const LayoutSpace &source, unsigned axis,
                       bool withAxis) {
  BinaryColumns columns;
  for (uint64_t column : layout.columns()) {
    SmallVector<int64_t, 4> coordinates = layout.out().unpack(column);
    if (!withAxis)
      coordinates[axis] = 0;
    columns.push_back(source.pack(coordinates));
  }
  return LinearLayout(layout.in(), LayoutSpace({{Dim::Offset, source.totalBits()}}), columns);
}

struct GatherDistribution : DistributionPattern<tile::GatherOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::GatherOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &source = tilegpu::layoutOf(op.getSource().getType());
    const LinearLayout &result = tilegpu::layoutOf(op.getType());
    const LayoutSpace &space = source.out();
    unsigned axis = op.getAxis();
    Value scratch = lowering.scratch(s, op);
    if (!scratch)
      return failure();
    SharedArray array{scratch, adaptor.getSource()[0].getType()};
    storeShared(s, lowering, array,
                accessByOffsets(ontoArray(source, space, axis, /*withAxis=*/true), array.element),
                adaptor.getSource());
    lowering.device.sharedBarrier(rewriter, op.getLoc());
    Value thread = lowering.device.threadId(rewriter, op.getLoc());
    SmallVector<Value> places = flatOutputs(s, ontoArray(result, space, axis, /*withAxis=*/false),
                                            thread, lowering.target());
    SmallVector<Value> elements;
    for (auto [place, index] : llvm::zip_equal(places, adaptor.getIndices())) {
      Value along = inRange(s, index, space.size(Dim::axis(axis)));
      Value offset = s.add(place, s.shiftLeft(along, space.position(Dim::axis(axis))));
      elements.push_back(loadSharedElement(s, array, offset));
    }
    replace(op, rewriter, elements);
    return success();
  }

private:
  /// As an i32; indices outside of the extent become its last.
  static Value inRange(const ScalarBuilder &s, Value index, int64_t extent) {
    Type i32 = s.builder().getI32Type();
    if (scalarBits(index.getType()) < 32)
      index = s.make<arith::ExtSIOp>(i32, index);
    index = s.make<arith::MinUIOp>(index, s.integer(index.getType(), extent - 1));
    return index.getType() == i32 ? index : s.make<arith::TruncIOp>(i32, index);
  }
};

struct HistogramDistribution : DistributionPattern<tile::HistogramOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::HistogramOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &source = tilegpu::layoutOf(op.getSource().getType());
    const LinearLayout &result = tilegpu::layoutOf(op.getType());
    Value scratch = lowering.scratch(s, op);
    if (!scratch)
      return failure();
    SharedArray counters{scratch, rewriter.getI32Type()};
    SharedAccess own =
        accessByOffsets(ontoArray(result, result.out(), 0, /*withAxis=*/true), counters.element);
    storeShared(s, lowering, counters, own,
                SmallVector<Value>(result.numRegisters(), s.integer(counters.element, 0)));
    lowering.device.sharedBarrier(rewriter, op.getLoc());
    Value thread = lowering.device.threadId(rewriter, op.getLoc());
    Value owner = isOwner(s, source, thread, lowering.target());
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(source)))
      if (reg == first) {
        Value mask = op.getMask() ? adaptor.getMask()[reg] : Value();
        count(s, counters, result.out().totalSize(), adaptor.getSource()[reg],
              both(owner, mask, s));
      }
    lowering.device.sharedBarrier(rewriter, op.getLoc());
    replace(op, rewriter, loadShared(s, lowering, counters, own));
    return success();
  }

private:
  /// One more of `number`, if it is one of the first `bins` and `predicate` (null: always) holds.
  void count(const ScalarBuilder &s, const SharedArray &counters, int64_t bins, Value number,
             Value predicate) const {
    Value hasCounter =
        s.make<arith::CmpIOp>(arith::CmpIPredicate::ult, number, s.integer(counters.element, bins));
    Under guard(s.builder(), s.location(), both(predicate, hasCounter, s));
    Value counter = s.byteOffset(counters.base, s.mul(number, sharedBytes(counters.element)));
    LLVM::AtomicRMWOp::create(s.builder(), s.location(), LLVM::AtomicBinOp::add, counter,
                              s.integer(counters.element, 1), LLVM::AtomicOrdering::monotonic,
                              lowering.device.syncScope(tile::MemoryScope::CTA));
  }
};

} // namespace

void populateGatherPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<GatherDistribution, HistogramDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
