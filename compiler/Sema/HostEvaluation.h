// What decorators say about a kernel: autotune configs and heuristics. Internal to Sema.
#ifndef KILN_COMPILER_SEMA_HOSTEVALUATION_H
#define KILN_COMPILER_SEMA_HOSTEVALUATION_H

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {

/// `tl.constexpr` or a string that ends so, whatever the name is bound to.
bool isConstexprAnnotation(const ast::Expr &annotation);
/// `tl.const`: a pointer that the kernel does not write through.
bool isConstAnnotation(const ast::Expr &annotation);

/// Values of the kernel's `@triton.heuristics`, outermost decorator last as Triton applies them, so
/// that one can use another's result. Parameters that `instance` gives are left out. Empty after
/// an error.
std::optional<NamedConstants> evaluateHeuristics(Evaluator &evaluator, const FunctionObject &kernel,
                                                 const KernelInstance &instance);

/// Text by which `functionNamed` finds a function in the module at hand: "relu", "ops.relu". Empty
/// after an error.
std::optional<std::string> functionPath(Evaluator &evaluator, const Value &function);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOSTEVALUATION_H
