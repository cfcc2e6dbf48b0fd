// Addresses without bounds that their accesses' masks imply.
//
// Kernels keep addresses of what a mask leaves out within an array, too:
//
//     x = load(p + minimum(i, n - 1) * stride, mask=i < n)
//
// Where the mask holds that is i, and elsewhere nothing is read. Of i neighbours are side by side
// in memory, and iterations of a loop a constant apart, which of minimum(i, n - 1) nobody knows.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_UNCLAMPADDRESSES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_UNCLAMPADDRESSES_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace kiln {

/// `kiln-unclamp-addresses`, on functions: minima, maxima and choices in addresses that change
/// nothing where the access's mask holds are left out.
std::unique_ptr<mlir::Pass> createUnclampAddressesPass();

void registerUnclampAddressesPass();

} // namespace kiln

#endif
