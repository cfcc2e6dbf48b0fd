// An iteration may end in what some lanes do, as one thread stores a scalar: behind it all meet and
// go around. That place is empty, and SimplifyCFG takes it away: those lanes go back to the loop's
// begin by themselves. Where one thread stores to the same place in front of the loop, too, both
// stores become one that stands there, outside of the loop. The lanes that store leave the loop,
// and the others go on without them: around it, and to its barriers, until they see what was to be
// stored. So a wave waits for itself for ever.
//
// A barrier of the wave, which is no instruction, cannot be taken away.

#include "compiler/Target/AMD/KeepLatches.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

constexpr llvm::StringLiteral mark = "kiln.latch";

bool meets(const llvm::Loop &loop) {
  return llvm::any_of(loop.blocks(), [](llvm::BasicBlock *block) {
    return llvm::any_of(*block, [](llvm::Instruction &op) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&op);
      return call && call->isConvergent();
    });
  });
}

/// Whether lanes come to the end of an iteration from several blocks, and nothing is in between
/// that has to stay there.
bool endsInJoin(const llvm::Loop &loop) {
  const llvm::BasicBlock *block = loop.getLoopLatch();
  while (block && block != loop.getHeader() && !block->hasNPredecessorsOrMore(2)) {
    block = block->getSinglePredecessor();
    if (!block || !block->getSingleSuccessor())
      return false;
  }
  return block && block != loop.getHeader();
}

} // namespace

void keepLatches(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!endsInJoin(*loop) || !meets(*loop))
      continue;
    llvm::IRBuilder<> b(loop->getLoopLatch()->getTerminator());
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_wave_barrier, {})
        ->setMetadata(mark, llvm::MDNode::get(kernel.getContext(), {}));
  }
}

void releaseLatches(llvm::Function &kernel) {
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (op.hasMetadata(mark))
      op.eraseFromParent();
}

} // namespace kiln
