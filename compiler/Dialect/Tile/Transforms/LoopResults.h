// What loops leave behind.
//
// Of a scalar that a loop only moves it is computed of how often the loop runs:
//
//     %end = scf.for %i = %lb to %ub step %s iter_args(%at = %start) { … yield %at + %step }
//
// makes `%end` `%start + n * %step`, of n iterations. With what nobody asks a loop for it can run
// ahead of itself: so loads by block pointers run ahead (`tl.advance`) that a second loop goes on
// with.
//
// What nobody wants, as the largest number of all tiles that a kernel can note, is not computed
// from iteration to iteration either.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOOPRESULTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOOPRESULTS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-simplify-loop-results`: computes results that are integers or pointers, of loops that
/// count in signed integers of up to 32 bits by steps of one length, and has loops pass on as they
/// are what nobody wants, for canonicalisation to take away. Expects and leaves Tile IR.
std::unique_ptr<mlir::Pass> createSimplifyLoopResultsPass();

void registerSimplifyLoopResultsPass();

} // namespace kiln

#endif
