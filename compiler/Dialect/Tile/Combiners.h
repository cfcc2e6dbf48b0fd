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

/// Whether the two groups of operands of a reduction's combination may change places: it is one
/// operation that commutes, or random operands give the same results both ways, but for rounding.
/// Many are equal, and for a combination that only chooses among its operands (as argmax does)
/// zero or opposite; one that computes (as the mean and variance of two parts) need not commute
/// where it would divide by zero. As in Triton, what becomes of NaN and of the sign of zero is left
/// open. What calls functions or captures values that are not constant does not commute.
bool commutes(ReduceOp reduce);

} // namespace kiln::tile

#endif
