// What formulas for elementary functions take from the target that they are written for.
//
// GPUs have instructions that estimate a few functions of f32; formulas are made of them and of
// corrections. Processors have none of these, but divide and take roots exactly.

#ifndef KILN_COMPILER_EXPANSION_MATH_MATHPRIMITIVES_H
#define KILN_COMPILER_EXPANSION_MATH_MATHPRIMITIVES_H

#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"

namespace kiln {

class MathPrimitives {
public:
  virtual ~MathPrimitives();

  /// x y + z, rounded once, is an instruction.
  virtual bool hasFMA() const = 0;
  /// The functions below exist. Otherwise quotients and roots are the exact operations, and exp2
  /// and log2 polynomials.
  virtual bool hasEstimates() const { return false; }

  //--- Estimates, of scalars or vectors of f32. Null for those that the target has not. ---
  /// 2^x to about 2 ulp; perhaps zero where that is below the normal numbers.
  virtual mlir::Value exp2(VectorBuilder &b, mlir::Value x) const { return {}; }
  /// log2 x to 2^-22 on [1/2, 2], and about 2 ulp beyond.
  virtual mlir::Value log2(VectorBuilder &b, mlir::Value x) const { return {}; }
  /// x / y to about 2 ulp; perhaps zero for |y| beyond 2^126.
  virtual mlir::Value divide(VectorBuilder &b, mlir::Value x, mlir::Value y) const { return {}; }
  /// 1 / x to about 1 ulp; perhaps zero where x or that is below the normal numbers.
  virtual mlir::Value reciprocal(VectorBuilder &b, mlir::Value x) const { return {}; }
  /// 1 / sqrt(x) to about 2 ulp, of normal x.
  virtual mlir::Value reciprocalSqrt(VectorBuilder &b, mlir::Value x) const { return {}; }
};

} // namespace kiln

#endif // KILN_COMPILER_EXPANSION_MATH_MATHPRIMITIVES_H
