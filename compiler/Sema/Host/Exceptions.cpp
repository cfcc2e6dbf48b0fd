// Python's exceptions: their classes, and which one an error of the Evaluator is.

#include "compiler/Sema/Host/Interpreter.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

struct ExceptionName {
  llvm::StringLiteral name, base;
};

constexpr ExceptionName exceptionNames[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"SystemExit", "BaseException"},
    {"KeyboardInterrupt", "BaseException"},
    {"GeneratorExit", "BaseException"},
    {"StopIteration", "Exception"},
    {"StopAsyncIteration", "Exception"},
    {"ArithmeticError", "Exception"},
    {"FloatingPointError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"AssertionError", "Exception"},
    {"AttributeError", "Exception"},
    {"BufferError", "Exception"},
    {"EOFError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"MemoryError", "Exception"},
    {"NameError", "Exception"},
    {"UnboundLocalError", "NameError"},
    {"OSError", "Exception"},
    {"IOError", "Exception"},
    {"EnvironmentError", "Exception"},
    {"FileNotFoundError", "OSError"},
    {"FileExistsError", "OSError"},
    {"PermissionError", "OSError"},
    {"TimeoutError", "OSError"},
    {"ConnectionError", "OSError"},
    {"ReferenceError", "Exception"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"SyntaxError", "Exception"},
    {"SystemError", "Exception"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"},
    {"UnicodeError", "ValueError"},
    {"Warning", "Exception"},
    {"UserWarning", "Warning"},
    {"DeprecationWarning", "Warning"},
    {"PendingDeprecationWarning", "Warning"},
    {"RuntimeWarning", "Warning"},
    {"FutureWarning", "Warning"},
    {"ImportWarning", "Warning"},
    {"SyntaxWarning", "Warning"},
    {"UnicodeWarning", "Warning"},
    {"BytesWarning", "Warning"},
    {"ResourceWarning", "Warning"},
};

/// The class of the exception that an error stands for; "" where it is a limit of Kiln's.
llvm::StringRef classOf(const Diagnostic &failure) {
  llvm::StringRef message = failure.message;
  auto says = [&](llvm::StringRef text) { return message.contains(text); };
  switch (failure.kind) {
  case DiagKind::SemaUnknownName:
    return "NameError";
  case DiagKind::SemaUnboundName:
    return "UnboundLocalError";
  case DiagKind::SemaUnknownAttribute:
    return "AttributeError";
  case DiagKind::SemaImport:
    return "ImportError";
  case DiagKind::SemaNotCallable:
  case DiagKind::SemaArguments:
  case DiagKind::SemaOperands:
  case DiagKind::SemaOperand:
    return "TypeError";
  case DiagKind::SemaInvalidArgument:
    return message.starts_with("int:") || message.starts_with("float:") ? "ValueError"
                                                                        : "TypeError";
  case DiagKind::SemaStaticAssert:
    return "AssertionError";
  case DiagKind::SemaRaised:
    return "Exception";
  case DiagKind::SemaPython:
    if (says("too large"))
      return "";
    if (says("division by zero"))
      return "ZeroDivisionError";
    if (says("is out of range for") || says("pop from"))
      return "IndexError";
    if (says("is not in the dict") || says("is not in the environment"))
      return "KeyError";
    return "ValueError";
  default:
    return "";
  }
}

} // namespace

Value HostInterpreter::exceptionClass(llvm::StringRef name) {
  if (auto found = exceptionClasses.find(name); found != exceptionClasses.end())
    return found->second;
  const auto *entry = llvm::find_if(exceptionNames, [&](const auto &e) { return e.name == name; });
  if (entry == std::end(exceptionNames))
    return Value::none();
  // The older names of OSError.
  if (name == "IOError" || name == "EnvironmentError")
    return exceptionClasses[name] = exceptionClass("OSError");
  auto object = std::make_shared<ClassObject>();
  object->name = name.str();
  object->order.push_back(object);
  if (!entry->base.empty()) {
    Value base = exceptionClass(entry->base);
    object->bases.push_back(base);
    llvm::append_range(object->order, base.as<ClassObject>().order);
  }
  return exceptionClasses[name] = Value(ValueKind::Class, object);
}

Value HostInterpreter::makeException(const Value &cls, llvm::ArrayRef<Value> args) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = cls;
  object->typeName = cls.as<ClassObject>().name;
  object->set("args", Value::tuple(args.vec()));
  return {ValueKind::Instance, object};
}

Value HostInterpreter::raise(llvm::StringRef className, const llvm::Twine &message) {
  if (core->failed())
    return Value();
  std::string text = message.str();
  core->error(DiagKind::SemaPython, text);
  raised = makeException(exceptionClass(className), {Value::string(text)});
  raisedBy = core->unwinding().getNumFailures();
  return Value();
}

void HostInterpreter::raiseAgain(const Value &exception) {
  std::string text = exception.isOpaque() ? repr(exception) : describe(exception);
  if (exception.is(ValueKind::Instance)) {
    text = exception.as<InstanceObject>().typeName;
    const Value *args = exception.as<InstanceObject>().find("args");
    if (args && args->isSequence() && !args->getElements().empty())
      text += ": " + str(args->getElements().front());
  }
  core->error(DiagKind::SemaRaised, text);
  raised = exception;
  raisedBy = core->unwinding().getNumFailures();
}

bool HostInterpreter::isException() const {
  return raisedBy == core->unwinding().getNumFailures() ||
         (!core->unwinding().needsUnknown() && !classOf(core->unwinding().lastFailure()).empty());
}

Value HostInterpreter::takeException() {
  Value exception = raised;
  bool isFresh = raisedBy == core->unwinding().getNumFailures();
  Diagnostic failure = core->unwinding().takeFailure();
  if (isFresh)
    return exception;
  return makeException(exceptionClass(classOf(failure)), {Value::string(failure.message)});
}

bool HostInterpreter::isSubclass(const Value &cls, const Value &of) {
  if (of.isSequence())
    return llvm::any_of(of.getElements(), [&](const Value &one) { return isSubclass(cls, one); });
  if (cls.sharesObject(of))
    return true;
  return cls.is(ValueKind::Class) && of.is(ValueKind::Class) &&
         cls.as<ClassObject>().derivesFrom(of.as<ClassObject>());
}

bool HostInterpreter::isCaught(const Value &exception, const Value &type) {
  if (type.isSequence())
    return llvm::any_of(type.getElements(),
                        [&](const Value &one) { return isCaught(exception, one); });
  // An exception of a package that is not at hand, raised or named.
  if (type.isOpaque() || !exception.is(ValueKind::Instance))
    return !type.isOpaque();
  return isSubclass(exception.as<InstanceObject>().cls, type);
}

bool HostInterpreter::isExpected(llvm::StringRef className) const {
  auto names = [&](const ast::Expr &type, auto &self) -> bool {
    if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(&type))
      return llvm::any_of(tuple->elements, [&](const ast::Expr *one) { return self(*one, self); });
    const auto *name = llvm::dyn_cast<ast::NameExpr>(&type);
    if (!name)
      return false;
    bool isBase = name->name == "Exception" || name->name == "BaseException";
    return isBase || name->name == className ||
           (className == "ModuleNotFoundError" && name->name == "ImportError");
  };
  return llvm::any_of(tries, [&](const RunningTry &running) {
    return llvm::any_of(running.stmt->handlers, [&](const ast::ExceptHandler &handler) {
      return !handler.type || names(*handler.type, names);
    });
  });
}

} // namespace kiln::sema
