//===- HugeFunctions.h - Code of thousands of instructions in a piece ---------===//
//
// A GPU thread with many elements is one long function, often one long block, on
// which parts of LLVM take time that grows with the square of its length. They
// are left out there, each above the length from which it takes seconds.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_HUGEFUNCTIONS_H
#define KILN_COMPILER_TARGET_HUGEFUNCTIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// How many instructions the longest function has.
unsigned longestFunction(const llvm::Module &module);

/// Whether passes that look from each instruction at many others would take seconds over functions
/// of this length: global value numbering, which asks for each load which of a hundred instructions
/// before it may write what it reads (the shorter-sighted elimination of common subexpressions
/// remains), the packing of scalars into vectors, and the combination of vectors, which numbers a
/// block's instructions again after every change.
bool isHuge(unsigned instructions);

/// Cuts blocks of many calls into a chain of shorter ones: LLVM's list scheduler searches a block's
/// whole graph for each of them (544 calls among 4,000 instructions: 7 s). Code for the emulator
/// has such blocks.
void cutBlocksOfCalls(llvm::Module &module);

/// Whether one of the module's functions has been cut so.
bool hasCutBlocks(const llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_HUGEFUNCTIONS_H
