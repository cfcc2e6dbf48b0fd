//===- ConstantOffsets.h - Numbers that are constants apart --------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_CONSTANTOFFSETS_H
#define KILN_COMPILER_TARGET_NVIDIA_CONSTANTOFFSETS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Multiplies the parts of 64-bit sums: `(x + 1) * 8` becomes `x * 8 + 8`, also where others use
/// `x + 1`, which keeps LLVM from it. So the rows of a tile are constants apart in memory, which
/// accesses add by themselves.
void multiplyParts(llvm::Module &module);

/// Compares what one number is ahead of another with constants, where a block compares numbers that
/// are constants apart with one other number: `x + 1 < y`, `x + 2 < y`, … become `1 < y - x`,
/// `2 < y - x`, …, in 32 bits where that is enough. So the columns of a tile are compared with a
/// label or a bound. Of equalities LLVM's loop strength reduction would make `y - 1`, `y - 2`, …
/// where `x` counts a loop, and keep them in registers: 64 of them for 32 columns of 64 bits.
void compareDifferences(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_CONSTANTOFFSETS_H
