// libdevice's Bessel functions and the scaled complement of the error function, in fp64; orders 0
// and 1 of fp32 are SingleBessel.cpp's, higher ones are computed here.
//
// Up to 8 the functions of the first and second kind are their zeros times a polynomial, so that
// they are accurate relatively near the zeros too; beyond, amplitude times sine and cosine, whose
// error is absolute, as libdevice's. Higher orders come of the recurrence: upward, which is stable
// for the second kind and while the order is below x, or downward from where they vanish (J. C. P.
// Miller's algorithm, Abramowitz and Stegun 9.12). BesselTables.h has the polynomials.

#include "compiler/Sema/DeviceFunctions/BesselTables.h"
#include "compiler/Sema/DeviceFunctions/SinglePrecision.h"
#include "compiler/Sema/Table/Handlers.h"

#include <cmath>

namespace kiln::sema {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
namespace scf = mlir::scf;

Lanes root(const Lanes &x) { return x.apply<math::SqrtOp>(); }
Lanes exp(const Lanes &x) { return x.apply<math::ExpOp>(); }

/// What a table has for the piece in which x lies: the value that `field` picks.
template <size_t count, size_t pieces, typename Field>
Lanes choose(const BesselPiece<count> (&table)[pieces], const Lanes &x, Field field) {
  Lanes result = x.number(field(table[pieces - 1]));
  for (size_t piece = pieces - 1; piece-- > 0;)
    result = (x < table[piece].high).select(x.number(field(table[piece])), result);
  return result;
}

/// The polynomial of the piece in which x lies.
template <size_t count, size_t pieces>
Lanes evaluate(const BesselPiece<count> (&table)[pieces], const Lanes &x) {
  using Piece = BesselPiece<count>;
  auto square = [](double x) { return x * x; };
  Lanes slope = choose(
      table, x, [&](const Piece &piece) { return 2 / (square(piece.high) - square(piece.low)); });
  Lanes middle = choose(
      table, x, [&](const Piece &piece) { return (square(piece.high) + square(piece.low)) / 2; });
  Lanes u = (x * x - middle) * slope, sum = u.number(0);
  for (size_t power = count; power-- > 0;)
    sum = sum * u + choose(table, x, [&](const Piece &piece) { return piece.coefficients[power]; });
  return sum;
}

/// (x - z) (x + z) for a zero of two parts.
Lanes nearZero(const Lanes &x, const Lanes &zero, const Lanes &rest) {
  return ((x - zero) - rest) * (x + zero);
}
Lanes nearZero(const Lanes &x, double zero, double rest) {
  return nearZero(x, x.number(zero), x.number(rest));
}

Lanes smallJ0(const Lanes &x) {
  return nearZero(x, 2.404825557695773, -1.176691651530894e-16) *
         nearZero(x, 5.520078110286311, 8.088597146146722e-17) * evaluate(j0Pieces, x);
}
Lanes smallJ1(const Lanes &x) {
  return x * nearZero(x, 3.8317059702075125, -1.5269184090088067e-16) *
         nearZero(x, 7.015586669815619, -9.414165653410389e-17) * evaluate(j1Pieces, x);
}

/// 2/pi log(x/z) J + (x^2 - z^2) P, where both parts vanish at the zero.
template <size_t pieces>
Lanes smallY(const BesselPiece<13> (&table)[pieces], const Lanes &x, const Lanes &first,
             const Lanes &divisor) {
  using Piece = BesselPiece<13>;
  Lanes zero = choose(table, x, [](const Piece &piece) { return piece.zero; });
  Lanes rest = choose(table, x, [](const Piece &piece) { return piece.zeroRest; });
  Lanes distance = ((x - zero) - rest) / zero;
  Lanes logarithm = (distance.magnitude() < 0.5)
                        .select(distance.apply<math::Log1pOp>(),
                                x.apply<math::LogOp>() - zero.apply<math::LogOp>());
  return logarithm * first * M_2_PI + nearZero(x, zero, rest) * evaluate(table, x) / divisor;
}

/// From 8 on: (P cos c - Q sin c) sqrt(2 / (pi x)) and the same with sine and cosine exchanged, for
/// c = x - pi/4 or x - 3/4 pi.
struct Wave {
  Lanes first, second;
};
Wave wave(const Lanes &x, unsigned order) {
  Lanes inverse = 8 / x, u = inverse * inverse * 2 - 1;
  Lanes p = polynomial(order ? amplitudeP1 : amplitudeP0, u);
  Lanes q = polynomial(order ? amplitudeQ1 : amplitudeQ0, u) * inverse;
  Lanes sine = x.apply<math::SinOp>(), cosine = x.apply<math::CosOp>();
  // sqrt(2) times the cosine and the sine of c.
  Lanes sum = sine + cosine, difference = sine - cosine;
  Lanes c = order ? difference : sum, s = order ? -sum : difference;
  Lanes scale = root(x * M_PI);
  Lanes isInfinite = x == INFINITY;
  auto orZero = [&](const Lanes &y) { return isInfinite.select(x.number(0), y); };
  return {orZero((p * c - q * s) / scale), orZero((p * s + q * c) / scale)};
}

Lanes j0(const Lanes &x) {
  Lanes magnitude = x.magnitude();
  return (magnitude < 8).select(smallJ0(magnitude), wave(magnitude, 0).first);
}
Lanes j1(const Lanes &x) {
  Lanes magnitude = x.magnitude();
  Lanes result = (magnitude < 8).select(smallJ1(magnitude), wave(magnitude, 1).first);
  return (x.number(1).withSignOf(x) < 0).select(-result, result);
}

/// Minus infinity at 0 and NaN below.
Lanes secondKind(const Lanes &x, const Lanes &result) {
  Lanes above = (x == 0).select(x.number(-INFINITY), result);
  return (x < 0).select(x.number(NAN), above);
}
Lanes y0(const Lanes &x) {
  return secondKind(
      x, (x < 8).select(smallY(y0Pieces, x, smallJ0(x), x.number(1)), wave(x, 0).second));
}
Lanes y1(const Lanes &x) {
  return secondKind(x, (x < 8).select(smallY(y1Pieces, x, smallJ1(x), x), wave(x, 1).second));
}

/// The power series, all of whose terms are positive, up to 12; exp(x) / sqrt(x) times a polynomial
/// beyond.
Lanes modified(const Lanes &x, unsigned order, llvm::ArrayRef<double> scaled) {
  Lanes magnitude = x.magnitude(), quarter = magnitude * magnitude * 0.25;
  std::vector<double> terms;
  double factorials = 1;
  for (unsigned k = 0; k < 32; ++k, factorials *= k * double(k + order))
    terms.push_back(1 / factorials);
  Lanes series = polynomial(terms, quarter);
  if (order)
    series = series * magnitude * 0.5;
  // The exponential alone would become infinite before the quotient does.
  Lanes isHuge = magnitude > 600;
  Lanes power = exp(isHuge.select(magnitude - 16, magnitude));
  Lanes quotient = polynomial(scaled, 24 / magnitude - 1) / root(magnitude) * power;
  quotient = isHuge.select(quotient * 8886110.520507872, quotient);
  quotient = (magnitude == INFINITY).select(magnitude, quotient);
  return (magnitude < 12).select(series, quotient);
}
Lanes i0(const Lanes &x) { return modified(x, 0, scaledI0); }
Lanes i1(const Lanes &x) {
  Lanes result = modified(x, 1, scaledI1);
  return (x < 0).select(-result, result);
}

/// exp(x^2) erfc(x). The square in two parts, as the exponential magnifies its error.
Lanes erfcx(const Lanes &x) {
  Lanes magnitude = x.magnitude();
  Lanes t = (magnitude - 4) / (magnitude + 4);
  Lanes above = polynomial(scaledErfcx, t) / (magnitude * 2 + 1);
  above = (magnitude == INFINITY).select(x.number(0), above);
  Lanes bits = magnitude.bits();
  Lanes upper = (bits & bits.integer(-(int64_t(1) << 27))).bitcast(x.dtype());
  Lanes rest = (magnitude - upper) * (magnitude + upper);
  Lanes power = exp(upper * upper);
  // The exponential of the rest, which is below 1e-5.
  Lanes below = (power + power * rest * polynomial({1, 0.5, 1.0 / 6}, rest)) * 2 - above;
  below = (power == INFINITY).select(power, below);
  return (x < 0).select(below, above);
}

//===-- Higher orders --===//

/// for (k = 1; k < n; ++k) states = step(k as a number, states), of scalars.
template <typename Step>
std::vector<Lanes> repeat(TensorBuilder &build, const Lanes &from, const Lanes &to,
                          llvm::ArrayRef<Lanes> states, Step step) {
  llvm::SmallVector<mlir::Value> initial;
  for (const Lanes &state : states)
    initial.push_back(state.tensor.ir);
  mlir::Value one = from.integer(1).tensor.ir;
  auto loop = scf::ForOp::create(build.getBuilder(), build.loc(), from.tensor.ir, to.tensor.ir, one,
                                 initial);
  {
    mlir::OpBuilder::InsertionGuard guard(build.getBuilder());
    build.getBuilder().setInsertionPointToStart(loop.getBody());
    std::vector<Lanes> carried;
    for (auto [value, state] : llvm::zip(loop.getRegionIterArgs(), states))
      carried.push_back({&build, {value, state.tensor.type}});
    Lanes counter{&build, {loop.getInductionVar(), from.tensor.type}};
    llvm::SmallVector<mlir::Value> results;
    for (const Lanes &state : step(counter.cast(Scalar::FP64), carried))
      results.push_back(state.tensor.ir);
    scf::YieldOp::create(build.getBuilder(), build.loc(), results);
  }
  std::vector<Lanes> results;
  for (auto [value, state] : llvm::zip(loop.getResults(), states))
    results.push_back({&build, {value, state.tensor.type}});
  return results;
}

/// f(n) from f(0) and f(1) by f(k + 1) = 2 k / x f(k) - f(k - 1). What has become infinite stays
/// so.
Lanes recurUpward(TensorBuilder &build, const Lanes &n, const Lanes &x, const Lanes &zeroth,
                  const Lanes &first) {
  Lanes scale = 2 / x;
  std::vector<Lanes> last =
      repeat(build, n.integer(1), n, {zeroth, first}, [&](const Lanes &k, std::vector<Lanes> f) {
        Lanes next = k * scale * f[1] - f[0];
        return std::vector<Lanes>{f[1], (f[1] == -INFINITY).select(f[1], next)};
      });
  return (n == 0.0).select(zeroth, last[1]);
}

/// J(n) below n > x > 0: downward from an order at which it is nothing, up to a factor that the sum
/// J(0) + 2 J(2) + 2 J(4) + … = 1 tells.
Lanes recurDownward(TensorBuilder &build, const Lanes &n, const Lanes &x) {
  Lanes scale = 2 / x, real = n.cast(Scalar::FP64);
  // Even, and so far above n that its share is below a unit in the last place.
  Lanes start = (real + root(real * 160)).cast(Scalar::Int32);
  start = start - (start & start.integer(1)) + 2.0;
  Lanes zero = x.number(0);
  Lanes startReal = start.cast(Scalar::FP64);
  constexpr double huge = 0x1p500;
  // f(j), f(j + 1), f(n), and the sum over even orders, where j = start - k.
  std::vector<Lanes> last = repeat(build, n.integer(0), start, {x.number(1), zero, zero, zero},
                                   [&](const Lanes &k, std::vector<Lanes> f) {
                                     Lanes order = startReal - k,
                                           next = order * scale * f[0] - f[1];
                                     Lanes isHuge = next.magnitude() > huge;
                                     Lanes factor = isHuge.select(x.number(1 / huge), x.number(1));
                                     next = next * factor;
                                     Lanes previous = f[0] * factor;
                                     // `next` is of order - 1.
                                     Lanes half = (order - 1) * 0.5;
                                     Lanes isEven = half == half.apply<math::FloorOp>();
                                     Lanes wanted = (order - 1 == real).select(next, f[2] * factor);
                                     Lanes sum = f[3] * factor + isEven.select(next, zero);
                                     return std::vector<Lanes>{next, previous, wanted, sum};
                                   });
  // The sum has each order once, J(0) too.
  return last[2] / (last[3] * 2 - last[0]);
}

Lanes jn(TensorBuilder &build, const Lanes &n, const Lanes &x) {
  Lanes magnitude = x.magnitude();
  Lanes real = n.cast(Scalar::FP64);
  Lanes isUp = (magnitude >= real) & (magnitude < INFINITY);
  // Each loop runs only where its result is taken.
  Lanes one = n.integer(1), none = n.integer(0);
  Lanes up = recurUpward(build, isUp.select(n, one), magnitude, j0(magnitude), j1(magnitude));
  Lanes safe = (magnitude > 0).select(magnitude, x.number(1));
  Lanes isDown = (magnitude > 0) & (real > 1) & (magnitude < real);
  Lanes down = recurDownward(build, isDown.select(n, none), safe);
  Lanes result = isUp.select((n == 0.0).select(j0(magnitude), up), down);
  result = (n == 1.0).select(j1(magnitude), result);
  result = ((x == 0) & (n > 0.0)).select(x.number(0), result);
  result = (magnitude == INFINITY).select(x.number(0), result);
  Lanes isOdd = (n & one) == 1.0;
  Lanes isNegative = isOdd & (x < 0);
  result = isNegative.select(-result, result);
  return ((n < 0.0) | isNaN(x)).select(x.number(NAN), result);
}

Lanes yn(TensorBuilder &build, const Lanes &n, const Lanes &x) {
  Lanes result = recurUpward(build, n, x, y0(x), y1(x));
  result = (x == 0).select(x.number(-INFINITY), result);
  result = (x == INFINITY).select(x.number(0), result);
  return ((n < 0.0) | (x < 0) | isNaN(x)).select(x.number(NAN), result);
}

/// A function of an integer and a float, for each element on its own: its loops differ.
Value mapOrders(TensorBuilder &build, Call &call,
                Lanes (*formula)(TensorBuilder &build, const Lanes &n, const Lanes &x)) {
  Tensor n = build.toTensor(call[0]);
  Tensor x = n ? floatOperand(build, call.info->name, call[1]) : Tensor();
  if (!x)
    return Value();
  if (!n.dtype().isInt())
    return build.error(DiagKind::SemaInvalidArgument, call.info->name, "an integer order",
                       n.type.str());
  DType type = x.dtype();
  n = build.cast(n, Scalar::Int32);
  x = build.cast(x, Scalar::FP64);
  if (!n || !x || !build.broadcastTogether(n, x))
    return Value();
  if (!x.isBlock())
    return formula(build, {&build, n}, {&build, x}).cast(type).value();
  mlir::Region body;
  {
    mlir::OpBuilder::InsertionGuard guard(build.getBuilder());
    TensorType order{DType(Scalar::Int32)}, number{DType(Scalar::FP64)};
    mlir::Block *block = build.getBuilder().createBlock(
        &body, {}, {build.toMLIR(order), build.toMLIR(number)}, {build.loc(), build.loc()});
    Lanes result = formula(build, {&build, {block->getArgument(0), order}},
                           {&build, {block->getArgument(1), number}});
    tile::YieldOp::create(build.getBuilder(), build.loc(), result.tensor.ir);
  }
  auto map = tile::MapOp::create(build.getBuilder(), build.loc(), mlir::TypeRange{x.ir.getType()},
                                 mlir::ValueRange{n.ir, x.ir});
  map.getBody().takeBody(body);
  return Value::tensor(build.cast({map.getResult(0), x.type}, type));
}

} // namespace

Value builtinBesselJ0(TensorBuilder &t, Call &call) { return byType(t, call, single::j0, j0); }
Value builtinBesselJ1(TensorBuilder &t, Call &call) { return byType(t, call, single::j1, j1); }
Value builtinBesselY0(TensorBuilder &t, Call &call) { return byType(t, call, single::y0, y0); }
Value builtinBesselY1(TensorBuilder &t, Call &call) { return byType(t, call, single::y1, y1); }
Value builtinBesselI0(TensorBuilder &t, Call &call) { return byType(t, call, single::i0, i0); }
Value builtinBesselI1(TensorBuilder &t, Call &call) { return byType(t, call, single::i1, i1); }
Value builtinErfcx(TensorBuilder &t, Call &call) { return byType(t, call, single::erfcx, erfcx); }
Value builtinBesselJn(TensorBuilder &t, Call &call) { return mapOrders(t, call, jn); }
Value builtinBesselYn(TensorBuilder &t, Call &call) { return mapOrders(t, call, yn); }

} // namespace kiln::sema
