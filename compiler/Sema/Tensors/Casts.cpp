// Conversions between element types.

#include "compiler/Sema/Tensors/NarrowFloats.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

Tensor TensorBuilder::promoteBF16(Tensor tensor) {
  return tensor && tensor.dtype().is(Scalar::BF16) ? cast(tensor, Scalar::FP32) : tensor;
}

Tensor TensorBuilder::notZero(Tensor tensor) {
  // 8-bit floats have no comparisons of their own.
  if (tensor.dtype().isFP8())
    tensor = cast(tensor, Scalar::FP16);
  Tensor zero = splat(constant(tensor.dtype(), Value::integer(0)), tensor.type.shape);
  if (!zero)
    return {};
  TensorType type = tensor.type.with(DType(Scalar::Int1));
  if (tensor.dtype().isFloat())
    return {emit<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNE, tensor.ir, zero.ir), type};
  return {emit<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne, tensor.ir, zero.ir), type};
}

/// What was rounded to nearest away from zero becomes the next number towards it, whose code is one
/// less; infinity becomes the largest finite number. So no target needs a conversion for it.
static Tensor roundTowardZero(TensorBuilder &build, Tensor exact, Tensor rounded) {
  Tensor back = build.cast(rounded, exact.dtype());
  mlir::Value grew = build.emit<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OGT,
                                                     build.emit<mlir::math::AbsFOp>(back.ir),
                                                     build.emit<mlir::math::AbsFOp>(exact.ir));
  DType code = getIntType(rounded.dtype().getBits(), false);
  Tensor bits = build.bitcast(rounded, code);
  Tensor one = build.splat(build.integerConstant(code, 1), bits.type.shape);
  Tensor less{build.emit<mlir::arith::SubIOp>(bits.ir, one.ir), bits.type};
  Tensor condition{grew, exact.type.with(DType(Scalar::Int1))};
  return build.bitcast(build.select(condition, less, bits), rounded.dtype());
}

Tensor TensorBuilder::castFloatToFloat(Tensor tensor, const TensorType &type, Rounding rounding) {
  DType from = tensor.dtype(), to = type.dtype;
  unsigned fromBits = from.getBits(), toBits = to.getBits();
  // Between formats of one width there is no operation: go through a wider one. Doubles become
  // floats of 8 bits in two steps, as in PyTorch.
  if (fromBits == toBits || (from.is(Scalar::FP64) && to.isFP8()))
    return cast(cast(tensor, Scalar::FP32), to, rounding);
  if (fromBits < toBits)
    return {emit<mlir::arith::ExtFOp>(toMLIR(type), tensor.ir), type};
  Tensor rounded{to.isFP8() ? emit<tile::NarrowOp>(toMLIR(type), tensor.ir)
                            : emit<mlir::arith::TruncFOp>(toMLIR(type), tensor.ir),
                 type};
  return rounding == Rounding::TowardZero ? roundTowardZero(*this, tensor, rounded) : rounded;
}

Tensor TensorBuilder::castInt(Tensor tensor, const TensorType &type) {
  DType from = tensor.dtype(), to = type.dtype;
  if (to.isBool())
    return notZero(tensor);
  if (from.getBits() == to.getBits())
    return {tensor.ir, type};
  if (from.getBits() > to.getBits())
    return {emit<mlir::arith::TruncIOp>(toMLIR(type), tensor.ir), type};
  if (from.isSigned())
    return {emit<mlir::arith::ExtSIOp>(toMLIR(type), tensor.ir), type};
  return {emit<mlir::arith::ExtUIOp>(toMLIR(type), tensor.ir), type};
}

Tensor TensorBuilder::castPointer(Tensor tensor, const TensorType &type) {
  DType from = tensor.dtype(), to = type.dtype;
  if (from.isPointer() && to.isPointer())
    return {emit<tile::BitcastOp>(toMLIR(type), tensor.ir), type};
  if (from.isPointer() && to.isInt()) {
    Tensor address{emit<tile::BitcastOp>(toMLIR(type.with(DType(Scalar::Int64))), tensor.ir),
                   type.with(DType(Scalar::Int64))};
    return castInt(address, type);
  }
  if (from.isInt() && to.isPointer()) {
    Tensor address = castInt(tensor, type.with(DType(Scalar::Int64)));
    return {emit<tile::BitcastOp>(toMLIR(type), address.ir), type};
  }
  errorWithHint("tl.load gives what is there, .to(tl.int64) the address", DiagKind::SemaCast,
                tensor.type.str(), to.str());
  return {};
}

Tensor TensorBuilder::cast(Tensor tensor, DType to, Rounding rounding) {
  if (!tensor || failed())
    return {};
  DType from = tensor.dtype();
  if (from == to)
    return tensor;
  TensorType type = tensor.type.with(to);
  if (!toMLIR(type) || to.is(Scalar::Void)) {
    error(DiagKind::SemaCast, tensor.type.str(), to.str());
    return {};
  }
  if (from.isPointer() || to.isPointer())
    return castPointer(tensor, type);
  if (isPortable() && ((from.isFP8() && to.isInt()) || (from.isInt() && to.isFP8()))) {
    notPortable("a cast of " + from.str() + " to " + to.str(), "cast to fp32 between the two");
    return {};
  }
  if (from.is(Scalar::FP8E4B15))
    return cast(decodeE4B15(*this, tensor), to, rounding);
  if (to.is(Scalar::FP8E4B15)) {
    if (!from.is(Scalar::FP16))
      tensor = cast(cast(tensor, Scalar::FP32), Scalar::FP16, Rounding::TowardZero);
    return tensor ? encodeE4B15(*this, tensor) : tensor;
  }
  if (from.isFloat() && to.isFloat())
    return castFloatToFloat(tensor, type, rounding);
  if (from.isInt() && to.isInt())
    return castInt(tensor, type);
  if (to.isBool())
    return notZero(tensor);
  // Integers meet fp8 halfway, in fp32.
  if (from.isFP8())
    return cast(cast(tensor, Scalar::FP32), to);
  if (to.isFP8())
    return cast(cast(tensor, Scalar::FP32), to, rounding);
  if (from.isFloat()) {
    if (to.isSigned())
      return {emit<mlir::arith::FPToSIOp>(toMLIR(type), tensor.ir), type};
    return {emit<mlir::arith::FPToUIOp>(toMLIR(type), tensor.ir), type};
  }
  if (from.isSigned())
    return {emit<mlir::arith::SIToFPOp>(toMLIR(type), tensor.ir), type};
  return {emit<mlir::arith::UIToFPOp>(toMLIR(type), tensor.ir), type};
}

Tensor TensorBuilder::bitcast(Tensor tensor, DType to) {
  if (!tensor)
    return {};
  DType from = tensor.dtype();
  if (from == to)
    return tensor;
  if (from.isPointer() || to.isPointer())
    return cast(tensor, to);
  TensorType type = tensor.type.with(to);
  if (from.getBits() != to.getBits() || !toMLIR(type)) {
    error(DiagKind::SemaCast, tensor.type.str() + " (" + std::to_string(from.getBits()) + " bits)",
          to.str() + " (" + std::to_string(to.getBits()) + " bits) as the same bits");
    return {};
  }
  if (toMLIR(type) == tensor.ir.getType())
    return {tensor.ir, type};
  return {emit<tile::BitcastOp>(toMLIR(type), tensor.ir), type};
}

Tensor TensorBuilder::toCondition(Tensor tensor) {
  if (tensor && tensor.dtype().isPointer())
    tensor = cast(tensor, Scalar::Int64);
  return cast(tensor, Scalar::Int1);
}

Tensor TensorBuilder::logicalNot(Tensor tensor) {
  Tensor condition = toCondition(tensor);
  return condition ? invert(condition) : Tensor();
}

Tensor TensorBuilder::invert(Tensor tensor) {
  if (!tensor.dtype().isInt()) {
    error(DiagKind::SemaOperand, "~", tensor.type.str());
    return {};
  }
  Int ones = tensor.dtype().isSigned() ? Int(-1) : tensor.dtype().getMax();
  Tensor mask = splat(integerConstant(tensor.dtype(), ones), tensor.type.shape);
  return {emit<mlir::arith::XOrIOp>(tensor.ir, mask.ir), tensor.type};
}

Tensor TensorBuilder::negate(Tensor tensor) {
  if (tensor.dtype().isPointer()) {
    error(DiagKind::SemaOperand, "-", tensor.type.str());
    return {};
  }
  if (tensor.dtype().is(Scalar::FP8E4B15)) {
    Tensor sign = splat(integerConstant(Scalar::UInt8, 0x80), tensor.type.shape);
    return {emit<mlir::arith::XOrIOp>(tensor.ir, sign.ir), tensor.type};
  }
  if (tensor.dtype().isFloat())
    return {emit<mlir::arith::NegFOp>(tensor.ir), tensor.type};
  Tensor zero = splat(integerConstant(tensor.dtype(), 0), tensor.type.shape);
  return {emit<mlir::arith::SubIOp>(zero.ir, tensor.ir), tensor.type};
}

Tensor TensorBuilder::select(Tensor condition, Tensor x, Tensor y) {
  if (!broadcastTogether(x, y))
    return {};
  if (condition.isBlock()) {
    if (!broadcastTogether(condition, x) || !broadcastTogether(x, y))
      return {};
  }
  return {emit<mlir::arith::SelectOp>(condition.ir, x.ir, y.ir), x.type};
}

} // namespace kiln::sema
