// How far apart neighbours of an index or address are expected to be, where nothing is known for
// certain (AxisInfo.h). It tells which elements a warp had better access together; nothing may rely
// on it.
//
// A remainder by something unknown is expected to go on as what it is taken of, and a quotient to
// stay the same: the programs that compute `i // n` and `i % n` of neighbours take them apart into
// rows of n, which are mostly longer than a tile. Where strides are arguments, one known to be a
// multiple of 16 and one not, as of matrices with either order, the latter is guessed to be 1.

#ifndef KILN_COMPILER_ANALYSIS_EXPECTEDSTRIDES_H
#define KILN_COMPILER_ANALYSIS_EXPECTEDSTRIDES_H

#include "compiler/Analysis/AxisInfo.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln {

class ExpectedStrides {
public:
  /// `facts` must outlive it.
  explicit ExpectedStrides(const AxisInfoAnalysis &facts) : facts(facts) {}

  /// In elements, along an axis of a tensor of integers or pointers; 0 for a scalar. None where
  /// nothing can be expected.
  std::optional<int64_t> of(mlir::Value value, unsigned axis);
  /// Of a tensor's axes, of whose strides some are unknown, the only one that may be 1.
  std::optional<unsigned> guessUnitAxis(mlir::Value value);

private:
  std::optional<int64_t> least(mlir::Value value, unsigned axis);
  std::optional<int64_t> compute(mlir::Value value, unsigned axis);
  std::optional<int64_t> ofProduct(mlir::Value lhs, mlir::Value rhs, unsigned axis);
  std::optional<int64_t> ofView(mlir::Operation *op, unsigned axis);

  const AxisInfoAnalysis &facts;
  /// Whether unknown factors count as what is known to divide them.
  bool unknownAreLeast = false;
  using Known = llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::optional<int64_t>>;
  Known known, knownLeast;
};

} // namespace kiln

#endif
