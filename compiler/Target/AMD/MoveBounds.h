// Rows of a loop's tiles and their end: what the loop changes is taken off the end, a scalar, in
// place of being added to each row.

#ifndef KILN_COMPILER_TARGET_AMD_MOVEBOUNDS_H
#define KILN_COMPILER_TARGET_AMD_MOVEBOUNDS_H

namespace llvm {
class Function;
class TargetMachine;
} // namespace llvm

namespace kiln {

/// Compares rows that an innermost loop does not change with what is left of their end.
/// `machine`: the kernel's target, which says what a wave's lanes have alike. `movesWords`: also
/// ends of 32 bits, not of 64 alone.
void moveBounds(llvm::Function &kernel, const llvm::TargetMachine &machine, bool movesWords);

} // namespace kiln

#endif
