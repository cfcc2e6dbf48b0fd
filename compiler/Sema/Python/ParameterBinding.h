// The values of a function's parameters in a call, as Python binds them: of code that is traced
// into a kernel and of code that runs on the host.

#ifndef KILN_COMPILER_SEMA_PYTHON_PARAMETERBINDING_H
#define KILN_COMPILER_SEMA_PYTHON_PARAMETERBINDING_H

#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

/// Why a call does not fit a function: "needs a value for 'x'".
struct ArgumentsMistake {
  std::string what;
  std::string hint;
  /// The keyword that is at fault, if one is.
  std::string keyword;
};

/// Puts the parameters into `names`, in order; parameters that the call leaves out have their
/// defaults. After a mistake some may be missing.
std::optional<ArgumentsMistake> bindParameters(const FunctionObject &function,
                                               llvm::ArrayRef<Value> args, const Keywords &keywords,
                                               Environment &names);

} // namespace kiln::sema

#endif
