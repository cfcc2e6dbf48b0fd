// The kernel as the search for layouts sees it.
//
// A node is an operation on tensors, or one loop-carried (branch-merged) tensor. It has one
// unknown, its layout: that of its result, or for a reduction that of its sources. The layouts of
// all its operands and results follow from it, by the transfer functions below.
//
// Values that cost next to nothing to compute again (constants, ranges, splats, and integer and
// pointer arithmetic on them) belong to no node: each use gets its own copy in the layout it wants.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTGRAPH_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTGRAPH_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// How the layouts of a node's operands and results follow from its own.
enum class LayoutTransfer : uint8_t {
  Same,      ///< elementwise operations, memory accesses, scans
  Carried,   ///< a loop-carried or branch-merged tensor
  Broadcast, ///< operand: axes of extent 1 shrunk
  ExpandDims,
  Trans,
  Reshape,
  Reduce,    ///< the layout is the sources'; results are slices
  Gather,    ///< the layout is the result's and the indices'
  Histogram, ///< the layout is the source's; the result has its elements dealt to all threads
  Dot,       ///< the layout is the accumulator's; operands follow from the matrix unit
};

/// A layout a node may have. `unit`: for dots on a matrix unit.
struct LayoutChoice {
  tilegpu::LayoutAttr layout;
  tilegpu::MatrixUnitAttr unit;
  bool operator==(const LayoutChoice &other) const {
    return layout == other.layout && unit == other.unit;
  }
};

struct LayoutNode {
  mlir::Operation *op; ///< the operation, or for Carried the scf operation
  LayoutTransfer transfer;
  llvm::SmallVector<mlir::Value, 2> results;
  llvm::SmallVector<mlir::OpOperand *, 4> operands;
  llvm::SmallVector<LayoutChoice, 4> choices;
  /// Which choice spread from which proposal.
  llvm::DenseMap<unsigned, unsigned> choiceOfProposal;
  unsigned current = 0;

  const LayoutChoice &chosen() const { return choices[current]; }
};

class LayoutGraph {
public:
  /// Fails with an error at an operation on tensors that has no known transfer.
  static llvm::FailureOr<LayoutGraph> build(mlir::func::FuncOp kernel);

  llvm::MutableArrayRef<LayoutNode> nodes() { return list; }
  llvm::ArrayRef<LayoutNode> nodes() const { return list; }
  /// The node that defines a tensor, or -1 if it is recomputed for each use.
  int definingNode(mlir::Value value) const;
  /// The node that uses a tensor, or -1 if its user is itself recomputed.
  int usingNode(mlir::OpOperand &use) const;

  /// Layouts of the node's tensors when it takes `choice`.
  tilegpu::LayoutAttr operandLayout(const LayoutNode &node, const LayoutChoice &choice,
                                    mlir::OpOperand &operand) const;
  tilegpu::LayoutAttr resultLayout(const LayoutNode &node, const LayoutChoice &choice) const;
  /// The choice by which the operand or result would have this layout, if it determines one.
  std::optional<LayoutChoice> choiceFromOperand(const LayoutNode &node, mlir::OpOperand &operand,
                                                tilegpu::LayoutAttr layout) const;
  std::optional<LayoutChoice> choiceFromResult(const LayoutNode &node,
                                               tilegpu::LayoutAttr layout) const;

private:
  friend class LayoutGraphBuilder;
  std::vector<LayoutNode> list;
  llvm::DenseMap<mlir::Value, int> definitions;
  llvm::DenseMap<mlir::OpOperand *, int> uses;
  /// What operandLayout() has given, by operand and choice: a search asks for each many times.
  mutable llvm::DenseMap<std::tuple<mlir::OpOperand *, mlir::Attribute, mlir::Attribute>,
                         tilegpu::LayoutAttr>
      operandLayouts;
};

/// The layout a recomputed operation needs of a tensor operand to give this result.
tilegpu::LayoutAttr operandLayoutFor(mlir::Operation *op, mlir::OpOperand &operand,
                                     tilegpu::LayoutAttr result);

/// How many loops surround the operation or value's block.
unsigned loopDepth(mlir::Block *block);

} // namespace kiln

#endif
