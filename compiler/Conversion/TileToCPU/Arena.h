// The arrays that a kernel needs, in one block of scratch memory per thread.
//
// Arrays are made while code is emitted; their places are chosen afterwards from the code: two
// arrays share memory when no point of the program has both in use.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_ARENA_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_ARENA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

namespace kiln::cpu {

struct Buffer {
  /// Address of its first element, `!llvm.ptr`, defined in the function's entry block.
  mlir::Value address;
  /// As stored: i8 for booleans.
  mlir::Type element;
  /// As computed with.
  mlir::Type valueElement;
  llvm::SmallVector<int64_t> shape;
  /// In elements, per axis.
  llvm::SmallVector<int64_t> strides;
  int64_t bytes = 0;
};

class Arena {
public:
  /// `block` is the function's entry block and `base` the arena's address in it.
  void start(mlir::Block *block, mlir::Value base);

  /// A new array of the shape, with the neighbours along `minorAxis` next to each other (the other
  /// axes in row-major order outside of it).
  Buffer *create(mlir::Location loc, mlir::Type element, llvm::ArrayRef<int64_t> shape,
                 unsigned minorAxis);
  /// The same row-major.
  Buffer *create(mlir::Location loc, mlir::Type element, llvm::ArrayRef<int64_t> shape);

  /// Gives every array its offset in the finished function; returns the bytes needed.
  int64_t place(mlir::func::FuncOp function);

private:
  mlir::Block *entry = nullptr;
  mlir::Value base;
  std::deque<Buffer> buffers;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_ARENA_H
