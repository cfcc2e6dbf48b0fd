// Copies from one buffer to shared memory, as one text.

#ifndef KILN_COMPILER_TARGET_AMD_JOINCOPIES_H
#define KILN_COMPILER_TARGET_AMD_JOINCOPIES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Copies that follow one another, of one descriptor, move it once.
void joinCopies(llvm::Function &kernel);

} // namespace kiln

#endif
