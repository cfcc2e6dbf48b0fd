// A loop of products loads what its next iteration reads, and writes it to shared memory behind the
// last read of this one. Elements may have to change places, or their type, before they are
// written. LLVM thinks of registers, does that as soon as it may, and waits for memory with all of
// the iteration's products ahead. So a barrier for the scheduler stands behind the products, and
// that work, and what is written, behind it.
//
// Blocks whose last accesses of shared memory are such writes have them. On CDNA this is part of
// the recipe for products (ScheduleProducts.h); of RDNA's blocks the order of all else is LLVM's.

#include "compiler/Target/AMD/DelayWrites.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

bool isSharedWrite(const llvm::Instruction &op) {
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&op);
  return store && store->getPointerAddressSpace() == sharedSpace;
}

/// Computes its result of its operands, and does nothing else.
bool isPure(const llvm::Instruction &op) {
  return !llvm::isa<llvm::PHINode>(op) && !op.isTerminator() && !op.mayReadOrWriteMemory() &&
         !op.mayHaveSideEffects();
}

/// A block's last writes to shared memory, behind which it reads none: those of the next iteration
/// from the first one on that is computed from what the loop loads.
class LastWrites {
public:
  LastWrites(llvm::BasicBlock &block, const llvm::Loop &loop) : block(block), loop(loop) {
    for (llvm::Instruction &op : llvm::reverse(block)) {
      if (isSharedWrite(op))
        writes.push_back(&op);
      else if (!isPure(op) && !op.isTerminator() && !isGlobalRead(op) && !isMeeting(op) &&
               !llvm::isa<llvm::PHINode>(op))
        break;
    }
    while (!writes.empty() && !isLoaded(writes.back()))
      writes.pop_back();
  }

  void delay() {
    if (writes.empty() || llvm::none_of(block, isWmma))
      return;
    llvm::Instruction *first = writes.back();
    llvm::SmallVector<llvm::Instruction *> products;
    for (llvm::Instruction &op : llvm::make_range(first->getIterator(), block.end()))
      if (isWmma(op))
        products.push_back(&op);
    if (llvm::any_of(products,
                     [&](llvm::Instruction *product) { return needsRead(product, first); }))
      return;
    for (llvm::Instruction *product : products)
      bringBefore(product, first);
    llvm::SmallVector<llvm::Instruction *> work = workInOrder();
    llvm::IRBuilder<> b(first);
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {b.getInt32(0)});
    for (llvm::Instruction *op : work)
      op->moveBefore(first->getIterator());
  }

private:
  /// Where the buffers of some writes are free, or others' contents are there for all.
  static bool isMeeting(const llvm::Instruction &op) {
    return isBarrier(op) || llvm::isa<llvm::FenceInst>(op);
  }

  /// Whether what is written is computed from what the loop loads.
  bool isLoaded(llvm::Instruction *write) const {
    llvm::SmallVector<llvm::Value *> pending{llvm::cast<llvm::StoreInst>(write)->getValueOperand()};
    llvm::DenseSet<llvm::Value *> seen;
    while (!pending.empty()) {
      auto *op = llvm::dyn_cast<llvm::Instruction>(pending.pop_back_val());
      if (!op || !loop.contains(op) || !seen.insert(op).second)
        continue;
      if (isGlobalRead(*op))
        return true;
      if (isPure(*op) && !isWmma(*op))
        pending.append(op->op_begin(), op->op_end());
    }
    return false;
  }

  /// What only the values that are written are computed by, in front of the first write.
  llvm::SmallVector<llvm::Instruction *> workInOrder() const {
    llvm::DenseSet<llvm::Instruction *> work;
    llvm::SmallVector<llvm::Instruction *> inOrder;
    auto isForWrites = [&](const llvm::Use &use) {
      auto *user = llvm::cast<llvm::Instruction>(use.getUser());
      bool isWritten = llvm::is_contained(writes, user) &&
                       use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex();
      return isWritten || work.contains(user);
    };
    for (llvm::Instruction &op : llvm::reverse(block))
      if (!op.use_empty() && isPure(op) && !isWmma(op) && llvm::all_of(op.uses(), isForWrites)) {
        work.insert(&op);
        if (op.comesBefore(writes.back()))
          inOrder.push_back(&op);
      }
    std::reverse(inOrder.begin(), inOrder.end());
    return inOrder;
  }

  /// Whether it is computed from what is read behind the place: in front of it threads may not have
  /// met yet for what is read.
  bool needsRead(llvm::Instruction *product, llvm::Instruction *place) const {
    llvm::SmallVector<llvm::Instruction *> pending{product};
    llvm::DenseSet<llvm::Instruction *> seen;
    while (!pending.empty()) {
      llvm::Instruction *op = pending.pop_back_val();
      if (isGlobalRead(*op))
        return true;
      for (llvm::Value *operand : op->operands())
        if (auto *source = sourceBehind(operand, place); source && seen.insert(source).second)
          pending.push_back(source);
    }
    return false;
  }

  /// The instruction of this block that computes the value behind the place, or null.
  llvm::Instruction *sourceBehind(llvm::Value *value, llvm::Instruction *place) const {
    auto *source = llvm::dyn_cast<llvm::Instruction>(value);
    bool isBehind = source && source->getParent() == &block && !llvm::isa<llvm::PHINode>(source) &&
                    place->comesBefore(source);
    return isBehind ? source : nullptr;
  }

  /// With what it is computed from, where that is behind the place.
  void bringBefore(llvm::Instruction *moved, llvm::Instruction *place) {
    for (llvm::Value *operand : moved->operands())
      if (llvm::Instruction *source = sourceBehind(operand, place))
        bringBefore(source, place);
    moved->moveBefore(place->getIterator());
  }

  llvm::BasicBlock &block;
  const llvm::Loop &loop;
  llvm::SmallVector<llvm::Instruction *> writes; ///< from the last one on
};

} // namespace

void delayWrites(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::BasicBlock &block : kernel)
    if (llvm::Loop *loop = loops.getLoopFor(&block))
      LastWrites(block, *loop).delay();
}

} // namespace kiln
