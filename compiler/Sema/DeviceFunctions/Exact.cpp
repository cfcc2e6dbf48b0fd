// libdevice's functions on the parts of floats, which are exact, and those that an exact reduction
// leads to: exponents, neighbours, remainders, sin and cos of multiples of pi.

#include "compiler/Sema/Tensors/Lanes.h"

#include <cmath>
#include <vector>

namespace kiln::sema {
namespace {

namespace math = mlir::math;
namespace arith = mlir::arith;

/// The format of fp32 or fp64.
struct Format {
  explicit Format(const Lanes &x)
      : mantissa(x.isDouble() ? 52 : 23), maxExponent(x.isDouble() ? 1023 : 127),
        minExponent(1 - maxExponent) {}
  int mantissa, maxExponent, minExponent;
};

} // namespace

Lanes polynomial(llvm::ArrayRef<double> coefficients, const Lanes &x) {
  Lanes sum = x.number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

Lanes powerOfTwo(const Lanes &exponent, const Lanes &like) {
  Format format(like);
  Lanes biased = exponent + double(format.maxExponent);
  return biased.apply<arith::ShLIOp>(biased.integer(format.mantissa)).bitcast(like.dtype());
}

Lanes scaleByPower(Lanes x, Lanes n) {
  // The first two factors keep what they multiply normal, or take it to where the result is
  // certain.
  Format format(x);
  int up = format.maxExponent, down = format.minExponent + format.mantissa + 1;
  for (int step = 0; step < 2; ++step) {
    Lanes isLarge = n > double(up), isSmall = n < double(format.minExponent);
    auto choose = [&](const Lanes &large, const Lanes &small, const Lanes &none) {
      return isLarge.select(large, isSmall.select(small, none));
    };
    x = x * choose(x.number(std::ldexp(1.0, up)), x.number(std::ldexp(1.0, down)), x.number(1));
    n = n - choose(n.integer(up), n.integer(down), n.integer(0));
  }
  n = n.apply<arith::MinSIOp>(n.integer(up)).apply<arith::MaxSIOp>(n.integer(format.minExponent));
  return x * powerOfTwo(n, x);
}

namespace {

Value scaleByInt(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  Tensor n = x ? evaluator.toTensor(call[1]) : Tensor();
  if (!n)
    return Value();
  if (!n.dtype().isInt())
    return evaluator.error(DiagKind::SemaInvalidArgument, call.info->name, "integers",
                           n.type.str());
  n = evaluator.cast(evaluator.cast(n, Scalar::Int32), getIntType(x.dtype().getBits(), true));
  if (!n || !evaluator.broadcastTogether(x, n))
    return Value();
  return scaleByPower({&evaluator, x}, {&evaluator, n}).value();
}

/// The exponent of finite numbers other than zero, as integers of the width.
Lanes exponentOf(const Lanes &x) {
  Format format(x);
  // Of a denormal number, that of one which is not.
  Lanes magnitude = x.magnitude();
  Lanes isDenormal = magnitude < std::ldexp(1.0, format.minExponent);
  int shift = format.mantissa + 1;
  Lanes normal = isDenormal.select(magnitude * std::ldexp(1.0, shift), magnitude);
  Lanes biased = normal.bits();
  biased = biased.apply<arith::ShRUIOp>(biased.integer(format.mantissa));
  return biased - double(format.maxExponent) -
         isDenormal.select(biased.integer(shift), biased.integer(0));
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

/// The sine of `quadrant`, from -2 to 3, quarters of a turn and of `rest` half turns.
Lanes sineOfTurn(const Lanes &quadrant, const Lanes &rest) {
  Lanes isOdd = (quadrant.magnitude() == 1) | (quadrant == 3);
  Lanes isNegative = (quadrant.magnitude() == 2) | (quadrant == -1) | (quadrant == 3);
  Lanes result = isOdd.select(cosineOfRest(rest), sineOfRest(rest));
  return isNegative.select(-result, result);
}

} // namespace

Lanes sinOfPi(const Lanes &x) {
  auto [quadrant, rest] = reduceHalves(x);
  Lanes result = sineOfTurn(quadrant, rest);
  return (result == 0).select(x.number(0).withSignOf(x), result);
}

Lanes cosOfPi(const Lanes &x) {
  auto [quadrant, rest] = reduceHalves(x);
  Lanes result = sineOfTurn(quadrant + 1, rest);
  return (result == 0).select(x.number(0), result);
}

Value builtinSinpi(Evaluator &evaluator, Call &call) {
  auto x = floatLanes(evaluator, call);
  return x ? sinOfPi(*x).value() : Value();
}
Value builtinCospi(Evaluator &evaluator, Call &call) {
  auto x = floatLanes(evaluator, call);
  return x ? cosOfPi(*x).value() : Value();
}

Value builtinLdexp(Evaluator &evaluator, Call &call) { return scaleByInt(evaluator, call); }
Value builtinScalbn(Evaluator &evaluator, Call &call) { return scaleByInt(evaluator, call); }

Value builtinIlogb(Evaluator &evaluator, Call &call) {
  auto x = floatLanes(evaluator, call);
  if (!x)
    return Value();
  Lanes exponent = exponentOf(*x).cast(Scalar::Int32);
  Lanes isUndefined = (*x == 0) | isNaN(*x);
  Lanes result = (x->magnitude() == INFINITY).select(exponent.integer(INT32_MAX), exponent);
  return isUndefined.select(exponent.integer(INT32_MIN), result).value();
}

Value builtinLogb(Evaluator &evaluator, Call &call) {
  auto x = floatLanes(evaluator, call);
  if (!x)
    return Value();
  Lanes exponent = exponentOf(*x).cast(x->dtype());
  Lanes isFinite = x->magnitude() < INFINITY;
  Lanes result = isFinite.select(exponent, *x * *x);
  return (*x == 0).select(x->number(-INFINITY), result).value();
}

Value builtinNextafter(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  if (!both)
    return Value();
  Lanes x{&evaluator, both->first}, y{&evaluator, both->second};
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
Value builtinRemainder(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  if (!both)
    return Value();
  Lanes x{&evaluator, both->first}, y = Lanes{&evaluator, both->second}.magnitude();
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

static Value sumRounded(Evaluator &evaluator, const Call &call, bool isDifference) {
  auto both = floatOperands(evaluator, call);
  if (!both)
    return Value();
  Lanes x{&evaluator, both->first}, y{&evaluator, both->second};
  y = isDifference ? -y : y;
  return ((x == 0) & (y == 0)).select(x + y, rounded(x) + rounded(y)).value();
}
Value builtinAddRn(Evaluator &evaluator, Call &call) { return sumRounded(evaluator, call, false); }
Value builtinSubRn(Evaluator &evaluator, Call &call) { return sumRounded(evaluator, call, true); }

Value builtinMulRn(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  if (!both)
    return Value();
  Lanes x{&evaluator, both->first}, y{&evaluator, both->second};
  Lanes product = x * y;
  return (product == 0).select(product, rounded(product)).value();
}
Value builtinDeviceSqrtRn(Evaluator &evaluator, Call &call) {
  return floatFunction<math::SqrtOp>(evaluator, call);
}

} // namespace kiln::sema
