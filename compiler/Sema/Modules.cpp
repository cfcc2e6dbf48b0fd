// The names of a module, evaluated when something asks for them.
//
// A kernel's file is full of host code that never matters: torch, benchmarks, classes. So nothing
// at module level runs in order. A scan notes which statements bind which names, and under which
// `if` and `try`; a lookup takes the last binding whose conditions hold, and evaluates only that.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/AssignedNames.h"
#include "compiler/Sema/Evaluator.h"
#include "compiler/Sema/NodeNames.h"

namespace kiln::sema {

ModuleState &Evaluator::stateOf(const LoadedModule &module) {
  std::unique_ptr<ModuleState> &state = modules[&module];
  if (!state) {
    state = std::make_unique<ModuleState>();
    state->module = &module;
    llvm::SmallVector<Binding::Guard> guards;
    scanModule(*state, module.tree->getBody(), guards);
  }
  return *state;
}

void Evaluator::addBinding(ModuleState &state, llvm::StringRef name, const ast::Stmt &stmt,
                           llvm::ArrayRef<Binding::Guard> guards) {
  Binding binding;
  binding.stmt = &stmt;
  binding.guards.assign(guards.begin(), guards.end());
  state.bindings[name].push_back(std::move(binding));
}

void Evaluator::addTargets(ModuleState &state, const ast::Expr &target, const ast::Stmt &stmt,
                           llvm::ArrayRef<Binding::Guard> guards) {
  visitTargetNames(target, [&](llvm::StringRef name) { addBinding(state, name, stmt, guards); });
}

void Evaluator::scanModule(ModuleState &state, ast::Block block,
                           llvm::SmallVectorImpl<Binding::Guard> &guards) {
  auto nested = [&](Binding::Guard::Kind kind, const ast::Stmt &stmt, ast::Block body) {
    guards.push_back({kind, &stmt});
    scanModule(state, body, guards);
    guards.pop_back();
  };
  for (const ast::Stmt *stmt : block) {
    using ast::NodeKind;
    switch (stmt->kind) {
    case NodeKind::AssignStmt:
      for (const ast::Expr *target : llvm::cast<ast::AssignStmt>(stmt)->targets)
        addTargets(state, *target, *stmt, guards);
      break;
    case NodeKind::AugAssignStmt:
      addTargets(state, *llvm::cast<ast::AugAssignStmt>(stmt)->target, *stmt, guards);
      break;
    case NodeKind::AnnAssignStmt:
      if (llvm::cast<ast::AnnAssignStmt>(stmt)->value)
        addTargets(state, *llvm::cast<ast::AnnAssignStmt>(stmt)->target, *stmt, guards);
      break;
    case NodeKind::FunctionDef:
      addBinding(state, llvm::cast<ast::FunctionDef>(stmt)->name.name, *stmt, guards);
      break;
    case NodeKind::ClassDef:
      addBinding(state, llvm::cast<ast::ClassDef>(stmt)->name.name, *stmt, guards);
      break;
    case NodeKind::ImportStmt:
      for (const ast::ImportedName &name : llvm::cast<ast::ImportStmt>(stmt)->names)
        addBinding(state, name.alias.empty() ? name.name.name.split('.').first : name.alias.name,
                   *stmt, guards);
      break;
    case NodeKind::ImportFromStmt: {
      const auto &import = *llvm::cast<ast::ImportFromStmt>(stmt);
      if (import.isStar())
        state.starImports.push_back(
            {stmt, llvm::SmallVector<Binding::Guard, 2>(guards.begin(), guards.end())});
      else
        for (const ast::ImportedName &name : import.names)
          addBinding(state, name.alias.empty() ? name.name.name : name.alias.name, *stmt, guards);
      break;
    }
    case NodeKind::IfStmt: {
      const auto &conditional = *llvm::cast<ast::IfStmt>(stmt);
      nested(Binding::Guard::IfTrue, *stmt, conditional.body);
      nested(Binding::Guard::IfFalse, *stmt, conditional.orElse);
      break;
    }
    case NodeKind::TryStmt: {
      const auto &attempt = *llvm::cast<ast::TryStmt>(stmt);
      nested(Binding::Guard::TryBody, *stmt, attempt.body);
      nested(Binding::Guard::TryBody, *stmt, attempt.orElse);
      for (const ast::ExceptHandler &handler : attempt.handlers)
        nested(Binding::Guard::TryHandler, *stmt, handler.body);
      scanModule(state, attempt.finalBody, guards);
      break;
    }
    case NodeKind::WithStmt:
      scanModule(state, llvm::cast<ast::WithStmt>(stmt)->body, guards);
      break;
    case NodeKind::ForStmt:
      addTargets(state, *llvm::cast<ast::ForStmt>(stmt)->target, *stmt, guards);
      nested(Binding::Guard::Other, *stmt, llvm::cast<ast::ForStmt>(stmt)->body);
      break;
    default:
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::optional<Value> Evaluator::findGlobal(ModuleState &state, llvm::StringRef name,
                                           uint32_t before) {
  if (auto found = defines.find(name); found != defines.end())
    return fromConstant(found->second, &state);
  auto bindings = state.bindings.find(name);
  bool seesAll =
      bindings == state.bindings.end() || bindings->second.back().stmt->range.begin < before;
  if (auto found = state.cache.find(name); seesAll && found != state.cache.end())
    return found->second;
  size_t inProgress = state.inProgress.size();
  std::optional<Value> value = bindingValue(state, name, before);
  // What is found while one of the name's own bindings is evaluated is not its final value.
  if (value && !hasFailed && seesAll && inProgress == 0)
    state.cache[name] = *value;
  return value;
}

/// A function inside a class or another function.
static const ast::FunctionDef *findNested(ast::Block block, llvm::StringRef name) {
  auto [scope, rest] = name.split('.');
  for (const ast::Stmt *stmt : block) {
    ast::Block body;
    llvm::StringRef own;
    if (const auto *cls = llvm::dyn_cast<ast::ClassDef>(stmt)) {
      body = cls->body;
      own = cls->name.name;
    } else if (const auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt)) {
      if (function->name.name == name)
        return function;
      body = function->body;
      own = function->name.name;
    } else
      continue;
    bool isPath = !rest.empty();
    if (isPath && own != scope)
      continue;
    if (const ast::FunctionDef *found = findNested(body, isPath ? rest : name))
      return found;
  }
  return nullptr;
}

Value Evaluator::findFunction(const LoadedModule &module, llvm::StringRef name) {
  ModuleState &state = stateOf(module);
  auto isFunction = [](const Value &value) {
    return value.is(ValueKind::Function) && value.as<FunctionObject>().definition;
  };
  std::optional<Value> global = findGlobal(state, name);
  if (hasFailed || (global && isFunction(*global)))
    return hasFailed ? Value() : *global;
  if (const ast::FunctionDef *nested = findNested(module.tree->getBody(), name))
    return makeFunction(*nested, state);
  std::vector<llvm::StringRef> candidates;
  for (const auto &entry : state.bindings)
    candidates.push_back(entry.first);
  return errorWithHint(suggestName(name, candidates), DiagKind::SemaNoSuchKernel, name,
                       module.tree->getFile().getPath());
}

/// The value of `name` by its last binding before `before` whose conditions hold. Later bindings
/// count only when there is no earlier one.
std::optional<Value> Evaluator::bindingValue(ModuleState &state, llvm::StringRef name,
                                             uint32_t before) {
  Frame frameOfModule;
  frameOfModule.module = &state;
  frameOfModule.name = name;
  bool isCircular = false;
  if (auto found = state.bindings.find(name); found != state.bindings.end()) {
    std::vector<Binding> candidates;
    for (bool early : {false, true})
      for (const Binding &binding : found->second)
        if ((binding.stmt->range.begin < before) == early)
          candidates.push_back(binding);
    FrameGuard guard(*this, frameOfModule);
    // What every one of several imports gives, whichever condition holds.
    auto findCommon = [&]() -> std::optional<Value> {
      std::optional<Value> common;
      for (const Binding &binding : candidates) {
        if (!llvm::isa<ast::ImportStmt, ast::ImportFromStmt>(binding.stmt))
          return std::nullopt;
        frameOfModule.before = binding.stmt->range.begin;
        Value value;
        if (!attempt([&] { value = evaluateBinding(state, name, binding); }) ||
            (common && !isEqual(*common, value).value_or(false)))
          return std::nullopt;
        common = value;
      }
      return common;
    };
    for (const Binding &binding : llvm::reverse(candidates)) {
      if (hasFailed)
        return Value();
      auto key = std::make_pair(binding.stmt, name);
      if (!state.inProgress.insert(key).second) {
        isCircular = true;
        continue;
      }
      frameOfModule.before = binding.stmt->range.begin;
      bool isOnly = candidates.size() == 1 && state.starImports.empty();
      bool reached = false;
      if (!attempt([&] { reached = isReached(state, binding, isOnly); })) {
        std::optional<Value> common = hasFailed ? std::nullopt : findCommon();
        if (common) {
          state.inProgress.erase(key);
          return common;
        }
        frameOfModule.before = binding.stmt->range.begin;
        reached = isReached(state, binding, isOnly);
      }
      Value value = reached ? evaluateBinding(state, name, binding) : Value();
      state.inProgress.erase(key);
      if (reached || hasFailed)
        return value;
    }
  }
  if (isCircular)
    return error(DiagKind::SemaCircularName, name);
  for (const Binding &star : llvm::reverse(state.starImports)) {
    frameOfModule.before = star.stmt->range.begin;
    FrameGuard guard(*this, frameOfModule);
    if (!isReached(state, star))
      continue;
    const auto &import = llvm::cast<ast::ImportFromStmt>(*star.stmt);
    std::optional<Value> module = importModule(state, import.level, import.module.name);
    if (module && module->is(ValueKind::Module))
      if (std::optional<Value> value = moduleAttribute(*module, name))
        return value;
  }
  return std::nullopt;
}

/// Whether the conditions hold that `binding` stands under. With nothing else that binds the name,
/// conditions that are not known must hold, or there would be no such name.
bool Evaluator::isReached(ModuleState &state, const Binding &binding, bool isOnly) {
  for (const Binding::Guard &guard : binding.guards) {
    if (guard.kind == Binding::Guard::Other)
      return false;
    auto known = state.guardAnswers.find(guard.stmt);
    bool answer = false;
    if (known != state.guardAnswers.end())
      answer = known->second;
    else {
      if (const auto *conditional = llvm::dyn_cast<ast::IfStmt>(guard.stmt)) {
        std::optional<bool> value;
        auto evaluateTest = [&] {
          Value test = evaluate(*conditional->test);
          value = hasFailed ? std::nullopt : truth(test);
        };
        if (!isOnly)
          evaluateTest();
        else if (!attempt(evaluateTest) && !hasFailed)
          continue;
        if (!value)
          return false;
        answer = *value;
      } else
        answer = trySucceeds(state, *llvm::cast<ast::TryStmt>(guard.stmt));
      if (hasFailed)
        return false;
      state.guardAnswers[guard.stmt] = answer;
    }
    bool wanted = guard.kind == Binding::Guard::IfTrue || guard.kind == Binding::Guard::TryBody;
    if (answer != wanted)
      return false;
  }
  return true;
}

/// A `try` at module level fails when an import or an expression of its body does.
bool Evaluator::trySucceeds(ModuleState &state, const ast::TryStmt &stmt) {
  state.guardAnswers[&stmt] = true;
  for (const ast::Stmt *child : stmt.body) {
    bool ok = true;
    if (llvm::isa<ast::ImportStmt, ast::ImportFromStmt>(child))
      ok = canImport(state, *child);
    else if (const auto *assignment = llvm::dyn_cast<ast::AssignStmt>(child))
      ok = attempt([&] { evaluate(*assignment->value); });
    else if (const auto *expression = llvm::dyn_cast<ast::ExprStmt>(child))
      ok = attempt([&] { evaluate(*expression->value); });
    else if (llvm::isa<ast::RaiseStmt>(child))
      ok = false;
    if (!ok) {
      state.guardAnswers.erase(&stmt);
      return false;
    }
  }
  state.guardAnswers.erase(&stmt);
  return true;
}

bool Evaluator::canImport(ModuleState &state, const ast::Stmt &stmt) {
  bool ok = true;
  bool ran = attempt([&] {
    if (const auto *import = llvm::dyn_cast<ast::ImportStmt>(&stmt)) {
      for (const ast::ImportedName &name : import->names)
        ok = ok && importModule(state, 0, name.name.name).has_value();
      return;
    }
    const auto &from = llvm::cast<ast::ImportFromStmt>(stmt);
    if (from.isStar())
      ok = importModule(state, from.level, from.module.name).has_value();
    else
      for (const ast::ImportedName &name : from.names)
        ok = ok && importName(state, from.level, from.module.name, name.name.name).has_value();
  });
  return ran && ok;
}

//===----------------------------------------------------------------------===//
// Evaluating one binding
//===----------------------------------------------------------------------===//

Value Evaluator::statementValue(ModuleState &state, const ast::Stmt &stmt, const ast::Expr &value) {
  if (auto found = state.statementValues.find(&stmt); found != state.statementValues.end())
    return found->second;
  Frame definition;
  definition.module = &state;
  definition.name = "module";
  definition.before = stmt.range.begin;
  FrameGuard guard(*this, definition);
  Value result = evaluate(value);
  if (!hasFailed)
    state.statementValues[&stmt] = result;
  return result;
}

/// Triton's modules by the names that packages export them under: what one of a package that is
/// not at hand must be.
std::optional<Value> Evaluator::reexported(llvm::StringRef name) {
  if (name == "triton")
    return knownModule(name);
  if (name == "tl")
    return knownModule("triton.language");
  if (name == "HAS_TRITON")
    return Value::boolean(true);
  return std::nullopt;
}

/// The part of `value` that `name` takes when `target` is assigned to.
static bool takesWhole(const ast::Expr &target) { return llvm::isa<ast::NameExpr>(target); }

Value Evaluator::evaluateBinding(ModuleState &state, llvm::StringRef name, const Binding &binding) {
  const ast::Stmt &stmt = *binding.stmt;
  At at(*this, stmt.range);
  using ast::NodeKind;
  switch (stmt.kind) {
  case NodeKind::FunctionDef:
    return makeFunction(llvm::cast<ast::FunctionDef>(stmt), state);
  case NodeKind::ClassDef: {
    auto object = std::make_shared<ClassObject>();
    object->definition = &llvm::cast<ast::ClassDef>(stmt);
    object->module = &state;
    return {ValueKind::Class, object};
  }
  case NodeKind::AssignStmt: {
    const auto &assignment = llvm::cast<ast::AssignStmt>(stmt);
    Value value = statementValue(state, stmt, *assignment.value);
    for (const ast::Expr *target : assignment.targets) {
      if (hasFailed)
        return Value();
      if (takesWhole(*target)) {
        if (llvm::cast<ast::NameExpr>(target)->name == name)
          return value;
        continue;
      }
      Frame unpacked;
      unpacked.module = &state;
      unpacked.name = name;
      FrameGuard guard(*this, unpacked);
      if (assign(*target, value, /*keepConstant=*/true))
        if (auto found = unpacked.names.find(name); found != unpacked.names.end())
          return found->second;
    }
    return hasFailed ? Value() : error(DiagKind::SemaUnknownName, name);
  }
  case NodeKind::AnnAssignStmt:
    return statementValue(state, stmt, *llvm::cast<ast::AnnAssignStmt>(stmt).value);
  case NodeKind::AugAssignStmt: {
    const auto &update = llvm::cast<ast::AugAssignStmt>(stmt);
    Value left = evaluate(*update.target);
    Value right = hasFailed ? Value() : evaluate(*update.value);
    return hasFailed ? Value() : binary(update.op, left, right);
  }
  case NodeKind::ImportStmt:
    for (const ast::ImportedName &imported : llvm::cast<ast::ImportStmt>(stmt).names) {
      llvm::StringRef full = imported.name.name;
      bool whole = !imported.alias.empty();
      if ((whole ? imported.alias.name : full.split('.').first) != name)
        continue;
      std::optional<Value> module = importModule(state, 0, whole ? full : full.split('.').first);
      return module ? *module : Value::opaque(full);
    }
    break;
  case NodeKind::ImportFromStmt: {
    const auto &from = llvm::cast<ast::ImportFromStmt>(stmt);
    for (const ast::ImportedName &imported : from.names) {
      if ((imported.alias.empty() ? imported.name.name : imported.alias.name) != name)
        continue;
      std::optional<Value> value =
          importName(state, from.level, from.module.name, imported.name.name);
      if (hasFailed)
        return Value();
      if (!value || value->isOpaque())
        if (std::optional<Value> exported = reexported(imported.name.name))
          value = exported;
      if (value)
        return *value;
      std::optional<Value> module = importModule(state, from.level, from.module.name);
      if (module && !module->isOpaque())
        return error(DiagKind::SemaImport, imported.name.name, from.module.name);
      return Value::opaque(from.module.name + "." + imported.name.name);
    }
    break;
  }
  default:
    break;
  }
  return error(DiagKind::SemaUnsupportedSyntax,
               "a module-level name that is bound by " + describeNode(stmt.kind));
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

Value Evaluator::moduleValue(const LoadedModule &module) {
  for (const Diagnostic &diagnostic : module.diagnostics)
    if (diagnostic.severity == Severity::Error) {
      addError(diagnostic);
      return Value();
    }
  auto object = std::make_shared<ModuleObject>();
  object->state = &stateOf(module);
  object->path = module.path;
  return {ValueKind::Module, object};
}

std::optional<Value> Evaluator::importModule(ModuleState &importer, unsigned level,
                                             llvm::StringRef name) {
  if (level == 0)
    if (std::optional<Value> known = knownModule(name))
      return known;
  return importedModule(loader.resolve(*importer.module, level, name), name);
}

/// The value of what an import found; empty when it found nothing.
std::optional<Value> Evaluator::importedModule(const ImportResult &found, llvm::StringRef name) {
  if (found.module)
    return moduleValue(*found.module);
  if (found.folders.empty())
    return std::nullopt;
  auto object = std::make_shared<ModuleObject>();
  object->path = name.str();
  object->folders = found.folders;
  return Value(ValueKind::Module, object);
}

std::optional<Value> Evaluator::importName(ModuleState &importer, unsigned level,
                                           llvm::StringRef module, llvm::StringRef name) {
  if (level == 0)
    if (std::optional<Value> known = knownModule((module + "." + name).str());
        known && !known->isOpaque())
      return known;
  // `from . import name` inside a package names a submodule before a name that it is binding.
  if (level && module.empty() && importer.module->isPackage)
    if (ImportResult found = loader.resolve(*importer.module, level, name); found.module)
      return moduleValue(*found.module);
  std::optional<Value> from = importModule(importer, level, module);
  if (!from || hasFailed)
    return std::nullopt;
  if (from->isOpaque())
    return getAttribute(*from, name);
  return moduleAttribute(*from, name);
}

static bool isBeingBound(const ModuleState &state, llvm::StringRef name) {
  auto found = state.bindings.find(name);
  return found != state.bindings.end() && llvm::any_of(found->second, [&](const Binding &binding) {
           return state.inProgress.count({binding.stmt, name});
         });
}

std::optional<Value> Evaluator::moduleAttribute(const Value &module, llvm::StringRef name) {
  const auto &object = module.as<ModuleObject>();
  if (object.state) {
    // `from package import name` inside the package, or in what it imports: the name has no value
    // yet, and Python takes the submodule.
    if (object.state->module->isPackage && isBeingBound(*object.state, name))
      if (ImportResult found = loader.resolve(*object.state->module, 1, name))
        return importedModule(found, name);
    if (std::optional<Value> value = findGlobal(*object.state, name))
      return value;
    if (hasFailed)
      return Value();
    // A submodule of a package.
    if (object.state->module->isPackage)
      if (std::optional<Value> submodule =
              importedModule(loader.resolve(*object.state->module, 1, name), name))
        return submodule;
    // What the module would compute at run time.
    if (!name.starts_with("__") && object.state->bindings.count("__getattr__"))
      return Value::opaque(object.path + "." + name);
    return std::nullopt;
  }
  if (!object.folders.empty())
    return importedModule(loader.resolveIn(object.folders, name), name);
  return knownAttribute(object.path, name);
}

/// Decorators decide only whether a function is device code; autotuning, heuristics and wrappers
/// are read through.
Value Evaluator::makeFunction(const ast::FunctionDef &definition, ModuleState &module) {
  auto object = std::make_shared<FunctionObject>();
  object->definition = &definition;
  object->module = &module;
  object->mode = FunctionMode::Python;
  for (const ast::Expr *decorator : definition.decorators) {
    const auto *callExpr = llvm::dyn_cast<ast::CallExpr>(decorator);
    const ast::Expr *callee = callExpr ? callExpr->callee : decorator;
    Value value;
    Frame definitionFrame;
    definitionFrame.module = &module;
    definitionFrame.name = definition.name.name;
    definitionFrame.before = definition.range.begin;
    FrameGuard guard(*this, definitionFrame);
    bool known = attempt([&] { value = evaluate(*callee); });
    if (hasFailed)
      return Value();
    const BuiltinInfo *info =
        known && value.is(ValueKind::Builtin) ? value.as<BuiltinObject>().info : nullptr;
    llvm::StringRef name = info ? llvm::StringRef(info->name) : llvm::StringRef();
    // tl.constexpr, too, makes a constant of a Python function, which is called as one.
    if (info && (name == "constexpr_function" || name == "constexpr")) {
      object->mode = FunctionMode::Python;
      break;
    }
    if (name == "staticmethod" || name.contains('.') || name == "property")
      continue;
    object->mode = FunctionMode::Kernel;
    object->isModeGuessed = !info;
    if (info)
      break;
  }
  return {ValueKind::Function, object};
}

} // namespace kiln::sema
