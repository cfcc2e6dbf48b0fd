// Steps of the CPU lowering that are of interest by themselves.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_PASSES_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_PASSES_H

#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::cpu {

/// Makes what is added to a product the sum that the product starts from. Expects and leaves Tile
/// IR.
void fuseAdditions(mlir::func::FuncOp kernel);

/// The steps before the plan: the one kernel of the module as planLoops expects it. What cannot be
/// lowered is reported, and fails.
mlir::FailureOr<mlir::func::FuncOp> prepareKernel(mlir::ModuleOp module);

/// lowerTileToCPU up to loops (scf, arith and math on vectors, memory operations of the LLVM
/// dialect).
mlir::LogicalResult lowerToLoops(mlir::ModuleOp module, const CPUOptions &options);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_PASSES_H
