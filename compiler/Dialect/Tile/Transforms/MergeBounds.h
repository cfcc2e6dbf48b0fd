// Comparisons of one index with two bounds.
//
// A causal attention over a sequence of any length leaves out what is behind the sequence's end,
// and what is behind the row's own position:
//
//     where((n < length) & (m >= n), scores, -inf)        m a column of positions, n a row
//
// That is a comparison for each element, one for each column, and the conjunction of the two for
// each element. With one bound for each row it is a comparison for each element:
//
//     where(n < min(length, m + 1), scores, -inf)
//
// (m + 1 stops at the largest number, below which n < length is, too.)
//
// The bounds have to be fewer than the elements. Masks of loads and stores stay as they are: what
// they compare with is what memory ends with (UseBuffers.cpp).

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MERGEBOUNDS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MERGEBOUNDS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-merge-bounds`, on functions: the same choices, for all numbers.
std::unique_ptr<mlir::Pass> createMergeBoundsPass();

void registerMergeBoundsPass();

} // namespace kiln

#endif
