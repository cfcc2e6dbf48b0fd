// Elementary functions of f32 and f64 as sequences of additions,
// multiplications and selects.
//
// GPUs have instructions for a few of them only, and LLVM aborts where it has
// none; the vendors' libraries are not needed for these. Each function reduces
// its argument and evaluates a polynomial: for f32 an interpolation at
// Chebyshev nodes with an error below half a unit in the last place, for f64
// the Taylor series. Accuracy: a few units in the last place, except where
// noted.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_MATHBUILDER_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_MATHBUILDER_H

#include "compiler/Conversion/TileGPUToLLVM/ScalarBuilder.h"
#include "compiler/Conversion/TileGPUToLLVM/TargetLowering.h"

namespace kiln {

class MathBuilder {
public:
  /// `type` is f32 or f64, the type of all arguments.
  MathBuilder(const ScalarBuilder &s, const TargetLowering &device, mlir::Type type)
      : s(s), device(device), type(type), isDouble(type.isF64()) {}

  /// f32: relative error grows to 3e-6 at the ends of the range, as the product
  /// with log2(e) is rounded.
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
  mlir::Value pow(mlir::Value x, mlir::Value y) const;
  /// C's fmod, exact.
  mlir::Value remainder(mlir::Value x, mlir::Value y) const;
  mlir::Value sin(mlir::Value x) const { return sinOrCos(x, 0); }
  mlir::Value cos(mlir::Value x) const { return sinOrCos(x, 1); }
  mlir::Value tan(mlir::Value x) const;
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

  //--- f32, by the target's instructions where it has them, with their errors
  //---
  mlir::Value fastSqrt(mlir::Value x) const;
  mlir::Value fastRsqrt(mlir::Value x) const;
  mlir::Value fastLog2(mlir::Value x) const;
  mlir::Value fastLog(mlir::Value x) const;
  mlir::Value fastLog10(mlir::Value x) const;
  mlir::Value fastSin(mlir::Value x) const;
  mlir::Value fastCos(mlir::Value x) const;
  mlir::Value fastTan(mlir::Value x) const;
  mlir::Value fastTanh(mlir::Value x) const;
  /// NaN for negative x.
  mlir::Value fastPow(mlir::Value x, mlir::Value y) const;
  /// Zero for b beyond 2^126. In f64 an ordinary division.
  mlir::Value divideFast(mlir::Value a, mlir::Value b) const;
  /// 1 / x; zero where x or that is below the normal numbers. In f64 an ordinary division.
  mlir::Value reciprocalFast(mlir::Value x) const;

  mlir::Value number(double value) const { return s.real(type, value); }

private:
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value divide(mlir::Value a, mlir::Value b) const;
  /// Correctly rounded but for a few; for b whose inverse is a normal number.
  mlir::Value divideClosely(mlir::Value a, mlir::Value b) const;
  /// The same of 0 <= a <= b for any finite b.
  mlir::Value divideScaled(mlir::Value a, mlir::Value b) const;
  /// Correctly rounded but for a few; of zero and normal numbers.
  mlir::Value sqrtClosely(mlir::Value x) const;
  mlir::Value negate(mlir::Value x) const;
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const;
  mlir::Value abs(mlir::Value x) const;
  mlir::Value sqrt(mlir::Value x) const;
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) const;
  mlir::Value roundEven(mlir::Value x) const;
  mlir::Value less(mlir::Value a, mlir::Value b) const;
  mlir::Value equal(mlir::Value a, mlir::Value b) const;
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
  /// 2^(x + rest) for a rest much smaller than 1.
  mlir::Value exp2OfSum(mlir::Value x, mlir::Value rest) const;
  /// e^|x| / 4 and e^-|x| / 4.
  std::pair<mlir::Value, mlir::Value> quarterExp(mlir::Value x) const;
  /// erf for |x| <= 1.
  mlir::Value erfNear(mlir::Value x) const;
  /// erfc for x >= 0.
  mlir::Value erfcPositive(mlir::Value x) const;
  /// Of a reduced r.
  std::pair<mlir::Value, mlir::Value> sineAndCosine(mlir::Value r) const;
  mlir::Value hasBit(mlir::Value word, int64_t bit) const;
  mlir::Value sinOrCos(mlir::Value x, int quarter) const;
  mlir::Value log1pOrDouble(mlir::Value a, mlir::Value inner) const;
  //--- MathReduction.cpp: x = r + q pi/2 with |r| <= pi/4 (and a little): r,
  // and an integer of x's
  //    width that equals q modulo 4 ---
  using Reduced = std::pair<mlir::Value, mlir::Value>;
  /// For |x| up to 1e5 (f64: 1e9); beyond, the parts of pi/2 run out of digits.
  Reduced subtractQuarters(mlir::Value x) const;
  /// For finite |x| from 1 on.
  Reduced multiplyByTwoOverPi(mlir::Value x) const;
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
  //--- MathPowers.cpp ---
  /// log2 of x >= 0 as a sum of two.
  std::pair<mlir::Value, mlir::Value> log2InTwo(mlir::Value x) const;
  mlir::Value finishPower(mlir::Value x, mlir::Value y, mlir::Value magnitude) const;
  std::pair<mlir::Value, mlir::Value> splitBinary(mlir::Value x) const;

  const ScalarBuilder &s;
  const TargetLowering &device;
  mlir::Type type;
  bool isDouble;
};

} // namespace kiln

#endif
