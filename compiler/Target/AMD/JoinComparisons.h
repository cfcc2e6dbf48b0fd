// Masks of what is zero or more and below an end.

#ifndef KILN_COMPILER_TARGET_AMD_JOINCOMPARISONS_H
#define KILN_COMPILER_TARGET_AMD_JOINCOMPARISONS_H

namespace llvm {
class Function;
}

namespace kiln {

/// `0 <= i and i < end` becomes one comparison without a sign, whatever the end is: of indices of
/// 64 bits that hang on 32, and of those of 32 where `ofWords` says so.
void joinComparisons(llvm::Function &kernel, bool ofWords);

} // namespace kiln

#endif
