// Registration of the Tile dialect, its types and its attributes.

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/Dialect/Tile/TileDialect.cpp.inc"
#include "compiler/Dialect/Tile/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Tile/TileTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Tile/TileAttrs.cpp.inc"

namespace kiln::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/Dialect/Tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/Tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Tile/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee) {
  if (isa<PtrType>(pointee))
    return success();
  if (!pointee.isIntOrFloat())
    return emitError() << "expected a pointer to integers, floats or pointers, got " << pointee;
  if (pointee.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "expected a pointee of whole bytes, got " << pointee
                       << " (booleans in memory are bytes: !tile.ptr<i8>)";
  return success();
}

int64_t PtrType::getElementBytes() const {
  Type pointee = getPointee();
  return isa<PtrType>(pointee) ? 8 : pointee.getIntOrFloatBitWidth() / 8;
}

//===-- DescriptorType
//----------------------------------------------------------------------------------------------===//

Type DescriptorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Padding padding = Padding::Zero;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    if (parser.parseKeyword(&name))
      return {};
    std::optional<Padding> named = symbolizePadding(name);
    if (!named)
      return parser.emitError(place, "expected the padding zero or nan, got ") << name, Type();
    padding = *named;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<DescriptorType>(place, parser.getContext(), shape, element, padding);
}

void DescriptorType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (getPadding() != Padding::Zero)
    printer << ", " << stringifyPadding(getPadding());
  printer << ">";
}

LogicalResult DescriptorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> shape, Type element, Padding padding) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "expected blocks of rank 1 to 5, got " << shape.size();
  if (llvm::any_of(shape, [](int64_t extent) { return extent <= 0; }))
    return emitError() << "expected blocks of positive extents, got [" << shape << "]";
  if (isa<PtrType>(element))
    return emitError() << "expected elements that are integers or floats, got " << element;
  if (failed(PtrType::verify(emitError, element)))
    return failure();
  if (padding == Padding::NaN && !isa<FloatType>(element))
    return emitError() << "expected floats beside NaN as padding, got " << element;
  return success();
}

RankedTensorType DescriptorType::getBlockType() const {
  return RankedTensorType::get(getShape(), getElementType());
}

SmallVector<int64_t> DescriptorType::getLongAxes() const {
  SmallVector<int64_t> axes;
  for (auto [axis, extent] : llvm::enumerate(getShape()))
    if (extent > 1)
      axes.push_back(axis);
  return axes;
}

RankedTensorType DescriptorType::getSqueezedBlockType() const {
  SmallVector<int64_t> shape =
      llvm::map_to_vector(getLongAxes(), [&](int64_t axis) { return getShape()[axis]; });
  return RankedTensorType::get(shape, getElementType());
}

int64_t DescriptorType::getElementBytes() const {
  return PtrType::get(getElementType()).getElementBytes();
}

int64_t DescriptorType::getStrideFactor() const {
  return std::max<int64_t>(alignment / getElementBytes(), 1);
}

Type elementTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

Type withElementType(Type like, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  return tensor ? RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding()) : element;
}

ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

} // namespace kiln::tile
