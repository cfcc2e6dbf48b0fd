// The inverses of the error functions and the scaled complement in fp32, and what functions of fp32
// share.

#include "compiler/Sema/DeviceFunctions/SinglePrecision.h"

#include <cmath>

namespace kiln::sema::single {

namespace math = mlir::math;
namespace arith = mlir::arith;

Lanes estimateQuotient(const Lanes &a, const Lanes &b) {
  TensorBuilder &build = *a.build;
  auto flags = fastMathFlags(Accuracy::Fast, a.dtype());
  return {&build, {build.emit<arith::DivFOp>(a.tensor.ir, b.tensor.ir, flags), a.tensor.type}};
}

Exponential exponential(const Lanes &x, const Lanes &rest) {
  // A number from here on has its ones in the lowest bits.
  Lanes magic = x.number(0x1.8p23), shifted = x * M_LOG2E + magic, n = shifted - magic;
  constexpr double high = 0.693145751953125;
  Lanes reduced = (x - n * high) - n * (M_LN2 - high) + rest;
  return {approximately<math::Exp2Op>(reduced * M_LOG2E), shifted.bits() - magic.bits()};
}

Lanes sineOfPiByAngle(const Lanes &x) {
  constexpr double terms[] = {3.141592741e+00, -5.167719841e+00, 2.550245047e+00, -5.992627144e-01,
                              7.946991175e-02};
  return polynomial(terms, x * x);
}

namespace {

//===-- Inverses: erfinv(x) / x is smooth in log(1 - x²) near 0, and in its root far off --===//

/// By log2(1 - x²) down to `nearEnd`.
constexpr double nearEnd = -8.295;
constexpr double nearTerms[] = {8.862269521e-01, -1.608188748e-01, 5.552349612e-03,
                                7.838381571e-04, -2.382988532e-05, -4.358247224e-06,
                                1.275064164e-06, 3.067079035e-07,  2.914137909e-08,
                                1.403765992e-09, 2.853513086e-11};
/// By sqrt(-log(1 - x²)) - 3.140625, up to what the largest x below 1 has.
constexpr double middleTerms[] = {2.974004984e+00,  1.003934383e+00,  6.802758202e-03,
                                  -5.055493675e-03, 3.620519536e-03,  -2.483385149e-03,
                                  1.183743589e-03,  -1.669748744e-04, -7.518204802e-05};
Lanes middleOf(const Lanes &root) { return polynomial(middleTerms, root - 3.140625); }
/// By the same root less 7.34375, up to what the least fp32 has as 1 - x.
constexpr double middleEnd = 4.078;
constexpr double farTerms[] = {7.215664387e+00, 1.008246303e+00,  -5.034511560e-04,
                               1.280235483e-05, 4.389482001e-06,  -1.006929438e-06,
                               7.500197086e-08, -5.058685559e-08, 1.530424498e-08};

Lanes rootOfLogarithm(const Lanes &log2) { return approximately<math::SqrtOp>(log2 * -M_LN2); }

} // namespace

Lanes erfinv(const Lanes &x) {
  Lanes log2 = approximately<math::Log2Op>((-x).fused(x, x.number(1)));
  Lanes near = polynomial(nearTerms, log2), far = middleOf(rootOfLogarithm(log2));
  Lanes result = (log2 > nearEnd).select(near, far) * x;
  return (x.magnitude() == 1).select(x.number(INFINITY).withSignOf(x), result);
}

Lanes erfcinv(const Lanes &x) {
  // 1 - (1 - x)², where x may be far below 1.
  Lanes log2 = approximately<math::Log2Op>(x * (2 - x)), root = rootOfLogarithm(log2);
  Lanes far = polynomial(farTerms, root - 7.34375);
  far = (root < middleEnd).select(middleOf(root), far);
  Lanes factor = 1 - x;
  Lanes result = (log2 > nearEnd).select(polynomial(nearTerms, log2), far) * factor;
  return ((factor.magnitude() == 1) & (log2 == -INFINITY))
      .select(x.number(INFINITY).withSignOf(factor), result);
}

Lanes normcdfinv(const Lanes &x) { return erfcinv(x * 2) * -M_SQRT2; }

Lanes erfcx(const Lanes &x) {
  // erfcx(x) (x + 1/2) for x >= 0, by x / (x + 5/2) - 1/4.
  constexpr double terms[] = {6.370734572e-01, 1.559495181e-01,  -1.054175377e+00,
                              1.734131098e+00, -1.300455928e+00, 1.347485483e-01,
                              4.295516610e-01, -8.595410734e-02, -2.000859529e-01,
                              1.016068459e-02, 1.422445476e-01,  -6.351333857e-02};
  Lanes magnitude = x.magnitude();
  // Beyond, the quotient is 1.
  Lanes limited = (magnitude > 0x1p60).select(x.number(0x1p60), magnitude);
  Lanes divisor = limited + 2.5, inverse = estimateQuotient(x.number(1), divisor);
  Lanes quotient = limited * inverse;
  quotient = (-quotient).fused(divisor, limited).fused(inverse, quotient);
  Lanes smooth = polynomial(terms, quotient - 0.25);
  Lanes above{x.build, x.build->divide(smooth.tensor, (magnitude + 0.5).tensor, true)};
  above = (magnitude == INFINITY).select(x.number(0), above);
  // 2 exp(x²) - erfcx(-x). The square in two parts, as the exponential magnifies its error; the
  // largest result has x above -9.4.
  limited = (magnitude > 9.5).select(x.number(9.5), magnitude);
  Lanes bits = limited.bits();
  Lanes upper = (bits & bits.integer(-(int64_t(1) << 12))).bitcast(x.dtype());
  auto [factor, power] = exponential(upper * upper, (limited - upper) * (limited + upper));
  Lanes below = factor * powerOfTwo(power - 4.0, x) * 32 - above;
  return (x < 0).select(below, above);
}

} // namespace kiln::sema::single
