// What decorators say about a kernel: autotune configs and heuristics. Internal to Sema.
#ifndef KILN_COMPILER_SEMA_HOSTEVALUATION_H
#define KILN_COMPILER_SEMA_HOSTEVALUATION_H

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {

/// Values of the kernel's `@triton.heuristics`, outermost decorator last as Triton applies them, so
/// that one can use another's result. Parameters that `instance` gives are left out. Empty after
/// an error.
std::optional<NamedConstants> evaluateHeuristics(Evaluator &evaluator, const FunctionObject &kernel,
                                                 const KernelInstance &instance);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOSTEVALUATION_H
