// libdevice's gamma functions and the inverses of the error functions in fp64, which are rare in
// kernels, so that these are short rather than fast. SinglePrecision.h has those of fp32.

#include "compiler/Sema/DeviceFunctions/SinglePrecision.h"
#include "compiler/Sema/Table/Handlers.h"

#include <cmath>

namespace kiln::sema {
namespace {

namespace math = mlir::math;

Lanes log(const Lanes &x) { return x.apply<math::LogOp>(); }
Lanes exp(const Lanes &x) { return x.apply<math::ExpOp>(); }
Lanes root(const Lanes &x) { return x.apply<math::SqrtOp>(); }

/// y >= 0 with erf(y) = s and erfc(y) = q, where q = 1 - s: the smaller of the two is what counts.
/// Three of Halley's steps from a first guess whose error e has e * y below 0.05.
Lanes inverseErrorFunction(const Lanes &s, const Lanes &q) {
  // Near 0 a line; then Winitzki's formula ("A handy approximation for the error function and its
  // inverse", 2008); where q is small, q = exp(-y * y) / (y * sqrt(pi)) solved by iteration.
  Lanes line = s * (std::sqrt(M_PI) / 2);
  Lanes logarithm = log(q * (2 - q));
  constexpr double a = 0.147;
  Lanes half = logarithm * 0.5 + 2 / (M_PI * a);
  Lanes middle = root(root(half * half - logarithm * (1 / a)) - half);
  Lanes square = -log(q);
  Lanes tail = root(square - log(root(square) * std::sqrt(M_PI)));
  Lanes y = (s < 0.1).select(line, (q < 1e-7).select(tail, middle));
  for (int step = 0; step < 3; ++step) {
    Lanes error = (q < 0.5).select(y.apply<math::ErfcOp>() - q, s - y.apply<math::ErfOp>());
    Lanes newton = error * exp(y * y) * (std::sqrt(M_PI) / 2);
    y = y + newton / (1 - newton * y);
  }
  y = (q == 0).select(y.number(INFINITY), y);
  return (q >= 0).select(y, y.number(NAN));
}

Lanes erfinv(const Lanes &x) {
  Lanes s = x.magnitude();
  return inverseErrorFunction(s, 1 - s).withSignOf(x);
}

Lanes erfcinv(const Lanes &x) {
  Lanes q = (x <= 1).select(x, 2 - x);
  Lanes y = inverseErrorFunction(1 - q, q);
  return (x <= 1).select(y, -y);
}

Lanes normcdfinv(const Lanes &x) { return erfcinv(x * 2) * -M_SQRT2; }

/// The sum and the base t of Lanczos's formula with g = 7 and nine terms, for x >= 1/2:
/// gamma(x) = sqrt(2 pi) * t ** (x - 1/2) * exp(-t) * sum, within 1e-15.
std::pair<Lanes, Lanes> lanczos(const Lanes &x) {
  constexpr double terms[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                              -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                              9.9843695780195716e-6, 1.5056327351493116e-7};
  Lanes sum = x.number(0.99999999999980993);
  for (int i = 0; i < 8; ++i)
    sum = sum + terms[i] / (x + i);
  return {sum, x + 6.5};
}

/// Arguments below 1/2 by gamma(x) * gamma(1 - x) = pi / sin(pi x).
Lanes lgamma(const Lanes &x) {
  Lanes isSmall = x < 0.5;
  auto [sum, t] = lanczos(isSmall.select(1 - x, x));
  Lanes above = isSmall.select(0.5 - x, x - 0.5) * log(t) - t + log(sum * std::sqrt(2 * M_PI));
  Lanes below = log(M_PI / sinOfPi(x).magnitude()) - above;
  Lanes result = isSmall.select(below, above);
  return (x.magnitude() == INFINITY).select(x.number(INFINITY), result);
}

Lanes tgamma(const Lanes &x) {
  Lanes isSmall = x < 0.5;
  auto [sum, t] = lanczos(isSmall.select(1 - x, x));
  Lanes above = exp(isSmall.select(0.5 - x, x - 0.5) * log(t) - t) * sum * std::sqrt(2 * M_PI);
  Lanes result = isSmall.select(M_PI / (sinOfPi(x) * above), above);
  result = (x == INFINITY).select(x.number(INFINITY), result);
  Lanes isPole = (x < 0) & (x == x.apply<math::FloorOp>());
  return isPole.select(x.number(NAN), result);
}

} // namespace

Value byType(TensorBuilder &build, Call &call, Formula single, Formula wide) {
  auto x = floatLanes(build, call);
  return x ? (x->isDouble() ? wide : single)(*x).value() : Value();
}

Value builtinErfinv(TensorBuilder &t, Call &call) {
  return byType(t, call, single::erfinv, erfinv);
}
Value builtinErfcinv(TensorBuilder &t, Call &call) {
  return byType(t, call, single::erfcinv, erfcinv);
}
Value builtinNormcdfinv(TensorBuilder &t, Call &call) {
  return byType(t, call, single::normcdfinv, normcdfinv);
}
Value builtinLgamma(TensorBuilder &t, Call &call) {
  return byType(t, call, single::lgamma, lgamma);
}
Value builtinTgamma(TensorBuilder &t, Call &call) {
  return byType(t, call, single::tgamma, tgamma);
}

} // namespace kiln::sema
