// Stores that no thread makes.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_DROPSTORES_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_DROPSTORES_H

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Erases the stores of scalars whose predicates are known to be false, and all that nothing else
/// needs.
void dropStores(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_DROPSTORES_H
