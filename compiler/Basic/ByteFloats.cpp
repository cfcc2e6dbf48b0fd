#include "compiler/Basic/ByteFloats.h"

using namespace llvm;

namespace kiln {

APFloat narrowToByteFloat(APFloat value, const fltSemantics &format) {
  bool isNegative = value.isNegative(), losesInfo;
  if (value.isNaN()) {
    bool hasOne = &format == &APFloat::Float8E4M3FNUZ() || &format == &APFloat::Float8E5M2FNUZ();
    return APFloat(format, APInt(8, hasOne ? 0x80 : isNegative ? 0xff : 0x7f));
  }
  value.convert(format, APFloat::rmNearestTiesToEven, &losesInfo);
  return value.isFinite() ? value : APFloat::getLargest(format, isNegative);
}

} // namespace kiln
