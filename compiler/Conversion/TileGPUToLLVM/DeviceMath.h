// Elementary functions by a GPU's instructions: what the formulas of Expansion/Math take from the
// target, and functions that are allowed to be no better.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_DEVICEMATH_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_DEVICEMATH_H

#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "compiler/Expansion/Math/MathPrimitives.h"

namespace kiln {

class DeviceMath : public MathPrimitives {
public:
  explicit DeviceMath(const TargetLowering &device) : device(device) {}

  bool hasFMA() const override { return true; }
  bool hasEstimates() const override { return true; }
  mlir::Value exp2(VectorBuilder &b, mlir::Value x) const override;
  mlir::Value log2(VectorBuilder &b, mlir::Value x) const override;
  mlir::Value divide(VectorBuilder &b, mlir::Value x, mlir::Value y) const override;
  mlir::Value reciprocal(VectorBuilder &b, mlir::Value x) const override;
  mlir::Value reciprocalSqrt(VectorBuilder &b, mlir::Value x) const override;

  /// An operation of `math` on scalars of f32 with the instructions' errors; null where there are
  /// none for it. A power of negative numbers is NaN.
  mlir::Value fastFunction(VectorBuilder &b, mlir::Operation *op) const;

private:
  const TargetLowering &device;
};

} // namespace kiln

#endif
