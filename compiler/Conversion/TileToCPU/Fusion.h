// Which tensor operations are fused into the loop nests of their consumers, and which fill a
// buffer.
//
// A *root* is an operation that gets a loop nest of its own: store, reduce, scan, histogram, dot,
// tensor atomic, and the control flow that tensors pass through (loop operands, yields). All other
// operations on tensors are *producers*: they have no nest and are computed in those of the roots
// that need them, unless their result is *materialised*, which gives them a buffer and makes them
// roots themselves:
//   * a load that would otherwise move across a write, or meet the writes of its own root;
//   * a value that costs more than its buffer when computed again, by another root or another row
//     of a broadcast.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_FUSION_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_FUSION_H

#include "compiler/Conversion/TileToCPU/IndexFacts.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln::cpu {

/// A tensor operation that can be computed inside the nests of its consumers.
bool isProducer(mlir::Operation *op);
/// Element i of the result needs element i of the operands: the index is the same.
bool keepsIndices(mlir::Operation *op);

/// Reads memory each time that it runs, where it stands.
bool isVolatile(tile::LoadOp load);

/// A root that computes a value, and how it reaches it.
struct Consumer {
  mlir::Operation *root;
  /// Only at the index of the nest itself.
  bool direct;
  /// Once for each row of a broadcast.
  bool repeated;
};

/// Visits a tensor and, down to those that are in buffers, what a nest computes for it. `direct`:
/// at the index of the nest itself. The visitor says whether to go on to what a tensor is computed
/// from.
void visitFused(mlir::Value root, llvm::function_ref<bool(mlir::Value)> isInBuffer,
                llvm::function_ref<bool(mlir::Value value, bool direct)> visit);

class Fusion {
public:
  Fusion(mlir::func::FuncOp kernel, IndexFacts &facts);

  bool isMaterialised(mlir::Value value) const { return materialised.contains(value); }
  llvm::ArrayRef<Consumer> consumers(mlir::Value value) const;
  /// Program order, outer operations before those inside.
  unsigned position(mlir::Operation *op) const { return positions.lookup(op); }
  /// The loads that `store` computes while it writes and that may meet its writes: to be checked at
  /// run time.
  llvm::ArrayRef<mlir::Operation *> guardedLoads(mlir::Operation *store) const;

private:
  void addConsumer(mlir::Value value, Consumer consumer);
  void collectConsumers(mlir::Value value);
  bool shouldMaterialise(mlir::Operation *op, mlir::Value value);
  bool mustStandWhereItIs(tile::LoadOp load);
  /// An operation that may write runs after `from` and before (or, in a loop, after) `to`.
  bool writesBetween(mlir::Operation *from, mlir::Operation *to) const;
  unsigned ownCost(mlir::Operation *op);

  IndexFacts &facts;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseSet<mlir::Operation *> writers; // includes operations that hold one
  llvm::DenseMap<mlir::Value, unsigned> costs;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Consumer, 2>> consumerLists;
  llvm::DenseSet<mlir::Value> materialised;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>> guarded;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_FUSION_H
