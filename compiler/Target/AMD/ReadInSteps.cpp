// A product without a matrix unit reads hundreds of numbers of shared memory, and takes each for a
// few multiply-adds. All reads stand in front of these, as the tile is read as a whole. LLVM orders
// thousands of instructions at once, has as many numbers in registers as there are registers, and
// spills what the loop carries: 32 x 64 x 64 of f32 on RDNA 3 held 256 and spilled 12, where two
// steps of reads are 64.
//
// So the multiply-adds of a stretch without effects are parted into steps, each of so many words
// that it is the first to take. A step's reads stand in front of the step before it, whose
// multiply-adds take as long as they do, and barriers for the scheduler between steps keep them
// there.
//
// Refused: steps of 16 and 24 words (1.08 and 1.01 times the cycles in the mean of 20 products),
// reads two steps ahead (1.02), and LLVM's other orders for all at once (iterative-ilp, max-ilp:
// 1.3 and 1.9).

#include "compiler/Target/AMD/ReadInSteps.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

using Instructions = llvm::SmallVector<llvm::Instruction *>;

bool isMultiplyAdd(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::fma ||
                  call->getIntrinsicID() == llvm::Intrinsic::fmuladd);
}

bool isSharedRead(const llvm::Instruction &op) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&op);
  return load && load->isUnordered() && load->getPointerAddressSpace() == sharedSpace;
}

unsigned wordsOf(const llvm::Instruction &read) {
  constexpr unsigned wordBits = 32;
  return llvm::divideCeil(read.getDataLayout().getTypeSizeInBits(read.getType()), wordBits);
}

/// Instructions of a block that follow one another, and of which none has an effect.
class Stretch {
public:
  explicit Stretch(llvm::ArrayRef<llvm::Instruction *> ops)
      : ops(ops), inside(ops.begin(), ops.end()) {
    findReads();
    for (llvm::Instruction *op : ops)
      if (isMultiplyAdd(*op))
        sums.push_back(takenBy(*op));
  }

  void step(bool inPairs) {
    partSums();
    // Two are read together in any case.
    if (steps.size() <= 2 || !llvm::all_of(sums, [&](const Sum &sum) { return isOfReads(sum); }))
      return;
    if (inPairs)
      pairSums();
    llvm::Instruction *last = sums.back().op;
    placeBarrier(*last->getNextNode());
    for (auto [number, step] : llvm::enumerate(steps)) {
      llvm::Instruction *first = sums[step.first].op;
      placeBarrier(*first);
      if (number == 0)
        placeReads(step, *first);
      if (number + 1 < steps.size())
        placeReads(steps[number + 1], *first);
    }
    for (const Sum &sum : sums)
      for (llvm::Instruction *op : sum.views)
        op->moveBefore(sum.op->getIterator());
  }

private:
  /// A multiply-add, and what it is the first to take of shared memory.
  struct Sum {
    llvm::Instruction *op;
    unsigned depth;            ///< of how many it is the last, each of which adds to the one before
    Instructions reads, views; ///< `views`: what is computed of reads, in order
    unsigned words = 0;
  };
  struct Step {
    size_t first, end; ///< of `sums`
  };

  /// What is computed of reads, and only multiply-adds of the stretch take.
  void findReads() {
    for (llvm::Instruction *op : ops) {
      bool isOfReads = llvm::any_of(op->operands(), [&](llvm::Value *operand) {
        return reads.contains(llvm::dyn_cast<llvm::Instruction>(operand));
      });
      if (!isMultiplyAdd(*op) && !op->mayReadFromMemory() ? isOfReads : isSharedRead(*op))
        reads.insert(op);
    }
    for (llvm::Instruction *op : llvm::reverse(ops))
      if (!llvm::all_of(op->users(), [&](llvm::User *user) {
            auto *taker = llvm::cast<llvm::Instruction>(user);
            return inside.contains(taker) && (isMultiplyAdd(*taker) || reads.contains(taker));
          }))
        reads.erase(op);
  }

  /// Whether the factors are read, or in registers in any case. What the block computes of
  /// something else, as elements that lanes exchange, LLVM computes when it is needed; it would
  /// hold all of it from the first step on.
  bool isOfReads(const Sum &sum) const {
    constexpr unsigned factors = 2;
    return llvm::all_of(llvm::make_range(sum.op->op_begin(), sum.op->op_begin() + factors),
                        [&](const llvm::Use &factor) {
                          auto *op = llvm::dyn_cast<llvm::Instruction>(factor.get());
                          if (!op || reads.contains(op))
                            return true;
                          while (auto *view = llvm::dyn_cast_or_null<llvm::ExtractElementInst>(op))
                            op = llvm::dyn_cast<llvm::Instruction>(view->getVectorOperand());
                          return !op || op->getParent() != sum.op->getParent() ||
                                 llvm::isa<llvm::PHINode>(op) || isGlobalRead(*op);
                        });
  }

  Sum takenBy(llvm::Instruction &op) {
    constexpr unsigned addend = 2;
    Sum sum{&op, depths.lookup(op.getOperand(addend)) + 1, {}, {}};
    depths[&op] = sum.depth;
    Instructions pending{&op};
    while (!pending.empty())
      for (llvm::Value *operand : pending.pop_back_val()->operands()) {
        auto *taken = llvm::dyn_cast<llvm::Instruction>(operand);
        if (!taken || !reads.contains(taken) || !placed.insert(taken).second)
          continue;
        pending.push_back(taken);
        (isSharedRead(*taken) ? sum.reads : sum.views).push_back(taken);
      }
    auto inOrder = [](llvm::Instruction *a, llvm::Instruction *b) { return a->comesBefore(b); };
    llvm::sort(sum.reads, inOrder);
    llvm::sort(sum.views, inOrder);
    for (llvm::Instruction *read : sum.reads)
      sum.words += wordsOf(*read);
    wordsAtDepth[sum.depth] += sum.words;
    return sum;
  }

  /// Sums in an order in which neighbours are of other sums and other depths: of two that are side
  /// by side in it the numbers that they take come of other reads, or other places of them, and so
  /// lie in other banks of registers. Such two are one instruction (v_dual_fmac_f32).
  void pairSums() {
    auto isAbove = [](const Sum &a, const Sum &b) { return a.depth < b.depth; };
    llvm::SmallVector<Instructions> byDepth(sums.back().depth);
    if (!llvm::is_sorted(sums, isAbove) || takesBetween())
      return;
    for (const Sum &sum : sums)
      byDepth[sum.depth - 1].push_back(sum.op);
    size_t each = byDepth.front().size(), half = each / 2;
    if (each % 4 || llvm::any_of(byDepth, [&](auto &ops) { return ops.size() != each; }))
      return;
    Instructions order;
    for (size_t depth = 0; depth <= byDepth.size(); ++depth)
      for (size_t number = 0; number < half; ++number) {
        if (depth < byDepth.size())
          order.push_back(byDepth[depth][number]);
        if (depth > 0)
          order.push_back(byDepth[depth - 1][half + (number ^ 1)]);
      }
    reorder(order);
  }

  /// Whether anything takes a sum in front of the last one, but to add to it.
  bool takesBetween() const {
    constexpr unsigned addend = 2;
    llvm::Instruction *last = sums.back().op;
    return llvm::any_of(sums, [&](const Sum &sum) {
      return llvm::any_of(sum.op->uses(), [&](llvm::Use &use) {
        auto *taker = llvm::cast<llvm::Instruction>(use.getUser());
        bool isAdded = isMultiplyAdd(*taker) && use.getOperandNo() == addend;
        return inside.contains(taker) && !isAdded && !last->comesBefore(taker);
      });
    });
  }

  void reorder(const Instructions &order) {
    llvm::Instruction *end = sums.back().op->getNextNode();
    placed.clear();
    wordsAtDepth.clear();
    sums.clear();
    steps.clear();
    for (llvm::Instruction *op : order) {
      op->moveBefore(end->getIterator());
      sums.push_back(takenBy(*op));
    }
    partSums();
  }

  /// A step ends where the next multiply-adds of all sums would take it beyond so many words, or
  /// within these if they take more.
  void partSums() {
    constexpr unsigned most = 32;
    unsigned words = 0, deepest = 0;
    for (auto [number, sum] : llvm::enumerate(sums)) {
      bool isNext = sum.depth > deepest;
      deepest = std::max(deepest, sum.depth);
      unsigned together = words + (isNext ? wordsAtDepth.lookup(sum.depth) : sum.words);
      if (steps.empty() || (sum.words && words && together > most)) {
        steps.push_back({number, number});
        words = 0;
      }
      words += sum.words;
      steps.back().end = number + 1;
    }
  }

  void placeReads(const Step &step, llvm::Instruction &place) {
    for (size_t number = step.first; number < step.end; ++number)
      for (llvm::Instruction *read : sums[number].reads)
        if (read->comesBefore(&place))
          read->moveBefore(place.getIterator());
  }

  /// Nothing passes it.
  static void placeBarrier(llvm::Instruction &before) {
    llvm::IRBuilder<> b(&before);
    b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {b.getInt32(0)});
  }

  llvm::ArrayRef<llvm::Instruction *> ops;
  llvm::DenseSet<const llvm::Instruction *> inside, reads, placed;
  llvm::DenseMap<const llvm::Value *, unsigned> depths;
  llvm::DenseMap<unsigned, unsigned> wordsAtDepth;
  llvm::SmallVector<Sum> sums;
  llvm::SmallVector<Step> steps;
};

} // namespace

void readInSteps(llvm::Function &kernel, bool inPairs) {
  for (llvm::BasicBlock &block : kernel) {
    llvm::SmallVector<Instructions> stretches(1);
    for (llvm::Instruction &op : block) {
      bool isEffect = op.mayHaveSideEffects() && !llvm::isa<llvm::AssumeInst>(op);
      if (isEffect || op.isTerminator())
        stretches.emplace_back();
      else if (!llvm::isa<llvm::PHINode>(op))
        stretches.back().push_back(&op);
    }
    for (const Instructions &ops : stretches)
      if (llvm::any_of(ops, [](llvm::Instruction *op) { return isMultiplyAdd(*op); }))
        Stretch(ops).step(inPairs);
  }
}

} // namespace kiln
