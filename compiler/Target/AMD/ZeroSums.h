// Products that begin a sum, on RDNA 3.

#ifndef KILN_COMPILER_TARGET_AMD_ZEROSUMS_H
#define KILN_COMPILER_TARGET_AMD_ZEROSUMS_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// On functions whose products add to registers all the same.
inline constexpr llvm::StringLiteral zerosInRegisters = "kiln-zeros-in-registers";

/// From now on code generation for RDNA 3 has products that add to nothing take an inline zero, as
/// LLVM's own has those of other targets: 22.1 holds eight registers of zeros for them.
void useInlineZeros();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_ZEROSUMS_H
