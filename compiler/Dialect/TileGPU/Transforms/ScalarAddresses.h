// Addresses of single elements of arrays below 2 GiB, by one sum of 32 bits.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SCALARADDRESSES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SCALARADDRESSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Adds up what is added to arguments of the kernel one after the other, `x + a + b`, before it
/// becomes bytes of 64 bits, where nothing but an access takes the address. All that is accessed is
/// within 2^31 bytes of the argument, so that 32 bits hold the sum of the indices; of what is not,
/// the address is of no account. A constant that comes last is the access's own offset.
void addIndicesFirst(mlir::func::FuncOp kernel);

} // namespace kiln

#endif
