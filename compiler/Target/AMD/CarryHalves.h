// Uniform values of 16 bits that cross blocks.

#ifndef KILN_COMPILER_TARGET_AMD_CARRYHALVES_H
#define KILN_COMPILER_TARGET_AMD_CARRYHALVES_H

namespace llvm {
class Function;
class TargetMachine;
} // namespace llvm

namespace kiln {

/// Values of 16 bits that all lanes have alike go from block to block as words, where
/// instructions may have halves of registers as operands (RDNA): LLVM 22 loses them.
void carryHalvesAsWords(llvm::Function &kernel, const llvm::TargetMachine &machine);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_CARRYHALVES_H
