// Exponentials, hyperbolic functions and error functions.
//
// Where the target estimates exp2, exp of f32 is that of one product, with what that does to large
// arguments; all else here reduces the argument first: x = n ln(2) + r with |r| <= ln(2) / 2 and a
// little, e^r by a polynomial, and 2^n by its exponent field.

#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double ln2 = 0.693147180559945309417, log2e = 1.44269504088896340736;

//===-- building blocks -------------------------------------------------------------------===//

/// 2^n, by its exponent field.
Value MathBuilder::power2(Value n) const {
  Value wide = isDouble ? b.resize(n, b.builder.getI64Type()) : n;
  Value biased = b.add(wide, b.integer(isDouble ? 1023 : 127, wide));
  return floatOf(b.shiftLeft(biased, isDouble ? 52 : 23));
}

Value MathBuilder::scale(Value x, Value n) const {
  // In two steps, so that results near the ends of the range are reached without overflow.
  Value half = b.shiftRight(n, 1, true);
  return mul(mul(x, power2(half)), power2(b.sub(n, half)));
}

Value MathBuilder::limit(Value x, double low, double high) const {
  // Processors have no instruction that NaN passes.
  if (!target.hasEstimates()) {
    Value bounded = b.select(less(number(high), x), number(high), x);
    return b.select(less(bounded, number(low)), number(low), bounded);
  }
  return b.make<arith::MaximumFOp>(b.make<arith::MinimumFOp>(x, number(high)), number(low));
}

/// Beyond 1.5 * 2^mantissa a number's last place counts ones: what is added to
/// it is rounded, and stands in its low bits.
std::pair<Value, Value> MathBuilder::roundToInteger(Value x, double factor) const {
  Value magic = number(isDouble ? 0x1.8p52 : 0x1.8p23);
  Value shifted = mad(x, number(factor), magic);
  Value bits = bitsOf(shifted);
  Value n =
      isDouble ? b.resize(bits, b.builder.getI32Type()) : b.sub(bits, b.integer(0x4B400000, bits));
  return {sub(shifted, magic), n};
}

std::pair<Value, Value> MathBuilder::reduceExp(Value x) const {
  auto [n, integer] = roundToInteger(x, log2e);
  // ln(2) in two parts, the first with zeros at the end.
  double high = isDouble ? 6.93147180369123816490e-01 : 0.693145751953125;
  double low = isDouble ? 1.90821492927058770002e-10 : ln2 - high;
  return {mad(n, number(-low), mad(n, number(-high), x)), integer};
}

Value MathBuilder::expm1Reduced(Value r) const {
  SmallVector<double> c{5.0000000137e-01, 1.6666666682e-01, 4.1666462839e-02,
                        8.3333106938e-03, 1.3933880963e-03, 1.9891247314e-04};
  if (isDouble) {
    c.clear();
    double factorial = 2;
    for (int n = 2; n <= 14; factorial *= ++n)
      c.push_back(1 / factorial);
  }
  return mad(mul(r, r), polynomial(c, r), r);
}

Value MathBuilder::expReduced(Value r) const { return add(expm1Reduced(r), number(1)); }

//===-- exponentials ----------------------------------------------------------------------===//

Value MathBuilder::exp2(Value x) const {
  // What reduces an estimate's argument is three instructions more, for results that few ask for.
  Value quick = isDouble ? Value() : target.exp2(b, x);
  return quick ? quick : exp2OfSum(x, number(0));
}

Value MathBuilder::exp2Reduced(Value r) const {
  if (isDouble)
    return expReduced(mul(r, number(ln2)));
  Value quick = target.exp2(b, r);
  const double c[] = {1.0,
                      6.931472028550421e-1,
                      2.402264791363012e-1,
                      5.550332471162809e-2,
                      9.618437357674640e-3,
                      1.339887440266574e-3,
                      1.535336188319500e-4};
  return quick ? quick : polynomial(c, r);
}

Value MathBuilder::exp2OfSum(Value x, Value rest) const {
  double end = isDouble ? 1100 : 160;
  Value limited = limit(x, -end, end);
  auto [n, integer] = roundToInteger(limited, 1);
  // An infinite x has no rest.
  Value r = add(sub(limited, n), b.select(equal(limited, x), rest, number(0)));
  return scale(exp2Reduced(r), integer);
}

Value MathBuilder::exp(Value x) const {
  if (!isDouble && target.hasEstimates())
    return exp2(mul(x, number(log2e)));
  double end = isDouble ? 760 : 110;
  auto [r, n] = reduceExp(limit(x, -end, end));
  return scale(expReduced(r), n);
}

Value MathBuilder::expm1(Value x) const {
  // 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)), of which the largest power is a
  // number too.
  Value limited = limit(x, isDouble ? -40 : -30, isDouble ? 710 : 89);
  auto [r, n] = reduceExp(limited);
  Value power = power2(b.sub(n, b.integer(1, n)));
  Value half = mad(expm1Reduced(r), power, sub(power, number(0.5)));
  // Halves of denormals are not exact, and a zero has its sign.
  return b.select(less(abs(x), number(isDouble ? 0x1p-54 : 0x1p-25)), x, add(half, half));
}

//===-- hyperbolic functions --------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::quarterExp(Value x) const {
  // Where the quarter ends, the results of twice its size are infinite.
  Value limited = b.make<arith::MinimumFOp>(abs(x), number(isDouble ? 710.5 : 89.5));
  auto [r, n] = reduceExp(limited);
  Value quarter = mul(expReduced(r), power2(b.sub(n, b.integer(2, n))));
  return {quarter, divideFast(number(0.0625), quarter)};
}

Value MathBuilder::sinh(Value x) const {
  auto [growing, falling] = quarterExp(x);
  Value difference = sub(growing, falling);
  SmallVector<double> c{1.6666666647e-01, 8.3333396759e-03, 1.9838101969e-04, 2.8062802582e-06};
  if (isDouble) {
    c.clear();
    double factorial = 6;
    for (int n = 3; n <= 21; n += 2, factorial *= double(n) * (n - 1))
      c.push_back(1 / factorial);
  }
  Value z = mul(x, x), near = mad(mul(z, x), polynomial(c, z), x);
  Value far = copySign(add(difference, difference), x);
  return b.select(less(abs(x), number(1)), near, far);
}

Value MathBuilder::cosh(Value x) const {
  auto [growing, falling] = quarterExp(x);
  Value sum = add(growing, falling);
  return add(sum, sum);
}

Value MathBuilder::tanh(Value x) const {
  Value magnitude = abs(x);
  if (isDouble) {
    Value m = expm1(mul(b.make<arith::MinimumFOp>(magnitude, number(20)), number(2)));
    return copySign(b.make<arith::DivFOp>(m, add(m, number(2))), x);
  }
  const double c[] = {-3.3333330333e-01, 1.3332915367e-01, -5.3873948849e-02, 2.1110959052e-02,
                      -6.2691197219e-03};
  Value z = mul(x, x);
  Value near = mad(mul(z, x), polynomial(c, z), x);
  Value e = exp2(mul(magnitude, number(2 * log2e)));
  // A divisor whose reciprocal is below the normal numbers leaves 1.
  Value far = mad(number(-2), reciprocalFast(add(e, number(1))), number(1));
  return copySign(b.select(less(magnitude, number(0.6)), near, far), x);
}

//===-- error functions -------------------------------------------------------------------===//

Value MathBuilder::erfNear(Value x) const {
  SmallVector<double> c{1.2837916585e-01, -3.7612626667e-01, 1.1283594715e-01, -2.6854212010e-02,
                        5.1890874230e-03, -8.0168642833e-04, 7.8758750504e-05};
  if (isDouble)
    c = {0.12837916709551257,    -0.37612638903183752,   0.1128379167095512,
         -0.026866170645129826,  0.0052239776254231166,  -0.00085483270219217735,
         0.00012055332902288381, -1.4925647549075887e-5, 1.6462045054724143e-6,
         -1.6364636604802171e-7, 1.4792347499413908e-8,  -1.2164225654817864e-9,
         8.7078349489499495e-11, -4.2290117089891978e-12};
  return mad(x, polynomial(c, mul(x, x)), x);
}

Value MathBuilder::erf(Value x) const {
  Value t = abs(x), inner = erfNear(x), outer;
  if (isDouble) {
    outer = sub(number(1), erfcPositive(t));
  } else {
    // log(1 - erf(t)) / t on [1, 4]; beyond, 1 - erf is below the last place
    // of 1.
    const double far[] = {-1.1287928136e+00, -6.3461725518e-01, -1.0702251449e-01,
                          2.4332305550e-02,  -3.8355113316e-03, 3.3168544730e-04,
                          1.5843884471e-06,  -3.2367545846e-06, 2.1661804444e-07};
    Value clipped = b.make<arith::MinimumFOp>(t, number(4));
    outer = sub(number(1), exp(mul(clipped, polynomial(far, clipped))));
  }
  return b.select(less(t, number(1)), inner, copySign(outer, x));
}

/// exp(x²) erfc(x) (1 + 2x) is smooth on the whole half-line, in t = (x - k) /
/// (x + k) (M. M. Shepherd and J. G. Laframboise, 1981); the coefficients
/// interpolate it at Chebyshev nodes.
Value MathBuilder::erfcPositive(Value x) const {
  constexpr double k = 3.75;
  const double c[] = {1.23751263083782758,      -0.140240598585546962,    0.00358541548546377496,
                      0.0822767384901451591,    -0.108803930141717858,    0.0923043211603787671,
                      -0.0586933985902123672,   0.0283622774189406648,    -0.00974657955250424297,
                      0.00175562585300172579,   0.000293713634285008126,  -0.000290154080979527131,
                      0.0000516492113907028519, 0.0000223842403142244383, -0.0000114444124391717231,
                      -9.73561901518266329e-7,  1.7520579701663181e-6,    -5.72159725599098718e-8,
                      -2.59106968779665785e-7,  2.32619132766965674e-8,   3.89654525489859681e-8,
                      -3.74356803363458322e-9,  -5.28428697963142057e-9,  3.11031071983916499e-10,
                      4.43495907000962826e-10};
  // Beyond, the result is 0.
  Value limited = b.make<arith::MinimumFOp>(x, number(28));
  Value t = divideClosely(sub(limited, number(k)), add(limited, number(k)));
  Value smooth = divideClosely(polynomial(c, t), mad(limited, number(2), number(1)));
  // What the square's rounding leaves goes into the reduced exponent.
  Value square = mul(limited, limited);
  Value lost = fma(limited, limited, negate(square));
  auto [r, n] = reduceExp(negate(square));
  return scale(mul(expReduced(sub(r, lost)), smooth), n);
}

/// erfc(x) = exp(-x²) erfcx(x), of which erfcx(x) (x + 1/2) is smooth in x / (x + 5/2). The
/// exponent's last part is what the square's rounding left.
Value MathBuilder::erfcSingle(Value x) const {
  const double c[] = {6.370734572e-01,  1.559495181e-01, -1.054175377e+00, 1.734131098e+00,
                      -1.300455928e+00, 1.347485483e-01, 4.295516610e-01,  -8.595410734e-02,
                      -2.000859529e-01, 1.016068459e-02, 1.422445476e-01,  -6.351333857e-02};
  // Beyond, the result is 0.
  Value limited = b.make<arith::MinimumFOp>(abs(x), number(11));
  Value t = sub(divideClosely(limited, add(limited, number(2.5))), number(0.25));
  Value smooth = divideClosely(polynomial(c, t), add(limited, number(0.5)));
  Value square = mul(limited, limited), lost = fma(limited, limited, negate(square));
  auto [r, n] = reduceExp(negate(square));
  Value factor = exp2Reduced(mul(sub(r, lost), number(log2e)));
  // Above 2^-175, so that an exponent 64 larger has a power.
  Value power = power2(b.add(n, b.integer(64, n)));
  Value positive = mul(mul(mul(factor, smooth), power), number(0x1p-64));
  return b.select(less(x, number(0)), sub(number(2), positive), positive);
}

Value MathBuilder::erfc(Value x) const {
  if (!isDouble)
    return erfcSingle(x);
  Value positive = erfcPositive(abs(x));
  Value far = b.select(less(x, number(0)), sub(number(2), positive), positive);
  return b.select(less(abs(x), number(0.75)), sub(number(1), erfNear(x)), far);
}

} // namespace kiln
