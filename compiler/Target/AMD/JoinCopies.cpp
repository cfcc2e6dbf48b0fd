// A copy to shared memory is text that moves its buffer's descriptor to registers of its own first
// (BufferCopies.h): where LLVM has it a vector instruction may have written it, and text waits
// for none by itself. Of a tile's copies each would move the same. So those that follow one
// another, with nothing between them but arithmetic, become one text, where the last of them
// stands.
//
// It asks for all their offsets at a time, a register each: up to four.

#include "compiler/Target/AMD/JoinCopies.h"
#include "compiler/Target/BufferCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

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

void join(llvm::ArrayRef<llvm::CallInst *> copies) {
  if (copies.size() < 2)
    return;
  llvm::CallInst &last = *copies.back();
  llvm::SmallVector<llvm::Value *> operands;
  auto addOfEach = [&](Operand operand) {
    for (llvm::CallInst *copy : copies)
      operands.push_back(copy->getArgOperand(operand));
  };
  addOfEach(Offset);
  operands.append({last.getArgOperand(Low), last.getArgOperand(High)});
  addOfEach(To);
  llvm::IRBuilder<> b(&last);
  auto types = llvm::map_to_vector(operands, [](llvm::Value *value) { return value->getType(); });
  auto *type = llvm::FunctionType::get(b.getVoidTy(), types, /*isVarArg=*/false);
  llvm::CallInst *joined = b.CreateCall(type,
                                        llvm::InlineAsm::get(type, bufferCopyText(copies.size()),
                                                             bufferCopyConstraints(copies.size()),
                                                             /*hasSideEffects=*/true),
                                        operands);
  joined->setAttributes(last.getAttributes());
  for (llvm::CallInst *copy : copies)
    copy->eraseFromParent();
}

} // namespace

void joinCopies(llvm::Function &kernel) {
  constexpr size_t most = 4;
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
      join(run);
  }
}

} // namespace kiln
