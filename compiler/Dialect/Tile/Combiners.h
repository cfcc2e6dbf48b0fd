// What is known of the operations that reductions and scans combine elements with.

#ifndef KILN_COMPILER_DIALECT_TILE_COMBINERS_H
#define KILN_COMPILER_DIALECT_TILE_COMBINERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace kiln::tile {

class ReduceOp;

/// The scalar that leaves the other operand of a combiner (as `getSingleCombiner` gives it) as it
/// is, bit for bit: -0.0 for a sum of floats, NaN for a maximum that ignores NaN. Null for no
/// combiner and for one without such an element. Every combiner that has one commutes.
mlir::TypedAttr neutralElement(mlir::Operation *combiner);

/// Whether the operands of a reduction's combination may change places: it is one operation that
/// commutes, or a choice between (value, index) pairs that a comparison of the values and,
/// where these are equal, of the indices decides. Of pairs with NaN such a choice takes either, as
/// in Triton. Of other regions it is not known to be so.
bool commutes(ReduceOp reduce);

} // namespace kiln::tile

#endif
