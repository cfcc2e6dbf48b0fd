// LLVM 22 moves what a block computes for another one there (MachineSink): loads too, unless a
// store is in between. A barrier and its fences are none to it, so that a load comes to stand
// behind the barrier after which others may overwrite what it reads: one of its own block, or of a
// block that it was moved to. Assembly text without instructions, but with the clobber of memory,
// is one. It stands only where a load could leave, as it orders other accesses as well.
//
// Products of RDNA it takes along as well, and what puts their operands together, though they need
// all lanes of a wave: in a branch of some lanes, as where only half of a tile's rows are stored,
// the others' operands are not what they should be. Results that such text stands behind stay.

#include "compiler/Target/AMD/HoldReads.h"
#include "compiler/Target/AMD/DeviceInstructions.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
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

/// Whether all that its block has of a value's users could go to another block with it.
bool mayLeave(const llvm::Instruction &value, const llvm::LoopInfo &loops) {
  const llvm::BasicBlock *block = value.getParent();
  llvm::SmallSetVector<const llvm::Instruction *, 16> leaving;
  leaving.insert(&value);
  for (unsigned i = 0; i != leaving.size(); ++i)
    for (const llvm::User *user : leaving[i]->users()) {
      const auto &taker = *llvm::cast<llvm::Instruction>(user);
      if (taker.getParent() != block || llvm::isa<llvm::PHINode>(taker)) {
        if (!mayGo(*block, taker, loops))
          return false;
        continue;
      }
      if (taker.isTerminator() || taker.mayHaveSideEffects() || taker.mayReadFromMemory())
        return false;
      leaving.insert(&taker);
    }
  return true;
}

/// Of memory that may change.
bool isReadThatMayLeave(const llvm::Instruction &op, const llvm::LoopInfo &loops) {
  return op.mayReadFromMemory() && !op.mayWriteToMemory() && !op.use_empty() &&
         !op.hasMetadata(llvm::LLVMContext::MD_invariant_load) && mayLeave(op, loops);
}

void clobberMemory(llvm::Instruction &barrier) {
  llvm::Instruction *before = &barrier;
  if (llvm::isa_and_nonnull<llvm::FenceInst>(barrier.getPrevNode()))
    before = barrier.getPrevNode();
  llvm::IRBuilder<> b(before);
  b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "", "~{memory}",
                                    /*hasSideEffects=*/true));
}

bool readsWhatMayLeave(const llvm::BasicBlock &block, const llvm::LoopInfo &loops) {
  return llvm::any_of(block,
                      [&](const llvm::Instruction &op) { return isReadThatMayLeave(op, loops); });
}

/// Whether a read of those blocks that lead here alone could come here.
bool mayReceiveReads(const llvm::BasicBlock &block, const llvm::LoopInfo &loops) {
  const llvm::BasicBlock *from = block.getSinglePredecessor();
  while (from && !readsWhatMayLeave(*from, loops))
    from = from->getSinglePredecessor();
  return from != nullptr;
}

bool isProductThatMayLeave(const llvm::Instruction &op, const llvm::LoopInfo &loops) {
  return isWmma(op) && !op.use_empty() && mayLeave(op, loops);
}

} // namespace

void holdProducts(llvm::Function &kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  // The last of those that add to one another first: it holds the others.
  for (llvm::BasicBlock &block : kernel)
    for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isProductThatMayLeave(op, loops))
        makeOpaque(op, "v", /*hasSideEffects=*/true);
}

void holdReads(llvm::Function &kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  for (llvm::BasicBlock &block : kernel) {
    if (!llvm::any_of(block, isBarrier) || !dominators.isReachableFromEntry(&block))
      continue;
    bool holdsReads = mayReceiveReads(block, loops);
    for (llvm::Instruction &op : llvm::make_early_inc_range(block)) {
      holdsReads |= isReadThatMayLeave(op, loops);
      if (isBarrier(op) && holdsReads)
        clobberMemory(op);
    }
  }
}

} // namespace kiln
