// What names mean beyond the code at hand: those of modules, whether read from files or known to
// Kiln, and what -D says of them; and constants of specs as values, and the reverse.
#ifndef KILN_COMPILER_SEMA_MODULES_MODULESCOPE_H
#define KILN_COMPILER_SEMA_MODULES_MODULESCOPE_H

#include "compiler/Sema/Modules/PythonRunner.h"
#include "compiler/Sema/Python/PythonOperations.h"
#include "compiler/Sema/Values/KernelInstance.h"

namespace kiln::sema {

class ModuleScope : public Reporting {
public:
  /// All must outlive it.
  ModuleScope(Unwinding &unwinding, const BuiltinTable &builtins, SourceManager &sources,
              PythonRunner &python, CodeRunner &code, const TargetAnswers &target,
              const NamedConstants &defines);

  SourceManager &getSources() const { return sources; }
  /// A kernel of a module: a function ("name"), or one of a class or of a function ("Class.name",
  /// or "name" if there is no other of that name). An Error value after a report.
  Value findFunction(const LoadedModule &module, llvm::StringRef name);
  /// What -D says of a name; null when nothing.
  const Literal *findDefine(llvm::StringRef name) const;
  /// Warns of decorators that may change what the function computes.
  void checkDecorators(const FunctionObject &function) const;

  //===-- Modules that Kiln knows (KnownModules.cpp) --===//

  std::optional<Value> knownModule(llvm::StringRef path) const;
  /// An attribute of a module that Kiln knows; empty when it has none.
  std::optional<Value> knownAttribute(llvm::StringRef module, llvm::StringRef name) const;
  /// Whether a module is one that the packages of vendors other than the targets' add to torch:
  /// code that asks for it by hasattr() shall not find it.
  static bool isOfOtherVendor(llvm::StringRef path);
  /// What `from module import *` binds, of a module that Kiln knows.
  std::vector<llvm::StringRef> knownNames(llvm::StringRef module) const;

  //===-- Constants of specs and command lines (Constants.cpp, FunctionPaths.cpp) --===//

  /// An Error value after a report. `module` is where functions are looked up; it may be null.
  Value fromConstant(const Literal &constant, ModuleState *module);
  /// "relu" of the module or of triton.language; "activations.relu" of a module that it has
  /// imported, or could import.
  Value functionNamed(llvm::StringRef path, ModuleState *module);
  std::optional<Literal> toConstant(const Value &value, ModuleState *module);

private:
  Value findNested(const LoadedModule &module, llvm::StringRef name);
  Value unknownFunction(llvm::StringRef path, const ModuleState *module) const;
  Value followPath(Value value, llvm::StringRef names);
  std::optional<std::string> functionPath(const Value &function, ModuleState *module);

  const BuiltinTable &builtins;
  SourceManager &sources;
  PythonRunner &python;
  CodeRunner &code;
  const TargetAnswers &target;
  llvm::StringMap<Literal> defines;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_MODULES_MODULESCOPE_H
