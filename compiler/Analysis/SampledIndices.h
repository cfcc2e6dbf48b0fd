// What indices, addresses and masks are in the second program instance, for all others: scalars of
// which nothing is known have a value that is usual for them. It tells which elements a warp had
// better access together, where neighbours are neither side by side nor evenly apart; nothing may
// rely on it.
//
// Arguments are large (extents, strides), so that quotients by them stay the same and remainders go
// on, as in ExpectedStrides.h; loops are in their first iteration.

#ifndef KILN_COMPILER_ANALYSIS_SAMPLEDINDICES_H
#define KILN_COMPILER_ANALYSIS_SAMPLEDINDICES_H

#include "compiler/Analysis/AxisInfo.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln {

class SampledIndices {
public:
  /// `facts` must outlive it.
  explicit SampledIndices(const AxisInfoAnalysis &facts) : facts(facts) {}

  /// Of the element of a tensor, or of a scalar (no coordinates): an integer, 0 or 1, or an address
  /// in bytes behind that of the arguments. None where it depends on loaded tensors.
  std::optional<int64_t> at(mlir::Value value, llvm::ArrayRef<int64_t> element);

private:
  using Sample = std::optional<int64_t>;
  Sample find(mlir::Value value, llvm::ArrayRef<int64_t> element);
  Sample compute(mlir::Value value, llvm::ArrayRef<int64_t> element);
  Sample ofArithmetic(mlir::Operation *op, llvm::ArrayRef<int64_t> element);
  Sample usual(mlir::Value scalar) const;

  const AxisInfoAnalysis &facts;
  llvm::DenseMap<mlir::Value, Sample> ofElement; ///< of the one that `at` was asked for
};

} // namespace kiln

#endif
