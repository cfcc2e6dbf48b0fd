// Tiles of products that end in zeros, made narrower.
//
// A tile has a power of two as extent, and the array may have fewer elements than the smallest tile
// that the kernel is written for: heads of 16 dimensions in tiles of 64, a sequence of 16 in blocks
// of 64. Masks leave the rest out, but threads ask for it, store its zeros, and multiply them. Of
//
//     q = tile.load %p mask %i < 16 other 0      // 128 x 64
//     k = tile.load %r mask %i < 16 other 0      // 64 x 128
//     s = tile.dot %q, %k, …                     // 64 deep, of which 16 are used (TrimDots.h)
//
// the tiles become 128 x 16 and 16 x 128, and so do tiles of which nobody sees the columns from
// there on, up to the stores whose masks leave them out, and what loops carry of them.
//
// All that has a value's elements has its part of them then, in place; only indices, which often
// serve several accesses, are computed again for what is narrower. Where another use wants all of a
// value nothing is done.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_NARROWDOTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_NARROWDOTS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// On dots (i32): the source's dot has so many times as many products, all others of zeros.
inline constexpr llvm::StringLiteral narrowedByAttr = "tile.narrowed_by";

/// A pass on func.func, `kiln-narrow-dots`, behind `kiln-trim-dots`.
std::unique_ptr<mlir::Pass> createNarrowDotsPass();
void registerNarrowDotsPass();

} // namespace kiln

#endif
