// Calls: binding arguments to parameters, running function bodies, calling builtins and classes.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/HostEvaluation.h"
#include "compiler/Sema/Python/ParameterBinding.h"

namespace kiln::sema {

Value Evaluator::evaluateCall(const ast::CallExpr &expr) {
  Value callee = evaluate(*expr.callee);
  if (hasFailed)
    return Value();
  if (&expr == discarded)
    checkUse(expr, callee);
  // What it would do on the device is not known either.
  if (callee.isOpaque()) {
    bool isResult = llvm::StringRef(callee.as<OpaqueObject>().path).ends_with(")");
    return notKnown(isResult ? callee : host->callUnknown(callee, {}, {}));
  }
  std::vector<Value> args;
  Keywords keywords;
  if (!collectArguments(expr.arguments, args, keywords))
    return Value();
  CallSiteGuard site(*this, {&expr, nullptr, 0});
  return call(callee, std::move(args), std::move(keywords), &expr);
}

void Evaluator::checkUse(const ast::CallExpr &expr, const Value &callee) {
  Value function =
      callee.is(ValueKind::BoundMethod) ? callee.as<BoundMethodObject>().function : callee;
  llvm::StringRef text = loader.getSources().get(expr.range.file).getText(expr.callee->range);
  if (function.is(ValueKind::Builtin) &&
      function.as<BuiltinObject>().info == findBuiltin(Library::Language, "advance")) {
    errorWithHint("it changes nothing in place: p = tl.advance(p, ...)", DiagKind::SemaUnusedResult,
                  text);
    return;
  }
  if (!function.is(ValueKind::Function) || !function.as<FunctionObject>().definition)
    return;
  for (const ast::Expr *decorator : function.as<FunctionObject>().definition->decorators) {
    const auto *call = llvm::dyn_cast<ast::CallExpr>(decorator);
    const auto *name = llvm::dyn_cast<ast::AttributeExpr>(call ? call->callee : decorator);
    if (name && name->attribute.name == "must_use_result")
      error(DiagKind::SemaUnusedResult, text);
  }
}

Value Evaluator::call(const Value &callee, std::vector<Value> args, Keywords keywords,
                      const ast::CallExpr *expr) {
  if (hasFailed)
    return Value();
  switch (callee.getKind()) {
  case ValueKind::Function:
    return callFunction(callee, std::move(args), std::move(keywords));
  case ValueKind::Builtin:
    return callBuiltin(*callee.as<BuiltinObject>().info, std::move(args), std::move(keywords),
                       expr);
  case ValueKind::BoundMethod: {
    const auto &method = callee.as<BoundMethodObject>();
    if (method.function.isNone())
      return pythonMethod(method.self, method.name, args, keywords);
    args.insert(args.begin(), method.self);
    return call(method.function, std::move(args), std::move(keywords), expr);
  }
  case ValueKind::Instance: {
    // functools.partial
    const auto &instance = callee.as<InstanceObject>();
    if (instance.typeName == "partial") {
      std::vector<Value> all = instance.fields[1].second.getElements();
      all.insert(all.end(), args.begin(), args.end());
      Keywords named;
      for (const auto &[key, value] : instance.fields[2].second.as<DictObject>().items)
        named.emplace_back(str(key), value);
      for (auto &keyword : keywords) {
        llvm::erase_if(named, [&](const auto &old) { return old.first == keyword.first; });
        named.push_back(keyword);
      }
      return call(instance.fields[0].second, std::move(all), std::move(named), expr);
    }
    if (instance.typeName == "identity" && args.size() == 1)
      return args.front();
    if (instance.typeName == "staticmethod")
      return call(instance.fields.front().second, std::move(args), std::move(keywords), expr);
    if (instance.typeName == "namedtuple") {
      auto object = std::make_shared<SequenceObject>();
      for (const Value &field : instance.fields[0].second.getElements()) {
        object->fields.push_back(str(field));
        size_t index = object->elements.size();
        Value value = index < args.size() ? args[index] : Value::none();
        for (const auto &keyword : keywords)
          if (keyword.first == object->fields.back())
            value = keyword.second;
        object->elements.push_back(value);
      }
      return {ValueKind::Tuple, object};
    }
    break;
  }
  case ValueKind::Class:
    return frame->mode == FunctionMode::Kernel
               ? callClass(callee, std::move(args), std::move(keywords))
               : host->instantiate(callee, std::move(args), std::move(keywords));
  case ValueKind::Type:
    return callType(callee, std::move(args));
  case ValueKind::Opaque:
    return frame->mode == FunctionMode::Kernel
               ? notKnown(callee)
               : host->call(callee, std::move(args), std::move(keywords));
  default:
    break;
  }
  std::string hint = callee.isString() ? "a spec gives a function as {\"function\": \"" +
                                             callee.getString().str() + "\"}"
                                       : "";
  return errorWithHint(hint, DiagKind::SemaNotCallable, describe(callee));
}

//===----------------------------------------------------------------------===//
// Functions of Python source
//===----------------------------------------------------------------------===//

bool Evaluator::bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                               const Keywords &keywords, Environment &names) {
  std::optional<ArgumentsMistake> mistake = sema::bindParameters(function, args, keywords, names);
  if (!mistake || hasFailed)
    return !mistake;
  At at(*this, mistake->keyword.empty() ? position : keywordRange(mistake->keyword));
  Diagnostic diagnostic(DiagKind::SemaArguments, position,
                        Diagnostic::pack(function.getName(), mistake->what));
  diagnostic.withHint(mistake->hint);
  if (function.definition)
    diagnostic.note(DiagKind::SemaDeclaredHere, function.definition->signatureRange,
                    function.getName());
  addError(std::move(diagnostic));
  return false;
}

Value Evaluator::callFunction(const Value &callee, std::vector<Value> args, Keywords keywords) {
  const auto &function = callee.as<FunctionObject>();
  bool fromKernel = frame && frame->mode == FunctionMode::Kernel;
  // A builtin that a package makes of its own, as Triton makes its: it gets what builds IR.
  if (fromKernel && function.attributes.count("__triton_builtin__"))
    keywords.emplace_back("_semantic", Value::opaque("what builds the kernel"));
  if (function.mode == FunctionMode::Python || (function.isModeGuessed && !fromKernel))
    return host->call(callee, std::move(args), std::move(keywords));
  // Launch options of a helper call mean nothing here.
  if (!function.lambda)
    llvm::erase_if(keywords, [&](const auto &keyword) {
      return keyword.first == "_builder" || keyword.first == "_semantic";
    });
  Environment names;
  if (!bindParameters(function, args, keywords, names))
    return Value();
  // As in Triton, a kernel's function gets copies of the objects that it is called with.
  for (auto &entry : names)
    entry.second = detached(entry.second);
  return runBody(function, std::move(names));
}

Value Evaluator::runBody(const FunctionObject &function, Environment names, Environment *atEnd) {
  Frame body;
  body.name = function.getName();
  body.module = function.module;
  body.mode = FunctionMode::Kernel;
  body.names = std::move(names);
  body.closure = function.closure;
  body.enclosing = function.scope;
  FrameGuard guard(*this, body);
  if (hasFailed)
    return Value();
  if (!buildsIR())
    return error(DiagKind::SemaOutsideKernel, body.name);
  checkDecorators(function);
  if (function.lambda)
    return evaluate(*function.lambda->body);

  // Emission may stand inside a branch when the body fails.
  mlir::OpBuilder::InsertionGuard insertionGuard(builder);
  body.scopes.emplace_back();
  Flow flow = execute(function.definition->body);
  if (hasFailed)
    return Value();
  if (flow != Flow::Returned && body.mayHaveReturned)
    body.returnValue = Value();
  else if (flow != Flow::Returned)
    body.returnValue = body.scopes.back().pending.empty() ? Value::none() : Value::undefined("");
  flow = Flow::Returned;
  mlir::Value returned;
  closeScope(flow, returned);
  if (hasFailed)
    return Value();
  if (atEnd)
    *atEnd = body.names;
  if (body.returnValue.isError())
    return failAgain();
  return body.returnValue.is(ValueKind::Undefined) ? Value::none() : body.returnValue;
}

//===----------------------------------------------------------------------===//
// Builtins
//===----------------------------------------------------------------------===//

/// What Triton's own functions pass along.
static bool isImplicitKeyword(llvm::StringRef name) {
  return name == "_builder" || name == "_semantic" || name == "_generator";
}

/// Keywords that the builtin does not have. False after an error.
bool Evaluator::checkKeywords(const BuiltinInfo &info, const Keywords &keywords) {
  std::vector<llvm::StringRef> known;
  for (const BuiltinParameter &parameter : info.getParameters()) {
    known.push_back(parameter.name);
    if (parameter.isKeywords)
      return true;
  }
  for (const auto &keyword : keywords) {
    if (llvm::is_contained(known, llvm::StringRef(keyword.first)) ||
        isImplicitKeyword(keyword.first))
      continue;
    std::string nearest = suggestName(keyword.first, known);
    At at(*this, keywordRange(keyword.first));
    errorWithHint(nearest + (nearest.empty() ? "" : " ") + info.describe(false),
                  DiagKind::SemaArguments, info.getQualifiedName(),
                  "has no parameter '" + keyword.first + "'");
    return false;
  }
  return true;
}

bool Evaluator::bindBuiltin(const BuiltinInfo &info, std::vector<Value> &args, Keywords &keywords,
                            Call &call) {
  call.info = &info;
  if (!checkKeywords(info, keywords))
    return false;
  llvm::ArrayRef<BuiltinParameter> parameters = info.getParameters();
  size_t next = 0;
  bool variadic = false;
  std::vector<bool> used(keywords.size());
  for (const BuiltinParameter &parameter : parameters) {
    if (parameter.isVariadic) {
      call.rest.assign(args.begin() + std::min(next, args.size()), args.end());
      next = args.size();
      variadic = true;
    }
    if (parameter.isVariadic || parameter.isKeywords) {
      // `shape=` and `dims=` name what is usually given one by one.
      for (size_t i = 0; i < keywords.size(); ++i)
        if (parameter.isVariadic && keywords[i].first == parameter.name && call.rest.empty()) {
          call.rest.push_back(keywords[i].second);
          used[i] = true;
        }
      call.values.push_back(Value::none());
      call.given.push_back(false);
      continue;
    }
    std::optional<Value> value;
    if (!variadic && next < args.size())
      value = args[next++];
    for (size_t i = 0; i < keywords.size(); ++i)
      if (keywords[i].first == parameter.name && !used[i]) {
        if (value) {
          At at(*this, keywordRange(parameter.name));
          errorWithHint(info.describe(false), DiagKind::SemaArguments, info.getQualifiedName(),
                        "got two values for '" + parameter.name + "'");
          return false;
        }
        value = keywords[i].second;
        used[i] = true;
      }
    call.given.push_back(value.has_value());
    if (!value && !parameter.hasDefault) {
      errorWithHint(info.describe(false), DiagKind::SemaArguments, info.getQualifiedName(),
                    "needs a value for '" + parameter.name + "'");
      return false;
    }
    call.values.push_back(value ? *value : parameter.defaultValue);
  }
  for (size_t i = 0; i < keywords.size(); ++i)
    if (!used[i] && !isImplicitKeyword(keywords[i].first))
      call.keywords.push_back(keywords[i]);
  if (next < args.size()) {
    errorWithHint(info.describe(false), DiagKind::SemaArguments, info.getQualifiedName(),
                  "takes " + std::to_string(next) + " arguments, got " +
                      std::to_string(args.size()));
    return false;
  }
  return true;
}

Value Evaluator::callBuiltin(const BuiltinInfo &info, std::vector<Value> args, Keywords keywords,
                             const ast::CallExpr *expr) {
  std::string name = info.getQualifiedName();
  if (!info.handler)
    return error(DiagKind::SemaUnsupportedBuiltin, name);
  if (info.place == Place::Kernel && (!buildsIR() || frame->mode != FunctionMode::Kernel)) {
    const Frame *caller = frame;
    while (caller && caller->mode != FunctionMode::Kernel)
      caller = caller->caller;
    return errorWithHint(caller ? "decorate '" + frame->name + "' with @triton.jit" : "",
                         DiagKind::SemaOutsideKernel, name);
  }
  // An unevaluated value makes the result of a Python function unknown, not wrong.
  bool isTriton = info.library == Library::Language || info.library == Library::Device ||
                  info.library == Library::Triton;
  static constexpr llvm::StringLiteral takesAnything[] = {"hasattr",
                                                          "getattr",
                                                          "isinstance",
                                                          "callable",
                                                          "print",
                                                          "str",
                                                          "repr",
                                                          "type",
                                                          "tuple",
                                                          "list",
                                                          "torch.finfo",
                                                          "torch.iinfo",
                                                          "torch.cuda.get_device_capability",
                                                          "map",
                                                          "filter"};
  if (!isTriton && !llvm::is_contained(takesAnything, info.name) &&
      !llvm::StringRef(info.name).contains('.'))
    for (const Value &arg : args)
      if (arg.isOpaque())
        return arg;
  Call bound;
  bound.expr = expr;
  size_t written = expr ? llvm::count_if(expr->arguments,
                                         [](const ast::Argument &argument) {
                                           return argument.kind == ast::ArgumentKind::Positional;
                                         })
                        : 0;
  CallSiteGuard site(*this, {expr, &info, std::max(args.size(), written) - written});
  if (!bindBuiltin(info, args, keywords, bound))
    return Value();
  if (instance && instance->calledBuiltins)
    instance->calledBuiltins->insert(&info);
  Value result = info.handler(*this, bound);
  return hasFailed ? Value() : result;
}

//===----------------------------------------------------------------------===//
// Classes and types
//===----------------------------------------------------------------------===//

Value Evaluator::callType(const Value &type, std::vector<Value> args) {
  // `tl.float32(x)` reads like a cast, which is what older kernels mean by it.
  if (args.size() == 1 && buildsIR() && !type.getType().isBlock()) {
    Tensor tensor = toTensor(args[0]);
    return tensor ? Value::tensor(cast(tensor, type.getType().dtype)) : Value();
  }
  return error(DiagKind::SemaNotCallable, describe(type));
}

/// A field that was annotated `tl.constexpr` keeps what is known at compile time.
bool Evaluator::isConstexprField(const Value &instance, llvm::StringRef name) {
  const Value &cls = instance.as<InstanceObject>().cls;
  return cls.is(ValueKind::Class) &&
         llvm::any_of(cls.as<ClassObject>().annotated, [&](const auto &field) {
           return field.first == name && isConstexprAnnotation(*field.second);
         });
}

/// In device code: fields are the annotated names of the bodies, or what `__init__` assigns.
Value Evaluator::callClass(const Value &cls, std::vector<Value> args, Keywords keywords) {
  const auto &object = cls.as<ClassObject>();
  const Value *init = object.find("__init__");
  bool hasFields = object.isNamedTuple || !init;
  if (object.isEnum || object.hasUnknownBase || !object.definition ||
      (hasFields && object.isDataclass))
    return host->instantiate(cls, std::move(args), std::move(keywords));
  if (hasFields) {
    bool isNamedTuple = object.isNamedTuple;
    Value result = host->callFields(cls, std::move(args), std::move(keywords));
    return hasFailed || isNamedTuple ? result : detached(result);
  }
  auto instance = std::make_shared<InstanceObject>();
  instance->cls = cls;
  instance->typeName = object.name;
  FunctionObject body = init->as<FunctionObject>();
  body.mode = FunctionMode::Kernel;
  args.insert(args.begin(), Value(ValueKind::Instance, instance));
  Environment names, atEnd;
  if (!bindParameters(body, args, keywords, names))
    return Value();
  llvm::StringRef self = names.front().first;
  runBody(body, std::move(names), &atEnd);
  return hasFailed ? Value() : use(self, atEnd[self]);
}

} // namespace kiln::sema
