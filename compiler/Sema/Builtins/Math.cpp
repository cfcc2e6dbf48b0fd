// Elementwise builtins of triton.language.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

namespace math = mlir::math;

Value builtinAbs(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  if (!x)
    return Value();
  if (x.dtype().isFP8()) {
    Value bits = build.binary(ast::BinaryOp::BitAnd, Value::tensor(build.bitcast(x, Scalar::UInt8)),
                              Value::integer(0x7f));
    return build.failed() ? Value() : Value::tensor(build.bitcast(bits.getTensor(), x.dtype()));
  }
  if (x.dtype().isFloat())
    return Value::tensor(build.emit<math::AbsFOp>(x.ir), x.type);
  if (x.dtype().isSigned())
    return Value::tensor(build.emit<math::AbsIOp>(x.ir), x.type);
  if (x.dtype().isUnsigned())
    return Value::tensor(x);
  return build.error(DiagKind::SemaInvalidArgument, "abs", "numbers", x.type.str());
}

Value builtinWhere(TensorBuilder &build, Call &call) {
  Tensor given = build.toTensor(call[0]);
  if (given && !given.dtype().isBool())
    build.warn(DiagKind::SemaWhereCondition, given.dtype().str());
  Tensor condition = build.toCondition(given);
  if (!condition)
    return Value();
  TensorBuilder::OperandRules rules;
  rules.leftPointer = rules.rightPointer = true;
  // Choosing among equal types needs no common one to compute in.
  rules.arithmetic = !call[1].isTensor() || !call[2].isTensor() ||
                     call[1].getTensor().dtype() != call[2].getTensor().dtype();
  auto both = build.operands("where", call[1], call[2], rules);
  // A pointer and an integer have no type in common.
  if (both && both->first.dtype() != both->second.dtype())
    return build.error(DiagKind::SemaOperands, "where", describe(call[1]), describe(call[2]));
  return both ? Value::tensor(build.select(condition, both->first, both->second)) : Value();
}

static Value sanitized(TensorBuilder &build, const Call &call, ast::BinaryOp op) {
  std::optional<bool> isChecked = build.constantBool(call[2], "sanitize_overflow");
  if (!isChecked)
    return Value();
  return *isChecked ? build.checkedBinary(op, call[0], call[1])
                    : build.binary(op, call[0], call[1]);
}
Value builtinAdd(TensorBuilder &build, Call &call) {
  return sanitized(build, call, ast::BinaryOp::Add);
}
Value builtinSub(TensorBuilder &build, Call &call) {
  return sanitized(build, call, ast::BinaryOp::Sub);
}
Value builtinMul(TensorBuilder &build, Call &call) {
  return sanitized(build, call, ast::BinaryOp::Mul);
}

static bool propagatesNan(const Value &mode) {
  return mode.isString() && mode.getString() == "all";
}

Value builtinMaximum(TensorBuilder &build, Call &call) {
  return Value::tensor(build.minMax(true, call[0], call[1], propagatesNan(call[2])));
}
Value builtinMinimum(TensorBuilder &build, Call &call) {
  return Value::tensor(build.minMax(false, call[0], call[1], propagatesNan(call[2])));
}

Value builtinClamp(TensorBuilder &build, Call &call) {
  bool nan = propagatesNan(call[3]);
  Tensor x = build.toTensor(call[0]);
  if (!x)
    return Value();
  if (!x.dtype().isFloat())
    return build.error(DiagKind::SemaFloatOnly, "clamp", "floats", x.type.str());
  Tensor low = build.minMax(true, call[0], call[1], nan);
  return low ? Value::tensor(build.minMax(false, Value::tensor(low), call[2], nan)) : Value();
}

Value builtinFdiv(TensorBuilder &build, Call &call) {
  std::optional<bool> exact = build.constantBool(call[2], "ieee_rounding");
  Tensor x = exact ? floatOperand(build, "fdiv", call[0], true) : Tensor();
  Tensor y = x ? floatOperand(build, "fdiv", call[1], true) : Tensor();
  if (!y)
    return Value();
  TensorBuilder::OperandRules rules;
  rules.division = true;
  auto both = build.operands("fdiv", Value::tensor(x), Value::tensor(y), rules);
  return both ? Value::tensor(build.divide(both->first, both->second, !*exact)) : Value();
}

Value builtinDivRn(TensorBuilder &build, Call &call) {
  auto both = floatOperands(build, call);
  return both ? Value::tensor(build.divide(both->first, both->second, false)) : Value();
}

Value builtinFma(TensorBuilder &build, Call &call) {
  auto xy = build.operands("fma", call[0], call[1], {});
  auto zx = xy ? build.operands("fma", call[2], Value::tensor(xy->first), {}) : std::nullopt;
  auto zy = zx ? build.operands("fma", Value::tensor(zx->first), Value::tensor(xy->second), {})
               : std::nullopt;
  auto xz = zy ? build.operands("fma", Value::tensor(zx->second), Value::tensor(zy->first), {})
               : std::nullopt;
  if (!xz)
    return Value();
  Tensor x = xz->first, y = zy->second, z = xz->second;
  if (x.dtype().isFloat())
    return Value::tensor(build.emit<math::FmaOp>(x.ir, y.ir, z.ir), x.type);
  if (build.isPortable())
    return build.notPortable("tl.fma of " + x.type.str(), "write x * y + z");
  Tensor product = build.multiply(Value::tensor(x), Value::tensor(y));
  return Value::tensor(build.add(Value::tensor(product), Value::tensor(z)));
}

Value builtinUmulhi(TensorBuilder &build, Call &call) {
  auto both = build.operands(
      "umulhi",
      call[0].isNumber() && call[1].isNumber() ? Value::tensor(build.toTensor(call[0])) : call[0],
      call[1], {});
  if (!both)
    return Value();
  DType type = both->first.dtype();
  if (!type.isInt() || type.getBits() < 32)
    return build.error(DiagKind::SemaInvalidArgument, "umulhi", "integers of 32 or 64 bits",
                       both->first.type.str());
  auto op = mlir::arith::MulUIExtendedOp::create(build.getBuilder(), build.loc(), both->first.ir,
                                                 both->second.ir);
  return Value::tensor(op.getHigh(), both->first.type);
}

/// (x + (y - 1)) // y, at compile time when both are known.
Value builtinCdiv(TensorBuilder &build, Call &call) {
  Value less = build.binary(ast::BinaryOp::Sub, call[1], Value::integer(1));
  Value sum = build.failed() ? Value() : build.binary(ast::BinaryOp::Add, call[0], less);
  return build.failed() ? Value() : build.binary(ast::BinaryOp::FloorDiv, sum, call[1]);
}

Value builtinSigmoid(TensorBuilder &build, Call &call) {
  Tensor x = floatOperand(build, "sigmoid", call[0]);
  if (!x)
    return Value();
  Tensor exponential{build.emit<math::ExpOp>(build.negate(x).ir), x.type};
  Value sum = build.binary(ast::BinaryOp::Add, Value::integer(1), Value::tensor(exponential));
  return build.binary(ast::BinaryOp::Div, Value::integer(1), sum);
}

Value builtinSoftmax(TensorBuilder &build, Call &call) {
  Value axis = call[1].isNone() ? Value::integer(0) : call[1];
  // Without keep_dims only axis 0 broadcasts back, as in Triton.
  auto reduced = [&](llvm::StringRef name, const Value &x) {
    return build.callBuiltin(Library::Language, name, {x, axis}, {{"keep_dims", call[2]}});
  };
  Value peak = reduced("max", call[0]);
  Value shifted = build.failed() ? Value() : build.binary(ast::BinaryOp::Sub, call[0], peak);
  Value numerator =
      build.failed() ? Value() : build.callBuiltin(Library::Language, "exp", {shifted});
  Value sum = build.failed() ? Value() : reduced("sum", numerator);
  if (build.failed())
    return Value();
  return build.callBuiltin(Library::Language, "fdiv", {numerator, sum, call[3]});
}

} // namespace kiln::sema
