// What host code beside kernels computes with: triton's own helpers, the target, math, and the few
// functions of Python's library that autotune lists are made of.

#include "compiler/Sema/Host/Interpreter.h"

#include <cmath>
#include <numeric>

namespace kiln::sema {
namespace {

Value makeInstance(llvm::StringRef typeName, std::vector<std::pair<std::string, Value>> fields) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = typeName.str();
  object->fields = std::move(fields);
  return {ValueKind::Instance, object};
}

Value decorator() { return Value::builtin(*findBuiltin(Library::Triton, "jit")); }

template <typename Function>
Value realFunction(Evaluator &evaluator, Call &call, Function function) {
  if (!call[0].isNumber()) {
    if (call[0].isTensor())
      return evaluator.error(DiagKind::SemaNotConstant,
                             "the argument of math." + call.info->name.str(), describe(call[0]));
    return evaluator.error(DiagKind::SemaInvalidArgument, call.info->name, "a number",
                           describe(call[0]));
  }
  double result = function(call[0].getReal());
  if (std::isnan(result) && !std::isnan(call[0].getReal()))
    return evaluator.error(DiagKind::SemaPython, "math domain error");
  return Value::real(result);
}

} // namespace

//===----------------------------------------------------------------------===//
// triton
//===----------------------------------------------------------------------===//

Value builtinJit(Evaluator &, Call &call) {
  if (!call[0].is(ValueKind::Function))
    return call[0].isNone() || call[0].is(ValueKind::Builtin) ? decorator() : call[0];
  auto function = std::make_shared<FunctionObject>(call[0].as<FunctionObject>());
  function->mode = FunctionMode::Kernel;
  return {ValueKind::Function, function};
}
Value builtinConstexprFunction(Evaluator &, Call &call) {
  if (!call[0].is(ValueKind::Function))
    return call[0];
  auto function = std::make_shared<FunctionObject>(call[0].as<FunctionObject>());
  function->mode = FunctionMode::Python;
  return {ValueKind::Function, function};
}
/// Applied to a function they leave it as it is; evaluateAutotune() reads what they say.
Value builtinAutotune(Evaluator &, Call &) { return decorator(); }
Value builtinHeuristics(Evaluator &, Call &) { return decorator(); }

Value builtinConfig(Evaluator &evaluator, Call &call) {
  if (!call[0].is(ValueKind::Dict))
    return evaluator.error(DiagKind::SemaInvalidArgument, "triton.Config", "a dict",
                           describe(call[0]));
  return makeInstance("triton.Config", {{"kwargs", call[0]},
                                        {"num_warps", call[1]},
                                        {"num_stages", call[2]},
                                        {"num_ctas", call[3]},
                                        {"maxnreg", call[4]},
                                        {"pre_hook", call[5]}});
}

Value builtinHostCdiv(Evaluator &evaluator, Call &call) {
  Value less = evaluator.binary(ast::BinaryOp::Sub, call[1], Value::integer(1));
  Value sum = evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::Add, call[0], less);
  return evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::FloorDiv, sum, call[1]);
}

Value builtinNextPowerOf2(Evaluator &evaluator, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<Int> number = evaluator.constantInt(call[0], "triton.next_power_of_2");
  if (!number)
    return Value();
  Int power = 1;
  while (power < *number)
    power *= 2;
  return Value::integer(*number <= 0 ? 0 : power);
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

Value builtinCurrentTarget(Evaluator &evaluator, Call &) {
  const TargetAnswers &target = evaluator.getTarget();
  Value arch =
      target.backend == "cuda" ? Value::integer(target.arch) : Value::string(target.archName);
  return makeInstance("GPUTarget", {{"backend", Value::string(target.backend)},
                                    {"arch", arch},
                                    {"warp_size", Value::integer(target.warpSize)}});
}
Value builtinGetCurrentTarget(Evaluator &evaluator, Call &call) {
  return builtinCurrentTarget(evaluator, call);
}
Value builtinIsCuda(Evaluator &evaluator, Call &) {
  return Value::boolean(evaluator.getTarget().backend == "cuda");
}
Value builtinIsHip(Evaluator &evaluator, Call &) {
  return Value::boolean(evaluator.getTarget().backend == "hip");
}
Value builtinIsHipCdna3(Evaluator &evaluator, Call &) {
  return Value::boolean(evaluator.getTarget().archName == "gfx942");
}
Value builtinIsHipCdna4(Evaluator &evaluator, Call &) {
  return Value::boolean(evaluator.getTarget().archName == "gfx950");
}
Value builtinCudaCapabilityGeq(Evaluator &evaluator, Call &call) {
  std::optional<Int> major = evaluator.constantInt(call[0], "major");
  std::optional<Int> minor = major ? evaluator.constantInt(call[1], "minor") : std::nullopt;
  if (!minor)
    return Value();
  const TargetAnswers &target = evaluator.getTarget();
  return Value::boolean(target.backend == "cuda" && Int(target.arch) >= *major * 10 + *minor);
}

/// True for the CPU target too: modules of GPU kernels refuse to load where it is false.
Value builtinCudaIsAvailable(Evaluator &, Call &) { return Value::boolean(true); }
Value builtinHasTriton(Evaluator &, Call &) { return Value::boolean(true); }
Value builtinHasTritonPackage(Evaluator &, Call &) { return Value::boolean(true); }
/// Devices that Kiln has no target for.
Value builtinXpuIsAvailable(Evaluator &, Call &) { return Value::boolean(false); }
Value builtinMpsIsAvailable(Evaluator &, Call &) { return Value::boolean(false); }
Value builtinNpuIsAvailable(Evaluator &, Call &) { return Value::boolean(false); }
Value builtinMusaIsAvailable(Evaluator &, Call &) { return Value::boolean(false); }
Value builtinDeviceCapability(Evaluator &evaluator, Call &) {
  const TargetAnswers &target = evaluator.getTarget();
  bool isCuda = target.backend == "cuda";
  return Value::tuple({Value::integer(isCuda ? target.arch / 10 : 9),
                       Value::integer(isCuda ? target.arch % 10 : 4)});
}

/// Limits of a torch dtype, named `torch.float16` or given as Triton's.
static Value floatLimits(DType type) {
  double mantissa = std::ldexp(1.0, -int(type.getMantissaBits()));
  int exponent = type.is(Scalar::FP16) ? 15 : type.is(Scalar::FP64) ? 1023 : 127;
  double largest = std::ldexp(2 - mantissa, exponent);
  if (type.is(Scalar::FP8E4NV))
    largest = 448;
  if (type.is(Scalar::FP8E4B8))
    largest = 240;
  if (type.is(Scalar::FP8E5) || type.is(Scalar::FP8E5B16))
    largest = 57344;
  return makeInstance("torch.finfo",
                      {{"max", Value::real(largest)},
                       {"min", Value::real(-largest)},
                       {"eps", Value::real(mantissa)},
                       {"tiny", Value::real(std::ldexp(1.0, 1 - exponent))},
                       {"smallest_normal", Value::real(std::ldexp(1.0, 1 - exponent))},
                       {"bits", Value::integer(type.getBits())}});
}

static std::optional<DType> torchType(Evaluator &evaluator, const Value &value) {
  if (value.isOpaque()) {
    llvm::StringRef name = value.as<OpaqueObject>().path;
    name.consume_front("torch.");
    if (name.starts_with("float8_e4m3fnuz"))
      return DType(Scalar::FP8E4B8);
    if (name.starts_with("float8_e4m3"))
      return DType(Scalar::FP8E4NV);
    if (name.starts_with("float8_e5m2"))
      return DType(Scalar::FP8E5);
  }
  return evaluator.constantDType(value, "dtype");
}

Value builtinFinfo(Evaluator &evaluator, Call &call) {
  std::optional<DType> type = torchType(evaluator, call[0]);
  return type ? floatLimits(*type) : Value();
}
Value builtinIinfo(Evaluator &evaluator, Call &call) {
  std::optional<DType> type = torchType(evaluator, call[0]);
  return type ? makeInstance("torch.iinfo", {{"max", Value::integer(type->getMax())},
                                             {"min", Value::integer(type->getMin())},
                                             {"bits", Value::integer(type->getBits())}})
              : Value();
}

//===----------------------------------------------------------------------===//
// math
//===----------------------------------------------------------------------===//

#define KILN_MATH(ID, FUNCTION)                                                                    \
  Value builtin##ID(Evaluator &evaluator, Call &call) {                                            \
    return realFunction(evaluator, call, [](double x) { return FUNCTION(x); });                    \
  }
KILN_MATH(MathSqrt, std::sqrt)
KILN_MATH(MathExp, std::exp)
KILN_MATH(MathLog10, std::log10)
KILN_MATH(MathSin, std::sin)
KILN_MATH(MathCos, std::cos)
KILN_MATH(MathTanh, std::tanh)
KILN_MATH(MathFabs, std::fabs)
#undef KILN_MATH

static Value logarithm(Evaluator &evaluator, Call &call, double (*function)(double)) {
  if (call[0].isNumber() && call[0].getReal() <= 0)
    return evaluator.error(DiagKind::SemaPython, "math domain error");
  return realFunction(evaluator, call, function);
}
Value builtinMathLog2(Evaluator &evaluator, Call &call) {
  return logarithm(evaluator, call, std::log2);
}
Value builtinMathLog(Evaluator &evaluator, Call &call) {
  Value result = logarithm(evaluator, call, std::log);
  if (evaluator.failed() || call[1].isNone())
    return result;
  return Value::real(result.getReal() / std::log(call[1].getReal()));
}
Value builtinMathPow(Evaluator &evaluator, Call &call) {
  return realFunction(evaluator, call, [&](double x) { return std::pow(x, call[1].getReal()); });
}

static Value roundTo(Evaluator &evaluator, Call &call, double (*function)(double)) {
  if (call[0].isIntegral())
    return Value::integer(call[0].getInt());
  Value result = realFunction(evaluator, call, function);
  if (evaluator.failed())
    return Value();
  if (!std::isfinite(result.getReal()) || std::fabs(result.getReal()) > 1e37)
    return evaluator.error(DiagKind::SemaPython,
                           "cannot convert " + repr(result) + " to an integer");
  return Value::integer(Int(result.getReal()));
}
Value builtinMathCeil(Evaluator &evaluator, Call &call) {
  return roundTo(evaluator, call, std::ceil);
}
Value builtinMathFloor(Evaluator &evaluator, Call &call) {
  return roundTo(evaluator, call, std::floor);
}

Value builtinMathGcd(Evaluator &evaluator, Call &call) {
  std::optional<Int> a = evaluator.constantInt(call[0], "gcd");
  std::optional<Int> b = a ? evaluator.constantInt(call[1], "gcd") : std::nullopt;
  if (!b)
    return Value();
  Int x = *a < 0 ? -*a : *a, y = *b < 0 ? -*b : *b;
  while (y)
    x = std::exchange(y, x % y);
  return Value::integer(x);
}
Value builtinMathProd(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  Value product = Value::integer(1);
  for (const Value &item : items.value_or(std::vector<Value>())) {
    product = evaluator.binary(ast::BinaryOp::Mul, product, item);
    if (evaluator.failed())
      return Value();
  }
  return items ? product : Value();
}
Value builtinMathIsnan(Evaluator &, Call &call) {
  return Value::boolean(call[0].isNumber() && std::isnan(call[0].getReal()));
}
Value builtinMathIsinf(Evaluator &, Call &call) {
  return Value::boolean(call[0].isNumber() && std::isinf(call[0].getReal()));
}

//===----------------------------------------------------------------------===//
// Python's library
//===----------------------------------------------------------------------===//

/// The environment is empty: a build must not depend on it.
Value builtinEnvironGet(Evaluator &, Call &call) { return call[1]; }
Value builtinGetenv(Evaluator &, Call &call) { return call[1]; }

Value builtinPartial(Evaluator &, Call &call) {
  auto keywords = std::make_shared<DictObject>();
  for (const auto &[name, value] : call.keywords)
    keywords->items.emplace_back(Value::string(name), value);
  if (call[0].is(ValueKind::Builtin) &&
      call[0].as<BuiltinObject>().info->library == Library::Triton)
    return call[0]; // partial(triton.jit, …) is a decorator still.
  return makeInstance("partial", {{"func", call[0]},
                                  {"args", Value::tuple(call.rest)},
                                  {"keywords", Value(ValueKind::Dict, keywords)}});
}

Value builtinReduce2(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[1]);
  if (!items)
    return Value();
  items->insert(items->begin(), call.rest.begin(), call.rest.end());
  if (items->empty())
    return evaluator.error(DiagKind::SemaPython, "reduce() of nothing");
  Value result = items->front();
  for (const Value &item : llvm::ArrayRef(*items).drop_front())
    result = evaluator.call(call[0], {result, item}, {});
  return result;
}

/// A decorator that leaves a function as it is: functools.partial of nothing.
static Value identityDecorator() { return makeInstance("identity", {}); }
static Value identity(Call &call) { return call[0].isNone() ? identityDecorator() : call[0]; }
Value builtinLruCache(Evaluator &, Call &call) { return identity(call); }
Value builtinCache(Evaluator &, Call &call) { return identity(call); }
Value builtinWraps(Evaluator &, Call &) { return identityDecorator(); }

Value builtinEnumAuto(Evaluator &, Call &) { return makeInstance("enum.auto", {}); }
Value builtinDataclass(Evaluator &, Call &call) {
  auto mark = [&](ClassObject &cls) {
    cls.isDataclass = true;
    for (const auto &[option, value] : call.keywords) {
      bool isSet = value.is(ValueKind::Bool) && value.getBool();
      cls.comparesFields |= option == "order" && isSet;
      cls.isFrozen |= option == "frozen" && isSet;
    }
  };
  if (call[0].is(ValueKind::Class)) {
    mark(call[0].as<ClassObject>());
    return call[0];
  }
  auto options = std::make_shared<DictObject>();
  for (const auto &[option, value] : call.keywords)
    options->items.emplace_back(Value::string(option), value);
  return makeInstance("partial", {{"func", Value::builtin(*call.info)},
                                  {"args", Value::tuple({})},
                                  {"keywords", Value(ValueKind::Dict, options)}});
}
Value builtinDataclassField(Evaluator &, Call &call) {
  std::vector<std::pair<std::string, Value>> options = call.keywords;
  return makeInstance("dataclasses.field", std::move(options));
}

Value builtinProduct(Evaluator &evaluator, Call &call) {
  std::optional<Int> repeat = evaluator.constantInt(call[1], "repeat");
  if (!repeat)
    return Value();
  std::vector<std::vector<Value>> factors, rows{{}};
  for (Int round = 0; round < *repeat; ++round)
    for (const Value &iterable : call.rest) {
      std::optional<std::vector<Value>> items = evaluator.iterate(iterable);
      if (!items)
        return Value();
      factors.push_back(std::move(*items));
    }
  for (const std::vector<Value> &items : factors) {
    constexpr size_t most = 1 << 20;
    if (rows.size() * items.size() > most)
      return evaluator.error(DiagKind::SemaBudget, most);
    std::vector<std::vector<Value>> longer;
    for (const std::vector<Value> &row : rows)
      for (const Value &item : items) {
        longer.push_back(row);
        longer.back().push_back(item);
      }
    rows = std::move(longer);
  }
  std::vector<Value> result;
  for (std::vector<Value> &row : rows)
    result.push_back(Value::tuple(std::move(row)));
  return Value::list(result);
}
Value builtinChain(Evaluator &evaluator, Call &call) {
  std::vector<Value> result;
  for (const Value &iterable : call.rest) {
    std::optional<std::vector<Value>> items = evaluator.iterate(iterable);
    if (!items)
      return Value();
    result.insert(result.end(), items->begin(), items->end());
  }
  return Value::list(result);
}

#define KILN_OPERATOR(ID, FUNCTION, KIND)                                                          \
  Value builtin##ID(Evaluator &evaluator, Call &call) {                                            \
    return evaluator.FUNCTION(KIND, call[0], call[1]);                                             \
  }
KILN_OPERATOR(OperatorGe, compare, ast::CompareOp::GreaterEqual)
KILN_OPERATOR(OperatorGt, compare, ast::CompareOp::Greater)
KILN_OPERATOR(OperatorLe, compare, ast::CompareOp::LessEqual)
KILN_OPERATOR(OperatorLt, compare, ast::CompareOp::Less)
KILN_OPERATOR(OperatorEq, compare, ast::CompareOp::Equal)
KILN_OPERATOR(OperatorNe, compare, ast::CompareOp::NotEqual)
KILN_OPERATOR(OperatorAdd, binary, ast::BinaryOp::Add)
KILN_OPERATOR(OperatorMul, binary, ast::BinaryOp::Mul)
#undef KILN_OPERATOR

/// The module of that name, as `import` finds it.
static std::optional<Value> importByName(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name = evaluator.constantString(call[0], "a module's name");
  if (!name || !evaluator.frame->module)
    return std::nullopt;
  return evaluator.importModule(*evaluator.frame->module, 0, *name);
}
Value builtinImportModule(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> module = importByName(evaluator, call))
    return *module;
  return evaluator.error(DiagKind::SemaImport, str(call[0]), "the search path");
}
Value builtinFindSpec(Evaluator &evaluator, Call &call) {
  std::optional<Value> module = importByName(evaluator, call);
  if (!module)
    return evaluator.failed() ? Value() : Value::none();
  return makeInstance("ModuleSpec",
                      {{"module", *module}, {"loader", Value::opaque("a module's loader")}});
}
Value builtinModuleFromSpec(Evaluator &evaluator, Call &call) {
  return evaluator.getAttribute(call[0], "module");
}

/// A version compares like the tuple of its numbers, where those left out are zeros.
Value builtinParseVersion(Evaluator &evaluator, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::string> text = evaluator.constantString(call[0], "a version");
  if (!text)
    return Value();
  std::vector<Value> numbers;
  llvm::StringRef rest(*text);
  unsigned number;
  while (!rest.consumeInteger(10, number)) {
    numbers.push_back(Value::integer(number));
    if (!rest.consume_front("."))
      break;
  }
  while (numbers.size() < 4)
    numbers.push_back(Value::integer(0));
  return Value::tuple(numbers);
}
Value builtinVersionClass(Evaluator &evaluator, Call &call) {
  return builtinParseVersion(evaluator, call);
}

Value builtinNamedtuple(Evaluator &evaluator, Call &call) {
  std::vector<Value> fields;
  if (call[1].isString()) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SplitString(call[1].getString(), names, " ,");
    for (llvm::StringRef name : names)
      fields.push_back(Value::string(name));
  } else if (std::optional<std::vector<Value>> items = evaluator.iterate(call[1]))
    fields = *items;
  else
    return Value();
  return makeInstance("namedtuple", {{"fields", Value::tuple(fields)}});
}
Value builtinOrderedDict(Evaluator &evaluator, Call &call) {
  return evaluator.call(Value::builtin(*findBuiltin(Library::Python, "dict")), {call[0]},
                        call.keywords);
}

} // namespace kiln::sema
