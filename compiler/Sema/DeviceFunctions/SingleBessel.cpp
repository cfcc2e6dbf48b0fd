// Bessel functions of orders 0 and 1 in fp32.
//
// Up to 8 a function is, in each of two or three pieces, the distance from its zero there times a
// polynomial, so that it is accurate relatively next to the zero too; zeros are kept in two parts.
// Beyond, amplitude times sine and cosine, whose error is absolute, as libdevice's.

#include "compiler/Sema/DeviceFunctions/SinglePrecision.h"

#include <cmath>

namespace kiln::sema::single {

namespace math = mlir::math;

namespace {

/// A zero as the nearest fp32 and what that leaves.
struct Zero {
  double high, low;
};
Lanes distance(const Lanes &x, Zero zero) { return (x - zero.high) - zero.low; }

/// Of (x - zero) times a polynomial in x - middle.
Lanes aroundZero(const Lanes &x, Zero zero, double middle, llvm::ArrayRef<double> terms) {
  return distance(x, zero) * polynomial(terms, x - middle);
}

/// From 8 on: (P cos c - Q sin c) sqrt(2 / (pi x)), or that with sine and cosine exchanged, for c =
/// x - pi/4 or x - 3/4 pi.
Lanes wave(const Lanes &x, unsigned order, bool isSecondKind) {
  constexpr double p0[] = {9.999999404e-01, -1.097620814e-03, 2.458193740e-05};
  constexpr double q0[] = {-1.562493760e-02, 1.425272494e-04, -5.791763215e-06};
  constexpr double p1[] = {1.000000119e+00, 1.829364453e-03, -3.138749889e-05};
  constexpr double q1[] = {4.687492922e-02, -1.996682404e-04, 7.152734725e-06};
  Lanes inverse = estimateQuotient(x.number(8), x), square = inverse * inverse;
  Lanes p = polynomial(order ? p1 : p0, square), q = polynomial(order ? q1 : q0, square) * inverse;
  Lanes sine = x.apply<math::SinOp>(), cosine = x.apply<math::CosOp>();
  // sqrt(2) times the cosine and the sine of c.
  Lanes sum = sine + cosine, difference = sine - cosine;
  Lanes c = order ? difference : sum, s = order ? -sum : difference;
  Lanes scale = approximately<math::RsqrtOp>(x) * (M_2_SQRTPI / 2);
  Lanes result = (isSecondKind ? p * s + q * c : p * c - q * s) * scale;
  return (x == INFINITY).select(x.number(0), result);
}

/// Minus infinity at 0 and NaN below.
Lanes secondKind(const Lanes &x, const Lanes &result) {
  Lanes above = (x == 0).select(x.number(-INFINITY), result);
  return (x < 0).select(x.number(NAN), above);
}

/// log(x / zero), which vanishes at the zero.
Lanes logarithmFrom(const Lanes &x, Zero zero) {
  double inverse = 1 / (zero.high + zero.low);
  Lanes relative = distance(x, zero) * inverse, isNear = x > zero.high / 2;
  Lanes argument = isNear.select(relative + 1, x);
  Lanes lost = estimateQuotient(relative - (argument - 1), argument);
  return argument.apply<math::LogOp>() + isNear.select(lost, x.number(std::log(inverse)));
}

/// By a polynomial in a quarter of the square up to 7.75, and exp(x) / sqrt(x) times one in 1 / x.
Lanes modified(const Lanes &x, unsigned order, llvm::ArrayRef<double> nearTerms,
               llvm::ArrayRef<double> farTerms) {
  Lanes magnitude = x.magnitude(), half = magnitude * 0.5;
  Lanes near = polynomial(nearTerms, half * half);
  if (order)
    near = near * half;
  // Beyond, the result is infinite.
  Lanes limited = (magnitude > 100).select(x.number(100), magnitude);
  Lanes inverseRoot = approximately<math::RsqrtOp>(limited);
  auto [factor, power] = exponential(limited, x.number(0));
  Lanes far = polynomial(farTerms, inverseRoot * inverseRoot) * inverseRoot * factor;
  far = far * powerOfTwo(power - 16.0, x) * 0x1p16;
  return (magnitude < 7.75).select(near, far);
}

} // namespace

/// The second coefficient is 2 ulp from the fit's, so that j0(0) is 1.
Lanes j0(const Lanes &x) {
  constexpr double low[] = {-9.701566398e-02, 8.628668264e-03, -2.801603405e-04, 4.788715160e-06,
                            -5.079284549e-08, 3.679634375e-10, -1.830595354e-12};
  constexpr double high[] = {3.138953447e-01, -7.753659040e-02, -4.342985153e-02, 8.464960381e-03,
                             1.690442208e-03, -2.903405111e-04, -3.230956645e-05, 5.020060144e-06,
                             3.421079100e-07, -4.832145351e-08};
  constexpr Zero zero{2.40482545, 1.08705905e-07};
  Lanes a = x.magnitude();
  Lanes first = distance(a, zero) * (a + zero.high) * polynomial(low, a * a - 7);
  Lanes second = aroundZero(a, {5.52007818, -7.19341458e-08}, 6, high);
  return (a < 8).select((a < 3.9).select(first, second), wave(a, 0, false));
}

Lanes j1(const Lanes &x) {
  constexpr double low[] = {-1.436483301e-02, 9.684130782e-04, -2.544409472e-05, 3.660663310e-07,
                            -3.355885347e-09, 2.142153468e-11, -1.002832867e-13, 3.132486658e-16};
  constexpr double high[] = {3.016272485e-01,  1.318019722e-02, -4.866714403e-02,
                             -1.527874338e-05, 2.241148148e-03, -2.348395901e-05,
                             -4.923418601e-05, 6.432160262e-07, 7.024992215e-07};
  constexpr Zero zero{3.83170605, -7.68505899e-08};
  Lanes a = x.magnitude();
  Lanes first = a * (distance(a, zero) * (a + zero.high)) * polynomial(low, a * a - 14);
  Lanes second = aroundZero(a, {7.01558685, -1.83211725e-07}, 6.65625, high);
  Lanes result = (a < 8).select((a < 5.3).select(first, second), wave(a, 1, false));
  return result * x.number(1).withSignOf(x);
}

/// At first 2/pi log(x / z) J + (x² - z²) P, where both parts vanish at the zero.
Lanes y0(const Lanes &x) {
  constexpr double ofJ[] = {1.000000000e+00,  -2.499999702e-01, 1.562491432e-02,
                            -4.339467268e-04, 6.747965926e-06,  -6.138578357e-08};
  constexpr double low[] = {1.821442991e-01,  -1.674469002e-02, 5.618130090e-04,
                            -9.903621503e-06, 1.094585969e-07,  -8.860163159e-10};
  constexpr double middle[] = {-4.075672328e-01, 3.726709634e-02,  6.069323048e-02,
                               -5.833636504e-03, -2.284842078e-03, 1.589958119e-04,
                               5.496499216e-05,  -4.503116998e-06, -3.672259936e-07,
                               -9.440740456e-08, 4.551029420e-08};
  constexpr double high[] = {3.016925454e-01,  1.188799180e-02, -4.985053092e-02,
                             2.705413499e-04,  2.330788644e-03, -4.278894994e-05,
                             -4.986703789e-05, 1.016706278e-06, 4.677653465e-07};
  constexpr Zero zero{0.89357698, -1.33579787e-08};
  Lanes square = x * x;
  Lanes first = logarithmFrom(x, zero) * M_2_PI * polynomial(ofJ, square) +
                distance(x, zero) * (x + zero.high) * polynomial(low, square);
  Lanes second = aroundZero(x, {3.95767832, 1.01291178e-07}, 3.84375, middle);
  Lanes third = aroundZero(x, {7.08605099, 7.30581178e-08}, 6.75, high);
  Lanes below = (x < 2.2).select(first, (x < 5.5).select(second, third));
  return secondKind(x, (x < 8).select(below, wave(x, 0, true)));
}

/// At first 2/pi (log(x) J - 1/x) + x P.
Lanes y1(const Lanes &x) {
  constexpr double ofJ[] = {5.000000000e-01, -6.249998510e-02, 2.604107372e-03, -5.418165165e-05,
                            6.440550919e-07};
  constexpr double low[] = {-1.960570663e-01, 5.434855446e-02, -2.955066971e-03, 7.145692507e-05,
                            -9.265889389e-07};
  constexpr double middle[] = {4.545730352e-01,  -1.513066888e-01, -3.157360852e-02,
                               5.284802523e-03,  3.479023231e-03,  -1.009574975e-03,
                               2.380002115e-04,  -9.597631288e-05, 3.269298031e-05,
                               -1.303841873e-05, 9.078565199e-06,  -3.135770612e-06};
  constexpr double high[] = {-3.143696785e-01, 7.617121935e-02, 4.224148765e-02, -7.861412130e-03,
                             -1.670967555e-03, 2.626634669e-04, 3.365515295e-05, -4.654062195e-06,
                             -3.718130301e-07, 4.260282793e-08, 2.217144690e-09};
  Lanes square = x * x, logarithm = x.apply<math::LogOp>();
  Lanes inner = logarithm * M_2_PI * polynomial(ofJ, square) + polynomial(low, square);
  Lanes first = x * inner - estimateQuotient(x.number(M_2_PI), x);
  Lanes second = aroundZero(x, {2.19714141, -8.28892723e-08}, 2.6875, middle);
  Lanes third = aroundZero(x, {5.42968082, 2.16514351e-07}, 5.90625, high);
  Lanes below = (x < 1.6).select(first, (x < 3.8).select(second, third));
  return secondKind(x, (x < 8).select(below, wave(x, 1, true)));
}

Lanes i0(const Lanes &x) {
  constexpr double near[] = {1.000000000e+00, 1.000000119e+00, 2.499994636e-01, 2.777852304e-02,
                             1.735643600e-03, 6.960002793e-05, 1.899350195e-06, 4.269052667e-08,
                             4.017346455e-10, 1.461641051e-11};
  constexpr double far[] = {3.989422321e-01, 4.987519607e-02,  2.767083049e-02,
                            3.778495267e-02, -4.535792023e-02, 4.794234931e-01};
  return modified(x, 0, near, far);
}

Lanes i1(const Lanes &x) {
  constexpr double near[] = {1.000000000e+00, 5.000000000e-01, 8.333330601e-02, 6.944496650e-03,
                             3.471856762e-04, 1.158682426e-05, 2.730842255e-07, 5.203866671e-09,
                             4.995486663e-11, 1.373980031e-12};
  constexpr double far[] = {3.989423215e-01,  -1.496102512e-01, -4.637689888e-02,
                            -4.969181865e-02, 3.785911202e-02,  -5.349527597e-01};
  return modified(x, 1, near, far).withSignOf(x);
}

} // namespace kiln::sema::single
