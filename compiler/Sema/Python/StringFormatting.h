// Python's formatting of text: f-strings, str.format and the % operator.
#ifndef KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H
#define KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H

#include "compiler/Sema/Python/PythonOperations.h"

namespace kiln::sema {

/// format(value, spec): `spec` is [[fill]align][sign][z][#][0][width][grouping][.precision][type].
/// Empty after an error.
std::optional<std::string> formatValue(const Reporting &python, const Value &value,
                                       llvm::StringRef spec);
/// text.format(*args, **keywords). An Error value after a report.
Value formatFields(PythonOperations &python, CodeRunner &code, llvm::StringRef text,
                   llvm::ArrayRef<Value> args, const Keywords &keywords);
/// text % values, where `values` is a tuple, a dict or one value. An Error value after a report.
Value formatPercent(PythonOperations &python, CodeRunner &code, llvm::StringRef text,
                    const Value &values);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_STRINGFORMATTING_H
