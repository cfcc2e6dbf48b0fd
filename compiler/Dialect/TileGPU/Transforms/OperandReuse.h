// Dots of a loop that read the same loaded tile, some of them transposed.
//
// Attention's backward pass reads each block of Q and dO twice, once along its rows and once along
// its columns. Units and ldmatrix read swizzled rows either way, so one buffer serves all, and the
// load's only use is that buffer: it can become a copy that runs iterations ahead. With a buffer
// for each dot the tile would go through registers once for each of them.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OPERANDREUSE_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OPERANDREUSE_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Stores what a loop loads for two or more operands of dots once, and gives the dots that buffer
/// or a transposition of it, if there is a layout in which all can read it. What it replaces stays
/// behind without uses.
void stageReusedOperands(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace kiln

#endif
