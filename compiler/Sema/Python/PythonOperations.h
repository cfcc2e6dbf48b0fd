// Python's operations on values that are known at compile time, for both evaluators: that of device
// code and that of code which runs while compiling.
#ifndef KILN_COMPILER_SEMA_PYTHON_PYTHONOPERATIONS_H
#define KILN_COMPILER_SEMA_PYTHON_PYTHONOPERATIONS_H

#include "compiler/Sema/Unwinding/Unwinding.h"

namespace kiln::sema {

/// Whoever runs code: what an operation needs where a value has code of its own.
class CodeRunner {
public:
  virtual Value call(const Value &callee, std::vector<Value> args, Keywords keywords,
                     const ast::CallExpr *expr = nullptr) = 0;
  virtual Value getAttribute(const Value &base, llvm::StringRef name) = 0;
  virtual Value subscript(const Value &base, const Value &index) = 0;
  /// The elements of an iterator, a class or an instance. Empty after an error.
  virtual std::optional<std::vector<Value>> iterateObject(const Value &iterable) = 0;

protected:
  ~CodeRunner() = default;
};

class PythonOperations : public Reporting {
public:
  PythonOperations(Unwinding &unwinding, const BuiltinTable &builtins, CodeRunner &code)
      : Reporting(unwinding), table(builtins), code(code) {}

  const BuiltinTable &builtins() const { return table; }
  /// Calls one that there is.
  Value callBuiltin(Library library, llvm::StringRef name, std::vector<Value> args,
                    Keywords keywords = {});
  Value callBuiltin(const BuiltinInfo &info, std::vector<Value> args) {
    return code.call(Value::builtin(info), std::move(args), {});
  }

  /// What is longer is an error, so that a build neither hangs nor eats all memory.
  static constexpr size_t longestText = 1 << 22, longestSequence = 1 << 20;

  //===-- Operators (Operators.cpp) --===//

  Value pythonBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value pythonCompare(ast::CompareOp op, const Value &left, const Value &right);
  Value pythonUnary(ast::UnaryOp op, const Value &operand);
  /// True, False, or empty after an error or for a run-time value (which is then in `tensor`).
  std::optional<bool> truth(const Value &value, Tensor *tensor = nullptr);

  //===-- Sequences (Sequences.cpp) --===//

  /// The elements of a Python iterable. Empty after an error.
  std::optional<std::vector<Value>> iterate(const Value &iterable);
  /// A number, a string, None, True, False or an ellipsis as the source writes it.
  Value literal(const ast::Expr &expr);
  /// Of a string, a tuple, a list or a range.
  Value subscriptSequence(const Value &base, const Value &index);
  /// What the name, or the key, `name` holds; one that is not bound on every path is an error.
  Value use(llvm::StringRef name, const Value &value);

  //===-- Methods (Methods.cpp, StringMethods.cpp) --===//

  Value pythonMethod(const Value &self, llvm::StringRef name, std::vector<Value> &args,
                     Keywords &keywords);
  bool hasPythonMethod(const Value &self, llvm::StringRef name);

  //===-- Compile-time operands of builtins (Operands.cpp); `what` names them in errors --===//

  std::optional<Int> constantInt(const Value &value, const llvm::Twine &what);
  std::optional<double> constantReal(const Value &value, const llvm::Twine &what);
  /// `value` without its fraction, as an integer; an error where there is none.
  std::optional<Int> wholeNumber(double value);
  std::optional<bool> constantBool(const Value &value, const llvm::Twine &what);
  std::optional<std::string> constantString(const Value &value, const llvm::Twine &what);
  std::optional<DType> constantDType(const Value &value, const llvm::Twine &what);
  /// A tuple, list or single integer of positive extents.
  std::optional<llvm::SmallVector<int64_t, 4>> constantShape(const Value &value,
                                                             llvm::StringRef what);
  std::optional<llvm::SmallVector<int64_t, 4>> constantInts(const Value &value,
                                                            llvm::StringRef what);
  /// One of `rank` axes; negative ones count from the end.
  std::optional<unsigned> constantAxis(const Value &value, llvm::StringRef what, size_t rank);

private:
  /// What an operand is that is no constant of the expected kind.
  std::nullopt_t refuseConstant(const Value &value, const llvm::Twine &what,
                                const llvm::Twine &expected);
  Value stringMethod(llvm::StringRef self, llvm::StringRef name, llvm::ArrayRef<Value> args,
                     const Keywords &keywords);
  Value splitMethod(llvm::StringRef self, llvm::StringRef name, llvm::ArrayRef<Value> args,
                    const Keywords &keywords);
  Value joinStrings(llvm::StringRef separator, const Value &parts);
  Value joinSequences(const Value &left, const Value &right);
  Value compareEqual(ast::CompareOp op, const Value &left, const Value &right);
  Value compareMember(ast::CompareOp op, const Value &left, const Value &right);

  const BuiltinTable &table;
  CodeRunner &code;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_PYTHONOPERATIONS_H
