// Python's formatting of text: f-strings, str.format and the % operator.
#ifndef KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H
#define KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {

/// format(value, spec): `spec` is [[fill]align][sign][z][#][0][width][grouping][.precision][type].
/// Empty after an error.
std::optional<std::string> formatValue(Evaluator &evaluator, const Value &value,
                                       llvm::StringRef spec);
/// text.format(*args, **keywords). An Error value after a report.
Value formatFields(Evaluator &evaluator, llvm::StringRef text, llvm::ArrayRef<Value> args,
                   const Keywords &keywords);
/// text % values, where `values` is a tuple, a dict or one value. An Error value after a report.
Value formatPercent(Evaluator &evaluator, llvm::StringRef text, const Value &values);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H
