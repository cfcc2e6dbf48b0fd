// No target is told to round otherwise: a result is computed in fp64 to nearest together with its
// exact error, whose sign says whether the neighbour is the result. The error of a sum is a sum,
// and that of a product a sum of products of halves (Knuth, The Art of Computer Programming
// 2, 4.2.2; Dekker, "A floating-point technique for extending the available precision", 1971).
// Results of fp32 are exact in fp64 or nearly so; fp64's operands are scaled to [1, 2) first, so
// that no step overflows or loses bits.
//
// Targets may fuse a product and a sum. Here every product that is added to something is exact, so
// that fusing changes nothing, or is a multiply-add of its own.
//
// Refused: the rounding modes of GPUs' instructions. AMD's and the CPU's are a state that every
// other operation would see, and NVIDIA's would be a second implementation to test.

#include "compiler/Sema/Tensors/DirectedRounding.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace kiln::sema {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

/// (high + low) * 2 ** exponent, where of `low` only the sign counts and it is at most half a unit
/// of high's last place.
struct Exact {
  Lanes high, low;
  std::optional<Lanes> exponent;
};

/// mantissa * 2 ** exponent: the mantissa in [1, 2) or its negative, the exponent int64. Zero has
/// an exponent below all others; infinities and NaN are their own mantissas.
struct Parts {
  Lanes mantissa, exponent;
};

constexpr double exponentOfZero = -5000;

Lanes negative(const Lanes &x) { return x.number(1).withSignOf(x) < 0; }
Lanes isOpposite(const Lanes &a, const Lanes &b) {
  return a.apply<arith::XOrIOp>(b); // of booleans
}

Parts split(const Lanes &x) {
  Lanes magnitude = x.magnitude();
  Lanes isDenormal = magnitude < 0x1p-1022;
  Lanes bits = isDenormal.select(x * 0x1p54, x).bits();
  Lanes field = bits.apply<arith::ShRUIOp>(bits.integer(52)) & bits.integer(0x7ff);
  Lanes exponent = field - 1023.0 - isDenormal.select(bits.integer(54), bits.integer(0));
  Lanes mantissa = ((bits & bits.integer(0x800fffffffffffff)) | bits.integer(0x3ff0000000000000))
                       .bitcast(x.dtype());
  Lanes isOrdinary = (magnitude > 0) & (magnitude < INFINITY);
  Lanes other = (x == 0).select(bits.integer(int64_t(exponentOfZero)), bits.integer(0));
  return {isOrdinary.select(mantissa, x), isOrdinary.select(exponent, other)};
}

/// high + low = a + b exactly.
Exact exactSum(const Lanes &a, const Lanes &b) {
  Lanes sum = a + b;
  Lanes part = sum - a;
  return {sum, (a - (sum - part)) + (b - part), std::nullopt};
}

/// The upper 26 bits of a mantissa, rounded: the rest has 26 too.
Lanes upperHalf(const Lanes &x) {
  Lanes bits = x.bits();
  return ((bits + double(1 << 26)) & bits.integer(-(int64_t(1) << 27))).bitcast(x.dtype());
}

/// To nearest, as an operation that cannot be fused with others.
Lanes product(const Lanes &a, const Lanes &b) { return a.apply<math::FmaOp>(b, a.number(0)); }

/// a * b - rounded exactly, for operands near 1.
Lanes productError(const Lanes &a, const Lanes &b, const Lanes &rounded) {
  Lanes a1 = upperHalf(a), b1 = upperHalf(b), a2 = a - a1, b2 = b - b1;
  return ((a1 * b1 - rounded) + a1 * b2 + a2 * b1) + a2 * b2;
}

/// The number next to x, upward or downward.
Lanes neighbour(const Lanes &x, bool isUp) {
  Lanes bits = x.bits();
  Lanes grows = isUp ? x > 0 : x < 0;
  Lanes moved = (bits + grows.select(bits.integer(1), bits.integer(-1))).bitcast(x.dtype());
  Lanes least = bits.integer(1).bitcast(x.dtype());
  return (x == 0).select(isUp ? least : -least, moved);
}

/// Rounds to nearest, looks on which side the number was, and takes a step if need be.
Lanes round(Direction direction, const Exact &exact, DType type) {
  Lanes high = exact.high;
  bool isNarrow = type.is(Scalar::FP32);
  // Exact: what becomes fp32 has an exponent that fp64 holds many times over.
  if (isNarrow && exact.exponent)
    high = scaleByPower(high, *exact.exponent);
  Lanes nearest = high, back = high;
  if (isNarrow) {
    nearest = high.cast(type);
    back = nearest.cast(Scalar::FP64);
  } else if (exact.exponent) {
    nearest = scaleByPower(high, *exact.exponent);
    back = scaleByPower(nearest, 0 - *exact.exponent);
  }
  Lanes isSame = back == high;
  Lanes isBelow = (back < high) | (isSame & (exact.low > 0));
  Lanes isAbove = (back > high) | (isSame & (exact.low < 0));
  if (direction == Direction::Up)
    return isBelow.select(neighbour(nearest, true), nearest);
  if (direction == Direction::Down)
    return isAbove.select(neighbour(nearest, false), nearest);
  Lanes isPast = negative(high).select(isBelow, isAbove);
  Lanes bits = nearest.bits();
  return isPast.select((bits - 1.0).bitcast(type), nearest);
}

/// a * b + c of fp64, which may be fp32's: then the product is exact.
Exact exactFused(const Lanes &a, const Lanes &b, const Lanes &c, bool isNarrow) {
  if (isNarrow)
    return exactSum(product(a, b), c);
  Parts x = split(a), y = split(b), z = split(c);
  Lanes high = product(x.mantissa, y.mantissa);
  Lanes low = productError(x.mantissa, y.mantissa, high);
  Lanes exponent = x.exponent + y.exponent;
  // The addend in the product's units. Where one is 200 bits from the other, only its sign counts.
  constexpr double apart = 200;
  Lanes distance = z.exponent - exponent;
  Lanes isAddendFarAbove = distance > apart;
  distance = distance.apply<arith::MinSIOp>(distance.integer(int64_t(apart)))
                 .apply<arith::MaxSIOp>(distance.integer(-int64_t(apart)));
  exponent = isAddendFarAbove.select(z.exponent - apart, exponent);
  Lanes addend = scaleByPower(z.mantissa, distance);
  Exact sum = exactSum(high, addend);
  Exact rest = exactSum(sum.low, low);
  Exact total = exactSum(sum.high, rest.high);
  Lanes isFinite = sum.high - sum.high == 0;
  return {isFinite.select(total.high, sum.high), (total.low == 0).select(rest.low, total.low),
          exponent};
}

/// The zero that comes of a * b + c: the sign that both have, or else the direction's.
Lanes zeroOf(Direction direction, const Lanes &isProductNegative, const Lanes &isAddendNegative,
             const Lanes &like) {
  Lanes isNegative = direction == Direction::Down ? isProductNegative | isAddendNegative
                                                  : isProductNegative & isAddendNegative;
  return isNegative.select(-like.number(0), like.number(0));
}

} // namespace

std::optional<Direction> directionNamed(llvm::StringRef suffix) {
  return llvm::StringSwitch<std::optional<Direction>>(suffix)
      .Case("rz", Direction::TowardZero)
      .Cases({"rd", "rm"}, Direction::Down)
      .Cases({"ru", "rp"}, Direction::Up)
      .Default(std::nullopt);
}

Lanes fusedToward(Direction direction, const Lanes &a, const Lanes &b, const Lanes &c) {
  DType type = a.dtype();
  Exact exact = exactFused(a.cast(Scalar::FP64), b.cast(Scalar::FP64), c.cast(Scalar::FP64),
                           type.is(Scalar::FP32));
  Lanes isZero = (exact.high == 0) & (exact.low == 0);
  Lanes isProductNegative = isOpposite(negative(a), negative(b));
  return isZero.select(zeroOf(direction, isProductNegative, negative(c), a),
                       round(direction, exact, type));
}

Lanes sumToward(Direction direction, const Lanes &a, const Lanes &b) {
  return fusedToward(direction, a, a.number(1), b);
}

Lanes productToward(Direction direction, const Lanes &a, const Lanes &b) {
  // A zero of the product's sign adds nothing, and keeps it.
  Lanes isNegative = isOpposite(negative(a), negative(b));
  return fusedToward(direction, a, b, isNegative.select(-a.number(0), a.number(0)));
}

Lanes quotientToward(Direction direction, const Lanes &a, const Lanes &b) {
  DType type = a.dtype();
  Parts x = split(a.cast(Scalar::FP64).magnitude()), y = split(b.cast(Scalar::FP64).magnitude());
  Lanes isNegative = isOpposite(negative(a), negative(b));
  Lanes quotient = x.mantissa / y.mantissa;
  Lanes back = product(quotient, y.mantissa);
  Lanes rest = (x.mantissa - back) - productError(quotient, y.mantissa, back);
  Exact exact{isNegative.select(-quotient, quotient), isNegative.select(-rest, rest),
              x.exponent - y.exponent};
  Lanes isOrdinary = (a.magnitude() > 0) & (a.magnitude() < INFINITY) & (b.magnitude() > 0) &
                     (b.magnitude() < INFINITY);
  return isOrdinary.select(round(direction, exact, type), a / b);
}

Lanes rootToward(Direction direction, const Lanes &x) {
  Parts parts = split(x.cast(Scalar::FP64));
  Lanes isOdd = (parts.exponent & parts.exponent.integer(1)) == 1.0;
  Lanes mantissa = isOdd.select(parts.mantissa * 2, parts.mantissa);
  Lanes root = mantissa.apply<math::SqrtOp>();
  Lanes back = product(root, root);
  Lanes rest = (mantissa - back) - productError(root, root, back);
  Lanes half = parts.exponent.apply<arith::ShRSIOp>(parts.exponent.integer(1));
  Lanes isOrdinary = (x > 0) & (x < INFINITY);
  return isOrdinary.select(round(direction, {root, rest, half}, x.dtype()),
                           x.apply<math::SqrtOp>());
}

Lanes convertToward(Direction direction, const Lanes &x, DType type) {
  if (x.isFloat())
    return round(direction, {x, x.number(0), std::nullopt}, type);
  if (x.dtype().getBits() < 64) {
    Lanes wide = x.cast(Scalar::FP64);
    return round(direction, {wide, wide.number(0), std::nullopt}, type);
  }
  // Two words, each exact.
  Lanes word = x.integer(32);
  Lanes upper =
      x.dtype().isSigned() ? x.apply<arith::ShRSIOp>(word) : x.apply<arith::ShRUIOp>(word);
  Lanes high = upper.cast(Scalar::FP64) * 0x1p32;
  Lanes low = (x & x.integer(0xffffffff)).cast(Scalar::FP64);
  return round(direction, exactSum(high, low), type);
}

} // namespace kiln::sema
