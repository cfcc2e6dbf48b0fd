// Conversions between 8-bit floats, which travel as i8, and other numbers.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Expansion/ByteFloats/ByteFloats.h"

using namespace mlir;

namespace kiln {
namespace {

/// To or from an 8-bit float, by way of f32.
template <typename OpT> struct SmallFloatDistribution : DistributionPattern<OpT> {
  using Adaptor = typename DistributionPattern<OpT>::Adaptor;
  /// Before the elementwise pattern, which refuses 8-bit floats.
  SmallFloatDistribution(const Lowering &lowering, MLIRContext *context)
      : DistributionPattern<OpT>(lowering, context, /*benefit=*/2) {}

  LogicalResult distribute(OpT op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type from = tile::elementTypeOf(op->getOperand(0).getType());
    Type to = tile::elementTypeOf(op.getType());
    bool narrows = tile::isByteFloat(to);
    if (!narrows && !tile::isByteFloat(from))
      return rewriter.notifyMatchFailure(op, "has no 8-bit float");
    SmallVector<Value> values(adaptor.getOperands().front());
    size_t step = narrows ? 2 : 4;
    for (size_t first = 0; first < values.size(); first += step) {
      MutableArrayRef<Value> group =
          MutableArrayRef(values).slice(first, std::min(step, values.size() - first));
      if (narrows)
        narrow(s, group, to);
      else
        widen(s, group, from, to);
    }
    this->replace(op, rewriter, values);
    return success();
  }

private:
  void narrow(const ScalarBuilder &s, MutableArrayRef<Value> pair, Type format) const {
    OpBuilder &b = s.builder();
    for (Value &value : pair)
      value = inType(s, value, b.getF32Type());
    Value codes =
        this->lowering.device.narrowPair(b, s.location(), pair.front(), pair.back(), format);
    SmallVector<Value> bytes;
    if (codes)
      bytes = isa<VectorType>(codes.getType()) ? s.unpack(codes) : bytesOf(s, codes);
    for (auto [half, value] : llvm::enumerate(pair))
      value = codes ? bytes[half] : narrowByteFloat(b, s.location(), value, format);
  }

  static SmallVector<Value> bytesOf(const ScalarBuilder &s, Value half) {
    Type byte = s.builder().getI8Type();
    return {s.make<arith::TruncIOp>(byte, half),
            s.make<arith::TruncIOp>(byte, s.shiftRight(half, 8))};
  }

  /// Up to four codes.
  void widen(const ScalarBuilder &s, MutableArrayRef<Value> codes, Type format, Type to) const {
    OpBuilder &b = s.builder();
    SmallVector<Value> four(codes);
    four.resize(4, s.integer(b.getI8Type(), 0));
    // By way of f32, which makes quiet NaNs of others.
    SmallVector<Value> numbers = this->lowering.device.widenWord(b, s.location(), four, format, to);
    for (size_t first = 0; numbers.size() < codes.size(); first += 2) {
      Value both = this->lowering.device.widenPair(b, s.location(), four[first], four[first + 1],
                                                   format, to);
      if (!both)
        break;
      numbers.append(s.unpack(both));
    }
    for (auto [index, value] : llvm::enumerate(codes)) {
      Value single = numbers.empty() ? smallFloatToSingle(s, value, format)
                                     : inType(s, numbers[index], b.getF32Type());
      value = inType(s, single, to);
    }
  }

  static Value inType(const ScalarBuilder &s, Value value, Type type) {
    unsigned from = scalarBits(value.getType()), to = scalarBits(type);
    if (from == to)
      return value;
    return from < to ? s.make<arith::ExtFOp>(type, value) : s.make<arith::TruncFOp>(type, value);
  }
};

struct WidenScaledDistribution : DistributionPattern<tile::WidenScaledOp> {
  /// Before the elementwise pattern, which makes the same operation of scalars.
  WidenScaledDistribution(const Lowering &lowering, MLIRContext *context)
      : DistributionPattern(lowering, context, /*benefit=*/2) {}

  LogicalResult distribute(tile::WidenScaledOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    constexpr size_t step = 4;
    Type format = tile::elementTypeOf(op.getSource().getType()),
         to = tile::elementTypeOf(op.getType());
    ValueRange codes = adaptor.getSource(), scales = adaptor.getScale();
    Value zero = s.integer(s.builder().getI8Type(), 0);
    SmallVector<Value> results;
    for (size_t first = 0; first < codes.size(); first += step) {
      size_t count = std::min(step, codes.size() - first);
      SmallVector<Value> four(codes.slice(first, count)), scale(scales.slice(first, count));
      four.resize(step, zero);
      scale.resize(step, scale.back());
      SmallVector<Value> numbers = lowering.device.widenScaled(rewriter, op.getLoc(), four, scale,
                                                               format, op.getUpper(), to);
      if (numbers.empty())
        return op.emitError() << "'" << op->getName() << "' is not supported on "
                              << lowering.target().name;
      results.append(numbers.begin(), numbers.begin() + count);
    }
    replace(op, rewriter, results);
    return success();
  }
};

} // namespace

Value smallFloatToSingle(const ScalarBuilder &s, Value value, Type type) {
  return tile::isByteFloat(type) ? widenByteFloat(s.builder(), s.location(), value, type) : Value();
}

void populateSmallFloatPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<SmallFloatDistribution<arith::ExtFOp>, SmallFloatDistribution<tile::NarrowOp>,
               WidenScaledDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
