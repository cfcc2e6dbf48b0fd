// Masks along the axis that a loop goes through compare `first + row` with an end: `first` is the
// loop's, a scalar, and the rows of a thread's elements are numbers that the loop does not change.
// LLVM holds one of these numbers and adds to it for each of the others, in vector registers. What
// is left of the end, `end - first`, is one scalar for all of them, and so a row is a comparison.
//
// `first` may be at the end or behind it, where no row is left. In front of it the difference is
// exact without a sign, whatever both are, and rows are not below zero. Of 64 bits, as the lengths
// of sequences mostly are, what is left fits 32 where rows do: anything beyond is more than any
// row.

#include "compiler/Target/AMD/MoveBounds.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

using llvm::ICmpInst;

/// `first + row < end`, or not. The row has 32 bits.
struct Comparison {
  ICmpInst *op;
  llvm::Value *row;
};

/// Comparisons with the first and the end alike.
using Groups =
    llvm::MapVector<std::pair<llvm::Value *, llvm::Value *>, llvm::SmallVector<Comparison>>;

class LoopBounds {
public:
  LoopBounds(llvm::Loop &loop, const llvm::UniformityInfo &uniformity)
      : loop(loop), uniformity(uniformity) {}

  void run(bool movesWords) {
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &op : *block)
        if (auto *comparison = llvm::dyn_cast<ICmpInst>(&op))
          add(*comparison);
    // What is left takes three scalar instructions, which wait for each other, and of 64 bits
    // seven.
    groups.remove_if(
        [](const auto &group) { return group.second.size() < (isOfWords(group) ? 4 : 8); });
    if (!movesWords || rowsOfWords() > mostHeld)
      groups.remove_if([](const auto &group) { return isOfWords(group); });
    for (auto &[bounds, comparisons] : groups)
      replace(bounds.first, bounds.second, comparisons);
  }

private:
  /// Each row holds a register all through the loop, where those of 64 bits hold two.
  static constexpr size_t mostHeld = 16;

  static bool isOfWords(const Groups::value_type &group) {
    return group.first.second->getType()->isIntegerTy(32);
  }

  size_t rowsOfWords() const {
    llvm::DenseSet<llvm::Value *> rows;
    for (const auto &group : groups)
      if (isOfWords(group))
        for (const Comparison &comparison : group.second)
          rows.insert(comparison.row);
    return rows.size();
  }

  void add(ICmpInst &op) {
    using namespace llvm::PatternMatch;
    llvm::Value *sum = op.getOperand(0), *end = op.getOperand(1), *first, *row;
    bool isBelow = op.getPredicate() == ICmpInst::ICMP_SLT,
         isNot = op.getPredicate() == ICmpInst::ICMP_SGE;
    llvm::Type *type = sum->getType();
    if ((!isBelow && !isNot) || (!type->isIntegerTy(32) && !type->isIntegerTy(64)) ||
        !loop.isLoopInvariant(end) ||
        !match(sum, m_CombineOr(m_DisjointOr(m_Value(first), m_Value(row)),
                                m_NSWAdd(m_Value(first), m_Value(row)))))
      return;
    if (loop.isLoopInvariant(first))
      std::swap(first, row);
    llvm::KnownBits bits = llvm::computeKnownBits(row, op.getDataLayout());
    if (loop.isLoopInvariant(first) || !loop.isLoopInvariant(row) ||
        uniformity.isDivergent(first) || uniformity.isDivergent(end) ||
        !uniformity.isDivergent(row) || bits.countMaxActiveBits() > 31 || !isComparedAlone(*sum))
      return;
    groups[{first, end}].push_back({&op, row});
  }

  /// Else it is added in any case.
  static bool isComparedAlone(llvm::Value &sum) {
    return llvm::all_of(sum.users(), [](llvm::User *user) { return llvm::isa<ICmpInst>(user); });
  }

  void replace(llvm::Value *first, llvm::Value *end, llvm::ArrayRef<Comparison> comparisons) {
    llvm::IRBuilder<> behind(&**llvm::cast<llvm::Instruction>(first)->getInsertionPointAfterDef());
    llvm::Value *left = whatIsLeft(first, end, behind);
    for (const Comparison &comparison : comparisons) {
      llvm::IRBuilder<> here(comparison.op);
      auto predicate = comparison.op->getPredicate() == ICmpInst::ICMP_SLT ? ICmpInst::ICMP_ULT
                                                                           : ICmpInst::ICMP_UGE;
      llvm::Value *row = word(*comparison.row);
      comparison.op->replaceAllUsesWith(here.CreateICmp(predicate, row, left));
      llvm::RecursivelyDeleteTriviallyDeadInstructions(comparison.op);
    }
  }

  /// Of the end, in 32 bits.
  static llvm::Value *whatIsLeft(llvm::Value *first, llvm::Value *end, llvm::IRBuilder<> &builder) {
    llvm::Type *word = builder.getInt32Ty();
    llvm::Value *left = builder.CreateSub(end, first);
    if (left->getType() != word) {
      llvm::Value *upper = builder.CreateTrunc(builder.CreateLShr(left, 32), word);
      left = builder.CreateSelect(builder.CreateIsNull(upper), builder.CreateTrunc(left, word),
                                  builder.getInt32(-1));
    }
    return builder.CreateSelect(builder.CreateICmpSLT(first, end), left, builder.getInt32(0));
  }

  /// A row as 32 bits, made in front of the loop.
  llvm::Value *word(llvm::Value &row) {
    llvm::IRBuilder<> before(loop.getLoopPreheader()->getTerminator());
    return before.CreateTrunc(&row, before.getInt32Ty());
  }

  llvm::Loop &loop;
  const llvm::UniformityInfo &uniformity;
  Groups groups;
};

} // namespace

void moveBounds(llvm::Function &kernel, const llvm::TargetMachine &machine, bool movesWords) {
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses.registerPass([] { return llvm::LoopAnalysis(); });
  analyses.registerPass([] { return llvm::CycleAnalysis(); });
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  analyses.registerPass([] { return llvm::UniformityInfoAnalysis(); });
  const llvm::UniformityInfo &uniformity = analyses.getResult<llvm::UniformityInfoAnalysis>(kernel);
  for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(kernel).getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader())
      LoopBounds(*loop, uniformity).run(movesWords);
}

} // namespace kiln
