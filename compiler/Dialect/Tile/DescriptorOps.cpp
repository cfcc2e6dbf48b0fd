// What holds of the operations on descriptors, and what their parts are.

#include "compiler/Dialect/Tile/Tile.h"

using namespace mlir;

namespace kiln::tile {
namespace {

LogicalResult expectCount(Operation *op, StringRef what, size_t got, size_t expected) {
  if (got == expected)
    return success();
  return op->emitOpError("expected ") << expected << " " << what << ", got " << got;
}

LogicalResult expectTensor(Operation *op, StringRef what, Type type, RankedTensorType expected) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getShape() == expected.getShape() &&
      tensor.getElementType() == expected.getElementType())
    return success();
  return op->emitOpError("expected ") << what << " of type " << expected << ", got " << type;
}

/// One coordinate for each axis, and a tensor of the block's type.
LogicalResult verifyBlock(Operation *op, DescriptorType descriptor, size_t offsets, StringRef what,
                          Type value) {
  if (failed(expectCount(op, "coordinates", offsets, descriptor.getRank())))
    return failure();
  return expectTensor(op, what, value, descriptor.getBlockType());
}

LogicalResult verifyRows(Operation *op, DescriptorType descriptor, Type rows, StringRef what,
                         Type value) {
  if (descriptor.getRank() != 2 || descriptor.getShape()[0] != 1)
    return op->emitOpError("expected a descriptor of blocks of one row, got ") << descriptor;
  auto indices = cast<RankedTensorType>(rows);
  if (indices.getRank() != 1)
    return op->emitOpError("expected a vector of row numbers, got ") << rows;
  return expectTensor(op, what, value,
                      RankedTensorType::get({indices.getDimSize(0), descriptor.getShape()[1]},
                                            descriptor.getElementType()));
}

LogicalResult verifyAxis(Operation *op, DescriptorType descriptor, int64_t axis) {
  if (axis < descriptor.getRank())
    return success();
  return op->emitOpError("expected an axis of at most ")
         << descriptor.getRank() - 1 << ", got " << axis;
}

template <typename OpT> LogicalResult verifyMade(OpT op) {
  DescriptorType type = op.getType();
  if (op.getBase().getType().getPointee() != type.getElementType())
    return op.emitOpError("expected a pointer to ")
           << type.getElementType() << ", got " << op.getBase().getType();
  if (failed(expectCount(op, "extents", op.getExtents().size(), type.getRank())))
    return failure();
  return expectCount(op, "strides (that of the last axis is 1)", op.getStrides().size(),
                     type.getRank() - 1);
}

} // namespace

LogicalResult MakeDescriptorOp::verify() { return verifyMade(*this); }

LogicalResult MakeTensorMapOp::verify() { return verifyMade(*this); }

LogicalResult DescriptorExtentOp::verify() {
  return verifyAxis(*this, getDescriptor().getType(), getAxis());
}

LogicalResult DescriptorStrideOp::verify() {
  return verifyAxis(*this, getDescriptor().getType(), getAxis());
}

LogicalResult DescriptorLoadOp::verify() {
  DescriptorType type = getDescriptor().getType();
  if (getType().getShape() == type.getSqueezedBlockType().getShape() &&
      getType().getElementType() == type.getElementType())
    return expectCount(*this, "coordinates", getOffsets().size(), type.getRank());
  return verifyBlock(*this, type, getOffsets().size(), "a result", getType());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlock(*this, getDescriptor().getType(), getOffsets().size(), "a value",
                     getValue().getType());
}

LogicalResult DescriptorReduceOp::verify() {
  if (failed(verifyBlock(*this, getDescriptor().getType(), getOffsets().size(), "a value",
                         getValue().getType())))
    return failure();
  Type element = getDescriptor().getType().getElementType();
  bool wantsFloat =
      llvm::is_contained({AtomicKind::FAdd, AtomicKind::FMax, AtomicKind::FMin}, getKind());
  if (getKind() == AtomicKind::Exchange || isa<FloatType>(element) != wantsFloat)
    return emitOpError("expected elements that `")
           << stringifyAtomicKind(getKind()) << "` combines, got " << element;
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), "a result", getType());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), "a value",
                    getValue().getType());
}

OpFoldResult DescriptorExtentOp::fold(FoldAdaptor) {
  auto made = getDescriptor().getDefiningOp<MakeDescriptorOp>();
  return made ? OpFoldResult(made.getExtents()[getAxis()]) : OpFoldResult();
}

OpFoldResult DescriptorStrideOp::fold(FoldAdaptor) {
  if (getAxis() + 1 == getDescriptor().getType().getRank())
    return IntegerAttr::get(getType(), 1);
  auto made = getDescriptor().getDefiningOp<MakeDescriptorOp>();
  return made ? OpFoldResult(made.getStrides()[getAxis()]) : OpFoldResult();
}

} // namespace kiln::tile
