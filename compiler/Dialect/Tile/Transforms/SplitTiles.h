// Tiles that are too large for the registers of the threads that hold them.
//
// A GPU kernel becomes the program of one thread, with code for each element that the thread holds:
// a tile of 1024 x 1024 over 128 threads is 8192 of them, a hundred thousand instructions that no
// register file has values for and that LLVM and ptxas take minutes over. Most such tiles only pass
// through: loaded, computed on element by element, summed along an axis, stored. Those operations
// become a loop over slices of the tile along one axis, with code for one slice:
//
//   load, store, elementwise,         of a slice. Loads and stores of different elements of a tile
//   scans along other axes            have no order without a barrier between them
//   reductions along the axis         a sum that the loop carries, if its combiner has a neutral
//   element other reductions, and what        of a slice of the result uses their results smaller
//   tensors from outside      computed again for the slice, or picked out of the whole by
//                                     tile.gather where that is not possible
//
// What does not fit this (a value that is needed as a whole before it is used again, as in a
// softmax; a dot; a tile that a loop carries) is left as it is.
//
// The alternative, loops over groups of registers made below the layouts, would keep the layouts'
// whole tile, but would have to index registers, which no GPU can.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITTILES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Splits the tiles of which each of `threads` threads would hold more than 256 elements. True if
/// there were any that could be. Extents are powers of two.
bool splitTiles(mlir::func::FuncOp kernel, int64_t threads);

/// `splitTiles` as a pass on func.func, `kiln-split-tiles`, for kernels of `tile.num_warps` warps;
/// simplifies what it has changed.
std::unique_ptr<mlir::Pass> createSplitTilesPass(int64_t warpSize);
void registerSplitTilesPass();

} // namespace kiln

#endif
