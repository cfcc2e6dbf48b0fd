// What the names of a module are worth once it has run: for tests against Python itself.

#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Host/Session.h"
#include "compiler/Sema/Sema.h"

#include "llvm/ADT/StringExtras.h"

namespace kiln {
namespace sema {

/// The text of a value that is made of constants; empty for others.
static std::string textOf(const Value &given, unsigned depth = 0) {
  constexpr unsigned deepest = 21;
  Value value = known(given);
  auto join = [&](const std::vector<Value> &elements, bool isSorted) -> std::optional<std::string> {
    std::vector<std::string> parts;
    for (const Value &element : elements)
      parts.push_back(textOf(element, depth + 1));
    if (llvm::is_contained(parts, ""))
      return std::nullopt;
    if (isSorted)
      llvm::sort(parts);
    return llvm::join(parts, ", ");
  };
  if (depth > deepest)
    return "";
  switch (value.getKind()) {
  case ValueKind::None:
  case ValueKind::Bool:
  case ValueKind::Int:
  case ValueKind::Float:
  case ValueKind::String:
    return repr(value);
  case ValueKind::List:
  case ValueKind::Set:
  case ValueKind::Tuple: {
    bool isSet = value.is(ValueKind::Set), isList = value.is(ValueKind::List);
    std::optional<std::string> text = join(value.getElements(), isSet);
    if (!text || !value.as<SequenceObject>().fields.empty())
      return "";
    if (isSet)
      return text->empty() ? "set()" : "{" + *text + "}";
    return (isList ? "[" : "(") + *text +
           (isList                            ? "]"
            : value.getElements().size() == 1 ? ",)"
                                              : ")");
  }
  case ValueKind::Dict: {
    std::string text;
    for (const auto &[key, item] : value.as<DictObject>().items) {
      std::string name = textOf(key, depth + 1), content = textOf(item, depth + 1);
      if (name.empty() || content.empty())
        return "";
      text += (text.empty() ? "" : ", ") + name + ": " + content;
    }
    return "{" + text + "}";
  }
  case ValueKind::Instance: {
    const auto &instance = value.as<InstanceObject>();
    const Value *name = instance.find("_name_"), *content = instance.find("_value_");
    bool isEnumerator = instance.cls.is(ValueKind::Class) && name && content;
    return isEnumerator && !textOf(*content, depth + 1).empty()
               ? instance.typeName + "." + str(*name)
               : "";
  }
  default:
    return "";
  }
}

} // namespace sema

std::vector<ModuleValue> evaluateModule(ModuleLoader &loader, const LoadedModule &module,
                                        const TargetAnswers &target,
                                        const NamedConstants &defines) {
  DiagnosticEngine ignored;
  sema::Session session(loader, module, sema::getBuiltinTable(), {target, nullptr, nullptr},
                        defines, ignored);
  sema::ModuleState &state = session.getHost().execute(module);
  std::vector<ModuleValue> values;
  for (const auto &[name, value] : state.scope->names) {
    bool isKnown = !sema::findUnknown(value);
    values.push_back({name.str(), isKnown ? sema::textOf(value) : "", isKnown});
  }
  return values;
}

} // namespace kiln
