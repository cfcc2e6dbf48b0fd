// libdevice: functions that `math` has, or that a few operations make.

#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

namespace math = mlir::math;
namespace arith = mlir::arith;

#define KILN_FLOAT(ID, OP)                                                                         \
  Value builtin##ID(Evaluator &evaluator, Call &call) {                                            \
    return floatFunction<math::OP>(evaluator, call);                                               \
  }
KILN_FLOAT(DeviceAbs, AbsFOp)
KILN_FLOAT(Tanh, TanhOp)
KILN_FLOAT(Expm1, ExpM1Op)
KILN_FLOAT(Log1p, Log1pOp)
KILN_FLOAT(Log10, Log10Op)
KILN_FLOAT(FastExp, ExpOp)
KILN_FLOAT(RsqrtRn, RsqrtOp)
KILN_FLOAT(Tan, TanOp)
KILN_FLOAT(Asin, AsinOp)
KILN_FLOAT(Acos, AcosOp)
KILN_FLOAT(Atan, AtanOp)
KILN_FLOAT(Sinh, SinhOp)
KILN_FLOAT(Cosh, CoshOp)
KILN_FLOAT(Asinh, AsinhOp)
KILN_FLOAT(Acosh, AcoshOp)
KILN_FLOAT(Atanh, AtanhOp)
KILN_FLOAT(Erfc, ErfcOp)
KILN_FLOAT(Cbrt, CbrtOp)
KILN_FLOAT(Trunc, TruncOp)
KILN_FLOAT(Round, RoundOp)
KILN_FLOAT(Rint, RoundEvenOp)
KILN_FLOAT(Nearbyint, RoundEvenOp)
#undef KILN_FLOAT

#define KILN_FAST(ID, OP)                                                                          \
  Value builtinFast##ID(Evaluator &evaluator, Call &call) {                                        \
    return floatFunction<math::OP>(evaluator, call, Accuracy::Fast);                               \
  }
KILN_FAST(Tanh, TanhOp)
KILN_FAST(Log, LogOp)
KILN_FAST(Log2, Log2Op)
KILN_FAST(Log10, Log10Op)
KILN_FAST(Sin, SinOp)
KILN_FAST(Cos, CosOp)
KILN_FAST(Tan, TanOp)
#undef KILN_FAST

Value builtinAtan2(Evaluator &e, Call &call) { return floatFunction2<math::Atan2Op>(e, call); }
Value builtinCopysign(Evaluator &e, Call &call) {
  return floatFunction2<math::CopySignOp>(e, call);
}
Value builtinFmod(Evaluator &e, Call &call) { return floatFunction2<arith::RemFOp>(e, call); }

/// An integer exponent takes libdevice's other `pow`.
static Value power(Evaluator &evaluator, Call &call, Accuracy accuracy) {
  if (call[1].isTensor() && call[1].getTensor().dtype().isInt()) {
    Tensor base = floatOperand(evaluator, "pow", call[0]);
    Tensor exponent = base ? evaluator.cast(call[1].getTensor(), Scalar::Int32) : Tensor();
    if (!evaluator.broadcastTogether(base, exponent))
      return Value();
    return Value::tensor(evaluator.emit<math::FPowIOp>(base.ir, exponent.ir), base.type);
  }
  return floatFunction2<math::PowFOp>(evaluator, call, accuracy);
}
Value builtinPow(Evaluator &evaluator, Call &call) {
  return power(evaluator, call, Accuracy::Full);
}
Value builtinFastPow(Evaluator &evaluator, Call &call) {
  return power(evaluator, call, Accuracy::Fast);
}

Value builtinFastDivide(Evaluator &evaluator, Call &call) {
  return floatFunction2<arith::DivFOp>(evaluator, call, Accuracy::Fast);
}

Value builtinRcpRn(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, "rcp_rn", call[0]);
  if (!x)
    return Value();
  Tensor one = evaluator.splat(evaluator.constant(x.dtype(), Value::integer(1)), x.type.shape);
  return Value::tensor(evaluator.divide(one, x, false));
}

Value builtinFastExp10(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  if (!x)
    return Value();
  constexpr double log2Of10 = 3.321928094887362347870319429489390176;
  Tensor scaled = evaluator.multiply(Value::tensor(x), Value::real(log2Of10));
  return Value::tensor(evaluator.emit<math::Exp2Op>(scaled.ir), x.type);
}

static Value roundToInt64(Evaluator &evaluator, Call &call, bool toEven) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  if (!x)
    return Value();
  Tensor rounded{toEven ? evaluator.emit<math::RoundEvenOp>(x.ir)
                        : evaluator.emit<math::RoundOp>(x.ir),
                 x.type};
  return Value::tensor(evaluator.cast(rounded, Scalar::Int64));
}
Value builtinLlrint(Evaluator &evaluator, Call &call) {
  return roundToInt64(evaluator, call, true);
}
Value builtinLlround(Evaluator &evaluator, Call &call) {
  return roundToInt64(evaluator, call, false);
}

/// libdevice's predicates give int32 in C; Triton turns them into booleans.
static Value classify(Evaluator &evaluator, Call &call, arith::CmpFPredicate predicate,
                      bool againstInfinity) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0], true);
  if (!x)
    return Value();
  TensorType type = x.type.with(DType(Scalar::Int1));
  if (!againstInfinity)
    return Value::tensor(evaluator.emit<arith::CmpFOp>(predicate, x.ir, x.ir), type);
  Tensor magnitude{evaluator.emit<math::AbsFOp>(x.ir), x.type};
  Tensor infinity =
      evaluator.constant(x.dtype(), Value::real(std::numeric_limits<double>::infinity()));
  infinity = evaluator.splat(infinity, x.type.shape);
  return Value::tensor(evaluator.emit<arith::CmpFOp>(predicate, magnitude.ir, infinity.ir), type);
}
Value builtinIsnan(Evaluator &evaluator, Call &call) {
  return classify(evaluator, call, arith::CmpFPredicate::UNO, false);
}
Value builtinIsinf(Evaluator &evaluator, Call &call) {
  return classify(evaluator, call, arith::CmpFPredicate::OEQ, true);
}
Value builtinIsfinite(Evaluator &evaluator, Call &call) {
  return classify(evaluator, call, arith::CmpFPredicate::OLT, true);
}
Value builtinFinite(Evaluator &evaluator, Call &call) { return builtinIsfinite(evaluator, call); }

Value builtinFloatAsInt(Evaluator &evaluator, Call &call) {
  Tensor x = evaluator.toTensor(call[0]);
  return x ? Value::tensor(evaluator.bitcast(x, Scalar::Int32)) : Value();
}
Value builtinIntAsFloat(Evaluator &evaluator, Call &call) {
  Tensor x = evaluator.toTensor(call[0]);
  return x ? Value::tensor(evaluator.bitcast(x, Scalar::FP32)) : Value();
}

/// Counts of bits are int32, whatever the operand.
template <typename Op> static Tensor bitCount(Evaluator &evaluator, Call &call) {
  Tensor x = evaluator.toTensor(call[0]);
  if (!x)
    return {};
  if (!x.dtype().isInt()) {
    evaluator.error(DiagKind::SemaInvalidArgument, call.info->name, "integers", x.type.str());
    return {};
  }
  return evaluator.cast({evaluator.emit<Op>(x.ir), x.type}, Scalar::Int32);
}
Value builtinPopc(Evaluator &e, Call &call) {
  return Value::tensor(bitCount<math::CtPopOp>(e, call));
}
Value builtinClz(Evaluator &e, Call &call) {
  return Value::tensor(bitCount<math::CountLeadingZerosOp>(e, call));
}
/// One more than the index of the lowest set bit; 0 for 0.
Value builtinFfs(Evaluator &evaluator, Call &call) {
  Tensor zeros = bitCount<math::CountTrailingZerosOp>(evaluator, call);
  if (!zeros)
    return Value();
  Tensor x = evaluator.toTensor(call[0]);
  Value isZero = evaluator.compare(ast::CompareOp::Equal, Value::tensor(x), Value::integer(0));
  Value count = evaluator.binary(ast::BinaryOp::Add, Value::tensor(zeros), Value::integer(1));
  Tensor none = evaluator.splat(evaluator.integerConstant(Scalar::Int32, 0), zeros.type.shape);
  return evaluator.failed()
             ? Value()
             : Value::tensor(evaluator.select(isZero.getTensor(), none, count.getTensor()));
}

Value builtinDeviceMax(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.minMax(true, call[0], call[1], false));
}
Value builtinDeviceMin(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.minMax(false, call[0], call[1], false));
}

} // namespace kiln::sema
