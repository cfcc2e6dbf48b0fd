// Elementary functions on vectors.
//
// Those of f32 are the formulas of Expansion/Math, computed in all lanes at once; pow and fmod, and
// all of f64, are calls of libm lane by lane (docs/accuracy.md says why). Half-precision types are
// computed in f32 by the caller.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H

#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::cpu {

/// True if `op` is an operation that emitMath computes, by many instructions.
bool isMathFunction(mlir::Operation *op);

/// The value of the math operation `op` (isMathFunction) on these f32 or f64 operands, all of one
/// number of lanes. `module` receives the declarations of libm functions.
mlir::Value emitMath(VectorBuilder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                     mlir::ModuleOp module, bool hasFMA);

/// x * y + z of f32 or f64, rounded once, on processors without an instruction for it.
mlir::Value emitFused(VectorBuilder &b, llvm::ArrayRef<mlir::Value> operands,
                      mlir::ModuleOp module);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H
