// Which allocations a buffer in shared memory may be.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_BUFFERALIASES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_BUFFERALIASES_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Allocation and barriers ask the same question, and here is the one answer. Stale after the IR
/// changes.
class BufferAliases {
public:
  explicit BufferAliases(mlir::func::FuncOp kernel);

  /// The allocations one of which `buffer` is: all of the kernel's if that is not known.
  llvm::ArrayRef<tilegpu::AllocOp> of(mlir::Value buffer);

private:
  llvm::SmallVector<tilegpu::AllocOp> everything;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<tilegpu::AllocOp>> known;
};

/// Whether the buffer has slots, or one slot, that copies fill in an order of their own.
bool isRing(tilegpu::AllocOp buffer);

} // namespace kiln

#endif
