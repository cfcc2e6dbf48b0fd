#include "compiler/Target/NextCounts.h"
#include "compiler/Target/ForEachLoop.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {

namespace {

/// What a header counts: `next` reaches `end` when the loop is left, and nothing wraps before.
struct Count {
  llvm::Value *next = nullptr;
  uint64_t end = 0;
};

} // namespace

static std::optional<uint64_t> constantOf(const llvm::SCEV *expression) {
  auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(expression);
  constexpr unsigned countBits = 31;
  if (!constant || constant->getAPInt().getActiveBits() > countBits)
    return std::nullopt;
  return constant->getAPInt().getZExtValue();
}

static std::optional<Count> countOf(llvm::PHINode &phi, const llvm::Loop &loop,
                                    llvm::ScalarEvolution &evolution) {
  if (!phi.getType()->isIntegerTy())
    return std::nullopt;
  auto *sum = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(&phi));
  if (!sum || sum->getLoop() != &loop || !sum->isAffine())
    return std::nullopt;
  auto start = constantOf(sum->getStart());
  auto step = constantOf(sum->getStepRecurrence(evolution));
  uint64_t iterations = evolution.getSmallConstantTripCount(&loop);
  if (!start || !step || !*step || !iterations)
    return std::nullopt;
  // Of 64 bits at most.
  uint64_t end = *start + iterations * *step;
  if (end >> std::min(31u, phi.getType()->getIntegerBitWidth() - 1))
    return std::nullopt;
  return Count{phi.getIncomingValueForBlock(loop.getLoopLatch()), end};
}

/// Whether the value is the count, or a constant more than it.
static bool isCountedBy(const llvm::Value *value, const llvm::PHINode &phi) {
  using namespace llvm::PatternMatch;
  return match(value, m_CombineOr(m_Specific(&phi), m_AddLike(m_Specific(&phi), m_ConstantInt())));
}

/// Whether the loop has use for a count of 64 bits, of which strength reduction would then make the
/// shorter one.
static bool isWidened(const llvm::PHINode &phi, const llvm::Loop &loop) {
  using namespace llvm::PatternMatch;
  auto widens = [](const llvm::User *user) {
    return llvm::isa<llvm::ZExtInst, llvm::SExtInst>(user) && user->getType()->isIntegerTy(64);
  };
  return llvm::any_of(phi.users(), [&](const llvm::User *user) {
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return widens(user) ||
           (sum && loop.contains(sum) && match(sum, m_AddLike(m_Value(), m_Value())) &&
            llvm::any_of(sum->users(), widens));
  });
}

/// Of a loop that is left at its latch alone.
static void compareNextCount(llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  using namespace llvm::PatternMatch;
  llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto *branch = latch ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
  llvm::Value *compared;
  if (!branch || !branch->isConditional() || loop.getExitingBlock() != latch ||
      !match(branch->getCondition(), m_OneUse(m_ICmp(m_Value(compared), m_ConstantInt()))))
    return;
  for (llvm::PHINode &phi : header->phis()) {
    if (!isCountedBy(compared, phi))
      continue;
    std::optional<Count> count = countOf(phi, loop, evolution);
    if (!count || count->next == compared)
      return;
    llvm::IRBuilder<> builder(branch);
    llvm::Value *next = count->next;
    if (isWidened(phi, loop))
      next = builder.CreateZExt(next, builder.getInt64Ty());
    llvm::Value *end = llvm::ConstantInt::get(next->getType(), count->end);
    llvm::Value *old = branch->getCondition();
    bool goesOn = branch->getSuccessor(0) == header;
    branch->setCondition(goesOn ? builder.CreateICmpULT(next, end)
                                : builder.CreateICmpUGE(next, end));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
    return;
  }
}

void compareNextCounts(llvm::Module &module) { forEachLoop(module, compareNextCount); }

} // namespace kiln
