//===- TileLayouts.cpp - constructors of blocked and shared layouts -------===//

#include "compiler/Layout/TileLayouts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

/// Size-1 versions of every dimension that a distributed layout has.
static LinearLayout emptyDistributed(unsigned rank) {
  SmallVector<int64_t, 4> ones(rank, 1);
  return LinearLayout(
      LayoutSpace({{Dim::Register, 0}, {Dim::Lane, 0}, {Dim::Warp, 0}, {Dim::Block, 0}}),
      LayoutSpace::ofShape(ones), {});
}

LinearLayout blockedLayout(ArrayRef<int64_t> shape, const BlockedShape &blocked) {
  LinearLayout tile = emptyDistributed(shape.size());
  auto deal = [&](Dim in, ArrayRef<unsigned> sizes) {
    for (unsigned axis : blocked.order)
      tile = tile * LinearLayout::identity(Log2_32(sizes[axis]), in, Dim::axis(axis));
  };
  deal(Dim::Register, blocked.sizePerThread);
  deal(Dim::Lane, blocked.lanesPerAxis);
  deal(Dim::Warp, blocked.warpsPerAxis);
  return tile.fitToShape(shape, blocked.order);
}

LinearLayout coalescedLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, int64_t vector,
                             int64_t numLanes, int64_t numWarps) {
  BlockedShape blocked;
  blocked.order.assign(order.begin(), order.end());
  blocked.sizePerThread.assign(shape.size(), 1);
  blocked.lanesPerAxis = blocked.warpsPerAxis = blocked.sizePerThread;
  SmallVector<int64_t, 4> left(shape);
  auto take = [&](unsigned axis, int64_t &units) {
    int64_t taken = std::min(left[axis], units);
    left[axis] /= taken;
    units /= taken;
    return unsigned(taken);
  };
  int64_t width = vector, lanes = numLanes, warps = numWarps;
  if (!order.empty())
    blocked.sizePerThread[order[0]] = take(order[0], width);
  for (unsigned axis : order)
    blocked.lanesPerAxis[axis] = take(axis, lanes);
  // Warps go to the slowest axis first: each then works on whole rows.
  for (unsigned axis : reverse(order))
    blocked.warpsPerAxis[axis] = take(axis, warps);
  return blockedLayout(shape, blocked)
      .withInBits(Dim::Lane, Log2_64(numLanes))
      .withInBits(Dim::Warp, Log2_64(numWarps));
}

LinearLayout plainShared(ArrayRef<int64_t> shape, ArrayRef<unsigned> order) {
  LinearLayout layout;
  for (unsigned axis : order)
    layout = layout * LinearLayout::identity(Log2_64(shape[axis]), Dim::Offset, Dim::axis(axis));
  return layout;
}

SmallVector<unsigned, 4> rowMajorOrder(unsigned rank) {
  SmallVector<unsigned, 4> order;
  for (unsigned axis = rank; axis-- > 0;)
    order.push_back(axis);
  return order;
}

} // namespace kiln
