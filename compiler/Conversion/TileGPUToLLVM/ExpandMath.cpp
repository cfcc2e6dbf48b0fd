// Functions that targets cannot select, in terms of those that they can.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln {

LogicalResult expandMath(ModuleOp module, const TargetLowering &device) { return success(); }

} // namespace kiln
