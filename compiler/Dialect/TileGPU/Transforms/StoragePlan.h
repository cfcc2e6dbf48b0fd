// What a kernel keeps in shared memory, when, and where.
//
// A buffer lives from its allocation to the last use of any value that may be it (BufferAliases.h);
// a use inside a loop that the allocation is outside of keeps it alive to the loop's end. Scratch
// lives as long as its operation. The intervals are placed greedily, largest first, each at the
// lowest offset free over its life: not optimal in general, but within a few percent on such
// interval graphs, and predictable.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STORAGEPLAN_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STORAGEPLAN_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// On the module: conversions behind loops take slices as far as a block has no more bytes of
/// shared memory (i32); no such attribute: as the estimate of registers says.
inline constexpr llvm::StringLiteral sharedLimitAttr = "tilegpu.shared_limit";
/// On the module: a product's operands are in shared memory one after the other where that has room
/// for twice as many blocks, on RDNA 3 (unit).
inline constexpr llvm::StringLiteral operandsInTurnAttr = "tilegpu.operands_in_turn";

/// Storage that one operation asks for, alive over [begin, end] in the order of operations.
struct Storage {
  mlir::Operation *op;
  int64_t bytes;
  unsigned begin, end;
  bool isBuffer;     ///< or scratch
  int64_t slotBytes; ///< of a ring; else all
  int64_t offset = -1;
};

/// The loop around the operation if there is no other in it; null else.
mlir::Operation *innermostLoopOf(mlir::Operation *op);

class StoragePlan {
public:
  /// Of a kernel as it stands. Described blocks that are loaded and stored have the buffers that
  /// they will go through.
  StoragePlan(mlir::func::FuncOp kernel, const TargetInfo &target);

  /// Buffers first, in the order of the kernel.
  llvm::MutableArrayRef<Storage> storages() { return all; }

  /// Gives everything its offset; how many bytes that takes. Scratch in innermost loops has a place
  /// of its own all through the loop if that takes no more than half of what there is, nor the room
  /// of another block on a processor that has few warps; beyond half of it, as far as a processor
  /// holds as many blocks.
  int64_t place();
  /// Blocks of so many bytes that a processor can hold.
  static int64_t blocksWith(const TargetInfo &target, int64_t bytes);
  /// How many of the kernel's blocks a processor holds as it stands, by what it keeps in shared
  /// memory and by the estimate of registers, and `uncounted` ones; 0 if there is no room for one.
  static int64_t blocksOf(mlir::func::FuncOp kernel, const TargetInfo &target, int uncounted = 0);
  /// The most bytes of which it can hold so many.
  static int64_t bytesOfShare(const TargetInfo &target, int64_t blocks);
  /// The same without the buffers of `replaced`, but with rings whose slots have `slotBytes` and
  /// that live as long as `life`.
  int64_t bytesWith(llvm::ArrayRef<mlir::Operation *> replaced, llvm::ArrayRef<int64_t> slotBytes,
                    unsigned slots, mlir::Operation *life) const;

private:
  void number(mlir::Operation *op, unsigned &next);
  void collectBuffers();
  void collectBlocks(llvm::function_ref<void(tilegpu::AllocOp, mlir::Operation *)> extend);
  void extend(Storage &storage, mlir::Operation *user);
  int64_t placeApart();
  int64_t placeWithin(int64_t room);
  int64_t roomOfAsMany(int64_t bytes) const;
  int64_t placeTightly();

  mlir::func::FuncOp kernel;
  const TargetInfo *target;
  /// Of an operation, so that those of what is in its regions lie between.
  llvm::DenseMap<mlir::Operation *, unsigned> first, last;
  llvm::SmallVector<Storage> all;
};

} // namespace kiln

#endif
