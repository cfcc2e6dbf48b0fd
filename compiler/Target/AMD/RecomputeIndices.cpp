// Rows and columns of a thread's elements are computed in front of a loop of products, for what it
// loads, and used again behind it, for what the kernel stores. LLVM computes each of them once, and
// holds them all through the loop, where threads lack registers: of RDNA's 256 the sums of products
// and their operands may take all. They are some shifts of the thread's number and additions of
// scalars. So what stands behind the loop computes them again, of a number of the thread that LLVM
// cannot see through, and the loop holds that alone.
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
  BehindLoop(const llvm::Loop &loop, const llvm::DominatorTree &tree, Origins &origins)
      : loop(loop), tree(tree), origins(origins), behind(loop, tree) {}

  void run() {
    for (llvm::BasicBlock *block : behind.blocks())
      for (llvm::Instruction &instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction))
          continue;
        for (llvm::Use &use : instruction.operands())
          if (isHeld(use))
            use.set(copyOf(use, copies[behind.firstBehind(block)], *behind.firstBehind(block)));
      }
  }

private:
  using Copies = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  /// Whether the loop holds the value for what is behind it, which could compute it.
  bool isHeld(llvm::Value *value) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    return op && tree.dominates(op->getParent(), loop.getHeader()) && !loop.contains(op) &&
           origins.of(op) == Origin::Thread;
  }

  llvm::Value *copyOf(llvm::Value *value, Copies &known, llvm::BasicBlock &place) {
    if (origins.of(value) != Origin::Thread)
      return value;
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
  const llvm::DominatorTree &tree;
  Origins &origins;
  BlocksBehind behind;
  llvm::DenseMap<llvm::BasicBlock *, Copies> copies;
};

} // namespace

void recomputeIndices(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  forEachInnermostLoop(loops, isProduct,
                       [&](llvm::Loop &loop) { BehindLoop(loop, tree, origins).run(); });
}

} // namespace kiln
