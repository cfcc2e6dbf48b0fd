// match statements of host code.

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {

Exit HostInterpreter::executeMatch(const ast::MatchStmt &stmt) {
  Value subject = evaluate(*stmt.subject);
  if (core->failed())
    return Exit::Raised;
  for (const ast::MatchCase &one : stmt.cases) {
    std::optional<bool> taken = matches(*one.pattern, subject);
    Value why = subject;
    if (taken == true && one.guard) {
      Value guard = evaluate(*one.guard);
      taken = core->failed() ? std::nullopt : truth(guard, &why);
    }
    if (core->failed())
      return Exit::Raised;
    if (taken == true)
      return execute(one.body);
    if (!taken) { // Which case is taken is unknown.
      if (std::shared_ptr<OpaqueObject> inside = findUnknown(why))
        why = Value(ValueKind::Opaque, inside);
      else
        why = unknown("this 'match'");
      loseEffects(stmt, why);
      for (const ast::MatchCase &other : stmt.cases) {
        Exit exit = runEither(
            why, [&] { return execute(other.body); }, [] { return Exit::Normal; });
        if (core->failed())
          return exit;
      }
      return Exit::Normal;
    }
  }
  return Exit::Normal;
}

std::optional<bool> HostInterpreter::matches(const ast::Pattern &pattern, const Value &subject) {
  using ast::NodeKind;
  switch (pattern.kind) {
  case NodeKind::CapturePattern:
    if (llvm::StringRef name = llvm::cast<ast::CapturePattern>(pattern).name; !name.empty())
      bind(name, subject);
    return true;
  case NodeKind::ValuePattern: {
    Value value = evaluate(*llvm::cast<ast::ValuePattern>(pattern).value);
    bool isSingleton = value.isNone() || value.is(ValueKind::Bool);
    Value equal = core->failed()
                      ? Value()
                      : settle(compare(isSingleton ? ast::CompareOp::Is : ast::CompareOp::Equal,
                                       subject, value));
    Value why;
    return core->failed() ? std::nullopt : truth(equal, &why);
  }
  case NodeKind::AsPattern: {
    const auto &as = llvm::cast<ast::AsPattern>(pattern);
    std::optional<bool> found = as.pattern ? matches(*as.pattern, subject) : true;
    if (found == true)
      bind(as.name.name, subject);
    return found;
  }
  case NodeKind::OrPattern:
    for (const ast::Pattern *alternative : llvm::cast<ast::OrPattern>(pattern).alternatives)
      if (std::optional<bool> found = matches(*alternative, subject); !found || *found)
        return found;
    return false;
  case NodeKind::SequencePattern:
    return matchesSequence(llvm::cast<ast::SequencePattern>(pattern), subject);
  case NodeKind::MappingPattern:
    return matchesMapping(llvm::cast<ast::MappingPattern>(pattern), subject);
  case NodeKind::ClassPattern:
    return matchesClass(llvm::cast<ast::ClassPattern>(pattern), subject);
  default:
    return std::nullopt;
  }
}

std::optional<bool> HostInterpreter::matchesSequence(const ast::SequencePattern &pattern,
                                                     const Value &subject) {
  if (subject.isOpaque())
    return std::nullopt;
  if (!subject.is(ValueKind::List) && !subject.is(ValueKind::Tuple))
    return false;
  const std::vector<Value> items = subject.getElements();
  size_t count = pattern.elements.size(), star = count;
  for (size_t i = 0; i < count; ++i)
    if (llvm::isa<ast::StarPattern>(pattern.elements[i]))
      star = i;
  bool hasStar = star != count;
  if (hasStar ? items.size() + 1 < count : items.size() != count)
    return false;
  size_t rest = hasStar ? items.size() + 1 - count : 0, from = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i == star) {
      llvm::StringRef name = llvm::cast<ast::StarPattern>(pattern.elements[i])->name;
      if (!name.empty())
        bind(name, Value::list({items.begin() + from, items.begin() + from + rest}));
      from += rest;
      continue;
    }
    std::optional<bool> found = matches(*pattern.elements[i], known(items[from++]));
    if (!found || !*found)
      return found;
  }
  return true;
}

std::optional<bool> HostInterpreter::matchesMapping(const ast::MappingPattern &pattern,
                                                    const Value &subject) {
  if (subject.isOpaque())
    return std::nullopt;
  if (!subject.is(ValueKind::Dict))
    return false;
  auto rest = std::make_shared<DictObject>();
  rest->items = subject.as<DictObject>().items;
  for (auto [keyExpr, valuePattern] : llvm::zip(pattern.keys, pattern.values)) {
    Value key = evaluate(*keyExpr);
    if (core->failed())
      return std::nullopt;
    auto item = llvm::find_if(rest->items, [&, &key = key](const auto &entry) {
      return isEqual(entry.first, key).value_or(false);
    });
    if (item == rest->items.end())
      return false;
    std::optional<bool> found = matches(*valuePattern, known(item->second));
    if (!found || !*found)
      return found;
    rest->items.erase(item);
  }
  if (!pattern.rest.empty())
    bind(pattern.rest.name, Value(ValueKind::Dict, rest));
  return true;
}

std::optional<bool> HostInterpreter::matchesClass(const ast::ClassPattern &pattern,
                                                  const Value &subject) {
  Value cls = evaluate(*pattern.cls);
  if (core->failed() || cls.isOpaque() || subject.isOpaque())
    return std::nullopt;
  Value is =
      call(core->tensors().builtins().get(Library::Python, "isinstance"), {subject, cls}, {});
  if (core->failed() || !is.is(ValueKind::Bool))
    return std::nullopt;
  if (!is.getBool())
    return false;
  // int(x), str(x) …: the value itself.
  if (!cls.is(ValueKind::Class))
    return pattern.positional.empty() ? std::optional(true)
                                      : matches(*pattern.positional.front(), subject);
  std::vector<std::pair<std::string, const ast::Pattern *>> parts;
  const Value *order = cls.as<ClassObject>().find("__match_args__");
  for (auto [index, part] : llvm::enumerate(pattern.positional)) {
    std::string name;
    if (order && order->isSequence() && index < order->getElements().size())
      name = str(order->getElements()[index]);
    else if (index < cls.as<ClassObject>().annotated.size())
      name = cls.as<ClassObject>().annotated[index].first.str();
    parts.emplace_back(name, part);
  }
  for (auto [name, part] : llvm::zip(pattern.keywords, pattern.keywordPatterns))
    parts.emplace_back(name.name.str(), part);
  for (const auto &[name, part] : parts) {
    const Value *field =
        subject.is(ValueKind::Instance) ? subject.as<InstanceObject>().find(name) : nullptr;
    Value value = field ? *field : Value();
    if (!field) {
      value = settle(getAttribute(subject, name));
      if (core->failed() && isException()) {
        takeException();
        return false;
      }
    }
    std::optional<bool> found = core->failed() ? std::nullopt : matches(*part, known(value));
    if (!found || !*found)
      return found;
  }
  return true;
}

} // namespace kiln::sema
