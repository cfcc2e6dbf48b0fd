#include "compiler/Dialect/Tile/BlockAddresses.h"

using namespace mlir;

namespace kiln::tile {
namespace {

/// `vector`, which runs along `axis`, repeated along the other axes of `shape`.
Value alongAxis(OpBuilder &b, Location loc, Value vector, size_t axis, ArrayRef<int64_t> shape) {
  Type element = elementTypeOf(vector.getType());
  SmallVector<int64_t> expanded(shapeOf(vector.getType()));
  for (size_t other = 0; other < shape.size(); ++other) {
    if (other == axis)
      continue;
    expanded.insert(expanded.begin() + other, 1);
    vector = ExpandDimsOp::create(b, loc, RankedTensorType::get(expanded, element), vector,
                                  int32_t(other));
  }
  return b.createOrFold<BroadcastOp>(loc, RankedTensorType::get(shape, element), vector);
}

Value splatLike(OpBuilder &b, Location loc, Value scalar, Value like) {
  return b.createOrFold<SplatOp>(loc, withElementType(like.getType(), scalar.getType()), scalar);
}

Value insideOf(OpBuilder &b, Location loc, Value coordinates, Value extent) {
  auto compare = [&](arith::CmpIPredicate predicate, Value limit) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, coordinates,
                                         splatLike(b, loc, limit, coordinates));
  };
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value low = compare(arith::CmpIPredicate::sge, zero);
  return b.createOrFold<arith::AndIOp>(loc, low, compare(arith::CmpIPredicate::slt, extent));
}

} // namespace

Value coordinatesFrom(OpBuilder &b, Location loc, Value offset, int64_t count) {
  Value range =
      ArangeOp::create(b, loc, RankedTensorType::get({count}, b.getI32Type()), 0u, uint32_t(count));
  Type wide = RankedTensorType::get({count}, b.getI64Type());
  range = b.createOrFold<arith::ExtSIOp>(loc, wide, range);
  return b.createOrFold<arith::AddIOp>(loc, splatLike(b, loc, offset, range), range);
}

BlockAddresses blockAddresses(OpBuilder &b, Location loc, Value base, ArrayRef<BlockAxis> axes) {
  SmallVector<int64_t> shape;
  for (const BlockAxis &axis : axes)
    shape.push_back(shapeOf(axis.coordinates.getType())[0]);
  BlockAddresses result;
  result.pointers =
      b.createOrFold<SplatOp>(loc, RankedTensorType::get(shape, base.getType()), base);
  for (auto [number, axis] : llvm::enumerate(axes)) {
    Value stride = splatLike(b, loc, axis.stride, axis.coordinates);
    Value offset = b.createOrFold<arith::MulIOp>(loc, axis.coordinates, stride);
    offset = alongAxis(b, loc, offset, number, shape);
    result.pointers = b.createOrFold<AddPtrOp>(loc, result.pointers, offset);
    if (!axis.extent)
      continue;
    Value inside = insideOf(b, loc, axis.coordinates, axis.extent);
    inside = alongAxis(b, loc, inside, number, shape);
    result.mask = result.mask ? b.createOrFold<arith::AndIOp>(loc, result.mask, inside) : inside;
  }
  return result;
}

} // namespace kiln::tile
