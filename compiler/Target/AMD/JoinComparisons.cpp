// Rows that a kernel shifts, as of a convolution or of relative positions, are masked in front of
// an array and behind it: two comparisons and a conjunction for each element. Without a sign they
// are one, as what is below zero is above any end then. An end below zero, which no index is below,
// is zero for that: the larger of the two, once for all elements and mostly in a scalar register.
//
// LLVM does the same of ends that it knows to be zero or more, which arguments are not.
//
// Rows of described blocks are 64 bits wide, as a block may begin anywhere in 32 bits and what is
// added to that must not overflow. In range is one as its lower word is, though: what is beyond 31
// bits is below zero there, and an end of 32 bits is no more. So words are added, and compared
// once.

#include "compiler/Target/AMD/JoinComparisons.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

/// What a conjunction holds of: an index of zero or more and below the end.
struct Range {
  llvm::Value *index = nullptr, *end = nullptr;
};

/// The parts of a sum, each of them zero or more, but for one at most that is a widened word; none
/// where all others together may reach 2^31.
llvm::SmallVector<llvm::Value *> partsOfIndex(llvm::Value *sum, const llvm::DataLayout &layout) {
  using namespace llvm::PatternMatch;
  constexpr uint64_t signOfWord = uint64_t(1) << 31;
  constexpr unsigned most = 8;
  llvm::SmallVector<llvm::Value *> parts, open{sum};
  bool hasWord = false;
  uint64_t others = 0;
  while (!open.empty()) {
    llvm::Value *part = open.pop_back_val(), *left, *right;
    uint64_t largest = llvm::computeKnownBits(part, layout).getMaxValue().getZExtValue();
    if (largest < signOfWord && others + largest < signOfWord) {
      others += largest;
    } else if (match(part, m_AddLike(m_Value(left), m_Value(right)))) {
      open.append({left, right});
      if (open.size() + parts.size() > most)
        return {};
      continue;
    } else if (!hasWord && llvm::ComputeNumSignBits(part, layout) > 32) {
      hasWord = true;
    } else {
      return {};
    }
    parts.push_back(part);
  }
  return parts;
}

/// Of a word, as the scalar unit has no maximum of more, or of such a sum and a widened end.
std::optional<Range> rangeOf(llvm::Instruction &conjunction, bool ofWords) {
  using namespace llvm::PatternMatch;
  Range range;
  auto isNotNegative =
      m_OneUse(m_SpecificICmp(llvm::CmpInst::ICMP_SGT, m_Value(range.index), m_AllOnes()));
  auto isBelow = m_OneUse(
      m_c_SpecificICmp(llvm::CmpInst::ICMP_SLT, m_Deferred(range.index), m_Value(range.end)));
  if (!match(&conjunction, m_c_And(isNotNegative, isBelow)))
    return std::nullopt;
  if (range.index->getType()->isIntegerTy(32))
    return ofWords ? std::optional(range) : std::nullopt;
  const llvm::DataLayout &layout = conjunction.getDataLayout();
  if (!range.index->getType()->isIntegerTy(64) ||
      llvm::ComputeNumSignBits(range.end, layout) <= 32 ||
      partsOfIndex(range.index, layout).empty())
    return std::nullopt;
  return range;
}

/// The lower word of a value: of a sum that of its parts' words.
llvm::Value *wordOf(llvm::Value *value, llvm::IRBuilder<> &b) {
  if (value->getType()->isIntegerTy(32))
    return value;
  llvm::Value *sum = nullptr;
  for (llvm::Value *part : partsOfIndex(value, b.GetInsertBlock()->getDataLayout())) {
    llvm::Value *word = nullptr;
    bool isWidened = llvm::PatternMatch::match(
        part, llvm::PatternMatch::m_ZExtOrSExt(llvm::PatternMatch::m_Value(word)));
    if (!isWidened || !word->getType()->isIntegerTy(32))
      word = b.CreateTrunc(part, b.getInt32Ty());
    sum = sum ? b.CreateAdd(sum, word) : word;
  }
  return sum;
}

/// Behind what computes the value, in front of all that uses it.
llvm::Instruction *placeBehind(llvm::Value *value, llvm::Function &kernel) {
  if (auto *op = llvm::dyn_cast<llvm::Instruction>(value))
    return &**op->getInsertionPointAfterDef();
  return &*kernel.getEntryBlock().getFirstInsertionPt();
}

} // namespace

void joinComparisons(llvm::Function &kernel, bool ofWords) {
  llvm::MapVector<llvm::Value *, llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Value *>>>
      byEnd;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (std::optional<Range> range = rangeOf(instruction, ofWords))
      byEnd[range->end].push_back({&instruction, range->index});
  for (auto &[end, conjunctions] : byEnd) {
    llvm::IRBuilder<> b(placeBehind(end, kernel));
    llvm::Value *most = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                                b.CreateTrunc(end, b.getInt32Ty()), b.getInt32(0));
    for (auto [conjunction, index] : conjunctions) {
      llvm::IRBuilder<> here(conjunction);
      conjunction->replaceAllUsesWith(here.CreateICmpULT(wordOf(index, here), most));
      llvm::RecursivelyDeleteTriviallyDeadInstructions(conjunction);
    }
  }
}

} // namespace kiln
