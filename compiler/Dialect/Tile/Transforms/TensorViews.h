// Values whose elements are elements of a larger tensor: what broadcasts, new axes and
// transpositions are made of.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_TENSORVIEWS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_TENSORVIEWS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// The value's element for one of the tensor's: its index along axis i is that along the tensor's
/// axis `axes[i]`, or 0 where the value has extent 1.
struct TensorView {
  mlir::Value value;
  llvm::SmallVector<unsigned, 4> axes;

  bool operator==(const TensorView &other) const {
    return value == other.value && axes == other.axes;
  }

  /// Goes on to what the value repeats, moves or gives an axis to; false where it does none of
  /// these.
  bool stepToSource();

  /// Goes on as far as that leads.
  TensorView source() const;

  /// The operand of an operation that makes the value element by element.
  TensorView of(mlir::Value operand) const { return {operand, axes}; }
};

/// Whether the operation repeats, moves or gives an axis to its operand.
bool isView(mlir::Operation *op);

/// All of a tensor, or scalar.
TensorView viewOf(mlir::Value tensor);

} // namespace kiln

#endif
