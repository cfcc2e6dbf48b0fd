// Two iterations of a short loop of products done as one.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PAIRITERATIONS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PAIRITERATIONS_H

#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"

namespace kiln {

/// Whether the loop's iterations can be done by twos, and are so short that this is worth while:
/// `staged` is what feeds its dots.
bool canPair(mlir::scf::ForOp loop, const StagedLoads &staged, const TargetInfo &target);

/// The loop, in steps of two iterations, each behind the other. Where there is no second one, its
/// loads bring zeros, and its products change nothing.
void pairIterations(mlir::scf::ForOp loop);

} // namespace kiln

#endif
