// Floats of 8 bits, by integer arithmetic: the same instructions on CPUs and GPUs, so the same
// bits.
//
// They are bytes to the code that is emitted; only conversions look inside. Conversion instructions
// of processors differ in what they make of NaN and of what is too large.

#ifndef KILN_COMPILER_EXPANSION_BYTEFLOATS_BYTEFLOATS_H
#define KILN_COMPILER_EXPANSION_BYTEFLOATS_BYTEFLOATS_H

#include "compiler/Dialect/Tile/ByteFloats.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// The f32 values of codes (i8, or a vector of them) in `format`, a tile::isByteFloat, as
/// arith.extf defines them: a NaN keeps its mantissa and becomes quiet.
mlir::Value widenByteFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value code,
                           mlir::Type format);

/// The codes (i8) in `format` of f32 values, scalar or vector, as tile.narrow defines them.
mlir::Value narrowByteFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                            mlir::Type format);

} // namespace kiln

#endif // KILN_COMPILER_EXPANSION_BYTEFLOATS_BYTEFLOATS_H
