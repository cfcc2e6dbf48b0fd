// What hangs on a thread's wave alone, as rows of a tile that its lanes have together, in scalar
// registers.

#ifndef KILN_COMPILER_TARGET_AMD_SCALARWAVES_H
#define KILN_COMPILER_TARGET_AMD_SCALARWAVES_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Reads the number of the wave once, and takes those bits of the thread's number that all lanes of
/// a wave have alike from it. `warpSize`: lanes of a wave, a power of two.
void scalariseWaves(llvm::Function &kernel, unsigned warpSize);

} // namespace kiln

#endif
