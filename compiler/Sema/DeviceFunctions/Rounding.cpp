// libdevice's arithmetic and conversions in rounding modes, whose names say which: "fma_rd" rounds
// down.

#include "compiler/Sema/DeviceFunctions/Formulas.h"
#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/DirectedRounding.h"

namespace kiln::sema {

bool readOperands(TensorBuilder &build, const Call &call, std::vector<Lanes> &operands) {
  Tensor first;
  for (const Value &value : call.values)
    if (value.isTensor() && !first)
      first = floatOperand(build, call.info->name, value);
  std::vector<Tensor> tensors;
  for (const Value &value : call.values) {
    Tensor x = floatOperand(build, call.info->name, value);
    if (!x)
      return false;
    // A number takes the type of the tensors.
    tensors.push_back(first && value.isNumber() ? build.constant(first.dtype(), value) : x);
  }
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < tensors.size(); ++i) {
      auto both =
          build.operands(call.info->name, Value::tensor(tensors[0]), Value::tensor(tensors[i]), {});
      if (!both)
        return false;
      tensors[0] = both->first;
      tensors[i] = both->second;
    }
  for (const Tensor &tensor : tensors)
    operands.push_back({&build, tensor});
  return true;
}

namespace {

std::optional<Direction> directionOf(const Call &call) {
  return directionNamed(llvm::StringRef(call.info->name).rsplit('_').second);
}

template <typename Formula> Value compute(TensorBuilder &build, Call &call, Formula formula) {
  std::vector<Lanes> x;
  return readOperands(build, call, x) ? formula(*directionOf(call), x).value() : Value();
}

using Operands = llvm::ArrayRef<Lanes>;

} // namespace

Value builtinSumToward(TensorBuilder &build, Call &call) {
  return compute(build, call, [](Direction to, Operands x) { return sumToward(to, x[0], x[1]); });
}
Value builtinDifferenceToward(TensorBuilder &build, Call &call) {
  return compute(build, call, [](Direction to, Operands x) { return sumToward(to, x[0], -x[1]); });
}
Value builtinProductToward(TensorBuilder &build, Call &call) {
  return compute(build, call,
                 [](Direction to, Operands x) { return productToward(to, x[0], x[1]); });
}
Value builtinFusedProductToward(TensorBuilder &build, Call &call) {
  return compute(build, call,
                 [](Direction to, Operands x) { return fusedToward(to, x[0], x[1], x[2]); });
}
Value builtinQuotientToward(TensorBuilder &build, Call &call) {
  return compute(build, call,
                 [](Direction to, Operands x) { return quotientToward(to, x[0], x[1]); });
}
Value builtinRootToward(TensorBuilder &build, Call &call) {
  return compute(build, call, [](Direction to, Operands x) { return rootToward(to, x[0]); });
}
Value builtinReciprocalToward(TensorBuilder &build, Call &call) {
  return compute(build, call,
                 [](Direction to, Operands x) { return quotientToward(to, x[0].number(1), x[0]); });
}

} // namespace kiln::sema
