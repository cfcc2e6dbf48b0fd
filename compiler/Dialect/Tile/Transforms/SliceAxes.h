// How slices of an operation's operands and results correspond, for splitting tiles (SplitTiles.h).
//
// An operation's own axis is that of its operands for a reduction and a store, that of its results
// for all others.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SLICEAXES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SLICEAXES_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace kiln {

using Axis = std::optional<unsigned>;

/// Their slices along an axis come from slices of their operands.
bool isSplittable(mlir::Operation *op);

/// Equal in all places: a slice is the same in another shape, whatever the axis.
bool isUniform(mlir::Operation *op);

/// The axis of an operand; none where the operand is the same for all slices.
Axis operandAxis(mlir::OpOperand &operand, unsigned own);

/// The operation's own axis that corresponds to `axis` of an operand.
unsigned ownAxisOf(mlir::OpOperand &operand, unsigned axis);

/// The axis of the results; none for a reduction along the axis, which sums up the slices.
Axis resultAxis(mlir::Operation *op, unsigned own);

/// The operation's own axis that corresponds to `axis` of a result.
unsigned ownAxisOfResult(mlir::Operation *op, unsigned axis);

/// A reduction or scan whose slices along the axis do not stand for themselves.
bool needsWhole(mlir::Operation *op, unsigned own);

/// A slice of its result can be computed anew from slices of its operands.
bool isRecomputed(mlir::Operation *op);

/// Shapes, addresses and masks: each loop computes its own, as they cost little and often serve
/// several accesses that otherwise have nothing to do with each other.
bool isIndexArithmetic(mlir::Operation *op);

/// The extents along an operation's own axes.
llvm::ArrayRef<int64_t> shapeOfOwn(mlir::Operation *op);

} // namespace kiln

#endif
