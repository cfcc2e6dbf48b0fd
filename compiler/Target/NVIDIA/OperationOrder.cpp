//===- OperationOrder.cpp - Arithmetic next to where it is used ----------------===//

#include "compiler/Target/NVIDIA/OperationOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace kiln {

static bool isMatrixInstruction(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return false;
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
    return assembly->getAsmString().contains("mma");
  const llvm::Function *callee = call->getCalledFunction();
  return callee && callee->getName().contains("mma");
}

/// Whether its place does not matter, as long as its operands come first.
static bool mayMove(const llvm::Instruction &instruction) {
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator() ||
      instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())
    return false;
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || !call->isConvergent();
}

/// Whether threads meet, or wait for memory, here.
static bool isBoundary(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return llvm::isa<llvm::FenceInst>(instruction);
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
    return llvm::StringRef(assembly->getConstraintString()).contains("~{memory}");
  // Lanes that exchange values touch no memory that others could.
  return call->mayWriteToMemory() && !call->onlyAccessesInaccessibleMemory() &&
         (call->isConvergent() || !call->onlyAccessesArgMemory());
}

namespace {

/// Instructions of a block, none of which leaves it.
class Stretch {
public:
  void add(llvm::Instruction &instruction) {
    numbers.try_emplace(&instruction, instructions.size());
    instructions.push_back(&instruction);
  }

  /// Puts them into the new order, in front of `end`, and forgets them.
  void order(llvm::BasicBlock &block, llvm::BasicBlock::iterator end) {
    llvm::SmallVector<llvm::Instruction *> ordered;
    llvm::SmallVector<bool> isDone(instructions.size());
    for (llvm::Instruction *instruction : instructions)
      if (!mayMove(*instruction) || !hasUser(*instruction))
        take(*instruction, ordered, isDone);
    for (llvm::Instruction *instruction : ordered)
      instruction->moveBefore(block, end);
    instructions.clear();
    numbers.clear();
  }

private:
  bool hasUser(const llvm::Instruction &instruction) const {
    return llvm::any_of(instruction.users(), [&](const llvm::User *user) {
      return numbers.contains(llvm::cast<llvm::Instruction>(user));
    });
  }

  /// Behind what it is computed from.
  void take(llvm::Instruction &last, llvm::SmallVectorImpl<llvm::Instruction *> &ordered,
            llvm::SmallVectorImpl<bool> &isDone) const {
    // An instruction, and how many of its operands have been seen to.
    llvm::SmallVector<std::pair<llvm::Instruction *, unsigned>> path{{&last, 0}};
    while (!path.empty()) {
      auto &[instruction, operand] = path.back();
      unsigned number = numbers.lookup(instruction);
      if (!isDone[number] && operand < instruction->getNumOperands()) {
        auto *source = llvm::dyn_cast<llvm::Instruction>(instruction->getOperand(operand++));
        if (source && numbers.contains(source) && !isDone[numbers.lookup(source)])
          path.emplace_back(source, 0);
        continue;
      }
      if (!isDone[number]) {
        isDone[number] = true;
        ordered.push_back(instruction);
      }
      path.pop_back();
    }
  }

  llvm::SmallVector<llvm::Instruction *> instructions;
  llvm::DenseMap<const llvm::Instruction *, unsigned> numbers;
};

} // namespace

static void orderBlock(llvm::BasicBlock &block) {
  Stretch stretch;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator())
      continue;
    stretch.add(instruction);
    if (isBoundary(instruction))
      stretch.order(block, std::next(instruction.getIterator()));
  }
  stretch.order(block, block.getTerminator()->getIterator());
}

void computeNearUses(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (llvm::none_of(llvm::instructions(function), isMatrixInstruction))
      llvm::for_each(function, orderBlock);
}

} // namespace kiln
