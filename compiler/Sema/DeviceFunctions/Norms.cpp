// libdevice's functions that a few others make: lengths of vectors, and
// compositions.

#include "compiler/Sema/DeviceFunctions/Formulas.h"
#include "compiler/Sema/Table/Handlers.h"

#include <cmath>
#include <vector>

namespace kiln::sema {
namespace {

namespace math = mlir::math;
namespace arith = mlir::arith;
using ast::BinaryOp;

Value number(TensorBuilder &build, Tensor like, double value) {
  return Value::tensor(
      build.splat(build.constant(like.dtype(), Value::real(value)), like.type.shape));
}

/// A vector's components divided by the power of two of the largest, which is
/// exact, so that no square overflows, or vanishes that counts: the sum of the
/// squares, and the power.
struct Length {
  Lanes scale, inverse, sum, isInfinite;
};
std::optional<Length> measure(TensorBuilder &build, const Call &call) {
  std::vector<Lanes> x;
  if (!readOperands(build, call, x))
    return std::nullopt;
  Lanes largest = x[0].magnitude();
  for (const Lanes &other : llvm::ArrayRef(x).drop_front())
    largest = largest.apply<arith::MaxNumFOp>(other.magnitude());
  int mantissa = largest.isDouble() ? 52 : 23, bias = largest.isDouble() ? 1023 : 127;
  auto power = [&](int64_t biased) { return largest.bits().integer(biased << mantissa); };
  // Clear of both ends, so that the inverse is a normal number too.
  Lanes field = largest.bits() & power(2 * bias + 1);
  field = field.apply<arith::MaxSIOp>(power(1)).apply<arith::MinSIOp>(power(2 * bias - 1));
  Lanes scale = field.bitcast(largest.dtype());
  Lanes inverse = (power(2 * bias) - field).bitcast(largest.dtype());
  Lanes sum = largest.number(0);
  for (const Lanes &component : x) {
    Lanes scaled = component * inverse;
    sum = sum + scaled * scaled;
  }
  return Length{scale, inverse, sum, largest == INFINITY};
}

/// An infinite component makes an infinite length, whatever the others.
Value length(TensorBuilder &build, Call &call) {
  auto parts = measure(build, call);
  if (!parts)
    return Value();
  Lanes result = approximately<math::SqrtOp>(parts->sum) * parts->scale;
  return parts->isInfinite.select(result.number(INFINITY), result).value();
}

Value inverseLength(TensorBuilder &build, Call &call) {
  auto parts = measure(build, call);
  if (!parts)
    return Value();
  Lanes result = approximately<math::RsqrtOp>(parts->sum) * parts->inverse;
  return parts->isInfinite.select(result.number(0), result).value();
}

} // namespace

Value builtinHypot(TensorBuilder &build, Call &call) { return length(build, call); }
Value builtinNorm3d(TensorBuilder &build, Call &call) { return length(build, call); }
Value builtinNorm4d(TensorBuilder &build, Call &call) { return length(build, call); }
Value builtinRhypot(TensorBuilder &build, Call &call) { return inverseLength(build, call); }
Value builtinRnorm3d(TensorBuilder &build, Call &call) { return inverseLength(build, call); }
Value builtinRnorm4d(TensorBuilder &build, Call &call) { return inverseLength(build, call); }

Value builtinFdim(TensorBuilder &build, Call &call) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  Value x = Value::tensor(both->first), y = Value::tensor(both->second);
  // NaN is not below anything, so that the difference is NaN.
  Value isBelow = build.compare(ast::CompareOp::LessEqual, x, y);
  Value difference = build.binary(BinaryOp::Sub, x, y);
  if (build.failed())
    return Value();
  return Value::tensor(build.select(isBelow.getTensor(), number(build, both->first, 0).getTensor(),
                                    difference.getTensor()));
}

Value builtinSaturatef(TensorBuilder &build, Call &call) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  if (!x)
    return Value();
  Tensor low = build.minMax(true, Value::tensor(x), number(build, x, 0), false);
  return Value::tensor(build.minMax(false, Value::tensor(low), number(build, x, 1), false));
}

/// One step of Newton's from an estimate.
static Lanes inverseCubeRoot(const Lanes &x) {
  Lanes magnitude = x.magnitude(), isRegular = (magnitude > 0) & (magnitude < INFINITY);
  Lanes guess = approximately<math::Exp2Op>(approximately<math::Log2Op>(magnitude) * (-1.0 / 3));
  // The other way round the square may be infinite.
  Lanes excess = (-(magnitude * guess * guess)).fused(guess, x.number(1));
  Lanes better = guess + guess * (excess * (1.0 / 3));
  return isRegular.select(better, guess).withSignOf(x);
}

/// In fp64 one step of Newton's from the quotient, which has cbrt's error and its own.
Value builtinRcbrt(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  if (!x)
    return Value();
  if (!x->isDouble())
    return inverseCubeRoot(*x).value();
  Lanes root = x->apply<math::CbrtOp>();
  Lanes guess{&build, build.divide(x->number(1).tensor, root.tensor, true)};
  Lanes excess = (-(*x * guess)).fused(guess * guess, x->number(1));
  Lanes better = guess + guess * (excess * (1.0 / 3));
  Lanes magnitude = x->magnitude();
  Lanes isRegular = (magnitude > 0) & (magnitude < INFINITY);
  return isRegular.select(better, guess).value();
}

/// erfc(t) / 2 for t = -x / sqrt(2), which is rounded; erfc is so steep that
/// what this loses counts: the derivative is about -2 t erfc(t) where t is
/// large.
Value builtinNormcdf(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  if (!x)
    return Value();
  double high = x->isDouble() ? M_SQRT1_2 : float(M_SQRT1_2);
  double low = x->isDouble() ? -4.833646656726457e-17 : M_SQRT1_2 - high;
  Lanes t = *x * -high;
  Lanes lost = x->fused(x->number(-low), x->fused(x->number(-high), -t));
  // Of negative t erfc is flat; beyond 32 it is zero.
  Lanes slope = t.apply<arith::MaxNumFOp>(t.number(0)).apply<arith::MinNumFOp>(t.number(32)) * -2;
  Lanes tail = t.apply<math::ErfcOp>();
  Lanes correction = (t.magnitude() < 32).select(slope * lost, t.number(0));
  return ((tail + tail * correction) * 0.5).value();
}

/// 10^n and 10^r for x = n log10(2) + r: exact in the first part of log10(2),
/// which has few digits.
Value builtinExp10(TensorBuilder &build, Call &call) {
  auto x = floatLanes(build, call);
  if (!x)
    return Value();
  // Beyond, the result is zero or infinite.
  auto [least, largest] = x->isDouble() ? std::pair(-326.0, 309.0) : std::pair(-46.0, 39.0);
  Lanes limited = (*x < least).select(x->number(least), *x);
  limited = (limited > largest).select(x->number(largest), limited);
  // A number from here on has its ones in the lowest bits.
  Lanes magic = x->number(x->isDouble() ? 0x1.8p52 : 0x1.8p23);
  constexpr double log2Of10 = 3.321928094887362347870319429489390176;
  Lanes shifted = limited * log2Of10 + magic;
  Lanes n = shifted - magic, power = shifted.bits() - magic.bits();
  constexpr double high = 0.301025390625, low = 4.6050389811952137e-06;
  Lanes rest = (limited - n * high) - n * low;
  Lanes half = power.apply<arith::ShRSIOp>(power.integer(1));
  Lanes result = (rest * log2Of10).apply<math::Exp2Op>();
  return (result * powerOfTwo(half, *x) * powerOfTwo(power - half, *x)).value();
}

} // namespace kiln::sema
