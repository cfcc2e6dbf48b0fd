// Text and verification of the TileGPU attributes and types.

#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tilegpu;

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUTypes.cpp.inc"

void TileGPUDialect::registerAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/TileGPU/TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/Dialect/TileGPU/TileGPUTypes.cpp.inc"
      >();
}

/// Reads a layout's text as a string literal.
static FailureOr<LinearLayout> parseLayout(AsmParser &parser) {
  std::string text;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&text))
    return failure();
  llvm::Expected<LinearLayout> layout = LinearLayout::parse(text);
  if (!layout) {
    parser.emitError(location, llvm::toString(layout.takeError()));
    return failure();
  }
  return *layout;
}

//===-- layout
//-----------------------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<LinearLayout> layout = parseLayout(parser);
  if (failed(layout) || parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLayout().str() << "\">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 LinearLayout layout) {
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block})
    if (!layout.in().contains(dim))
      return emitError() << "expected the input '" << dim.name() << "' in a tensor's layout, got "
                         << layout.str();
  if (layout.in().contains(Dim::Offset))
    return emitError() << "expected no input 'offset' in a tensor's layout, got " << layout.str();
  if (!layout.isSurjective())
    return emitError() << "expected a layout that holds every element, got " << layout.str();
  return success();
}

//===-- shared
//-----------------------------------------------------------------------------------===//

Attribute SharedLayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<LinearLayout> map = parseLayout(parser);
  unsigned interval = 0, amount = 0;
  if (failed(map))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("pad") || parser.parseInteger(interval) || parser.parsePlus() ||
       parser.parseInteger(amount)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SharedLayoutAttr>(parser.getContext(), *map, interval, amount);
}

void SharedLayoutAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getMap().str() << "\"";
  if (getPadInterval())
    printer << ", pad " << getPadInterval() << " + " << getPadAmount();
  printer << ">";
}

LogicalResult SharedLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       LinearLayout map, unsigned padInterval, unsigned padAmount) {
  if (!map.in().contains(Dim::Offset) || !map.isBijective())
    return emitError() << "expected a bijection from 'offset', got " << map.str();
  if ((padInterval == 0) != (padAmount == 0))
    return emitError() << "expected a padding interval and amount, got " << padInterval << " + "
                       << padAmount;
  return success();
}

//===-- matrix_unit
//------------------------------------------------------------------------------===//

MatrixTiling MatrixUnitAttr::getTiling() const {
  return {findMatrixInstruction(getInstruction().getValue()), getSwapped(), getWarpsM(),
          getWarpsN(), getNeighbours()};
}

MatrixUnitAttr MatrixUnitAttr::get(MLIRContext *context, const MatrixTiling &tiling) {
  return get(context, StringAttr::get(context, tiling.instruction->name), tiling.swapped,
             tiling.warpsM, tiling.warpsN, tiling.neighbours);
}

Attribute MatrixUnitAttr::parse(AsmParser &parser, Type) {
  std::string name;
  unsigned warpsM, warpsN, neighbours = 0;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  bool swapped = succeeded(parser.parseOptionalKeyword("swapped"));
  if (parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("neighbours")) &&
      (parser.parseInteger(neighbours) || parser.parseComma()))
    return {};
  if (parser.parseKeyword("warps") || parser.parseInteger(warpsM) || parser.parseKeyword("x") ||
      parser.parseInteger(warpsN) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return parser.getChecked<MatrixUnitAttr>(context, StringAttr::get(context, name), swapped, warpsM,
                                           warpsN, neighbours);
}

void MatrixUnitAttr::print(AsmPrinter &printer) const {
  printer << "<" << getInstruction() << (getSwapped() ? " swapped" : "");
  if (getNeighbours())
    printer << ", neighbours " << getNeighbours();
  printer << ", warps " << getWarpsM() << " x " << getWarpsN() << ">";
}

LogicalResult MatrixUnitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     StringAttr instruction, bool, unsigned warpsM, unsigned warpsN,
                                     unsigned neighbours) {
  if (!findMatrixInstruction(instruction.getValue()))
    return emitError() << "expected a name of MatrixUnits.def, got " << instruction;
  if (!llvm::isPowerOf2_32(warpsM) || !llvm::isPowerOf2_32(warpsN))
    return emitError() << "expected powers of two of warps, got " << warpsM << " x " << warpsN;
  if (neighbours && !llvm::isPowerOf2_32(neighbours))
    return emitError() << "expected a power of two of neighbours, got " << neighbours;
  return success();
}

//===-- buffer
//-----------------------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SharedLayoutAttr layout;
  unsigned slots = 1;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma() || parser.parseAttribute(layout))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("slots") || parser.parseInteger(slots)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(parser.getContext(), shape, element, layout, slots);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << getLayout();
  if (isRing())
    printer << ", slots " << getSlots();
  printer << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type, SharedLayoutAttr layout,
                                 unsigned slots) {
  if (ArrayRef<int64_t>(layout.getMap().shape()) != shape)
    return emitError() << "expected a shared layout of the buffer's shape, got "
                       << layout.getMap().str();
  if (slots == 0)
    return emitError() << "expected at least one slot, got 0";
  return success();
}

int64_t BufferType::getSlotBytes() const {
  return getLayout().getShared().numElements() * storageBits(getElementType()) / 8;
}

BufferType BufferType::of(RankedTensorType tensor, const SharedLayout &shared) {
  auto layout =
      SharedLayoutAttr::get(tensor.getContext(), shared.map, shared.padInterval, shared.padAmount);
  return get(tensor.getContext(), tensor.getShape(), tensor.getElementType(), layout);
}

BufferType BufferType::withSlots(unsigned slots) const {
  return get(getContext(), getShape(), getElementType(), getLayout(), slots);
}
