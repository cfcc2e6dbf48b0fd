// What is known of the operations that reductions and scans combine elements with.

#ifndef KILN_COMPILER_DIALECT_TILE_COMBINERS_H
#define KILN_COMPILER_DIALECT_TILE_COMBINERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace kiln::tile {

/// The scalar that leaves the other operand of a combiner (as `getSingleCombiner` gives it) as it
/// is, bit for bit: -0.0 for a sum of floats, NaN for a maximum that ignores NaN. Null for no
/// combiner and for one without such an element. Every combiner that has one commutes.
mlir::TypedAttr neutralElement(mlir::Operation *combiner);

/// Whether the operands of a combiner (as `getSingleCombiner` gives it) may change places. Of null,
/// a region of several operations, it is not known to be so.
bool commutes(mlir::Operation *combiner);

} // namespace kiln::tile

#endif
