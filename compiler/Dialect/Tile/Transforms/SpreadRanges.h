// Ranges that a loop moves, and that tiles use along several axes.
//
//     offs_k += BLOCK_K                        of a range that the loop carries
//     mask_k = offs_k < K
//     a = load(…, mask_m[:, None] & mask_k[None, :])
//     b = load(…, mask_k[:, None] & mask_n[None, :])
//
// A carried tensor has one layout. Threads that hold the columns of a hold other rows of b, and so
// one of the masks would go through shared memory in each iteration, between two barriers. As the
// start plus a number that the loop moves (Inductions.h), each tile computes its own from what is
// known in front of the loop.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPREADRANGES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPREADRANGES_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-spread-ranges`, on functions. Expects and leaves Tile IR.
std::unique_ptr<mlir::Pass> createSpreadRangesPass();

void registerSpreadRangesPass();

} // namespace kiln

#endif
