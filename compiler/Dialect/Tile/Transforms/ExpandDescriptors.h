// Tensor descriptors as pointers and masks: for targets without hardware for them, and for what
// that hardware does not take.
//
// A descriptor becomes its parts: the base, the extents, and the strides of all axes but the last.
// They pass through control flow one by one. An access becomes one through pointers under the mask
// of what is inside the tensor, with the padding elsewhere. What descriptors promise of base and
// strides becomes facts about them there (tile.hint), from which the access gets its width: the
// type makes the promise, wherever the descriptor came from.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_EXPANDDESCRIPTORS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_EXPANDDESCRIPTORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Leaves no value of a descriptor's type but the kernel's arguments (UseTensorMaps.h). Fails after
/// an error at an operation that takes or gives one and is neither control flow nor one of the Tile
/// dialect's.
llvm::LogicalResult expandDescriptors(mlir::func::FuncOp kernel);

/// `expandDescriptors` as a pass on func.func, `kiln-expand-descriptors`, which simplifies kernels
/// that had some and leaves others as they are.
std::unique_ptr<mlir::Pass> createExpandDescriptorsPass();
void registerExpandDescriptorsPass();

} // namespace kiln

#endif
