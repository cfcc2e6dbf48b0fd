// `while` loops that count.
//
//     scf.while (%i = %start, %sum = …) {
//       %more = arith.cmpi slt, %i, %end
//       scf.condition(%more) %i, %sum
//     } do { … yield %i + %step, %next }
//
// becomes
//
//     scf.for %i = %start to %end step %step iter_args(%last = %start, %sum = …) {
//       … yield %i + %step, %next
//     }
//
// so that its loads run ahead, and all else that is done to loops that say how often they run.
//
// That is so for every program whose counter does not overflow, which is what is taken for granted
// of all indices (docs/tile.md): the end does not change while the loop runs, the step neither, and
// it leads towards the end. So steps have to be known to be positive, or negative: constants, sums
// and products of what is positive as numbers of programs are, and what the kernel assumes. A
// bound that is known with more bits than the counter has is cut off at the counter's largest
// number.
//
// A counter that goes down is the end plus the start less one that goes up, as Sema has it for
// ranges. Of several conditions the nearest end counts; those that hold from some number on
// (`first <= i and i < end`), or do not change, are asked once: a loop that they forbid ends where
// it starts.
//
// MLIR's own uplifting of such loops knows one comparison `<`, takes any step, and
// computes what the counter is in the end, by a division where the step is no constant. Here the
// loop carries the counter on for who asks behind it.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_COUNTLOOPS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_COUNTLOOPS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-count-loops`: makes `scf.for` of each `scf.while` that counts. Expects and leaves Tile IR.
std::unique_ptr<mlir::Pass> createCountLoopsPass();

void registerCountLoopsPass();

} // namespace kiln

#endif
