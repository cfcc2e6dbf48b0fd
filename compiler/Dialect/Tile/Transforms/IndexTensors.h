// Constants, ranges and padded shapes: what padding is written with.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_INDEXTENSORS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_INDEXTENSORS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace kiln {

/// The next power of two.
int64_t paddedExtent(int64_t extent);
llvm::SmallVector<int64_t, 4> paddedShape(llvm::ArrayRef<int64_t> shape);

/// `element` in all places of a tensor type.
mlir::Value constantOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type tensor,
                       mlir::TypedAttr element);
/// The same of an integer.
mlir::Value splatOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type tensor, int64_t value);
/// 0 to count - 1, as i32.
mlir::Value indexRange(mlir::OpBuilder &builder, mlir::Location loc, int64_t count);

} // namespace kiln

#endif
