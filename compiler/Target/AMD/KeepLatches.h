// Loops whose lanes go around together.

#ifndef KILN_COMPILER_TARGET_AMD_KEEPLATCHES_H
#define KILN_COMPILER_TARGET_AMD_KEEPLATCHES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Marks where lanes meet at the end of an iteration, so that LLVM's optimisations of branches
/// leave that place be.
void keepLatches(llvm::Function &kernel);

/// Takes the marks away again.
void releaseLatches(llvm::Function &kernel);

} // namespace kiln

#endif
