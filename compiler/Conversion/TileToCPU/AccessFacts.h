// How the vectors of a nest reach memory: what the facts about indices say of pointers along an
// axis.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_ACCESSFACTS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_ACCESSFACTS_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Conversion/TileToCPU/IndexFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::cpu {

/// What `lanes` neighbours along an axis access together.
enum class AccessForm {
  Same,       ///< one element
  Contiguous, ///< a vector
  Checked,    ///< a vector or not, as the kernel's arguments have it: a few lanes tell at run time
  Scattered   ///< elements anywhere
};

class AccessFacts {
public:
  /// A vector is longer than what the source's word is good for.
  explicit AccessFacts(mlir::func::FuncOp kernel) : axes(kernel, TensorHints::Ignored) {}

  AccessForm form(mlir::Value pointers, unsigned axis, unsigned lanes);
  bool sameInAllLanes(mlir::Value value, unsigned axis, unsigned lanes);
  /// Of a Checked access: an index may start again at zero on the way.
  bool mayWrap(mlir::Value pointers, unsigned axis) {
    return indices.progress(pointers, axis) == Progress::Wrapped;
  }
  /// About how many instructions the access is.
  double cost(mlir::Value pointers, unsigned axis, unsigned lanes);

  IndexFacts indices;

private:
  AxisInfoAnalysis axes;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_ACCESSFACTS_H
