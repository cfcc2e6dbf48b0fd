// libdevice: functions that `math` has, or that a few operations make.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

namespace math = mlir::math;
namespace arith = mlir::arith;

/// An integer exponent takes libdevice's other `pow`.
static Value power(TensorBuilder &build, Call &call, Accuracy accuracy) {
  if (call[1].isTensor() && call[1].getTensor().dtype().isInt()) {
    Tensor base = floatOperand(build, "pow", call[0]);
    Tensor exponent = base ? build.cast(call[1].getTensor(), Scalar::Int32) : Tensor();
    if (!build.broadcastTogether(base, exponent))
      return Value();
    return Value::tensor(build.emit<math::FPowIOp>(base.ir, exponent.ir), base.type);
  }
  return floatFunction2<math::PowFOp>(build, call, accuracy);
}
Value builtinPow(TensorBuilder &build, Call &call) { return power(build, call, Accuracy::Full); }
Value builtinFastPow(TensorBuilder &build, Call &call) {
  return power(build, call, Accuracy::Fast);
}

Value builtinRcpRn(TensorBuilder &build, Call &call) {
  Tensor x = floatOperand(build, "rcp_rn", call[0]);
  if (!x)
    return Value();
  Tensor one = build.splat(build.constant(x.dtype(), Value::integer(1)), x.type.shape);
  return Value::tensor(build.divide(one, x, false));
}

Value builtinFastExp10(TensorBuilder &build, Call &call) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  if (!x)
    return Value();
  constexpr double log2Of10 = 3.321928094887362347870319429489390176;
  Tensor scaled = build.multiply(Value::tensor(x), Value::real(log2Of10));
  return Value::tensor(build.emit<math::Exp2Op>(scaled.ir), x.type);
}

static Value roundToInt64(TensorBuilder &build, Call &call, bool toEven) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  if (!x)
    return Value();
  Tensor rounded{toEven ? build.emit<math::RoundEvenOp>(x.ir) : build.emit<math::RoundOp>(x.ir),
                 x.type};
  return Value::tensor(build.cast(rounded, Scalar::Int64));
}
Value builtinLlrint(TensorBuilder &build, Call &call) { return roundToInt64(build, call, true); }
Value builtinLlround(TensorBuilder &build, Call &call) { return roundToInt64(build, call, false); }

/// libdevice's predicates give int32 in C; Triton turns them into booleans.
static Value classify(TensorBuilder &build, Call &call, arith::CmpFPredicate predicate,
                      bool againstInfinity) {
  Tensor x = floatOperand(build, call.info->name, call[0], true);
  if (!x)
    return Value();
  TensorType type = x.type.with(DType(Scalar::Int1));
  if (!againstInfinity)
    return Value::tensor(build.emit<arith::CmpFOp>(predicate, x.ir, x.ir), type);
  Tensor magnitude{build.emit<math::AbsFOp>(x.ir), x.type};
  Tensor infinity = build.constant(x.dtype(), Value::real(std::numeric_limits<double>::infinity()));
  infinity = build.splat(infinity, x.type.shape);
  return Value::tensor(build.emit<arith::CmpFOp>(predicate, magnitude.ir, infinity.ir), type);
}
Value builtinIsnan(TensorBuilder &build, Call &call) {
  return classify(build, call, arith::CmpFPredicate::UNO, false);
}
Value builtinIsinf(TensorBuilder &build, Call &call) {
  return classify(build, call, arith::CmpFPredicate::OEQ, true);
}
Value builtinIsfinite(TensorBuilder &build, Call &call) {
  return classify(build, call, arith::CmpFPredicate::OLT, true);
}

Value builtinFloatAsInt(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  return x ? Value::tensor(build.bitcast(x, Scalar::Int32)) : Value();
}
Value builtinIntAsFloat(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  return x ? Value::tensor(build.bitcast(x, Scalar::FP32)) : Value();
}

/// Counts of bits are int32, whatever the operand.
template <typename Op> static Tensor bitCount(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  if (!x)
    return {};
  if (!x.dtype().isInt()) {
    build.error(DiagKind::SemaInvalidArgument, call.info->name, "integers", x.type.str());
    return {};
  }
  return build.cast({build.emit<Op>(x.ir), x.type}, Scalar::Int32);
}
Value builtinPopc(TensorBuilder &t, Call &call) {
  return Value::tensor(bitCount<math::CtPopOp>(t, call));
}
Value builtinClz(TensorBuilder &t, Call &call) {
  return Value::tensor(bitCount<math::CountLeadingZerosOp>(t, call));
}
/// One more than the index of the lowest set bit; 0 for 0.
Value builtinFfs(TensorBuilder &build, Call &call) {
  Tensor zeros = bitCount<math::CountTrailingZerosOp>(build, call);
  if (!zeros)
    return Value();
  Tensor x = build.toTensor(call[0]);
  Value isZero = build.compare(ast::CompareOp::Equal, Value::tensor(x), Value::integer(0));
  Value count = build.binary(ast::BinaryOp::Add, Value::tensor(zeros), Value::integer(1));
  Tensor none = build.splat(build.integerConstant(Scalar::Int32, 0), zeros.type.shape);
  return build.failed() ? Value()
                        : Value::tensor(build.select(isZero.getTensor(), none, count.getTensor()));
}

Value builtinDeviceMax(TensorBuilder &build, Call &call) {
  return Value::tensor(build.minMax(true, call[0], call[1], false));
}
Value builtinDeviceMin(TensorBuilder &build, Call &call) {
  return Value::tensor(build.minMax(false, call[0], call[1], false));
}

} // namespace kiln::sema
