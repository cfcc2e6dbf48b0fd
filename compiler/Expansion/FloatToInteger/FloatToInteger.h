// Conversions of floats to integers on the host, defined for every number.
//
// LLVM leaves open what becomes of a number that the integer type cannot hold, and processors
// disagree. GPUs saturate (PTX ISA, "cvt"; AMD ISA, "V_CVT_I32_F32"), so that is what the CPU and
// emulated GPUs do.

#ifndef KILN_COMPILER_EXPANSION_FLOATTOINTEGER_FLOATTOINTEGER_H
#define KILN_COMPILER_EXPANSION_FLOATTOINTEGER_FLOATTOINTEGER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// `x`, an f32 or f64 or a vector of them, as `type`, an integer or a vector of as many, rounded
/// towards zero. What the type cannot hold becomes its nearest number, and NaN becomes 0; types
/// below 32 bits take the lower bits of the 32-bit result.
mlir::Value floatToInteger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type type,
                           bool isSigned);

} // namespace kiln

#endif // KILN_COMPILER_EXPANSION_FLOATTOINTEGER_FLOATTOINTEGER_H
