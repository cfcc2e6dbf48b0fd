// Masks of what is zero or more and below an end.

#ifndef KILN_COMPILER_TARGET_AMD_JOINCOMPARISONS_H
#define KILN_COMPILER_TARGET_AMD_JOINCOMPARISONS_H

namespace llvm {
class Function;
}

namespace kiln {

/// `0 <= i and i < end` becomes one comparison without a sign, whatever the end is.
void joinComparisons(llvm::Function &kernel);

} // namespace kiln

#endif
