// How elementwise float builtins read their operands and make their operation.
#ifndef KILN_COMPILER_SEMA_FLOATFUNCTIONS_H
#define KILN_COMPILER_SEMA_FLOATFUNCTIONS_H

#include "compiler/Sema/Evaluator.h"

namespace kiln::sema {

/// The argument as a tensor of fp32 or fp64; a compile-time integer counts as a float. `half` types
/// are accepted too with `acceptHalf`.
Tensor floatOperand(Evaluator &evaluator, llvm::StringRef function, const Value &value,
                    bool acceptHalf = false);

template <typename Op> Value floatFunction(Evaluator &evaluator, Call &call) {
  Tensor x = floatOperand(evaluator, call.info->name, call[0]);
  return x ? Value::tensor(evaluator.emit<Op>(x.ir), x.type) : Value();
}

/// Two operands, promoted and broadcast.
std::optional<std::pair<Tensor, Tensor>> floatOperands(Evaluator &evaluator, const Call &call);

template <typename Op> Value floatFunction2(Evaluator &evaluator, Call &call) {
  auto both = floatOperands(evaluator, call);
  return both ? Value::tensor(evaluator.emit<Op>(both->first.ir, both->second.ir), both->first.type)
              : Value();
}

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_FLOATFUNCTIONS_H
