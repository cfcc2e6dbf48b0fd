// Numbers as floats of 8 bits at compile time.

#include "compiler/Dialect/Tile/ByteFloats.h"

using namespace llvm;

namespace kiln::tile {

APFloat narrowToByteFloat(APFloat value, mlir::FloatType type) {
  const fltSemantics &semantics = type.getFloatSemantics();
  bool isNegative = value.isNegative(), losesInfo;
  if (value.isNaN()) {
    bool isOnlyOne = isa<mlir::Float8E4M3FNUZType, mlir::Float8E5M2FNUZType>(type);
    return APFloat(semantics, APInt(8, isOnlyOne ? 0x80 : isNegative ? 0xff : 0x7f));
  }
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return value.isFinite() ? value : APFloat::getLargest(semantics, isNegative);
}

} // namespace kiln::tile
