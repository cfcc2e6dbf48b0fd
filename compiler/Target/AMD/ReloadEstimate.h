// How much of what a thread computes would be read back from memory.

#ifndef KILN_COMPILER_TARGET_AMD_RELOADESTIMATE_H
#define KILN_COMPILER_TARGET_AMD_RELOADESTIMATE_H

namespace llvm {
class Function;
}

namespace kiln {

/// How many registers of 32 bits would be read back if the function's instructions ran once in the
/// order in which they stand, in so many registers, of which what is needed last is given up first
/// (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966). It is
/// what a search for registers works on: each such read is a value of its own.
unsigned estimateReloads(const llvm::Function &function, unsigned registers);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_RELOADESTIMATE_H
