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

/// A function of one float as a formula in fp64, whose result becomes of the float's type again.
Value inDouble(TensorBuilder &build, Call &call, Lanes (*formula)(const Lanes &x));

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_DEVICEFUNCTIONS_FORMULAS_H
