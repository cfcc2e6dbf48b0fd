// Program instances that a cluster of blocks shares (Triton's num_ctas).
//
// The instance's tensors are divided among the C blocks of a cluster before layouts are: of
//
//     rows = pid * 256 + arange(0, 256)
//     sum += dot(load(a + rows …), load(b …))         256 x 64, 64 x 256
//     store(c + rows …, sum)
//
// two blocks have 128 rows each,
//
//     rows = pid * 256 + cluster_rank * 128 + arange(0, 128)
//     sum += dot(load(a + rows …), load(b …))         128 x 64, 64 x 256
//
// and load the same block of B, which Hopper's copy engine then brings to both at once
// (Dialect/TileGPU/Transforms/ClusterCopies.h). What is divided follows from what the program
// stores: each block makes its rows of it, or its columns (ProgramParts.h). What no part is wanted
// of, each block computes for itself; what has no axis to divide, the first block stores.
//
// The alternative, layouts with a bit for the block in the cluster, would let reductions and
// conversions go across blocks, through shared memory of each other. Nothing that a cluster is good
// for needs that: whatever crosses blocks costs more than a second launch's worth of programs.
//
// Blocks do not wait for each other. So a program that reads what it writes is not divided, nor is
// one with an operation whose result all parts depend on.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITPROGRAMS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SPLITPROGRAMS_H

#include "compiler/Dialect/Tile/Transforms/ProgramParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Divides the kernel among so many blocks; why not, and then nothing is changed.
std::optional<Indivisible> splitProgram(mlir::func::FuncOp kernel, unsigned blocks);

/// `splitProgram` as a pass on func.func, `kiln-split-programs`, for kernels of `tile.num_ctas`
/// blocks. A kernel that cannot be divided has one from then on, and a warning says why.
std::unique_ptr<mlir::Pass> createSplitProgramsPass();
void registerSplitProgramsPass();

} // namespace kiln

#endif
