// Descriptors that the launcher makes: for targets with an engine that copies described blocks
// (NVIDIA's TMA).
//
// Where a descriptor consists of the kernel's arguments and of constants, the launcher has all that
// such an engine is to be told (a tensor map), and passes it as one more argument. Loads of blocks
// that products multiply as they are take their descriptor from there, and so do stores of
// kernels with products, and reductions that the engine has; for other accesses ordinary ones are
// as good (ExpandDescriptors.h).
//
// A kernel that has no descriptors, only pointers, may do the same: where a load's addresses are a
// block of an array (ArrayBlocks.h), it becomes the load of a described block. A descriptor
// promises what pointers do not, that the array begins at a multiple of 16 bytes and so do its
// rows. Such a kernel has `tile.maps_of_pointers`: launches whose arguments break the promise need
// it compiled without. So has one that writes a tensor by a map, if its rows are not known to end
// with a whole piece of 16 bytes, as the engine writes no others.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_USETENSORMAPS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_USETENSORMAPS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// A pass on func.func, `kiln-use-tensor-maps{of-pointers}`: adds arguments of descriptors' types,
/// with `tile.tensor_map`, behind the kernel's own, and lets loads use them.
std::unique_ptr<mlir::Pass> createUseTensorMapsPass(bool ofPointers);
void registerUseTensorMapsPass();

} // namespace kiln

#endif
