// Reads that LLVM would take past a barrier, and products that it would take into a branch.

#ifndef KILN_COMPILER_TARGET_AMD_HOLDREADS_H
#define KILN_COMPILER_TARGET_AMD_HOLDREADS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Reads of memory in front of a barrier stay there, where only what is behind it uses them.
void holdReads(llvm::Function &kernel);

/// Products of RDNA stay where all lanes of a wave are.
void holdProducts(llvm::Function &kernel);

} // namespace kiln

#endif
