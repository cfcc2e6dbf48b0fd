// The types of floats of 8 bits that MLIR and targets know.

#ifndef KILN_COMPILER_DIALECT_TILE_BYTEFLOATS_H
#define KILN_COMPILER_DIALECT_TILE_BYTEFLOATS_H

#include "mlir/IR/BuiltinTypes.h"

namespace kiln::tile {

/// E4M3FN, E5M2 and their FNUZ forms.
inline bool isByteFloat(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E4M3FNUZType, mlir::Float8E5M2Type,
                   mlir::Float8E5M2FNUZType>(type);
}

} // namespace kiln::tile

#endif
