// Rows that a kernel shifts, as of a convolution or of relative positions, are masked in front of
// an array and behind it: two comparisons and a conjunction for each element. Without a sign they
// are one, as what is below zero is above any end then. An end below zero, which no index is below,
// is zero for that: the larger of the two, once for all elements and mostly in a scalar register.
//
// LLVM does the same of ends that it knows to be zero or more, which arguments are not.

#include "compiler/Target/AMD/JoinComparisons.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
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

/// Of a word: the scalar unit has no maximum of more.
std::optional<Range> rangeOf(llvm::Instruction &conjunction) {
  using namespace llvm::PatternMatch;
  Range range;
  auto isNotNegative =
      m_OneUse(m_SpecificICmp(llvm::CmpInst::ICMP_SGT, m_Value(range.index), m_AllOnes()));
  auto isBelow = m_OneUse(
      m_c_SpecificICmp(llvm::CmpInst::ICMP_SLT, m_Deferred(range.index), m_Value(range.end)));
  if (!match(&conjunction, m_c_And(isNotNegative, isBelow)) ||
      !range.index->getType()->isIntegerTy(32))
    return std::nullopt;
  return range;
}

/// Behind what computes the value, in front of all that uses it.
llvm::Instruction *placeBehind(llvm::Value *value, llvm::Function &kernel) {
  if (auto *op = llvm::dyn_cast<llvm::Instruction>(value))
    return &**op->getInsertionPointAfterDef();
  return &*kernel.getEntryBlock().getFirstInsertionPt();
}

} // namespace

void joinComparisons(llvm::Function &kernel) {
  llvm::MapVector<llvm::Value *, llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Value *>>>
      byEnd;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (std::optional<Range> range = rangeOf(instruction))
      byEnd[range->end].push_back({&instruction, range->index});
  for (auto &[end, conjunctions] : byEnd) {
    llvm::IRBuilder<> b(placeBehind(end, kernel));
    llvm::Value *most = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, b.getInt32(0));
    for (auto [conjunction, index] : conjunctions) {
      llvm::IRBuilder<> here(conjunction);
      conjunction->replaceAllUsesWith(here.CreateICmpULT(index, most));
      llvm::RecursivelyDeleteTriviallyDeadInstructions(conjunction);
    }
  }
}

} // namespace kiln
