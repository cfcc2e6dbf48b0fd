// The host's view of a kernel: its parameters, its autotune configs, its heuristics.

#include "compiler/Sema/HostEvaluation.h"
#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Host/Session.h"
#include "compiler/Sema/Python/Annotations.h"
#include "compiler/Sema/Sema.h"

#include "compiler/Basic/NameSuggestion.h"

namespace kiln {
namespace sema {

namespace {

/// Runs `body` where the module of `function` is in scope.
template <typename Body>
auto inModule(Evaluator &evaluator, const FunctionObject &function, Body body) {
  Frame module;
  module.module = function.module;
  module.name = function.getName();
  FrameGuard guard(evaluator, module);
  return body();
}

/// The decorators that are Triton's `name`, outermost first. A wrapper such as libentry's own
/// autotuner keeps the name.
std::vector<const Decoration *> findDecorators(const FunctionObject &function,
                                               llvm::StringRef name) {
  std::vector<const Decoration *> found;
  for (const Decoration &decoration : function.decorations) {
    const auto *call = llvm::dyn_cast<ast::CallExpr>(decoration.expr);
    const ast::Expr *callee = call ? call->callee : decoration.expr;
    const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(callee);
    const auto *plain = llvm::dyn_cast<ast::NameExpr>(callee);
    bool sameName =
        (attribute && attribute->attribute.name == name) || (plain && plain->name == name);
    const Value &value = decoration.callee;
    bool isTriton = value.is(ValueKind::Builtin) &&
                    value.as<BuiltinObject>().info->library == Library::Triton &&
                    value.as<BuiltinObject>().info->name == name;
    if (isTriton || sameName)
      found.push_back(&decoration);
  }
  return found;
}

/// The argument `name` of a decorator, or the one at `index`; null when absent.
const Value *argumentOf(const Decoration &decorator, llvm::StringRef name, size_t index) {
  for (const auto &keyword : decorator.keywords)
    if (keyword.first == name)
      return &keyword.second;
  return index < decorator.args.size() ? &decorator.args[index] : nullptr;
}

bool readCount(Evaluator &evaluator, const Value &value, llvm::StringRef what,
               std::optional<unsigned> &count) {
  if (value.isNone())
    return true;
  std::optional<Int> number = evaluator.tensors().constantInt(value, what);
  if (!number)
    return false;
  if (*number < 1 || *number > 65536) {
    evaluator.error(DiagKind::SemaInvalidArgument, what, "a positive number", toString(*number));
    return false;
  }
  count = unsigned(*number);
  return true;
}

Value pairsOf(const Value &dictionary) {
  std::vector<Value> pairs;
  for (const auto &[key, value] : dictionary.as<DictObject>().items)
    pairs.push_back(Value::tuple({key, value}));
  return Value::tuple(std::move(pairs));
}

std::optional<KernelConfig> readConfig(Evaluator &evaluator, const Value &value,
                                       const FunctionObject &kernel) {
  if (value.isOpaque())
    return evaluator.notKnown(value), std::nullopt;
  if (!value.is(ValueKind::Instance) || value.as<InstanceObject>().typeName != "triton.Config")
    return evaluator.fail(DiagKind::SemaInvalidArgument, "configs", "triton.Config objects",
                          describe(value));
  const auto &instance = value.as<InstanceObject>();
  KernelConfig config;
  config.range = evaluator.unwinding().getPosition();
  if (!readCount(evaluator, *instance.find("num_warps"), "num_warps", config.numWarps) ||
      !readCount(evaluator, *instance.find("num_stages"), "num_stages", config.numStages) ||
      !readCount(evaluator, *instance.find("num_ctas"), "num_ctas", config.numCtas) ||
      !readCount(evaluator, *instance.find("maxnreg"), "maxnreg", config.maxRegisters))
    return std::nullopt;
  Value options = known(*instance.find("kwargs"));
  if (options.isOpaque())
    return evaluator.notKnown(options), std::nullopt;
  for (const auto &[key, item] : options.as<DictObject>().items) {
    std::string name = str(key);
    bool isParameter = llvm::any_of(kernel.getParameters(), [&](const ast::Parameter &parameter) {
      return parameter.name.name == name;
    });
    // A dictionary of an option's (extern_libs) is its pairs, as Triton keeps it.
    Value stored = !isParameter && item.is(ValueKind::Dict) ? pairsOf(item) : item;
    std::optional<Literal> constant = evaluator.modules().toConstant(stored, kernel.module);
    if (!constant)
      return std::nullopt;
    (isParameter ? config.constants : config.options).emplace_back(name, *constant);
  }
  for (const Value &name : instance.find("keywords")->getElements())
    config.keywords.push_back(str(name));
  return config;
}

std::optional<AutotuneList> readAutotune(Evaluator &evaluator, const FunctionObject &kernel) {
  AutotuneList list;
  std::vector<const Decoration *> decorators = findDecorators(kernel, "autotune");
  if (decorators.empty())
    return list;
  const Decoration &decorator = *decorators.front();
  At at(evaluator, decorator.expr->range);
  const Value *configs = argumentOf(decorator, "configs", 0);
  const Value *key = argumentOf(decorator, "key", 1);
  // Its arguments could not be evaluated.
  if (decorator.callee.isOpaque() && decorator.callee.as<OpaqueObject>().cause)
    return evaluator.notKnown(decorator.callee), std::nullopt;
  return inModule(evaluator, kernel, [&]() -> std::optional<AutotuneList> {
    if (configs) {
      std::optional<std::vector<Value>> items = evaluator.tensors().iterate(known(*configs));
      if (!items)
        return std::nullopt;
      for (const Value &item : *items) {
        std::optional<KernelConfig> config = readConfig(evaluator, known(item), kernel);
        if (!config)
          return std::nullopt;
        list.configs.push_back(std::move(*config));
      }
    }
    if (key) {
      std::optional<std::vector<Value>> names = evaluator.tensors().iterate(known(*key));
      if (!names)
        return std::nullopt;
      for (const Value &name : *names)
        list.key.push_back(str(name));
    }
    return list;
  });
}

Value runTimeArgument(llvm::StringRef name) {
  Value value = Value::opaque("the run-time argument " + name);
  value.as<OpaqueObject>().isSomething = true;
  return value;
}

/// What a heuristic's lambda sees of an argument: constants as they are, of run-time arguments only
/// that they are not None.
Value heuristicArgument(Evaluator &evaluator, const ArgumentValue &argument,
                        const FunctionObject &kernel, llvm::StringRef name) {
  switch (argument.kind) {
  case ArgumentValue::Kind::Constant:
    return evaluator.modules().fromConstant(argument.constant, kernel.module);
  case ArgumentValue::Kind::RunTime:
    return argument.equalsOne ? Value::integer(1) : runTimeArgument(name);
  case ArgumentValue::Kind::Descriptor:
    return runTimeArgument(name);
  case ArgumentValue::Kind::Tuple:
    break;
  }
  std::vector<Value> elements;
  for (const ArgumentValue &element : argument.elements)
    elements.push_back(heuristicArgument(evaluator, element, kernel, name));
  Value tuple = Value::tuple(std::move(elements));
  tuple.as<SequenceObject>().fields = argument.fields;
  return tuple;
}

bool isLaunchOption(llvm::StringRef name) {
  return name == "num_warps" || name == "num_stages" || name == "num_ctas";
}

std::optional<KernelSummary> summarize(Evaluator &evaluator, const FunctionObject &kernel) {
  KernelSummary summary;
  summary.name = kernel.getName().str();
  summary.range = kernel.definition->signatureRange;
  summary.isAutotuned = !findDecorators(kernel, "autotune").empty();

  llvm::StringSet<> unspecialized, computed;
  for (const Decoration *jit : findDecorators(kernel, "jit")) {
    if (const Value *names = argumentOf(*jit, "do_not_specialize", 99);
        names && names->isSequence())
      for (const Value &name : names->getElements())
        unspecialized.insert(str(name));
    if (const Value *debug = argumentOf(*jit, "debug", 99))
      summary.debug = debug->is(ValueKind::Bool) && debug->getBool();
  }
  for (const Decoration *heuristics : findDecorators(kernel, "heuristics"))
    if (const Value *values = argumentOf(*heuristics, "values", 0);
        values && values->is(ValueKind::Dict))
      for (const auto &item : values->as<DictObject>().items)
        computed.insert(str(item.first));

  const SourceFile &file = kernel.module->module->tree->getFile();
  for (auto [index, source] : llvm::enumerate(kernel.getParameters())) {
    KernelParameterInfo parameter;
    parameter.name = source.name.name.str();
    parameter.range = source.range;
    if (source.annotation) {
      parameter.isConstexpr = isConstexprAnnotation(*source.annotation);
      parameter.annotation = file.getText(source.annotation->range).str();
    }
    parameter.hasDefault = source.defaultValue != nullptr;
    if (source.defaultValue)
      inModule(evaluator, kernel, [&, index = index] {
        return evaluator.unwinding().attempt([&, index] {
          parameter.defaultValue =
              evaluator.modules().toConstant(kernel.defaults[index], kernel.module);
        });
      });
    parameter.doNotSpecialize = unspecialized.contains(parameter.name) ||
                                unspecialized.contains(std::to_string(summary.parameters.size()));
    if (parameter.doNotSpecialize && parameter.isConstexpr) {
      At at(evaluator, source.range);
      evaluator.error(DiagKind::SemaInvalidArgument, "do_not_specialize", "run-time parameters",
                      "'" + parameter.name + "', which is tl.constexpr");
      return std::nullopt;
    }
    parameter.isHeuristic = computed.contains(parameter.name);
    summary.parameters.push_back(std::move(parameter));
  }
  return summary;
}

/// The heuristics of a kernel, while they are evaluated.
struct HeuristicsReader {
  Evaluator &evaluator;
  const FunctionObject &kernel;
  const KernelInstance &instance;
  /// What each sees: the arguments, and the results of those before it.
  std::shared_ptr<DictObject> args;
  NamedConstants results;

  void fillArguments() {
    for (const auto &[name, argument] : instance.arguments)
      args->items.emplace_back(Value::string(name),
                               heuristicArgument(evaluator, argument, kernel, name));
    args->items.emplace_back(Value::string("num_warps"), Value::integer(instance.numWarps));
    args->items.emplace_back(Value::string("num_stages"), Value::integer(instance.numStages));
  }

  /// Those of one decorator. False after an error.
  bool read(const Decoration &decorator) {
    At at(evaluator, decorator.expr->range);
    const Value *values = argumentOf(decorator, "values", 0);
    if (!values && decorator.callee.isOpaque() && decorator.callee.as<OpaqueObject>().cause)
      return evaluator.notKnown(decorator.callee), false;
    if (!values)
      return true;
    return inModule(evaluator, kernel, [&] {
      Value dict = known(*values);
      if (dict.is(ValueKind::Dict))
        return llvm::all_of(dict.as<DictObject>().items, [&](const auto &item) {
          return compute(str(item.first), item.second);
        });
      if (dict.isOpaque())
        evaluator.notKnown(dict);
      else
        evaluator.error(DiagKind::SemaInvalidArgument, "heuristics", "a dict", describe(dict));
      return false;
    });
  }

  /// The value of one parameter, unless the instance gives it. False after an error.
  bool compute(const std::string &name, const Value &function) {
    if (llvm::any_of(instance.arguments,
                     [&](const auto &argument) { return argument.first == name; }))
      return true;
    Value value;
    std::optional<Literal> constant;
    auto call = [&] {
      value = evaluator.call(function, {Value(ValueKind::Dict, args)}, {});
      constant =
          evaluator.failed() ? std::nullopt : evaluator.modules().toConstant(value, kernel.module);
    };
    // The instance has launch options already; one that depends on run-time arguments is not
    // better known than that.
    if (!isLaunchOption(name))
      call();
    else if (!evaluator.unwinding().attempt(call) || !constant)
      return true;
    if (evaluator.failed() || !constant)
      return false;
    results.emplace_back(name, *constant);
    args->items.emplace_back(Value::string(name), value);
    return true;
  }
};

} // namespace

std::optional<NamedConstants> evaluateHeuristics(Evaluator &evaluator, const FunctionObject &kernel,
                                                 const KernelInstance &instance) {
  HeuristicsReader reader{evaluator, kernel, instance, std::make_shared<DictObject>(), {}};
  std::vector<const Decoration *> decorators = findDecorators(kernel, "heuristics");
  if (!decorators.empty())
    reader.fillArguments();
  for (const Decoration *decorator : decorators)
    if (!reader.read(*decorator))
      return std::nullopt;
  return std::move(reader.results);
}

} // namespace sema

std::optional<KernelSummary> describeKernel(ModuleLoader &loader, const LoadedModule &module,
                                            llvm::StringRef kernel, const TargetAnswers &target,
                                            const NamedConstants &defines,
                                            DiagnosticEngine &diags) {
  sema::Session session(loader, module, sema::getBuiltinTable(), {target, nullptr, nullptr},
                        defines, diags);
  sema::Evaluator &evaluator = session.getEvaluator();
  sema::Value function = evaluator.modules().findFunction(module, kernel);
  std::optional<KernelSummary> summary;
  if (!evaluator.failed())
    summary = sema::summarize(evaluator, function.as<sema::FunctionObject>());
  evaluator.unwinding().flush();
  return summary;
}

std::optional<AutotuneList> evaluateAutotune(ModuleLoader &loader, const LoadedModule &module,
                                             llvm::StringRef kernel, const TargetAnswers &target,
                                             const NamedConstants &defines,
                                             DiagnosticEngine &diags) {
  sema::Session session(loader, module, sema::getBuiltinTable(), {target, nullptr, nullptr},
                        defines, diags);
  sema::Evaluator &evaluator = session.getEvaluator();
  sema::Value function = evaluator.modules().findFunction(module, kernel);
  std::optional<AutotuneList> list;
  if (!evaluator.failed())
    list = sema::readAutotune(evaluator, function.as<sema::FunctionObject>());
  bool failed = evaluator.failed();
  evaluator.unwinding().flush();
  return failed ? std::nullopt : list;
}

std::optional<NamedConstants> evaluateHeuristics(ModuleLoader &loader, const LoadedModule &module,
                                                 const KernelInstance &instance,
                                                 DiagnosticEngine &diags) {
  sema::Session session(loader, module, sema::getBuiltinTable(),
                        {instance.target, &instance, nullptr}, instance.defines, diags);
  sema::Evaluator &evaluator = session.getEvaluator();
  sema::Value function = evaluator.modules().findFunction(module, instance.kernel);
  std::optional<NamedConstants> values;
  if (!evaluator.failed())
    values = sema::evaluateHeuristics(evaluator, function.as<sema::FunctionObject>(), instance);
  bool failed = evaluator.failed();
  evaluator.unwinding().flush();
  return failed ? std::nullopt : values;
}

} // namespace kiln
