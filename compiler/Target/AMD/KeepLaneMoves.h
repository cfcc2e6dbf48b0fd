// Numbers of other lanes that instructions of 64 bits take.

#ifndef KILN_COMPILER_TARGET_AMD_KEEPLANEMOVES_H
#define KILN_COMPILER_TARGET_AMD_KEEPLANEMOVES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Keeps moves between lanes (`update.dpp`) out of instructions that cannot read other lanes, but
/// into which LLVM puts them on RDNA 3 and 4.
void keepLaneMoves(llvm::Function &kernel);

} // namespace kiln

#endif
