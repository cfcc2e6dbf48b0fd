// The Tile dialect: device-independent tile programs. TileOps.td is the specification.

#ifndef KILN_COMPILER_DIALECT_TILE_TILE_H
#define KILN_COMPILER_DIALECT_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Dialect/Tile/TileDialect.h.inc"
#include "compiler/Dialect/Tile/TileEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Tile/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Tile/TileAttrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Tile/TileOps.h.inc"

namespace kiln::tile {

/// `type` for a scalar, its element type for a tensor.
mlir::Type elementTypeOf(mlir::Type type);

/// `element` for a scalar `like`; otherwise a tensor of `element` with the shape and encoding of
/// `like`.
mlir::Type withElementType(mlir::Type like, mlir::Type element);

/// The extents of a tensor; empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);

} // namespace kiln::tile

#endif
