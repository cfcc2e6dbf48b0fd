// Functions of libdevice in fp32, by polynomials of fp32. Errors are near those that CUDA gives
// for its own, most below them (docs/accuracy.md). tests/benchmarks/fit_polynomials.py has
// what the polynomials fit.
//
// Instructions that estimate logarithms, exponentials, roots and quotients serve where a function
// is flat in them. All pieces of a function are evaluated and one is taken: branches would differ
// within a warp.
#ifndef KILN_COMPILER_SEMA_DEVICEFUNCTIONS_SINGLEPRECISION_H
#define KILN_COMPILER_SEMA_DEVICEFUNCTIONS_SINGLEPRECISION_H

#include "compiler/Sema/DeviceFunctions/Formulas.h"

namespace kiln::sema::single {

/// a / b to about 2 ulp, for |b| up to 2^126.
Lanes estimateQuotient(const Lanes &a, const Lanes &b);

/// e^(x + rest) as a number near 1 times a power of two, for |x| up to 1e6 and a rest far below 1.
struct Exponential {
  Lanes factor, power;
};
Exponential exponential(const Lanes &x, const Lanes &rest);

/// sin(pi x) / x of |x| <= 1/2.
Lanes sineOfPiByAngle(const Lanes &x);

Lanes erfinv(const Lanes &x);
Lanes erfcinv(const Lanes &x);
Lanes normcdfinv(const Lanes &x);
Lanes erfcx(const Lanes &x);
Lanes lgamma(const Lanes &x);
Lanes tgamma(const Lanes &x);
Lanes j0(const Lanes &x);
Lanes j1(const Lanes &x);
Lanes y0(const Lanes &x);
Lanes y1(const Lanes &x);
Lanes i0(const Lanes &x);
Lanes i1(const Lanes &x);

} // namespace kiln::sema::single

#endif // KILN_COMPILER_SEMA_DEVICEFUNCTIONS_SINGLEPRECISION_H
