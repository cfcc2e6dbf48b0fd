// Making tensors and changing their shape: no data move, registers get new names.
//
// Each operation relates coordinates of its result to coordinates of its source by a linear map.
// Applied to the result's layout it says which source coordinates a thread needs; where the thread
// holds them already, in whatever register, renaming is all there is to do. Layout assignment
// guarantees that, with convert_layout where it is not so.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

using namespace mlir;

namespace kiln {
namespace {

/// Replaces `op` by the registers of `source` that hold what `wanted` asks for.
LogicalResult rename(Operation *op, const Lowering &lowering, ValueRange source,
                     const LinearLayout &layout, const LinearLayout &wanted,
                     ConversionPatternRewriter &rewriter) {
  std::optional<SmallVector<unsigned>> registers = renameRegisters(layout, wanted);
  if (!registers)
    return op->emitOpError("expected layouts between which registers only change names, got a "
                           "source of ")
           << layout.str() << " where " << wanted.str() << " is needed";
  SmallVector<Value> results;
  for (unsigned reg : *registers)
    results.push_back(source[reg]);
  rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{results});
  return success();
}

/// `layout` with each output column sent through `map`, as a layout onto `shape`.
template <typename Map>
LinearLayout mapOutputs(const LinearLayout &layout, ArrayRef<int64_t> shape, Map map) {
  BinaryColumns columns;
  for (uint64_t column : layout.columns())
    columns.push_back(map(column));
  return LinearLayout(layout.in(), LayoutSpace::ofShape(shape), columns);
}

struct ArangeDistribution : DistributionPattern<tile::ArangeOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::ArangeOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Value thread = lowering.device.threadId(rewriter, op.getLoc());
    SmallVector<Value> values =
        coordinatesAlong(s, tilegpu::layoutOf(op.getType()), 0, thread, lowering.target());
    for (Value &value : values)
      value = s.add(value, s.i32(int32_t(op.getStart())));
    replace(op, rewriter, values);
    return success();
  }
};

struct SplatDistribution : DistributionPattern<tile::SplatOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::SplatOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    size_t count = tilegpu::layoutOf(op.getType()).numRegisters();
    replace(op, rewriter, SmallVector<Value>(count, adaptor.getSource()[0]));
    return success();
  }
};

struct BroadcastDistribution : DistributionPattern<tile::BroadcastOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::BroadcastOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    auto source = cast<RankedTensorType>(op.getSource().getType());
    const LinearLayout &result = tilegpu::layoutOf(op.getType());
    LayoutSpace narrow = LayoutSpace::ofShape(source.getShape());
    LinearLayout wanted = mapOutputs(result, source.getShape(), [&](uint64_t column) {
      SmallVector<int64_t, 4> coordinates = result.out().unpack(column);
      for (auto [axis, extent] : llvm::enumerate(source.getShape()))
        if (extent == 1)
          coordinates[axis] = 0;
      return narrow.pack(coordinates);
    });
    return rename(op, lowering, adaptor.getSource(), tilegpu::layoutOf(source), wanted, rewriter);
  }
};

/// expand_dims and reshape keep the row-major order, so flat coordinates stay what they are.
template <typename OpT> struct RowMajorDistribution : DistributionPattern<OpT> {
  using DistributionPattern<OpT>::DistributionPattern;
  LogicalResult distribute(OpT op, typename DistributionPattern<OpT>::Adaptor adaptor,
                           const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    auto source = cast<RankedTensorType>(op.getSource().getType());
    LinearLayout wanted = mapOutputs(tilegpu::layoutOf(op.getType()), source.getShape(),
                                     [](uint64_t column) { return column; });
    return rename(op, this->lowering, adaptor.getSource(), tilegpu::layoutOf(source), wanted,
                  rewriter);
  }
};

/// Both hold the same elements twice, if any: equal kernels.
bool sameDuplicates(const LinearLayout &a, const LinearLayout &b) {
  BinaryColumns left = kernel(a.columns()), right = kernel(b.columns());
  BinarySpan span(left);
  return left.size() == right.size() &&
         llvm::all_of(right, [&](BinaryVector v) { return span.contains(v); });
}

struct ReshapeDistribution : RowMajorDistribution<tile::ReshapeOp> {
  using RowMajorDistribution::RowMajorDistribution;
  LogicalResult distribute(tile::ReshapeOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    // With any_order every thread may keep what it has, if nothing is held twice or lost.
    const LinearLayout &source = tilegpu::layoutOf(op.getSource().getType());
    const LinearLayout &result = tilegpu::layoutOf(op.getType());
    if (op.getAnyOrder() &&
        !renameRegisters(source,
                         mapOutputs(result, source.shape(), [](uint64_t c) { return c; })) &&
        source.in() == result.in() && sameDuplicates(source, result)) {
      replace(op, rewriter, adaptor.getSource());
      return success();
    }
    return RowMajorDistribution::distribute(op, adaptor, s, rewriter);
  }
};

struct TransDistribution : DistributionPattern<tile::TransOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::TransOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &source = tilegpu::layoutOf(op.getSource().getType());
    const LinearLayout &result = tilegpu::layoutOf(op.getType());
    SmallVector<int64_t> shape(cast<RankedTensorType>(op.getSource().getType()).getShape());
    LayoutSpace from = LayoutSpace::ofShape(shape);
    LinearLayout wanted = mapOutputs(result, shape, [&](uint64_t column) {
      SmallVector<int64_t, 4> moved = result.out().unpack(column), coordinates(moved.size());
      for (auto [axis, original] : llvm::enumerate(op.getOrder()))
        coordinates[original] = moved[axis];
      return from.pack(coordinates);
    });
    return rename(op, lowering, adaptor.getSource(), source, wanted, rewriter);
  }
};

} // namespace

void populateShapePatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ArangeDistribution, SplatDistribution, BroadcastDistribution,
               RowMajorDistribution<tile::ExpandDimsOp>, ReshapeDistribution, TransDistribution>(
      lowering, patterns.getContext());
}

} // namespace kiln
