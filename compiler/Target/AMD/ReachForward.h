// Accesses to buffers that are constants apart.

#ifndef KILN_COMPILER_TARGET_AMD_REACHFORWARD_H
#define KILN_COMPILER_TARGET_AMD_REACHFORWARD_H

namespace llvm {
class Function;
}

namespace kiln {

/// Offsets that an innermost loop moves alike, or that masks choose, become one that several
/// accesses have, and a constant each, where accesses have room for such constants.
void reachForward(llvm::Function &kernel);

/// Accesses of a block whose offsets one mask chooses, constants apart, have one choice, and add
/// the constants to it.
void shareMaskedOffsets(llvm::Function &kernel);

} // namespace kiln

#endif
