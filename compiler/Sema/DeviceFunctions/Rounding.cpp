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
Lanes sum(Direction direction, Operands x) { return sumToward(direction, x[0], x[1]); }
Lanes difference(Direction direction, Operands x) { return sumToward(direction, x[0], -x[1]); }
Lanes product(Direction direction, Operands x) { return productToward(direction, x[0], x[1]); }
Lanes fused(Direction direction, Operands x) { return fusedToward(direction, x[0], x[1], x[2]); }
Lanes quotient(Direction direction, Operands x) { return quotientToward(direction, x[0], x[1]); }
Lanes root(Direction direction, Operands x) { return rootToward(direction, x[0]); }
Lanes reciprocal(Direction direction, Operands x) {
  return quotientToward(direction, x[0].number(1), x[0]);
}

} // namespace

#define KILN_ROUNDED(ID, FORMULA)                                                                  \
  Value builtin##ID##Rz(TensorBuilder &t, Call &call) { return compute(t, call, FORMULA); }        \
  Value builtin##ID##Rd(TensorBuilder &t, Call &call) { return compute(t, call, FORMULA); }        \
  Value builtin##ID##Ru(TensorBuilder &t, Call &call) { return compute(t, call, FORMULA); }
KILN_ROUNDED(Add, sum)
KILN_ROUNDED(Sub, difference)
KILN_ROUNDED(Mul, product)
KILN_ROUNDED(Fma, fused)
KILN_ROUNDED(Div, quotient)
KILN_ROUNDED(Sqrt, root)
KILN_ROUNDED(Rcp, reciprocal)
#undef KILN_ROUNDED

} // namespace kiln::sema
