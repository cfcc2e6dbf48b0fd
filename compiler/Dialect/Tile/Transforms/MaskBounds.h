// What a mask says of the indices of the elements that it lets through: `i < n - k * 64`, `i >= 0`,
// along each axis and joined by `and`.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MASKBOUNDS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MASKBOUNDS_H

#include "compiler/Analysis/IndexPolynomial.h"

namespace kiln {

/// Of the position i along `axis`: i + rest < 0 if it is an upper bound, otherwise i + rest >= 0.
struct IndexBound {
  unsigned axis = 0;
  bool isUpper = true;
  Polynomial rest;
};

struct MaskBounds {
  /// All of them hold where the mask is true.
  llvm::SmallVector<IndexBound, 4> bounds;
  /// Where all of them hold the mask is true.
  bool areAll = true;
};

MaskBounds boundsOf(mlir::Value mask, IndexPolynomials &polynomials);

} // namespace kiln

#endif
