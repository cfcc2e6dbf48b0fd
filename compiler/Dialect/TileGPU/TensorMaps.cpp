// Descriptors that the launcher makes.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln::tilegpu {

TensorBox tensorBoxOf(tile::DescriptorType type) {
  // CUDA Driver API, cuTensorMapEncodeTiled: "boxDim".
  constexpr int64_t mostElements = 256;
  // Shorter rows lie one after the other.
  constexpr unsigned leastSwizzled = 32;
  TensorBox box;
  for (int64_t extent : type.getShape())
    box.shape.push_back(std::min(extent, mostElements));
  unsigned bits = storageBits(type.getElementType());
  unsigned rowBytes = swizzledRowBytes(type.getShape(), type.getRank() - 1, bits);
  box.shape.back() = rowBytes * 8 / bits;
  box.swizzleBytes = rowBytes < leastSwizzled ? 0 : rowBytes;
  return box;
}

tile::TensorMapAttr tensorMapOf(Value descriptor) {
  auto argument = dyn_cast<BlockArgument>(descriptor);
  auto kernel =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return kernel ? kernel.getArgAttrOfType<tile::TensorMapAttr>(argument.getArgNumber(),
                                                               tile::TileDialect::tensorMapAttr)
                : tile::TensorMapAttr();
}

Value baseOfMap(Value descriptor) {
  return cast<BlockArgument>(descriptor).getOwner()->getArgument(tensorMapOf(descriptor).getBase());
}

Value allocateMBarriers(OpBuilder &b, Location loc, unsigned slots, unsigned arrivals) {
  LayoutSpace out = LayoutSpace::ofShape({1});
  LinearLayout map(LayoutSpace({{Dim::Offset, 0}}), out, BinaryColumns());
  auto layout = SharedLayoutAttr::get(b.getContext(), map, /*padInterval=*/0, /*padAmount=*/0);
  auto type = BufferType::get(b.getContext(), {1}, b.getI64Type(), layout).withSlots(slots);
  Value mbarriers = AllocOp::create(b, loc, type);
  MBarrierInitOp::create(b, loc, mbarriers, arrivals);
  return mbarriers;
}

void publishMBarriers(OpBuilder &b, Location loc, bool toAllWarps) {
  ProxyFenceOp::create(b, loc, /*isGlobal=*/false);
  BarrierOp::create(b, loc, Value(), toAllWarps);
}

void releaseMBarriers(OpBuilder &b, Location loc, Value mbarriers) {
  BarrierOp::create(b, loc, Value());
  MBarrierInvalOp::create(b, loc, mbarriers);
}

} // namespace kiln::tilegpu
