// Comparisons whose result is known of all iterations and programs, and loops of one iteration.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_FOLDCOMPARISONS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_FOLDCOMPARISONS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-fold-comparisons`, on functions: comparisons that the ranges of what they compare decide
/// are constants. Ranges come from the bounds and steps of loops, from `tile.arange`, and from
/// arithmetic on them. So a mask has no cost where the block divides the extent, as in
///
///     for start in range(0, 512, BLOCK): mask = start + tl.arange(0, BLOCK) < 512
///
/// A loop that runs once at most by these ranges, as one over a rank's blocks of which the rank has
/// one, is a branch: nothing runs ahead of what there is not.
std::unique_ptr<mlir::Pass> createFoldComparisonsPass();

void registerFoldComparisonsPass();

} // namespace kiln

#endif
