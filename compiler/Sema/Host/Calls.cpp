// Calls of host code: of functions of the source, of builtins, of what is not known.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/ParameterBinding.h"

namespace kiln::sema {

static Frame frameOf(const Activation &activation, llvm::StringRef name) {
  Frame frame;
  frame.name = name;
  frame.module = activation.module;
  return frame;
}

HostCall::HostCall(HostInterpreter &host, Activation &activation, llvm::StringRef name)
    : host(host), frame(frameOf(activation, name)), guard(*host.core, frame) {
  activation.caller = host.current;
  host.current = &activation;
}

HostCall::~HostCall() { host.current = host.current->caller; }

Value HostInterpreter::evaluateCall(const ast::CallExpr &expr) {
  Value callee = evaluate(*expr.callee);
  std::vector<Value> args;
  Keywords keywords;
  if (core->failed() || !collectArguments(expr.arguments, args, keywords))
    return Value();
  // packaging's class, re-exported by whatever package.
  if (callee.isOpaque() && args.size() == 1 && args.front().isString()) {
    llvm::StringRef path = callee.as<OpaqueObject>().path;
    if (path.ends_with(".Version") || path.ends_with("version.parse"))
      callee = Value::builtin(*findBuiltin(Library::Other, "packaging.version.parse"));
  }
  CallSiteGuard site(*core, {&expr, nullptr, 0});
  return call(callee, std::move(args), std::move(keywords), &expr);
}

/// Packages whose functions leave Python's containers alone, and which are installed and work
/// wherever kernels run.
static bool isHarmless(llvm::StringRef path) {
  llvm::StringRef head = path.split('.').first;
  static constexpr llvm::StringLiteral heads[] = {
      "torch",    "triton",     "numpy",    "np",         "logging", "warnings", "os",
      "sys",      "time",       "inspect",  "typing",     "re",      "json",     "hashlib",
      "struct",   "textwrap",   "pathlib",  "platform",   "abc",     "types",    "contextlib",
      "enum",     "datetime",   "math",     "functools",  "string",  "argparse", "itertools",
      "tempfile", "subprocess", "operator", "collections"};
  return llvm::is_contained(heads, head) || path == "super()";
}

/// Those among them that look at the machine: they may raise an exception.
static bool mayRaise(llvm::StringRef path) {
  llvm::StringRef head = path.split('.').first;
  return !isHarmless(path) || head == "subprocess" || head == "pathlib" || head == "tempfile";
}

Value HostInterpreter::call(const Value &callee, std::vector<Value> args, Keywords keywords,
                            const ast::CallExpr *expr) {
  if (core->failed())
    return Value();
  switch (callee.getKind()) {
  case ValueKind::Opaque:
    return callUnknown(callee, args, keywords);
  case ValueKind::Function: {
    const auto &function = callee.as<FunctionObject>();
    if (function.mode == FunctionMode::Kernel && !function.isModeGuessed)
      return callUnknown(unknown(function.getName()), args, keywords); // a launch
    if (function.wrapper) {
      Value wrapped = Value::opaque(function.getName());
      wrapped.as<OpaqueObject>() = *function.wrapper;
      wrapped.as<OpaqueObject>().holds.push_back(callee);
      return callUnknown(wrapped, args, keywords);
    }
    return callFunction(callee, std::move(args), std::move(keywords));
  }
  case ValueKind::Class:
    return instantiate(callee, std::move(args), std::move(keywords));
  case ValueKind::BoundMethod: {
    const auto &method = callee.as<BoundMethodObject>();
    if (!method.function.isNone()) {
      args.insert(args.begin(), method.self);
      return call(method.function, std::move(args), std::move(keywords), expr);
    }
    if (method.self.isTensor())
      return core->error(DiagKind::SemaNotJit, "a method");
    size_t size = method.self.isSequence()          ? method.self.getElements().size()
                  : method.self.is(ValueKind::Dict) ? method.self.as<DictObject>().items.size()
                                                    : 0;
    if (!core->step(size / searchedPerStep))
      return Value();
    willChange(method.self);
    for (const Value &arg : args) {
      bool compares = method.name != "append" && method.name != "insert" && method.name != "add" &&
                      method.name != "extend" && method.name != "get" && method.name != "pop" &&
                      method.name != "setdefault" && method.name != "update";
      std::shared_ptr<OpaqueObject> why = compares || arg.isOpaque() ? findUnknown(arg) : nullptr;
      bool stores = method.name == "append" || method.name == "insert";
      if (!why || (stores && &arg == &args.back()))
        continue;
      // What it does to the object, and what it gives, depends on that.
      if (!method.self.isString())
        lose(method.self, Value(ValueKind::Opaque, why));
      return {ValueKind::Opaque, why};
    }
    return core->pythonMethod(method.self, method.name, args, keywords);
  }
  case ValueKind::Instance: {
    const auto &instance = callee.as<InstanceObject>();
    if (instance.cls.is(ValueKind::Class)) {
      if (const Value *method = instance.cls.as<ClassObject>().find("__call__")) {
        args.insert(args.begin(), callee);
        return call(*method, std::move(args), std::move(keywords), expr);
      }
      if (instance.cls.as<ClassObject>().hasUnknownBase)
        return callUnknown(unknown(instance.typeName), args, keywords);
    }
    if (instance.typeName == "property.setter" && args.size() == 1) {
      auto property =
          std::make_shared<InstanceObject>(instance.fields.front().second.as<InstanceObject>());
      property->set("setter", args[0]);
      return {ValueKind::Instance, property};
    }
    if (instance.typeName == "object.__new__" && !args.empty() && args[0].is(ValueKind::Class)) {
      auto made = std::make_shared<InstanceObject>();
      made->cls = args[0];
      made->typeName = args[0].as<ClassObject>().name;
      return {ValueKind::Instance, made};
    }
    break;
  }
  case ValueKind::Builtin:
    return callBuiltin(callee, std::move(args), std::move(keywords), expr);
  default:
    break;
  }
  return core->call(callee, std::move(args), std::move(keywords), expr);
}

/// inspect.signature() as far as it is asked for: the names of the parameters.
static Value signatureOf(const Value &function) {
  auto parameters = std::make_shared<DictObject>();
  auto add = [&](llvm::StringRef name) {
    parameters->items.emplace_back(Value::string(name), Value::opaque("a parameter"));
  };
  if (function.is(ValueKind::Builtin)) {
    const BuiltinInfo &info = *function.as<BuiltinObject>().info;
    for (const BuiltinParameter &parameter : info.getParameters())
      add(parameter.name);
    if (info.library == Library::Language || info.library == Library::Device)
      add("_semantic");
  } else
    for (const ast::Parameter &parameter : function.as<FunctionObject>().getParameters())
      add(parameter.name.name);
  auto signature = std::make_shared<InstanceObject>();
  signature->cls = Value::none();
  signature->typeName = "inspect.Signature";
  signature->set("parameters", Value(ValueKind::Dict, parameters));
  return {ValueKind::Instance, signature};
}

Value HostInterpreter::callUnknown(const Value &callee, llvm::ArrayRef<Value> args,
                                   const Keywords &keywords) {
  const auto &object = callee.as<OpaqueObject>();
  if (object.path == "inspect.signature" && args.size() == 1 &&
      (args[0].is(ValueKind::Builtin) || args[0].is(ValueKind::Function)))
    return signatureOf(args[0]);
  auto result = std::make_shared<OpaqueObject>(object);
  if (!object.cause)
    result->path += "()";
  result->isSomething = false;
  if (result->steps.empty())
    result->steps.push_back({core->getPosition(), ""});
  Value value(ValueKind::Opaque, result);
  if (!tries.empty() && (object.cause || mayRaise(object.path)))
    tries.back().doubt = value;
  std::vector<Value> given = args.vec();
  for (const auto &keyword : keywords)
    given.push_back(keyword.second);
  std::set<const void *> visited;
  for (const Value &held : object.holds)
    if (held.is(ValueKind::Function))
      loseThrough(held.as<FunctionObject>(), value, visited);
  if (object.cause || isHarmless(object.path))
    return value;
  for (const Value &arg : given) {
    lose(arg, value);
    if (!arg.is(ValueKind::Function) || arg.as<FunctionObject>().mode != FunctionMode::Python)
      continue;
    loseThrough(arg.as<FunctionObject>(), value, visited);
    result->holds.push_back(arg);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Functions of the source
//===----------------------------------------------------------------------===//

bool HostInterpreter::bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                                     const Keywords &keywords, Environment &names) {
  std::optional<ArgumentsMistake> mistake = sema::bindParameters(function, args, keywords, names);
  if (mistake)
    core->errorWithHint(mistake->hint, DiagKind::SemaArguments, function.getName(), mistake->what);
  return !mistake;
}

Value HostInterpreter::callFunction(const Value &callee, std::vector<Value> args,
                                    Keywords keywords) {
  const auto &function = callee.as<FunctionObject>();
  for (const Value &arg : args)
    if (arg.isError())
      return core->failAgain();
  if (function.definition && function.definition->isAsync)
    return unknown(function.getName() + "()");
  auto scope = std::make_shared<Scope>();
  scope->parent = function.scope;
  scope->declared = &namesOf(function);
  Value self = args.empty() ? Value() : args.front();
  if (!bindParameters(function, args, keywords, scope->names))
    return Value();
  if (!scope->declared->isGenerator)
    return runBody(callee, scope, self, nullptr);
  auto iterator = std::make_shared<IteratorObject>();
  iterator->kind = IteratorObject::Generator;
  iterator->run = [this, callee, scope, self](std::vector<Value> &items) {
    runBody(callee, scope, self, &items);
  };
  return {ValueKind::Iterator, iterator};
}

Value HostInterpreter::runBody(const Value &callee, const std::shared_ptr<Scope> &scope,
                               const Value &self, std::vector<Value> *yields) {
  const auto &function = callee.as<FunctionObject>();
  Activation activation;
  activation.scope = scope;
  activation.module = function.module;
  activation.function = &function;
  activation.self = self;
  activation.yields = yields;
  HostCall entered(*this, activation, function.getName());
  if (core->failed())
    return Value();
  if (function.lambda)
    return evaluate(*function.lambda->body);
  Exit exit = execute(function.definition->body);
  if (core->failed())
    return Value();
  Value result = exit == Exit::Returned ? activation.returnValue : Value::none();
  const Doubt &doubt = activation.doubt;
  return doubt.mayReturn ? mergeValues(doubt.returned, result, doubt.why, "") : result;
}

void HostInterpreter::evaluateDefaults(FunctionObject &function) {
  for (const ast::Parameter &parameter : function.getParameters()) {
    function.defaults.push_back(parameter.defaultValue ? evaluate(*parameter.defaultValue)
                                                       : Value());
    // A kernel whose default fails can still be given a value.
    if (core->failed() && !core->mustUnwind() && function.definition &&
        !function.definition->decorators.empty())
      function.defaults.back() = unknownAfterFailure();
    if (core->failed())
      return;
  }
}

Value HostInterpreter::makeFunction(const ast::FunctionDef &definition) {
  auto object = std::make_shared<FunctionObject>();
  object->definition = &definition;
  object->module = current->module;
  object->owner = current->cls;
  object->scope = current->scope->kind == Scope::Module ? nullptr : current->scope;
  Value function(ValueKind::Function, object);
  // Decorators are evaluated first, then the defaults.
  for (const ast::Expr *expr : definition.decorators) {
    Evaluator::At at(*core, expr->range);
    const auto *callExpr = llvm::dyn_cast<ast::CallExpr>(expr);
    Decoration decoration;
    decoration.expr = expr;
    decoration.callee = evaluate(callExpr ? *callExpr->callee : *expr);
    if (!core->failed() && callExpr)
      collectArguments(callExpr->arguments, decoration.args, decoration.keywords);
    // At module level nothing that runs waits for what is cut short.
    bool isAtModule = current->scope->kind == Scope::Module;
    if (core->failed() && core->mustUnwind() && !isAtModule)
      return Value();
    if (core->failed())
      decoration.callee = unknownAfterFailure();
    object->decorations.push_back(std::move(decoration));
  }
  evaluateDefaults(*object);
  return core->failed() ? Value() : decorate(definition, function);
}

/// Whether a decorator makes a kernel's function, or says how to launch one.
static bool isTritons(const Value &decorator) {
  return decorator.is(ValueKind::Builtin) &&
         decorator.as<BuiltinObject>().info->library == Library::Triton;
}

Value HostInterpreter::decorate(const ast::FunctionDef &definition, Value function) {
  const auto own = function.share<FunctionObject>();
  Value value = function;
  for (const Decoration &decoration : llvm::reverse(own->decorations)) {
    Evaluator::At at(*core, decoration.expr->range);
    Value decorator = decoration.callee;
    if (llvm::isa<ast::CallExpr>(decoration.expr) && !isTritons(decorator))
      decorator = settle(call(decorator, decoration.args, decoration.keywords,
                              llvm::cast<ast::CallExpr>(decoration.expr)));
    if (!core->failed())
      value = applyDecorator(decorator, value);
    if (core->failed() && core->mustUnwind() && current->scope->kind != Scope::Module)
      return Value();
    if (core->failed()) {
      // A kernel is compiled as it stands, whatever its wrappers do when they are called.
      Value why = unknownAfterFailure();
      if (own->mode != FunctionMode::Kernel)
        value = why;
    }
  }
  current->module->functions[&definition] = function;
  return value;
}

/// What a decorator makes of a function. What wraps a kernel is read through.
Value HostInterpreter::applyDecorator(const Value &decorator, const Value &function) {
  auto *object = function.is(ValueKind::Function) ? &function.as<FunctionObject>() : nullptr;
  if (isTritons(decorator)) {
    llvm::StringRef name = decorator.as<BuiltinObject>().info->name;
    if (object && name == "jit") {
      object->mode = FunctionMode::Kernel;
      object->isModeGuessed = false;
    }
    return function;
  }
  // tl.constexpr, too, makes a constant of a Python function, which is called as one.
  if (object && decorator.is(ValueKind::Builtin) &&
      decorator.as<BuiltinObject>().info->library == Library::Language)
    return function;
  bool isKernel = object && object->mode == FunctionMode::Kernel;
  if (decorator.isOpaque()) {
    // Packages that are not at hand export Triton's decorators, too.
    if (object && !isKernel) {
      llvm::StringRef path = decorator.as<OpaqueObject>().path;
      object->isModeGuessed = true;
      object->mode = FunctionMode::Kernel;
      if (!isHarmless(path) || path.starts_with("contextlib."))
        object->wrapper = decorator.share<OpaqueObject>();
      std::set<const void *> visited;
      if (!isHarmless(path))
        loseThrough(*object, decorator, visited);
    }
    return function;
  }
  Value result = settle(call(decorator, {function}, {}));
  if (core->failed())
    return Value();
  bool givesKernel =
      result.is(ValueKind::Function) && result.as<FunctionObject>().mode == FunctionMode::Kernel;
  bool givesMethod = result.is(ValueKind::Instance) && result.as<InstanceObject>().cls.isNone();
  return isKernel && !givesKernel && !givesMethod ? function : result;
}

//===----------------------------------------------------------------------===//
// Builtins
//===----------------------------------------------------------------------===//

/// Whether a builtin's result depends on its arguments only through what they are, not through what
/// is in them.
static bool looksDeep(const BuiltinInfo &info) {
  static constexpr llvm::StringLiteral names[] = {"sum",
                                                  "min",
                                                  "max",
                                                  "sorted",
                                                  "any",
                                                  "all",
                                                  "set",
                                                  "frozenset",
                                                  "str",
                                                  "repr",
                                                  "int",
                                                  "float",
                                                  "bool",
                                                  "abs",
                                                  "round",
                                                  "pow",
                                                  "bin",
                                                  "range",
                                                  "sqrt",
                                                  "exp",
                                                  "log",
                                                  "log2",
                                                  "log10",
                                                  "sin",
                                                  "cos",
                                                  "tanh",
                                                  "fabs",
                                                  "ceil",
                                                  "floor",
                                                  "gcd",
                                                  "prod",
                                                  "isnan",
                                                  "isinf",
                                                  "divmod",
                                                  "slice",
                                                  "cdiv",
                                                  "next_power_of_2"};
  bool isPython = info.library == Library::Python || info.library == Library::Math ||
                  info.library == Library::Triton;
  return isPython && llvm::is_contained(names, info.name);
}

/// Whether a builtin asks what kind of thing its first argument is.
static bool asksForKind(const BuiltinInfo &info) {
  static constexpr llvm::StringLiteral names[] = {
      "isinstance", "issubclass", "callable", "hasattr", "getattr",   "type",     "len", "iter",
      "next",       "list",       "tuple",    "dict",    "enumerate", "reversed", "zip"};
  return info.library == Library::Python && llvm::is_contained(names, info.name);
}

Value HostInterpreter::callBuiltin(const Value &callee, std::vector<Value> args, Keywords keywords,
                                   const ast::CallExpr *expr) {
  const BuiltinInfo &info = *callee.as<BuiltinObject>().info;
  std::vector<Value> all = args;
  for (const auto &keyword : keywords)
    all.push_back(keyword.second);
  for (const Value &arg : all) {
    if (asksForKind(info) && arg.isOpaque() && &arg == &all.front())
      return arg;
    if (std::shared_ptr<OpaqueObject> why = looksDeep(info) ? findUnknown(arg) : nullptr)
      return {ValueKind::Opaque, why};
  }
  // Conversions of the source's own objects.
  if (info.library == Library::Python && args.size() == 1) {
    llvm::StringRef name = info.name;
    llvm::StringRef method = name == "len"     ? "__len__"
                             : name == "str"   ? "__str__"
                             : name == "repr"  ? "__repr__"
                             : name == "int"   ? "__int__"
                             : name == "float" ? "__float__"
                             : name == "abs"   ? "__abs__"
                                               : "";
    if (!method.empty()) {
      if (std::optional<Value> result = special(args[0], method, {}))
        return *result;
      if (method == "__str__")
        if (std::optional<Value> result = special(args[0], "__repr__", {}))
          return *result;
    }
    bool isHosts =
        args[0].isOpaque() || args[0].is(ValueKind::Instance) || args[0].is(ValueKind::Range);
    if (name == "bool" && isHosts) {
      Value why;
      std::optional<bool> answer = truth(args[0], &why);
      return core->failed() ? Value() : answer ? Value::boolean(*answer) : why;
    }
  }
  return core->call(callee, std::move(args), std::move(keywords), expr);
}

} // namespace kiln::sema
