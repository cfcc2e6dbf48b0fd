//===- ConstantMasks.h - Masked stores whose mask is known ---------------------===//

#ifndef KILN_COMPILER_TARGET_CPU_CONSTANTMASKS_H
#define KILN_COMPILER_TARGET_CPU_CONSTANTMASKS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Makes every masked store with a constant mask into plain stores of its runs of lanes. LLVM 22
/// turns one with a single lane, or such a part of one that it splits, into a scalar store; where
/// the value was truncated and the processor has AVX-512, that stores the lane as wide as it was,
/// over what follows in memory.
void splitConstantMasks(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_CONSTANTMASKS_H
