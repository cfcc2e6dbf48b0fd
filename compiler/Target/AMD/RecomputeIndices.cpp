// Rows and columns of a thread's elements are computed in front of a loop of products, for what it
// loads, and used again behind it, for what the kernel stores. LLVM computes each of them once, and
// holds them all through the loop, where threads lack registers: of RDNA's 256 the sums of products
// and their operands may take all. They are some shifts of the thread's number and additions of
// scalars. So what stands behind the loop computes them again, of a number of the thread that LLVM
// cannot see through, and the loop holds that alone. Where the code behind a loop itself lacks
// registers, as of several tiles that one block exchanges, each block computes them.
//
// Not what takes divisions, nor what is loaded, nor numbers of 64 bits.

#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/AMD/BehindLoops.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

/// What is behind one loop.
class BehindLoop {
public:
  BehindLoop(const llvm::Loop &loop, const llvm::LoopInfo &loops, const llvm::DominatorTree &tree,
             Origins &origins, IndexPlaces places)
      : loop(loop), loops(loops), tree(tree), origins(origins), places(places), behind(loop, tree) {
  }

  void run() {
    for (llvm::BasicBlock *block : behind.blocks()) {
      llvm::BasicBlock &place = placeFor(*block);
      for (llvm::Instruction &instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction))
          continue;
        for (llvm::Use &use : instruction.operands())
          if (isHeld(use, place))
            use.set(copyOf(use, copies[&place], place));
      }
    }
  }

private:
  using Copies = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  llvm::BasicBlock &placeFor(llvm::BasicBlock &block) const {
    bool isOwn = places == IndexPlaces::EachBlock && !loops.getLoopFor(&block);
    return isOwn ? block : *behind.firstBehind(&block);
  }

  /// Whether the loop, or a block behind it, holds the value for `place`, which could compute it.
  bool isHeld(llvm::Value *value, llvm::BasicBlock &place) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    if (!op || loop.contains(op) || origins.of(op) != Origin::Thread)
      return false;
    llvm::BasicBlock *block = op->getParent();
    return tree.dominates(block, loop.getHeader()) ||
           (behind.contains(block) && tree.properlyDominates(block, &place));
  }

  /// What was hidden, of a number that was.
  static llvm::Value *shown(llvm::Value *value) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(value);
    return call && call->isInlineAsm() ? call->getArgOperand(0) : value;
  }

  llvm::Value *copyOf(llvm::Value *value, Copies &known, llvm::BasicBlock &place) {
    if (origins.of(value) != Origin::Thread)
      return value;
    value = shown(value);
    if (llvm::Value *copy = known.lookup(value))
      return copy;
    auto *op = llvm::cast<llvm::Instruction>(value);
    return known[value] =
               origins.isNumber(*op) ? hidden(op, place) : copyOfOperation(*op, known, place);
  }

  llvm::Value *copyOfOperation(llvm::Instruction &op, Copies &known, llvm::BasicBlock &place) {
    return behind.copy(op, place, [&](llvm::Value *value) { return copyOf(value, known, place); });
  }

  llvm::Value *hidden(llvm::Value *number, llvm::BasicBlock &place) {
    llvm::IRBuilder<> builder(&place, behind.end(place));
    auto *type = llvm::FunctionType::get(number->getType(), {number->getType()}, false);
    llvm::CallInst *call = builder.CreateCall(
        type, llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/true), {number});
    origins.addNumber(*call);
    return call;
  }

  const llvm::Loop &loop;
  const llvm::LoopInfo &loops;
  const llvm::DominatorTree &tree;
  Origins &origins;
  IndexPlaces places;
  BlocksBehind behind;
  llvm::DenseMap<llvm::BasicBlock *, Copies> copies;
};

} // namespace

void recomputeIndices(llvm::Function &kernel, IndexPlaces places) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  forEachInnermostLoop(loops, isProduct, [&](llvm::Loop &loop) {
    BehindLoop(loop, loops, tree, origins, places).run();
  });
}

} // namespace kiln
