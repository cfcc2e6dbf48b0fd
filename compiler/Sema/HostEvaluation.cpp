// The host's view of a kernel: its parameters, its autotune configs, its heuristics.

#include "compiler/Sema/HostEvaluation.h"
#include "compiler/Sema/Host/Interpreter.h"

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Syntax/AST.h"

namespace kiln {
namespace sema {

/// Whether an annotation is the `name` of some module, quoted or not, with or without brackets.
static bool isAnnotation(const ast::Expr &annotation, llvm::StringRef wanted) {
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&annotation))
    return name->name == wanted;
  if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(&annotation))
    return attribute->attribute.name == wanted;
  if (const auto *text = llvm::dyn_cast<ast::StringLiteral>(&annotation))
    return text->value.ends_with(wanted);
  if (const auto *subscript = llvm::dyn_cast<ast::SubscriptExpr>(&annotation))
    return isAnnotation(*subscript->base, wanted);
  return false;
}

bool isConstexprAnnotation(const ast::Expr &annotation) {
  return isAnnotation(annotation, "constexpr");
}
bool isConstAnnotation(const ast::Expr &annotation) { return isAnnotation(annotation, "const"); }

//===----------------------------------------------------------------------===//
// Values across the boundary
//===----------------------------------------------------------------------===//

Value Evaluator::fromConstant(const Literal &constant, ModuleState *module) {
  switch (constant.kind) {
  case Literal::Kind::None:
    return Value::none();
  case Literal::Kind::Bool:
    return Value::boolean(constant.boolean);
  case Literal::Kind::Int:
    return Value::integer(constant.integer);
  case Literal::Kind::Float:
    return Value::real(constant.real);
  case Literal::Kind::String:
    return Value::string(constant.text);
  case Literal::Kind::DType:
    if (std::optional<DType> type = parseDType(constant.text))
      return Value::type(*type);
    return error(DiagKind::SemaBadArgumentType, constant.text);
  case Literal::Kind::Function:
    return functionNamed(constant.text, module);
  case Literal::Kind::Tuple:
    break;
  }
  std::vector<Value> elements;
  for (const Literal &element : constant.elements)
    elements.push_back(fromConstant(element, module));
  return hasFailed ? Value() : Value::tuple(elements);
}

/// "relu" of the module or of triton.language; "activations.relu" of a module that it has imported,
/// or could import.
Value Evaluator::functionNamed(llvm::StringRef path, ModuleState *module) {
  llvm::StringRef head = path.split('.').first, rest = path.split('.').second;
  std::optional<Value> found = module ? findGlobal(*module, head) : std::optional<Value>();
  if (!found && !hasFailed && module && !rest.empty())
    found = importModule(*module, 0, head);
  if (found && found->isOpaque())
    found = host->resolve(*found);
  if (!found && !hasFailed)
    if (const BuiltinInfo *info = findBuiltin(Library::Language, path))
      return Value::builtin(*info);
  if (!found && !hasFailed) {
    std::vector<llvm::StringRef> candidates = getBuiltinNames(Library::Language);
    if (module)
      for (const auto &binding : module->scope->names)
        candidates.push_back(binding.first);
    return errorWithHint(suggestName(path, candidates), DiagKind::SemaUnknownName, path);
  }
  Value value;
  auto follow = [&](const Value &start, llvm::StringRef names) {
    value = start;
    for (llvm::StringRef name : llvm::split(names, '.'))
      if (!hasFailed && !name.empty())
        value = getAttribute(value, name);
  };
  // A package can have a function of its submodule's name: then the longest path is the module's.
  bool isFollowed = !hasFailed && attempt([&] { follow(*found, rest); });
  for (llvm::StringRef prefix = path; !isFollowed && !hasFailed && prefix.contains('.');) {
    prefix = prefix.rsplit('.').first;
    std::optional<Value> submodule = importModule(*module, 0, prefix);
    if (submodule && submodule->is(ValueKind::Module))
      isFollowed = attempt([&] { follow(*submodule, path.drop_front(prefix.size() + 1)); });
  }
  if (!isFollowed && !hasFailed)
    follow(*found, rest);
  if (hasFailed)
    return Value();
  found = value;
  bool isFunction = found->is(ValueKind::Function) || found->is(ValueKind::Builtin) ||
                    found->is(ValueKind::BoundMethod) || found->is(ValueKind::Class) ||
                    found->is(ValueKind::Instance) || found->is(ValueKind::Type);
  return isFunction ? *found
                    : error(DiagKind::SemaInvalidArgument, "{\"function\": \"" + path.str() + "\"}",
                            "a function", describe(*found));
}

std::optional<Literal> Evaluator::toConstant(const Value &value) {
  switch (value.getKind()) {
  case ValueKind::None:
    return Literal::none();
  case ValueKind::Bool:
    return Literal::ofBool(value.getBool());
  case ValueKind::Int:
    if (value.getInt() > INT64_MAX || value.getInt() < INT64_MIN)
      return fail(DiagKind::SemaNumberRange, repr(value), "int64");
    return Literal::ofInt(int64_t(value.getInt()));
  case ValueKind::Float:
    return Literal::ofFloat(value.getReal());
  case ValueKind::String:
    return Literal::ofString(value.getString().str());
  case ValueKind::Type:
    return Literal::ofDType(value.getType().dtype.str());
  case ValueKind::Function:
  case ValueKind::Builtin: {
    std::optional<std::string> path = functionPath(*this, value);
    return path ? std::optional(Literal::ofFunction(*path)) : std::nullopt;
  }
  case ValueKind::Tuple:
  case ValueKind::List: {
    std::vector<Literal> elements;
    for (const Value &element : value.getElements()) {
      std::optional<Literal> constant = toConstant(element);
      if (!constant)
        return std::nullopt;
      elements.push_back(*constant);
    }
    return Literal::ofTuple(std::move(elements));
  }
  case ValueKind::Opaque:
    return notKnown(value), std::nullopt;
  default:
    return fail(DiagKind::SemaNotConstant, "a config's value", describe(value));
  }
}

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
  std::optional<Int> number = evaluator.constantInt(value, what);
  if (!number)
    return false;
  if (*number < 1 || *number > 65536) {
    evaluator.error(DiagKind::SemaInvalidArgument, what, "a positive number", toString(*number));
    return false;
  }
  count = unsigned(*number);
  return true;
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
  config.range = evaluator.getPosition();
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
    std::optional<Literal> constant = evaluator.toConstant(item);
    if (!constant)
      return std::nullopt;
    bool isParameter = llvm::any_of(kernel.getParameters(), [&](const ast::Parameter &parameter) {
      return parameter.name.name == name;
    });
    (isParameter ? config.constants : config.options).emplace_back(name, *constant);
  }
  return config;
}

std::optional<AutotuneList> readAutotune(Evaluator &evaluator, const FunctionObject &kernel) {
  AutotuneList list;
  std::vector<const Decoration *> decorators = findDecorators(kernel, "autotune");
  if (decorators.empty())
    return list;
  const Decoration &decorator = *decorators.front();
  Evaluator::At at(evaluator, decorator.expr->range);
  const Value *configs = argumentOf(decorator, "configs", 0);
  const Value *key = argumentOf(decorator, "key", 1);
  // Its arguments could not be evaluated.
  if (decorator.callee.isOpaque() && decorator.callee.as<OpaqueObject>().cause)
    return evaluator.notKnown(decorator.callee), std::nullopt;
  return inModule(evaluator, kernel, [&]() -> std::optional<AutotuneList> {
    if (configs) {
      std::optional<std::vector<Value>> items = evaluator.iterate(known(*configs));
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
      std::optional<std::vector<Value>> names = evaluator.iterate(known(*key));
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
    return evaluator.fromConstant(argument.constant, kernel.module);
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
        return evaluator.attempt(
            [&, index] { parameter.defaultValue = evaluator.toConstant(kernel.defaults[index]); });
      });
    parameter.doNotSpecialize = unspecialized.contains(parameter.name) ||
                                unspecialized.contains(std::to_string(summary.parameters.size()));
    if (parameter.doNotSpecialize && parameter.isConstexpr) {
      Evaluator::At at(evaluator, source.range);
      evaluator.error(DiagKind::SemaInvalidArgument, "do_not_specialize", "run-time parameters",
                      "'" + parameter.name + "', which is tl.constexpr");
      return std::nullopt;
    }
    parameter.isHeuristic = computed.contains(parameter.name);
    summary.parameters.push_back(std::move(parameter));
  }
  return summary;
}

} // namespace

std::optional<NamedConstants> evaluateHeuristics(Evaluator &evaluator, const FunctionObject &kernel,
                                                 const KernelInstance &instance) {
  NamedConstants results;
  std::vector<const Decoration *> decorators = findDecorators(kernel, "heuristics");
  if (decorators.empty())
    return results;
  auto args = std::make_shared<DictObject>();
  for (const auto &[name, argument] : instance.arguments)
    args->items.emplace_back(Value::string(name),
                             heuristicArgument(evaluator, argument, kernel, name));
  args->items.emplace_back(Value::string("num_warps"), Value::integer(instance.numWarps));
  args->items.emplace_back(Value::string("num_stages"), Value::integer(instance.numStages));
  for (const Decoration *decorator : decorators) {
    Evaluator::At at(evaluator, decorator->expr->range);
    const Value *values = argumentOf(*decorator, "values", 0);
    if (!values && decorator->callee.isOpaque() && decorator->callee.as<OpaqueObject>().cause)
      return evaluator.notKnown(decorator->callee), std::nullopt;
    if (!values)
      continue;
    bool done = inModule(evaluator, kernel, [&] {
      Value dict = known(*values);
      if (!dict.is(ValueKind::Dict)) {
        if (dict.isOpaque())
          evaluator.notKnown(dict);
        else
          evaluator.error(DiagKind::SemaInvalidArgument, "heuristics", "a dict", describe(dict));
        return false;
      }
      for (const auto &item : dict.as<DictObject>().items) {
        std::string name = str(item.first);
        bool isGiven = llvm::any_of(instance.arguments,
                                    [&](const auto &argument) { return argument.first == name; });
        if (isGiven)
          continue;
        Value value;
        std::optional<Literal> constant;
        auto compute = [&] {
          value = evaluator.call(item.second, {Value(ValueKind::Dict, args)}, {});
          constant = evaluator.failed() ? std::nullopt : evaluator.toConstant(value);
        };
        // The instance has launch options already; one that depends on run-time arguments is not
        // better known than that.
        if (isLaunchOption(name)) {
          if (!evaluator.attempt(compute) || !constant)
            continue;
        } else {
          compute();
        }
        if (evaluator.failed() || !constant)
          return false;
        results.emplace_back(name, *constant);
        args->items.emplace_back(Value::string(name), value);
      }
      return true;
    });
    if (!done)
      return std::nullopt;
  }
  return results;
}

} // namespace sema

std::optional<KernelSummary> describeKernel(ModuleLoader &loader, const LoadedModule &module,
                                            llvm::StringRef kernel, const TargetAnswers &target,
                                            const NamedConstants &defines,
                                            DiagnosticEngine &diags) {
  sema::Evaluator evaluator(loader, module, target, defines, diags, nullptr);
  sema::Value function = evaluator.findFunction(module, kernel);
  std::optional<KernelSummary> summary;
  if (!evaluator.failed())
    summary = sema::summarize(evaluator, function.as<sema::FunctionObject>());
  evaluator.flush();
  return summary;
}

std::optional<AutotuneList> evaluateAutotune(ModuleLoader &loader, const LoadedModule &module,
                                             llvm::StringRef kernel, const TargetAnswers &target,
                                             const NamedConstants &defines,
                                             DiagnosticEngine &diags) {
  sema::Evaluator evaluator(loader, module, target, defines, diags, nullptr);
  sema::Value function = evaluator.findFunction(module, kernel);
  std::optional<AutotuneList> list;
  if (!evaluator.failed())
    list = sema::readAutotune(evaluator, function.as<sema::FunctionObject>());
  bool failed = evaluator.failed();
  evaluator.flush();
  return failed ? std::nullopt : list;
}

std::optional<NamedConstants> evaluateHeuristics(ModuleLoader &loader, const LoadedModule &module,
                                                 const KernelInstance &instance,
                                                 DiagnosticEngine &diags) {
  sema::Evaluator evaluator(loader, module, instance.target, instance.defines, diags, nullptr);
  evaluator.instance = &instance;
  sema::Value function = evaluator.findFunction(module, instance.kernel);
  std::optional<NamedConstants> values;
  if (!evaluator.failed())
    values = sema::evaluateHeuristics(evaluator, function.as<sema::FunctionObject>(), instance);
  bool failed = evaluator.failed();
  evaluator.flush();
  return failed ? std::nullopt : values;
}

} // namespace kiln
