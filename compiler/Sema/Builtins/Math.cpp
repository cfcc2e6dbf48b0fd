// Elementwise builtins of triton.language.

#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

namespace math = mlir::math;

Tensor floatOperand(Evaluator &evaluator, llvm::StringRef function, const Value &value,
                    bool acceptHalf) {
  if (value.isIntegral())
    return evaluator.constant(Scalar::FP32, value);
  Tensor tensor = evaluator.toTensor(value);
  if (!tensor)
    return {};
  DType type = tensor.dtype();
  bool half = type.is(Scalar::FP16) || type.is(Scalar::BF16);
  if (type.is(Scalar::FP32) || type.is(Scalar::FP64) || (acceptHalf && half))
    return tensor;
  evaluator.error(DiagKind::SemaFloatOnly, function, acceptHalf ? "a float" : "fp32 or fp64",
                  tensor.type.str());
  return {};
}

std::optional<std::pair<Tensor, Tensor>> floatOperands(Evaluator &evaluator, const Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  Tensor y = x ? floatOperand(evaluator, call.info->name, call[1]) : Tensor();
  if (!y)
    return std::nullopt;
  // A number takes the other's type.
  Value left = call[0].isNumber() ? call[0] : Value::tensor(x);
  Value right = call[1].isNumber() ? call[1] : Value::tensor(y);
  if (left.isNumber() && right.isNumber())
    left = Value::tensor(x);
  return evaluator.operands(call.info->name, left, right, {});
}

Value builtinExp(Evaluator &e, Call &call) { return floatFunction<math::ExpOp>(e, call); }
Value builtinExp2(Evaluator &e, Call &call) { return floatFunction<math::Exp2Op>(e, call); }
Value builtinLog(Evaluator &e, Call &call) { return floatFunction<math::LogOp>(e, call); }
Value builtinLog2(Evaluator &e, Call &call) { return floatFunction<math::Log2Op>(e, call); }
Value builtinSin(Evaluator &e, Call &call) { return floatFunction<math::SinOp>(e, call); }
Value builtinCos(Evaluator &e, Call &call) { return floatFunction<math::CosOp>(e, call); }
Value builtinSqrt(Evaluator &e, Call &call) {
  return floatFunction<math::SqrtOp>(e, call, Accuracy::Fast);
}
Value builtinSqrtRn(Evaluator &e, Call &call) { return floatFunction<math::SqrtOp>(e, call); }
Value builtinRsqrt(Evaluator &e, Call &call) {
  return floatFunction<math::RsqrtOp>(e, call, Accuracy::Fast);
}
Value builtinErf(Evaluator &e, Call &call) { return floatFunction<math::ErfOp>(e, call); }
Value builtinFloor(Evaluator &e, Call &call) { return floatFunction<math::FloorOp>(e, call); }
Value builtinCeil(Evaluator &e, Call &call) { return floatFunction<math::CeilOp>(e, call); }

Value builtinAbs(Evaluator &evaluator, Call &call) {
  Tensor x = evaluator.toTensor(call[0]);
  if (!x)
    return Value();
  if (x.dtype().isFP8()) {
    Value bits =
        evaluator.binary(ast::BinaryOp::BitAnd, Value::tensor(evaluator.bitcast(x, Scalar::UInt8)),
                         Value::integer(0x7f));
    return evaluator.failed() ? Value()
                              : Value::tensor(evaluator.bitcast(bits.getTensor(), x.dtype()));
  }
  if (x.dtype().isFloat())
    return Value::tensor(evaluator.emit<math::AbsFOp>(x.ir), x.type);
  if (x.dtype().isSigned())
    return Value::tensor(evaluator.emit<math::AbsIOp>(x.ir), x.type);
  if (x.dtype().isUnsigned())
    return Value::tensor(x);
  return evaluator.error(DiagKind::SemaInvalidArgument, "abs", "numbers", x.type.str());
}

Value builtinWhere(Evaluator &evaluator, Call &call) {
  Tensor condition = evaluator.toCondition(evaluator.toTensor(call[0]));
  if (!condition)
    return Value();
  Evaluator::OperandRules rules;
  rules.leftPointer = rules.rightPointer = true;
  // Choosing among equal types needs no common one to compute in.
  rules.arithmetic = !call[1].isTensor() || !call[2].isTensor() ||
                     call[1].getTensor().dtype() != call[2].getTensor().dtype();
  auto both = evaluator.operands("where", call[1], call[2], rules);
  // A pointer and an integer have no type in common.
  if (both && both->first.dtype() != both->second.dtype())
    return evaluator.error(DiagKind::SemaOperands, "where", describe(call[1]), describe(call[2]));
  return both ? Value::tensor(evaluator.select(condition, both->first, both->second)) : Value();
}

static Value sanitized(Evaluator &evaluator, const Call &call, ast::BinaryOp op) {
  std::optional<bool> isChecked = evaluator.constantBool(call[2], "sanitize_overflow");
  if (!isChecked)
    return Value();
  return *isChecked ? evaluator.checkedBinary(op, call[0], call[1])
                    : evaluator.binary(op, call[0], call[1]);
}
Value builtinAdd(Evaluator &e, Call &call) { return sanitized(e, call, ast::BinaryOp::Add); }
Value builtinSub(Evaluator &e, Call &call) { return sanitized(e, call, ast::BinaryOp::Sub); }
Value builtinMul(Evaluator &e, Call &call) { return sanitized(e, call, ast::BinaryOp::Mul); }

static bool propagatesNan(const Value &mode) {
  return mode.isString() && mode.getString() == "all";
}

Value builtinMaximum(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.minMax(true, call[0], call[1], propagatesNan(call[2])));
}
Value builtinMinimum(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.minMax(false, call[0], call[1], propagatesNan(call[2])));
}

Value builtinClamp(Evaluator &evaluator, Call &call) {
  bool nan = propagatesNan(call[3]);
  Tensor x = evaluator.toTensor(call[0]);
  if (!x)
    return Value();
  if (!x.dtype().isFloat())
    return evaluator.error(DiagKind::SemaFloatOnly, "clamp", "floats", x.type.str());
  Tensor low = evaluator.minMax(true, call[0], call[1], nan);
  return low ? Value::tensor(evaluator.minMax(false, Value::tensor(low), call[2], nan)) : Value();
}

Value builtinFdiv(Evaluator &evaluator, Call &call) {
  std::optional<bool> exact = evaluator.constantBool(call[2], "ieee_rounding");
  Tensor x = exact ? floatOperand(evaluator, "fdiv", call[0], true) : Tensor();
  Tensor y = x ? floatOperand(evaluator, "fdiv", call[1], true) : Tensor();
  if (!y)
    return Value();
  Evaluator::OperandRules rules;
  rules.division = true;
  auto both = evaluator.operands("fdiv", Value::tensor(x), Value::tensor(y), rules);
  return both ? Value::tensor(evaluator.divide(both->first, both->second, !*exact)) : Value();
}

Value builtinDivRn(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  return both ? Value::tensor(evaluator.divide(both->first, both->second, false)) : Value();
}

Value builtinFma(Evaluator &evaluator, Call &call) {
  auto xy = evaluator.operands("fma", call[0], call[1], {});
  auto zx = xy ? evaluator.operands("fma", call[2], Value::tensor(xy->first), {}) : std::nullopt;
  auto zy = zx ? evaluator.operands("fma", Value::tensor(zx->first), Value::tensor(xy->second), {})
               : std::nullopt;
  auto xz = zy ? evaluator.operands("fma", Value::tensor(zx->second), Value::tensor(zy->first), {})
               : std::nullopt;
  if (!xz)
    return Value();
  Tensor x = xz->first, y = zy->second, z = xz->second;
  if (x.dtype().isFloat())
    return Value::tensor(evaluator.emit<math::FmaOp>(x.ir, y.ir, z.ir), x.type);
  Tensor product = evaluator.multiply(Value::tensor(x), Value::tensor(y));
  return Value::tensor(evaluator.add(Value::tensor(product), Value::tensor(z)));
}

Value builtinUmulhi(Evaluator &evaluator, Call &call) {
  auto both = evaluator.operands("umulhi",
                                 call[0].isNumber() && call[1].isNumber()
                                     ? Value::tensor(evaluator.toTensor(call[0]))
                                     : call[0],
                                 call[1], {});
  if (!both)
    return Value();
  DType type = both->first.dtype();
  if (!type.isInt() || type.getBits() < 32)
    return evaluator.error(DiagKind::SemaInvalidArgument, "umulhi", "integers of 32 or 64 bits",
                           both->first.type.str());
  auto op = mlir::arith::MulUIExtendedOp::create(evaluator.builder, evaluator.loc(), both->first.ir,
                                                 both->second.ir);
  return Value::tensor(op.getHigh(), both->first.type);
}

/// (x + (y - 1)) // y, at compile time when both are known.
Value builtinCdiv(Evaluator &evaluator, Call &call) {
  Value less = evaluator.binary(ast::BinaryOp::Sub, call[1], Value::integer(1));
  Value sum = evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::Add, call[0], less);
  return evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::FloorDiv, sum, call[1]);
}

Value builtinSigmoid(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, "sigmoid", call[0]);
  if (!x)
    return Value();
  Tensor exponential{evaluator.emit<math::ExpOp>(evaluator.negate(x).ir), x.type};
  Value sum = evaluator.binary(ast::BinaryOp::Add, Value::integer(1), Value::tensor(exponential));
  return evaluator.binary(ast::BinaryOp::Div, Value::integer(1), sum);
}

Value builtinSoftmax(Evaluator &evaluator, Call &call) {
  auto function = [&](llvm::StringRef name) {
    return Value::builtin(*findBuiltin(Library::Language, name));
  };
  Value axis = call[1].isNone() ? Value::integer(0) : call[1];
  // Without keep_dims only axis 0 broadcasts back, as in Triton.
  auto reduced = [&](llvm::StringRef name, const Value &x) {
    return evaluator.call(function(name), {x, axis}, {{"keep_dims", call[2]}});
  };
  Value peak = reduced("max", call[0]);
  Value shifted =
      evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::Sub, call[0], peak);
  Value numerator = evaluator.failed() ? Value() : evaluator.call(function("exp"), {shifted}, {});
  Value sum = evaluator.failed() ? Value() : reduced("sum", numerator);
  if (evaluator.failed())
    return Value();
  return evaluator.call(function("fdiv"), {numerator, sum, call[3]}, {});
}

} // namespace kiln::sema
