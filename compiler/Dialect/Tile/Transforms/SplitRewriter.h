// The program of one block of a cluster, of a kernel whose values are divided (ProgramParts.h).

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITREWRITER_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITREWRITER_H

#include "compiler/Dialect/Tile/Transforms/ProgramParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Rewrites the kernel for a block that computes its parts of what is wanted, and has its `shares`
/// of what is stored: those without an axis are the first block's alone.
void rewriteForBlock(mlir::func::FuncOp kernel, unsigned blocks, const ProgramParts &parts,
                     const llvm::DenseMap<mlir::Operation *, PartAxis> &shares);

} // namespace kiln

#endif
