// A tile that a kernel loads in f16, and a loop multiplies in f32, is widened where the source says
// so, in front of the loop: a register for each number all through it, where two share one before
// that. RDNA's multiplication with addition takes a half as it is (`v_fma_mix_f32`), if instruction
// selection sees the conversion, which looks no further than a block.
//
// The elements move with their conversions, so that the vector is what the loop holds. LLVM's code
// generation moves what a loop does not change out of it, for divisions that it writes out; not in
// these loops, of which all else was in front already.

#include "compiler/Target/AMD/WidenInLoops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace kiln {
namespace {

using llvm::Instruction;

/// Whether instructions that take halves do this.
bool multipliesOrAdds(const Instruction &user) {
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&user))
    return call->getIntrinsicID() == llvm::Intrinsic::fma ||
           call->getIntrinsicID() == llvm::Intrinsic::fmuladd;
  return llvm::is_contained({Instruction::FMul, Instruction::FAdd, Instruction::FSub},
                            user.getOpcode());
}

bool widensHalf(const Instruction &instruction) {
  return llvm::isa<llvm::FPExtInst>(instruction) && instruction.getType()->isFloatTy() &&
         instruction.getOperand(0)->getType()->isHalfTy();
}

/// Whether all that it is for is computed in loops that it is in front of.
bool isForLoops(const Instruction &widening, const llvm::LoopInfo &loops) {
  return !widening.use_empty() && llvm::all_of(widening.users(), [&](const llvm::User *user) {
    auto *operation = llvm::cast<Instruction>(user);
    const llvm::Loop *loop = loops.getLoopFor(operation->getParent());
    return loop && !loop->contains(&widening) && multipliesOrAdds(*operation);
  });
}

/// Its instructions are not moved out of it any more.
void keepInLoop(llvm::Loop &loop) {
  constexpr llvm::StringLiteral disabled = "llvm.licm.disable";
  for (llvm::Loop *each = &loop; each; each = each->getParentLoop())
    if (!llvm::getBooleanLoopAttribute(each, disabled))
      llvm::addStringMetadataToLoop(each, disabled.data(), true);
}

/// A copy in the block of each user, in front of the first one.
void copyToUsers(Instruction &widening) {
  auto *element = llvm::dyn_cast<llvm::ExtractElementInst>(widening.getOperand(0));
  llvm::DenseMap<llvm::BasicBlock *, Instruction *> copies;
  for (llvm::Use &use : llvm::make_early_inc_range(widening.uses())) {
    llvm::BasicBlock *block = llvm::cast<Instruction>(use.getUser())->getParent();
    auto [known, isNew] = copies.try_emplace(block);
    if (isNew) {
      llvm::BasicBlock::iterator begin = block->getFirstInsertionPt();
      Instruction *copy = widening.clone();
      copy->insertBefore(begin);
      known->second = copy;
      if (element) {
        Instruction *ofElement = element->clone();
        ofElement->insertBefore(copy->getIterator());
        copy->setOperand(0, ofElement);
      }
    }
    use.set(known->second);
  }
  widening.eraseFromParent();
  if (element && element->use_empty())
    element->eraseFromParent();
}

} // namespace

void widenInLoops(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  llvm::SmallVector<Instruction *> found;
  for (Instruction &instruction : llvm::instructions(kernel))
    if (widensHalf(instruction) && isForLoops(instruction, loops))
      found.push_back(&instruction);
  for (Instruction *widening : found) {
    for (const llvm::User *user : widening->users())
      keepInLoop(*loops.getLoopFor(llvm::cast<Instruction>(user)->getParent()));
    copyToUsers(*widening);
  }
}

} // namespace kiln
