// Numbers of f16 that loops compute on in f32, as they are until then.

#ifndef KILN_COMPILER_TARGET_AMD_WIDENINLOOPS_H
#define KILN_COMPILER_TARGET_AMD_WIDENINLOOPS_H

namespace llvm {
class Function;
}

namespace kiln {

/// What loops multiply or add that was widened from f16 in front of them, and has no other use, is
/// widened next to these: half of the registers all through the loop, and no instruction where
/// mixHalves() has the operation take the half.
void widenInLoops(llvm::Function &kernel);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_WIDENINLOOPS_H
