// Tiles that are stored to buffers, and who reads these.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STAGEDTILES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STAGEDTILES_H

#include "compiler/Dialect/TileGPU/TileGPU.h"

namespace kiln {

/// A tile, and the order in which its axes are.
struct Content {
  mlir::Value tile;
  llvm::SmallVector<int32_t> order;
};

/// What is stored, seen through transpositions.
Content contentOf(tilegpu::SharedStoreOp store);

/// The operation that writes the buffer, if there is one alone, and others only read it.
mlir::Operation *onlyWriter(tilegpu::AllocOp buffer);

/// Whether a dot reads the buffer itself, or a transposition of it.
bool isReadByDots(mlir::Value buffer);

} // namespace kiln

#endif
