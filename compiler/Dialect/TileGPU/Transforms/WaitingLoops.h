// Loops that wait for memory by themselves: nothing but loads that run ahead hides what they wait.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_WAITINGLOOPS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_WAITINGLOOPS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// Whether all threads of a block meet in each iteration, as for a reduction.
bool threadsMeetIn(mlir::scf::ForOp loop, const TargetInfo &target);

/// Whether they do, nothing is multiplied there, and a processor has registers for one block of the
/// kernel only, as where each program sums up the gradients of parameters over its rows. What such
/// a loop loads comes by copies to shared memory, iterations ahead: registers would hold one
/// iteration's, which is not enough for the memory to be busy while threads work. Its steps may be
/// of any size, as numbers of programs are.
bool waitsAlone(mlir::scf::ForOp loop, const TargetInfo &target);

} // namespace kiln

#endif
