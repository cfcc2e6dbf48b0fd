// Who runs Python: modules and their functions, classes and iterators. Device code asks for what it
// meets of them through here; Host/Interpreter.h answers.
#ifndef KILN_COMPILER_SEMA_MODULES_PYTHONRUNNER_H
#define KILN_COMPILER_SEMA_MODULES_PYTHONRUNNER_H

#include "compiler/Sema/Modules/ModuleState.h"

namespace kiln::sema {

class PythonRunner {
public:
  virtual ~PythonRunner() = default;

  //===-- Modules --===//

  /// The state of a module, which is executed first unless it is being executed already.
  virtual ModuleState &execute(const LoadedModule &module) = 0;
  /// A name of a module; empty when it has none. Error values are reported already.
  virtual std::optional<Value> findGlobal(ModuleState &module, llvm::StringRef name) = 0;
  /// The function that a definition makes. Functions around it run once, with what -D says of their
  /// arguments.
  virtual Value functionOf(ModuleState &module, const ast::FunctionDef &definition,
                           llvm::ArrayRef<const ast::FunctionDef *> around) = 0;
  /// Empty when the module or name does not exist.
  virtual std::optional<Value> importModule(ModuleState &importer, unsigned level,
                                            llvm::StringRef name) = 0;
  virtual std::optional<Value> importName(ModuleState &importer, unsigned level,
                                          llvm::StringRef module, llvm::StringRef name) = 0;
  /// An attribute of a module, known or from a file; empty when it has none.
  virtual std::optional<Value> moduleAttribute(const Value &module, llvm::StringRef name) = 0;
  /// For device code: what an import that was put off gives, or a name of a package that Kiln knows
  /// without reading it, from a file of the -I roots where one has it; other opaque values as they
  /// are.
  virtual Value resolve(const Value &opaque) = 0;

  //===-- Calls --===//

  /// Calls anything as Python does.
  virtual Value call(const Value &callee, std::vector<Value> args, Keywords keywords,
                     const ast::CallExpr *expr = nullptr) = 0;
  /// What a call of something unknown gives and taints.
  virtual Value callUnknown(const Value &callee, llvm::ArrayRef<Value> args,
                            const Keywords &keywords) = 0;
  virtual Value instantiate(const Value &cls, std::vector<Value> args, Keywords keywords) = 0;
  /// `Cls(…)` of a dataclass or a named tuple.
  virtual Value callFields(const Value &cls, std::vector<Value> args, Keywords keywords) = 0;
  /// super(): the object at hand, looked up behind the class of the method.
  virtual Value makeSuper(llvm::ArrayRef<Value> args) = 0;

  //===-- Objects --===//

  virtual Value getAttribute(const Value &base, llvm::StringRef name) = 0;
  virtual bool setAttribute(const Value &base, llvm::StringRef name, const Value &value) = 0;
  virtual Value makeIterator(const Value &iterable) = 0;
  /// The next element; empty at the end, or after an error.
  virtual std::optional<Value> next(const Value &iterator) = 0;
  virtual std::optional<std::vector<Value>> drain(const Value &iterator) = 0;
  /// The elements of an enumeration, or of an object with `__iter__`.
  virtual std::optional<std::vector<Value>> iterateObject(const Value &object) = 0;
  /// Raises an exception of Python's. Returns an Error value.
  virtual Value raise(llvm::StringRef className, const llvm::Twine &message) = 0;
  virtual bool isSubclass(const Value &cls, const Value &of) = 0;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_MODULES_PYTHONRUNNER_H
