// A copy to shared memory is text that moves its buffer's descriptor to registers of its own first
// (BufferCopies.h): where LLVM has it a vector instruction may have written it, and text waits
// for none by itself. Of a tile's copies each would move the same. So those that follow one
// another, with nothing between them but arithmetic, become one text, where the last of them
// stands.
//
// It asks for all their offsets at a time, a register each: up to four. Addresses in shared memory
// at constant distances, as those of a tile's pieces, are added up in the text.

#include "compiler/Target/AMD/JoinCopies.h"
#include "compiler/Target/BufferCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace kiln {
namespace {

/// The operands of a copy's text.
enum Operand : unsigned { Offset, Low, High, To };

using Copies = llvm::SmallVector<llvm::CallInst *>;

bool isCopy(const llvm::CallInst &call) {
  auto *text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return text && text->getAsmString() == bufferCopyText(1);
}

bool areOfOneBuffer(const llvm::CallInst &copy, const llvm::CallInst &other) {
  return llvm::all_of(llvm::ArrayRef{Low, High}, [&](Operand half) {
    return copy.getArgOperand(half) == other.getArgOperand(half);
  });
}

/// How far each address is from the one before; empty where that is not known of all.
llvm::SmallVector<uint32_t> distancesOf(llvm::ArrayRef<llvm::CallInst *> copies,
                                        llvm::ScalarEvolution &evolution) {
  llvm::SmallVector<uint32_t> distances;
  for (auto [before, copy] : llvm::zip(copies, copies.drop_front())) {
    auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(
        evolution.getSCEV(copy->getArgOperand(To)), evolution.getSCEV(before->getArgOperand(To))));
    if (!distance)
      return {};
    distances.push_back(uint32_t(distance->getAPInt().getZExtValue()));
  }
  return distances;
}

void join(llvm::ArrayRef<llvm::CallInst *> copies, llvm::ScalarEvolution &evolution) {
  if (copies.size() < 2)
    return;
  llvm::CallInst &last = *copies.back();
  llvm::SmallVector<uint32_t> distances = distancesOf(copies, evolution);
  llvm::SmallVector<llvm::Value *> operands;
  for (llvm::CallInst *copy : copies)
    operands.push_back(copy->getArgOperand(Offset));
  operands.append({last.getArgOperand(Low), last.getArgOperand(High)});
  for (llvm::CallInst *copy : distances.empty() ? copies : copies.take_front(1))
    operands.push_back(copy->getArgOperand(To));
  llvm::IRBuilder<> b(&last);
  auto types = llvm::map_to_vector(operands, [](llvm::Value *value) { return value->getType(); });
  auto *type = llvm::FunctionType::get(b.getVoidTy(), types, /*isVarArg=*/false);
  llvm::CallInst *joined =
      b.CreateCall(type,
                   llvm::InlineAsm::get(type, bufferCopyText(copies.size(), distances),
                                        bufferCopyConstraints(copies.size(), distances),
                                        /*hasSideEffects=*/true),
                   operands);
  joined->setAttributes(last.getAttributes());
  for (llvm::CallInst *copy : copies)
    copy->eraseFromParent();
}

} // namespace

void joinCopies(llvm::Function &kernel) {
  constexpr size_t most = 4;
  llvm::TargetLibraryInfoImpl functions(kernel.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(kernel);
  llvm::ScalarEvolution evolution(kernel, library, assumptions, tree, loops);
  for (llvm::BasicBlock &block : kernel) {
    llvm::SmallVector<Copies> runs(1);
    for (llvm::Instruction &instruction : block) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && isCopy(*call)) {
        Copies &run = runs.back();
        if (!run.empty() && (run.size() == most || !areOfOneBuffer(*run.back(), *call)))
          runs.emplace_back();
        runs.back().push_back(call);
      } else if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects()) {
        runs.emplace_back();
      }
    }
    for (const Copies &run : runs)
      join(run, evolution);
  }
}

} // namespace kiln
