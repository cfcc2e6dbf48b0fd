// Where a value may come from, through structured control flow.

#ifndef KILN_COMPILER_ANALYSIS_VALUESOURCES_H
#define KILN_COMPILER_ANALYSIS_VALUESOURCES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// The values one of which `value` is: loop-carried, branch-merged and selected values are followed
/// to what was carried, merged and selected. `forwards` follows further operations: it appends the
/// operands one of which a result is, and nothing where the result is a value of its own.
llvm::SmallSetVector<mlir::Value, 4>
sourcesOf(mlir::Value value,
          llvm::function_ref<void(mlir::OpResult, llvm::SmallVectorImpl<mlir::Value> &)> forwards);

/// The kernel's argument that all of the pointers count from; null: none that is known.
mlir::BlockArgument argumentOf(mlir::Value pointers);

} // namespace kiln

#endif
