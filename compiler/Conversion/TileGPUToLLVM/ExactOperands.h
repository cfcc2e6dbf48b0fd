// Operands of tf32 products that have no more digits than the unit takes.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_EXACTOPERANDS_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_EXACTOPERANDS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"

namespace kiln {

/// Notes on each dot which of its operands tf32 holds as they are: what has been widened from 16
/// bits or less. Before lowering, as it looks through shared memory.
void markExactOperands(mlir::Operation *root);

/// Whether `operand`, A or B of a dot, has been found to be such.
bool isExact(tilegpu::DotOp dot, MatrixOperand operand);

} // namespace kiln

#endif
