// Structured control flow as branches between blocks, in time that grows with the program's length.
//
// Refused: MLIR's dialect conversion with the same patterns. It goes from the first operation to
// the last, each cuts its block in two, and every operation behind the cut is moved and recorded so
// that it could be moved back: a thread with 2,000 reductions in a row, each with a branch or two,
// took 23 GB. From the last to the first, what is moved lies between two cuts.

#ifndef KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_FLATTENCONTROLFLOW_H
#define KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_FLATTENCONTROLFLOW_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Leaves no operation of the scf dialect. `preferred` are patterns that are tried before MLIR's.
/// `countersFit`: the counter of a signed scf.for is said to be in range behind the last iteration,
/// too, so that what is computed of it in wider integers can be counted, not computed, in each
/// iteration.
llvm::LogicalResult flattenControlFlow(mlir::ModuleOp module, mlir::RewritePatternSet preferred,
                                       bool countersFit = false);

} // namespace kiln

#endif // KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_FLATTENCONTROLFLOW_H
