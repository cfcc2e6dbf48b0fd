// Indices that loops carry and that are not negative, because the loop would not run otherwise.
//
//     groups = cdiv(elements, size); index = pid * groups * size + arange
//     for i in range(groups): …; index += size
//
// Nothing says that `elements` is positive. But where the loop's body runs, `groups` is.
//
//     full = total // C; rest = total % C
//     at = pid * full + min(pid, rest); last = (pid + 1) * full + min(pid + 1, rest)
//     while at < last: …; at = min(at + n - at % n, last)
//
// shares `total`, a product of sizes, among C programs, as stream-K does. If `total` were not
// positive, `full` and `rest` would not be either, both minima would be `rest`, `last - at` would
// be `full`, and no body would run.

#ifndef KILN_COMPILER_ANALYSIS_NONNEGATIVECARRIED_H
#define KILN_COMPILER_ANALYSIS_NONNEGATIVECARRIED_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// The integers and tensors of integers that the loop carries which are at least 0 wherever its
/// body runs. On AxisInfo.h's assumptions.
llvm::SmallVector<mlir::BlockArgument> nonNegativeCarried(mlir::scf::ForOp loop);

/// The same of what the body of a loop that shares a total gets.
llvm::SmallVector<mlir::BlockArgument> nonNegativeCarried(mlir::scf::WhileOp loop);

} // namespace kiln

#endif
