// Numbers as floats of 8 bits: what a conversion makes of them on every target.

#ifndef KILN_COMPILER_BASIC_BYTEFLOATS_H
#define KILN_COMPILER_BASIC_BYTEFLOATS_H

#include "llvm/ADT/APFloat.h"

namespace kiln {

/// The nearest number of a format of 8 bits (E4M3FN, E5M2 or one of their FNUZ forms), ties to
/// even. What is too large becomes the largest finite number, infinities too; NaN becomes the NaN
/// of its sign whose mantissa is all ones, or the only one that there is.
llvm::APFloat narrowToByteFloat(llvm::APFloat value, const llvm::fltSemantics &format);

} // namespace kiln

#endif
