// Lanes that threads read at a constant distance from one another.

#ifndef KILN_COMPILER_TARGET_AMD_FOLDLANES_H
#define KILN_COMPILER_TARGET_AMD_FOLDLANES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Moves between lanes (`ds_bpermute_b32`) have what is constant of the lane's number in the
/// instruction: no register for each of them.
void foldLanes(llvm::Function &kernel);

} // namespace kiln

#endif
