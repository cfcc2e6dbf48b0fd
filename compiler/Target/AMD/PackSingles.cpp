// What matrix instructions, loads and exchanges bring lies in registers side by side. Sums and
// products of two such neighbours are one instruction (v_pk_fma_f32) on the same two registers, and
// no move. LLVM's SLP vectoriser begins at what is stored or put into vectors, and does not come to
// what an exponential stands behind, as all of attention's scores.
//
// From each pair of neighbours here the users are followed: where both are used alike, beside equal
// values or another pair, the two users become one, whose results are a pair again. Two calls of
// one intrinsic on a pair make a pair, too, which is put together where it is computed on. What a
// loop has loaded ahead is carried as pairs.
//
// Quotients that may be approximate are products with a reciprocal, which LLVM makes of them in
// instruction selection, one by one.

#include "compiler/Target/AMD/PackSingles.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/ValueHandle.h"
#include <array>
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
    carryPairs();
    collectNeighbours();
    for (size_t next = 0; next < pairs.size(); ++next)
      follow(pairs[next]);
  }

private:
  void add(Pair pair, llvm::Value *vector) {
    if (vectors.try_emplace(pair, vector).second)
      pairs.push_back(pair);
  }

  /// Phis of neighbours, wherever they come from, become one of vectors.
  void carryPairs() {
    llvm::SmallVector<llvm::PHINode *> phis;
    for (llvm::PHINode &phi : block.phis())
      if (phi.getType()->isFloatTy())
        phis.push_back(&phi);
    for (llvm::PHINode *&low : phis)
      for (llvm::PHINode *&high : phis)
        if (low && high && arePairs(*low, *high)) {
          carryAsVector(*low, *high);
          low = high = nullptr;
        }
  }

  static bool arePairs(const llvm::PHINode &low, const llvm::PHINode &high) {
    return llvm::all_of(low.blocks(), [&](llvm::BasicBlock *from) {
      uint64_t first = 0, second = 0;
      auto *a = elementOf(low.getIncomingValueForBlock(from), first);
      auto *b = elementOf(high.getIncomingValueForBlock(from), second);
      return a && b && a->getVectorOperand() == b->getVectorOperand() && first % 2 == 0 &&
             second == first + 1;
    });
  }

  void carryAsVector(llvm::PHINode &low, llvm::PHINode &high) {
    llvm::IRBuilder<> b(&low);
    auto *type = llvm::FixedVectorType::get(low.getType(), 2);
    llvm::PHINode *both = b.CreatePHI(type, low.getNumIncomingValues());
    for (llvm::BasicBlock *from : low.blocks()) {
      uint64_t first = 0;
      llvm::ExtractElementInst *element = elementOf(low.getIncomingValueForBlock(from), first);
      llvm::IRBuilder<> there(from->getTerminator());
      both->addIncoming(there.CreateShuffleVector(element->getVectorOperand(),
                                                  llvm::ArrayRef<int>{int(first), int(first) + 1}),
                        from);
    }
    llvm::IRBuilder<> behind(&block, block.getFirstInsertionPt());
    for (auto [place, phi] : llvm::enumerate(std::array{&low, &high})) {
      phi->replaceAllUsesWith(behind.CreateExtractElement(both, uint64_t(place)));
      phi->eraseFromParent();
    }
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
    llvm::Instruction *place = placeOfBoth(low, high);
    if (!place)
      return;
    llvm::IRBuilder<> b(place);
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

  /// In front of the later one, where nobody wants the earlier one before, else in front of the
  /// earlier one; null where the operands are not there yet.
  llvm::Instruction *placeOfBoth(llvm::Instruction *low, llvm::Instruction *high) const {
    llvm::Instruction *later = low->comesBefore(high) ? high : low;
    llvm::Instruction *earlier = later == low ? high : low;
    bool isLateEnough = llvm::all_of(earlier->users(), [&](llvm::User *user) {
      auto *instruction = llvm::cast<llvm::Instruction>(user);
      return instruction->getParent() != &block || llvm::isa<llvm::PHINode>(instruction) ||
             later->comesBefore(instruction);
    });
    if (isLateEnough)
      return later;
    for (auto [a, b] : llvm::zip(low->operands(), high->operands()))
      if (!isThere({a, b}, *earlier))
        return nullptr;
    return earlier;
  }

  /// Whether the pair is a vector, or one value, that is computed before.
  bool isThere(Pair pair, const llvm::Instruction &place) const {
    uint64_t at = 0;
    llvm::Value *vector = pair.first == pair.second ? pair.first : vectors.lookup(pair);
    if (!vector)
      if (llvm::ExtractElementInst *element = elementOf(pair.first, at))
        vector = element->getVectorOperand();
    auto *instruction = llvm::dyn_cast_or_null<llvm::Instruction>(vector);
    return vector &&
           (!instruction || instruction->getParent() != &block || instruction->comesBefore(&place));
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
    uint64_t first = 0;
    if (llvm::ExtractElementInst *element = elementOf(low, first)) {
      llvm::Value *vector = element->getVectorOperand();
      auto *made = llvm::dyn_cast<llvm::Instruction>(vector);
      llvm::IRBuilder<> there(made && made->getParent() == &block
                                  ? &**made->getInsertionPointAfterDef()
                                  : &*block.getFirstInsertionPt());
      return known =
                 there.CreateShuffleVector(vector, llvm::ArrayRef<int>{int(first), int(first) + 1});
    }
    llvm::IRBuilder<> there((low->comesBefore(high) ? high : low)->getNextNode());
    return known = there.CreateInsertElement(
               there.CreateInsertElement(
                   llvm::PoisonValue::get(llvm::FixedVectorType::get(low->getType(), 2)), low,
                   uint64_t(0)),
               high, uint64_t(1));
  }

  llvm::BasicBlock &block;
  /// All pairs, and the vectors of those that are there as such.
  llvm::DenseMap<Pair, llvm::Value *> vectors;
  llvm::SmallVector<Pair> pairs;
};

} // namespace

/// Quotients of f32, alone or two by two, that need not be rounded correctly.
static void multiplyByReciprocals(llvm::Function &kernel) {
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    bool isQuotient = op.getOpcode() == llvm::Instruction::FDiv && op.hasApproxFunc() &&
                      op.getType()->getScalarType()->isFloatTy();
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(op.getType());
    if (!isQuotient || (vector && vector->getNumElements() != 2))
      continue;
    llvm::IRBuilder<> b(&op);
    b.setFastMathFlags(op.getFastMathFlags());
    auto reciprocal = [&](llvm::Value *of) {
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::amdgcn_rcp, of);
    };
    llvm::Value *divisor = op.getOperand(1), *inverse = vector ? divisor : reciprocal(divisor);
    for (uint64_t i = 0; vector && i < 2; ++i)
      inverse = b.CreateInsertElement(inverse, reciprocal(b.CreateExtractElement(divisor, i)), i);
    op.replaceAllUsesWith(b.CreateFMul(op.getOperand(0), inverse));
    op.eraseFromParent();
  }
}

void packSingles(llvm::Function &kernel) {
  multiplyByReciprocals(kernel);
  for (llvm::BasicBlock &block : kernel)
    Packer(block).run();
}

} // namespace kiln
