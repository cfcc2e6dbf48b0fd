// Layouts must agree across operations that move no data.

#include "compiler/Conversion/TileToTileGPU/VerifyLayouts.h"

#include "compiler/Conversion/TileToTileGPU/LayoutGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;

namespace kiln {

static LogicalResult expectLayout(Operation *op, Value value, LayoutAttr wanted) {
  LayoutAttr layout = tilegpu::layoutAttrOf(value.getType());
  if (layout == wanted)
    return success();
  return op->emitOpError("expected layout ") << wanted << ", got " << value.getType();
}

static LogicalResult verifyThreads(Operation *op, Value value, int64_t warpSize, int64_t numWarps) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return success();
  LayoutAttr layout = tilegpu::layoutAttrOf(tensor);
  if (!layout)
    return op->emitOpError("expected a tensor with a layout, got ") << tensor;
  const LinearLayout &map = layout.getLayout();
  if (map.numLanes() != warpSize || map.numWarps() != numWarps)
    return op->emitOpError("expected a layout of ")
           << warpSize << " lanes and " << numWarps << " warps, got " << map.str();
  if (ArrayRef<int64_t>(map.shape()) != tensor.getShape())
    return op->emitOpError("expected a layout of the tensor's shape, got ") << tensor;
  return success();
}

static LogicalResult verifyReduce(tile::ReduceOp op) {
  LayoutAttr source = tilegpu::layoutAttrOf(op.getSources()[0].getType());
  LayoutAttr slice = LayoutAttr::get(op.getContext(), source.getLayout().slice(op.getAxis()));
  for (Value operand : op.getSources())
    if (failed(expectLayout(op, operand, source)))
      return failure();
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()) && failed(expectLayout(op, result, slice)))
      return failure();
  return success();
}

static LogicalResult verifyHistogram(tile::HistogramOp op) {
  LayoutAttr source = tilegpu::layoutAttrOf(op.getSource().getType());
  return op.getMask() ? expectLayout(op, op.getMask(), source) : success();
}

/// Operations whose operands' layouts follow from the result's, or for those without one, from the
/// first tensor operand's.
static LogicalResult verifyFollowing(Operation *op) {
  LayoutAttr layout;
  for (ValueRange values : {ValueRange(op->getResults()), ValueRange(op->getOperands())})
    for (Value value : values)
      if (!layout)
        layout = tilegpu::layoutAttrOf(value.getType());
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        failed(expectLayout(op, operand.get(), operandLayoutFor(op, operand, layout))))
      return failure();
  return success();
}

LogicalResult verifyLayouts(func::FuncOp kernel, int64_t warpSize, int64_t numWarps) {
  WalkResult walk = kernel.walk([&](Operation *op) -> WalkResult {
    for (ValueRange values : {ValueRange(op->getResults()), ValueRange(op->getOperands())})
      for (Value value : values)
        if (failed(verifyThreads(op, value, warpSize, numWarps)))
          return WalkResult::interrupt();
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      return verifyReduce(reduce);
    if (auto histogram = dyn_cast<tile::HistogramOp>(op))
      return verifyHistogram(histogram);
    if (isa<tile::TileDialect, arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return verifyFollowing(op);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

} // namespace kiln
