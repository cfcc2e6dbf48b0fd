// The buffers that a kernel needs, in one block of scratch memory per thread, the arena.
//
// The plan says which buffers there are; their places in the arena are chosen afterwards from the
// emitted code: two buffers share memory when no point of the program has both in use.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_BUFFERS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_BUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln::cpu {

/// The elements of a tensor in memory.
struct Buffer {
  /// With the neighbours along `minorAxis` next to each other (the other axes in row-major order
  /// outside of it). `element` is a type of the emitted code.
  Buffer(unsigned number, mlir::Type element, llvm::ArrayRef<int64_t> shape, unsigned minorAxis);

  /// Names it in the plan.
  unsigned number;
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

  /// Gives the buffer an address, an `!llvm.ptr` defined in the entry block.
  void allocate(mlir::Location loc, const Buffer *buffer);
  bool holds(const Buffer *buffer) const { return addresses.contains(buffer); }
  mlir::Value address(const Buffer *buffer) const;

  /// Gives every buffer its offset in the finished function; returns the bytes needed.
  int64_t place(mlir::func::FuncOp function);

private:
  mlir::Block *entry = nullptr;
  mlir::Value base;
  /// In the order of allocation.
  llvm::SmallVector<const Buffer *> allocated;
  llvm::DenseMap<const Buffer *, mlir::Value> addresses;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_BUFFERS_H
