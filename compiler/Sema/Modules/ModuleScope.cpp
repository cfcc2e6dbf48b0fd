#include "compiler/Sema/Modules/ModuleScope.h"
#include "compiler/Basic/NameSuggestion.h"

namespace kiln::sema {
namespace {

/// A function inside classes and other functions, and the functions around it, outermost first.
struct NestedFunction {
  const ast::FunctionDef *definition = nullptr;
  std::vector<const ast::FunctionDef *> around;
};

/// `name` is the function's, or a path that begins with what stands around it.
bool findNested(ast::Block block, llvm::StringRef name, NestedFunction &found) {
  auto [scope, rest] = name.split('.');
  for (const ast::Stmt *stmt : block) {
    const auto *cls = llvm::dyn_cast<ast::ClassDef>(stmt);
    const auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt);
    if (const auto *conditional = llvm::dyn_cast<ast::IfStmt>(stmt))
      if (findNested(conditional->body, name, found) ||
          findNested(conditional->orElse, name, found))
        return true;
    if (const auto *attempt = llvm::dyn_cast<ast::TryStmt>(stmt))
      if (findNested(attempt->body, name, found))
        return true;
    if (!cls && !function)
      continue;
    if (function && function->name.name == name) {
      found.definition = function;
      return true;
    }
    bool isPath = !rest.empty();
    if (isPath && (cls ? cls->name.name : function->name.name) != scope)
      continue;
    if (function)
      found.around.push_back(function);
    if (findNested(cls ? cls->body : function->body, isPath ? rest : name, found))
      return true;
    if (function)
      found.around.pop_back();
  }
  return false;
}

} // namespace

ModuleScope::ModuleScope(Unwinding &unwinding, const BuiltinTable &builtins, SourceManager &sources,
                         PythonRunner &python, CodeRunner &code, const TargetAnswers &target,
                         const NamedConstants &definesList)
    : Reporting(unwinding), builtins(builtins), sources(sources), python(python), code(code),
      target(target) {
  for (const auto &[name, value] : definesList)
    defines[name] = value;
}

const Literal *ModuleScope::findDefine(llvm::StringRef name) const {
  auto found = defines.find(name);
  return found == defines.end() ? nullptr : &found->second;
}

Value ModuleScope::findFunction(const LoadedModule &module, llvm::StringRef name) {
  ModuleState &state = python.execute(module);
  Value function;
  std::optional<Value> global = python.findGlobal(state, name);
  NestedFunction nested;
  if (global && global->isOpaque())
    global = python.resolve(*global);
  if (failed())
    return Value();
  if (global && global->is(ValueKind::Function) && global->as<FunctionObject>().definition)
    function = *global;
  else if (findNested(module.tree->getBody(), name, nested))
    function = python.functionOf(state, *nested.definition, nested.around);
  else if (global && global->isOpaque() && global->as<OpaqueObject>().cause)
    return notKnown(*global);
  if (failed())
    return Value();
  if (!function.is(ValueKind::Function)) {
    std::vector<llvm::StringRef> candidates;
    for (const auto &entry : state.scope->names)
      candidates.push_back(entry.first);
    return errorWithHint(suggestName(name, candidates), DiagKind::SemaNoSuchKernel, name,
                         module.tree->getFile().getPath());
  }
  const auto &object = function.as<FunctionObject>();
  At at(*this, object.definition->signatureRange);
  return object.mode == FunctionMode::Kernel ? function : error(DiagKind::SemaNotKernel, name);
}

} // namespace kiln::sema
