// Which parts of a kernel's values the blocks of a cluster need, if each makes its part of what the
// program instance stores.
//
// A part of a value is an equal share of it along one axis, by the block's rank; or a block has all
// of it. Wanting a part of what is stored means wanting parts of what that is computed from, as
// elementwise operations, products and loops have it. Ranges, masks and addresses are computed for
// as many parts as somebody wants; loads, products and reductions for one.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PROGRAMPARTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PROGRAMPARTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace kiln {

/// The axis along which a block has its share of a value.
using PartAxis = int;
constexpr PartAxis wholeValue = -1;

/// Why a program cannot be divided, and where that is seen.
struct Indivisible {
  mlir::Location place;
  std::string text;
};

class ProgramParts {
public:
  /// `blocks`: that share the program.
  explicit ProgramParts(unsigned blocks) : blocks(blocks) {}

  /// Wants a part of a value, and of all that it is computed from; why that is not possible. Then
  /// what was wanted is of no use any more.
  std::optional<Indivisible> want(mlir::Value value, PartAxis axis);

  /// The parts that are wanted, in increasing order.
  llvm::SmallVector<PartAxis> axesOf(mlir::Value value) const;
  /// Those of an operation's results, as axes of the first.
  llvm::SmallVector<PartAxis> axesOf(mlir::Operation *op) const;

  /// Which part of the operand makes the operation's part along `axis` of its results; none: no
  /// part does.
  static std::optional<PartAxis> partOfOperand(mlir::OpOperand &operand, PartAxis axis);
  /// A share's type.
  mlir::Type partOf(mlir::Type type, PartAxis axis) const;
  bool canDivide(mlir::Type type, PartAxis axis) const;
  /// The same of a described block, along an axis of the tensor that it is: it keeps rows of 16
  /// bytes.
  bool canDivideBlock(mlir::Value descriptor, mlir::Type tensor, PartAxis axis) const;

private:
  using Part = std::pair<mlir::Value, PartAxis>;
  std::optional<Indivisible> add(Part part, llvm::SmallVectorImpl<Part> &pending);
  void addSources(mlir::BlockArgument argument, PartAxis axis,
                  llvm::SmallVectorImpl<Part> &pending) const;
  std::optional<Indivisible> addSources(mlir::OpResult result, PartAxis axis,
                                        llvm::SmallVectorImpl<Part> &pending) const;

  unsigned blocks;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<PartAxis, 1>> wanted;
};

/// The axis of a block that an axis of a tensor is which has the block's axes, or those of more
/// than one element.
unsigned axisOfBlock(mlir::Type descriptor, mlir::Type tensor, unsigned axis);

} // namespace kiln

#endif
