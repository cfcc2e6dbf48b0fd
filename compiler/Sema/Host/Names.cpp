// Names of host code: which scope one belongs to, and what it stands for there.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/AssignedNames.h"
#include "compiler/Syntax/Walk.h"

namespace kiln::sema {
namespace {

/// Collects what the body of one function says about names, without the functions and classes
/// inside it.
struct NameCollector {
  FunctionNames &names;

  void addTarget(const ast::Expr *target) {
    if (target)
      visitTargetNames(*target, [&](llvm::StringRef name) { names.locals.insert(name); });
  }
  void add(llvm::StringRef name) {
    if (!name.empty())
      names.locals.insert(name);
  }

  /// False where what stands below has a scope of its own.
  bool visit(const ast::Node &node) {
    using ast::NodeKind;
    visitBoundNames(node, [&](llvm::StringRef name) { add(name); });
    switch (node.kind) {
    case NodeKind::FunctionDef:
    case NodeKind::ClassDef:
    case NodeKind::LambdaExpr:
      return false;
    case NodeKind::AnnAssignStmt: // without a value, too
      addTarget(llvm::cast<ast::AnnAssignStmt>(node).target);
      return true;
    case NodeKind::DeleteStmt:
      for (const ast::Expr *target : llvm::cast<ast::DeleteStmt>(node).targets)
        addTarget(target);
      return true;
    case NodeKind::TryStmt:
      for (const ast::ExceptHandler &handler : llvm::cast<ast::TryStmt>(node).handlers)
        add(handler.name.name);
      return true;
    case NodeKind::CapturePattern:
    case NodeKind::StarPattern:
    case NodeKind::AsPattern:
    case NodeKind::MappingPattern:
      addPattern(node);
      return true;
    case NodeKind::GlobalStmt:
      for (const ast::Identifier &name : llvm::cast<ast::GlobalStmt>(node).names)
        names.globals.insert(name.name);
      return true;
    case NodeKind::NonlocalStmt:
      for (const ast::Identifier &name : llvm::cast<ast::NonlocalStmt>(node).names)
        names.nonlocals.insert(name.name);
      return true;
    case NodeKind::YieldExpr:
    case NodeKind::YieldFromExpr:
      names.isGenerator = true;
      return true;
    default:
      return true;
    }
  }

  void addPattern(const ast::Node &node) {
    using ast::NodeKind;
    if (node.kind == NodeKind::CapturePattern)
      add(llvm::cast<ast::CapturePattern>(node).name);
    else if (node.kind == NodeKind::StarPattern)
      add(llvm::cast<ast::StarPattern>(node).name);
    else if (node.kind == NodeKind::AsPattern)
      add(llvm::cast<ast::AsPattern>(node).name.name);
    else
      add(llvm::cast<ast::MappingPattern>(node).rest.name);
  }

  void collect(ast::Block body) {
    for (const ast::Stmt *stmt : body)
      walk(*stmt, [&](const ast::Node &node) { return visit(node); });
  }
};

} // namespace

const FunctionNames &HostInterpreter::namesOf(const FunctionObject &function) {
  const void *key = function.definition ? static_cast<const void *>(function.definition)
                                        : static_cast<const void *>(function.lambda);
  std::unique_ptr<FunctionNames> &names = functionNames[key];
  if (names)
    return *names;
  names = std::make_unique<FunctionNames>();
  NameCollector collector{*names};
  if (function.definition)
    collector.collect(function.definition->body);
  else
    walk(*function.lambda->body, [&](const ast::Node &node) { return collector.visit(node); });
  for (const ast::Parameter &parameter : function.getParameters())
    collector.add(parameter.name.name);
  for (const auto *other : {&names->globals, &names->nonlocals})
    for (const auto &name : *other)
      names->locals.erase(name.getKey());
  return *names;
}

/// Where code of the current scope binds the name; null for the module.
std::shared_ptr<Scope> HostInterpreter::scopeOf(llvm::StringRef name) {
  std::shared_ptr<Scope> scope = current->scope;
  // An assignment expression in a comprehension binds in the function around it.
  while (scope->kind == Scope::Comprehension)
    scope = scope->parent ? scope->parent : current->module->scope;
  if (!scope->declared)
    return scope;
  if (scope->declared->globals.contains(name))
    return current->module->scope;
  if (!scope->declared->nonlocals.contains(name))
    return scope;
  for (std::shared_ptr<Scope> outer = scope->parent; outer; outer = outer->parent)
    if (outer->declared && outer->declared->locals.contains(name))
      return outer;
  return scope;
}

void HostInterpreter::bindIn(const std::shared_ptr<Scope> &scope, llvm::StringRef name,
                             const Value &value) {
  journal.willWrite(scope);
  scope->names[name] = value;
}

void HostInterpreter::bind(llvm::StringRef name, const Value &value) {
  std::shared_ptr<Scope> scope = scopeOf(name);
  bindIn(scope, name,
         value.isOpaque() ? traced(value, name, core->unwinding().getPosition()) : value);
}

bool HostInterpreter::unbind(llvm::StringRef name) {
  std::shared_ptr<Scope> scope = scopeOf(name);
  auto found = scope->names.find(name);
  if (found == scope->names.end()) {
    core->error(DiagKind::SemaUnknownName, name);
    return false;
  }
  journal.willWrite(scope);
  scope->names.erase(found);
  return true;
}

Value HostInterpreter::lookUp(llvm::StringRef name) {
  for (const Scope *at = current->scope.get(); at; at = at->parent.get()) {
    if (at->kind == Scope::Module || (at->kind == Scope::Class && at != current->scope.get()))
      continue;
    if (at->declared && at->declared->globals.contains(name))
      break;
    if (auto found = at->names.find(name); found != at->names.end())
      return found->second;
    if (at->declared && at->declared->locals.contains(name))
      return core->error(DiagKind::SemaUnboundName, name, "it is assigned to only later");
  }
  if (std::optional<Value> global = findGlobal(*current->module, name))
    return *global;
  if (core->failed())
    return Value();
  if (std::optional<Value> builtin = builtinName(name))
    return *builtin;
  if (current->module->starred.isOpaque())
    return getAttribute(current->module->starred, name);
  std::vector<llvm::StringRef> candidates = core->tensors().builtins().getNames(Library::Python);
  for (const auto &entry : current->scope->names)
    candidates.push_back(entry.first);
  for (const auto &entry : current->module->scope->names)
    candidates.push_back(entry.first);
  return core->errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownName, name);
}

/// What Python defines in every module.
std::optional<Value> HostInterpreter::builtinName(llvm::StringRef name) {
  if (const BuiltinInfo *info = core->tensors().builtins().find(Library::Python, name); info)
    return Value::builtin(*info);
  if (Value cls = exceptionClass(name); !cls.isNone())
    return cls;
  if (name == "__name__")
    return Value::string("__kiln__");
  if (name == "__file__")
    return Value::string(current->module->module->path);
  if (name == "__debug__")
    return Value::boolean(true);
  if (name == "__doc__" || name == "__spec__")
    return Value::none();
  if (name == "__package__" || name == "NotImplemented")
    return unknown(name);
  static constexpr llvm::StringLiteral others[] = {
      "open",       "input", "eval",      "exec",  "compile",    "globals",   "locals",
      "vars",       "dir",   "hash",      "id",    "bytes",      "bytearray", "memoryview",
      "format",     "oct",   "complex",   "ascii", "__import__", "delattr",   "aiter",
      "breakpoint", "anext", "copyright", "exit",  "quit"};
  return llvm::is_contained(others, name) ? std::optional(unknown(name)) : std::nullopt;
}

} // namespace kiln::sema
