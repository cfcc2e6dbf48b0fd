// Transcendental functions on vectors.
//
// In f32 the common ones are polynomials computed in all lanes at once (at most 4 units in the last
// place, checked by the tests); everything else, and f64, calls libm lane by lane. Half-precision
// types are computed in f32 by the caller.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H

#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::cpu {

/// f32, scalar or vector.
mlir::Value emitExp(VectorBuilder &b, mlir::Value x);
mlir::Value emitExp2(VectorBuilder &b, mlir::Value x);
mlir::Value emitLog(VectorBuilder &b, mlir::Value x);
mlir::Value emitLog2(VectorBuilder &b, mlir::Value x);
mlir::Value emitTanh(VectorBuilder &b, mlir::Value x);
mlir::Value emitErf(VectorBuilder &b, mlir::Value x);
mlir::Value emitSin(VectorBuilder &b, mlir::Value x);
mlir::Value emitCos(VectorBuilder &b, mlir::Value x);

/// True if `op` is an operation that emitMath computes.
bool isMathFunction(mlir::Operation *op);

/// The value of the math operation `op` (isMathFunction) on these f32 or f64 operands, all of one
/// type. `module` receives the declarations of libm functions.
mlir::Value emitMath(VectorBuilder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                     mlir::ModuleOp module);

/// x * y + z of f32 or f64, rounded once, on processors without an instruction for it.
mlir::Value emitFused(VectorBuilder &b, llvm::ArrayRef<mlir::Value> operands,
                      mlir::ModuleOp module);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_MATHFUNCTIONS_H
