// What holds of every TileGPU operation, and its simplifications.

#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tilegpu;

/// `type` is a tensor with a layout of its own shape.
static LogicalResult expectLayout(Operation *op, llvm::StringRef what, Type type) {
  LayoutAttr layout = layoutAttrOf(type);
  if (!layout)
    return op->emitOpError("expected ") << what << " with a layout, got " << type;
  if (ArrayRef<int64_t>(layout.getLayout().shape()) != cast<RankedTensorType>(type).getShape())
    return op->emitOpError("expected ") << what << " with a layout of its shape, got " << type;
  return success();
}

//===-- convert_layout
//---------------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError("expected a result that differs from ")
           << source << " in its layout only, got " << result;
  return success(succeeded(expectLayout(*this, "a source", source)) &&
                 succeeded(expectLayout(*this, "a result", result)));
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

namespace {
/// A constant or a splat is made in the layout that is wanted.
struct ConvertedSplat : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const override {
    if (auto constant = op.getSource().getDefiningOp<arith::ConstantOp>()) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat)
        return rewriter.notifyMatchFailure(op, "the constant is no splat");
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, splat.resizeSplat(cast<ShapedType>(op.getType())));
      return success();
    }
    if (auto splat = op.getSource().getDefiningOp<tile::SplatOp>()) {
      rewriter.replaceOpWithNewOp<tile::SplatOp>(op, op.getType(), splat.getSource());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "the source is not the same everywhere");
  }
};
} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<ConvertedSplat>(context);
}

//===-- shared memory
//----------------------------------------------------------------------------===//

static LogicalResult verifyTransfer(Operation *op, RankedTensorType tensor, BufferType buffer) {
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType())
    return op->emitOpError("expected a tensor of the buffer's shape and element type, got ")
           << tensor << " and " << buffer;
  return expectLayout(op, "a tensor", tensor);
}

LogicalResult SharedStoreOp::verify() {
  return verifyTransfer(*this, getValue().getType(), getBuffer().getType());
}

LogicalResult SharedLoadOp::verify() {
  return verifyTransfer(*this, getResult().getType(), getBuffer().getType());
}

LogicalResult SlotOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(cast<BufferType>(adaptor.getRing().getType()).withSlots(1));
  return success();
}

LogicalResult TransBufferOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto buffer = cast<BufferType>(adaptor.getBuffer().getType());
  SmallVector<unsigned> order(adaptor.getOrder().begin(), adaptor.getOrder().end());
  SmallVector<unsigned> sorted = llvm::to_vector(llvm::seq<unsigned>(buffer.getShape().size()));
  if (!std::is_permutation(order.begin(), order.end(), sorted.begin(), sorted.end()))
    return emitOptionalError(location, "expected an order that permutes the axes of ", buffer,
                             ", got [", adaptor.getOrder(), "]");
  SharedLayout shared = buffer.getLayout().getShared();
  SmallVector<int64_t> shape;
  for (unsigned axis : order)
    shape.push_back(buffer.getShape()[axis]);
  auto layout = SharedLayoutAttr::get(context, shared.map.transpose(order), shared.padInterval,
                                      shared.padAmount);
  types.push_back(
      BufferType::get(context, shape, buffer.getElementType(), layout, buffer.getSlots()));
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  RankedTensorType pointers = getPtr().getType();
  BufferType buffer = getBuffer().getType();
  auto pointee = cast<tile::PtrType>(pointers.getElementType()).getPointee();
  if (pointers.getShape() != buffer.getShape() || pointee != buffer.getElementType())
    return emitOpError("expected pointers to the buffer's elements, got ")
           << pointers << " and " << buffer;
  if (getMask() && (getMask().getType().getShape() != pointers.getShape() ||
                    getMask().getType().getEncoding() != pointers.getEncoding()))
    return emitOpError("expected a mask of the pointers' shape and layout, got ")
           << getMask().getType();
  return expectLayout(*this, "pointers", pointers);
}

//===-- copies of blocks
//--------------------------------------------------------------------===//

/// A buffer that holds the descriptor's block with its axes in `order`, as the engine has it; but
/// for axes of one element, if it has fewer.
static LogicalResult verifyBlockBuffer(Operation *op, Value described, size_t offsets,
                                       BufferType buffer, ArrayRef<int32_t> order) {
  auto descriptor = cast<tile::DescriptorType>(described.getType());
  RankedTensorType squeezed = descriptor.getSqueezedBlockType();
  bool isSqueezed = buffer.getShape().size() == squeezed.getShape().size();
  ArrayRef<int64_t> block = isSqueezed ? squeezed.getShape() : descriptor.getShape();
  if (offsets != size_t(descriptor.getRank()) || order.size() != block.size() ||
      buffer.getShape().size() != block.size())
    return op->emitOpError("expected an offset, and an axis of ")
           << buffer << ", for each axis of " << descriptor;
  for (auto [axis, source] : llvm::enumerate(order))
    if (source < 0 || size_t(source) >= block.size() || buffer.getShape()[axis] != block[source])
      return op->emitOpError("expected the block's extents in the order [")
             << order << "], got " << buffer;
  unsigned bits = storageBits(buffer.getElementType());
  unsigned axisOfRows = llvm::find(order, int32_t(block.size() - 1)) - order.begin();
  bool isBoxed = axisOfRows + 1 == block.size() || hasSwizzledRows(buffer.getShape(), axisOfRows);
  if (buffer.getElementType() != descriptor.getElementType() || !isBoxed ||
      buffer.getLayout().getShared().map != boxedShared(buffer.getShape(), axisOfRows, bits).map)
    return op->emitOpError("expected a buffer of swizzled rows along the block's last axis, got ")
           << buffer;
  if (!hasTensorMap(described))
    return op->emitOpError("expected an argument with `")
           << tile::TileDialect::tensorMapAttr << "`, or what tile.make_tensor_map gives";
  return success();
}

LogicalResult TmaLoadOp::verify() {
  return verifyBlockBuffer(*this, getDescriptor(), getOffsets().size(), getBuffer().getType(),
                           getOrder());
}

LogicalResult TmaStoreOp::verify() {
  auto order = llvm::to_vector(llvm::seq<int32_t>(0, getDescriptor().getType().getRank()));
  return verifyBlockBuffer(*this, getDescriptor(), getOffsets().size(), getBuffer().getType(),
                           order);
}

//===-- dot
//--------------------------------------------------------------------------------------===//

/// The layout that the dot wants for an operand.
static LinearLayout wantedLayout(DotOp op, MatrixOperand operand, ArrayRef<int64_t> shape) {
  if (op.getUnit())
    return op.getUnit()->getTiling().layout(operand, shape);
  return fmaOperandLayout(layoutOf(op.getC()), operand, shapeOfOperand(op.getA()).back());
}

static LogicalResult verifyOperand(DotOp op, MatrixOperand operand, Value value) {
  if (isa<BufferType>(value.getType())) {
    if (op.getUnit() && op.getUnit()->getTiling().instruction->readsSharedMemory())
      return success();
    return op.emitOpError("expected a unit that reads buffers, or tensors as operands, got ")
           << value.getType();
  }
  if (failed(expectLayout(op, "an operand", value.getType())))
    return failure();
  LinearLayout wanted = wantedLayout(op, operand, shapeOfOperand(value));
  if (layoutOf(value) != wanted)
    return op.emitOpError("expected operand layout ")
           << wanted.str() << ", got " << value.getType();
  return success();
}

static LogicalResult verifyScales(DotOp op) {
  bool isScaled = op.getUnit() && op.getUnit()->getTiling().instruction->isScaled();
  if (op.getScales().size() != (isScaled ? 2 : 0))
    return op.emitOpError("expected two scales on a unit that takes them, and else none, got ")
           << op.getScales().size();
  for (auto [number, scale] : llvm::enumerate(op.getScales())) {
    MatrixOperand operand = number == 0 ? MatrixOperand::A : MatrixOperand::B;
    auto type = cast<RankedTensorType>(scale.getType());
    LinearLayout wanted = op.getUnit()->getTiling().scaleLayout(operand, type.getShape());
    if (failed(expectLayout(op, "scales", type)))
      return failure();
    if (layoutOf(scale) != wanted)
      return op.emitOpError("expected layout of scales ") << wanted.str() << ", got " << type;
  }
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType c = getC().getType();
  ArrayRef<int64_t> a = shapeOfOperand(getA()), b = shapeOfOperand(getB());
  unsigned rank = c.getRank();
  if (rank < 2 || a.size() != rank || b.size() != rank)
    return emitOpError("expected three tensors of one rank, at least 2, got ")
           << getA().getType() << ", " << getB().getType() << ", " << c;
  // A unit may take bytes of two numbers from one of them alone.
  int64_t stepOfA = 1, stepOfB = 1;
  if (getUnit()) {
    MatrixTiling tiling = getUnit()->getTiling();
    stepOfA = tiling.fragment(MatrixOperand::A).shape()[1];
    stepOfB = tiling.fragment(MatrixOperand::B).shape()[0];
  }
  if (a[rank - 2] != c.getDimSize(rank - 2) || b[rank - 1] != c.getDimSize(rank - 1) ||
      a[rank - 1] * stepOfB != b[rank - 2] * stepOfA)
    return emitOpError("expected shapes M x K, K x N and M x N, got ")
           << getA().getType() << ", " << getB().getType() << ", " << c;
  if (failed(expectLayout(*this, "an accumulator", c)) ||
      failed(verifyOperand(*this, MatrixOperand::A, getA())) ||
      failed(verifyOperand(*this, MatrixOperand::B, getB())) || failed(verifyScales(*this)))
    return failure();
  if (getIsAsync() && !readsBuffers())
    return emitOpError("expected buffers as operands of an asynchronous dot, got ")
           << getB().getType();
  bool makesSums =
      getUnit() && getUnit()->getTiling().instruction->readsSharedMemory() && !getIsAsync();
  if (getSumDepth() != 0 && !makesSums)
    return emitOpError(
               "expected no sum_depth but of a dot that is waited for, on a unit that reads "
               "shared memory, got ")
           << getSumDepth();
  if (getUnit() && layoutOf(c) != wantedLayout(*this, MatrixOperand::C, c.getShape()))
    return emitOpError("expected accumulator layout ")
           << wantedLayout(*this, MatrixOperand::C, c.getShape()).str() << ", got " << c;
  return success();
}

void DotOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<BufferType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand, SharedMemory::get());
  // Dots in flight are counted.
  if (getIsAsync())
    effects.emplace_back(MemoryEffects::Write::get(), SharedMemory::get());
}

//===-- one thread's accesses
//--------------------------------------------------------------------===//

/// Bits that the access moves, or 0 if the type is none that a thread can move.
static uint64_t accessBits(Type type) {
  auto scalarBits = [](Type scalar) -> uint64_t {
    if (isa<LLVM::LLVMPointerType>(scalar))
      return 64;
    return scalar.isIntOrFloat() ? scalar.getIntOrFloatBitWidth() : 0;
  };
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getRank() == 1 ? vector.getNumElements() * scalarBits(vector.getElementType())
                                 : 0;
  return scalarBits(type);
}

static LogicalResult verifyAccess(Operation *op, Type value) {
  uint64_t bits = accessBits(value);
  if (bits < 8 || bits > 128 || !llvm::isPowerOf2_64(bits))
    return op->emitOpError("expected a value of 8, 16, 32, 64 or 128 bits, got ") << value;
  return success();
}

static LogicalResult verifyBuffer(Operation *op, Type value, Value mask, Value offset,
                                  ArrayRef<int64_t> strides, unsigned axis, unsigned vector) {
  auto tile = cast<RankedTensorType>(value);
  if (int64_t(strides.size()) != tile.getRank() || axis >= tile.getRank())
    return op->emitOpError("expected a stride for each axis and one of the axes, got ")
           << strides.size() << " strides and axis " << axis << " of " << value;
  if (mask && tile::shapeOf(mask.getType()) != tile.getShape())
    return op->emitOpError("expected a mask of the tile's shape, got ") << mask.getType();
  if (offset && (tile::shapeOf(offset.getType()) != tile.getShape() ||
                 !tile::elementTypeOf(offset.getType()).isInteger(32)))
    return op->emitOpError("expected an offset of the tile's shape in i32, got ")
           << offset.getType();
  unsigned bits = vector * storageBits(tile.getElementType());
  if (!llvm::isPowerOf2_32(vector) || bits > 128)
    return op->emitOpError("expected a vector of up to 128 bits, got ")
           << vector << " of " << tile.getElementType();
  return success();
}

LogicalResult BufferLoadOp::verify() {
  return verifyBuffer(*this, getType(), getMask(), getOffset(), getStrides(), getAxis(),
                      getVector());
}

LogicalResult BufferStoreOp::verify() {
  return verifyBuffer(*this, getValue().getType(), getMask(), getOffset(), getStrides(), getAxis(),
                      getVector());
}

LogicalResult BufferReduceOp::verify() {
  if (getResult() && getResult().getType() != getValue().getType())
    return emitOpError("expected a result of the value's type, got ") << getResult().getType();
  return verifyBuffer(*this, getValue().getType(), getMask(), getOffset(), getStrides(), getAxis(),
                      getVector());
}

RankedTensorType BufferCopyOp::getTileType() {
  BufferType to = getTo().getType();
  return RankedTensorType::get(to.getShape(), to.getElementType(), getLayout());
}

LogicalResult BufferCopyOp::verify() {
  return verifyBuffer(*this, getTileType(), getMask(), getOffset(), getStrides(), getAxis(),
                      getVector());
}

LogicalResult GlobalLoadOp::verify() {
  if (getOther() && getOther().getType() != getType())
    return emitOpError("expected `other` of the result's type, got ") << getOther().getType();
  if (getOther() && !getPredicate())
    return emitOpError("expected a predicate beside `other`, got none");
  auto vector = dyn_cast<VectorType>(getType());
  if (!getElements().empty() &&
      (!vector || !getPredicate() || vector.getNumElements() != int64_t(getElements().size())))
    return emitOpError("expected a predicate and a condition for each element of a vector, got ")
           << getElements().size() << " conditions for " << getType();
  return verifyAccess(*this, getType());
}

void GlobalLoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}

LogicalResult GlobalStoreOp::verify() { return verifyAccess(*this, getValue().getType()); }

LogicalResult GlobalReduceOp::verify() {
  Type element = getElementTypeOrSelf(getValue().getType());
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return emitOpError("expected a value of f16, bf16 or f32, got ") << getValue().getType();
  return verifyAccess(*this, getValue().getType());
}

LogicalResult GlobalCopyOp::verify() {
  if (getBytes() != 4 && getBytes() != 8 && getBytes() != 16)
    return emitOpError("expected 4, 8 or 16 bytes, got ") << getBytes();
  return success();
}

#include "compiler/Dialect/TileGPU/TileGPUInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUOps.cpp.inc"
