// Descriptors of buffers that loops move.

#ifndef KILN_COMPILER_TARGET_AMD_CARRYDESCRIPTORS_H
#define KILN_COMPILER_TARGET_AMD_CARRYDESCRIPTORS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Innermost loops that add the same to a buffer's base in each iteration carry its descriptor, or
/// add to the lanes' offsets.
void carryDescriptors(llvm::Function &kernel, bool mayMoveOffsets = true);

} // namespace kiln

#endif
