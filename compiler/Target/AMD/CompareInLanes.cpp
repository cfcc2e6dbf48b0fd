// Kernels that meet only if some of their arguments are equal ask for many pairs, as each array
// that is written is compared with all that are read. The least of the pairs' differences takes one
// and a half instructions a pair (EqualArguments.cpp). But a vector register has room for all
// words: one instruction writes a word to a lane (`v_writelane_b32`), and one compares a word with
// all lanes, so that there is one for each argument, and two for each that is compared.
//
// The first word goes to all lanes, so that those without a word say nothing new. Words are written
// as they are needed: where all that are there by then are asked for, which is so where every array
// that is written is compared with all others, no lanes have to be left out.
//
// The result is a number that branches compare with zero, each for itself: LLVM would hold a
// condition that several branches share in vector registers, and compare twice at each.
//
// Refused: lanes that load the arguments from where the kernel finds them, a lane each. That is no
// instruction a word, but one more trip to memory in front of the first barrier.

#include "compiler/Target/AMD/CompareInLanes.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include <tuple>

namespace kiln {
namespace {

using Words = llvm::SmallSetVector<llvm::Argument *, 16>;
using Pairs = llvm::SmallSetVector<std::pair<llvm::Argument *, llvm::Argument *>, 32>;

/// A word and those that it is compared with.
struct Comparison {
  llvm::Argument *word;
  Words others;

  bool isWithin(const Comparison &other) const {
    return llvm::all_of(others, [&](auto *each) { return other.others.contains(each); });
  }
};

/// The pointer whose lower bits the number is; null: it is something else.
llvm::Argument *argumentOf(llvm::Value *word) {
  using namespace llvm::PatternMatch;
  match(word, m_Trunc(m_Value(word)));
  return match(word, m_PtrToInt(m_Value(word))) ? llvm::dyn_cast<llvm::Argument>(word) : nullptr;
}

/// Adds the pairs of which the number is the least difference, in 32 bits; false: it is not.
bool addPairs(llvm::Value *least, Pairs &pairs) {
  using namespace llvm::PatternMatch;
  llvm::Value *left, *right;
  if (match(least, m_Intrinsic<llvm::Intrinsic::umin>(m_Value(left), m_Value(right))))
    return addPairs(left, pairs) && addPairs(right, pairs);
  match(least, m_Trunc(m_Value(least)));
  if (!match(least, m_Xor(m_Value(left), m_Value(right))))
    return false;
  llvm::Argument *first = argumentOf(left), *second = argumentOf(right);
  return first && second && (pairs.insert({first, second}), true);
}

/// Each pair once, with those words compared that are in most pairs.
std::vector<Comparison> comparisonsFor(Pairs pairs) {
  std::vector<Comparison> comparisons;
  while (!pairs.empty()) {
    llvm::MapVector<llvm::Argument *, Words> others;
    for (auto [first, second] : pairs) {
      others[first].insert(second);
      others[second].insert(first);
    }
    auto &[word, all] = *llvm::max_element(
        others, [](auto &a, auto &b) { return a.second.size() < b.second.size(); });
    comparisons.push_back({word, all});
    pairs.remove_if(
        [&, word = word](auto &pair) { return pair.first == word || pair.second == word; });
  }
  return comparisons;
}

/// Orders comparisons so that few find words in lanes that they do not ask for: those whose words
/// most others ask for, too, or the other way round, and of these the ones with fewer words.
std::vector<Comparison> ordered(const std::vector<Comparison> &comparisons) {
  llvm::SmallVector<std::tuple<int, size_t, size_t>> places;
  for (auto [index, one] : llvm::enumerate(comparisons)) {
    int nested = llvm::count_if(comparisons, [&, &one = one](const Comparison &other) {
      return one.isWithin(other) || other.isWithin(one);
    });
    places.push_back({-nested, one.others.size(), index});
  }
  llvm::sort(places);
  std::vector<Comparison> result;
  for (auto [nested, words, index] : places)
    result.push_back(comparisons[index]);
  return result;
}

class LaneComparisons {
public:
  LaneComparisons(const Pairs &pairs) : comparisons(ordered(comparisonsFor(pairs))) {}

  unsigned words() const {
    Words all;
    for (const Comparison &comparison : comparisons)
      all.insert_range(comparison.others);
    return all.size();
  }

  /// Two of them write a word or compare one, and combine that with the others'.
  unsigned instructions() const {
    Words written;
    unsigned selections = 0;
    for (const Comparison &comparison : comparisons) {
      written.insert_range(comparison.others);
      selections += written.size() > comparison.others.size();
    }
    return written.size() + 2 * comparisons.size() + selections;
  }

  /// A number that is zero unless some pair is equal.
  llvm::Value *write(llvm::IRBuilder<> &b, unsigned warpSize) const {
    llvm::MapVector<llvm::Argument *, unsigned> laneOf;
    llvm::Value *lanes = nullptr, *any = nullptr;
    auto wordOf = [&](llvm::Argument *argument) {
      return b.CreatePtrToInt(argument, b.getInt32Ty());
    };
    for (const Comparison &comparison : comparisons) {
      uint32_t asked = 0;
      for (llvm::Argument *other : comparison.others) {
        auto [known, isNew] = laneOf.insert({other, unsigned(laneOf.size())});
        asked |= 1u << known->second;
        if (isNew)
          lanes = !lanes ? wordOf(other)
                         : b.CreateIntrinsic(llvm::Intrinsic::amdgcn_writelane, b.getInt32Ty(),
                                             {wordOf(other), b.getInt32(known->second), lanes});
      }
      llvm::Value *equal = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_ballot, b.getIntNTy(warpSize),
                                             b.CreateICmpEQ(lanes, wordOf(comparison.word)));
      equal = b.CreateTrunc(equal, b.getInt32Ty());
      if (comparison.others.size() < laneOf.size())
        equal = b.CreateAnd(equal, asked);
      any = any ? b.CreateOr(any, equal) : equal;
    }
    return any;
  }

private:
  std::vector<Comparison> comparisons;
};

/// The same number, of which LLVM does not see that. As the call is convergent, those of several
/// blocks stay several.
llvm::Value *opaqueInPlace(llvm::Value *number, llvm::IRBuilder<> &b) {
  llvm::CallInst *call = opaque(b, number, "s");
  call->setConvergent();
  call->setDoesNotAccessMemory();
  return call;
}

/// Replaces a comparison of the least difference with zero.
void replace(llvm::ICmpInst *isZero, llvm::Value *any) {
  auto predicate = isZero->getInversePredicate();
  llvm::Value *zero = llvm::ConstantInt::get(any->getType(), 0);
  for (llvm::Use &use : llvm::make_early_inc_range(isZero->uses()))
    if (auto *user = llvm::cast<llvm::Instruction>(use.getUser()); user->isTerminator()) {
      llvm::IRBuilder<> b(user);
      use.set(b.CreateICmp(predicate, opaqueInPlace(any, b), zero));
    }
  if (!isZero->use_empty()) {
    llvm::IRBuilder<> b(isZero);
    isZero->replaceAllUsesWith(b.CreateICmp(predicate, any, zero));
  }
  isZero->eraseFromParent();
}

} // namespace

void compareInLanes(llvm::Function &kernel, unsigned warpSize) {
  constexpr unsigned mostWords = 32;
  llvm::MapVector<llvm::IntrinsicInst *, llvm::SmallVector<llvm::ICmpInst *, 2>> found;
  using namespace llvm::PatternMatch;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
        compare && compare->isEquality() && match(compare->getOperand(1), m_Zero()))
      if (auto *least = llvm::dyn_cast<llvm::IntrinsicInst>(compare->getOperand(0));
          least && least->getType()->isIntegerTy(32))
        found[least].push_back(compare);
  llvm::BasicBlock &entry = kernel.getEntryBlock();
  for (auto &[least, compares] : found) {
    Pairs pairs;
    if (!addPairs(least, pairs))
      continue;
    LaneComparisons inLanes(pairs);
    if (inLanes.words() > mostWords || 2 * inLanes.instructions() >= 3 * pairs.size())
      continue;
    // Where all lanes are active.
    llvm::IRBuilder<> b(least->getParent() == &entry ? least : entry.getTerminator());
    llvm::Value *any = inLanes.write(b, warpSize);
    for (llvm::ICmpInst *compare : compares)
      replace(compare, any);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(least);
  }
}

} // namespace kiln
