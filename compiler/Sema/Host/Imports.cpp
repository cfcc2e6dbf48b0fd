// Imports of host code.
//
// What an import names is executed there and then, as in Python, with two exceptions. The
// `__init__` of the packages around a module runs only when something of it is asked for. And the
// packages that Kiln knows without reading them (torch, numpy, Python's own) are unknown to host
// code, whatever is at hand: importing one of them reads hundreds of files. A kernel that needs a
// name of one of their modules gets it from the -I roots (`resolve`).

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {

/// Imports nest no deeper; the C++ stack has an end.
static constexpr unsigned maxImportDepth = 60;
/// Modules that run when they are imported. Real packages import all of themselves, hundreds of
/// files of which a kernel needs a few: further ones run when something of them is needed.
static constexpr unsigned maxEagerModules = 32;

Value HostInterpreter::moduleValue(const LoadedModule &module) {
  for (const Diagnostic &diagnostic : module.diagnostics)
    if (diagnostic.severity == Severity::Error) {
      core->unwinding().report(diagnostic);
      return Value();
    }
  auto object = std::make_shared<ModuleObject>();
  object->state = &stateOf(module);
  object->path = module.path;
  return {ValueKind::Module, object};
}

/// The value of what an import found; empty when it found nothing.
std::optional<Value> HostInterpreter::importedModule(const ImportResult &found,
                                                     llvm::StringRef name) {
  if (found.module)
    return moduleValue(*found.module);
  if (found.folders.empty())
    return std::nullopt;
  auto object = std::make_shared<ModuleObject>();
  object->path = name.str();
  object->folders = found.folders;
  return Value(ValueKind::Module, object);
}

std::optional<Value> HostInterpreter::importModule(ModuleState &importer, unsigned level,
                                                   llvm::StringRef name) {
  if (level == 0)
    if (std::optional<Value> known = core->modules().knownModule(name))
      return known;
  return importedModule(loader.resolve(*importer.module, level, name), name);
}

std::optional<Value> HostInterpreter::importName(ModuleState &importer, unsigned level,
                                                 llvm::StringRef module, llvm::StringRef name) {
  std::string path = (module + "." + name).str();
  if (level == 0)
    if (std::optional<Value> known = core->modules().knownModule(path); known && !known->isOpaque())
      return known;
  // `from . import name` inside a package names a submodule before a name that it is binding.
  if (level && module.empty() && importer.module->isPackage)
    if (ImportResult found = loader.resolve(*importer.module, level, name); found.module)
      return moduleValue(*found.module);
  std::optional<Value> from = importModule(importer, level, module);
  if (!from || core->failed())
    return std::nullopt;
  if (!from->isOpaque())
    return moduleAttribute(*from, name);
  return getAttribute(*from, name);
}

bool HostInterpreter::putsOff(unsigned level, llvm::StringRef module) {
  bool isKnown = level == 0 && core->modules().knownModule(module.split('.').first);
  return executedModules >= maxEagerModules && !isKnown && !isExpected("ModuleNotFoundError");
}

Value HostInterpreter::putOff(unsigned level, llvm::StringRef module, llvm::StringRef name) {
  Value value = unknown(name.empty() ? module.str() : (module + "." + name).str());
  value.as<OpaqueObject>().late = {current->module, level, module, name};
  return value;
}

Value HostInterpreter::resolveLate(const Value &value) {
  auto [known, isNew] = lateValues.try_emplace(value.getObject(), value);
  if (!isNew)
    return known->second;
  const OpaqueObject::Late late = value.as<OpaqueObject>().late;
  std::optional<Value> found = late.name.empty()
                                   ? importModule(*late.importer, late.level, late.module)
                                   : importName(*late.importer, late.level, late.module, late.name);
  if (core->failed())
    found = core->unwinding().mustUnwind() ? Value() : unknownAfterFailure();
  if (!found || (found->isOpaque() && !found->as<OpaqueObject>().cause))
    if (std::optional<Value> exported = reexported(late.name))
      found = exported;
  Value result = found ? *found : Value::opaque(value.as<OpaqueObject>().path);
  if (result.isOpaque() && result.as<OpaqueObject>().late.importer)
    result = resolveLate(result);
  return lateValues[value.getObject()] = result;
}

Value HostInterpreter::resolve(const Value &value) {
  const auto &opaque = value.as<OpaqueObject>();
  if (opaque.late.importer)
    return resolveLate(value);
  llvm::StringRef path = opaque.path;
  if (opaque.cause || path.contains('(') || path.contains('[') || path.starts_with("triton"))
    return value;
  if (auto found = resolved.find(path); found != resolved.end())
    return found->second;
  Value result = value;
  for (llvm::StringRef module = path; module.contains('.'); module = module.rsplit('.').first) {
    ImportResult found = loader.resolveInRoots(module);
    if (!found.module)
      continue;
    // A package's own names are not read.
    if (found.module->isPackage)
      break;
    result = moduleValue(*found.module);
    llvm::SmallVector<llvm::StringRef> names;
    path.drop_front(module.size()).split(names, '.', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef name : names)
      if (!core->failed())
        result = core->getAttribute(result, name);
    break;
  }
  if (!core->failed())
    resolved[path] = result;
  return core->failed() ? Value() : result;
}

std::optional<Value> HostInterpreter::moduleAttribute(const Value &module, llvm::StringRef name) {
  const auto &object = module.as<ModuleObject>();
  if (!object.state)
    return object.folders.empty() ? core->modules().knownAttribute(object.path, name)
                                  : importedModule(loader.resolveIn(object.folders, name), name);
  ModuleState &state = *object.state;
  if (std::optional<Value> value = findGlobal(state, name))
    return value;
  if (core->failed())
    return Value();
  if (state.module->isPackage)
    if (std::optional<Value> submodule =
            importedModule(loader.resolve(*state.module, 1, name), name))
      return submodule;
  if (name == "__name__" || name == "__file__")
    return Value::string(state.module->path);
  auto compute = state.scope->names.find("__getattr__");
  if (name.starts_with("__") || compute == state.scope->names.end())
    return std::nullopt;
  // What the module computes when it is asked for a name.
  Value value = compute->second.is(ValueKind::Function)
                    ? settle(callFunction(compute->second, {Value::string(name)}, {}))
                    : compute->second;
  if (!core->failed())
    return value;
  if (core->unwinding().mustUnwind())
    return Value();
  unknownAfterFailure();
  return unknown(object.path + "." + name);
}

/// Triton's modules by the names that packages export them under: what one of a package that is
/// not at hand must be.
std::optional<Value> HostInterpreter::reexported(llvm::StringRef name) {
  if (name == "triton")
    return core->modules().knownModule(name);
  if (name == "tl")
    return core->modules().knownModule("triton.language");
  if (name == "HAS_TRITON")
    return Value::boolean(true);
  return std::nullopt;
}

/// A module that is not at hand: an exception where the program is prepared for one.
Value HostInterpreter::missingModule(llvm::StringRef name) {
  if (!isExpected("ModuleNotFoundError"))
    return unknown(name);
  core->error(DiagKind::SemaImport, name, "the search path");
  raised = makeException(exceptionClass("ModuleNotFoundError"),
                         {Value::string("No module named '" + name + "'")});
  raisedBy = core->unwinding().getNumFailures();
  return Value();
}

Exit HostInterpreter::executeImport(const ast::ImportStmt &stmt) {
  for (const ast::ImportedName &imported : stmt.names) {
    llvm::StringRef full = imported.name.name;
    bool whole = !imported.alias.empty();
    if (putsOff(0, full)) {
      llvm::StringRef head = full.split('.').first;
      bind(whole ? imported.alias.name : head, putOff(0, whole ? full : head, ""));
      continue;
    }
    std::optional<Value> module = importModule(*current->module, 0, full);
    if (core->failed())
      return Exit::Raised;
    bool isRead = module && module->is(ValueKind::Module) && module->as<ModuleObject>().state;
    if (!module)
      module = missingModule(full);
    else if (isRead && !core->modules().knownModule(full.split('.').first)) {
      ++importDepth;
      if (importDepth < maxImportDepth)
        execute(*module->as<ModuleObject>().state->module);
      --importDepth;
    }
    if (core->failed())
      return Exit::Raised;
    Value bound = *module;
    if (!whole && full.contains('.') && !module->isOpaque()) {
      std::optional<Value> head = importModule(*current->module, 0, full.split('.').first);
      bound = head ? *head : *module;
    }
    bind(whole ? imported.alias.name : full.split('.').first, bound);
  }
  return Exit::Normal;
}

/// The name of a module that a circle of imports has not bound yet: bound once the module has run.
std::optional<Value> HostInterpreter::lateImport(const Value &module, llvm::StringRef attribute,
                                                 llvm::StringRef name) {
  ModuleState *state = module.is(ValueKind::Module) ? module.as<ModuleObject>().state : nullptr;
  if (!state || state->status != ModuleState::Running || isExpected("ImportError"))
    return std::nullopt;
  Value placeholder = unknown(attribute);
  std::shared_ptr<Scope> scope = scopeOf(name);
  bindIn(scope, name, placeholder);
  state->lateImports.push_back({scope, name, attribute, placeholder});
  return placeholder;
}

Exit HostInterpreter::executeImportFrom(const ast::ImportFromStmt &stmt) {
  llvm::StringRef from = stmt.module.name;
  if (stmt.isStar())
    return importStar(stmt) ? Exit::Normal : Exit::Raised;
  for (const ast::ImportedName &imported : stmt.names) {
    llvm::StringRef attribute = imported.name.name;
    llvm::StringRef name = imported.alias.empty() ? attribute : imported.alias.name;
    At at(*core, imported.name.range);
    if (putsOff(stmt.level, from)) {
      bind(name, putOff(stmt.level, from, attribute));
      continue;
    }
    ++importDepth;
    std::optional<Value> value;
    if (importDepth < maxImportDepth)
      value = importName(*current->module, stmt.level, from, attribute);
    else
      value = unknown(from + "." + attribute);
    // A submodule is executed by its import, too.
    bool isRead = value && value->is(ValueKind::Module) && value->as<ModuleObject>().state;
    if (isRead && !core->failed() && importDepth < maxImportDepth &&
        (stmt.level || !core->modules().knownModule(from.split('.').first)))
      execute(*value->as<ModuleObject>().state->module);
    --importDepth;
    if (core->failed())
      return Exit::Raised;
    if (!value || value->isOpaque())
      if (std::optional<Value> exported = reexported(attribute))
        value = exported;
    if (!value) {
      std::optional<Value> module = importModule(*current->module, stmt.level, from);
      if (core->failed())
        return Exit::Raised;
      if (module && lateImport(*module, attribute, name))
        continue;
      if (module && !module->isOpaque()) {
        core->error(DiagKind::SemaImport, attribute, from);
        return Exit::Raised;
      }
      Value missing = missingModule(from);
      if (core->failed())
        return Exit::Raised;
      value = getAttribute(missing, attribute);
    }
    bind(name, *value);
  }
  return Exit::Normal;
}

bool HostInterpreter::importStar(const ast::ImportFromStmt &stmt) {
  std::optional<Value> module = importModule(*current->module, stmt.level, stmt.module.name);
  if (core->failed())
    return false;
  if (!module)
    module = missingModule(stmt.module.name);
  if (!module->is(ValueKind::Module)) {
    current->module->starred = *module;
    return !core->failed();
  }
  ModuleState *state = module->as<ModuleObject>().state;
  if (!state) {
    for (llvm::StringRef name : core->modules().knownNames(module->as<ModuleObject>().path))
      if (std::optional<Value> value =
              core->modules().knownAttribute(module->as<ModuleObject>().path, name))
        bind(name, *value);
    return true;
  }
  ++importDepth;
  if (importDepth < maxImportDepth)
    execute(*state->module);
  --importDepth;
  if (core->failed())
    return false;
  std::optional<Value> listed = findGlobal(*state, "__all__");
  if (listed && listed->isSequence() && !findUnknown(*listed)) {
    for (const Value &name : listed->getElements())
      if (std::optional<Value> value = moduleAttribute(*module, str(name)))
        bind(intern(str(name)), *value);
    return !core->failed();
  }
  Environment names = state->scope->names;
  for (const auto &[name, value] : names)
    if (!name.starts_with("_"))
      bind(name, known(value));
  return true;
}

} // namespace kiln::sema
