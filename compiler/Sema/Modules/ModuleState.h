// A module while it is executed, and afterwards; what its scopes hold.
#ifndef KILN_COMPILER_SEMA_MODULES_MODULESTATE_H
#define KILN_COMPILER_SEMA_MODULES_MODULESTATE_H

#include "compiler/Sema/Modules/ModuleLoader.h"
#include "compiler/Sema/Values/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::sema {

/// What the body of a function says about names.
struct FunctionNames {
  llvm::StringSet<> locals, globals, nonlocals;
  bool isGenerator = false;
};

/// The names of one module. Filled while it is executed.
struct ModuleState {
  const LoadedModule *module = nullptr;
  std::shared_ptr<Scope> scope;
  enum { Waiting, Running, Done } status = Waiting;
  /// The functions that its `def` statements made, whatever decorators then made of them.
  llvm::DenseMap<const ast::FunctionDef *, Value> functions;
  /// `from package import name` of names that a circular import has not bound yet.
  struct LateImport {
    std::shared_ptr<Scope> scope;
    llvm::StringRef name, attribute;
    Value placeholder;
  };
  std::vector<LateImport> lateImports;
  /// A module that is not at hand, all of whose names it imports.
  Value starred;
};

/// A name of a scope that encloses code, short of the module's; null when there is none.
const Value *findEnclosing(const std::shared_ptr<Scope> &scope, llvm::StringRef name);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_MODULES_MODULESTATE_H
