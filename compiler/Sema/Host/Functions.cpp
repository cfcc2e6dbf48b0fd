// Functions of the source: their definitions and decorators, and calls of them.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Host/Packages.h"
#include "compiler/Sema/Python/ParameterBinding.h"

namespace kiln::sema {

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
    if (core->failed() && !core->unwinding().mustUnwind() && function.definition &&
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
    At at(*core, expr->range);
    const auto *callExpr = llvm::dyn_cast<ast::CallExpr>(expr);
    Decoration decoration;
    decoration.expr = expr;
    decoration.callee = evaluate(callExpr ? *callExpr->callee : *expr);
    if (!core->failed() && callExpr)
      collectArguments(callExpr->arguments, decoration.args, decoration.keywords);
    // At module level nothing that runs waits for what is cut short.
    bool isAtModule = current->scope->kind == Scope::Module;
    if (core->failed() && core->unwinding().mustUnwind() && !isAtModule)
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
    At at(*core, decoration.expr->range);
    Value decorator = decoration.callee;
    if (llvm::isa<ast::CallExpr>(decoration.expr) && !isTritons(decorator))
      decorator = settle(call(decorator, decoration.args, decoration.keywords,
                              llvm::cast<ast::CallExpr>(decoration.expr)));
    Value decorated = core->failed() ? Value() : applyDecorator(decorator, value);
    if (core->failed() && core->unwinding().mustUnwind() && current->scope->kind != Scope::Module)
      return Value();
    if (core->failed()) {
      // A kernel is compiled as it stands, whatever its wrappers do when they are called.
      Value why = unknownAfterFailure();
      decorated = own->mode == FunctionMode::Kernel ? value : why;
    }
    value = decorated;
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

} // namespace kiln::sema
