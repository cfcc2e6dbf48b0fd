// How a reduction or scan walks along an axis: pure layout arithmetic.
//
// The coordinate along the axis has n bits. Flipping bit k of it is, for an element in (register,
// lane, warp), a move to the place that differs by a fixed vector: the solution of layout(v) = unit
// vector of bit k, the layout being linear. A move of registers costs nothing, one of lanes is a
// shuffle by xor, one of warps goes through shared memory. A reduction combines every place with
// its neighbour for each k in turn; after step k, places hold the total over the bits walked so
// far. A scan keeps such totals beside its values.
//
// Order. Reductions whose combination commutes walk registers first, then lanes, then warps, which
// is cheapest. Otherwise bits are walked from low to high, so that neighbours are combined in
// increasing order, whatever the layout. What remains from the first move of warps on is exchanged
// at once: all partial totals of it go to scratch memory, one per coordinate in which the walked
// bits are left out. Lanes of a warp mostly hold totals of different rows, and each sums up all
// totals of its own: the rows are next to each other then, so that neither has bank conflicts.

#ifndef KILN_COMPILER_LAYOUT_AXISSTEPS_H
#define KILN_COMPILER_LAYOUT_AXISSTEPS_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

/// The place that differs in one bit of the axis's coordinate.
struct AxisStep {
  unsigned bit; ///< of the coordinate along the axis
  uint64_t registers, lanes, warps;
};

struct AxisSteps {
  /// Within warps, in the order in which to walk.
  llvm::SmallVector<AxisStep> local;
  /// Coordinate bits left for the exchange, increasing.
  llvm::SmallVector<unsigned> exchanged;
  /// (register, lane, warp) → index of the partial total in scratch. Total p of row r, the other
  /// axes' coordinates in row-major order, is number (p << totalShift) + (r << rowShift).
  LinearLayout partials;
  unsigned totalShift = 0, rowShift = 0;

  int64_t numPartials() const { return partials.out().totalSize(); }
};

/// Steps along `axis` of `layout`; `inOrder` as above.
AxisSteps planAxisSteps(const LinearLayout &layout, unsigned axis, bool inOrder);

/// Elements of scratch, for each operand, that a reduction from `source` to `result` (the layout of
/// its result; the empty layout for a scalar) or a scan (result null) needs: 0 if none.
int64_t reduceScratchElements(const LinearLayout &source, const LinearLayout *result, unsigned axis,
                              bool inOrder);
int64_t scanScratchElements(const LinearLayout &source, unsigned axis);

/// What a reduction's threads hold after all steps: `layout` over the remaining axes.
LinearLayout reducedLayout(const LinearLayout &layout, unsigned axis);

} // namespace kiln

#endif
