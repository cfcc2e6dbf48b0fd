// The gamma function and its logarithm in fp32.

#include "compiler/Sema/DeviceFunctions/SinglePrecision.h"

#include <cmath>

namespace kiln::sema::single {

namespace math = mlir::math;
namespace arith = mlir::arith;

/// Between -1 and 3 by a polynomial around 2, whose zeros at 1 and 2 are factors; from 3 on
/// Stirling's series; from -1 down log(pi / |x sin(pi x)|) - lgamma(-x), whose error is absolute
/// next to its zeros, as libdevice's.
Lanes lgamma(const Lanes &x) {
  // lgamma(2 + v) / (v (v + 1)).
  constexpr double near[] = {4.227843285e-01, -1.003172994e-01, 3.296523914e-02, -1.238459442e-02,
                             4.996807314e-03, -2.103845356e-03, 9.204044472e-04, -4.219377006e-04,
                             1.784165506e-04, -5.576941476e-05, 3.470464799e-05, -3.758790263e-05,
                             1.472482472e-05};
  // x (lgamma(x) - (x - 1/2) (log(x) - 1)) less a constant, by 1 / x².
  constexpr double series[] = {8.333316445e-02, -2.769936807e-03, 6.792487111e-04};
  Lanes magnitude = x.magnitude(), isReflected = x <= -1;
  Lanes y = isReflected.select(magnitude, x);
  // lgamma(y) = lgamma(2 + v) - log of what lies between.
  Lanes isBelow0 = y < 0, isBelow1 = y < 1, isNear = y < 3;
  Lanes v = y - isBelow1.select(isBelow0.select(y.number(0), y.number(1)), y.number(2));
  Lanes zeros = v.fused(v, v);
  Lanes between = isBelow1.select(isBelow0.select(-zeros, y), y.number(1));
  Lanes logarithm = isNear.select(between, y).apply<math::LogOp>();
  Lanes inverse = estimateQuotient(y.number(1), y);
  const double constant = 0.5 * std::log(2 * M_PI) - 0.5;
  Lanes rest = inverse * polynomial(series, inverse * inverse) + constant;
  Lanes far = (y - 0.5) * (logarithm - 1) + rest;
  Lanes above = isNear.select(zeros * polynomial(near, v) - logarithm, far);
  Lanes angle = magnitude - magnitude.apply<math::RoundEvenOp>();
  Lanes sine = (angle * sineOfPiByAngle(angle)).magnitude();
  Lanes log2 = approximately<math::Log2Op>(magnitude * sine);
  Lanes below = std::log(M_PI) - log2 * M_LN2 - above;
  Lanes result = isReflected.select(below, above);
  // All numbers from there down are integers.
  return (x < -0x1p23).select(x.number(INFINITY), result);
}

namespace {

/// log2 of normal x as a sum of two, and the second of them small: 2 / log(2) atanh(t) of the
/// mantissa, as MathBuilder::log2InTwo.
std::pair<Lanes, Lanes> log2InTwo(const Lanes &x) {
  constexpr double terms[] = {9.617967010e-01, 5.770756006e-01, 4.122408628e-01, 3.294044435e-01};
  constexpr double factor = 0x1.715476p+1, factorRest = 2 * M_LOG2E - factor;
  Lanes bits = x.bits(), places = bits.integer(23);
  // Subtracting sqrt(1/2) leaves the exponent of the nearest power in the field.
  Lanes exponent = (bits - bits.integer(0x3F3504F3)).apply<arith::ShRSIOp>(places);
  Lanes mantissa = (bits - exponent.apply<arith::ShLIOp>(places)).bitcast(x.dtype());
  Lanes e = exponent.cast(x.dtype());
  Lanes numerator = mantissa - 1, denominator = mantissa + 1;
  Lanes lost = mantissa - (denominator - 1);
  Lanes inverse = estimateQuotient(x.number(1), denominator), t = numerator * inverse;
  Lanes excess = (-t).fused(lost, (-t).fused(denominator, numerator));
  Lanes z = t * t;
  Lanes rest = t * z * polynomial(terms, z) + (excess * inverse * factor + t * factorRest);
  Lanes high = t.fused(t.number(factor), e);
  return {high, t.fused(t.number(factor), -(high - e)) + rest};
}

/// gamma(x) as a number near 1 times a power of two, for x between 3 and 44: Stirling's x^(x - 1/2)
/// e^-x S(1 / x), the powers' exponents each as a whole number and a rest.
std::pair<Lanes, Lanes> stirling(const Lanes &x) {
  constexpr double terms[] = {2.506628275e+00, 2.088844180e-01, 8.742175065e-03, -7.089386694e-03,
                              8.408037829e-04};
  constexpr double log2e = 1.4426950216293335, log2eRest = M_LOG2E - log2e;
  auto [high, low] = log2InTwo(x);
  Lanes power = x - 0.5;
  Lanes up = (power * high).apply<math::RoundEvenOp>();
  Lanes down = (x * log2e).apply<math::RoundEvenOp>();
  Lanes rest = power.fused(high, -up) - x.fused(x.number(log2e), -down);
  rest = rest + (power * low - x * log2eRest);
  Lanes inverse = estimateQuotient(x.number(1), x);
  return {approximately<math::Exp2Op>(rest) * polynomial(terms, inverse), up - down};
}

} // namespace

/// Below -1/2 by gamma(x) = -pi / (-x sin(-pi x) gamma(-x)); between, up to 3, by a polynomial
/// around 2.
Lanes tgamma(const Lanes &x) {
  constexpr double near[] = {1.000000000e+00, 4.227843881e-01,  4.118403196e-01, 8.157475293e-02,
                             7.425044477e-02, -2.429653978e-04, 1.112586912e-02, -2.943772124e-03,
                             2.271048492e-03, -8.768059779e-04, 2.167254570e-04};
  Lanes isReflected = x < -0.5;
  Lanes positive = isReflected.select(-x, x);
  // Beyond, the result is infinite or zero.
  Lanes y = (positive > 44).select(x.number(44), positive);
  Lanes isBelowHalf = y < 0.5, isLow = y < 1.5, isNear = y < 3;
  Lanes v = y - isLow.select(isBelowHalf.select(y.number(0), y.number(1)), y.number(2));
  Lanes divisor = isLow.select(isBelowHalf.select(y * (y + 1), y), y.number(1));
  Lanes lower = estimateQuotient(polynomial(near, v), divisor);
  auto [factor, power] = stirling(y);
  Lanes result = isNear.select(lower, factor);
  power = isNear.select(x.number(0), power);
  // The sine of a whole turn's part, from -1 to 1 in half turns.
  Lanes turn = positive - (positive * 0.5).apply<math::RoundEvenOp>() * 2;
  Lanes part = turn.magnitude();
  part = (part > 0.5).select(1 - part, part);
  Lanes sine = (part * sineOfPiByAngle(part)).withSignOf(turn);
  Lanes below = estimateQuotient(x.number(-M_PI), positive * sine * result);
  result = isReflected.select(below, result);
  Lanes n = isReflected.select(-power, power).cast(Scalar::Int32);
  Lanes half = n.apply<arith::ShRSIOp>(n.integer(1));
  result = result * powerOfTwo(half, x) * powerOfTwo(n - half, x);
  Lanes isPole = isReflected & (x == x.apply<math::FloorOp>());
  return isPole.select(x.number(NAN), result);
}

} // namespace kiln::sema::single
