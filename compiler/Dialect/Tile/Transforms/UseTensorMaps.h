// Descriptors that the launcher makes: for targets with an engine that copies described blocks
// (NVIDIA's TMA).
//
// Where a descriptor consists of the kernel's arguments and of constants, the launcher has all that
// such an engine is to be told (a tensor map), and passes it as one more argument. Loads of blocks
// that products multiply as they are take their descriptor from there, and so do stores of
// kernels with products; for other accesses ordinary ones are as good (ExpandDescriptors.h).

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_USETENSORMAPS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_USETENSORMAPS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// A pass on func.func, `kiln-use-tensor-maps`: adds arguments of descriptors' types, with
/// `tile.tensor_map`, behind the kernel's own, and lets loads use them.
std::unique_ptr<mlir::Pass> createUseTensorMapsPass();
void registerUseTensorMapsPass();

} // namespace kiln

#endif
