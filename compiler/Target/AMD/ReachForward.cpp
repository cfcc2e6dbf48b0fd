// An access to a buffer adds up to 4095 bytes to its lanes' offset, and takes nothing away. Offsets
// that a loop moves alike are one register for LLVM's loop strength reduction, and a constant for
// each of the others. But to it all of them are numbers like any other, and it takes whichever it
// comes to for that register: of eight words 1 KiB apart the last, from which the others are seven
// additions. From the lowest they are one, as the second four are 4 KiB further.
//
// So the loop carries the lowest of them, and what is further than accesses reach as well: to carry
// a number is an addition, as it is to add to another one, and loads wait for the latter.
//
// Sums wrap at 32 bits here as they did: LLVM takes any constant of an addition into an access,
// too.
//
// A freeze is what strength reduction does not see through. It knows of such constants where it
// knows addresses, and offsets are none.
//
// A mask sends lanes out of range by a selection, to which each element's constant is added. LLVM
// adds it to both alternatives, as one of them is a number: an addition and a number in a register
// for each element. So it is added behind the selection again.

#include "compiler/Target/AMD/ReachForward.h"
#include "compiler/Target/BufferAccesses.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <map>

namespace kiln {
namespace {

constexpr int64_t reach = 4096; ///< accesses add up to as many bytes less one

/// The offsets of accesses, each in front of the one that it is added to.
using Uses = llvm::SmallVector<llvm::Use *, 4>;

class LoopOffsets {
public:
  LoopOffsets(llvm::Loop &loop, llvm::ScalarEvolution &evolution)
      : loop(loop), evolution(evolution), place(loop.getLoopPreheader()->getTerminator()),
        expander(evolution, "offset", /*PreserveLCSSA=*/false) {}

  void run() {
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &instruction : *block)
        if (llvm::Use *offset = offsetOfBufferAccess(&instruction))
          add(*offset);
    for (auto &[alike, byConstant] : groups)
      share(alike, byConstant);
  }

private:
  /// What offsets have in common: where they begin, but for a constant, and what is added to them.
  using Alike = std::pair<const llvm::SCEV *, const llvm::SCEV *>;
  using ByConstant = std::map<int64_t, Uses>;

  void add(llvm::Use &offset) {
    auto *moved = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(offset));
    if (!moved || moved->getLoop() != &loop || !moved->isAffine())
      return;
    const llvm::SCEV *start = moved->getStart(), *step = moved->getStepRecurrence(evolution);
    if (!expander.isSafeToExpandAt(start, place) || !expander.isSafeToExpandAt(step, place))
      return;
    auto *sum = llvm::dyn_cast<llvm::SCEVAddExpr>(start);
    auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(sum ? sum->getOperand(0) : start);
    if (constant)
      start = evolution.getMinusSCEV(start, constant);
    groups[{start, step}][constant ? constant->getAPInt().getSExtValue() : 0].push_back(&offset);
  }

  /// What is to be carried for constants in order: each that those before do not reach.
  static llvm::SmallVector<int64_t> lowestOf(const ByConstant &byConstant) {
    llvm::SmallVector<int64_t> lowest;
    for (auto &[constant, uses] : byConstant)
      if (lowest.empty() || constant - lowest.back() >= reach)
        lowest.push_back(constant);
    return lowest;
  }

  void share(const Alike &alike, const ByConstant &byConstant) {
    llvm::SmallVector<int64_t> lowest = lowestOf(byConstant);
    if (lowest.size() == byConstant.size())
      return;
    llvm::MapVector<int64_t, llvm::Value *> carried;
    for (int64_t constant : lowest)
      carried[constant] = carry(alike, constant);
    auto from = carried.begin();
    for (auto &[constant, uses] : byConstant) {
      if (auto next = std::next(from); next != carried.end() && next->first == constant)
        from = next;
      for (llvm::Use *use : uses) {
        llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(use->getUser()));
        use->set(b.CreateAdd(from->second, b.getInt32(uint32_t(constant - from->first))));
      }
    }
  }

  llvm::Value *carry(const Alike &alike, int64_t constant) {
    auto [start, step] = alike;
    llvm::Type *word = start->getType();
    const llvm::SCEV *first = evolution.getAddExpr(
        start, evolution.getConstant(word, uint64_t(constant), /*isSigned=*/true));
    llvm::IRBuilder<> b(loop.getHeader(), loop.getHeader()->begin());
    llvm::PHINode *moved = b.CreatePHI(word, 2, "offset");
    moved->addIncoming(expander.expandCodeFor(first, word, place), loop.getLoopPreheader());
    b.SetInsertPoint(loop.getLoopLatch()->getTerminator());
    llvm::Value *next =
        b.CreateAdd(b.CreateFreeze(moved), expander.expandCodeFor(step, word, place));
    moved->addIncoming(next, loop.getLoopLatch());
    return moved;
  }

  llvm::Loop &loop;
  llvm::ScalarEvolution &evolution;
  llvm::Instruction *place; ///< in front of the loop
  llvm::SCEVExpander expander;
  llvm::MapVector<Alike, ByConstant> groups;
};

/// Of an offset that a mask chooses, what is added to both alternatives, if that is a constant that
/// the access reaches. Only of offsets of zero or more, whose sum would not wrap on any processor.
void addBehindMask(llvm::Use &use) {
  using namespace llvm::PatternMatch;
  auto *choice = llvm::dyn_cast<llvm::SelectInst>(use);
  if (!choice)
    return;
  llvm::Value *offset = nullptr;
  const llvm::APInt *constant = nullptr, *other = nullptr;
  auto sum = m_AddLike(m_Value(offset), m_APInt(constant));
  bool sendsFalse = match(choice, m_Select(m_Value(), sum, m_APInt(other)));
  if ((!sendsFalse && !match(choice, m_Select(m_Value(), m_APInt(other), sum))) ||
      !constant->isStrictlyPositive() || constant->sge(reach) ||
      !(*other - *constant).isMinSignedValue() ||
      !llvm::isKnownNonNegative(offset, llvm::SimplifyQuery(choice->getDataLayout())))
    return;
  llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(use.getUser()));
  llvm::Value *out = b.getInt(*other - *constant);
  llvm::Value *chosen =
      b.CreateSelect(choice->getCondition(), sendsFalse ? offset : out, sendsFalse ? out : offset);
  use.set(b.CreateAdd(chosen, b.getInt(*constant)));
}

} // namespace

void reachForward(llvm::Function &kernel) {
  llvm::TargetLibraryInfoImpl functions(kernel.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(kernel);
  llvm::ScalarEvolution evolution(kernel, library, assumptions, tree, loops);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader() && loop->getLoopLatch())
      LoopOffsets(*loop, evolution).run();
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (llvm::Use *offset = offsetOfBufferAccess(&instruction))
      addBehindMask(*offset);
}

} // namespace kiln
