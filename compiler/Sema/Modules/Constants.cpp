// Constants of specs and command lines as values, and values of decorators as constants.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Modules/ModuleScope.h"

#include "llvm/ADT/StringExtras.h"

namespace kiln::sema {

Value ModuleScope::fromConstant(const Literal &constant, ModuleState *module) {
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
  return failed() ? Value() : Value::tuple(elements);
}

Value ModuleScope::unknownFunction(llvm::StringRef path, const ModuleState *module) const {
  std::vector<llvm::StringRef> candidates = builtins.getNames(Library::Language);
  if (module)
    for (const auto &binding : module->scope->names)
      candidates.push_back(binding.first);
  return errorWithHint(suggestName(path, candidates), DiagKind::SemaUnknownName, path);
}

Value ModuleScope::followPath(Value value, llvm::StringRef names) {
  for (llvm::StringRef name : llvm::split(names, '.'))
    if (!failed() && !name.empty())
      value = code.getAttribute(value, name);
  return value;
}

Value ModuleScope::functionNamed(llvm::StringRef path, ModuleState *module) {
  auto [head, rest] = path.split('.');
  std::optional<Value> found = module ? python.findGlobal(*module, head) : std::optional<Value>();
  if (!found && !failed() && module && !rest.empty())
    found = python.importModule(*module, 0, head);
  if (found && found->isOpaque())
    found = python.resolve(*found);
  if (!found && !failed()) {
    const BuiltinInfo *info = builtins.find(Library::Language, path);
    return info ? Value::builtin(*info) : unknownFunction(path, module);
  }
  Value value;
  auto follow = [&](const Value &start, llvm::StringRef names) {
    return unwinding().attempt([&] { value = followPath(start, names); });
  };
  // A package can have a function of its submodule's name: then the longest path is the module's.
  bool isFollowed = !failed() && follow(*found, rest);
  for (llvm::StringRef prefix = path; !isFollowed && !failed() && prefix.contains('.');) {
    prefix = prefix.rsplit('.').first;
    std::optional<Value> submodule = python.importModule(*module, 0, prefix);
    if (submodule && submodule->is(ValueKind::Module))
      isFollowed = follow(*submodule, path.drop_front(prefix.size() + 1));
  }
  if (!isFollowed && !failed())
    value = followPath(*found, rest);
  if (failed())
    return Value();
  bool isFunction = value.is(ValueKind::Function) || value.is(ValueKind::Builtin) ||
                    value.is(ValueKind::BoundMethod) || value.is(ValueKind::Class) ||
                    value.is(ValueKind::Instance) || value.is(ValueKind::Type);
  return isFunction ? value
                    : error(DiagKind::SemaInvalidArgument, "{\"function\": \"" + path.str() + "\"}",
                            "a function", describe(value));
}

std::optional<Literal> ModuleScope::toConstant(const Value &value, ModuleState *module) {
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
    std::optional<std::string> path = functionPath(value, module);
    return path ? std::optional(Literal::ofFunction(*path)) : std::nullopt;
  }
  case ValueKind::Tuple:
  case ValueKind::List: {
    std::vector<Literal> elements;
    for (const Value &element : value.getElements()) {
      std::optional<Literal> constant = toConstant(element, module);
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

} // namespace kiln::sema
