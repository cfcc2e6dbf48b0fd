// Descriptors that the launcher makes tensor maps of, or the kernel.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln::tilegpu {

/// CUDA Driver API, cuTensorMapEncodeTiled: "boxDim".
constexpr int64_t mostElements = 256;

/// That have more than one element.
static SmallVector<unsigned> longAxes(ArrayRef<int64_t> shape, unsigned axis) {
  SmallVector<unsigned> axes;
  for (unsigned each = 0; each < shape.size(); ++each)
    if (each == axis || shape[each] > 1)
      axes.push_back(each);
  return axes;
}

bool hasSwizzledRows(ArrayRef<int64_t> shape, unsigned axis) {
  constexpr int64_t rowsOfPattern = 8;
  SmallVector<unsigned> axes = longAxes(shape, axis);
  return axes.size() == 2 && shape[axes[0] == axis ? axes[1] : axes[0]] >= rowsOfPattern;
}

/// Whose elements lie one behind the other in the block.
static TensorBox denseBoxOf(ArrayRef<int64_t> block) {
  TensorBox box;
  box.shape.assign(block.size(), 1);
  for (unsigned axis = block.size(); axis-- > 0;) {
    box.shape[axis] = std::min(block[axis], mostElements);
    if (box.shape[axis] < block[axis])
      break;
  }
  return box;
}

TensorBox tensorBoxOf(tile::DescriptorType type) {
  if (!hasSwizzledRows(type.getShape(), type.getRank() - 1))
    return denseBoxOf(type.getShape());
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

int64_t numBoxes(tile::DescriptorType type, const TensorBox &box) {
  int64_t boxes = 1;
  for (auto [extent, part] : llvm::zip_equal(type.getShape(), box.shape))
    boxes *= extent / part;
  return boxes;
}

std::optional<TensorBox> sharedBoxOf(tile::DescriptorType type, unsigned sharers) {
  // Whole patterns of the swizzle: each box begins with one.
  constexpr int64_t leastRows = 8;
  TensorBox box = tensorBoxOf(type);
  if (!hasSwizzledRows(type.getShape(), type.getRank() - 1))
    return sharers == 1 ? std::optional(box) : std::nullopt;
  int64_t &rows = box.shape[longAxes(type.getShape(), type.getRank() - 1).front()];
  while (numBoxes(type, box) % sharers != 0) {
    if (rows == leastRows)
      return std::nullopt;
    rows /= 2;
  }
  return box;
}

TensorBox boxOfMap(BlockArgument map) {
  auto type = cast<tile::DescriptorType>(map.getType());
  for (Operation *user : map.getUsers())
    if (auto load = dyn_cast<TmaLoadOp>(user))
      return *sharedBoxOf(type, load.getSharedBy());
  return tensorBoxOf(type);
}

static SharedLayout denseShared(ArrayRef<int64_t> shape) {
  LayoutSpace out = LayoutSpace::ofShape(shape);
  BinaryColumns columns;
  for (unsigned axis = shape.size(); axis-- > 0;)
    for (unsigned bit = 0; bit < out.bits(Dim::axis(axis)); ++bit)
      columns.push_back(uint64_t(1) << (out.position(Dim::axis(axis)) + bit));
  LayoutSpace in({{Dim::Offset, unsigned(columns.size())}});
  return {LinearLayout(in, out, columns)};
}

SharedLayout boxedShared(ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits) {
  if (!hasSwizzledRows(shape, axis))
    return denseShared(shape);
  // Axes of one element have no bits, so that columns are the same without them.
  SmallVector<unsigned> axes = longAxes(shape, axis);
  SharedLayout rows =
      swizzledShared({shape[axes[0]], shape[axes[1]]}, axes[0] == axis ? 0 : 1, elementBits);
  rows.map = LinearLayout(rows.map.in(), LayoutSpace::ofShape(shape), rows.map.columns());
  return rows;
}

tile::TensorMapAttr tensorMapOf(Value descriptor) {
  auto argument = dyn_cast<BlockArgument>(descriptor);
  auto kernel =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return kernel ? kernel.getArgAttrOfType<tile::TensorMapAttr>(argument.getArgNumber(),
                                                               tile::TileDialect::tensorMapAttr)
                : tile::TensorMapAttr();
}

bool hasTensorMap(Value descriptor) {
  return descriptor.getDefiningOp<tile::MakeTensorMapOp>() || tensorMapOf(descriptor);
}

Value baseOfMap(Value descriptor) {
  if (auto made = descriptor.getDefiningOp<tile::MakeTensorMapOp>())
    return made.getBase();
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

void publishMBarriers(OpBuilder &b, Location loc, bool isGlobal, bool toAllWarps, bool toCluster) {
  ProxyFenceOp::create(b, loc, isGlobal);
  BarrierOp::create(b, loc, Value(), toAllWarps && !toCluster, toCluster,
                    /*isOfShared=*/false, /*isOfReads=*/false);
}

void releaseMBarriers(OpBuilder &b, Location loc, Value mbarriers) {
  BarrierOp::create(b, loc, Value());
  MBarrierInvalOp::create(b, loc, mbarriers);
}

} // namespace kiln::tilegpu
