#include "compiler/Expansion/FloatToInteger/FloatToInteger.h"

using namespace mlir;

namespace kiln {

Value floatToInteger(OpBuilder &b, Location loc, Value x, Type type, bool isSigned) {
  auto vector = dyn_cast<VectorType>(type);
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type wide = b.getIntegerType(std::max(bits, 32u));
  if (vector)
    wide = vector.clone(wide);
  Value result =
      LLVM::CallIntrinsicOp::create(
          b, loc, wide, b.getStringAttr(isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat"), x)
          .getResult(0);
  return wide == type ? result : Value(LLVM::TruncOp::create(b, loc, type, result));
}

} // namespace kiln
