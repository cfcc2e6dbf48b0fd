// Sums and differences that a mask sets to zero.
//
// A norm centres a row that is padded with zeros, and sets what is outside to zero again:
//
//     x = load(p, mask, other=0); centred = where(mask, x - mean, 0)
//
// That is a choice for each element. As x is zero outside, it is also
//
//     centred = x - where(mask, mean, 0)
//
// and neighbours under one predicate, as a vector's are, share the choice.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MASKSCALARS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MASKSCALARS_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-mask-scalars`, on functions: the same numbers, to the bit.
std::unique_ptr<mlir::Pass> createMaskScalarsPass();

void registerMaskScalarsPass();

} // namespace kiln

#endif
