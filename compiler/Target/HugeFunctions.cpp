//===- HugeFunctions.cpp - Code of thousands of instructions in a piece -------===//

#include "compiler/Target/HugeFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kiln {

/// Marks functions whose blocks were cut.
static constexpr llvm::StringLiteral cutAttribute = "kiln-cut-blocks";

unsigned longestFunction(const llvm::Module &module) {
  unsigned longest = 0;
  for (const llvm::Function &function : module)
    longest = std::max(longest, function.getInstructionCount());
  return longest;
}

bool isHuge(unsigned instructions) { return instructions > 8192; }

static bool isRealCall(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
}

static bool cutBlocks(llvm::Function &function) {
  constexpr unsigned maxCalls = 64, callsOfPiece = 32;
  llvm::SmallVector<llvm::BasicBlock *> blocks;
  for (llvm::BasicBlock &block : function)
    if (llvm::count_if(block, isRealCall) > maxCalls)
      blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks) {
    llvm::SmallVector<llvm::Instruction *> cuts;
    unsigned calls = 0;
    for (llvm::Instruction &instruction : *block)
      if (isRealCall(instruction) && ++calls % callsOfPiece == 0)
        cuts.push_back(instruction.getNextNode());
    for (llvm::Instruction *cut : cuts)
      cut->getParent()->splitBasicBlock(cut);
  }
  return !blocks.empty();
}

void cutBlocksOfCalls(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (cutBlocks(function))
      function.addFnAttr(cutAttribute);
}

HugeFunctionGate::HugeFunctionGate(llvm::Module &module) : context(module.getContext()) {
  unsigned longest = longestFunction(module);
  withoutStrengthReduction = longest > 4096;
  withoutValueNumbering = isHuge(longest);
  keepsBlocks = llvm::any_of(
      module, [](const llvm::Function &function) { return function.hasFnAttribute(cutAttribute); });
  leavesOut = withoutStrengthReduction || withoutValueNumbering || keepsBlocks;
  if (leavesOut)
    context.setOptPassGate(*this);
}

HugeFunctionGate::~HugeFunctionGate() {
  if (leavesOut)
    context.setOptPassGate(llvm::getGlobalPassGate());
}

bool HugeFunctionGate::shouldRunPass(llvm::StringRef pass, llvm::StringRef) const {
  if (pass == "slsr")
    return !withoutStrengthReduction;
  if (pass == "gvn")
    return !withoutValueNumbering;
  return pass != "codegenprepare" || !keepsBlocks;
}

} // namespace kiln
