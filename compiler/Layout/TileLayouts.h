//===- TileLayouts.h - constructors of blocked and shared layouts -*- C++ -*-===//
//
// The layouts that loads, stores and elementwise code start from, and the
// classic shared-memory forms. Each is a product of a few identities; none is a
// class of its own. All distributed layouts made here have the inputs register,
// lane, warp and block, so that they compare equal exactly when they agree.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_TILELAYOUTS_H
#define KILN_COMPILER_LAYOUT_TILELAYOUTS_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

/// How a blocked layout deals a tile out, per axis (powers of two).
struct BlockedShape {
  llvm::SmallVector<unsigned, 4> sizePerThread, lanesPerAxis, warpsPerAxis;
  /// order[0] is the axis along which neighbours are dealt first.
  llvm::SmallVector<unsigned, 4> order;
};

/// Registers cover sizePerThread, lanes lanesPerAxis of those, warps
/// warpsPerAxis of those; what is left of `shape` repeats in registers along
/// `order`. Where `shape` is smaller, lanes and warps hold duplicates.
LinearLayout blockedLayout(llvm::ArrayRef<int64_t> shape, const BlockedShape &blocked);

/// The blocked layout in which each thread holds `vector` neighbours along
/// order[0], lanes then warps run along the axes in `order`, with `numLanes`
/// per warp. With every axis exhausted, the remaining lanes and warps repeat.
LinearLayout coalescedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                             int64_t vector, int64_t numLanes, int64_t numWarps);

/// Identity of axis sizes: axis order[0] fastest in offset.
LinearLayout plainShared(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order);

/// {rank-1, …, 0}: the last axis fastest.
llvm::SmallVector<unsigned, 4> rowMajorOrder(unsigned rank);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_TILELAYOUTS_H
