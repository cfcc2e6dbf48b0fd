//===- IntegerStorage.h - Moving small floats as integers ----------------------===//

#ifndef KILN_COMPILER_TARGET_CPU_INTEGERSTORAGE_H
#define KILN_COMPILER_TARGET_CPU_INTEGERSTORAGE_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Function;
class Type;
} // namespace llvm

namespace kiln {

/// Rewrites what only moves values (loads, stores, phis, selects, lane operations, masked memory
/// intrinsics) of the 16-bit float types that `isMoved` accepts, scalars and vectors, to i16.
/// Expects arithmetic and conversions of these types to be gone.
void moveAsIntegers(llvm::Function &function, llvm::function_ref<bool(llvm::Type *)> isMoved);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_INTEGERSTORAGE_H
