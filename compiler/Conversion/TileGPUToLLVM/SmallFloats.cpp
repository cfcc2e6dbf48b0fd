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
    SmallVector<Value> values;
    for (Value value : adaptor.getOperands().front())
      values.push_back(narrows ? inType(s, value, s.builder().getF32Type())
                               : inType(s, smallFloatToSingle(s, value, from), to));
    if (narrows)
      narrow(s, values, to);
    this->replace(op, rewriter, values);
    return success();
  }

private:
  void narrow(const ScalarBuilder &s, MutableArrayRef<Value> values, Type format) const {
    for (size_t i = 0; i < values.size(); i += 2) {
      MutableArrayRef<Value> pair = values.slice(i, std::min<size_t>(2, values.size() - i));
      Value codes = this->lowering.device.narrowPair(s.builder(), s.location(), pair.front(),
                                                     pair.back(), format);
      for (auto [half, value] : llvm::enumerate(pair))
        value = codes ? withSignOf(s, codes, half, value)
                      : narrowByteFloat(s.builder(), s.location(), value, format);
    }
  }

  /// One of a pair of codes. The sign of a NaN is kept: of all others the code has it anyway.
  static Value withSignOf(const ScalarBuilder &s, Value codes, unsigned half, Value value) {
    OpBuilder &b = s.builder();
    Value code = s.make<arith::TruncIOp>(b.getI8Type(), half ? s.shiftRight(codes, 8) : codes);
    Value sign = s.bitAnd(s.shiftRight(s.bitcast(value, b.getI32Type()), 24), 0x80);
    return s.bitOr(code, s.make<arith::TruncIOp>(b.getI8Type(), sign));
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
