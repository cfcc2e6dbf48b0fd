// Indices that loops carry and that are not negative, because the loop would not run otherwise.
//
//     groups = cdiv(elements, size); index = pid * groups * size + arange
//     for i in range(groups): …; index += size
//
// Nothing says that `elements` is positive. But where the loop's body runs, `groups` is.

#ifndef KILN_COMPILER_ANALYSIS_NONNEGATIVECARRIED_H
#define KILN_COMPILER_ANALYSIS_NONNEGATIVECARRIED_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// The integers and tensors of integers that the loop carries which are at least 0 wherever its
/// body runs. On AxisInfo.h's assumptions.
llvm::SmallVector<mlir::BlockArgument> nonNegativeCarried(mlir::scf::ForOp loop);

} // namespace kiln

#endif
