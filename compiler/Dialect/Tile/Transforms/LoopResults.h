// What loops leave behind of scalars that they only move.
//
//     %end = scf.for %i = %lb to %ub step %s iter_args(%at = %start) { … yield %at + %step }
//
// From then on `%end` is `%start + n * %step`, of n iterations. With what nobody asks a loop for it
// can run ahead of itself: so loads by block pointers run ahead (`tl.advance`) that a second loop
// goes on with.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOOPRESULTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOOPRESULTS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-compute-loop-results`, of integers and pointers, of loops that count in signed integers of
/// up to 32 bits. Expects and leaves Tile IR.
std::unique_ptr<mlir::Pass> createComputeLoopResultsPass();

void registerComputeLoopResultsPass();

} // namespace kiln

#endif
