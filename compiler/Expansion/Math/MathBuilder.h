// Elementary functions as sequences of additions, multiplications and selects, of scalars and
// vectors alike: one formula of each for GPUs and for processors.
//
// GPUs have instructions for a few of them only, LLVM aborts where it has none, and a call of libm
// in each lane is slower than vectors; no library is needed for these. Each function reduces its
// argument and evaluates a polynomial: for f32 an interpolation at Chebyshev nodes with an error
// below half a unit in the last place, for f64 the Taylor series. Accuracy: a few units in the last
// place, except where noted; docs/accuracy.md has what was measured.
//
// No sum and product is fused but where a formula says so: `fma`, where what a product's rounding
// left counts, and `mad`, where it does not, which processors without the instruction leave apart.

#ifndef KILN_COMPILER_EXPANSION_MATH_MATHBUILDER_H
#define KILN_COMPILER_EXPANSION_MATH_MATHBUILDER_H

#include "compiler/Expansion/Math/MathPrimitives.h"

namespace kiln {

class MathBuilder {
public:
  /// `type` is f32 or f64 or a vector of them, the type of all arguments.
  MathBuilder(VectorBuilder &b, const MathPrimitives &target, mlir::Type type)
      : b(b), target(target), type(type), isDouble(laneType(type).isF64()) {}

  /// x y + z, rounded once (f64: where the target has it).
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const;
  /// The value of an operation of `math`; null for those that are no elementary function.
  mlir::Value function(mlir::Operation *op, mlir::ValueRange operands) const;

  /// f32, where the target estimates exp2: the relative error grows to 3e-6 at the ends of the
  /// range, as the product with log2(e) is rounded.
  mlir::Value exp(mlir::Value x) const;
  mlir::Value exp2(mlir::Value x) const;
  mlir::Value expm1(mlir::Value x) const;
  mlir::Value log(mlir::Value x) const;
  mlir::Value log2(mlir::Value x) const;
  mlir::Value log10(mlir::Value x) const;
  mlir::Value log1p(mlir::Value x) const;
  /// f32: correctly rounded.
  mlir::Value rsqrt(mlir::Value x) const;
  mlir::Value cbrt(mlir::Value x) const;
  /// The nearest integer, and of two the one farther from 0.
  mlir::Value roundAway(mlir::Value x) const;
  mlir::Value pow(mlir::Value x, mlir::Value y) const;
  /// C's fmod, exact. Of scalars.
  mlir::Value remainder(mlir::Value x, mlir::Value y) const;
  //--- Sines, cosines and tangents. x = r + q pi/2 with |r| <= pi/4 (and a little): r, and an
  // integer of x's width that equals q modulo 4 ---
  using Reduced = std::pair<mlir::Value, mlir::Value>;
  /// For |x| up to 1e5 (f64: 1e9), infinite ones and NaN; beyond, the parts of pi/2 run out of
  /// digits.
  Reduced reduceNear(mlir::Value x) const;
  static constexpr double nearLimit = 1e5;
  /// For finite |x| from 1 on: a hundred instructions.
  Reduced reduceFar(mlir::Value x) const;
  /// Finite, and beyond what reduceNear takes.
  mlir::Value isFar(mlir::Value x) const;
  mlir::Value sin(mlir::Value x, Reduced angle) const { return sinOrCos(x, angle, 0); }
  mlir::Value cos(mlir::Value x, Reduced angle) const { return sinOrCos(x, angle, 1); }
  mlir::Value tan(mlir::Value x, Reduced angle) const;
  mlir::Value sin(mlir::Value x) const { return sin(x, reduceToQuarter(x)); }
  mlir::Value cos(mlir::Value x) const { return cos(x, reduceToQuarter(x)); }
  mlir::Value tan(mlir::Value x) const { return tan(x, reduceToQuarter(x)); }
  mlir::Value sinh(mlir::Value x) const;
  mlir::Value cosh(mlir::Value x) const;
  mlir::Value tanh(mlir::Value x) const;
  mlir::Value asinh(mlir::Value x) const;
  mlir::Value acosh(mlir::Value x) const;
  mlir::Value atanh(mlir::Value x) const;
  mlir::Value atan(mlir::Value x) const;
  mlir::Value atan2(mlir::Value y, mlir::Value x) const;
  mlir::Value asin(mlir::Value x) const;
  mlir::Value acos(mlir::Value x) const;
  mlir::Value erf(mlir::Value x) const;
  mlir::Value erfc(mlir::Value x) const;

private:
  mlir::Value number(double value) const { return b.real(value, type); }
  /// No quotient or root is an estimate.
  bool isExact() const { return isDouble || !target.hasEstimates(); }
  /// Integers as wide as the arguments, in as many lanes, and what these have in common.
  mlir::Type wordType() const;
  mlir::Value bitsOf(mlir::Value x) const;
  mlir::Value floatOf(mlir::Value word) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  /// Estimates of f32 where the target has them, otherwise exact; see MathPrimitives.
  mlir::Value divideFast(mlir::Value x, mlir::Value y) const;
  mlir::Value reciprocalFast(mlir::Value x) const;
  mlir::Value log2Fast(mlir::Value x) const;
  /// Correctly rounded but for a few; for y whose inverse is a normal number.
  mlir::Value divideClosely(mlir::Value x, mlir::Value y) const;
  /// The same of 0 <= x <= y for any finite y.
  mlir::Value divideScaled(mlir::Value x, mlir::Value y) const;
  /// Correctly rounded but for a few; of zero and normal numbers.
  mlir::Value sqrtClosely(mlir::Value x) const;
  mlir::Value negate(mlir::Value x) const;
  /// x y + z, rounded once or twice.
  mlir::Value mad(mlir::Value x, mlir::Value y, mlir::Value z) const;
  mlir::Value abs(mlir::Value x) const;
  mlir::Value sqrt(mlir::Value x) const;
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) const;
  mlir::Value roundEven(mlir::Value x) const;
  mlir::Value less(mlir::Value x, mlir::Value y) const;
  mlir::Value equal(mlir::Value x, mlir::Value y) const;
  /// c[0] + c[1] x + c[2] x² …
  mlir::Value polynomial(llvm::ArrayRef<double> c, mlir::Value x) const;
  //--- MathExponentials.cpp ---
  /// x * 2^n for an integer n within the range of exponents twice over.
  mlir::Value scale(mlir::Value x, mlir::Value n) const;
  mlir::Value power2(mlir::Value n) const;
  /// NaN passes.
  mlir::Value limit(mlir::Value x, double low, double high) const;
  /// The integer nearest to x * factor, as a float and as an i32; below 2^22
  /// (f64: 2^31).
  std::pair<mlir::Value, mlir::Value> roundToInteger(mlir::Value x, double factor) const;
  /// x = n ln(2) + r: r, and n as an i32.
  std::pair<mlir::Value, mlir::Value> reduceExp(mlir::Value x) const;
  /// e^r - 1 and e^r for a reduced r.
  mlir::Value expm1Reduced(mlir::Value r) const;
  mlir::Value expReduced(mlir::Value r) const;
  /// 2^r for |r| <= 1/2.
  mlir::Value exp2Reduced(mlir::Value r) const;
  /// 2^(x + rest) for a rest much smaller than 1.
  mlir::Value exp2OfSum(mlir::Value x, mlir::Value rest) const;
  /// e^|x| / 4 and e^-|x| / 4.
  std::pair<mlir::Value, mlir::Value> quarterExp(mlir::Value x) const;
  /// erf for |x| <= 1.
  mlir::Value erfNear(mlir::Value x) const;
  /// erfc for x >= 0.
  mlir::Value erfcPositive(mlir::Value x) const;
  mlir::Value erfcSingle(mlir::Value x) const;
  /// Of a reduced r.
  std::pair<mlir::Value, mlir::Value> sineAndCosine(mlir::Value r) const;
  mlir::Value hasBit(mlir::Value word, int64_t bit) const;
  mlir::Value sinOrCos(mlir::Value x, Reduced angle, int quarter) const;
  mlir::Value log1pOrDouble(mlir::Value a, mlir::Value inner) const;
  //--- MathReduction.cpp ---
  Reduced subtractQuartersInDouble(mlir::Value x) const;
  mlir::Value turnedToAngle(mlir::Value high, mlir::Value low) const;
  Reduced reduceToQuarter(mlir::Value x) const;
  /// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x; e is a
  /// float.
  std::pair<mlir::Value, mlir::Value> splitMantissa(mlir::Value x) const;
  /// The same with the log of m as a sum (f64: no rest).
  struct Log {
    mlir::Value leading, rest, exponent;
  };
  Log splitLog(mlir::Value x) const;
  mlir::Value finishLog(mlir::Value x, mlir::Value result) const;
  mlir::Value logRest(mlir::Value f) const;
  mlir::Value exponentField(mlir::Value word) const;
  std::pair<mlir::Value, mlir::Value> arcus(mlir::Value x) const;
  //--- MathPowers.cpp ---
  /// log2 of x >= 0 as a sum of two.
  std::pair<mlir::Value, mlir::Value> log2InTwo(mlir::Value x) const;
  mlir::Value finishPower(mlir::Value x, mlir::Value y, mlir::Value magnitude) const;
  std::pair<mlir::Value, mlir::Value> splitBinary(mlir::Value x) const;

  VectorBuilder &b;
  const MathPrimitives &target;
  mlir::Type type;
  bool isDouble;
};

} // namespace kiln

#endif
