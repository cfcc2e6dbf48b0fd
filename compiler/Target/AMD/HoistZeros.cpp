// A lane whose mask is off loads zeros, from an address that each such load selects. To LLVM it is
// a constant, which it makes anew in each block, by three scalar instructions and two that copy it
// to vector registers. Of a value that it cannot see through it does so once, before the loops.

#include "compiler/Target/AMD/HoistZeros.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace kiln {

static llvm::BasicBlock *blockOf(const llvm::Use &use) {
  auto *user = llvm::cast<llvm::Instruction>(use.getUser());
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
    return phi->getIncomingBlock(use);
  return user->getParent();
}

void hoistZeros(llvm::Function &kernel) {
  llvm::GlobalVariable *zeros = kernel.getParent()->getNamedGlobal("kiln_zeros");
  if (!zeros)
    return;
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  llvm::SmallVector<llvm::Use *> inLoops;
  for (llvm::Use &use : zeros->uses())
    if (auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
        user && user->getFunction() == &kernel && loops.getLoopFor(blockOf(use)))
      inLoops.push_back(&use);
  if (inLoops.empty())
    return;
  llvm::IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
  llvm::Value *address = opaque(builder, zeros, "s");
  for (llvm::Use *use : inLoops)
    use->set(address);
}

} // namespace kiln
