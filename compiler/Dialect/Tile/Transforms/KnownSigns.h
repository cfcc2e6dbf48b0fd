// Scalars that are known to be positive, or not negative, as long as indices do not overflow.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_KNOWNSIGNS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_KNOWNSIGNS_H

#include "mlir/IR/Value.h"

namespace kiln {

/// Whether an integer is known to be `least` (0 or 1) or more where `at` stands: constants, program
/// ids and numbers of programs, what is computed of these, and what `tile.assume` says in a block
/// around, in front of `at`.
bool isKnownAtLeast(mlir::Value value, int least, mlir::Operation *at);

} // namespace kiln

#endif
