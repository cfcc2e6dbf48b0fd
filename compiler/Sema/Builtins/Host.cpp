// What host code beside kernels computes with: triton's own helpers, the target, math, and the few
// functions of Python's library that autotune lists are made of.

#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"

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

Value decorator() { return getBuiltinTable().get(Library::Triton, "jit"); }

} // namespace

//===----------------------------------------------------------------------===//
// triton
//===----------------------------------------------------------------------===//

Value builtinJit(PythonOperations &, Call &call) {
  if (!call[0].is(ValueKind::Function))
    return call[0].isNone() || call[0].is(ValueKind::Builtin) ? decorator() : call[0];
  auto function = std::make_shared<FunctionObject>(call[0].as<FunctionObject>());
  function->mode = FunctionMode::Kernel;
  return {ValueKind::Function, function};
}
Value builtinConstexprFunction(PythonOperations &, Call &call) {
  if (!call[0].is(ValueKind::Function))
    return call[0];
  auto function = std::make_shared<FunctionObject>(call[0].as<FunctionObject>());
  function->mode = FunctionMode::Python;
  return {ValueKind::Function, function};
}
/// Applied to a function they leave it as it is; evaluateAutotune() reads what they say.
Value builtinAutotune(PythonOperations &, Call &) { return decorator(); }
Value builtinHeuristics(PythonOperations &, Call &) { return decorator(); }

Value builtinConfig(PythonOperations &python, Call &call) {
  if (!call[0].is(ValueKind::Dict))
    return python.error(DiagKind::SemaInvalidArgument, "triton.Config", "a dict",
                        describe(call[0]));
  std::vector<Value> keywords;
  for (const auto &[name, value] : call.keywords)
    keywords.push_back(Value::string(name));
  return makeInstance("triton.Config", {{"kwargs", call[0]},
                                        {"num_warps", call[1]},
                                        {"num_stages", call[2]},
                                        {"num_ctas", call[3]},
                                        {"maxnreg", call[4]},
                                        {"pre_hook", call[5]},
                                        {"keywords", Value::tuple(std::move(keywords))}});
}

Value builtinHostCdiv(TensorBuilder &build, Call &call) {
  Value less = build.binary(ast::BinaryOp::Sub, call[1], Value::integer(1));
  Value sum = build.failed() ? Value() : build.binary(ast::BinaryOp::Add, call[0], less);
  return build.failed() ? Value() : build.binary(ast::BinaryOp::FloorDiv, sum, call[1]);
}

Value builtinNextPowerOf2(PythonOperations &python, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<Int> number = python.constantInt(call[0], "triton.next_power_of_2");
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

Value builtinCurrentTarget(TensorBuilder &build, Call &) {
  const TargetAnswers &target = build.getTarget();
  Value arch =
      target.backend == "cuda" ? Value::integer(target.arch) : Value::string(target.archName);
  return makeInstance("GPUTarget", {{"backend", Value::string(target.backend)},
                                    {"arch", arch},
                                    {"warp_size", Value::integer(target.warpSize)}});
}
Value builtinIsCuda(TensorBuilder &build, Call &) {
  return Value::boolean(build.getTarget().backend == "cuda");
}
Value builtinIsHip(TensorBuilder &build, Call &) {
  return Value::boolean(build.getTarget().backend == "hip");
}
Value builtinIsHipCdna3(TensorBuilder &build, Call &) {
  return Value::boolean(build.getTarget().archName == "gfx942");
}
Value builtinIsHipCdna4(TensorBuilder &build, Call &) {
  return Value::boolean(build.getTarget().archName == "gfx950");
}
Value builtinCudaCapabilityGeq(TensorBuilder &build, Call &call) {
  std::optional<Int> major = build.constantInt(call[0], "major");
  std::optional<Int> minor = major ? build.constantInt(call[1], "minor") : std::nullopt;
  if (!minor)
    return Value();
  const TargetAnswers &target = build.getTarget();
  return Value::boolean(target.backend == "cuda" && Int(target.arch) >= *major * 10 + *minor);
}

/// True for the CPU target too: modules of GPU kernels refuse to load where it is false.
Value builtinCudaIsAvailable(PythonOperations &, Call &) { return Value::boolean(true); }
/// Devices that Kiln has no target for.
Value builtinXpuIsAvailable(PythonOperations &, Call &) { return Value::boolean(false); }
Value builtinDeviceCapability(TensorBuilder &build, Call &) {
  const TargetAnswers &target = build.getTarget();
  bool isCuda = target.backend == "cuda";
  return Value::tuple({Value::integer(isCuda ? target.arch / 10 : 9),
                       Value::integer(isCuda ? target.arch % 10 : 4)});
}

Value builtinFinfo(PythonOperations &python, Call &call) {
  std::optional<DType> type = python.constantDType(call[0], "dtype");
  if (!type)
    return {};
  if (!type->isFloat())
    return python.error(DiagKind::SemaInvalidArgument, "dtype", "a float type", type->str());
  FloatFormat format = type->getFloatFormat();
  return makeInstance("torch.finfo", {{"max", Value::real(format.largest())},
                                      {"min", Value::real(-format.largest())},
                                      {"eps", Value::real(format.epsilon())},
                                      {"tiny", Value::real(format.smallestNormal())},
                                      {"smallest_normal", Value::real(format.smallestNormal())},
                                      {"bits", Value::integer(format.bits)}});
}

Value builtinIinfo(PythonOperations &python, Call &call) {
  std::optional<DType> type = python.constantDType(call[0], "dtype");
  if (!type)
    return {};
  if (!type->isInt() || type->isBool())
    return python.error(DiagKind::SemaInvalidArgument, "dtype", "an integer type", type->str());
  return makeInstance("torch.iinfo", {{"max", Value::integer(type->getMax())},
                                      {"min", Value::integer(type->getMin())},
                                      {"bits", Value::integer(type->getBits())}});
}

//===----------------------------------------------------------------------===//
// Python's library
//===----------------------------------------------------------------------===//

/// The environment is empty: a build must not depend on it.
Value builtinEnvironGet(PythonOperations &, Call &call) { return call[1]; }
Value builtinGetenv(PythonOperations &, Call &call) { return call[1]; }

Value builtinPartial(PythonOperations &, Call &call) {
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
  std::optional<std::vector<Value>> items = evaluator.tensors().iterate(call[1]);
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
Value builtinLruCache(PythonOperations &, Call &call) { return identity(call); }
Value builtinCache(PythonOperations &, Call &call) { return identity(call); }
Value builtinWraps(PythonOperations &, Call &) { return identityDecorator(); }

Value builtinEnumAuto(PythonOperations &, Call &) { return makeInstance("enum.auto", {}); }
Value builtinDataclass(PythonOperations &, Call &call) {
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
Value builtinDataclassField(PythonOperations &, Call &call) {
  std::vector<std::pair<std::string, Value>> options = call.keywords;
  return makeInstance("dataclasses.field", std::move(options));
}

Value builtinProduct(PythonOperations &python, Call &call) {
  std::optional<Int> repeat = python.constantInt(call[1], "repeat");
  if (!repeat)
    return Value();
  std::vector<std::vector<Value>> factors, rows{{}};
  for (Int round = 0; round < *repeat; ++round)
    for (const Value &iterable : call.rest) {
      std::optional<std::vector<Value>> items = python.iterate(iterable);
      if (!items)
        return Value();
      factors.push_back(std::move(*items));
    }
  for (const std::vector<Value> &items : factors) {
    constexpr size_t most = 1 << 20;
    if (rows.size() * items.size() > most)
      return python.error(DiagKind::SemaBudget, most);
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
Value builtinChain(PythonOperations &python, Call &call) {
  std::vector<Value> result;
  for (const Value &iterable : call.rest) {
    std::optional<std::vector<Value>> items = python.iterate(iterable);
    if (!items)
      return Value();
    result.insert(result.end(), items->begin(), items->end());
  }
  return Value::list(result);
}

#define KILN_OPERATOR(ID, FUNCTION, KIND)                                                          \
  Value builtin##ID(TensorBuilder &build, Call &call) {                                            \
    return build.FUNCTION(KIND, call[0], call[1]);                                                 \
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
  std::optional<std::string> name = evaluator.tensors().constantString(call[0], "a module's name");
  if (!name || !evaluator.getModule())
    return std::nullopt;
  return evaluator.python().importModule(*evaluator.getModule(), 0, *name);
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
Value builtinParseVersion(PythonOperations &python, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::string> text = python.constantString(call[0], "a version");
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

Value builtinNamedtuple(PythonOperations &python, Call &call) {
  std::vector<Value> fields;
  if (call[1].isString()) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SplitString(call[1].getString(), names, " ,");
    for (llvm::StringRef name : names)
      fields.push_back(Value::string(name));
  } else if (std::optional<std::vector<Value>> items = python.iterate(call[1]))
    fields = *items;
  else
    return Value();
  return makeInstance("namedtuple", {{"fields", Value::tuple(fields)}});
}
Value builtinOrderedDict(PythonOperations &python, Call &call) {
  return python.callBuiltin(Library::Python, "dict", {call[0]}, call.keywords);
}

} // namespace kiln::sema
