// Roots and powers, and the remainder, which is a division's without rounding.

#include "compiler/Conversion/TileGPUToLLVM/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double log2e = 1.44269504088896340736;

//===-- roots
//--------------------------------------------------------------------------------===//

Value MathBuilder::fastRsqrt(Value x) const {
  return device.reciprocalSqrt(s.builder(), s.location(), x);
}

Value MathBuilder::rsqrt(Value x) const {
  if (isDouble)
    return s.make<arith::DivFOp>(number(1), sqrt(x));
  // One step of Newton's in f64, which leaves nothing to round but the result.
  // Small numbers are scaled, as not every target's instruction takes
  // denormals.
  Type f64 = s.builder().getF64Type();
  auto wide = [&](double value) { return s.real(f64, value); };
  Value tiny = less(x, number(0x1p-100));
  Value scaled = s.select(tiny, mul(x, number(0x1p64)), x), guess = fastRsqrt(scaled);
  Value y = s.make<arith::ExtFOp>(f64, guess), product = mul(s.make<arith::ExtFOp>(f64, scaled), y);
  Value error = fma(negate(product), y, wide(1));
  Value exact = fma(mul(y, error), fma(error, wide(0.375), wide(0.5)), y);
  Value regular = s.make<arith::AndIOp>(less(number(0), x), less(x, number(INFINITY)));
  Value rounded = s.select(regular, s.make<arith::TruncFOp>(type, exact), guess);
  return s.select(tiny, mul(rounded, number(0x1p32)), rounded);
}

Value MathBuilder::cbrt(Value x) const {
  // Denormals have too few digits for the correction: a power of 8 lifts them.
  Value tiny = less(abs(x), number(isDouble ? 0x1p-900 : 0x1p-100));
  Value magnitude = s.select(tiny, mul(abs(x), number(0x1p54)), abs(x));
  Value logarithm = isDouble ? log2(magnitude) : fastLog2(magnitude);
  Value guess = exp2(mul(logarithm, number(1.0 / 3)));
  // One Newton step: y - (y³ - a) / (3 y²).
  Value square = mul(guess, guess);
  Value excess = fma(square, guess, negate(magnitude));
  Value better = sub(guess, divideFast(excess, mul(square, number(3))));
  Value regular =
      s.make<arith::AndIOp>(less(number(0), magnitude), less(magnitude, number(INFINITY)));
  Value root = s.select(regular, better, magnitude);
  return copySign(s.select(tiny, mul(root, number(0x1p-18)), root), x);
}

//===-- powers
//-------------------------------------------------------------------------------===//

/// log2 m = 2 atanh(t) / ln(2) for t = (m - 1) / (m + 1), of which quotient and
/// first term are kept in two parts each. The rest has less than a hundredth of
/// the sum, so that it may be rounded. Products that are added to are fused by
/// name: a target that may fuse them or not would lose, or count twice, what
/// the product's rounding left.
std::pair<Value, Value> MathBuilder::log2InTwo(Value x) const {
  auto [m, e] = splitMantissa(x);
  Value numerator = sub(m, number(1)), denominator = add(m, number(1));
  Value lost = sub(m, sub(denominator, number(1)));
  Value inverse = reciprocalFast(denominator), t = mul(numerator, inverse);
  Value excess = fma(negate(t), lost, fma(negate(t), denominator, numerator));
  Value tRest = mul(excess, inverse), z = mul(t, t);
  SmallVector<double> c{9.6179669229e-01, 5.7707978559e-01, 4.1189997804e-01, 3.3662277589e-01};
  if (isDouble) {
    c.clear();
    for (int n = 3; n <= 23; n += 2)
      c.push_back(2 * log2e / n);
  }
  // 2 / ln(2) and what it leaves in f32 and in f64.
  double factor = isDouble ? 0x1.71547652b82fep+1 : 0x1.715476p+1;
  double factorRest = isDouble ? 0x1.777d0ffda0d24p-55 : 2 * log2e - factor;
  Value rest = fma(tRest, number(factor), mul(t, number(factorRest)));
  rest = fma(mul(t, z), polynomial(c, z), rest);
  // The exponent is zero or the larger, so that taking it off again is exact.
  Value sum = fma(t, number(factor), e);
  Value bounded = s.select(less(x, number(INFINITY)), sum, x);
  Value high = s.select(equal(x, number(0)), number(-INFINITY), bounded);
  return {high, add(fma(t, number(factor), negate(sub(sum, e))), rest)};
}

/// What `magnitude`, |x|^y, becomes by x's sign, and where one of both decides
/// alone.
Value MathBuilder::finishPower(Value x, Value y, Value magnitude) const {
  Value whole = equal(y, s.make<math::FloorOp>(y));
  Value half = mul(y, number(0.5));
  Value even = equal(half, s.make<math::FloorOp>(half));
  Value odd = s.make<arith::AndIOp>(whole, s.make<arith::XOrIOp>(even, s.boolean(true)));
  Value negative = less(x, number(0));
  Value signedResult = s.select(odd, copySign(magnitude, x), magnitude);
  Value hasNone = s.make<arith::AndIOp>(negative, less(number(-INFINITY), x));
  Value result = s.select(hasNone, s.select(whole, signedResult, number(NAN)), signedResult);
  // x^0 and 1^y are 1 whatever the other is, and so is (-1)^y for an infinite
  // y.
  Value one = s.make<arith::OrIOp>(equal(y, number(0)), equal(x, number(1)));
  Value unit = s.make<arith::AndIOp>(equal(abs(x), number(1)), equal(abs(y), number(INFINITY)));
  return s.select(s.make<arith::OrIOp>(one, unit), number(1), result);
}

Value MathBuilder::pow(Value x, Value y) const {
  auto [high, low] = log2InTwo(abs(x));
  Value product = mul(y, high);
  Value rest = fma(y, low, fma(y, high, negate(product)));
  return finishPower(x, y, exp2OfSum(product, rest));
}

Value MathBuilder::fastPow(Value x, Value y) const { return exp2(mul(y, fastLog2(x))); }

//===-- remainders
//---------------------------------------------------------------------------===//

/// x = m 2^e for positive finite x, m in [1, 2); something finite for others.
std::pair<Value, Value> MathBuilder::splitBinary(Value x) const {
  OpBuilder &b = s.builder();
  unsigned width = isDouble ? 64 : 32, mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  Type word = b.getIntegerType(width);
  Value tiny = less(x, number(isDouble ? 0x1p-1022 : 0x1p-126));
  Value lifted = s.select(tiny, mul(x, number(std::ldexp(1.0, mantissa))), x);
  Value bits = s.bitcast(lifted, word);
  Value m = s.bitcast(s.bitOr(s.bitAnd(bits, (int64_t(1) << mantissa) - 1),
                              s.integer(word, int64_t(bias) << mantissa)),
                      type);
  Value field = s.shiftRight(bits, mantissa);
  Value e = isDouble ? s.make<arith::TruncIOp>(b.getI32Type(), field) : field;
  return {m,
          s.make<arith::SubIOp>(e, s.select(tiny, s.i32(int64_t(bias) + mantissa), s.i32(bias)))};
}

/// Long division with digits of 2^16 (f64: 2^32): r and m are whole numbers of
/// m's last place. Each step shifts r by a digit and takes off a multiple of m,
/// exactly, as what is left is below m. The quotient is estimated from above,
/// by less than one too much.
Value MathBuilder::remainder(Value x, Value y) const {
  Value a = abs(x), b = abs(y);
  auto [first, top] = splitBinary(a);
  auto [divisor, bottom] = splitBinary(b);
  Value m = divisor;
  unsigned digit = isDouble ? 32 : 16;
  Value inverse = mul(divideFast(number(1), m), number(isDouble ? 1 + 0x1p-46 : 1 + 0x1p-20));
  // No step at all where the difference of exponents is negative.
  Value difference = s.make<arith::SubIOp>(top, bottom);
  Value steps =
      s.make<arith::AddIOp>(s.make<arith::ShRSIOp>(difference, s.i32(isDouble ? 5 : 4)), s.i32(1));
  Value factor = power2(s.bitAnd(difference, int64_t(digit - 1)));
  auto loop = scf::ForOp::create(
      s.builder(), s.location(), s.i32(0), steps, s.i32(1), ValueRange{first, factor},
      [&](OpBuilder &builder, Location loc, Value, ValueRange carried) {
        ScalarBuilder inner(builder, loc);
        MathBuilder f(inner, device, type);
        Value shifted = f.mul(carried[0], carried[1]);
        Value quotient = inner.make<math::TruncOp>(f.mul(shifted, inverse));
        Value rest = f.fma(f.negate(quotient), m, shifted);
        rest = inner.select(f.less(rest, f.number(0)), f.add(rest, m), rest);
        scf::YieldOp::create(builder, loc, ValueRange{rest, f.number(std::ldexp(1.0, int(digit)))});
      });
  Value rest = s.select(less(a, b), a, scale(loop.getResult(0), bottom));
  Value valid = s.make<arith::AndIOp>(less(a, number(INFINITY)), less(number(0), b));
  return copySign(s.select(valid, rest, number(NAN)), x);
}

} // namespace kiln
