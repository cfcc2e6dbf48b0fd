#include "compiler/Dialect/Tile/Transforms/Simplification.h"

#include "mlir/Transforms/Passes.h"

namespace kiln {

void addSimplification(mlir::OpPassManager &passes) {
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  passes.addPass(mlir::createLoopInvariantCodeMotionPass());
}

} // namespace kiln
