#include "compiler/Sema/Modules/ModuleScope.h"
#include "compiler/Basic/NameSuggestion.h"

namespace kiln::sema {
namespace {

/// A function inside classes and other functions, and the functions around it, outermost first.
struct NestedFunction {
  const ast::FunctionDef *definition = nullptr;
  std::vector<const ast::FunctionDef *> around;
  /// "Class.name".
  std::string path;
};

/// Finds the functions of a name, or of a path that names some of what stands around them.
class NestedFunctions {
public:
  explicit NestedFunctions(llvm::StringRef name) : name(name) {}

  void search(ast::Block block) {
    for (const ast::Stmt *stmt : block) {
      if (const auto *conditional = llvm::dyn_cast<ast::IfStmt>(stmt)) {
        search(conditional->body);
        search(conditional->orElse);
      } else if (const auto *attempt = llvm::dyn_cast<ast::TryStmt>(stmt)) {
        search(attempt->body);
      } else if (const auto *cls = llvm::dyn_cast<ast::ClassDef>(stmt)) {
        searchScope(cls->name.name, cls->body);
      } else if (const auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt)) {
        check(*function);
        around.push_back(function);
        searchScope(function->name.name, function->body);
        around.pop_back();
      }
    }
  }

  /// One of each path, the first where branches define it twice; the one whose path the name is, if
  /// there is one; and else those with a decorator of a kernel's, if there are any.
  std::vector<NestedFunction> found() const {
    std::vector<NestedFunction> decorated;
    for (const NestedFunction &function : all) {
      if (function.path == name)
        return {function};
      if (llvm::any_of(function.definition->decorators, isJit))
        decorated.push_back(function);
    }
    return decorated.empty() ? all : decorated;
  }

private:
  /// "triton.jit", or another one's, perhaps with arguments.
  static bool isJit(const ast::Expr *decorator) {
    if (const auto *call = llvm::dyn_cast<ast::CallExpr>(decorator))
      decorator = call->callee;
    if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(decorator))
      return attribute->attribute.name.contains("jit");
    const auto *ref = llvm::dyn_cast<ast::NameExpr>(decorator);
    return ref && ref->name.contains("jit");
  }

  /// Whether the parts of the name are some of the path's, the last one the function's.
  bool isNamed(llvm::StringRef whole) const {
    llvm::SmallVector<llvm::StringRef> parts, scopes;
    name.split(parts, '.');
    whole.split(scopes, '.');
    if (parts.pop_back_val() != scopes.pop_back_val())
      return false;
    auto *scope = scopes.begin();
    return llvm::all_of(parts, [&](llvm::StringRef part) {
      scope = std::find(scope, scopes.end(), part);
      return scope != scopes.end() && scope++;
    });
  }

  void searchScope(llvm::StringRef scope, ast::Block body) {
    std::string outer = std::exchange(path, path + scope.str() + ".");
    search(body);
    path = outer;
  }

  void check(const ast::FunctionDef &function) {
    std::string whole = path + function.name.name.str();
    if (isNamed(whole) &&
        llvm::none_of(all, [&](const NestedFunction &f) { return f.path == whole; }))
      all.push_back({&function, around, whole});
  }

  std::vector<NestedFunction> all;
  llvm::StringRef name;
  std::string path;
  std::vector<const ast::FunctionDef *> around;
};

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

Value ModuleScope::findNested(const LoadedModule &module, llvm::StringRef name) {
  NestedFunctions search(name);
  search.search(module.tree->getBody());
  std::vector<NestedFunction> found = search.found();
  if (found.empty())
    return Value();
  if (found.size() == 1)
    return python.functionOf(python.execute(module), *found[0].definition, found[0].around);
  std::string hint = "say which: '" + found[0].path + "'";
  for (const NestedFunction &function : llvm::drop_begin(found))
    hint += " or '" + function.path + "'";
  At at(*this, found[1].definition->signatureRange);
  return errorWithHint(hint, DiagKind::SemaAmbiguousKernel, name, module.tree->getFile().getPath());
}

Value ModuleScope::findFunction(const LoadedModule &module, llvm::StringRef name) {
  ModuleState &state = python.execute(module);
  Value function;
  std::optional<Value> global = python.findGlobal(state, name);
  if (global && global->isOpaque())
    global = python.resolve(*global);
  if (failed())
    return Value();
  if (global && global->is(ValueKind::Function) && global->as<FunctionObject>().definition)
    function = *global;
  else
    function = findNested(module, name);
  if (failed())
    return Value();
  if (!function.is(ValueKind::Function)) {
    if (global && global->isOpaque() && global->as<OpaqueObject>().cause)
      return notKnown(*global);
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
