// Which tensors become arrays, and where every other one is computed.
//
// A *sink* is an operation that gets a loop nest: store, reduce, scan, histogram, dot, tensor
// atomic, and the control flow that tensors pass through (loop operands, yields). All other
// operations on tensors are *lazy*: they have no code of their own and are computed inside the
// nests that need them, unless they are *materialised*, which makes them sinks that write an array
// of the arena:
//   * a load that would otherwise move across a write, or meet the writes of its own sink;
//   * a value that costs more than its array when computed again, by another sink or another row of
//   a broadcast.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_SINKS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_SINKS_H

#include "compiler/Conversion/TileToCPU/IndexFacts.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln::cpu {

/// A tensor operation that is computed inside the nests of its consumers.
bool isLazy(mlir::Operation *op);
/// Element i of the result needs element i of the operands: the index is the same.
bool keepsIndices(mlir::Operation *op);

/// Reads memory each time that it runs, where it stands.
bool isVolatile(tile::LoadOp load);

/// A sink that computes a value, and how it reaches it.
struct Consumer {
  mlir::Operation *sink;
  /// Only at the index of the nest itself.
  bool direct;
  /// Once for each row of a broadcast.
  bool repeated;
};

class SinkPlan {
public:
  SinkPlan(mlir::func::FuncOp kernel, IndexFacts &facts);

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

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_SINKS_H
