// 8-bit floats. They are bytes to the emitted code; only conversions look inside.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_FLOAT8_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_FLOAT8_H

#include "compiler/Conversion/TileToCPU/VectorBuilder.h"

namespace kiln::cpu {

/// E4M3FN, E5M2 and their FNUZ forms.
bool isFloat8(mlir::Type type);

/// The f32 values of i8 bits in the format `type`.
mlir::Value extendFloat8(VectorBuilder &b, mlir::Value bits, mlir::Type type);

/// The i8 bits of f32 values in the format: rounded to nearest even, what is too large becoming the
/// largest finite value, as GPUs convert.
mlir::Value truncateToFloat8(VectorBuilder &b, mlir::Value value, mlir::Type type);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_FLOAT8_H
