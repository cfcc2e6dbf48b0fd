// Elementary functions of f32 and f64 as sequences of additions, multiplications and selects.

#include "compiler/Conversion/TileGPUToLLVM/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double ln2 = 0.693147180559945309417, log2e = 1.44269504088896340736,
                        log2of10 = 3.32192809488736234787, log10of2 = 0.301029995663981195214,
                        pi = 3.14159265358979323846;

//===-- building blocks ----------------------------------------------------------------------===//

Value MathBuilder::add(Value a, Value b) const { return s.make<arith::AddFOp>(a, b); }
Value MathBuilder::sub(Value a, Value b) const { return s.make<arith::SubFOp>(a, b); }
Value MathBuilder::mul(Value a, Value b) const { return s.make<arith::MulFOp>(a, b); }
Value MathBuilder::divide(Value a, Value b) const {
  Value quick;
  if (!isDouble)
    quick = device.divideApproximately(s.builder(), s.location(), a, b);
  return quick ? quick : s.make<arith::DivFOp>(a, b);
}
Value MathBuilder::fma(Value a, Value b, Value c) const {
  return LLVM::FMAOp::create(s.builder(), s.location(), a, b, c);
}
Value MathBuilder::abs(Value x) const { return s.make<math::AbsFOp>(x); }
Value MathBuilder::sqrt(Value x) const { return s.make<math::SqrtOp>(x); }
Value MathBuilder::copySign(Value magnitude, Value sign) const {
  return s.make<math::CopySignOp>(magnitude, sign);
}
Value MathBuilder::roundEven(Value x) const { return s.make<math::RoundEvenOp>(x); }
Value MathBuilder::less(Value a, Value b) const {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, b);
}
Value MathBuilder::equal(Value a, Value b) const {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b);
}

Value MathBuilder::polynomial(ArrayRef<double> c, Value x) const {
  Value sum = number(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, number(coefficient));
  return sum;
}

//===-- exponentials -------------------------------------------------------------------------===//

/// 2^n, by its exponent field.
Value MathBuilder::power2(Value n) const {
  OpBuilder &b = s.builder();
  Type bits = b.getIntegerType(isDouble ? 64 : 32);
  Value wide = isDouble ? s.make<arith::ExtSIOp>(bits, n) : n;
  Value biased = s.make<arith::AddIOp>(wide, s.integer(bits, isDouble ? 1023 : 127));
  return s.bitcast(s.shiftLeft(biased, isDouble ? 52 : 23), type);
}

Value MathBuilder::scale(Value x, Value n) const {
  // In two steps, so that results near the ends of the range are reached without overflow.
  Value half = s.make<arith::ShRSIOp>(n, s.i32(1));
  return mul(mul(x, power2(half)), power2(s.make<arith::SubIOp>(n, half)));
}

/// exp(r) for |r| <= ln(2)/2 in f64: the Taylor series.
Value MathBuilder::expReduced(Value r) const {
  SmallVector<double> c;
  double factorial = 1;
  for (int n = 0; n <= 13; ++n) {
    c.push_back(1 / factorial);
    factorial *= n + 1;
  }
  return polynomial(c, r);
}

Value MathBuilder::exp2(Value x) const {
  if (!isDouble) {
    // Without it each is three instructions more, for results that few ask for.
    if (Value quick = device.exp2(s.builder(), s.location(), x))
      return quick;
    return LLVM::Exp2Op::create(s.builder(), s.location(), x);
  }
  Value limited =
      s.make<arith::MaximumFOp>(s.make<arith::MinimumFOp>(x, number(1100)), number(-1100));
  Value n = roundEven(limited);
  Value r = mul(sub(limited, n), number(ln2));
  return scale(expReduced(r), s.make<arith::FPToSIOp>(s.builder().getI32Type(), n));
}

Value MathBuilder::exp(Value x) const {
  if (!isDouble)
    return exp2(mul(x, number(log2e)));
  Value limited =
      s.make<arith::MaximumFOp>(s.make<arith::MinimumFOp>(x, number(760)), number(-760));
  Value n = roundEven(mul(limited, number(log2e)));
  // ln(2) in two parts, the first with zeros at the end.
  constexpr double high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
  Value r = fma(n, number(-low), fma(n, number(-high), limited));
  return scale(expReduced(r), s.make<arith::FPToSIOp>(s.builder().getI32Type(), n));
}

Value MathBuilder::exp10(Value x) const { return exp2(mul(x, number(log2of10))); }

Value MathBuilder::expm1(Value x) const {
  SmallVector<double> c{5.0000001216e-01, 1.6666666802e-01, 4.1665791230e-02,
                        8.3332361335e-03, 1.3982186046e-03, 1.9944874458e-04};
  if (isDouble) {
    c.clear();
    double factorial = 2;
    for (int n = 2; n <= 15; ++n, factorial *= n)
      c.push_back(1 / factorial);
  }
  Value near = copySign(fma(mul(x, x), polynomial(c, x), x), x);
  return s.select(less(abs(x), number(0.5)), near, sub(exp(x), number(1)));
}

//===-- logarithms ---------------------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::splitLog(Value x) const {
  OpBuilder &b = s.builder();
  unsigned mantissa = isDouble ? 52 : 23;
  Type bits = b.getIntegerType(isDouble ? 64 : 32);
  // Denormals gain an exponent field first.
  Value tiny = less(x, number(isDouble ? 0x1p-1022 : 0x1p-126));
  Value normal = s.select(tiny, mul(x, number(std::ldexp(1.0, mantissa + 2))), x);
  Value word = s.bitcast(normal, bits);
  // Subtracting sqrt(1/2) leaves the exponent of the nearest power in the field.
  int64_t root = isDouble ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  Value exponent = s.make<arith::ShRSIOp>(s.make<arith::SubIOp>(word, s.integer(bits, root)),
                                          s.integer(bits, mantissa));
  Value m = s.bitcast(s.make<arith::SubIOp>(word, s.shiftLeft(exponent, mantissa)), type);
  Value e = s.make<arith::SIToFPOp>(type, exponent);
  e = s.select(tiny, sub(e, number(mantissa + 2)), e);
  Value f = sub(m, number(1));
  if (!isDouble) {
    const double c[] = {3.3333331180e-01,  -2.4999996958e-01, 2.0000715749e-01,
                        -1.6667802319e-01, 1.4249057647e-01,  -1.2425687337e-01,
                        1.1685419916e-01,  -1.1479733811e-01, 6.9716114434e-02};
    Value square = mul(f, f);
    Value high = mul(mul(square, f), polynomial(c, f));
    return {add(f, fma(square, number(-0.5), high)), e};
  }
  // log(1 + f) = 2 atanh(f / (2 + f)).
  Value t = s.make<arith::DivFOp>(f, add(f, number(2))), z = mul(t, t);
  SmallVector<double> c;
  for (int n = 1; n <= 23; n += 2)
    c.push_back(2.0 / n);
  return {mul(t, polynomial(c, z)), e};
}

/// The values at the ends of the domain.
Value MathBuilder::finishLog(Value x, Value result) const {
  Value infinity = number(INFINITY);
  Value bounded = s.select(less(x, infinity), result, x);
  Value positive = s.select(less(number(0), x), bounded, number(NAN));
  return s.select(equal(x, number(0)), number(-INFINITY), positive);
}

Value MathBuilder::log(Value x) const {
  auto [m, e] = splitLog(x);
  return finishLog(x, fma(e, number(ln2), m));
}
Value MathBuilder::log2(Value x) const {
  auto [m, e] = splitLog(x);
  return finishLog(x, fma(m, number(log2e), e));
}
Value MathBuilder::log10(Value x) const {
  auto [m, e] = splitLog(x);
  return finishLog(x, fma(e, number(log10of2), mul(m, number(log2e * log10of2))));
}

Value MathBuilder::log1p(Value x) const {
  // log(u) for the rounded u = 1 + x, and the first-order effect of what was rounded off.
  Value u = add(number(1), x);
  Value lost = sub(x, sub(u, number(1)));
  Value corrected = copySign(add(log(u), s.make<arith::DivFOp>(lost, u)), x);
  Value regular = s.make<arith::AndIOp>(less(number(-1), x), less(x, number(INFINITY)));
  return s.select(regular, corrected, log(u));
}

//===-- powers -------------------------------------------------------------------------------===//

Value MathBuilder::rsqrt(Value x) const {
  if (!isDouble)
    if (Value quick = device.reciprocalSqrt(s.builder(), s.location(), x))
      return quick;
  return s.make<arith::DivFOp>(number(1), sqrt(x));
}

Value MathBuilder::cbrt(Value x) const {
  // Denormals have too few digits for the correction: a power of 8 lifts them.
  Value tiny = less(abs(x), number(isDouble ? 0x1p-900 : 0x1p-100));
  Value magnitude = s.select(tiny, mul(abs(x), number(0x1p54)), abs(x));
  Value guess = exp2(mul(log2(magnitude), number(1.0 / 3)));
  // One Newton step: y - (y³ - a) / (3 y²).
  Value square = mul(guess, guess);
  Value excess = fma(square, guess, s.make<arith::NegFOp>(magnitude));
  Value better = sub(guess, s.make<arith::DivFOp>(excess, mul(square, number(3))));
  Value regular =
      s.make<arith::AndIOp>(less(number(0), magnitude), less(magnitude, number(INFINITY)));
  Value root = s.select(regular, better, magnitude);
  return copySign(s.select(tiny, mul(root, number(0x1p-18)), root), x);
}

Value MathBuilder::pow(Value x, Value y) const {
  Value magnitude = exp2(mul(y, log2(abs(x))));
  Value whole = equal(y, s.make<math::FloorOp>(y));
  Value half = mul(y, number(0.5));
  Value even = equal(half, s.make<math::FloorOp>(half));
  Value odd = s.make<arith::AndIOp>(whole, s.make<arith::XOrIOp>(even, s.boolean(true)));
  Value negative = less(x, number(0));
  Value signedResult = s.select(odd, copySign(magnitude, x), magnitude);
  Value hasNone = s.make<arith::AndIOp>(negative, less(number(-INFINITY), x));
  Value result = s.select(hasNone, s.select(whole, signedResult, number(NAN)), signedResult);
  // x^0 and 1^y are 1 whatever the other is, and so is (-1)^y for an infinite y.
  Value one = s.make<arith::OrIOp>(equal(y, number(0)), equal(x, number(1)));
  Value unit = s.make<arith::AndIOp>(equal(abs(x), number(1)), equal(abs(y), number(INFINITY)));
  return s.select(s.make<arith::OrIOp>(one, unit), number(1), result);
}

//===-- trigonometry -------------------------------------------------------------------------===//

Value MathBuilder::sinOrCos(Value x, int quarter) const {
  auto [r, turns] = reduceToQuarter(x);
  Value z = mul(r, r);
  SmallVector<double> forSin{-1.6666666664e-01, 8.3333318747e-03, -1.9840086724e-04,
                             2.7249924912e-06};
  SmallVector<double> forCos{4.1666664659e-02, -1.3888303034e-03, 2.4547941893e-05};
  if (isDouble) {
    forSin.clear();
    forCos.clear();
    double factorial = 6;
    for (int k = 3; k <= 19; k += 2, factorial *= double(k) * (k - 1))
      forSin.push_back((k / 2 % 2 ? -1 : 1) / factorial);
    factorial = 24;
    for (int k = 4; k <= 20; k += 2, factorial *= double(k) * (k - 1))
      forCos.push_back((k / 2 % 2 ? -1 : 1) / factorial);
  }
  Value sine = fma(mul(z, r), polynomial(forSin, z), r);
  Value cosine = fma(mul(z, z), polynomial(forCos, z), fma(z, number(-0.5), number(1)));
  Type word = s.builder().getIntegerType(isDouble ? 64 : 32);
  Value quadrant = s.make<arith::AddIOp>(turns, s.integer(word, quarter));
  Value swapped = s.compare(arith::CmpIPredicate::ne, s.bitAnd(quadrant, 1), s.zero(word));
  Value negated = s.compare(arith::CmpIPredicate::ne, s.bitAnd(quadrant, 2), s.zero(word));
  Value chosen = s.select(swapped, cosine, sine);
  Value result = s.select(negated, s.make<arith::NegFOp>(chosen), chosen);
  // The reduction loses the sign of a zero.
  return quarter == 0 ? s.select(equal(x, number(0)), x, result) : result;
}

Value MathBuilder::atan(Value x) const {
  Value magnitude = abs(x);
  Value large = less(number(1), magnitude);
  Value t = s.select(large, s.make<arith::DivFOp>(number(1), magnitude), magnitude);
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
    base = s.select(beyondEighth, number(pi / 4), number(0));
    Value turned = s.make<arith::DivFOp>(sub(t, number(1)), add(t, number(1)));
    t = s.select(beyondEighth, turned, t);
  }
  Value z = mul(t, t);
  Value angle = fma(mul(z, t), polynomial(c, z), t);
  if (isDouble)
    angle = add(base, angle);
  return copySign(s.select(large, sub(number(pi / 2), angle), angle), x);
}

Value MathBuilder::atan2(Value y, Value x) const {
  Value ay = abs(y), ax = abs(x);
  // Of the two quotients the one that is at most 1; equal infinities give 1.
  Value steep = less(ax, ay);
  Value small = s.select(steep, ax, ay), large = s.select(steep, ay, ax);
  Value ratio = s.make<arith::DivFOp>(small, large);
  ratio = s.select(equal(small, large), number(1), ratio);
  ratio = s.select(equal(large, number(0)), number(0), ratio);
  Value angle = atan(ratio);
  angle = s.select(steep, sub(number(pi / 2), angle), angle);
  // The sign of x counts also where it is zero.
  Value leftward = less(copySign(number(1), x), number(0));
  angle = s.select(leftward, sub(number(pi), angle), angle);
  Value unordered = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y);
  return s.select(unordered, number(NAN), copySign(angle, y));
}

Value MathBuilder::asin(Value x) const {
  return atan2(x, sqrt(mul(sub(number(1), x), add(number(1), x))));
}
Value MathBuilder::acos(Value x) const {
  return atan2(sqrt(mul(sub(number(1), x), add(number(1), x))), x);
}

//===-- hyperbolic functions and erf ---------------------------------------------------------===//

Value MathBuilder::sinh(Value x) const {
  // (e - 1/e) / 2 with e - 1 known exactly near 0: m = e - 1, sinh = (m + m / (m + 1)) / 2.
  Value m = expm1(abs(x));
  Value sum = add(m, s.make<arith::DivFOp>(m, add(m, number(1))));
  Value bounded = s.select(less(m, number(INFINITY)), mul(sum, number(0.5)), m);
  return copySign(bounded, x);
}

Value MathBuilder::cosh(Value x) const {
  Value e = exp(abs(x));
  return mul(add(e, s.make<arith::DivFOp>(number(1), e)), number(0.5));
}

Value MathBuilder::tanh(Value x) const {
  Value magnitude = abs(x);
  if (isDouble) {
    Value m = expm1(mul(s.make<arith::MinimumFOp>(magnitude, number(20)), number(2)));
    return copySign(s.make<arith::DivFOp>(m, add(m, number(2))), x);
  }
  const double c[] = {-3.3333330333e-01, 1.3332915367e-01, -5.3873948849e-02, 2.1110959052e-02,
                      -6.2691197219e-03};
  Value z = mul(x, x);
  Value near = fma(mul(z, x), polynomial(c, z), x);
  Value e = exp2(mul(magnitude, number(2 * log2e)));
  Value far = sub(number(1), divide(number(2), add(e, number(1))));
  return copySign(s.select(less(magnitude, number(0.6)), near, far), x);
}

Value MathBuilder::asinh(Value x) const {
  Value a = abs(x), square = mul(a, a);
  Value inner = add(a, s.make<arith::DivFOp>(square, add(number(1), sqrt(add(square, number(1))))));
  // Beyond the square root of the largest number, the square is infinite.
  Value far = add(log(a), number(ln2));
  return copySign(s.select(less(a, number(isDouble ? 1e150 : 1e18)), log1p(inner), far), x);
}

Value MathBuilder::acosh(Value x) const {
  Value t = sub(x, number(1));
  Value near = log1p(add(t, sqrt(mul(t, add(x, number(1))))));
  Value result = s.select(less(x, number(isDouble ? 1e150 : 1e18)), near, add(log(x), number(ln2)));
  return s.select(less(x, number(1)), number(NAN), result);
}

Value MathBuilder::atanh(Value x) const {
  Value a = abs(x);
  Value ratio = s.make<arith::DivFOp>(add(a, a), sub(number(1), a));
  return copySign(mul(log1p(ratio), number(0.5)), x);
}

Value MathBuilder::erf(Value x) const {
  if (isDouble) {
    const double near[] = {0.12837916709551257,    -0.37612638903183752,   0.1128379167095512,
                           -0.026866170645129826,  0.0052239776254231166,  -0.00085483270219217735,
                           0.00012055332902288381, -1.4925647549075887e-5, 1.6462045054724143e-6,
                           -1.6364636604802171e-7, 1.4792347499413908e-8,  -1.2164225654817864e-9,
                           8.7078349489499495e-11, -4.2290117089891978e-12};
    Value inner = fma(x, polynomial(near, mul(x, x)), x);
    Value outer = sub(number(1), erfcPositive(abs(x)));
    return s.select(less(abs(x), number(1)), inner, copySign(outer, x));
  }
  const double near[] = {1.2837916585e-01, -3.7612626667e-01, 1.1283594715e-01, -2.6854212010e-02,
                         5.1890874230e-03, -8.0168642833e-04, 7.8758750504e-05};
  // log(1 - erf(t)) / t on [1, 4]; beyond, 1 - erf is below the last place of 1.
  const double far[] = {-1.1287928136e+00, -6.3461725518e-01, -1.0702251449e-01,
                        2.4332305550e-02,  -3.8355113316e-03, 3.3168544730e-04,
                        1.5843884471e-06,  -3.2367545846e-06, 2.1661804444e-07};
  Value t = abs(x), z = mul(x, x);
  Value inner = fma(x, polynomial(near, z), x);
  Value clipped = s.make<arith::MinimumFOp>(t, number(4));
  Value outer = sub(number(1), exp(mul(clipped, polynomial(far, clipped))));
  return s.select(less(t, number(1)), inner, copySign(outer, x));
}

/// exp(x²) erfc(x) (1 + 2x) is smooth on the whole half-line, in t = (x - k) / (x + k) (M. M.
/// Shepherd and J. G. Laframboise, 1981); the coefficients interpolate it at Chebyshev nodes.
Value MathBuilder::erfcPositive(Value x) const {
  constexpr double k = 3.75;
  SmallVector<double> c{1.2375126308,     -0.14024065902,  0.0035854380165,  0.082278433905,
                        -0.10880456455,   0.092290691672,  -0.058688252049,  0.028409430391,
                        -0.0097646904978, 0.0016757342508, 0.00032538846455, -0.00022405204952,
                        2.3634820068e-5};
  if (isDouble)
    c = {1.23751263083782758,      -0.140240598585546962,    0.00358541548546377496,
         0.0822767384901451591,    -0.108803930141717858,    0.0923043211603787671,
         -0.0586933985902123672,   0.0283622774189406648,    -0.00974657955250424297,
         0.00175562585300172579,   0.000293713634285008126,  -0.000290154080979527131,
         0.0000516492113907028519, 0.0000223842403142244383, -0.0000114444124391717231,
         -9.73561901518266329e-7,  1.7520579701663181e-6,    -5.72159725599098718e-8,
         -2.59106968779665785e-7,  2.32619132766965674e-8,   3.89654525489859681e-8,
         -3.74356803363458322e-9,  -5.28428697963142057e-9,  3.11031071983916499e-10,
         4.43495907000962826e-10};
  // Beyond, the result is 0.
  Value limited = s.make<arith::MinimumFOp>(x, number(isDouble ? 28 : 11));
  Value t = s.make<arith::DivFOp>(sub(limited, number(k)), add(limited, number(k)));
  Value smooth = s.make<arith::DivFOp>(polynomial(c, t), fma(limited, number(2), number(1)));
  // exp of the rounded square, and the first-order effect of what was rounded off.
  Value square = mul(limited, limited);
  Value lost = fma(limited, limited, s.make<arith::NegFOp>(square));
  Value scaled = mul(smooth, sub(number(1), lost));
  return mul(exp(s.make<arith::NegFOp>(square)), scaled);
}

Value MathBuilder::erfc(Value x) const {
  Value positive = erfcPositive(abs(x));
  return s.select(less(x, number(0)), sub(number(2), positive), positive);
}

} // namespace kiln
