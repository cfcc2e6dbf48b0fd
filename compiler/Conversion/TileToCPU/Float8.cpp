// Conversions of 8-bit floats: the exponent and mantissa, shifted to their places in an f32, are
// the value but for a power of two, which a multiplication supplies; it takes care of subnormal
// values too.

#include "compiler/Conversion/TileToCPU/Float8.h"
#include <cmath>

using namespace mlir;

namespace kiln::cpu {

namespace {
struct Format {
  unsigned mantissaBits;
  int bias;
  /// Magnitudes of the largest finite value and of NaN; with `unsignedZero` NaN is minus zero's
  /// code instead.
  unsigned largest, nan;
  bool unsignedZero;
};
} // namespace

static Format formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return {3, 7, 0x7e, 0x7f, false};
  if (isa<Float8E4M3FNUZType>(type))
    return {3, 8, 0x7f, 0, true};
  if (isa<Float8E5M2Type>(type))
    return {2, 15, 0x7b, 0x7f, false};
  return {2, 16, 0x7f, 0, true};
}

bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type, Float8E5M2FNUZType>(type);
}

Value extendFloat8(VectorBuilder &b, Value bits, Type type) {
  Format format = formatOf(type);
  Type i32 = b.builder.getI32Type(), f32 = b.builder.getF32Type();
  Value code = arith::ExtUIOp::create(b.builder, b.loc, vectorOf(i32, laneCount(bits)), bits);
  Value magnitude = b.bitAnd(code, b.integer(0x7f, code));
  Value sign = b.shiftLeft(b.bitAnd(code, b.integer(0x80, code)), 24);
  Value scaled = b.bitcast(b.shiftLeft(magnitude, 23 - format.mantissaBits), f32);
  Value value = b.mul(scaled, b.real(std::ldexp(1.0, 127 - format.bias), scaled));
  value = b.bitcast(b.bitOr(b.bitcast(value, i32), sign), f32);
  Value nan = b.real(NAN, value);
  if (format.unsignedZero)
    return b.select(b.compare(arith::CmpIPredicate::eq, code, b.integer(0x80, code)), nan, value);
  value = b.select(b.compare(arith::CmpIPredicate::ugt, magnitude, b.integer(format.largest, code)),
                   nan, value);
  if (format.mantissaBits == 3)
    return value;
  // The one format with infinities.
  Value infinity = b.bitcast(b.bitOr(sign, b.integer(0x7f800000, sign)), f32);
  return b.select(b.compare(arith::CmpIPredicate::eq, magnitude, b.integer(0x7c, code)), infinity,
                  value);
}

Value truncateToFloat8(VectorBuilder &b, Value value, Type type) {
  Format format = formatOf(type);
  unsigned shift = 23 - format.mantissaBits;
  Type i32 = b.builder.getI32Type();
  Value sign = b.bitAnd(b.shiftRight(b.bitcast(value, i32), 24, false),
                        b.integer(0x80, b.bitcast(value, i32)));
  Value scaled = b.mul(b.absolute(value), b.real(std::ldexp(1.0, format.bias - 127), value));
  Value bits = b.bitcast(scaled, i32);
  Value odd = b.bitAnd(b.shiftRight(bits, shift, false), b.integer(1, bits));
  Value rounded = b.add(bits, b.add(odd, b.integer((1 << (shift - 1)) - 1, bits)));
  Value magnitude = b.shiftRight(rounded, shift, false);
  // The product above is inexact where the result is subnormal. There an addition rounds: its last
  // place is the smallest subnormal number.
  Value absolute = b.absolute(value);
  Value anchor = b.real(std::ldexp(1.0, 24 - format.bias - int(format.mantissaBits)), value);
  Value sum = arith::AddFOp::create(b.builder, b.loc, absolute, anchor);
  Value subnormal = b.sub(b.bitcast(sum, i32), b.bitcast(anchor, i32));
  Value isSmall = b.compare(arith::CmpFPredicate::OLT, absolute,
                            b.real(std::ldexp(1.0, 1 - format.bias), value));
  magnitude = b.select(isSmall, subnormal, magnitude);
  Value largest = b.integer(format.largest, magnitude);
  magnitude = arith::MinUIOp::create(b.builder, b.loc, magnitude, largest);
  Value code = b.bitOr(magnitude, sign);
  Value isNaN = b.compare(arith::CmpFPredicate::UNO, value, value);
  if (format.unsignedZero) {
    Value zero = b.integer(0, code);
    code = b.select(b.compare(arith::CmpIPredicate::eq, magnitude, zero), zero, code);
    code = b.select(isNaN, b.integer(0x80, code), code);
  } else {
    code = b.select(isNaN, b.integer(format.nan, code), code);
  }
  return b.resize(code, b.builder.getI8Type());
}

} // namespace kiln::cpu
