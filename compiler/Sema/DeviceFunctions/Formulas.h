// Formulas that functions of libdevice share.
#ifndef KILN_COMPILER_SEMA_DEVICEFUNCTIONS_FORMULAS_H
#define KILN_COMPILER_SEMA_DEVICEFUNCTIONS_FORMULAS_H

#include "compiler/Sema/Tensors/Lanes.h"

namespace kiln::sema {

/// c[0] + c[1] x + c[2] x² …
Lanes polynomial(llvm::ArrayRef<double> coefficients, const Lanes &x);
/// sin(pi x) and cos(pi x) of floats.
Lanes sinOfPi(const Lanes &x);
Lanes cosOfPi(const Lanes &x);

/// All operands of a function of floats in one type and shape; false after an error.
bool readOperands(TensorBuilder &build, const Call &call, std::vector<Lanes> &operands);

/// A function of one float by its type: the formula of fp32, or that of fp64.
using Formula = Lanes (*)(const Lanes &x);
Value byType(TensorBuilder &build, Call &call, Formula single, Formula wide);

/// A function of which fp32 may be an instruction's estimate.
template <typename Op> Lanes approximately(const Lanes &x) {
  TensorBuilder &build = *x.build;
  auto flags = fastMathFlags(Accuracy::Fast, x.dtype());
  return {&build, {build.emit<Op>(x.tensor.ir, flags), x.tensor.type}};
}

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_DEVICEFUNCTIONS_FORMULAS_H
