// Calls of builtins: whether they may be called there, and their arguments.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

/// What Triton's own functions pass along.
bool isImplicitKeyword(llvm::StringRef name) {
  return name == "_builder" || name == "_semantic" || name == "_generator";
}

/// Deals the arguments of one call out to the parameters of a builtin.
class BuiltinBinder {
public:
  BuiltinBinder(const Reporting &reporting, const BuiltinInfo &info, llvm::ArrayRef<Value> args,
                const Keywords &keywords, Call &call)
      : reporting(reporting), info(info), args(args), keywords(keywords), call(call),
        used(keywords.size()) {}

  /// False after an error.
  bool bind() {
    call.info = &info;
    if (!checkKeywords())
      return false;
    for (const BuiltinParameter &parameter : info.getParameters()) {
      if (parameter.isVariadic)
        bindRest(parameter);
      if (parameter.isVariadic || parameter.isKeywords) {
        call.values.push_back(Value::none());
        call.given.push_back(false);
      } else if (!bind(parameter))
        return false;
    }
    for (size_t i = 0; i < keywords.size(); ++i)
      if (!used[i] && !isImplicitKeyword(keywords[i].first))
        call.keywords.push_back(keywords[i]);
    return next >= args.size() || refuse("takes " + std::to_string(next) + " arguments, got " +
                                         std::to_string(args.size()));
  }

private:
  bool refuse(const std::string &what) const {
    reporting.errorWithHint(info.describe(false), DiagKind::SemaArguments, info.getQualifiedName(),
                            what);
    return false;
  }

  /// Keywords that the builtin does not have. False after an error.
  bool checkKeywords() const {
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
      At at(reporting, reporting.unwinding().keywordRange(keyword.first));
      reporting.errorWithHint(nearest + (nearest.empty() ? "" : " ") + info.describe(false),
                              DiagKind::SemaArguments, info.getQualifiedName(),
                              "has no parameter '" + keyword.first + "'");
      return false;
    }
    return true;
  }

  /// `*parameter`: all arguments that are left. `shape=` and `dims=` name what is usually given one
  /// by one.
  void bindRest(const BuiltinParameter &parameter) {
    call.rest.assign(args.begin() + std::min(next, args.size()), args.end());
    next = args.size();
    isVariadic = true;
    for (size_t i = 0; i < keywords.size(); ++i)
      if (keywords[i].first == parameter.name && call.rest.empty()) {
        call.rest.push_back(keywords[i].second);
        used[i] = true;
      }
  }

  bool bind(const BuiltinParameter &parameter) {
    std::optional<Value> value;
    if (!isVariadic && next < args.size())
      value = args[next++];
    for (size_t i = 0; i < keywords.size(); ++i) {
      if (keywords[i].first != parameter.name || used[i])
        continue;
      if (value) {
        At at(reporting, reporting.unwinding().keywordRange(parameter.name));
        return refuse("got two values for '" + parameter.name.str() + "'");
      }
      value = keywords[i].second;
      used[i] = true;
    }
    call.given.push_back(value.has_value());
    if (!value && !parameter.hasDefault)
      return refuse("needs a value for '" + parameter.name.str() + "'");
    call.values.push_back(value ? *value : parameter.defaultValue);
    return true;
  }

  const Reporting &reporting;
  const BuiltinInfo &info;
  llvm::ArrayRef<Value> args;
  const Keywords &keywords;
  Call &call;
  std::vector<bool> used;
  size_t next = 0;
  bool isVariadic = false;
};

/// Builtins of Python that look at what is known of an unknown value.
bool takesUnknown(const BuiltinInfo &info) {
  static constexpr llvm::StringLiteral names[] = {"hasattr", "getattr", "isinstance", "callable",
                                                  "print",   "str",     "repr",       "type",
                                                  "tuple",   "list",    "map",        "filter"};
  bool isTriton = info.library == Library::Language || info.library == Library::Device ||
                  info.library == Library::Triton;
  return isTriton || llvm::is_contained(names, info.name) || info.name.contains('.');
}

} // namespace

bool Evaluator::checkPlace(const BuiltinInfo &info) {
  if (!info.isSupported()) {
    error(DiagKind::SemaUnsupportedBuiltin, info.getQualifiedName());
    return false;
  }
  if (info.place != Place::Kernel || (tensors().buildsIR() && unwinding().isDeviceCode()))
    return true;
  const ActiveCall *caller = frame();
  while (caller && caller->mode != FunctionMode::Kernel)
    caller = caller->caller;
  errorWithHint(caller ? "decorate '" + frame()->name + "' with @triton.jit" : "",
                DiagKind::SemaOutsideKernel, info.getQualifiedName());
  return false;
}

Value Evaluator::callBuiltin(const BuiltinInfo &info, std::vector<Value> args, Keywords keywords,
                             const ast::CallExpr *expr) {
  if (!checkPlace(info))
    return Value();
  // An unevaluated value makes the result of a Python function unknown, not wrong.
  if (!takesUnknown(info))
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
  Unwinding::Site site(unwinding(), {expr, &info, std::max(args.size(), written) - written});
  if (!bindBuiltin(info, args, keywords, bound))
    return Value();
  noteCall(info);
  Value result = run(info, bound);
  return failed() ? Value() : result;
}

bool Evaluator::bindBuiltin(const BuiltinInfo &info, llvm::ArrayRef<Value> args,
                            const Keywords &keywords, Call &call) {
  return BuiltinBinder(*this, info, args, keywords, call).bind();
}

void Evaluator::noteCall(const BuiltinInfo &info) {
  const KernelInstance *kernel = tensors().getKernel();
  if (kernel && kernel->calledBuiltins)
    kernel->calledBuiltins->insert(&info);
}

Value Evaluator::run(const BuiltinInfo &info, Call &call) {
  if (auto handler = std::get_if<Value (*)(Evaluator &, Call &)>(&info.handler))
    return (*handler)(*this, call);
  if (auto handler = std::get_if<Value (*)(TensorBuilder &, Call &)>(&info.handler))
    return (*handler)(tensors(), call);
  return std::get<Value (*)(PythonOperations &, Call &)>(info.handler)(tensors(), call);
}

} // namespace kiln::sema
