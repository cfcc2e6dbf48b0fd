// What holds of every Tile operation. The encodings of tensors are not looked at: TileGPU gives
// them a meaning.

#include "compiler/Dialect/Tile/Tile.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::tile {
namespace {

/// `what` must have the shape of `like`.
LogicalResult expectShape(Operation *op, StringRef what, Type type, Type like) {
  if (isa<RankedTensorType>(type) == isa<RankedTensorType>(like) && shapeOf(type) == shapeOf(like))
    return success();
  return op->emitOpError("expected ") << what << " of the shape of " << like << ", got " << type;
}

LogicalResult expectElement(Operation *op, StringRef what, Type type, Type element) {
  if (elementTypeOf(type) == element)
    return success();
  return op->emitOpError("expected ")
         << what << " of " << element << ", got " << elementTypeOf(type);
}

LogicalResult expectLike(Operation *op, StringRef what, Type type, Type shapeLike, Type element) {
  return success(succeeded(expectShape(op, what, type, shapeLike)) &&
                 succeeded(expectElement(op, what, type, element)));
}

Type pointeeOf(Type ptrLike) { return cast<PtrType>(elementTypeOf(ptrLike)).getPointee(); }

/// The pointee of `ptr` is the element of `value`, the shapes agree, and so does the mask.
LogicalResult verifyAccess(Operation *op, Type ptr, Type value, Value mask) {
  if (failed(expectLike(op, "a value", value, ptr, pointeeOf(ptr))))
    return failure();
  return mask ? expectShape(op, "a mask", mask.getType(), ptr) : success();
}

LogicalResult expectSameElement(Operation *op, Type source, Type result) {
  return expectElement(op, "a result", result, elementTypeOf(source));
}

} // namespace

LogicalResult ArangeOp::verify() {
  auto type = getResult().getType();
  int64_t count = int64_t(getEnd()) - int64_t(getStart());
  if (count <= 0)
    return emitOpError("expected start < end, got ") << getStart() << " and " << getEnd();
  if (type.getRank() != 1 || type.getDimSize(0) != count)
    return emitOpError("expected a result of shape ") << count << ", got " << type;
  return success();
}

LogicalResult SplatOp::verify() {
  return expectSameElement(*this, getSource().getType(), getResult().getType());
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(expectSameElement(*this, source, result)))
    return failure();
  if (source.getRank() != result.getRank())
    return emitOpError("expected a result of rank ") << source.getRank() << ", got " << result;
  for (auto [axis, from, to] : llvm::enumerate(source.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError("expected axis ") << axis << " of extent 1 or " << to << ", got " << from;
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (getAxis() > source.getRank())
    return emitOpError("expected an axis of at most ") << source.getRank() << ", got " << getAxis();
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (result.getShape() != ArrayRef(shape))
    return emitOpError("expected a result of shape [") << shape << "], got " << result;
  return expectSameElement(*this, source, result);
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (source.getNumElements() != result.getNumElements())
    return emitOpError("expected a result of ")
           << source.getNumElements() << " elements, got " << result;
  return expectSameElement(*this, source, result);
}

LogicalResult TransOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int32_t> order = getOrder();
  llvm::SmallBitVector seen(source.getRank());
  for (int32_t axis : order)
    if (axis >= 0 && axis < source.getRank())
      seen.set(axis);
  if (int64_t(order.size()) != source.getRank() || !seen.all())
    return emitOpError("expected an order that permutes 0 to ")
           << source.getRank() - 1 << ", got [" << order << "]";
  SmallVector<int64_t> shape;
  for (int32_t axis : order)
    shape.push_back(source.getDimSize(axis));
  if (result.getShape() != ArrayRef(shape))
    return emitOpError("expected a result of shape [") << shape << "], got " << result;
  return expectSameElement(*this, source, result);
}

LogicalResult AddPtrOp::verify() {
  return expectShape(*this, "an offset", getOffset().getType(), getPtr().getType());
}

LogicalResult BitcastOp::verify() {
  Type source = elementTypeOf(getSource().getType()), result = elementTypeOf(getResult().getType());
  if (failed(expectShape(*this, "a result", getResult().getType(), getSource().getType())))
    return failure();
  auto bits = [](Type type) { return isa<PtrType>(type) ? 64u : type.getIntOrFloatBitWidth(); };
  if (bits(source) != bits(result))
    return emitOpError("expected a result of ") << bits(source) << " bits, got " << result;
  return success();
}

LogicalResult WidenScaledOp::verify() {
  Type source = elementTypeOf(getSource().getType());
  if (getUpper() && !source.isInteger(8))
    return emitOpError("expected pairs of numbers beside `upper`, i8, got ") << source;
  return success();
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError("expected a mask beside `other`");
  if (failed(verifyAccess(*this, getPtr().getType(), getResult().getType(), getMask())))
    return failure();
  return getOther() ? expectLike(*this, "`other`", getOther().getType(), getPtr().getType(),
                                 pointeeOf(getPtr().getType()))
                    : success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask());
}

LogicalResult AtomicRMWOp::verify() {
  Type element = pointeeOf(getPtr().getType());
  bool wantsFloat =
      llvm::is_contained({AtomicKind::FAdd, AtomicKind::FMax, AtomicKind::FMin}, getKind());
  if (getKind() != AtomicKind::Exchange && isa<FloatType>(element) != wantsFloat)
    return emitOpError("expected elements that `")
           << stringifyAtomicKind(getKind()) << "` combines, got " << element;
  if (failed(verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask())))
    return failure();
  return expectLike(*this, "a result", getResult().getType(), getPtr().getType(), element);
}

LogicalResult AtomicCASOp::verify() {
  Type ptr = getPtr().getType(), element = pointeeOf(ptr);
  if (getMask() && failed(expectShape(*this, "a mask", getMask().getType(), ptr)))
    return failure();
  return success(
      succeeded(expectLike(*this, "a comparand", getCompare().getType(), ptr, element)) &&
      succeeded(expectLike(*this, "a value", getValue().getType(), ptr, element)) &&
      succeeded(expectLike(*this, "a result", getResult().getType(), ptr, element)));
}

/// Two of e2m1 in a byte.
static int64_t numbersOfElement(DotOp op, RankedTensorType operand) {
  return !op.getScales().empty() && operand.getElementType().isInteger(8) ? 2 : 1;
}

static LogicalResult verifyScales(DotOp op) {
  auto a = cast<RankedTensorType>(op.getA().getType()),
       b = cast<RankedTensorType>(op.getB().getType());
  ValueRange scales = op.getScales();
  auto isOperand = [&](Type element) {
    return element.isInteger(8) ||
           (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
  };
  if (scales.size() != 2 || a.getRank() != 2 || !isOperand(a.getElementType()) ||
      !isOperand(b.getElementType()) ||
      !cast<RankedTensorType>(op.getC().getType()).getElementType().isF32())
    return op.emitOpError("expected scales of both operands, these of rank 2 and 8 bits, and an "
                          "accumulator of f32, got ")
           << a << ", " << b << " and " << op.getC().getType();
  constexpr int64_t together = 32;
  int64_t columns = a.getDimSize(1) * numbersOfElement(op, a) / together;
  for (auto [scale, rows] :
       {std::pair(scales[0], a.getDimSize(0)), std::pair(scales[1], b.getDimSize(1))})
    if (auto type = cast<RankedTensorType>(scale.getType());
        !type.getElementType().isInteger(8) || type.getShape() != ArrayRef({rows, columns}))
      return op.emitOpError("expected ") << rows << "x" << columns << " scales of i8, got " << type;
  return success();
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  int64_t rank = a.getRank();
  if ((rank != 2 && rank != 3) || b.getRank() != rank || c.getRank() != rank)
    return emitOpError("expected operands of one rank, 2 or 3, got ")
           << a << ", " << b << " and " << c;
  if (c != result)
    return emitOpError("expected a result of type ") << c << ", got " << result;
  int64_t m = a.getDimSize(rank - 2), k = a.getDimSize(rank - 1), n = b.getDimSize(rank - 1);
  int64_t rows = k * numbersOfElement(*this, a) / numbersOfElement(*this, b);
  if (b.getDimSize(rank - 2) != rows)
    return emitOpError("expected ") << rows << " rows of b, got " << b.getDimSize(rank - 2);
  if (c.getDimSize(rank - 2) != m || c.getDimSize(rank - 1) != n)
    return emitOpError("expected an accumulator of ") << m << "x" << n << ", got " << c;
  if (rank == 3 && (a.getDimSize(0) != b.getDimSize(0) || a.getDimSize(0) != c.getDimSize(0)))
    return emitOpError("expected equal batch extents, got ")
           << a.getDimSize(0) << ", " << b.getDimSize(0) << " and " << c.getDimSize(0);
  if (!getScales().empty())
    return verifyScales(*this);
  if (isa<FloatType>(a.getElementType()) != isa<FloatType>(c.getElementType()) ||
      isa<FloatType>(b.getElementType()) != isa<FloatType>(c.getElementType()))
    return emitOpError("expected operands and accumulator all of floats or all of integers, got ")
           << a.getElementType() << ", " << b.getElementType() << " and " << c.getElementType();
  return success();
}

//===-- reduce and scan
//--------------------------------------------------------------------------------------------===//

namespace {

LogicalResult verifySources(Operation *op, unsigned axis) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expected at least one tensor");
  if (op->getNumResults() != op->getNumOperands())
    return op->emitOpError("expected ")
           << op->getNumOperands() << " results, got " << op->getNumResults();
  auto first = cast<RankedTensorType>(op->getOperand(0).getType());
  if (axis >= first.getRank())
    return op->emitOpError("expected an axis of at most ")
           << first.getRank() - 1 << ", got " << axis;
  for (Type type : op->getOperandTypes())
    if (failed(expectShape(op, "a source", type, first)))
      return failure();
  return success();
}

/// Block arguments: an accumulated element of each source, then another of each; the yield gives
/// one of each.
LogicalResult verifyCombiner(Operation *op) {
  Block &block = op->getRegion(0).front();
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    elements.push_back(elementTypeOf(type));
  SmallVector<Type> expected(elements);
  expected.append(elements);
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return op->emitOpError("expected a region with arguments ")
           << expected << ", got " << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || !llvm::equal(yield.getOperandTypes(), elements))
    return op->emitOpError("expected the region to yield ") << elements;
  return success();
}

Operation *singleCombiner(Operation *op) {
  Block &block = op->getRegion(0).front();
  if (op->getNumOperands() != 1 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation *combiner = &block.front();
  if (combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
      block.getTerminator()->getOperand(0) != combiner->getResult(0))
    return nullptr;
  Value l = combiner->getOperand(0), r = combiner->getOperand(1);
  bool direct = l == block.getArgument(0) && r == block.getArgument(1);
  bool swapped = l == block.getArgument(1) && r == block.getArgument(0);
  return direct || (swapped && combiner->hasTrait<OpTrait::IsCommutative>()) ? combiner : nullptr;
}

} // namespace

LogicalResult ReduceOp::verify() {
  if (failed(verifySources(*this, getAxis())))
    return failure();
  for (auto [source, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    SmallVector<int64_t> shape(shapeOf(source));
    shape.erase(shape.begin() + getAxis());
    bool scalar = !isa<RankedTensorType>(result);
    if (scalar != shape.empty() || shapeOf(result) != ArrayRef(shape))
      return emitOpError("expected a result of shape [") << shape << "], got " << result;
    if (failed(expectSameElement(*this, source, result)))
      return failure();
  }
  return success();
}
LogicalResult ReduceOp::verifyRegions() { return verifyCombiner(*this); }
Operation *ReduceOp::getSingleCombiner() { return singleCombiner(*this); }

LogicalResult ScanOp::verify() {
  if (failed(verifySources(*this, getAxis())))
    return failure();
  for (auto [source, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (source != result)
      return emitOpError("expected a result of type ") << source << ", got " << result;
  return success();
}
LogicalResult ScanOp::verifyRegions() { return verifyCombiner(*this); }
Operation *ScanOp::getSingleCombiner() { return singleCombiner(*this); }

LogicalResult GatherOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  SmallVector<int64_t> shape(source.getShape());
  if (getAxis() >= shape.size())
    return emitOpError("expected an axis of at most ") << shape.size() - 1 << ", got " << getAxis();
  ArrayRef<int64_t> indices = shapeOf(getIndices().getType());
  if (indices.size() == shape.size())
    shape[getAxis()] = indices[getAxis()];
  if (indices != ArrayRef(shape))
    return emitOpError("expected indices of the shape of ")
           << source << " except along axis " << getAxis() << ", got " << getIndices().getType();
  return expectLike(*this, "a result", getResult().getType(), getIndices().getType(),
                    source.getElementType());
}

LogicalResult HistogramOp::verify() {
  if (!getMask() || shapeOf(getMask().getType()) == shapeOf(getSource().getType()))
    return success();
  return emitOpError("expected a mask of the shape of ")
         << getSource().getType() << ", got " << getMask().getType();
}

LogicalResult MapOp::verify() {
  if (getSources().empty() || getResults().empty())
    return emitOpError("expected at least one source and one result");
  auto first = cast<RankedTensorType>(getSources().front().getType());
  for (ValueRange values : {ValueRange(getSources()), ValueRange(getResults())})
    for (Type type : values.getTypes())
      if (failed(expectShape(*this, "a source or result", type, first)))
        return failure();
  return success();
}

LogicalResult MapOp::verifyRegions() {
  auto elements = [](ValueRange values) {
    return llvm::map_to_vector(values.getTypes(), elementTypeOf);
  };
  Block &block = getBody().front();
  if (SmallVector<Type> expected = elements(getSources());
      !llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError("expected a region with arguments ")
           << expected << ", got " << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (SmallVector<Type> expected = elements(getResults());
      !yield || !llvm::equal(yield.getOperandTypes(), expected))
    return emitOpError("expected the region to yield ") << expected;
  WalkResult effects = getBody().walk([](Operation *op) {
    bool holdsRegions = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    return holdsRegions || isMemoryEffectFree(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return effects.wasInterrupted() ? emitOpError("expected a region without effects on memory")
                                  : success();
}

LogicalResult AssemblyOp::verify() {
  RankedTensorType first;
  for (ValueRange values : {ValueRange(getSources()), ValueRange(getResults())})
    for (Type type : values.getTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!first)
        first = tensor;
      if (tensor && failed(expectShape(*this, "a source or result", tensor, first)))
        return failure();
    }
  if (first &&
      llvm::any_of(getResultTypes(), [](Type type) { return !isa<RankedTensorType>(type); }))
    return emitOpError("expected tensors as results beside tensors");
  return success();
}

LogicalResult PrintOp::verify() {
  if (!getValue())
    return success();
  Type element = elementTypeOf(getValue().getType());
  if (isa<PtrType>(element) || element.isInteger(32) || element.isInteger(64) || element.isF32() ||
      element.isF64())
    return success();
  return emitOpError("expected i32, i64, f32, f64 or pointers, got ") << element;
}

LogicalResult HintOp::verify() {
  size_t count = std::max<size_t>(1, shapeOf(getSource().getType()).size());
  for (auto facts : {getDivisibility(), getContiguity(), getConstancy()}) {
    if (!facts)
      continue;
    if (facts->size() != count)
      return emitOpError("expected ") << count << " numbers, one per axis, got " << facts->size();
    for (int64_t fact : *facts)
      if (fact <= 0)
        return emitOpError("expected positive numbers, got ") << fact;
  }
  return success();
}

} // namespace kiln::tile
