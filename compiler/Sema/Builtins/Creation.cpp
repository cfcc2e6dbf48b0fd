// Builtins that make tensors: grid positions, ranges, constants, casts.

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

template <typename Op> Value gridPosition(Evaluator &evaluator, Call &call) {
  std::optional<Int> axis = evaluator.constantInt(call[0], "axis");
  if (!axis)
    return Value();
  if (*axis < 0 || *axis > 2)
    return evaluator.error(DiagKind::SemaInvalidArgument, "axis", "0, 1 or 2", toString(*axis));
  return Value::tensor(evaluator.emit<Op>(evaluator.builder.getI32Type(), uint32_t(*axis)),
                       TensorType(Scalar::Int32));
}

Value makeFull(Evaluator &evaluator, const Value &shapeValue, const Value &value,
               const Value &dtypeValue) {
  auto shape = evaluator.constantShape(shapeValue, "shape");
  std::optional<DType> dtype =
      shape ? evaluator.constantDType(dtypeValue, "dtype") : std::optional<DType>();
  if (!dtype)
    return Value();
  Tensor scalar;
  if (value.isTensor()) {
    scalar = evaluator.unsplat(value.getTensor());
    scalar = scalar ? evaluator.cast(scalar, *dtype) : Tensor();
  } else if (value.isNumber()) {
    if (dtype->isInt() && value.isIntegral() && !dtype->isBool() &&
        (value.getInt() < dtype->getMin() || value.getInt() > dtype->getMax()))
      return evaluator.error(DiagKind::SemaNumberRange, repr(value), dtype->str());
    scalar = evaluator.constant(*dtype, value);
  } else
    return evaluator.error(DiagKind::SemaInvalidArgument, "value", "a scalar", describe(value));
  return scalar ? Value::tensor(evaluator.splat(scalar, *shape)) : Value();
}

} // namespace

Value builtinProgramId(Evaluator &evaluator, Call &call) {
  return gridPosition<tile::ProgramIdOp>(evaluator, call);
}
Value builtinNumPrograms(Evaluator &evaluator, Call &call) {
  return gridPosition<tile::NumProgramsOp>(evaluator, call);
}

Value builtinArange(Evaluator &evaluator, Call &call) {
  std::optional<Int> start = evaluator.constantInt(call[0], "start");
  std::optional<Int> end = start ? evaluator.constantInt(call[1], "end") : std::optional<Int>();
  if (!end)
    return Value();
  if (*start < INT32_MIN || *end > INT32_MAX)
    return evaluator.error(DiagKind::SemaNumberRange, "the range", "int32");
  Int count = *end - *start;
  if (count <= 0)
    return evaluator.error(DiagKind::SemaShape, "end", "more than the start, " + toString(*start),
                           toString(*end));
  TensorType type(DType(Scalar::Int32), {int64_t(count)});
  mlir::Type mlirType = evaluator.toMLIR(type);
  if (evaluator.failed())
    return Value();
  // The operation's ends are not negative.
  Int first = *start < 0 ? 0 : *start;
  Value range = Value::tensor(
      evaluator.emit<tile::ArangeOp>(mlirType, uint32_t(first), uint32_t(first + count)), type);
  return *start < 0 ? evaluator.binary(ast::BinaryOp::Add, range, Value::integer(*start)) : range;
}

Value builtinFull(Evaluator &evaluator, Call &call) {
  return makeFull(evaluator, call[0], call[1], call[2]);
}
Value builtinZeros(Evaluator &evaluator, Call &call) {
  return makeFull(evaluator, call[0], Value::integer(0), call[1]);
}
Value builtinZerosLike(Evaluator &evaluator, Call &call) {
  Tensor like = evaluator.toTensor(call[0]);
  if (!like)
    return Value();
  Tensor zero = evaluator.constant(like.dtype(), Value::integer(0));
  return Value::tensor(evaluator.splat(zero, like.type.shape));
}

Value builtinCast(Evaluator &evaluator, Call &call) {
  std::optional<DType> dtype = evaluator.constantDType(call[1], "dtype");
  if (!dtype)
    return Value();
  std::optional<std::string> mode = evaluator.constantString(call[2], "fp_downcast_rounding");
  std::optional<bool> bits = mode ? evaluator.constantBool(call[3], "bitcast") : std::nullopt;
  if (!bits)
    return Value();
  if (!mode->empty() && *mode != "rtne" && *mode != "rtz")
    return evaluator.error(DiagKind::SemaInvalidArgument, "fp_downcast_rounding", "'rtne' or 'rtz'",
                           "'" + *mode + "'");
  Tensor tensor = evaluator.toTensor(call[0]);
  if (!tensor)
    return Value();
  if (*bits)
    return Value::tensor(evaluator.bitcast(tensor, *dtype));
  if (tensor.dtype() == *dtype)
    return Value::tensor(tensor);
  bool narrows =
      tensor.dtype().isFloat() && dtype->isFloat() && dtype->getBits() < tensor.dtype().getBits();
  if (!mode->empty() && !narrows)
    return evaluator.error(DiagKind::SemaInvalidArgument, "fp_downcast_rounding",
                           "a narrower float type", dtype->str());
  return Value::tensor(
      evaluator.cast(tensor, *dtype, *mode == "rtz" ? Rounding::TowardZero : Rounding::Default));
}
Value builtinCast2(Evaluator &evaluator, Call &call) { return builtinCast(evaluator, call); }

Value builtinToTensor(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.toTensor(call[0]));
}

} // namespace kiln::sema
