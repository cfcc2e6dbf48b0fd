// What passes do with what they have left behind.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SIMPLIFICATION_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SIMPLIFICATION_H

#include "mlir/Pass/PassManager.h"

namespace kiln {

/// After them operations are canonical, done once, and in front of loops that do not change them.
void addSimplification(mlir::OpPassManager &passes);

} // namespace kiln

#endif
