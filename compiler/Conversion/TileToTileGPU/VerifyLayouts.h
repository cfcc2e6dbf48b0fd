// Layouts must agree across operations that move no data.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_VERIFYLAYOUTS_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_VERIFYLAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Checks, for every operation of the Tile, arith and math dialects, that its operands have the
/// layouts that follow from its result's (or a reduction's results from its sources'), and that the
/// layouts have the threads of the kernel. The Tile verifiers do not look at encodings; a lowering
/// relies on this.
llvm::LogicalResult verifyLayouts(mlir::func::FuncOp kernel, int64_t warpSize, int64_t numWarps);

} // namespace kiln

#endif
