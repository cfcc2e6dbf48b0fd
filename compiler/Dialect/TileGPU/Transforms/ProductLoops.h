// Loops whose dots read what the copy engine brings, and nothing else that is loaded.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PRODUCTLOOPS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PRODUCTLOOPS_H

#include "compiler/Dialect/TileGPU/Transforms/ClusterCopies.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"

namespace kiln {

/// A loop whose dots read blocks only.
struct ProductLoop {
  mlir::scf::ForOp loop;
  StagedLoads staged;
};

/// Of the staged loads' numbers, those whose blocks the same operation reads first.
using LoadGroup = llvm::SmallVector<unsigned>;

/// The loops of a kernel that one producer can serve: all fill slots of the same blocks.
class ProductLoops {
public:
  ProductLoops(mlir::func::FuncOp kernel, const TargetInfo &target);

  static llvm::SmallVector<tilegpu::BufferType> slotTypes(const ProductLoop &candidate);

  /// As many slots as the loop that wishes most, and as there is room for.
  RingPlan plan(mlir::func::FuncOp kernel, const TargetInfo &target);

  /// The loads that wait and are waited for together, in the order in which they are read: all, or
  /// those that are read together, where all loops group them alike and would have nothing copied
  /// ahead otherwise.
  llvm::SmallVector<LoadGroup> groups(const RingPlan &plan) const;

  /// Whether blocks of the cluster copy for each other.
  bool shares() const;

  std::vector<ProductLoop> loops;
  ClusterCopies copies;
  bool isServed = false;
  /// The block of the outermost loops, and the branch that it belongs to, as where arguments are
  /// compared for them; often none.
  mlir::Block *place = nullptr;
  mlir::scf::IfOp branch;

private:
  bool areInOnePlace(mlir::func::FuncOp kernel);
  bool shares(const ProductLoop &candidate) const;
  bool pays(ProductLoop &candidate, mlir::func::FuncOp kernel, const TargetInfo &target) const;
};

/// The values from which the coordinates of blocks, bounds of the loops around them, and the
/// condition of their branch come.
class ProducerSlice {
public:
  explicit ProducerSlice(ProductLoops &served);

  /// Whether one thread can compute all of it: scalars, without looking at memory.
  bool isScalar = true;

  bool has(mlir::Value value) const { return values.contains(value); }
  bool isAround(mlir::Operation *op) const { return around.contains(op); }

private:
  void add(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &wanted);
  void addArgument(mlir::BlockArgument argument, llvm::SmallVectorImpl<mlir::Value> &wanted);

  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> around;
};

} // namespace kiln

#endif
