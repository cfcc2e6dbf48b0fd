// Calls: what can be called, binding arguments to parameters, running function bodies and classes.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/Annotations.h"
#include "compiler/Sema/Python/ParameterBinding.h"

namespace kiln::sema {

Value Evaluator::evaluateCall(const ast::CallExpr &expr) {
  Value callee = evaluate(*expr.callee);
  if (failed())
    return Value();
  if (&expr == discarded)
    checkUse(expr, callee);
  // What it would do on the device is not known either.
  if (callee.isOpaque()) {
    bool isResult = llvm::StringRef(callee.as<OpaqueObject>().path).ends_with(")");
    return notKnown(isResult ? callee : python().callUnknown(callee, {}, {}));
  }
  std::vector<Value> args;
  Keywords keywords;
  if (!collectArguments(expr.arguments, args, keywords))
    return Value();
  Unwinding::Site site(unwinding(), {&expr, nullptr, 0});
  return call(callee, std::move(args), std::move(keywords), &expr);
}

/// `@triton.must_use_result("…")`: what its author says of it.
static std::string reasonOf(const FunctionObject &function, const ast::Expr &decorator) {
  for (const Decoration &decoration : function.decorations)
    if (decoration.expr == &decorator && decoration.args.size() == 1 &&
        decoration.args.front().isString())
      return decoration.args.front().getString().str();
  return "";
}

void Evaluator::checkUse(const ast::CallExpr &expr, const Value &callee) {
  Value function =
      callee.is(ValueKind::BoundMethod) ? callee.as<BoundMethodObject>().function : callee;
  llvm::StringRef text = modules().getSources().get(expr.range.file).getText(expr.callee->range);
  if (function.is(ValueKind::Builtin) &&
      function.as<BuiltinObject>().info == builtins().find(Library::Language, "advance")) {
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
      errorWithHint(reasonOf(function.as<FunctionObject>(), *decorator), DiagKind::SemaUnusedResult,
                    text);
  }
}

Value Evaluator::call(const Value &callee, std::vector<Value> args, Keywords keywords,
                      const ast::CallExpr *expr) {
  if (failed())
    return Value();
  switch (callee.getKind()) {
  case ValueKind::Function:
    return callFunction(callee, std::move(args), std::move(keywords));
  case ValueKind::Builtin:
    return callBuiltin(*callee.as<BuiltinObject>().info, std::move(args), std::move(keywords),
                       expr);
  case ValueKind::BoundMethod:
    return callMethod(callee.as<BoundMethodObject>(), std::move(args), std::move(keywords), expr);
  case ValueKind::Instance:
    return callInstance(callee, std::move(args), std::move(keywords), expr);
  case ValueKind::Class:
    return unwinding().isDeviceCode()
               ? callClass(callee, std::move(args), std::move(keywords))
               : python().instantiate(callee, std::move(args), std::move(keywords));
  case ValueKind::Type:
    return callType(callee, std::move(args));
  case ValueKind::Opaque:
    return unwinding().isDeviceCode() ? notKnown(callee)
                                      : python().call(callee, std::move(args), std::move(keywords));
  default:
    break;
  }
  std::string hint = callee.isString() ? "a spec gives a function as {\"function\": \"" +
                                             callee.getString().str() + "\"}"
                                       : "";
  return errorWithHint(hint, DiagKind::SemaNotCallable, describe(callee));
}

Value Evaluator::callMethod(const BoundMethodObject &method, std::vector<Value> args,
                            Keywords keywords, const ast::CallExpr *expr) {
  if (!method.function.isNone()) {
    args.insert(args.begin(), method.self);
    return call(method.function, std::move(args), std::move(keywords), expr);
  }
  if (!method.self.isTensor())
    return tensors().pythonMethod(method.self, method.name, args, keywords);
  // x.logical_and(y), x.logical_or(y)
  if (args.size() != 1)
    return error(DiagKind::SemaArguments, method.name, "got arguments that it does not take");
  Tensor other = tensors().toTensor(args[0]);
  return other ? tensors().combineLogical(method.name == "logical_and", method.self,
                                          Value::tensor(other))
               : Value();
}

/// functools.partial: its arguments, and those of the call.
static void addPartial(const InstanceObject &partial, std::vector<Value> &args,
                       Keywords &keywords) {
  std::vector<Value> all = partial.fields[1].second.getElements();
  all.insert(all.end(), args.begin(), args.end());
  Keywords named;
  for (const auto &[key, value] : partial.fields[2].second.as<DictObject>().items)
    named.emplace_back(str(key), value);
  for (auto &keyword : keywords) {
    llvm::erase_if(named, [&](const auto &old) { return old.first == keyword.first; });
    named.push_back(keyword);
  }
  args = std::move(all);
  keywords = std::move(named);
}

/// `Row(1, b=2)` of a collections.namedtuple.
static Value makeNamedTuple(const InstanceObject &type, llvm::ArrayRef<Value> args,
                            const Keywords &keywords) {
  auto object = std::make_shared<SequenceObject>();
  for (const Value &field : type.fields[0].second.getElements()) {
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

/// Kiln's own kinds of instances that can be called.
Value Evaluator::callInstance(const Value &callee, std::vector<Value> args, Keywords keywords,
                              const ast::CallExpr *expr) {
  const auto &instance = callee.as<InstanceObject>();
  if (instance.typeName == "partial") {
    addPartial(instance, args, keywords);
    return call(instance.fields[0].second, std::move(args), std::move(keywords), expr);
  }
  if (instance.typeName == "identity" && args.size() == 1)
    return args.front();
  if (instance.typeName == "staticmethod")
    return call(instance.fields.front().second, std::move(args), std::move(keywords), expr);
  if (instance.typeName == "namedtuple")
    return makeNamedTuple(instance, args, keywords);
  return error(DiagKind::SemaNotCallable, describe(callee));
}

//===----------------------------------------------------------------------===//
// Functions of Python source
//===----------------------------------------------------------------------===//

bool Evaluator::bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                               const Keywords &keywords, Environment &names) {
  std::optional<ArgumentsMistake> mistake = sema::bindParameters(function, args, keywords, names);
  if (!mistake || failed())
    return !mistake;
  At at(*this, mistake->keyword.empty() ? unwinding().getPosition()
                                        : unwinding().keywordRange(mistake->keyword));
  Diagnostic diagnostic(DiagKind::SemaArguments, unwinding().getPosition(),
                        Diagnostic::pack(function.getName(), mistake->what));
  diagnostic.withHint(mistake->hint);
  if (function.definition)
    diagnostic.note(DiagKind::SemaDeclaredHere, function.definition->signatureRange,
                    function.getName());
  unwinding().report(std::move(diagnostic));
  return false;
}

Value Evaluator::callFunction(const Value &callee, std::vector<Value> args, Keywords keywords) {
  const auto &function = callee.as<FunctionObject>();
  bool fromKernel = frame() && frame()->mode == FunctionMode::Kernel;
  // A builtin that a package makes of its own, as Triton makes its: it gets what builds IR.
  if (fromKernel && function.attributes.count("__triton_builtin__"))
    keywords.emplace_back("_semantic", Value::opaque("what builds the kernel"));
  if (function.mode == FunctionMode::Python || (function.isModeGuessed && !fromKernel))
    return python().call(callee, std::move(args), std::move(keywords));
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
  if (!checkInlined(function, names))
    return Value();
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
  body.isConstructor = atEnd != nullptr;
  FrameGuard guard(*this, body);
  if (failed())
    return Value();
  if (!tensors().buildsIR())
    return error(DiagKind::SemaOutsideKernel, body.name);
  modules().checkDecorators(function);
  if (function.lambda)
    return evaluate(*function.lambda->body);

  // Emission may stand inside a branch when the body fails.
  mlir::OpBuilder::InsertionGuard insertionGuard(builder());
  body.scopes.emplace_back();
  Flow flow = execute(function.definition->body);
  if (failed())
    return Value();
  if (flow != Flow::Returned && body.mayHaveReturned)
    body.returnValue = Value();
  else if (flow != Flow::Returned)
    body.returnValue = body.scopes.back().pending.empty() ? Value::none() : Value::undefined("");
  flow = Flow::Returned;
  mlir::Value returned;
  closeScope(flow, returned);
  if (failed())
    return Value();
  if (atEnd)
    *atEnd = body.names;
  if (body.returnValue.isError())
    return failAgain();
  return body.returnValue.is(ValueKind::Undefined) ? Value::none() : body.returnValue;
}

//===----------------------------------------------------------------------===//
// Classes and types
//===----------------------------------------------------------------------===//

Value Evaluator::callType(const Value &type, std::vector<Value> args) {
  // `tl.float32(x)` reads like a cast, which is what older kernels mean by it.
  if (args.size() == 1 && tensors().buildsIR() && !type.getType().isBlock()) {
    Tensor tensor = tensors().toTensor(args[0]);
    return tensor ? Value::tensor(tensors().cast(tensor, type.getType().dtype)) : Value();
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
    return python().instantiate(cls, std::move(args), std::move(keywords));
  if (hasFields) {
    bool isNamedTuple = object.isNamedTuple;
    Value result = python().callFields(cls, std::move(args), std::move(keywords));
    return failed() || isNamedTuple ? result : detached(result);
  }
  auto instance = std::make_shared<InstanceObject>();
  instance->cls = cls;
  instance->typeName = object.name;
  FunctionObject body = init->as<FunctionObject>();
  if (!checkConstructor(body))
    return Value();
  body.mode = FunctionMode::Kernel;
  args.insert(args.begin(), Value(ValueKind::Instance, instance));
  Environment names, atEnd;
  if (!bindParameters(body, args, keywords, names))
    return Value();
  llvm::StringRef self = names.front().first;
  runBody(body, std::move(names), &atEnd);
  return failed() ? Value() : tensors().use(self, atEnd[self]);
}

} // namespace kiln::sema
