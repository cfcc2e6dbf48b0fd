// libdevice's functions on the parts of floats, which are exact, and those that an exact reduction
// leads to: exponents, neighbours, remainders, sin and cos of multiples of pi.

#include "compiler/Sema/DeviceFunctions/Formulas.h"
#include "compiler/Sema/Table/Handlers.h"

#include <cmath>
#include <vector>

namespace kiln::sema {
namespace math = mlir::math;
namespace arith = mlir::arith;

Lanes polynomial(llvm::ArrayRef<double> coefficients, const Lanes &x) {
  Lanes sum = x.number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

namespace {

Value scaleByInt(TensorBuilder &build, Call &call) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  Tensor n = x ? build.toTensor(call[1]) : Tensor();
  if (!n)
    return Value();
  if (!n.dtype().isInt())
    return build.error(DiagKind::SemaInvalidArgument, call.info->name, "integers", n.type.str());
  n = build.cast(build.cast(n, Scalar::Int32), getIntType(x.dtype().getBits(), true));
  if (!n || !build.broadcastTogether(x, n))
    return Value();
  return scaleByPower({&build, x}, {&build, n}).value();
}

/// The exponent of finite numbers other than zero, as integers of the width.
Lanes exponentOf(const Lanes &x) {
  FloatFormat format = x.dtype().getFloatFormat();
  // Of a denormal number, that of one which is not.
  Lanes magnitude = x.magnitude();
  Lanes isDenormal = magnitude < format.smallestNormal();
  int shift = int(format.mantissaBits) + 1;
  Lanes normal = isDenormal.select(magnitude * std::ldexp(1.0, shift), magnitude);
  Lanes biased = normal.bits();
  biased = biased.apply<arith::ShRUIOp>(biased.integer(format.mantissaBits));
  return biased - double(format.bias) - isDenormal.select(biased.integer(shift), biased.integer(0));
}

/// The quadrant's number and the rest, |rest| <= 1/4, of x in halves. All steps are exact. NaN of
/// infinities.
std::pair<Lanes, Lanes> reduceHalves(const Lanes &x) {
  Lanes turn = x - 2 * (x * 0.5).apply<math::RoundEvenOp>();
  Lanes quadrant = (turn * 2).apply<math::RoundEvenOp>();
  return {quadrant, turn - quadrant * 0.5};
}

/// Terms of Taylor's series of sin(pi x) / x (1) or cos(pi x) (0), from the second on.
std::vector<double> seriesOfPi(int first) {
  std::vector<double> terms;
  double term = first ? M_PI : 1;
  for (int n = first; n < 20; n += 2)
    terms.push_back(term *= -M_PI * M_PI / ((n + 1) * (n + 2)));
  return terms;
}

/// Of |x| <= 1/4 and a little. Fits of fp32 interpolate at Chebyshev's nodes.
Lanes sineOfRest(const Lanes &x) {
  std::vector<double> terms{-5.1677127792, 2.5501635935, -0.59922879605, 0.081229574508};
  if (x.isDouble())
    terms = seriesOfPi(1);
  // pi's first digits are apart, so that the product's rounding is the last.
  constexpr double digits = 3.140625;
  Lanes z = x * x, rest = polynomial(terms, z) * z + (M_PI - digits);
  return x * rest + x * digits;
}
Lanes cosineOfRest(const Lanes &x) {
  std::vector<double> terms{-4.9348021975, 4.0587105657, -1.3351378139, 0.23212541399};
  if (x.isDouble())
    terms = seriesOfPi(0);
  Lanes z = x * x;
  return polynomial(terms, z) * z + 1;
}

/// The sine of fp32 half turns and of `quarters` of a turn. Beyond 1.5 * 2^23 the last place counts
/// quarters.
Lanes sineOfSingles(const Lanes &x, int quarters) {
  Lanes turn = x - 2 * (x * 0.5).apply<math::RoundEvenOp>();
  Lanes magic = x.number(0x1.8p23), shifted = turn * 2 + magic;
  Lanes rest = turn - (shifted - magic) * 0.5;
  Lanes quadrant = shifted.bits() + double(quarters);
  Lanes isOdd = (quadrant & quadrant.integer(1)) == 1.0;
  Lanes chosen = isOdd.select(cosineOfRest(rest), sineOfRest(rest)).bits();
  // The second bit becomes the sign's.
  Lanes sign = quadrant.apply<arith::ShLIOp>(quadrant.integer(30)) & quadrant.integer(INT32_MIN);
  return chosen.apply<arith::XOrIOp>(sign).bitcast(x.dtype());
}

/// The sine of `quadrant`, from -2 to 3, quarters of a turn and of `rest` half turns.
Lanes sineOfTurn(const Lanes &quadrant, const Lanes &rest) {
  Lanes isOdd = (quadrant.magnitude() == 1) | (quadrant == 3);
  Lanes isNegative = (quadrant.magnitude() == 2) | (quadrant == -1) | (quadrant == 3);
  Lanes result = isOdd.select(cosineOfRest(rest), sineOfRest(rest));
  return isNegative.select(-result, result);
}

} // namespace

/// sin(pi x), or cos(pi x) with one quarter more, but for signs of zeros.
static Lanes sineOfHalves(const Lanes &x, int quarters) {
  if (!x.isDouble())
    return sineOfSingles(x, quarters);
  auto [quadrant, rest] = reduceHalves(x);
  return sineOfTurn(quadrant + quarters, rest);
}

Lanes sinOfPi(const Lanes &x) {
  Lanes result = sineOfHalves(x, 0);
  return (result == 0).select(x.number(0).withSignOf(x), result);
}

Lanes cosOfPi(const Lanes &x) {
  Lanes result = sineOfHalves(x, 1);
  return (result == 0).select(x.number(0), result);
}

Value builtinSinpi(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  return x ? sinOfPi(*x).value() : Value();
}
Value builtinCospi(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  return x ? cosOfPi(*x).value() : Value();
}

Value builtinLdexp(TensorBuilder &build, Call &call) { return scaleByInt(build, call); }
Value builtinScalbn(TensorBuilder &build, Call &call) { return scaleByInt(build, call); }

Value builtinIlogb(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  if (!x)
    return Value();
  Lanes exponent = exponentOf(*x).cast(Scalar::Int32);
  Lanes isUndefined = (*x == 0) | isNaN(*x);
  Lanes result = (x->magnitude() == INFINITY).select(exponent.integer(INT32_MAX), exponent);
  return isUndefined.select(exponent.integer(INT32_MIN), result).value();
}

Value builtinLogb(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  if (!x)
    return Value();
  Lanes exponent = exponentOf(*x).cast(x->dtype());
  Lanes isFinite = x->magnitude() < INFINITY;
  Lanes result = isFinite.select(exponent, *x * *x);
  return (*x == 0).select(x->number(-INFINITY), result).value();
}

Value builtinNextafter(TensorBuilder &build, Call &call) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  Lanes x{&build, both->first}, y{&build, both->second};
  // Bits count away from zero, on both sides of it.
  Lanes bits = x.bits();
  Lanes isPositive = x > 0, goesUp = x < y;
  Lanes away = (isPositive & goesUp) | ((x < 0) & (y < x));
  Lanes stepped = (bits + away.select(bits.integer(1), bits.integer(-1))).bitcast(x.dtype());
  Lanes least = bits.integer(1).bitcast(x.dtype()).withSignOf(y);
  Lanes result = (x == 0).select(least, stepped);
  result = (x == y).select(y, result);
  return (isNaN(x) | isNaN(y)).select(x + y, result).value();
}

/// The rest by twice the divisor is exact; at most two subtractions, exact too, bring it within
/// half the divisor. Twice the rest may become infinite, which compares as it should.
Value builtinRemainder(TensorBuilder &build, Call &call) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  Lanes x{&build, both->first}, y = Lanes{&build, both->second}.magnitude();
  Lanes rest = x.magnitude().apply<arith::RemFOp>(y + y);
  // The quotient's halves go to even: y/2 stays, 3y/2 becomes -y/2.
  Lanes isAboveHalf = rest + rest > y;
  rest = isAboveHalf.select(rest - y, rest);
  rest = (isAboveHalf & (rest + rest >= y)).select(rest - y, rest);
  Lanes isNegative = x.number(1).withSignOf(x) < 0;
  Lanes result = isNegative.select(-rest, rest);
  result = (rest == 0).select(x.number(0).withSignOf(x), result);
  Lanes isInvalid = isNaN(x) | isNaN(y) | (x.magnitude() == INFINITY) | (y == 0);
  return isInvalid.select(x.number(NAN), result).value();
}

/// Adding zero keeps a product's rounding: a target may fuse the two, and not the product with what
/// comes after. It loses the sign of a zero.
static Lanes rounded(const Lanes &x) { return x + 0.0; }

static Value sumRounded(TensorBuilder &build, const Call &call, bool isDifference) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  Lanes x{&build, both->first}, y{&build, both->second};
  y = isDifference ? -y : y;
  return ((x == 0) & (y == 0)).select(x + y, rounded(x) + rounded(y)).value();
}
Value builtinAddRn(TensorBuilder &build, Call &call) { return sumRounded(build, call, false); }
Value builtinSubRn(TensorBuilder &build, Call &call) { return sumRounded(build, call, true); }

Value builtinMulRn(TensorBuilder &build, Call &call) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  Lanes x{&build, both->first}, y{&build, both->second};
  Lanes product = x * y;
  return (product == 0).select(product, rounded(product)).value();
}

} // namespace kiln::sema
