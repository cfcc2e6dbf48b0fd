// The address of the zeros that masked loads read.

#ifndef KILN_COMPILER_TARGET_AMD_HOISTZEROS_H
#define KILN_COMPILER_TARGET_AMD_HOISTZEROS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Loops take the address of `kiln_zeros` from registers.
void hoistZeros(llvm::Function &kernel);

} // namespace kiln

#endif
