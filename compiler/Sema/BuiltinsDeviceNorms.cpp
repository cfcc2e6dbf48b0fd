// libdevice's functions that a few others make: lengths of vectors, and compositions.

#include "compiler/Sema/FloatFunctions.h"

#include <cmath>

namespace kiln::sema {
namespace {

namespace math = mlir::math;
using ast::BinaryOp;

Value number(Evaluator &evaluator, Tensor like, double value) {
  return Value::tensor(
      evaluator.splat(evaluator.constant(like.dtype(), Value::real(value)), like.type.shape));
}

Value function(Evaluator &evaluator, llvm::StringRef name, const Value &x) {
  if (evaluator.failed())
    return Value();
  return evaluator.call(Value::builtin(*findBuiltin(Library::Device, name)), {x}, {});
}

Value reciprocal(Evaluator &evaluator, const Value &x) {
  if (evaluator.failed())
    return Value();
  Tensor one = number(evaluator, x.getTensor(), 1).getTensor();
  return Value::tensor(evaluator.divide(one, x.getTensor(), false));
}

/// The square root of the sum of squares: of the quotients by the largest, so that no square
/// overflows or vanishes. An infinite component makes an infinite length, whatever the others.
Value length(Evaluator &evaluator, Call &call) {
  Tensor total;
  std::vector<Value> magnitudes;
  for (const Value &value : call.values) {
    Tensor x = floatOperand(evaluator, call.info->name, value);
    if (!x)
      return Value();
    magnitudes.push_back(Value::tensor(evaluator.emit<math::AbsFOp>(x.ir), x.type));
  }
  Value largest = magnitudes.front();
  for (const Value &magnitude : llvm::ArrayRef(magnitudes).drop_front()) {
    largest = Value::tensor(evaluator.minMax(true, largest, magnitude, false));
    if (evaluator.failed())
      return Value();
  }
  Tensor scale = largest.getTensor();
  auto compare = [&](ast::CompareOp op, double value) {
    return evaluator.compare(op, largest, number(evaluator, scale, value)).getTensor();
  };
  Tensor isZero = compare(ast::CompareOp::Equal, 0);
  Tensor isInfinite = compare(ast::CompareOp::Equal, INFINITY);
  Tensor divisor = evaluator.select(isZero, number(evaluator, scale, 1).getTensor(), scale);
  Value sum = number(evaluator, scale, 0);
  for (const Value &magnitude : magnitudes) {
    auto both = evaluator.operands(call.info->name, magnitude, Value::tensor(divisor), {});
    if (!both)
      return Value();
    Value quotient = Value::tensor(evaluator.divide(both->first, both->second, false));
    sum = evaluator.binary(BinaryOp::Add, sum, evaluator.binary(BinaryOp::Mul, quotient, quotient));
    if (evaluator.failed())
      return Value();
  }
  Tensor root{evaluator.emit<math::SqrtOp>(sum.getTensor().ir), sum.getTensor().type};
  Value result = evaluator.binary(BinaryOp::Mul, Value::tensor(scale), Value::tensor(root));
  return evaluator.failed()
             ? Value()
             : Value::tensor(evaluator.select(isInfinite, scale, result.getTensor()));
}

} // namespace

Value builtinHypot(Evaluator &evaluator, Call &call) { return length(evaluator, call); }
Value builtinNorm3d(Evaluator &evaluator, Call &call) { return length(evaluator, call); }
Value builtinNorm4d(Evaluator &evaluator, Call &call) { return length(evaluator, call); }
Value builtinRhypot(Evaluator &evaluator, Call &call) {
  return reciprocal(evaluator, length(evaluator, call));
}
Value builtinRnorm3d(Evaluator &evaluator, Call &call) {
  return reciprocal(evaluator, length(evaluator, call));
}
Value builtinRnorm4d(Evaluator &evaluator, Call &call) {
  return reciprocal(evaluator, length(evaluator, call));
}

Value builtinFdim(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  if (!both)
    return Value();
  Value x = Value::tensor(both->first), y = Value::tensor(both->second);
  // NaN is not below anything, so that the difference is NaN.
  Value isBelow = evaluator.compare(ast::CompareOp::LessEqual, x, y);
  Value difference = evaluator.binary(BinaryOp::Sub, x, y);
  if (evaluator.failed())
    return Value();
  return Value::tensor(evaluator.select(
      isBelow.getTensor(), number(evaluator, both->first, 0).getTensor(), difference.getTensor()));
}

Value builtinSaturatef(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  if (!x)
    return Value();
  Tensor low = evaluator.minMax(true, Value::tensor(x), number(evaluator, x, 0), false);
  return Value::tensor(evaluator.minMax(false, Value::tensor(low), number(evaluator, x, 1), false));
}

Value builtinRcbrt(Evaluator &evaluator, Call &call) {
  return reciprocal(evaluator, function(evaluator, "cbrt", call[0]));
}
Value builtinFastExp10(Evaluator &evaluator, Call &call) { return builtinExp10(evaluator, call); }
Value builtinFastLog10(Evaluator &evaluator, Call &call) { return builtinLog10(evaluator, call); }
Value builtinFastTan(Evaluator &evaluator, Call &call) { return builtinTan(evaluator, call); }
Value builtinFmaRn(Evaluator &evaluator, Call &call) { return builtinFma(evaluator, call); }

Value builtinNormcdf(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  if (!x)
    return Value();
  Value scaled =
      evaluator.binary(BinaryOp::Mul, Value::tensor(x), number(evaluator, x, -std::sqrt(0.5)));
  Value tail = function(evaluator, "erfc", scaled);
  return evaluator.failed() ? Value()
                            : evaluator.binary(BinaryOp::Mul, tail, number(evaluator, x, 0.5));
}

} // namespace kiln::sema
