// Calls of host code: what can be called, of builtins, of what is not known.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Host/Packages.h"
#include "compiler/Sema/Python/MethodTable.h"

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
      callee = core->tensors().builtins().get(Library::Other, "packaging.version.parse");
  }
  Unwinding::Site site(core->unwinding(), {&expr, nullptr, 0});
  return call(callee, std::move(args), std::move(keywords), &expr);
}

Value HostInterpreter::call(const Value &callee, std::vector<Value> args, Keywords keywords,
                            const ast::CallExpr *expr) {
  if (core->failed())
    return Value();
  switch (callee.getKind()) {
  case ValueKind::Opaque:
    return callUnknown(callee, args, keywords);
  case ValueKind::Function:
    return callSource(callee, std::move(args), std::move(keywords));
  case ValueKind::Class:
    return instantiate(callee, std::move(args), std::move(keywords));
  case ValueKind::BoundMethod:
    return callMethod(callee.as<BoundMethodObject>(), std::move(args), std::move(keywords), expr);
  case ValueKind::Instance:
    return callInstance(callee, std::move(args), std::move(keywords), expr);
  case ValueKind::Builtin:
    return callBuiltin(callee, std::move(args), std::move(keywords), expr);
  default:
    return core->call(callee, std::move(args), std::move(keywords), expr);
  }
}

/// A function of the source: a kernel that is launched, one that a decorator hides, or Python.
Value HostInterpreter::callSource(const Value &callee, std::vector<Value> args, Keywords keywords) {
  const auto &function = callee.as<FunctionObject>();
  if (function.mode == FunctionMode::Kernel && !function.isModeGuessed)
    return callUnknown(unknown(function.getName()), args, keywords);
  if (!function.wrapper)
    return callFunction(callee, std::move(args), std::move(keywords));
  Value wrapped = Value::opaque(function.getName());
  wrapped.as<OpaqueObject>() = *function.wrapper;
  wrapped.as<OpaqueObject>().holds.push_back(callee);
  return callUnknown(wrapped, args, keywords);
}

/// What is not known of what a method does, and gives, depends on; null: nothing.
static std::shared_ptr<OpaqueObject> unknownOf(const Value &self, const Method *method,
                                               llvm::ArrayRef<Value> args,
                                               const Keywords &keywords) {
  if (method && method->compares())
    if (std::shared_ptr<OpaqueObject> why = findUnknown(self))
      return why;
  for (auto [place, arg] : llvm::enumerate(args)) {
    bool isLookedInto = !method || method->looksInto(place, arg);
    if (std::shared_ptr<OpaqueObject> why = isLookedInto ? findUnknown(arg) : nullptr)
      return why;
  }
  bool keepsKeywords = !method || self.is(ValueKind::Dict);
  for (const auto &keyword : keywords)
    if (std::shared_ptr<OpaqueObject> why = keepsKeywords ? nullptr : findUnknown(keyword.second))
      return why;
  return nullptr;
}

Value HostInterpreter::callMethod(const BoundMethodObject &method, std::vector<Value> args,
                                  Keywords keywords, const ast::CallExpr *expr) {
  if (!method.function.isNone()) {
    args.insert(args.begin(), method.self);
    return call(method.function, std::move(args), std::move(keywords), expr);
  }
  if (method.self.isTensor())
    return core->error(DiagKind::SemaNotJit, "a method");
  size_t size = method.self.isSequence()          ? method.self.getElements().size()
                : method.self.is(ValueKind::Dict) ? method.self.as<DictObject>().items.size()
                                                  : 0;
  if (!core->unwinding().step(size / searchedPerStep))
    return Value();
  willChange(method.self);
  const Method *described = findMethod(method.self, method.name);
  bool changes = described && described->changes();
  if (std::shared_ptr<OpaqueObject> why = unknownOf(method.self, described, args, keywords)) {
    if (changes)
      lose(method.self, Value(ValueKind::Opaque, why));
    return {ValueKind::Opaque, why};
  }
  Value result = core->tensors().pythonMethod(method.self, method.name, args, keywords);
  // Of a change that is not known nobody knows how far it came.
  if (changes && core->failed() && !core->unwinding().mustUnwind() && !isException()) {
    result = unknownAfterFailure();
    lose(method.self, result);
  }
  return result;
}

Value HostInterpreter::callInstance(const Value &callee, std::vector<Value> args, Keywords keywords,
                                    const ast::CallExpr *expr) {
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
    result->steps.push_back({core->unwinding().getPosition(), ""});
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
  Value result = core->call(callee, std::move(args), std::move(keywords), expr);
  // A dict knows its keys.
  if (result.is(ValueKind::Dict) && info.library == Library::Python)
    for (const auto &item : result.as<DictObject>().items)
      if (std::shared_ptr<OpaqueObject> why = findUnknown(item.first))
        return {ValueKind::Opaque, why};
  return result;
}

} // namespace kiln::sema
