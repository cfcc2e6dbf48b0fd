// Python's module math.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

#include <cmath>
#include <numeric>

namespace kiln::sema {

template <typename Function>
static Value realFunction(PythonOperations &python, Call &call, Function function) {
  if (!call[0].isNumber()) {
    if (call[0].isTensor())
      return python.error(DiagKind::SemaNotConstant,
                          "the argument of math." + call.info->name.str(), describe(call[0]));
    return python.error(DiagKind::SemaInvalidArgument, call.info->name, "a number",
                        describe(call[0]));
  }
  double result = function(call[0].getReal());
  if (std::isnan(result) && !std::isnan(call[0].getReal()))
    return python.error(DiagKind::SemaPython, "math domain error");
  return Value::real(result);
}

#define KILN_MATH(ID, FUNCTION)                                                                    \
  Value builtin##ID(PythonOperations &python, Call &call) {                                        \
    return realFunction(python, call, [](double x) { return FUNCTION(x); });                       \
  }
KILN_MATH(MathSqrt, std::sqrt)
KILN_MATH(MathExp, std::exp)
KILN_MATH(MathLog10, std::log10)
KILN_MATH(MathSin, std::sin)
KILN_MATH(MathCos, std::cos)
KILN_MATH(MathTanh, std::tanh)
KILN_MATH(MathFabs, std::fabs)
#undef KILN_MATH

static Value logarithm(PythonOperations &python, Call &call, double (*function)(double)) {
  if (call[0].isNumber() && call[0].getReal() <= 0)
    return python.error(DiagKind::SemaPython, "math domain error");
  return realFunction(python, call, function);
}
Value builtinMathLog2(PythonOperations &python, Call &call) {
  return logarithm(python, call, std::log2);
}
Value builtinMathLog(PythonOperations &python, Call &call) {
  Value result = logarithm(python, call, std::log);
  if (python.failed() || call[1].isNone())
    return result;
  std::optional<double> base = python.constantReal(call[1], "the base of math.log");
  if (!base)
    return Value();
  if (*base <= 0 || *base == 1)
    return python.error(DiagKind::SemaPython, "math domain error");
  return Value::real(result.getReal() / std::log(*base));
}
Value builtinMathPow(PythonOperations &python, Call &call) {
  std::optional<double> exponent = python.constantReal(call[1], "the exponent of math.pow");
  return exponent ? realFunction(python, call, [&](double x) { return std::pow(x, *exponent); })
                  : Value();
}

static Value roundTo(PythonOperations &python, Call &call, double (*function)(double)) {
  if (call[0].isIntegral())
    return Value::integer(call[0].getInt());
  Value result = realFunction(python, call, function);
  if (python.failed())
    return Value();
  std::optional<Int> whole = python.wholeNumber(result.getReal());
  return whole ? Value::integer(*whole) : Value();
}
Value builtinMathCeil(PythonOperations &python, Call &call) {
  return roundTo(python, call, std::ceil);
}
Value builtinMathFloor(PythonOperations &python, Call &call) {
  return roundTo(python, call, std::floor);
}

Value builtinMathGcd(PythonOperations &python, Call &call) {
  std::optional<Int> a = python.constantInt(call[0], "gcd");
  std::optional<Int> b = a ? python.constantInt(call[1], "gcd") : std::nullopt;
  if (!b)
    return Value();
  Int x = *a < 0 ? -*a : *a, y = *b < 0 ? -*b : *b;
  while (y)
    x = std::exchange(y, x % y);
  return Value::integer(x);
}
Value builtinMathProd(TensorBuilder &build, Call &call) {
  std::optional<std::vector<Value>> items = build.iterate(call[0]);
  Value product = Value::integer(1);
  for (const Value &item : items.value_or(std::vector<Value>())) {
    product = build.binary(ast::BinaryOp::Mul, product, item);
    if (build.failed())
      return Value();
  }
  return items ? product : Value();
}
Value builtinMathIsnan(PythonOperations &, Call &call) {
  return Value::boolean(call[0].isNumber() && std::isnan(call[0].getReal()));
}
Value builtinMathIsinf(PythonOperations &, Call &call) {
  return Value::boolean(call[0].isNumber() && std::isinf(call[0].getReal()));
}

} // namespace kiln::sema
