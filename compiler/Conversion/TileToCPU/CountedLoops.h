// What LLVM gets to see of loops: their form, and whether it may unroll them.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_COUNTEDLOOPS_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_COUNTEDLOOPS_H

#include "mlir/IR/PatternMatch.h"

namespace kiln::cpu {

/// Keeps LLVM from unrolling any loop of a module that has hundreds of them.
void forbidUnrollingOfMany(mlir::Operation *module);

/// Loops that run a known number of times become a body with the test after it. For a conversion of
/// scf to cf, beside MLIR's patterns, which take the other loops.
void populateCountedLoopPattern(mlir::RewritePatternSet &patterns);

} // namespace kiln::cpu

#endif
