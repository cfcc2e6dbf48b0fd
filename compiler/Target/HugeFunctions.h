//===- HugeFunctions.h - Code of thousands of instructions in a piece ---------===//
//
// A GPU thread with many elements is one long function, often one long block, on
// which parts of LLVM take time that grows with the square of its length. They
// are left out there, each above the length from which it takes seconds.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_HUGEFUNCTIONS_H
#define KILN_COMPILER_TARGET_HUGEFUNCTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"

namespace llvm {
class LLVMContext;
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

/// Leaves passes of code generation out while it exists, where functions of the module are too long
/// for them: straight-line strength reduction, which weighs every pair of instructions of the same
/// form (4096 elements in a thread: two minutes); global value numbering; and where blocks were
/// cut, the pass that would join them again.
class HugeFunctionGate : public llvm::OptPassGate {
public:
  explicit HugeFunctionGate(llvm::Module &module);
  ~HugeFunctionGate() override;
  bool isEnabled() const override { return leavesOut; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override;

private:
  llvm::LLVMContext &context;
  bool withoutStrengthReduction, withoutValueNumbering, keepsBlocks, leavesOut;
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_HUGEFUNCTIONS_H
