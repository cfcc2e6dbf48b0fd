// Reads of shared memory, dealt out among the multiply-adds that take them.

#ifndef KILN_COMPILER_TARGET_AMD_READINSTEPS_H
#define KILN_COMPILER_TARGET_AMD_READINSTEPS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Products by multiply-adds read what they take of shared memory a step ahead of it. `inPairs`:
/// and are in an order in which LLVM makes one instruction of two.
void readInSteps(llvm::Function &kernel, bool inPairs);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_READINSTEPS_H
