// Tensors that a loop only moves.
//
//     scf.for … iter_args(%p = %start) { … %next = tile.addptr %p, splat(%s) … yield %next }
//
// becomes
//
//     scf.for … iter_args(%moved = 0 : i64) {
//       %p = tile.addptr %start, splat(%moved) … yield %moved + %s
//     }
//
// and the same for integer tensors (`offs += BLOCK`, at their own width, which wraps the same way).
// %p no longer lives from one iteration to the next, and has the strides of %start. A step that
// varies between elements, but not between iterations, is multiplied by the number of the
// iteration.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_INDUCTIONS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_INDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Replaces tensors that a loop only moves (`ptrs += BLOCK * stride`) by their start plus a carried
/// scalar. Expects and leaves Tile IR.
void rewriteInductions(mlir::func::FuncOp kernel);

/// How far the loop moves what it carries in an iteration, as a sum of values that do not change
/// from one to the next (constants, or values from outside, or of which all elements are one), if
/// it does nothing else with it.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> stepsOf(mlir::BlockArgument argument);

/// An integer, or a tensor of integers, with its sign as one of another width.
mlir::Value resized(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    mlir::Type element);

/// Whether a loop carries the tensor and only moves it.
bool isInduction(mlir::BlockArgument argument);

/// Replaces such a tensor; false if it is none. The loop is another one then.
bool rewriteInduction(mlir::BlockArgument argument);

/// `rewriteInductions` as a pass on func.func, `kiln-rewrite-inductions`.
void registerRewriteInductionsPass();

} // namespace kiln

#endif
