// What holds of every TileGPU operation, and its simplifications.

#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

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

//===-- dot
//--------------------------------------------------------------------------------------===//

/// The layout that the dot wants for an operand.
static LinearLayout wantedLayout(DotOp op, MatrixOperand operand, RankedTensorType type) {
  if (op.getUnit())
    return op.getUnit()->getTiling().layout(operand, type.getShape());
  return fmaOperandLayout(layoutOf(op.getC()), operand, op.getA().getType().getShape().back());
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), c = getC().getType();
  unsigned rank = c.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank)
    return emitOpError("expected three tensors of one rank, at least 2, got ")
           << a << ", " << b << ", " << c;
  if (a.getDimSize(rank - 2) != c.getDimSize(rank - 2) ||
      b.getDimSize(rank - 1) != c.getDimSize(rank - 1) ||
      a.getDimSize(rank - 1) != b.getDimSize(rank - 2))
    return emitOpError("expected shapes M x K, K x N and M x N, got ")
           << a << ", " << b << ", " << c;
  if (failed(expectLayout(*this, "an operand", a)) ||
      failed(expectLayout(*this, "an operand", b)) ||
      failed(expectLayout(*this, "an accumulator", c)))
    return failure();
  std::pair<MatrixOperand, RankedTensorType> operands[] = {{MatrixOperand::A, a},
                                                           {MatrixOperand::B, b}};
  for (auto [operand, type] : operands)
    if (LinearLayout wanted = wantedLayout(*this, operand, type); layoutOf(type) != wanted)
      return emitOpError("expected operand layout ") << wanted.str() << ", got " << type;
  if (getUnit() && layoutOf(c) != wantedLayout(*this, MatrixOperand::C, c))
    return emitOpError("expected accumulator layout ")
           << wantedLayout(*this, MatrixOperand::C, c).str() << ", got " << c;
  return success();
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

LogicalResult GlobalLoadOp::verify() {
  if (getOther() && getOther().getType() != getType())
    return emitOpError("expected `other` of the result's type, got ") << getOther().getType();
  if (getOther() && !getPredicate())
    return emitOpError("expected a predicate beside `other`, got none");
  return verifyAccess(*this, getType());
}

void GlobalLoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}

LogicalResult GlobalStoreOp::verify() { return verifyAccess(*this, getValue().getType()); }

#include "compiler/Dialect/TileGPU/TileGPUInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUOps.cpp.inc"
