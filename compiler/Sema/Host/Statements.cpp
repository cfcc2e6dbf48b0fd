// Statements of host code that do not branch: assignments, definitions, imports.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/NodeNames.h"

namespace kiln::sema {

Exit HostInterpreter::execute(ast::Block block) {
  for (size_t at = 0; at < block.size(); ++at) {
    Exit exit = execute(*block[at]);
    if (exit != Exit::Normal)
      return exit;
    if (current->doubt.any() && at + 1 < block.size())
      return runInDoubt([&] { return execute(block.drop_front(at + 1)); });
  }
  return Exit::Normal;
}

Exit HostInterpreter::execute(const ast::Stmt &stmt) {
  if (!core->unwinding().step())
    return Exit::Raised;
  At at(*core, stmt.range);
  Exit exit = executeNode(stmt);
  if (!core->failed())
    return exit;
  if (isException() || core->unwinding().mustUnwind())
    return Exit::Raised;
  // Beyond what Kiln evaluates: whatever the statement does is unknown.
  Value why = unknownAfterFailure();
  loseEffects(stmt, why);
  return Exit::Normal;
}

Exit HostInterpreter::executeNode(const ast::Stmt &stmt) {
  using ast::NodeKind;
  switch (stmt.kind) {
  case NodeKind::ExprStmt:
    evaluate(*llvm::cast<ast::ExprStmt>(stmt).value);
    return core->failed() ? Exit::Raised : Exit::Normal;
  case NodeKind::AssignStmt:
    return executeAssign(llvm::cast<ast::AssignStmt>(stmt));
  case NodeKind::AugAssignStmt:
    return executeAugAssign(llvm::cast<ast::AugAssignStmt>(stmt));
  case NodeKind::AnnAssignStmt:
    return executeAnnAssign(llvm::cast<ast::AnnAssignStmt>(stmt));
  case NodeKind::ReturnStmt:
    return executeReturn(llvm::cast<ast::ReturnStmt>(stmt));
  case NodeKind::DeleteStmt:
    return executeDelete(llvm::cast<ast::DeleteStmt>(stmt));
  case NodeKind::IfStmt:
    return executeIf(llvm::cast<ast::IfStmt>(stmt));
  case NodeKind::ForStmt:
    return executeFor(llvm::cast<ast::ForStmt>(stmt));
  case NodeKind::WhileStmt:
    return executeWhile(llvm::cast<ast::WhileStmt>(stmt));
  case NodeKind::TryStmt:
    return executeTry(llvm::cast<ast::TryStmt>(stmt));
  case NodeKind::WithStmt:
    return executeWith(llvm::cast<ast::WithStmt>(stmt), 0);
  case NodeKind::MatchStmt:
    return executeMatch(llvm::cast<ast::MatchStmt>(stmt));
  case NodeKind::RaiseStmt:
    return executeRaise(llvm::cast<ast::RaiseStmt>(stmt));
  case NodeKind::AssertStmt:
    return executeAssert(llvm::cast<ast::AssertStmt>(stmt));
  case NodeKind::ImportStmt:
    return executeImport(llvm::cast<ast::ImportStmt>(stmt));
  case NodeKind::ImportFromStmt:
    return executeImportFrom(llvm::cast<ast::ImportFromStmt>(stmt));
  case NodeKind::FunctionDef:
    return executeFunction(llvm::cast<ast::FunctionDef>(stmt));
  case NodeKind::ClassDef:
    return executeClass(llvm::cast<ast::ClassDef>(stmt));
  case NodeKind::TypeAliasStmt: {
    const auto &alias = llvm::cast<ast::TypeAliasStmt>(stmt);
    bind(alias.name.name, unknown(alias.name.name));
    return Exit::Normal;
  }
  case NodeKind::GlobalStmt:
  case NodeKind::NonlocalStmt:
  case NodeKind::PassStmt:
    return Exit::Normal;
  case NodeKind::BreakStmt:
    return Exit::Break;
  case NodeKind::ContinueStmt:
    return Exit::Continue;
  default:
    core->error(DiagKind::SemaUnsupportedSyntax, describeNode(stmt.kind));
    return Exit::Raised;
  }
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

Exit HostInterpreter::executeAssign(const ast::AssignStmt &stmt) {
  Value value = evaluate(*stmt.value);
  for (const ast::Expr *target : stmt.targets)
    if (core->failed() || !assign(*target, value))
      return Exit::Raised;
  return Exit::Normal;
}

Exit HostInterpreter::executeAnnAssign(const ast::AnnAssignStmt &stmt) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(stmt.target);
  if (name && current->cls)
    current->cls->annotated.emplace_back(name->name, stmt.annotation);
  if (!stmt.value)
    return Exit::Normal;
  Value value = evaluate(*stmt.value);
  bool isDone = !core->failed() && assign(*stmt.target, value);
  return isDone && !core->failed() ? Exit::Normal : Exit::Raised;
}

Exit HostInterpreter::executeReturn(const ast::ReturnStmt &stmt) {
  Value result = stmt.value ? evaluate(*stmt.value) : Value::none();
  if (core->failed())
    return Exit::Raised;
  current->returnValue = result;
  return Exit::Returned;
}

bool HostInterpreter::assign(const ast::Expr &target, const Value &value) {
  At at(*core, target.range);
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&target)) {
    bind(name->name, value);
    return true;
  }
  auto assignPart = [&](const ast::Expr &part, const Value &item) { return assign(part, item); };
  if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(&target))
    return unpack(tuple->elements, value, assignPart);
  if (const auto *list = llvm::dyn_cast<ast::ListExpr>(&target))
    return unpack(list->elements, value, assignPart);
  if (const auto *subscriptExpr = llvm::dyn_cast<ast::SubscriptExpr>(&target)) {
    Value base = evaluate(*subscriptExpr->base);
    Value index = core->failed() ? Value() : evaluate(*subscriptExpr->index);
    return !core->failed() && assignSubscript(base, index, value);
  }
  if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(&target)) {
    Value base = evaluate(*attribute->base);
    return !core->failed() && setAttribute(base, attribute->attribute.name, value);
  }
  core->error(DiagKind::SemaUnsupportedSyntax, "this target of an assignment");
  return false;
}

/// The places of `size` elements that a slice names, in its order. Empty after an error.
static std::optional<std::vector<size_t>> placesOf(Evaluator &core, const Value &slice,
                                                   size_t size) {
  std::vector<Value> places;
  for (size_t i = 0; i < size; ++i)
    places.push_back(Value::integer(Int(i)));
  Value chosen = core.subscript(Value::list(std::move(places)), slice);
  if (core.failed())
    return std::nullopt;
  std::vector<size_t> result;
  for (const Value &place : chosen.getElements())
    result.push_back(size_t(place.getInt()));
  return result;
}

/// Whether an index is known; otherwise the contents of the object are lost.
bool HostInterpreter::loseUnlessKnown(const Value &base, const Value &index) {
  std::shared_ptr<OpaqueObject> why = findUnknown(index);
  if (why)
    base.getObject()->lost = why;
  return !why;
}

bool HostInterpreter::assignItem(const Value &dict, const Value &key, const Value &value) {
  willChange(dict);
  if (!loseUnlessKnown(dict, key))
    return true;
  auto &items = dict.as<DictObject>().items;
  if (!core->unwinding().step(items.size() / searchedPerStep))
    return false;
  for (auto &item : items)
    if (isEqual(item.first, key).value_or(false)) {
      item.second = value;
      return true;
    }
  items.emplace_back(key, value);
  return true;
}

bool HostInterpreter::assignSlice(const Value &list, const Value &index, const Value &value) {
  std::vector<Value> &elements = list.getElements();
  std::optional<std::vector<size_t>> places = placesOf(*core, index, elements.size());
  if (value.isOpaque() && places) {
    list.getObject()->lost = value.share<OpaqueObject>();
    return true;
  }
  std::optional<std::vector<Value>> items = places ? iterate(value) : std::nullopt;
  if (!items)
    return false;
  const Value &step = index.as<SliceObject>().step;
  if (!step.isNone() && step.getInt() != 1) {
    if (items->size() != places->size())
      return raise("ValueError", "the slice has another number of elements"), false;
    for (auto [place, item] : llvm::zip(*places, *items))
      elements[place] = item;
    return true;
  }
  const Value &lower = index.as<SliceObject>().lower;
  Int size = Int(elements.size()), from = lower.isNone() ? Int(0) : lower.getInt();
  from = from < 0 ? std::max(from + size, Int(0)) : std::min(from, size);
  size_t start = places->empty() ? size_t(from) : places->front();
  elements.erase(elements.begin() + start, elements.begin() + start + places->size());
  elements.insert(elements.begin() + start, items->begin(), items->end());
  return true;
}

bool HostInterpreter::assignElement(const Value &list, const Value &index, const Value &value) {
  willChange(list);
  if (!loseUnlessKnown(list, index))
    return true;
  if (index.is(ValueKind::Slice))
    return assignSlice(list, index, value);
  std::optional<Int> at = core->tensors().constantInt(index, "an index");
  if (!at)
    return false;
  std::vector<Value> &elements = list.getElements();
  Int size = Int(elements.size()), place = *at < 0 ? *at + size : *at;
  if (place < 0 || place >= size)
    return raise("IndexError",
                 "index " + toString(*at) + " is out of range for " + toString(size) + " elements"),
           false;
  elements[size_t(place)] = value;
  return true;
}

bool HostInterpreter::assignSubscript(const Value &base, const Value &index, const Value &value) {
  if (base.isOpaque())
    return true;
  if (base.is(ValueKind::Dict))
    return assignItem(base, index, value);
  if (base.is(ValueKind::List))
    return assignElement(base, index, value);
  if (base.is(ValueKind::Instance) && special(base, "__setitem__", {index, value}))
    return !core->failed();
  if (base.is(ValueKind::Module)) // os.environ: no build depends on it.
    return true;
  raise("TypeError", describe(base) + " does not support item assignment");
  return false;
}

bool HostInterpreter::deleteSubscript(const Value &base, const Value &index) {
  if (base.isOpaque() || base.is(ValueKind::Module))
    return true;
  willChange(base);
  if ((base.is(ValueKind::Dict) || base.is(ValueKind::List)) && !loseUnlessKnown(base, index))
    return true;
  if (base.is(ValueKind::Dict)) {
    auto &items = base.as<DictObject>().items;
    for (auto at = items.begin(); at != items.end(); ++at)
      if (isEqual(at->first, index).value_or(false)) {
        items.erase(at);
        return true;
      }
    return raise("KeyError", repr(index)), false;
  }
  if (base.is(ValueKind::List)) {
    std::vector<Value> &elements = base.getElements();
    std::vector<size_t> places;
    if (index.is(ValueKind::Slice)) {
      std::optional<std::vector<size_t>> found = placesOf(*core, index, elements.size());
      if (!found)
        return false;
      places = *found;
      llvm::sort(places);
    } else {
      std::optional<Int> at = core->tensors().constantInt(index, "an index");
      Int size = Int(elements.size());
      if (!at)
        return false;
      Int place = *at < 0 ? *at + size : *at;
      if (place < 0 || place >= size)
        return raise("IndexError", "index " + toString(*at) + " is out of range"), false;
      places.push_back(size_t(place));
    }
    for (size_t place : llvm::reverse(places))
      elements.erase(elements.begin() + place);
    return true;
  }
  if (base.is(ValueKind::Instance) && special(base, "__delitem__", {index}))
    return !core->failed();
  raise("TypeError", describe(base) + " does not support item deletion");
  return false;
}

Exit HostInterpreter::executeAugAssign(const ast::AugAssignStmt &stmt) {
  auto done = [&](bool ok) { return ok && !core->failed() ? Exit::Normal : Exit::Raised; };
  auto update = [&](const Value &old) {
    Value right = core->failed() ? Value() : evaluate(*stmt.value);
    if (core->failed())
      return Value();
    return settle(binaryInPlace(stmt.op, old, right))
        .asConstexpr(old.isConstexpr() || right.isConstexpr());
  };
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(stmt.target)) {
    Value value = update(evaluate(*stmt.target));
    if (!core->failed())
      bind(name->name, value);
    return done(true);
  }
  if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(stmt.target)) {
    Value base = evaluate(*attribute->base);
    Value value =
        core->failed() ? Value() : update(settle(getAttribute(base, attribute->attribute.name)));
    return done(!core->failed() && setAttribute(base, attribute->attribute.name, value));
  }
  if (const auto *target = llvm::dyn_cast<ast::SubscriptExpr>(stmt.target)) {
    Value base = evaluate(*target->base);
    Value index = core->failed() ? Value() : evaluate(*target->index);
    Value value = core->failed() ? Value() : update(settle(subscript(base, index)));
    return done(!core->failed() && assignSubscript(base, index, value));
  }
  core->error(DiagKind::SemaUnsupportedSyntax, "this target of an assignment");
  return Exit::Raised;
}

Exit HostInterpreter::executeDelete(const ast::DeleteStmt &stmt) {
  for (const ast::Expr *target : stmt.targets) {
    bool ok = true;
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(target))
      ok = unbind(name->name);
    else if (const auto *item = llvm::dyn_cast<ast::SubscriptExpr>(target)) {
      Value base = evaluate(*item->base);
      Value index = core->failed() ? Value() : evaluate(*item->index);
      ok = !core->failed() && deleteSubscript(base, index);
    } else if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(target)) {
      Value base = evaluate(*attribute->base);
      ok = !core->failed() && setAttribute(base, attribute->attribute.name, Value());
    } else
      core->error(DiagKind::SemaUnsupportedSyntax, "this target of 'del'");
    if (!ok || core->failed())
      return Exit::Raised;
  }
  return Exit::Normal;
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

Exit HostInterpreter::executeFunction(const ast::FunctionDef &stmt) {
  Value function = makeFunction(stmt);
  if (core->failed())
    return Exit::Raised;
  bind(stmt.name.name, function);
  return Exit::Normal;
}

Exit HostInterpreter::executeClass(const ast::ClassDef &stmt) {
  std::vector<Value> bases;
  Keywords keywords;
  if (!collectArguments(stmt.arguments, bases, keywords))
    return Exit::Raised;
  auto scope = std::make_shared<Scope>();
  scope->kind = Scope::Class;
  scope->parent = current->scope->kind == Scope::Module ? nullptr : current->scope;
  Value cls = makeClass(stmt, std::move(bases), scope);
  if (core->failed())
    return Exit::Raised;
  // Outermost first in the source, applied from the inside.
  std::vector<Value> decorators;
  for (const ast::Expr *expr : stmt.decorators) {
    decorators.push_back(evaluate(*expr));
    if (core->failed() && core->unwinding().mustUnwind())
      return Exit::Raised;
    if (core->failed())
      decorators.back() = unknownAfterFailure();
  }
  for (const Value &decorator : llvm::reverse(decorators)) {
    // One that is not at hand registers the class or gives it more members: it is read through.
    if (decorator.isOpaque()) {
      bool isTritons = llvm::StringRef(decorator.as<OpaqueObject>().path).ends_with("aggregate");
      if (isTritons && cls.is(ValueKind::Class))
        cls.as<ClassObject>().isAggregate = true;
      continue;
    }
    Value decorated = settle(call(decorator, {cls}, {}));
    if (core->failed())
      return Exit::Raised;
    if (!decorated.isOpaque())
      cls = decorated;
  }
  bind(stmt.name.name, cls);
  return Exit::Normal;
}

} // namespace kiln::sema
