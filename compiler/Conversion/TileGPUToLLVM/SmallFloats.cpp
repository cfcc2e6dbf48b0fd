// Conversions between 8-bit floats and other numbers, by integer arithmetic.
//
// An 8-bit float travels as i8. Widening puts its exponent and mantissa where f32 has them and
// multiplies by the difference of the biases, which is exact, also for denormals. Narrowing rounds
// to nearest even and saturates at the largest finite number, as the hardware conversions (PTX
// cvt.rn.satfinite) and Triton do; NaN stays NaN.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include <cmath>

using namespace mlir;

namespace kiln {
namespace {

/// An 8-bit format: OCP "8-bit Floating Point Specification" (OFP8), and AMD's FNUZ forms.
struct SmallFormat {
  unsigned mantissa;
  int bias;
  double largest;
  uint8_t nan;      ///< an encoding of NaN
  bool hasInfinity; ///< all-ones exponents are infinity and NaN
  bool isUnsignedZero;
};

std::optional<SmallFormat> formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return SmallFormat{3, 7, 448, 0x7F, false, false};
  if (isa<Float8E5M2Type>(type))
    return SmallFormat{2, 15, 57344, 0x7E, true, false};
  if (isa<Float8E4M3FNUZType>(type))
    return SmallFormat{3, 8, 240, 0x80, false, true};
  if (isa<Float8E5M2FNUZType>(type))
    return SmallFormat{2, 16, 57344, 0x80, false, true};
  return std::nullopt;
}

/// i8 to f32.
Value widen(const ScalarBuilder &s, Value small, const SmallFormat &format) {
  Type f32 = s.builder().getF32Type(), i32 = s.builder().getI32Type();
  Value bits = s.make<arith::ExtUIOp>(i32, small), magnitude = s.bitAnd(bits, 0x7F);
  Value scaled = s.bitcast(s.shiftLeft(magnitude, 23 - format.mantissa), f32);
  Value value = s.make<arith::MulFOp>(scaled, s.real(f32, std::ldexp(1.0, 127 - format.bias)));
  if (format.hasInfinity) {
    Value special =
        s.bitcast(s.bitOr(s.shiftLeft(magnitude, 23 - format.mantissa), s.i32(0x7F800000)), f32);
    Value isSpecial =
        s.compare(arith::CmpIPredicate::uge, magnitude, s.i32(0x1F << format.mantissa));
    value = s.select(isSpecial, special, value);
  } else {
    Value isNan = s.equal(format.isUnsignedZero ? bits : magnitude, format.nan);
    value = s.select(isNan, s.real(f32, NAN), value);
  }
  Value sign = s.shiftLeft(s.bitAnd(bits, 0x80), 24);
  return s.bitcast(s.bitOr(s.bitcast(value, i32), sign), f32);
}

/// f32 to i8.
Value narrow(const ScalarBuilder &s, Value wide, const SmallFormat &format) {
  Type f32 = s.builder().getF32Type(), i32 = s.builder().getI32Type();
  unsigned shift = 23 - format.mantissa;
  Value bits = s.bitcast(wide, i32), magnitudeBits = s.bitAnd(bits, 0x7FFFFFFF);
  Value magnitude =
      s.make<arith::MinNumFOp>(s.bitcast(magnitudeBits, f32), s.real(f32, format.largest));
  Value word = s.bitcast(magnitude, i32);
  // Normal results: round by adding just below half, and the last bit that stays.
  Value odd = s.bitAnd(s.shiftRight(word, shift), 1);
  Value rounded = s.add(s.add(word, odd), s.i32((1 << (shift - 1)) - 1));
  Value normal = s.make<arith::SubIOp>(s.shiftRight(rounded, shift),
                                       s.i32((127 - format.bias) << format.mantissa));
  // Denormal results: adding a number whose last place is the smallest denormal rounds to it.
  Value magic = s.real(f32, std::ldexp(1.0, 1 - format.bias - int(format.mantissa) + 23));
  Value denormal = s.make<arith::SubIOp>(s.bitcast(s.make<arith::AddFOp>(magnitude, magic), i32),
                                         s.bitcast(magic, i32));
  Value isNormal = s.make<arith::CmpFOp>(arith::CmpFPredicate::OGE, magnitude,
                                         s.real(f32, std::ldexp(1.0, 1 - format.bias)));
  Value result = s.select(isNormal, normal, denormal);
  Value sign = s.bitAnd(s.shiftRight(bits, 24), 0x80);
  if (format.isUnsignedZero)
    sign = s.select(s.equal(result, 0), s.i32(0), sign);
  Value isNan = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, wide, wide);
  result = s.select(isNan, s.i32(format.nan), s.bitOr(result, sign));
  return s.make<arith::TruncIOp>(s.builder().getI8Type(), result);
}

/// To or from an 8-bit float, by way of f32.
template <typename OpT> struct SmallFloatSpread : SpreadPattern<OpT> {
  using Adaptor = typename SpreadPattern<OpT>::Adaptor;
  /// Before the elementwise pattern, which refuses 8-bit floats.
  SmallFloatSpread(const Lowering &lowering, MLIRContext *context)
      : SpreadPattern<OpT>(lowering, context, /*benefit=*/2) {}

  LogicalResult spread(OpT op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    Type from = tile::elementTypeOf(op.getIn().getType()), to = tile::elementTypeOf(op.getType());
    std::optional<SmallFormat> source = formatOf(from), result = formatOf(to);
    if (!source && !result)
      return rewriter.notifyMatchFailure(op, "has no 8-bit float");
    SmallVector<Value> values;
    for (Value value : adaptor.getIn()) {
      Value wide = source ? widen(s, value, *source) : inSingle(s, value);
      values.push_back(result ? narrow(s, wide, *result) : fromSingle(s, wide, to));
    }
    this->replace(op, rewriter, values);
    return success();
  }

private:
  static Value inSingle(const ScalarBuilder &s, Value value) {
    Type single = s.builder().getF32Type();
    return isa<FloatType>(value.getType()) ? fromSingle(s, value, single)
                                           : s.make<OpT>(single, value);
  }
  static Value fromSingle(const ScalarBuilder &s, Value value, Type type) {
    unsigned from = scalarBits(value.getType()), to = scalarBits(type);
    if (from == to)
      return value;
    return from < to ? s.make<arith::ExtFOp>(type, value) : s.make<arith::TruncFOp>(type, value);
  }
};

} // namespace

Value smallFloatToSingle(const ScalarBuilder &s, Value value, Type type) {
  std::optional<SmallFormat> format = formatOf(type);
  return format ? widen(s, value, *format) : Value();
}

void populateSmallFloatPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<SmallFloatSpread<arith::ExtFOp>, SmallFloatSpread<arith::TruncFOp>,
               SmallFloatSpread<arith::SIToFPOp>, SmallFloatSpread<arith::UIToFPOp>>(
      lowering, patterns.getContext());
}

} // namespace kiln
