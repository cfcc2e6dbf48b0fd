// What stars stand for in Python: in arguments of calls, in displays, in targets of assignments.
// Code that is traced into a kernel and code that runs on the host are walked alike here.

#ifndef KILN_COMPILER_SEMA_PYTHON_UNPACKING_H
#define KILN_COMPILER_SEMA_PYTHON_UNPACKING_H

#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

/// Evaluates Python. After an error nothing it gives counts.
class Unpacker {
public:
  virtual Value evaluate(const ast::Expr &expr) = 0;
  virtual bool failed() const = 0;
  /// The elements of a value; an unknown one has none, which is an error.
  virtual std::optional<std::vector<Value>> iterate(const Value &iterable) = 0;

protected:
  ~Unpacker() = default;

  /// Reports an exception of Python's.
  virtual void raiseMistake(llvm::StringRef className, const llvm::Twine &message) = 0;
  /// Whether an assignment of more items than targets leaves out the last ones.
  virtual bool dropsSurplus(size_t items, size_t targets) { return false; }

  /// False after an error.
  bool collectArguments(ast::ArgumentList arguments, std::vector<Value> &args, Keywords &keywords);
  /// The elements of a display.
  std::optional<std::vector<Value>> evaluateElements(ast::ExprList exprs);
  /// Calls `assign` with each target, without its star, and its value. False after an error.
  bool unpack(ast::ExprList targets, const Value &value,
              llvm::function_ref<bool(const ast::Expr &, const Value &)> assign);
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_UNPACKING_H
