#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

int64_t paddedExtent(int64_t extent) { return int64_t(llvm::PowerOf2Ceil(uint64_t(extent))); }

SmallVector<int64_t, 4> paddedShape(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector<4>(shape, paddedExtent);
}

Value constantOf(OpBuilder &builder, Location loc, Type tensor, TypedAttr element) {
  return arith::ConstantOp::create(
      builder, loc, SplatElementsAttr::get(cast<ShapedType>(tensor), Attribute(element)));
}

Value splatOf(OpBuilder &builder, Location loc, Type tensor, int64_t value) {
  return constantOf(builder, loc, tensor,
                    builder.getIntegerAttr(tile::elementTypeOf(tensor), value));
}

Value indexRange(OpBuilder &builder, Location loc, int64_t count) {
  auto type = RankedTensorType::get({count}, builder.getI32Type());
  return tile::ArangeOp::create(builder, loc, type, 0u, uint32_t(count));
}

} // namespace kiln
