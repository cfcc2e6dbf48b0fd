// Counts of loops of known length, which begin where the source has them begin.

#ifndef KILN_COMPILER_TARGET_NEXTCOUNTS_H
#define KILN_COMPILER_TARGET_NEXTCOUNTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Has loops of known length compare the next iteration's count with the end, in place of this
/// one's with what is a step before it. Of the latter strength reduction makes a count that begins
/// a step early and grows at the body's beginning. Of that ptxas does not tell how long the loop
/// is: it makes one iteration after the other, where it would have the loads of several in flight.
/// And an access to a buffer of AMD's adds nothing to an offset that so begins below zero.
void compareNextCounts(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NEXTCOUNTS_H
