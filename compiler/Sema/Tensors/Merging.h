// Values seen as lists of IR values: what regions yield and what comes out of them again.
#ifndef KILN_COMPILER_SEMA_TENSORS_MERGING_H
#define KILN_COMPILER_SEMA_TENSORS_MERGING_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

/// Appends the IR values inside `value`, in order.
void flatten(const Value &value, llvm::SmallVectorImpl<mlir::Value> &parts);
/// `value` with its IR values replaced, from the front of `parts`, which is advanced.
Value rebuild(const Value &value, llvm::ArrayRef<mlir::Value> &parts);
/// Gives two values, available at the ends of two blocks, one structure and type, converting
/// numbers to tensors. False, with the reason, when they cannot merge.
bool unify(TensorBuilder &build, Value &a, mlir::Block *atA, Value &b, mlir::Block *atB,
           std::string &why);
/// Makes `value`, available at the end of `at`, one of the structure and types of `like`.
bool conform(TensorBuilder &build, const Value &like, Value &value, mlir::Block *at);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_MERGING_H
