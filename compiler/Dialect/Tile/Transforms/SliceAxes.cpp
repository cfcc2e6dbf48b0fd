#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"

#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

bool isSplittable(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<tile::LoadOp, tile::StoreOp, tile::AddPtrOp, tile::BitcastOp, tile::HintOp,
             tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp, tile::ReduceOp, tile::ScanOp,
             tile::MapOp>(op);
}

bool isUniform(Operation *op) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  return isa_and_nonnull<tile::SplatOp, ub::PoisonOp>(op) ||
         (constant && isa<SplatElementsAttr>(constant.getValue()));
}

Axis operandAxis(OpOperand &operand, unsigned own) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return std::nullopt;
  Operation *op = operand.getOwner();
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return own == expand.getAxis() ? Axis() : own - (own > expand.getAxis());
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return unsigned(trans.getOrder()[own]);
  if (isa<tile::BroadcastOp>(op) && type.getDimSize(own) == 1)
    return std::nullopt;
  return own;
}

unsigned ownAxisOf(OpOperand &operand, unsigned axis) {
  Operation *op = operand.getOwner();
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return axis + (axis >= expand.getAxis());
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return llvm::find(trans.getOrder(), int32_t(axis)) - trans.getOrder().begin();
  return axis;
}

Axis resultAxis(Operation *op, unsigned own) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  if (!reduce)
    return own;
  return own == reduce.getAxis() ? Axis() : own - (own > reduce.getAxis());
}

unsigned ownAxisOfResult(Operation *op, unsigned axis) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  return reduce ? axis + (axis >= reduce.getAxis()) : axis;
}

bool needsWhole(Operation *op, unsigned own) {
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return own == scan.getAxis();
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  if (!reduce || own != reduce.getAxis())
    return false;
  Operation *combiner = reduce.getSingleCombiner();
  return !combiner || !tile::neutralElement(combiner);
}

bool isRecomputed(Operation *op) {
  return op && isSplittable(op) && isMemoryEffectFree(op) && op->getNumRegions() == 0;
}

bool isIndexArithmetic(Operation *op) {
  if (isUniform(op) || isa_and_nonnull<tile::ArangeOp>(op))
    return true;
  if (!isRecomputed(op))
    return false;
  bool movesOnly = isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp>(op);
  bool onIndices =
      llvm::all_of(op->getResultTypes(),
                   [](Type type) { return !isa<FloatType>(tile::elementTypeOf(type)); }) &&
      !llvm::any_of(op->getOperandTypes(),
                    [](Type type) { return isa<FloatType>(tile::elementTypeOf(type)); });
  return movesOnly || onIndices;
}

ArrayRef<int64_t> shapeOfOwn(Operation *op) {
  bool byOperand = isa<tile::StoreOp, tile::ReduceOp>(op);
  return tile::shapeOf(byOperand ? op->getOperand(0).getType() : op->getResult(0).getType());
}

} // namespace kiln
