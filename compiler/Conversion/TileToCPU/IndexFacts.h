// How integers and pointers change along an axis of a tensor, from the operations that made them.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_INDEXFACTS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_INDEXFACTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace kiln::cpu {

/// The integer that every element of `value` is known to be.
std::optional<int64_t> constantOf(mlir::Value value);

/// How a value goes along an axis, when its stride is not a known constant.
enum class Progress {
  Uniform, ///< not at all
  Affine,  ///< start + i * stride, the stride being known only at run time
  Wrapped, ///< ((start + i) modulo n) * factor + offset
  Unknown
};

class IndexFacts {
public:
  /// The difference of neighbours along `axis`, if it is the same constant over the whole tensor: 0
  /// for what does not depend on the axis. Pointers count in elements of their pointee.
  std::optional<int64_t> stride(mlir::Value value, unsigned axis);

  Progress progress(mlir::Value value, unsigned axis);

private:
  std::optional<int64_t> compute(mlir::Value value, unsigned axis);
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::optional<int64_t>> known;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, Progress> knownProgress;
  Progress computeProgress(mlir::Value value, unsigned axis);
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_INDEXFACTS_H
