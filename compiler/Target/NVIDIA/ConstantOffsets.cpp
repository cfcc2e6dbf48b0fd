//===- ConstantOffsets.cpp - Numbers that are constants apart ------------------===//

#include "compiler/Target/NVIDIA/ConstantOffsets.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {

namespace {

/// A part of a sum, and whether its sign extends it where it is narrower.
using Term = llvm::PointerIntPair<llvm::Value *, 1, bool>;

constexpr unsigned maxTerms = 3;

/// A sum of numbers and a constant. Where it has more terms than that, not all are there.
class Sum {
public:
  explicit Sum(llvm::Value *value) : constant(value->getType()->getIntegerBitWidth(), 0) {
    take(value, Extension::None);
  }

  llvm::SmallVector<Term, 4> terms;
  llvm::APInt constant;

private:
  enum class Extension { None, Sign, Zero };
  void take(llvm::Value *value, Extension extension);
};

/// A comparison of a sum with another number; `predicate` is that with the sum on the left.
struct Comparison {
  llvm::ICmpInst *op;
  llvm::ICmpInst::Predicate predicate;
  llvm::APInt constant;
  bool isOnlyUse; ///< of the sum, but for other comparisons
};

/// So many comparisons pay for a difference of 32 bits.
constexpr size_t worthNarrowing = 8;

/// The terms of a sum, and the number with which it is compared.
using Compared = std::tuple<Term, Term, Term, llvm::Value *>;

using Groups = llvm::MapVector<Compared, llvm::SmallVector<Comparison, 8>>;

} // namespace

void Sum::take(llvm::Value *value, Extension extension) {
  using namespace llvm::PatternMatch;
  llvm::Value *left, *right;
  const llvm::APInt *number;
  if (terms.size() > maxTerms)
    return;
  unsigned width = constant.getBitWidth();
  bool isSigned = extension == Extension::Sign;
  if (match(value, m_APInt(number))) {
    constant += isSigned ? number->sext(width) : number->zext(width);
    return;
  }
  // An extended sum is that of the extended parts where it does not wrap.
  bool isSum = match(value, m_DisjointOr(m_Value(left), m_Value(right)));
  if (!isSum && extension == Extension::None)
    isSum = match(value, m_Add(m_Value(left), m_Value(right)));
  else if (!isSum)
    isSum = isSigned ? match(value, m_NSWAdd(m_Value(left), m_Value(right)))
                     : match(value, m_NUWAdd(m_Value(left), m_Value(right)));
  if (isSum) {
    take(left, extension);
    take(right, extension);
  } else if (extension == Extension::None && match(value, m_SExt(m_Value(left)))) {
    take(left, Extension::Sign);
  } else if (extension == Extension::None && match(value, m_ZExt(m_Value(left)))) {
    take(left, Extension::Zero);
  } else {
    terms.push_back({value, isSigned});
  }
}

/// Whether a sum of four such numbers stays within the type.
static bool isSmall(const llvm::Value *value, const llvm::DataLayout &layout) {
  return llvm::ComputeNumSignBits(value, layout) > 3;
}

/// Whether sum and difference of the terms, the constant and the other number do not wrap.
static bool cannotWrap(const Sum &sum, const llvm::Value *other, const llvm::DataLayout &layout) {
  auto isSmallTerm = [&](Term term) {
    const llvm::Value *value = term.getPointer();
    unsigned width = value->getType()->getIntegerBitWidth();
    return width + 3 < sum.constant.getBitWidth() || isSmall(value, layout);
  };
  return sum.constant.getNumSignBits() > 3 && isSmall(other, layout) &&
         llvm::all_of(sum.terms, isSmallTerm);
}

/// Either side of `comparison` may be the sum.
static void collect(llvm::ICmpInst &comparison, Groups &groups) {
  for (unsigned side : {0u, 1u}) {
    llvm::Value *value = comparison.getOperand(side), *other = comparison.getOperand(1 - side);
    if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Constant>(other))
      return;
    Sum sum(value);
    if (sum.terms.size() > maxTerms)
      continue;
    if (!comparison.isEquality() && !cannotWrap(sum, other, comparison.getDataLayout()))
      continue;
    sum.terms.resize(maxTerms);
    groups[{sum.terms[0], sum.terms[1], sum.terms[2], other}].push_back(
        {&comparison, side == 0 ? comparison.getPredicate() : comparison.getSwappedPredicate(),
         sum.constant, llvm::all_of(value->users(), llvm::IsaPred<llvm::ICmpInst>)});
  }
}

/// Whether comparisons with the difference are worth it: of many in half the bits, or where the
/// sums are not computed any more.
static bool isWorthwhile(llvm::ArrayRef<Comparison> comparisons) {
  return comparisons.size() >= worthNarrowing ||
         llvm::count_if(comparisons, [](const Comparison &each) { return each.isOnlyUse; }) >= 4;
}

/// `difference` in 32 bits, where it compares with all the constants as before.
static llvm::Value *narrow(llvm::IRBuilder<> &builder, llvm::Value *difference,
                           llvm::ArrayRef<Comparison> comparisons) {
  auto isBetween = [](const Comparison &comparison) {
    return comparison.constant.isSignedIntN(31);
  };
  if (!difference->getType()->isIntegerTy(64) || comparisons.size() < worthNarrowing ||
      !llvm::all_of(comparisons, isBetween))
    return difference;
  auto bound = [&](llvm::Intrinsic::ID choice, int64_t number) {
    difference =
        builder.CreateBinaryIntrinsic(choice, difference, builder.getInt64(uint64_t(number)));
  };
  bound(llvm::Intrinsic::smin, std::numeric_limits<int32_t>::max());
  bound(llvm::Intrinsic::smax, std::numeric_limits<int32_t>::min());
  return builder.CreateTrunc(difference, builder.getInt32Ty());
}

static void compareDifference(const Compared &compared, llvm::ArrayRef<Comparison> comparisons) {
  auto [first, second, third, difference] = compared;
  llvm::IRBuilder<> builder(comparisons.front().op);
  for (Term term : {first, second, third})
    if (llvm::Value *value = term.getPointer())
      difference = builder.CreateSub(
          difference, builder.CreateIntCast(value, difference->getType(), term.getInt()));
  // Strength reduction does not see through a freeze.
  difference = narrow(builder, builder.CreateFreeze(difference), comparisons);
  for (const auto &[op, predicate, constant, isOnlyUse] : comparisons) {
    builder.SetInsertPoint(op);
    llvm::Value *offset = llvm::ConstantInt::get(
        difference->getType(), constant.trunc(difference->getType()->getIntegerBitWidth()));
    // 1 < y - x: the difference is on the left.
    op->replaceAllUsesWith(
        builder.CreateICmp(llvm::ICmpInst::getSwappedPredicate(predicate), difference, offset));
    op->eraseFromParent();
  }
}

/// Ordered comparisons without signs are left: their differences would have to be known to be none.
static bool isHandled(const llvm::ICmpInst &comparison) {
  return comparison.getOperand(0)->getType()->isIntegerTy() &&
         (comparison.isEquality() || comparison.isSigned());
}

void compareDifferences(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      Groups groups;
      for (llvm::Instruction &instruction : block)
        if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
            comparison && isHandled(*comparison))
          collect(*comparison, groups);
      llvm::SmallPtrSet<llvm::ICmpInst *, 16> done; // by its other side
      for (auto &[compared, comparisons] : groups) {
        llvm::erase_if(comparisons,
                       [&](const Comparison &comparison) { return done.contains(comparison.op); });
        if (!isWorthwhile(comparisons))
          continue;
        for (const Comparison &comparison : comparisons)
          done.insert(comparison.op);
        compareDifference(compared, comparisons);
      }
    }
}

void multiplyParts(llvm::Module &module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::Value *number;
      const llvm::APInt *constant, *factor;
      auto sum = m_AddLike(m_Value(number), m_APInt(constant));
      bool isShift = match(&instruction, m_Shl(sum, m_APInt(factor)));
      if (!instruction.getType()->isIntegerTy(64) ||
          (!isShift && !match(&instruction, m_Mul(sum, m_APInt(factor)))))
        continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::APInt times = isShift ? llvm::APInt(64, 1).shl(*factor) : *factor;
      llvm::Value *product = isShift ? builder.CreateShl(number, factor->getZExtValue())
                                     : builder.CreateMul(number, builder.getInt(*factor));
      instruction.replaceAllUsesWith(builder.CreateAdd(product, builder.getInt(*constant * times)));
      instruction.eraseFromParent();
    }
}

} // namespace kiln
