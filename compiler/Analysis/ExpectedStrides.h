// How far apart neighbours of an index or address are expected to be, where nothing is known for
// certain (AxisInfo.h). It tells which elements a warp had better access together; nothing may rely
// on it.
//
// A remainder by something unknown is expected to go on as what it is taken of, and a quotient to
// stay the same: the programs that compute `i // n` and `i % n` of neighbours take them apart into
// rows of n, which are mostly longer than a tile.

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

private:
  std::optional<int64_t> compute(mlir::Value value, unsigned axis);
  std::optional<int64_t> ofProduct(mlir::Value lhs, mlir::Value rhs, unsigned axis);
  std::optional<int64_t> ofView(mlir::Operation *op, unsigned axis);

  const AxisInfoAnalysis &facts;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::optional<int64_t>> known;
};

} // namespace kiln

#endif
