// Sums that a loop begins anew (ResetSums.cpp).

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RESETSUMS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RESETSUMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

/// The choice that makes the sum, if that is one between zeros and a sum by one condition for all
/// of it.
mlir::arith::SelectOp resetOfSum(mlir::Value sum);

} // namespace kiln

#endif
