// What matrix instructions, loads and exchanges bring lies in registers side by side. Sums and
// products of two such neighbours are one instruction (v_pk_fma_f32) on the same two registers, and
// no move. LLVM's SLP vectoriser begins at what is stored or put into vectors, and does not come to
// what an exponential stands behind, as all of attention's scores.
//
// From each pair of neighbours here the users are followed: where both are used alike, beside equal
// values or another pair, the two users become one, whose results are a pair again. Two calls of
// one intrinsic on a pair make a pair, too, which is put together where it is computed on.

#include "compiler/Target/AMD/PackSingles.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"
#include <utility>

namespace kiln {
namespace {

using Pair = std::pair<llvm::Value *, llvm::Value *>;

/// An f32 of a vector, with its place; null for others.
llvm::ExtractElementInst *elementOf(llvm::Value *value, uint64_t &place) {
  auto *extract = llvm::dyn_cast<llvm::ExtractElementInst>(value);
  if (!extract || !extract->getType()->isFloatTy() ||
      !llvm::isa<llvm::FixedVectorType>(extract->getVectorOperandType()))
    return nullptr;
  auto *index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
  place = index ? index->getZExtValue() : 0;
  return index ? extract : nullptr;
}

bool isPacked(const llvm::Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FMul:
    return instruction.getType()->isFloatTy();
  default:
    return false;
  }
}

/// A call whose operands are one f32 and what equal calls have in common.
bool isUnary(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getType()->isFloatTy() && call->arg_size() == 1 &&
         call->getArgOperand(0)->getType()->isFloatTy() && call->doesNotAccessMemory();
}

class Packer {
public:
  explicit Packer(llvm::BasicBlock &block) : block(block) {}

  void run() {
    collectNeighbours();
    for (size_t next = 0; next < pairs.size(); ++next)
      follow(pairs[next]);
  }

private:
  void add(Pair pair, llvm::Value *vector) {
    if (vectors.try_emplace(pair, vector).second)
      pairs.push_back(pair);
  }

  void collectNeighbours() {
    llvm::DenseMap<std::pair<llvm::Value *, uint64_t>, llvm::ExtractElementInst *> elements;
    for (llvm::Instruction &instruction : block) {
      uint64_t place = 0;
      if (llvm::ExtractElementInst *element = elementOf(&instruction, place))
        elements.try_emplace({element->getVectorOperand(), place}, element);
    }
    for (llvm::Instruction &instruction : block) {
      uint64_t place = 0;
      llvm::ExtractElementInst *low = elementOf(&instruction, place);
      if (!low || place % 2 || elements.lookup({low->getVectorOperand(), place}) != low)
        continue;
      if (llvm::ExtractElementInst *high = elements.lookup({low->getVectorOperand(), place + 1}))
        add({low, high}, nullptr);
    }
  }

  void follow(Pair pair) {
    // Those that become pairs are no more.
    llvm::SmallVector<llvm::WeakVH> users(pair.first->users());
    for (llvm::WeakVH &user : users) {
      auto *low = llvm::cast_or_null<llvm::Instruction>(user);
      if (!low || low->getParent() != &block || (!isPacked(*low) && !isUnary(*low)))
        continue;
      if (llvm::Instruction *high = counterpart(low, pair))
        isUnary(*low) ? add({low, high}, nullptr) : pack(low, high);
    }
  }

  /// What does with the pair's second value what `low` does with its first.
  llvm::Instruction *counterpart(llvm::Instruction *low, Pair pair) {
    for (llvm::User *user : pair.second->users()) {
      auto *high = llvm::cast<llvm::Instruction>(user);
      if (high == low || high->getParent() != &block || !high->isSameOperationAs(low))
        continue;
      bool isAlike = true, usesPair = false;
      for (auto [a, b] : llvm::zip(low->operand_values(), high->operand_values())) {
        isAlike &= a == b || vectors.contains({a, b});
        usesPair |= Pair(a, b) == pair;
      }
      if (isAlike && usesPair)
        return high;
    }
    return nullptr;
  }

  void pack(llvm::Instruction *low, llvm::Instruction *high) {
    llvm::Instruction *later = low->comesBefore(high) ? high : low;
    llvm::Instruction *earlier = later == low ? high : low;
    bool isLateEnough = llvm::all_of(earlier->users(), [&](llvm::User *user) {
      auto *instruction = llvm::cast<llvm::Instruction>(user);
      return instruction->getParent() != &block || llvm::isa<llvm::PHINode>(instruction) ||
             later->comesBefore(instruction);
    });
    if (!isLateEnough)
      return;
    llvm::IRBuilder<> b(later);
    llvm::SmallVector<llvm::Value *, 2> operands;
    for (auto [a, c] : llvm::zip(low->operands(), high->operands()))
      operands.push_back(vectorOf({a, c}, b));
    llvm::Value *both =
        b.CreateBinOp(llvm::Instruction::BinaryOps(low->getOpcode()), operands[0], operands[1]);
    if (auto *made = llvm::dyn_cast<llvm::Instruction>(both)) {
      made->copyIRFlags(low);
      made->andIRFlags(high);
    }
    Pair results{b.CreateExtractElement(both, uint64_t(0)),
                 b.CreateExtractElement(both, uint64_t(1))};
    low->replaceAllUsesWith(results.first);
    high->replaceAllUsesWith(results.second);
    low->eraseFromParent();
    high->eraseFromParent();
    add(results, both);
  }

  /// The pair as a vector, for the place at which `b` builds.
  llvm::Value *vectorOf(Pair pair, llvm::IRBuilder<> &b) {
    if (pair.first == pair.second)
      return b.CreateVectorSplat(2, pair.first);
    llvm::Value *&known = vectors[pair];
    if (known)
      return known;
    auto *low = llvm::cast<llvm::Instruction>(pair.first),
         *high = llvm::cast<llvm::Instruction>(pair.second);
    llvm::IRBuilder<> there((low->comesBefore(high) ? high : low)->getNextNode());
    uint64_t first = 0;
    if (llvm::ExtractElementInst *element = elementOf(low, first))
      known = there.CreateShuffleVector(element->getVectorOperand(),
                                        llvm::ArrayRef<int>{int(first), int(first) + 1});
    else
      known = there.CreateInsertElement(
          there.CreateInsertElement(
              llvm::PoisonValue::get(llvm::FixedVectorType::get(low->getType(), 2)), low,
              uint64_t(0)),
          high, uint64_t(1));
    return known;
  }

  llvm::BasicBlock &block;
  /// All pairs, and the vectors of those that are there as such.
  llvm::DenseMap<Pair, llvm::Value *> vectors;
  llvm::SmallVector<Pair> pairs;
};

} // namespace

void packSingles(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel)
    Packer(block).run();
}

} // namespace kiln
