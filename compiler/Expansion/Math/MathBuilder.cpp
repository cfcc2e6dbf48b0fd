// What the formulas are written in, logarithms and trigonometry.

#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double ln2 = 0.693147180559945309417, log2e = 1.44269504088896340736,
                        log10of2 = 0.301029995663981195214, log10e = 0.434294481903251827651,
                        pi = 3.14159265358979323846;

//===-- building blocks -------------------------------------------------------------------===//

Value MathBuilder::add(Value x, Value y) const { return b.make<arith::AddFOp>(x, y); }
Value MathBuilder::sub(Value x, Value y) const { return b.make<arith::SubFOp>(x, y); }
Value MathBuilder::mul(Value x, Value y) const { return b.make<arith::MulFOp>(x, y); }
Type MathBuilder::wordType() const {
  return vectorOf(b.builder.getIntegerType(isDouble ? 64 : 32), laneCount(type));
}
Value MathBuilder::bitsOf(Value x) const { return b.bitcast(x, laneType(wordType())); }
Value MathBuilder::floatOf(Value word) const { return b.bitcast(word, laneType(type)); }

Value MathBuilder::divideFast(Value x, Value y) const {
  Value quick = isDouble ? Value() : target.divide(b, x, y);
  return quick ? quick : b.make<arith::DivFOp>(x, y);
}
Value MathBuilder::reciprocalFast(Value x) const {
  Value quick = isDouble ? Value() : target.reciprocal(b, x);
  return quick ? quick : divideFast(number(1), x);
}
Value MathBuilder::fma(Value x, Value y, Value z) const {
  if (target.hasFMA())
    return b.make<math::FmaOp>(x, y, z);
  assert(!isDouble && "f64 is the functions' of a library where nothing is fused");
  // The product is exact in f64; the sum is rounded there, and once more, which differs from once
  // in very few.
  Type wide = b.builder.getF64Type();
  Value product = b.make<arith::MulFOp>(b.extendFloat(x, wide), b.extendFloat(y, wide));
  return b.truncateFloat(b.make<arith::AddFOp>(product, b.extendFloat(z, wide)), laneType(type));
}
Value MathBuilder::mad(Value x, Value y, Value z) const {
  return target.hasFMA() ? b.make<math::FmaOp>(x, y, z) : add(mul(x, y), z);
}
Value MathBuilder::divideClosely(Value x, Value y) const {
  if (isExact())
    return b.make<arith::DivFOp>(x, y);
  Value inverse = divideFast(number(1), y), quotient = mul(x, inverse);
  return fma(fma(negate(quotient), y, x), inverse, quotient);
}
Value MathBuilder::divideScaled(Value x, Value y) const {
  if (isExact())
    return b.make<arith::DivFOp>(x, y);
  Value small = b.select(less(y, number(0x1p-64)), number(0x1p64), number(1));
  Value factor = b.select(less(number(0x1p64), y), number(0x1p-64), small);
  return divideClosely(mul(x, factor), mul(y, factor));
}
Value MathBuilder::sqrtClosely(Value x) const {
  if (isExact())
    return sqrt(x);
  Value inverse = target.reciprocalSqrt(b, x), root = mul(x, inverse);
  Value closer = fma(fma(negate(root), root, x), mul(inverse, number(0.5)), root);
  return b.select(equal(x, number(0)), x, closer);
}
Value MathBuilder::negate(Value x) const { return b.make<arith::NegFOp>(x); }
Value MathBuilder::abs(Value x) const { return b.make<math::AbsFOp>(x); }
Value MathBuilder::sqrt(Value x) const { return b.make<math::SqrtOp>(x); }
Value MathBuilder::copySign(Value magnitude, Value sign) const {
  return b.make<math::CopySignOp>(magnitude, sign);
}
Value MathBuilder::roundEven(Value x) const { return b.make<math::RoundEvenOp>(x); }
Value MathBuilder::less(Value x, Value y) const {
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
}
Value MathBuilder::equal(Value x, Value y) const {
  return b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
}

Value MathBuilder::polynomial(ArrayRef<double> c, Value x) const {
  Value sum = number(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = mad(sum, x, number(coefficient));
  return sum;
}

//===-- logarithms ------------------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::splitMantissa(Value x) const {
  unsigned mantissa = isDouble ? 52 : 23;
  // Denormals gain an exponent field first.
  Value tiny = less(x, number(isDouble ? 0x1p-1022 : 0x1p-126));
  Value normal = b.select(tiny, mul(x, number(std::ldexp(1.0, mantissa + 2))), x);
  Value word = bitsOf(normal);
  if (!isDouble) {
    Value field = exponentField(word), m = floatOf(b.sub(word, field));
    Value bias = b.select(tiny, number(-25), number(0));
    return {m, mad(b.make<arith::SIToFPOp>(type, field), number(0x1p-23), bias)};
  }
  // Subtracting sqrt(1/2) leaves the exponent of the nearest power in the field.
  int64_t root = 0x3FE6A09E667F3BCD;
  Value exponent = b.shiftRight(b.sub(word, b.integer(root, word)), mantissa, true);
  Value m = floatOf(b.sub(word, b.shiftLeft(exponent, mantissa)));
  Value e = b.make<arith::SIToFPOp>(type, exponent);
  return {m, b.select(tiny, sub(e, number(mantissa + 2)), e)};
}

/// log(1 + f) - f of f32, for 1 + f in [sqrt(1/2), sqrt(2)).
Value MathBuilder::logRest(Value f) const {
  const double c[] = {3.3333331180e-01,  -2.4999996958e-01, 2.0000715749e-01,
                      -1.6667802319e-01, 1.4249057647e-01,  -1.2425687337e-01,
                      1.1685419916e-01,  -1.1479733811e-01, 6.9716114434e-02};
  Value square = mul(f, f);
  Value high = mul(mul(square, f), polynomial(c, f));
  return mad(square, number(-0.5), high);
}

/// The exponent of the power of two for which x is nearest to 1 in [sqrt(1/2), sqrt(2)), in its
/// place among the bits of f32.
Value MathBuilder::exponentField(Value word) const {
  return b.bitAnd(b.sub(word, b.integer(0x3F3504F3, word)), b.integer(-0x800000, word));
}

MathBuilder::Log MathBuilder::splitLog(Value x) const {
  auto [m, e] = splitMantissa(x);
  Value f = sub(m, number(1));
  if (!isDouble)
    return {f, logRest(f), e};
  // log(1 + f) = 2 atanh(f / (2 + f)).
  Value t = b.make<arith::DivFOp>(f, add(f, number(2))), z = mul(t, t);
  SmallVector<double> c;
  for (int n = 1; n <= 23; n += 2)
    c.push_back(2.0 / n);
  return {mul(t, polynomial(c, z)), {}, e};
}

/// The values at the ends of the domain.
Value MathBuilder::finishLog(Value x, Value result) const {
  Value infinity = number(INFINITY);
  if (!isDouble) {
    // The bits of what is negative, infinite or NaN are the largest, as unsigned numbers; all but
    // infinity become NaN.
    Value word = bitsOf(x);
    Value isSpecial = b.compare(arith::CmpIPredicate::uge, word, b.integer(0x7F800000, word));
    Value bounded = b.select(isSpecial, mad(x, infinity, infinity), result);
    return b.select(equal(x, number(0)), number(-INFINITY), bounded);
  }
  Value bounded = b.select(less(x, infinity), result, x);
  Value positive = b.select(less(number(0), x), bounded, number(NAN));
  return b.select(equal(x, number(0)), number(-INFINITY), positive);
}

Value MathBuilder::log(Value x) const {
  Log part = splitLog(x);
  Value m = part.rest ? add(part.leading, part.rest) : part.leading;
  return finishLog(x, mad(part.exponent, number(ln2), m));
}

Value MathBuilder::log2(Value x) const {
  Log part = splitLog(x);
  if (isDouble)
    return finishLog(x, mad(part.leading, number(log2e), part.exponent));
  // The factor less 1, so that what is left to round is small beside the
  // leading part.
  Value rest = mad(part.leading, number(log2e - 1), mul(part.rest, number(log2e)));
  return finishLog(x, add(part.exponent, add(part.leading, rest)));
}

Value MathBuilder::log10(Value x) const {
  Log part = splitLog(x);
  if (isDouble)
    return finishLog(x, mad(part.exponent, number(log10of2), mul(part.leading, number(log10e))));
  // Both factors in two parts, the first with few digits.
  constexpr double factor = 0.4375, ofExponent = 0.301025390625;
  Value rest = mad(part.leading, number(log10e - factor), mul(part.rest, number(log10e)));
  rest = mad(part.exponent, number(log10of2 - ofExponent), rest);
  return finishLog(x,
                   mad(part.exponent, number(ofExponent), mad(part.leading, number(factor), rest)));
}

Value MathBuilder::log2Fast(Value x) const {
  Value quick = isDouble ? Value() : target.log2(b, x);
  return quick ? quick : log2(x);
}

Value MathBuilder::log1p(Value x) const {
  if (!isDouble) {
    // 1 + x = 2^e (1 + f), where f is x 2^-e and 2^-e - 1.
    Value u = add(number(1), x), field = exponentField(bitsOf(u));
    // Four times that power, as the least has no exponent field.
    Value inverse = floatOf(b.sub(b.integer(0x40800000, field), field));
    Value f = add(floatOf(b.sub(bitsOf(x), field)), mad(inverse, number(0.25), number(-1)));
    Value e = b.make<arith::SIToFPOp>(type, field);
    Value result = mad(e, number(ln2 * 0x1p-23), add(f, logRest(f)));
    return copySign(finishLog(u, result), x);
  }
  // log(u) for the rounded u = 1 + x, and the first-order effect of what was
  // rounded off.
  Value u = add(number(1), x);
  Value lost = sub(x, sub(u, number(1)));
  Value corrected = copySign(add(log(u), divideFast(lost, u)), x);
  Value regular = b.make<arith::AndIOp>(less(number(-1), x), less(x, number(INFINITY)));
  return b.select(regular, corrected, log(u));
}

//===-- trigonometry ----------------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::sineAndCosine(Value r) const {
  Value z = mul(r, r);
  if (!isDouble) {
    const double forSin[] = {-1.666665524e-01, 8.332187310e-03, -1.951780723e-04};
    const double forCos[] = {-0.5, 4.166664556e-02, -1.388730714e-03, 2.443188168e-05};
    // A zero that is added makes the cube of -0 positive, so that the sum with -0 is -0.
    return {mad(polynomial(forSin, z), mad(z, r, number(0)), r),
            mad(z, polynomial(forCos, z), number(1))};
  }
  SmallVector<double> forSin, forCos;
  double factorial = 6;
  for (int k = 3; k <= 19; k += 2, factorial *= double(k) * (k - 1))
    forSin.push_back((k / 2 % 2 ? -1 : 1) / factorial);
  factorial = 24;
  for (int k = 4; k <= 20; k += 2, factorial *= double(k) * (k - 1))
    forCos.push_back((k / 2 % 2 ? -1 : 1) / factorial);
  return {mad(mul(z, r), polynomial(forSin, z), r),
          mad(mul(z, z), polynomial(forCos, z), mad(z, number(-0.5), number(1)))};
}

Value MathBuilder::hasBit(Value word, int64_t bit) const {
  return b.compare(arith::CmpIPredicate::ne, b.bitAnd(word, b.integer(bit, word)),
                   b.integer(0, word));
}

Value MathBuilder::sinOrCos(Value x, Reduced angle, int quarter) const {
  auto [r, turns] = angle;
  auto [sine, cosine] = sineAndCosine(r);
  Value quadrant = b.add(turns, b.integer(quarter, turns));
  Value chosen = b.select(hasBit(quadrant, 1), cosine, sine);
  if (!isDouble) {
    // The second bit becomes the sign's.
    Value sign = b.bitAnd(b.shiftLeft(quadrant, 30), b.integer(INT32_MIN, quadrant));
    return floatOf(b.make<arith::XOrIOp>(bitsOf(chosen), sign));
  }
  Value result = b.select(hasBit(quadrant, 2), negate(chosen), chosen);
  // The reduction loses the sign of a zero.
  return quarter == 0 ? b.select(equal(x, number(0)), x, result) : result;
}

Value MathBuilder::tan(Value x, Reduced angle) const {
  auto [r, turns] = angle;
  auto [sine, cosine] = sineAndCosine(r);
  Value odd = hasBit(turns, 1);
  Value quotient = divideClosely(b.select(odd, negate(cosine), sine), b.select(odd, sine, cosine));
  return b.select(equal(x, number(0)), x, quotient);
}

Value MathBuilder::atan(Value x) const {
  Value magnitude = abs(x);
  Value large = less(number(1), magnitude);
  Value t = b.select(large, divideFast(number(1), magnitude), magnitude);
  SmallVector<double> c{-3.3333331733e-01, 1.9999739330e-01,  -1.4278568748e-01,
                        1.1033764115e-01,  -8.6568804299e-02, 6.2501694442e-02,
                        -3.5871538975e-02, 1.3507771423e-02,  -2.3869973158e-03};
  Value base, beyondEighth;
  if (isDouble) {
    // From tan(pi/8) on, atan(t) = pi/4 + atan((t - 1) / (t + 1)).
    c = {-0.33333333333333333,  0.19999999999999803,  -0.14285714285659327,  0.11111111105106705,
         -0.090909087510766359, 0.076922963049744701, -0.066664236280692576, 0.058789145444006217,
         -0.052303478730160742, 0.045511081263251719, -0.034558092551413797, 0.016271944751624062};
    beyondEighth = less(number(0.41421356237309503), t);
    base = b.select(beyondEighth, number(pi / 4), number(0));
    Value turned = b.make<arith::DivFOp>(sub(t, number(1)), add(t, number(1)));
    t = b.select(beyondEighth, turned, t);
  }
  Value z = mul(t, t);
  Value angle = mad(mul(z, t), polynomial(c, z), t);
  if (isDouble)
    angle = add(base, angle);
  return copySign(b.select(large, sub(number(pi / 2), angle), angle), x);
}

Value MathBuilder::atan2(Value y, Value x) const {
  Value ay = abs(y), ax = abs(x);
  // Of the two quotients the one that is at most 1; equal infinities give 1.
  Value steep = less(ax, ay);
  Value small = b.select(steep, ax, ay), large = b.select(steep, ay, ax);
  Value ratio = b.select(less(large, number(INFINITY)), divideScaled(small, large), number(0));
  ratio = b.select(equal(small, large), number(1), ratio);
  ratio = b.select(equal(large, number(0)), number(0), ratio);
  Value angle = atan(ratio);
  angle = b.select(steep, sub(number(pi / 2), angle), angle);
  // The sign of x counts also where it is zero.
  Value leftward = less(copySign(number(1), x), number(0));
  angle = b.select(leftward, sub(number(pi), angle), angle);
  Value unordered = b.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y);
  return b.select(unordered, number(NAN), copySign(angle, y));
}

/// asin of |x| up to 1/2, or acos of |x| above by 2 asin(sqrt((1 - |x|) / 2)); and whether it is
/// the latter. Of f32.
std::pair<Value, Value> MathBuilder::arcus(Value x) const {
  const double c[] = {1.666665971e-01, 7.500518113e-02, 4.451467469e-02,
                      3.182431310e-02, 1.438287739e-02, 3.758701310e-02};
  Value a = abs(x), isLarge = less(number(0.5), a);
  Value half = mad(a, number(-0.5), number(0.5));
  Value z = b.select(isLarge, half, mul(x, x)), s = b.select(isLarge, sqrtClosely(half), a);
  return {mad(mul(s, z), polynomial(c, z), s), isLarge};
}

Value MathBuilder::asin(Value x) const {
  if (!isDouble) {
    auto [angle, isLarge] = arcus(x);
    return copySign(b.select(isLarge, mad(angle, number(-2), number(pi / 2)), angle), x);
  }
  return atan2(x, sqrtClosely(mul(sub(number(1), x), add(number(1), x))));
}
Value MathBuilder::acos(Value x) const {
  if (!isDouble) {
    auto [angle, isLarge] = arcus(x);
    Value isNegative = less(x, number(0));
    Value large = mad(b.select(isNegative, number(-2), number(2)), angle,
                      b.select(isNegative, number(pi), number(0)));
    return b.select(isLarge, large, sub(number(pi / 2), copySign(angle, x)));
  }
  return atan2(sqrtClosely(mul(sub(number(1), x), add(number(1), x))), x);
}

//===-- inverse hyperbolic functions ------------------------------------------------------===//

Value MathBuilder::asinh(Value x) const {
  Value a = abs(x), square = mul(a, a), root = sqrtClosely(add(square, number(1)));
  Value inner = add(a, divideClosely(square, add(number(1), root)));
  return copySign(log1pOrDouble(a, inner), x);
}

Value MathBuilder::acosh(Value x) const {
  Value t = sub(x, number(1));
  Value inner = add(t, sqrtClosely(mul(t, add(x, number(1)))));
  return b.select(less(x, number(1)), number(NAN), log1pOrDouble(x, inner));
}

/// log(1 + inner), or log(2 a) where the inner one's squares may have become
/// infinite.
Value MathBuilder::log1pOrDouble(Value a, Value inner) const {
  Value regular = less(a, number(isDouble ? 1e150 : 1e18));
  return add(log1p(b.select(regular, inner, a)), b.select(regular, number(0), number(ln2)));
}

Value MathBuilder::atanh(Value x) const {
  Value a = abs(x), logarithm = log1p(divideClosely(add(a, a), sub(number(1), a)));
  logarithm = b.select(equal(a, number(1)), number(INFINITY), logarithm);
  return copySign(mul(logarithm, number(0.5)), x);
}

} // namespace kiln
