// Bounds on the integers and addresses in a tensor, as scalars computed at run time.
//
// A store may run while loads of the same nest are still to come only if they do not meet. Where
// the compiler cannot see that, a few scalar instructions can: the smallest and largest address of
// either side follow from the extents of the aranges and the scalars in the pointer arithmetic
// (interval arithmetic, in i64).

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_ADDRESSRANGE_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_ADDRESSRANGE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace kiln::cpu {

/// Both ends included; i64. For pointers, of the first byte of an element.
struct Range {
  mlir::Value low, high;
};

/// Whether rangeOf gives an answer: the pointer arithmetic holds nothing but aranges, scalars and
/// simple operations.
bool hasRange(mlir::Value value);

/// Emits the bounds of an integer- or pointer-like value. `scalar` gives the emitted form of a
/// scalar.
std::optional<Range> rangeOf(mlir::Value value, mlir::OpBuilder &builder, mlir::Location loc,
                             llvm::function_ref<mlir::Value(mlir::Value)> scalar);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_ADDRESSRANGE_H
