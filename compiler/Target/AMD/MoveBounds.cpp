// Masks along the axis that a loop goes through compare `first + row` with an end: `first` is the
// loop's, a scalar, and the rows of a thread's elements are numbers that the loop does not change.
// LLVM holds one of these numbers and adds to it for each of the others, in vector registers. What
// is left of the end, `end - first`, is one scalar for all of them, and so a row is a comparison.
//
// `first` may be at the end or behind it, where no row is left. In front of it the difference is
// exact without a sign, whatever both are, and rows are not below zero.

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
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

using llvm::ICmpInst;

/// `first + row < end`, or not.
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

  void run() {
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &op : *block)
        if (auto *comparison = llvm::dyn_cast<ICmpInst>(&op))
          add(*comparison);
    // What is left takes three scalar instructions, which wait for each other.
    constexpr size_t fewest = 4;
    groups.remove_if([](const auto &group) { return group.second.size() < fewest; });
    // Each row holds a register all through the loop.
    constexpr size_t mostHeld = 16;
    llvm::DenseSet<llvm::Value *> held;
    for (const auto &[bounds, comparisons] : groups)
      for (const Comparison &comparison : comparisons)
        held.insert(comparison.row);
    if (held.size() > mostHeld)
      return;
    for (auto &[bounds, comparisons] : groups)
      replace(bounds.first, bounds.second, comparisons);
  }

private:
  void add(ICmpInst &op) {
    using namespace llvm::PatternMatch;
    llvm::Value *sum = op.getOperand(0), *end = op.getOperand(1), *first, *row;
    bool isBelow = op.getPredicate() == ICmpInst::ICMP_SLT,
         isNot = op.getPredicate() == ICmpInst::ICMP_SGE;
    if ((!isBelow && !isNot) || !sum->getType()->isIntegerTy(32) || !loop.isLoopInvariant(end) ||
        !match(sum, m_CombineOr(m_DisjointOr(m_Value(first), m_Value(row)),
                                m_NSWAdd(m_Value(first), m_Value(row)))))
      return;
    if (loop.isLoopInvariant(first))
      std::swap(first, row);
    const llvm::DataLayout &layout = op.getDataLayout();
    if (loop.isLoopInvariant(first) || !loop.isLoopInvariant(row) ||
        uniformity.isDivergent(first) || uniformity.isDivergent(end) ||
        !uniformity.isDivergent(row) ||
        !llvm::isKnownNonNegative(row, llvm::SimplifyQuery(layout)) || !isComparedAlone(*sum))
      return;
    groups[{first, end}].push_back({&op, row});
  }

  /// Else it is added in any case.
  static bool isComparedAlone(llvm::Value &sum) {
    return llvm::all_of(sum.users(), [](llvm::User *user) { return llvm::isa<ICmpInst>(user); });
  }

  void replace(llvm::Value *first, llvm::Value *end, llvm::ArrayRef<Comparison> comparisons) {
    llvm::IRBuilder<> behind(&**llvm::cast<llvm::Instruction>(first)->getInsertionPointAfterDef());
    llvm::Value *left = behind.CreateSelect(behind.CreateICmpSLT(first, end),
                                            behind.CreateSub(end, first), behind.getInt32(0));
    for (const Comparison &comparison : comparisons) {
      llvm::IRBuilder<> here(comparison.op);
      auto predicate = comparison.op->getPredicate() == ICmpInst::ICMP_SLT ? ICmpInst::ICMP_ULT
                                                                           : ICmpInst::ICMP_UGE;
      comparison.op->replaceAllUsesWith(here.CreateICmp(predicate, comparison.row, left));
      llvm::RecursivelyDeleteTriviallyDeadInstructions(comparison.op);
    }
  }

  llvm::Loop &loop;
  const llvm::UniformityInfo &uniformity;
  Groups groups;
};

} // namespace

void moveBounds(llvm::Function &kernel, const llvm::TargetMachine &machine) {
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
      LoopBounds(*loop, uniformity).run();
}

} // namespace kiln
