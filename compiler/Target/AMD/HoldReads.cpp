// LLVM 22 moves what a block computes for another one there (MachineSink): loads too, unless a
// store is in between. A barrier and its fences are none to it, so that a load comes to stand
// behind the barrier after which others may overwrite what it reads. Assembly text without
// instructions, but with the clobber of memory, is one. It stands only where a load could leave, as
// it orders other accesses as well.

#include "compiler/Target/AMD/HoldReads.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace kiln {
namespace {

/// Whether all that its block has of a value's users could go to another block with it. So can
/// products, which are convergent in LLVM's IR alone.
bool mayLeave(const llvm::Instruction &value, llvm::SmallPtrSetImpl<const llvm::Value *> &asked) {
  if (!asked.insert(&value).second)
    return true;
  return llvm::all_of(value.users(), [&](const llvm::User *user) {
    const auto &taker = *llvm::cast<llvm::Instruction>(user);
    if (taker.getParent() != value.getParent())
      return true;
    if (llvm::isa<llvm::PHINode>(taker) || taker.isTerminator() || taker.mayHaveSideEffects() ||
        taker.mayReadFromMemory())
      return false;
    return mayLeave(taker, asked);
  });
}

bool isLoadThatMayLeave(const llvm::Instruction &op) {
  llvm::SmallPtrSet<const llvm::Value *, 16> asked;
  return llvm::isa<llvm::LoadInst>(op) && !op.use_empty() && mayLeave(op, asked);
}

void clobberMemory(llvm::Instruction &barrier) {
  llvm::Instruction *before = &barrier;
  if (llvm::isa_and_nonnull<llvm::FenceInst>(barrier.getPrevNode()))
    before = barrier.getPrevNode();
  llvm::IRBuilder<> b(before);
  b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "", "~{memory}",
                                    /*hasSideEffects=*/true));
}

} // namespace

void holdReads(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel) {
    bool holdsLoads = false;
    for (llvm::Instruction &op : llvm::make_early_inc_range(block)) {
      holdsLoads |= isLoadThatMayLeave(op);
      if (isBarrier(op) && holdsLoads)
        clobberMemory(op);
    }
  }
}

} // namespace kiln
