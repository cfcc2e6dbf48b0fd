// Descriptors that the kernel makes tensor maps of: for targets with an engine that copies
// described blocks (NVIDIA's TMA).
//
// Where a descriptor is of what only the running kernel knows (a pointer that it loads, as of the
// problems of a grouped product; a batch's place; a shape that it computes), the launcher has no
// map to pass (UseTensorMaps.h). The kernel makes one, in memory, where it makes the descriptor
// (`tile.make_tensor_map`). That takes about a microsecond (H200), so it has to serve several
// blocks: accesses use one that was made outside of a loop around them.
//
// What the launcher checks for its maps, the kernel checks where it writes: that rows end with a
// whole piece of 16 bytes and the block begins at no negative coordinate. Otherwise threads write
// the block.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MAKETENSORMAPS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_MAKETENSORMAPS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// A pass on func.func, `kiln-make-tensor-maps{of-arrays}`. Without `of-arrays` loads from arrays
/// at places that the kernel computes of its arguments and program ids alone stay as they are:
/// through pointers, they may get a map of the launcher's (ArrayBlocks.h).
std::unique_ptr<mlir::Pass> createMakeTensorMapsPass(bool ofArrays);
void registerMakeTensorMapsPass();

} // namespace kiln

#endif
