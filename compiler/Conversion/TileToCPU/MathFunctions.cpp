// The f32 polynomials and the calls into libm.
//
// exp, log, tanh, sin and cos reduce their argument as S. L. Moshier's Cephes library does and use
// its minimax coefficients; erf uses two polynomials, one around zero and one for the logarithm of
// the complement.

#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The nearest integer to x as a float and as an i32; |x| < 2^22. Adding 1.5 * 2^23 leaves the
/// integer in the low bits, and unlike a conversion it is defined for NaN.
std::pair<Value, Value> roundToInteger(VectorBuilder &b, Value x) {
  Value magic = b.real(12582912.0, x);
  Value shifted = b.add(x, magic);
  Type i32 = b.builder.getI32Type();
  Value bits = b.bitcast(shifted, i32);
  return {b.sub(shifted, magic), b.sub(bits, b.integer(0x4b400000, bits))};
}

/// 2^n for an i32 n in [-126, 127].
Value powerOfTwo(VectorBuilder &b, Value n) {
  return b.bitcast(b.shiftLeft(b.add(n, b.integer(127, n)), 23), b.builder.getF32Type());
}

/// x * 2^n for n in [-252, 254]: in two steps, so that results may be subnormal or infinite.
Value scale(VectorBuilder &b, Value x, Value n) {
  Value half = b.shiftRight(n, 1, true);
  return b.mul(b.mul(x, powerOfTwo(b, half)), powerOfTwo(b, b.sub(n, half)));
}

/// x limited to [low, high]; NaN passes.
Value clamp(VectorBuilder &b, Value x, double low, double high) {
  Value lowest = b.real(low, x), highest = b.real(high, x);
  x = b.select(b.less(x, lowest), lowest, x);
  return b.select(b.less(highest, x), highest, x);
}

Value withSignOf(VectorBuilder &b, Value magnitude, Value sign) {
  return math::CopySignOp::create(b.builder, b.loc, magnitude, sign);
}

/// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive finite x;
/// gives mantissa - 1 and the exponent as floats.
std::pair<Value, Value> splitMantissa(VectorBuilder &b, Value x) {
  Type i32 = b.builder.getI32Type(), f32 = b.builder.getF32Type();
  Value subnormal = b.less(x, b.real(1.17549435e-38, x));
  Value normal = b.select(subnormal, b.mul(x, b.real(8388608.0, x)), x);
  Value bits = b.bitcast(normal, i32);
  // 0x3f3504f3 is sqrt(1/2): subtracting it puts the boundary between two exponents there.
  Value shifted = b.sub(bits, b.integer(0x3f3504f3, bits));
  Value exponent = b.shiftRight(shifted, 23, true);
  Value mantissa = b.bitcast(b.sub(bits, b.shiftLeft(exponent, 23)), f32);
  Value adjusted = b.select(subnormal, b.sub(exponent, b.integer(23, exponent)), exponent);
  Value real = arith::SIToFPOp::create(b.builder, b.loc, x.getType(), adjusted);
  return {b.sub(mantissa, b.real(1.0, x)), real};
}

/// log(1 + x) - x + x^2 / 2 for 1 + x in [sqrt(1/2), sqrt(2)).
Value logTail(VectorBuilder &b, Value x) {
  Value p = b.polynomial(x, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                             1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                             3.3333331174e-1});
  return b.mul(p, b.mul(x, b.mul(x, x)));
}

/// `result` but for the arguments where a logarithm is infinite or undefined.
Value logSpecialCases(VectorBuilder &b, Value x, Value result) {
  Value zero = b.real(0, x), inf = b.real(infinity, x);
  result = b.select(b.compare(arith::CmpFPredicate::OEQ, x, inf), inf, result);
  result = b.select(b.compare(arith::CmpFPredicate::OEQ, x, zero), b.real(-infinity, x), result);
  return b.select(b.compare(arith::CmpFPredicate::ULT, x, zero), b.real(NAN, x), result);
}

/// The argument less the nearest multiple of pi/2, and that multiple modulo 4 (i32). Computed in
/// f64, where the product with the upper 33 bits of pi/2 is exact up to 2^20 and good enough up to
/// 2^31.
std::pair<Value, Value> reduceQuadrant(VectorBuilder &b, Value x) {
  Type f64 = b.builder.getF64Type();
  Value wide = b.extendFloat(x, f64);
  Value magic = b.real(6755399441055744.0, wide); // 1.5 * 2^52
  Value shifted = b.add(b.mul(wide, b.real(0.63661977236758134308, wide)), magic);
  Value n = b.sub(shifted, magic);
  Value r = b.sub(wide, b.mul(n, b.real(1.57079632673412561417, wide)));
  r = b.sub(r, b.mul(n, b.real(6.07710050650619224932e-11, wide)));
  Value quadrant = b.resize(b.bitcast(shifted, b.builder.getI64Type()), b.builder.getI32Type());
  return {b.truncateFloat(r, b.builder.getF32Type()), quadrant};
}

Value emitSinOfQuadrant(VectorBuilder &b, Value x, int64_t advance) {
  auto [r, quadrant] = reduceQuadrant(b, x);
  quadrant = b.add(quadrant, b.integer(advance, quadrant));
  Value square = b.mul(r, r);
  Value sine = b.polynomial(square, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = b.mad(b.mul(sine, square), r, r);
  Value cosine =
      b.polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  cosine = b.mad(cosine, b.mul(square, square), b.mad(square, b.real(-0.5, x), b.real(1.0, x)));
  Value one = b.integer(1, quadrant), two = b.integer(2, quadrant), zero = b.integer(0, quadrant);
  Value odd = b.compare(arith::CmpIPredicate::ne, b.bitAnd(quadrant, one), zero);
  Value negative = b.compare(arith::CmpIPredicate::ne, b.bitAnd(quadrant, two), zero);
  Value result = b.select(odd, cosine, sine);
  return b.select(negative, b.negate(result), result);
}

/// libm's name for an operation of the math dialect, in f64; empty for operations that are not
/// functions of libm.
StringRef libmName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Case("arith.remf", "fmod")
      .Default("");
}

/// Calls the libm function in each lane, in a loop: the code's size does not depend on the
/// vector's.
Value callPerLane(VectorBuilder &b, StringRef name, ArrayRef<Value> operands, ModuleOp module) {
  Type element = laneType(operands[0].getType());
  std::string symbol = (name + (element.isF32() ? "f" : "")).str();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> parameters(operands.size(), element);
    LLVM::LLVMFuncOp::create(b.builder, module.getLoc(), symbol,
                             LLVM::LLVMFunctionType::get(element, parameters));
  }
  unsigned lanes = 1;
  for (Value operand : operands)
    lanes = std::max(lanes, laneCount(operand));
  auto call = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    return LLVM::CallOp::create(builder, b.loc, TypeRange{element}, symbol, arguments).getResult();
  };
  if (lanes == 1)
    return call(b.builder, operands);
  SmallVector<Value> vectors;
  for (Value operand : operands)
    vectors.push_back(b.splat(operand, lanes));
  Type i64 = b.builder.getI64Type();
  auto loop =
      scf::ForOp::create(b.builder, b.loc, b.constant(0, i64), b.constant(lanes, i64),
                         b.constant(1, i64), ValueRange{vectors[0]},
                         [&](OpBuilder &builder, Location loc, Value lane, ValueRange carried) {
                           VectorBuilder inner(builder, loc);
                           SmallVector<Value> arguments;
                           for (Value vector : vectors)
                             arguments.push_back(inner.extract(vector, lane));
                           Value result = inner.insert(carried[0], call(builder, arguments), lane);
                           scf::YieldOp::create(builder, loc, result);
                         });
  return loop.getResult(0);
}

/// sin and cos of arguments that are too large for their reduction, which are rare, are libm's.
Value replaceHuge(VectorBuilder &b, StringRef name, Value x, Value result, ModuleOp module) {
  Value huge = b.less(b.real(0x1p30, x), b.absolute(x));
  Value any = huge;
  if (isa<VectorType>(huge.getType()))
    any = LLVM::vector_reduce_or::create(b.builder, b.loc, b.builder.getI1Type(), huge);
  auto chosen = scf::IfOp::create(
      b.builder, b.loc, any,
      [&](OpBuilder &builder, Location loc) {
        VectorBuilder inner(builder, loc);
        Value precise = callPerLane(inner, name, x, module);
        scf::YieldOp::create(builder, loc, inner.select(huge, precise, result));
      },
      [&](OpBuilder &builder, Location loc) { scf::YieldOp::create(builder, loc, result); });
  return chosen.getResult(0);
}

} // namespace

Value emitExp(VectorBuilder &b, Value x) {
  x = clamp(b, x, -104.5, 89.0);
  auto [real, n] = roundToInteger(b, b.mul(x, b.real(1.44269504088896341, x)));
  // log(2) in two parts, the first with few bits, so that its product with n is exact.
  Value r = b.sub(x, b.mul(real, b.real(0.693359375, x)));
  r = b.sub(r, b.mul(real, b.real(-2.12194440e-4, x)));
  Value p = b.polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                             1.6666665459e-1, 5.0000001201e-1});
  p = b.add(b.mad(p, b.mul(r, r), r), b.real(1.0, x));
  return scale(b, p, n);
}

Value emitExp2(VectorBuilder &b, Value x) {
  x = clamp(b, x, -150.5, 128.5);
  auto [real, n] = roundToInteger(b, x);
  Value r = b.sub(x, real);
  Value p =
      b.polynomial(r, {1.535336188319500e-4, 1.339887440266574e-3, 9.618437357674640e-3,
                       5.550332471162809e-2, 2.402264791363012e-1, 6.931472028550421e-1, 1.0});
  return scale(b, p, n);
}

Value emitLog(VectorBuilder &b, Value x) {
  auto [m, exponent] = splitMantissa(b, x);
  Value y = b.mad(exponent, b.real(-2.12194440e-4, x), logTail(b, m));
  y = b.sub(y, b.mul(b.mul(m, m), b.real(0.5, x)));
  Value result = b.mad(exponent, b.real(0.693359375, x), b.add(m, y));
  return logSpecialCases(b, x, result);
}

Value emitLog2(VectorBuilder &b, Value x) {
  constexpr double fraction = 0.44269504088896340735992; // log2(e) - 1
  auto [m, exponent] = splitMantissa(b, x);
  Value y = b.sub(logTail(b, m), b.mul(b.mul(m, m), b.real(0.5, x)));
  Value z = b.mul(y, b.real(fraction, x));
  z = b.mad(m, b.real(fraction, x), z);
  z = b.add(b.add(z, y), m);
  return logSpecialCases(b, x, b.add(z, exponent));
}

Value emitTanh(VectorBuilder &b, Value x) {
  Value magnitude = b.absolute(x), square = b.mul(x, x), one = b.real(1.0, x);
  Value small = b.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                      1.33314422036e-1, -3.33332819422e-1});
  small = b.mad(b.mul(small, square), x, x);
  Value grown = emitExp(b, b.add(magnitude, magnitude));
  Value large = b.sub(one, b.div(b.real(2.0, x), b.add(grown, one)));
  return withSignOf(b, b.select(b.less(magnitude, b.real(0.625, x)), small, large), x);
}

Value emitErf(VectorBuilder &b, Value x) {
  Value t = b.absolute(x), square = b.mul(x, x);
  // 1 - exp(polynomial) away from zero.
  Value upper = b.mad(b.real(-1.72853470e-5, x), t, b.real(3.83197126e-4, x));
  Value lower = b.mad(b.real(-3.88396438e-3, x), t, b.real(2.42546219e-2, x));
  Value p = b.mad(upper, square, lower);
  p = b.mad(p, t, b.real(-1.06777877e-1, x));
  p = b.mad(p, t, b.real(-6.34846687e-1, x));
  p = b.mad(p, t, b.real(-1.28717512e-1, x));
  p = b.sub(b.mul(p, t), t);
  // Beyond 4 the result is 1 to the last bit, and the polynomial is not meant for it.
  p = b.select(b.less(b.real(4.0, x), t), b.real(-infinity, x), p);
  Value large = withSignOf(b, b.sub(b.real(1.0, x), emitExp(b, p)), x);
  Value small = b.polynomial(square, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                                      -3.76125336e-1, 1.28379166e-1});
  small = b.mad(small, x, x);
  Value result = b.select(b.less(b.real(0.927734375, x), t), large, small);
  return b.select(b.compare(arith::CmpFPredicate::UNO, x, x), x, result);
}

/// The reduction loses the sign of a zero.
Value emitSin(VectorBuilder &b, Value x) {
  Value isZero = b.compare(arith::CmpFPredicate::OEQ, x, b.real(0, x));
  return b.select(isZero, x, emitSinOfQuadrant(b, x, 0));
}
Value emitCos(VectorBuilder &b, Value x) { return emitSinOfQuadrant(b, x, 1); }

bool isMathFunction(Operation *op) { return !libmName(op).empty(); }

Value emitFused(VectorBuilder &b, ArrayRef<Value> operands, ModuleOp module) {
  Type element = laneType(operands[0].getType());
  if (!element.isF32())
    return callPerLane(b, "fma", operands, module);
  // The product is exact in f64; the sum is rounded there, and once more, which differs from once
  // in very few.
  Type f64 = b.builder.getF64Type();
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(b.extendFloat(operand, f64));
  return b.truncateFloat(b.add(b.mul(wide[0], wide[1]), wide[2]), element);
}

Value emitMath(VectorBuilder &b, Operation *op, ArrayRef<Value> operands, ModuleOp module) {
  using Emit = Value (*)(VectorBuilder &, Value);
  Emit polynomial = llvm::StringSwitch<Emit>(op->getName().getStringRef())
                        .Case("math.exp", emitExp)
                        .Case("math.exp2", emitExp2)
                        .Case("math.log", emitLog)
                        .Case("math.log2", emitLog2)
                        .Case("math.tanh", emitTanh)
                        .Case("math.erf", emitErf)
                        .Case("math.sin", emitSin)
                        .Case("math.cos", emitCos)
                        .Default(nullptr);
  if (polynomial && laneType(operands[0].getType()).isF32()) {
    Value result = polynomial(b, operands[0]);
    bool reduces = isa<math::SinOp, math::CosOp>(op);
    return reduces ? replaceHuge(b, libmName(op), operands[0], result, module) : result;
  }
  return callPerLane(b, libmName(op), operands, module);
}

} // namespace kiln::cpu
