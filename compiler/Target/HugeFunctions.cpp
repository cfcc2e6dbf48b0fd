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

bool hasCutBlocks(const llvm::Module &module) {
  return llvm::any_of(
      module, [](const llvm::Function &function) { return function.hasFnAttribute(cutAttribute); });
}

} // namespace kiln
