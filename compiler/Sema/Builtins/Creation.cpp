// Builtins that make tensors: grid positions, ranges, constants, casts.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {
namespace {

template <typename Op> Value gridPosition(TensorBuilder &build, Call &call) {
  std::optional<Int> axis = build.constantInt(call[0], "axis");
  if (!axis)
    return Value();
  if (*axis < 0 || *axis > 2)
    return build.error(DiagKind::SemaInvalidArgument, "axis", "0, 1 or 2", toString(*axis));
  return Value::tensor(build.emit<Op>(build.getBuilder().getI32Type(), uint32_t(*axis)),
                       TensorType(Scalar::Int32));
}

Value makeFull(TensorBuilder &build, const Value &shapeValue, const Value &value,
               const Value &dtypeValue) {
  auto shape = build.constantShape(shapeValue, "shape");
  std::optional<DType> dtype =
      shape ? build.constantDType(dtypeValue, "dtype") : std::optional<DType>();
  if (!dtype)
    return Value();
  Tensor scalar;
  if (value.isTensor()) {
    scalar = build.unsplat(value.getTensor());
    scalar = scalar ? build.cast(scalar, *dtype) : Tensor();
  } else if (value.isNumber()) {
    if (dtype->isInt() && value.isIntegral() && !dtype->isBool() &&
        (value.getInt() < dtype->getMin() || value.getInt() > dtype->getMax()))
      return build.error(DiagKind::SemaNumberRange, repr(value), dtype->str());
    scalar = build.constant(*dtype, value);
  } else
    return build.error(DiagKind::SemaInvalidArgument, "value", "a scalar", describe(value));
  return scalar ? Value::tensor(build.splat(scalar, *shape)) : Value();
}

} // namespace

Value builtinProgramId(TensorBuilder &build, Call &call) {
  return gridPosition<tile::ProgramIdOp>(build, call);
}
Value builtinNumPrograms(TensorBuilder &build, Call &call) {
  return gridPosition<tile::NumProgramsOp>(build, call);
}

Value builtinArange(TensorBuilder &build, Call &call) {
  std::optional<Int> start = build.constantInt(call[0], "start");
  std::optional<Int> end = start ? build.constantInt(call[1], "end") : std::optional<Int>();
  if (!end)
    return Value();
  if (*start < INT32_MIN || *end > INT32_MAX)
    return build.error(DiagKind::SemaNumberRange, "the range", "int32");
  Int count = *end - *start;
  if (count <= 0)
    return build.error(DiagKind::SemaShape, "end", "more than the start, " + toString(*start),
                       toString(*end));
  TensorType type(DType(Scalar::Int32), {int64_t(count)});
  mlir::Type mlirType = build.toMLIR(type);
  if (build.failed())
    return Value();
  // The operation's ends are not negative.
  Int first = *start < 0 ? 0 : *start;
  Value range = Value::tensor(
      build.emit<tile::ArangeOp>(mlirType, uint32_t(first), uint32_t(first + count)), type);
  return *start < 0 ? build.binary(ast::BinaryOp::Add, range, Value::integer(*start)) : range;
}

Value builtinFull(TensorBuilder &build, Call &call) {
  return makeFull(build, call[0], call[1], call[2]);
}
Value builtinZeros(TensorBuilder &build, Call &call) {
  return makeFull(build, call[0], Value::integer(0), call[1]);
}
Value builtinZerosLike(TensorBuilder &build, Call &call) {
  Tensor like = build.toTensor(call[0]);
  if (!like)
    return Value();
  Tensor zero = build.constant(like.dtype(), Value::integer(0));
  return Value::tensor(build.splat(zero, like.type.shape));
}

Value builtinCast(TensorBuilder &build, Call &call) {
  std::optional<DType> dtype = build.constantDType(call[1], "dtype");
  if (!dtype)
    return Value();
  std::optional<std::string> mode = build.constantString(call[2], "fp_downcast_rounding");
  std::optional<bool> bits = mode ? build.constantBool(call[3], "bitcast") : std::nullopt;
  if (!bits)
    return Value();
  if (!mode->empty() && *mode != "rtne" && *mode != "rtz")
    return build.error(DiagKind::SemaInvalidArgument, "fp_downcast_rounding", "'rtne' or 'rtz'",
                       "'" + *mode + "'");
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  if (*bits)
    return Value::tensor(build.bitcast(tensor, *dtype));
  if (tensor.dtype() == *dtype)
    return Value::tensor(tensor);
  bool narrows =
      tensor.dtype().isFloat() && dtype->isFloat() && dtype->getBits() < tensor.dtype().getBits();
  if (!mode->empty() && !narrows)
    return build.error(DiagKind::SemaInvalidArgument, "fp_downcast_rounding",
                       "a narrower float type", dtype->str());
  return Value::tensor(
      build.cast(tensor, *dtype, *mode == "rtz" ? Rounding::TowardZero : Rounding::Default));
}

Value builtinToTensor(TensorBuilder &build, Call &call) {
  return Value::tensor(build.toTensor(call[0]));
}

} // namespace kiln::sema
