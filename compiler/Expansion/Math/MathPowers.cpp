// Roots and powers, and the remainder, which is a division's without rounding.

#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double log2e = 1.44269504088896340736;

//===-- roots -----------------------------------------------------------------------------===//

Value MathBuilder::rsqrt(Value x) const {
  if (isDouble)
    return b.make<arith::DivFOp>(number(1), sqrt(x));
  Type f64 = b.builder.getF64Type();
  if (isExact()) {
    // In f64 nothing but the result is rounded.
    Value root = sqrt(b.extendFloat(x, f64));
    return b.truncateFloat(b.make<arith::DivFOp>(b.real(1, root), root), laneType(type));
  }
  // One step of Newton's in f64, which leaves nothing to round but the result.
  // Small numbers are scaled, as not every target's instruction takes
  // denormals.
  Value tiny = less(x, number(0x1p-100));
  Value scaled = b.select(tiny, mul(x, number(0x1p64)), x),
        guess = target.reciprocalSqrt(b, scaled);
  Value y = b.extendFloat(guess, f64), product = mul(b.extendFloat(scaled, f64), y);
  Value error = fma(negate(product), y, b.real(1, y));
  Value exact = fma(mul(y, error), fma(error, b.real(0.375, y), b.real(0.5, y)), y);
  Value regular = b.bitAnd(less(number(0), x), less(x, number(INFINITY)));
  Value rounded = b.select(regular, b.truncateFloat(exact, laneType(type)), guess);
  return b.select(tiny, mul(rounded, number(0x1p32)), rounded);
}

Value MathBuilder::cbrt(Value x) const {
  if (!isDouble) {
    Value magnitude = abs(x), guess = exp2(mul(log2Fast(magnitude), number(1.0 / 3)));
    // One Newton step: y - (y - a / y²) / 3. Zeros and infinite numbers are their doubles.
    Value excess = mad(negate(magnitude), reciprocalFast(mul(guess, guess)), guess);
    Value better = mad(excess, number(-1.0 / 3), guess);
    return copySign(b.select(equal(add(x, x), x), magnitude, better), x);
  }
  // Denormals have too few digits for the correction: a power of 8 lifts them.
  Value tiny = less(abs(x), number(0x1p-900));
  Value magnitude = b.select(tiny, mul(abs(x), number(0x1p54)), abs(x));
  Value logarithm = log2Fast(magnitude);
  Value guess = exp2(mul(logarithm, number(1.0 / 3)));
  // One Newton step: y - (y³ - a) / (3 y²).
  Value square = mul(guess, guess);
  Value excess = mad(square, guess, negate(magnitude));
  Value better = sub(guess, divideFast(excess, mul(square, number(3))));
  Value regular =
      b.make<arith::AndIOp>(less(number(0), magnitude), less(magnitude, number(INFINITY)));
  Value root = b.select(regular, better, magnitude);
  return copySign(b.select(tiny, mul(root, number(0x1p-18)), root), x);
}

Value MathBuilder::roundAway(Value x) const {
  // The largest number below 1/2, as 1/2 itself would lift that to 1.
  Value half = number(isDouble ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2);
  return b.make<math::TruncOp>(add(x, copySign(half, x)));
}

//===-- powers ----------------------------------------------------------------------------===//

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
  Value rest = mad(tRest, number(factor), mul(t, number(factorRest)));
  rest = mad(mul(t, z), polynomial(c, z), rest);
  // The exponent is zero or the larger, so that taking it off again is exact.
  Value sum = fma(t, number(factor), e);
  Value bounded = b.select(less(x, number(INFINITY)), sum, x);
  Value high = b.select(equal(x, number(0)), number(-INFINITY), bounded);
  return {high, add(fma(t, number(factor), negate(sub(sum, e))), rest)};
}

/// What `magnitude`, |x|^y, becomes by x's sign, and where one of both decides
/// alone.
Value MathBuilder::finishPower(Value x, Value y, Value magnitude) const {
  Value whole = equal(y, b.make<math::FloorOp>(y));
  Value half = mul(y, number(0.5));
  Value even = equal(half, b.make<math::FloorOp>(half));
  Value odd = b.make<arith::AndIOp>(whole, b.make<arith::XOrIOp>(even, b.integer(true, even)));
  Value negative = less(x, number(0));
  Value signedResult = b.select(odd, copySign(magnitude, x), magnitude);
  Value hasNone = b.make<arith::AndIOp>(negative, less(number(-INFINITY), x));
  Value result = b.select(hasNone, b.select(whole, signedResult, number(NAN)), signedResult);
  // x^0 and 1^y are 1 whatever the other is, and so is (-1)^y for an infinite
  // y.
  Value one = b.make<arith::OrIOp>(equal(y, number(0)), equal(x, number(1)));
  Value unit = b.make<arith::AndIOp>(equal(abs(x), number(1)), equal(abs(y), number(INFINITY)));
  return b.select(b.make<arith::OrIOp>(one, unit), number(1), result);
}

Value MathBuilder::pow(Value x, Value y) const {
  auto [high, low] = log2InTwo(abs(x));
  Value product = mul(y, high);
  Value rest = mad(y, low, fma(y, high, negate(product)));
  return finishPower(x, y, exp2OfSum(product, rest));
}

//===-- remainders ------------------------------------------------------------------------===//

/// x = m 2^e for positive finite x, m in [1, 2); something finite for others.
std::pair<Value, Value> MathBuilder::splitBinary(Value x) const {
  unsigned mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  Value tiny = less(x, number(isDouble ? 0x1p-1022 : 0x1p-126));
  Value lifted = b.select(tiny, mul(x, number(std::ldexp(1.0, mantissa))), x);
  Value bits = bitsOf(lifted);
  Value m = floatOf(b.bitOr(b.bitAnd(bits, b.integer((int64_t(1) << mantissa) - 1, bits)),
                            b.integer(int64_t(bias) << mantissa, bits)));
  Value e = b.resize(b.shiftRight(bits, mantissa, false), b.builder.getI32Type());
  Value excess = b.select(tiny, b.integer(int64_t(bias) + mantissa, e), b.integer(bias, e));
  return {m, b.sub(e, excess)};
}

/// Long division with digits of 2^16 (f64: 2^32): r and m are whole numbers of
/// m's last place. Each step shifts r by a digit and takes off a multiple of m,
/// exactly, as what is left is below m. The quotient is estimated from above,
/// by less than one too much.
Value MathBuilder::remainder(Value x, Value y) const {
  Value dividend = abs(x), modulus = abs(y);
  auto [first, top] = splitBinary(dividend);
  auto [divisor, bottom] = splitBinary(modulus);
  Value m = divisor;
  unsigned digit = isDouble ? 32 : 16;
  Value inverse = mul(divideFast(number(1), m), number(isDouble ? 1 + 0x1p-46 : 1 + 0x1p-20));
  // No step at all where the difference of exponents is negative.
  Value difference = b.sub(top, bottom), one = b.integer(1, difference);
  Value steps = b.add(b.shiftRight(difference, isDouble ? 5 : 4, true), one);
  Value factor = power2(b.bitAnd(difference, b.integer(digit - 1, difference)));
  auto loop = scf::ForOp::create(
      b.builder, b.loc, b.integer(0, difference), steps, one, ValueRange{first, factor},
      [&](OpBuilder &builder, Location loc, Value, ValueRange carried) {
        VectorBuilder inner(builder, loc);
        MathBuilder f(inner, target, type);
        Value shifted = f.mul(carried[0], carried[1]);
        Value quotient = inner.make<math::TruncOp>(f.mul(shifted, inverse));
        Value rest = f.fma(f.negate(quotient), m, shifted);
        rest = inner.select(f.less(rest, f.number(0)), f.add(rest, m), rest);
        scf::YieldOp::create(builder, loc, ValueRange{rest, f.number(std::ldexp(1.0, int(digit)))});
      });
  Value rest = b.select(less(dividend, modulus), dividend, scale(loop.getResult(0), bottom));
  Value valid = b.bitAnd(less(dividend, number(INFINITY)), less(number(0), modulus));
  return copySign(b.select(valid, rest, number(NAN)), x);
}

} // namespace kiln
