// Products of operands that shared memory has no room for side by side.
//
//     sum' = dot(a, b, sum)
//
// becomes products of parts along k, each with parts of both operands that do fit:
//
//     part = dot(a[:, :k/2], b[:k/2], sum); sum' = dot(a[:, k/2:], b[k/2:], part)
//
// To have the operands there whole, one after the other, a thread holds all fragments of the first
// while the second is stored: of RDNA 3, where they take twice the registers, 256 of 128 x 128
// numbers in two rows of four warps. Parts are read as their products need them, and are as many
// barriers.
//
// Operands are loaded, and computed element by element; loads are made of parts of addresses and
// masks, and those of all parts but the first stand in front of their products, if nothing writes
// between.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITDOTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITDOTS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// `kiln-split-dots`, on functions. `sharedBytes`: what a block can have; `leastFloatBits`: what a
/// number of an operand takes there at least. Extents are powers of two.
std::unique_ptr<mlir::Pass> createSplitDotsPass(int64_t sharedBytes, int64_t leastFloatBits);
void registerSplitDotsPass();

} // namespace kiln

#endif
