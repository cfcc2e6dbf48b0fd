// Comparisons of many arguments at once.

#ifndef KILN_COMPILER_TARGET_AMD_COMPAREINLANES_H
#define KILN_COMPILER_TARGET_AMD_COMPAREINLANES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Whether the least of several differences of arguments (`ArgumentComparisons`) is zero, lanes of
/// a wave find out, where that is fewer instructions.
void compareInLanes(llvm::Function &kernel, unsigned warpSize);

} // namespace kiln

#endif
