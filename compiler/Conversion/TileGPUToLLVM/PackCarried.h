// Small values that loops carry.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_PACKCARRIED_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_PACKCARRIED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Lets values of fewer than 32 bits that loops of a thread's scalar program carry share registers
/// (vectors of 32 bits): neighbours of one type, as the elements of a tensor are.
void packCarriedValues(mlir::func::FuncOp kernel);

} // namespace kiln

#endif
