// A barrier of gfx12 is two instructions: a wave says that it has come to it, and waits until all
// have (RDNA 4 ISA, "S_BARRIER_SIGNAL", "S_BARRIER_WAIT"). LLVM puts one behind the other. What
// stands between them must not need what the barrier orders: so a wave says that it has come as
// soon as its operands are read, computes the products of them, and waits in front of its writes.
//
// All reads have to be there before the signal. So it stands in front of a few products that would
// wait for the last reads anyway. The scheduler is told to move nothing past either instruction.

#include "compiler/Target/AMD/SplitBarriers.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

#include <optional>

namespace kiln {
namespace {

/// A fence of the order, or null.
llvm::FenceInst *fenceOf(llvm::Instruction *op, llvm::AtomicOrdering order) {
  auto *fence = llvm::dyn_cast_or_null<llvm::FenceInst>(op);
  return fence && fence->getOrdering() == order ? fence : nullptr;
}

bool isOfShared(const llvm::FenceInst &fence) {
  return llvm::MMRAMetadata(fence).hasTag("amdgpu-synchronize-as", "local");
}

bool isSchedulerBarrier(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_sched_barrier;
}

/// A barrier with the fences around it.
class FencedBarrier {
public:
  static std::optional<FencedBarrier> at(llvm::Instruction &op) {
    if (!isBarrier(op))
      return std::nullopt;
    auto *release = fenceOf(op.getPrevNode(), llvm::AtomicOrdering::Release);
    auto *acquire = fenceOf(op.getNextNode(), llvm::AtomicOrdering::Acquire);
    if (!release || !acquire)
      return std::nullopt;
    return FencedBarrier(op, *release, *acquire);
  }

  void split() {
    llvm::Instruction *wait = acquire.getNextNode();
    while (mayStandBetween(*wait))
      wait = wait->getNextNode();
    llvm::SmallVector<llvm::Instruction *> late = lastProducts(wait);
    if (late.empty() ||
        llvm::any_of(late, [&](llvm::Instruction *product) { return isWorkedOn(*product, *wait); }))
      return;
    signalBefore(*late.front());
    waitBefore(*wait);
    barrier.eraseFromParent();
  }

private:
  FencedBarrier(llvm::Instruction &barrier, llvm::FenceInst &release, llvm::FenceInst &acquire)
      : barrier(barrier), release(release), acquire(acquire),
        isShared(isOfShared(release) && isOfShared(acquire)) {}

  /// Whether the barrier orders nothing that the instruction does.
  bool mayStandBetween(const llvm::Instruction &op) const {
    if (op.isTerminator())
      return false;
    if (isSchedulerBarrier(op) || (isShared && isGlobalRead(op)))
      return true;
    return !op.mayReadOrWriteMemory() && !op.mayHaveSideEffects();
  }

  /// A few of the products that may stand between signal and wait: waves are no further apart than
  /// some of them take, and each more needs its operands beside the others'.
  llvm::SmallVector<llvm::Instruction *> lastProducts(llvm::Instruction *wait) const {
    constexpr size_t few = 4;
    llvm::SmallVector<llvm::Instruction *> between;
    for (llvm::Instruction *op = release.getPrevNode(); op && mayStandBetween(*op);
         op = op->getPrevNode())
      if (isWmma(*op))
        between.push_back(op);
    std::reverse(between.begin(), between.end());
    for (llvm::Instruction *op = acquire.getNextNode(); op != wait; op = op->getNextNode())
      if (isWmma(*op))
        between.push_back(op);
    size_t half = (llvm::count_if(*barrier.getParent(), isWmma) + 1) / 2;
    if (size_t most = std::min(half, few); between.size() > most)
      between.erase(between.begin(), between.end() - most);
    return between;
  }

  /// Whether something in front of the wait takes the product's result, as a softmax does: the
  /// scheduler needs room for both.
  static bool isWorkedOn(llvm::Instruction &product, const llvm::Instruction &wait) {
    llvm::SmallVector<llvm::Instruction *> pending{&product};
    while (!pending.empty())
      for (llvm::User *user : pending.pop_back_val()->users()) {
        auto *op = llvm::cast<llvm::Instruction>(user);
        bool isBetween = op->getParent() == wait.getParent() && !llvm::isa<llvm::PHINode>(op) &&
                         op->comesBefore(&wait);
        if (!isBetween || isWmma(*op))
          continue;
        if (!llvm::isa<llvm::InsertElementInst, llvm::ExtractElementInst>(op))
          return true;
        pending.push_back(op);
      }
    return false;
  }

  void signalBefore(llvm::Instruction &place) {
    llvm::IRBuilder<> b(&place);
    release.moveBefore(place.getIterator());
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier_signal, {b.getInt32(ofBlock)});
    keepProducts(b);
  }

  void waitBefore(llvm::Instruction &place) {
    llvm::IRBuilder<> b(&place);
    keepProducts(b);
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier_wait, {b.getInt16(ofBlock)});
    acquire.moveBefore(place.getIterator());
  }

  static void keepProducts(llvm::IRBuilder<> &b) {
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {b.getInt32(0)});
  }

  static constexpr int ofBlock = -1; ///< the barrier that all waves of a block have

  llvm::Instruction &barrier;
  llvm::FenceInst &release, &acquire;
  bool isShared;
};

} // namespace

void splitBarriers(llvm::Function &kernel) {
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (std::optional<FencedBarrier> barrier = FencedBarrier::at(op))
      barrier->split();
}

} // namespace kiln
