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
