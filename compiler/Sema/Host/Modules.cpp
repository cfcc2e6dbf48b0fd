// Executing modules, in order, each once, and what their names stand for.
//
// An error in a statement at module level does not end the module, as it would in Python: a
// kernel's file is full of host code that never matters. What the statement binds or changes is
// unknown from there on, and a kernel that needs it reports the error. The same holds for a
// statement that takes too many steps.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/AssignedNames.h"
#include "compiler/Syntax/Walk.h"

namespace kiln::sema {

void HostInterpreter::serve(Evaluator &evaluator) {
  core = &evaluator;
  journal.begin();
}

bool HostInterpreter::release() {
  journal.undo();
  return !core->failed() && separateRuns == 1;
}

ModuleState &HostInterpreter::stateOf(const LoadedModule &module) {
  std::unique_ptr<ModuleState> &state = modules[&module];
  if (!state) {
    state = std::make_unique<ModuleState>();
    state->module = &module;
    state->scope = std::make_shared<Scope>();
    state->scope->kind = Scope::Module;
  }
  return *state;
}

ModuleState &HostInterpreter::execute(const LoadedModule &module) {
  ModuleState &state = stateOf(module);
  if (state.status == ModuleState::Waiting)
    run(state);
  return state;
}

void HostInterpreter::run(ModuleState &state) {
  state.status = ModuleState::Running;
  ++executedModules;
  separateRuns += !moduleDepth++;
  // Whatever imports it, under whatever condition: a module is executed once.
  Journal::Suspension suspension(journal);
  Unwinding::ModuleRun moduleRun(core->unwinding());
  Activation activation;
  activation.scope = state.scope;
  activation.module = &state;
  {
    HostCall entered(*this, activation, "module");
    for (const ast::Stmt *stmt : state.module->tree->getBody()) {
      runStatement(*stmt);
      activation.doubt = Doubt();
      if (core->failed())
        break;
    }
  }
  --moduleDepth;
  state.status = ModuleState::Done;
  for (const ModuleState::LateImport &late : state.lateImports) {
    auto bound = late.scope->names.find(late.name);
    auto found = state.scope->names.find(late.attribute);
    if (bound != late.scope->names.end() && bound->second.sharesObject(late.placeholder) &&
        found != state.scope->names.end())
      bound->second = found->second;
  }
  state.lateImports.clear();
}

void HostInterpreter::runStatement(const ast::Stmt &stmt) {
  journal.begin();
  execute(stmt);
  Journal::Changes changes = journal.keep();
  if (!core->failed())
    return;
  // An import that fails in a module that someone tries to import.
  if (!core->unwinding().mustUnwind() && isException() && importDepth > 0) {
    Value exception = raised;
    bool isImport =
        core->unwinding().lastFailure().kind == DiagKind::SemaImport ||
        (raisedBy == core->unwinding().getNumFailures() && exception.is(ValueKind::Instance) &&
         isSubclass(exception.as<InstanceObject>().cls, exceptionClass("ImportError")));
    if (isImport && isExpected("ModuleNotFoundError"))
      return;
  }
  bool wasCut = core->unwinding().mustUnwind();
  Value why = unknownAfterFailure();
  if (wasCut)
    for (auto &[object, change] : changes)
      if (change.before && change.object != current->scope)
        change.object->lost = why.share<OpaqueObject>();
  // What it has bound stays: in Python, too, it would have been bound before the error.
  Environment bound;
  for (auto &[object, change] : changes)
    if (change.object == current->scope && change.before)
      for (const auto &[name, value] : current->scope->names) {
        const auto &before = static_cast<const Scope &>(*change.before).names;
        auto old = before.find(name);
        if (!wasCut && (old == before.end() || !isIdentical(old->second, value)))
          bound[name] = value;
      }
  loseEffects(stmt, why);
  for (const auto &[name, value] : bound)
    current->scope->names[name] = value;
  // A kernel is compiled as it stands, whatever went wrong around it.
  if (const auto *definition = llvm::dyn_cast<ast::FunctionDef>(&stmt))
    if (!current->module->functions.count(definition)) {
      auto object = std::make_shared<FunctionObject>();
      object->definition = definition;
      object->module = current->module;
      object->defaults.resize(definition->parameters.size());
      for (auto [parameter, value] : llvm::zip(definition->parameters, object->defaults))
        if (parameter.defaultValue)
          value = why;
      object->mode = definition->decorators.empty() ? FunctionMode::Python : FunctionMode::Kernel;
      object->isModeGuessed = true;
      for (const ast::Expr *decorator : definition->decorators)
        object->decorations.push_back({decorator, why, {}, {}});
      current->module->functions[definition] = Value(ValueKind::Function, object);
    }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The literal that is all that a module binds a name to; null if there is none.
static const ast::Expr *literalOf(const LoadedModule &module, llvm::StringRef name) {
  const ast::Expr *literal = nullptr;
  for (const ast::Stmt *stmt : module.tree->getBody()) {
    bool binds = false;
    walk(*stmt, [&](const ast::Node &node) {
      const auto *import = llvm::dyn_cast<ast::ImportFromStmt>(&node);
      binds |= import && import->isStar();
      visitBoundNames(node, [&](llvm::StringRef bound) { binds |= bound == name; });
      return true;
    });
    const auto *assign = llvm::dyn_cast<ast::AssignStmt>(stmt);
    if (!binds)
      continue;
    if (literal || !assign ||
        !llvm::isa<ast::StringLiteral, ast::IntLiteral, ast::FloatLiteral, ast::BoolLiteral,
                   ast::NoneLiteral>(assign->value))
      return nullptr;
    literal = assign->value;
  }
  return literal;
}

std::optional<Value> HostInterpreter::findGlobal(ModuleState &state, llvm::StringRef name) {
  if (const Literal *defined = core->modules().findDefine(name))
    return core->modules().fromConstant(*defined, &state);
  // A package's `__version__` and the like. In Python the package has run by the time that one of
  // its modules asks for it; here it may not have, and would import that module half done.
  if (state.status == ModuleState::Waiting) {
    if (const ast::Expr *literal =
            state.module->isPackage ? literalOf(*state.module, name) : nullptr)
      return core->tensors().literal(*literal);
    run(state);
  }
  if (core->failed())
    return Value();
  auto found = state.scope->names.find(name);
  return found == state.scope->names.end() ? std::nullopt : std::optional(known(found->second));
}

Value HostInterpreter::functionOf(ModuleState &state, const ast::FunctionDef &definition,
                                  llvm::ArrayRef<const ast::FunctionDef *> around) {
  execute(*state.module);
  if (around.empty())
    if (auto found = state.functions.find(&definition); found != state.functions.end())
      return found->second;
  Journal::Suspension suspension(journal);
  Unwinding::ModuleRun moduleRun(core->unwinding());
  Activation activation;
  activation.scope = state.scope;
  activation.module = &state;
  // Where no call has made it: its functions run once, with what is known of their arguments.
  for (const ast::FunctionDef *outer : around) {
    HostCall entered(*this, activation, outer->name.name);
    auto object = std::make_shared<FunctionObject>();
    auto scope = std::make_shared<Scope>();
    if (auto known = state.functions.find(outer); known != state.functions.end())
      *object = known->second.as<FunctionObject>();
    else {
      object->definition = outer;
      object->module = &state;
      object->scope = activation.scope->kind == Scope::Module ? nullptr : activation.scope;
      evaluateDefaults(*object);
    }
    scope->parent = object->scope;
    scope->declared = &namesOf(*object);
    for (auto [index, parameter] : llvm::enumerate(outer->parameters)) {
      llvm::StringRef name = parameter.name.name;
      const Literal *given = core->modules().findDefine(name);
      At at(*core, parameter.range);
      scope->names[name] = given ? core->modules().fromConstant(*given, &state)
                           : !object->defaults[index].isError()
                               ? object->defaults[index]
                               : unknown("the argument " + name + " of " + outer->name.name);
    }
    runBody(Value(ValueKind::Function, object), scope, Value(), nullptr);
    if (core->failed())
      unknownAfterFailure();
    activation.scope = scope;
  }
  if (auto found = state.functions.find(&definition); found != state.functions.end())
    return found->second;
  HostCall entered(*this, activation, definition.name.name);
  return settle(makeFunction(definition));
}

} // namespace kiln::sema
