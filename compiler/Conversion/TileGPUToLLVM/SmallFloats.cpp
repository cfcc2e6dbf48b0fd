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
    for (size_t first = 0; first < values.size(); first += 2) {
      MutableArrayRef<Value> pair =
          MutableArrayRef(values).slice(first, std::min<size_t>(2, values.size() - first));
      if (narrows)
        narrow(s, pair, to);
      else
        widen(s, pair, from, to);
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

  void widen(const ScalarBuilder &s, MutableArrayRef<Value> pair, Type format, Type to) const {
    OpBuilder &b = s.builder();
    Value none = s.integer(b.getI8Type(), 0), high = pair.size() == 2 ? pair.back() : none;
    Value both = this->lowering.device.widenPair(b, s.location(), pair.front(), high, format, to);
    // By way of f32, which makes quiet NaNs of others.
    SmallVector<Value> numbers = both ? s.unpack(both) : SmallVector<Value>();
    for (auto [index, value] : llvm::enumerate(pair)) {
      Value single =
          both ? inType(s, numbers[index], b.getF32Type()) : smallFloatToSingle(s, value, format);
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

} // namespace

Value smallFloatToSingle(const ScalarBuilder &s, Value value, Type type) {
  return tile::isByteFloat(type) ? widenByteFloat(s.builder(), s.location(), value, type) : Value();
}

void populateSmallFloatPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<SmallFloatDistribution<arith::ExtFOp>, SmallFloatDistribution<tile::NarrowOp>>(
      lowering, patterns.getContext());
}

} // namespace kiln
