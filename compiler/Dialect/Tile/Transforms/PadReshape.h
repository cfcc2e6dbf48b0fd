// Reshapes between padded shapes.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PADRESHAPE_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PADRESHAPE_H

#include "compiler/Dialect/Tile/Tile.h"

namespace kiln {

/// For a reshape whose types are padded already, of these shapes before: the value that holds its
/// elements where the padded result wants them. The reshape's own result where each element keeps
/// its number in row-major order, else new operations at the builder's place.
mlir::Value padReshape(mlir::OpBuilder &builder, tile::ReshapeOp reshape,
                       llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace kiln

#endif
