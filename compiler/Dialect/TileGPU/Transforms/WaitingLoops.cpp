#include "compiler/Dialect/TileGPU/Transforms/WaitingLoops.h"

#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"

using namespace mlir;

namespace kiln {

bool threadsMeetIn(scf::ForOp loop, const TargetInfo &target) {
  return loop.getBody()
      ->walk([&](tilegpu::ScratchOpInterface op) {
        return op.getScratchBytes(target) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool waitsAlone(scf::ForOp loop, const TargetInfo &target) {
  return target.asyncCopies && isInnermost(loop) && threadsMeetIn(loop, target) &&
         !tilegpu::multiplies(loop) &&
         blocksByRegisters(loop->getParentOfType<func::FuncOp>(), target) < 2;
}

} // namespace kiln
