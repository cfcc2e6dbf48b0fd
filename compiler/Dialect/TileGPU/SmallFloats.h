// Floats of 8 bits and matrix units.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_SMALLFLOATS_H
#define KILN_COMPILER_DIALECT_TILEGPU_SMALLFLOATS_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/IR/BuiltinTypes.h"

namespace kiln::tilegpu {

inline bool isSmallFloat(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// Whether the target's matrix unit reads 8-bit floats in this format: CDNA 3 has the FNUZ formats,
/// all others those of the OCP. True for other types.
inline bool readsFormat(const TargetInfo &target, mlir::Type type) {
  bool isFnuz = llvm::isa<mlir::Float8E4M3FNUZType, mlir::Float8E5M2FNUZType>(type);
  return !isSmallFloat(type) || isFnuz == (target.matrix.mfmaGeneration == 3);
}

} // namespace kiln::tilegpu

#endif // KILN_COMPILER_DIALECT_TILEGPU_SMALLFLOATS_H
