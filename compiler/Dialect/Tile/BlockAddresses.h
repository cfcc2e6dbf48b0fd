// The elements of a block of a tensor in memory: their addresses, and which of them exist.
//
// Coordinates are compared and multiplied by their stride as vectors, one for each axis, before
// they are broadcast to the block, so that axis analysis sees each dimension alone.

#ifndef KILN_COMPILER_DIALECT_TILE_BLOCKADDRESSES_H
#define KILN_COMPILER_DIALECT_TILE_BLOCKADDRESSES_H

#include "compiler/Dialect/Tile/Tile.h"

namespace kiln::tile {

/// One axis of a block.
struct BlockAxis {
  mlir::Value coordinates; ///< tensor<Nxi64>, in the tensor that the block is of
  mlir::Value stride;      ///< i64, in elements
  mlir::Value extent;      ///< i64, of the tensor; null where it is not checked
};

/// `offset` (i64) and the integers behind it, `count` in all.
mlir::Value coordinatesFrom(mlir::OpBuilder &b, mlir::Location loc, mlir::Value offset,
                            int64_t count);

struct BlockAddresses {
  mlir::Value pointers; ///< of every element of the block
  mlir::Value mask;     ///< whether its coordinates are inside the extents; null if none is checked
};

/// `base`: of the element whose coordinates are all 0.
BlockAddresses blockAddresses(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                              llvm::ArrayRef<BlockAxis> axes);

} // namespace kiln::tile

#endif
