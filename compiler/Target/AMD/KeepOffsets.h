// Offsets of accesses to buffers that would be sums with numbers below zero.

#ifndef KILN_COMPILER_TARGET_AMD_KEEPOFFSETS_H
#define KILN_COMPILER_TARGET_AMD_KEEPOFFSETS_H

namespace llvm {
class FunctionPass;
}

namespace kiln {

/// Of accesses to buffers whose lanes' offset is a sum with a constant, has the sum computed where
/// the other part may be below zero and the sum not: where it begins, or in loops that count down
/// ends, below zero, something is taken away in it, or no access has it without a constant.
llvm::FunctionPass *createKeepOffsets();

/// From now on code generation for AMD's GPUs does so in front of instruction selection.
void keepOffsets();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_KEEPOFFSETS_H
