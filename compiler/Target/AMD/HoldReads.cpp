// LLVM 22 moves what a block computes for another one there (MachineSink): loads too, unless a
// store is in between. A barrier and its fences are none to it, so that a load comes to stand
// behind the barrier after which others may overwrite what it reads. Assembly text without
// instructions, but with the clobber of memory, is one. It stands only where a load could leave, as
// it orders other accesses as well.
//
// Products of RDNA it takes along as well, and what puts their operands together, though they need
// all lanes of a wave: in a branch of some lanes, as where only half of a tile's rows are stored,
// the others' operands are not what they should be. Results that such text stands behind stay.

#include "compiler/Target/AMD/HoldReads.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace kiln {
namespace {

/// Whether what `from` computes could go to a user there. LLVM takes nothing into a loop, nor to
/// the next iteration.
bool mayGo(const llvm::BasicBlock &from, const llvm::Instruction &user,
           const llvm::LoopInfo &loops) {
  const llvm::BasicBlock *to = user.getParent();
  const llvm::Loop *loop = loops.getLoopFor(to);
  if (!loop)
    return true;
  return loop->contains(&from) && !(llvm::isa<llvm::PHINode>(user) && loop->getHeader() == to);
}

/// Whether all that its block has of a value's users could go to another block with it. So can
/// products, which are convergent in LLVM's IR alone.
bool mayLeave(const llvm::Instruction &value, const llvm::LoopInfo &loops,
              llvm::SmallPtrSetImpl<const llvm::Value *> &asked) {
  if (!asked.insert(&value).second)
    return true;
  return llvm::all_of(value.users(), [&](const llvm::User *user) {
    const auto &taker = *llvm::cast<llvm::Instruction>(user);
    if (taker.getParent() != value.getParent() || llvm::isa<llvm::PHINode>(taker))
      return mayGo(*value.getParent(), taker, loops);
    return !taker.isTerminator() && !taker.mayHaveSideEffects() && !taker.mayReadFromMemory() &&
           mayLeave(taker, loops, asked);
  });
}

/// Of memory that may change.
bool isReadThatMayLeave(const llvm::Instruction &op, const llvm::LoopInfo &loops) {
  llvm::SmallPtrSet<const llvm::Value *, 16> asked;
  return op.mayReadFromMemory() && !op.mayWriteToMemory() && !op.use_empty() &&
         !op.hasMetadata(llvm::LLVMContext::MD_invariant_load) && mayLeave(op, loops, asked);
}

void clobberMemory(llvm::Instruction &barrier) {
  llvm::Instruction *before = &barrier;
  if (llvm::isa_and_nonnull<llvm::FenceInst>(barrier.getPrevNode()))
    before = barrier.getPrevNode();
  llvm::IRBuilder<> b(before);
  b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "", "~{memory}",
                                    /*hasSideEffects=*/true));
}

bool isProductThatMayLeave(const llvm::Instruction &op, const llvm::LoopInfo &loops) {
  llvm::SmallPtrSet<const llvm::Value *, 16> asked;
  bool isOfAnother = llvm::any_of(op.users(), [&](const llvm::User *user) {
    const auto &taker = *llvm::cast<llvm::Instruction>(user);
    return isWmma(taker) && taker.getParent() == op.getParent();
  });
  return isWmma(op) && !op.use_empty() && !isOfAnother && mayLeave(op, loops, asked);
}

void holdResult(llvm::Instruction &product) {
  llvm::Type *type = product.getType();
  llvm::IRBuilder<> b(product.getNextNode());
  llvm::CallInst *held =
      b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=v,0",
                                        /*hasSideEffects=*/true),
                   {&product});
  product.replaceUsesWithIf(held, [&](llvm::Use &use) { return use.getUser() != held; });
}

} // namespace

void holdReads(llvm::Function &kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  for (llvm::BasicBlock &block : kernel) {
    bool holdsReads = false;
    for (llvm::Instruction &op : llvm::make_early_inc_range(block)) {
      holdsReads |= isReadThatMayLeave(op, loops);
      if (isProductThatMayLeave(op, loops))
        holdResult(op);
      if (isBarrier(op) && holdsReads)
        clobberMemory(op);
    }
  }
}

} // namespace kiln
