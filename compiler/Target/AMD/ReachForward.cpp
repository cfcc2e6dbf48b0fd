// An access to a buffer adds up to 4095 bytes to its lanes' offset, and takes nothing away. Offsets
// that a loop moves alike are one register for LLVM's loop strength reduction, and a constant for
// each of the others. But to it all of them are numbers like any other, and it takes whichever it
// comes to for that register: of eight words 1 KiB apart the last, from which the others are seven
// additions. From the lowest they are one, as the second four are 4 KiB further.
//
// So the loop carries the lowest of them, and what is further than accesses reach as well: to carry
// a number is an addition, as it is to add to another one, and loads wait for the latter.
//
// What is reached forward must not begin below zero, as an access's own sum does not wrap
// (KeepOffsets).
//
// A freeze is what strength reduction does not see through. It knows of such constants where it
// knows addresses, and offsets are none.
//
// Where one mask is for elements that are constants apart, as of columns that a thread has of its
// row, one selection is for all, and their constants go into the accesses (`shareMaskedOffsets`):
// what is out of range of a buffer that ends within 2 GiB stays so with 4095 bytes more.
//
// A mask sends lanes out of range by a selection, to which each element's constant is added. LLVM
// adds it to both alternatives, as one of them is a number: an addition and a number in a register
// for each element. So it is added behind the selection again. What a mask chooses in a loop and is
// the same in all iterations LLVM holds for each element: of rows a run-time stride apart, in 8
// pieces of 128 bytes, 128 registers where 16 and seven numbers do.

#include "compiler/Target/AMD/ReachForward.h"
#include "compiler/Target/BufferAccesses.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <map>

namespace kiln {
namespace {

constexpr int64_t reach = 4096; ///< accesses add up to as many bytes less one
constexpr uint32_t half = uint32_t(1) << 31;

/// An access's offset, or the alternative that a mask chooses for lanes that access memory.
struct Offset {
  llvm::Use *use;           ///< in the access
  llvm::SelectInst *choice; ///< null: no mask
  llvm::Value *value;
  int64_t other; ///< the other alternative
};

/// A mask's other alternative is so large that what is taken from it for a constant is not below 0.
Offset offsetOf(llvm::Use &use) {
  using namespace llvm::PatternMatch;
  auto *choice = llvm::dyn_cast<llvm::SelectInst>(use);
  llvm::Value *value = nullptr;
  const llvm::APInt *other = nullptr;
  if (choice &&
      (match(choice, m_Select(m_Value(), m_Value(value), m_APInt(other))) ||
       match(choice, m_Select(m_Value(), m_APInt(other), m_Value(value)))) &&
      other->uge(reach))
    return {&use, choice, value, other->getSExtValue()};
  return {&use, nullptr, use.get(), 0};
}

/// Has the access at `base` and `constant` bytes: the mask chooses between the base and what is as
/// many bytes less than the other alternative.
void reachFrom(llvm::Value *base, int64_t constant, const Offset &offset) {
  llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(offset.use->getUser()));
  if (llvm::SelectInst *choice = offset.choice) {
    llvm::Value *out = b.getInt32(uint32_t(offset.other - constant));
    bool sendsFalse = choice->getTrueValue() == offset.value;
    base = b.CreateSelect(choice->getCondition(), sendsFalse ? base : out, sendsFalse ? out : base);
  }
  offset.use->set(b.CreateAdd(base, b.getInt32(uint32_t(constant))));
}

using ByConstant = std::map<int64_t, llvm::SmallVector<Offset, 4>>;

/// What is to be held for constants in order: each that those before do not reach.
llvm::SmallVector<int64_t> lowestOf(const ByConstant &byConstant) {
  llvm::SmallVector<int64_t> lowest;
  for (auto &[constant, offsets] : byConstant)
    if (lowest.empty() || constant - lowest.back() >= reach)
      lowest.push_back(constant);
  return lowest;
}

/// A sum without its constant, and that.
std::pair<const llvm::SCEV *, int64_t> apart(const llvm::SCEV *sum,
                                             llvm::ScalarEvolution &evolution) {
  auto *several = llvm::dyn_cast<llvm::SCEVAddExpr>(sum);
  auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(several ? several->getOperand(0) : sum);
  if (!constant)
    return {sum, 0};
  return {evolution.getMinusSCEV(sum, constant), constant->getAPInt().getSExtValue()};
}

class LoopOffsets {
public:
  LoopOffsets(llvm::Loop &loop, llvm::ScalarEvolution &evolution)
      : loop(loop), evolution(evolution), place(loop.getLoopPreheader()->getTerminator()),
        expander(evolution, "offset", /*PreserveLCSSA=*/false) {}

  void run() {
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &instruction : *block)
        if (llvm::Use *offset = offsetOfBufferAccess(&instruction))
          add(offsetOf(*offset));
    for (auto &[alike, byConstant] : groups)
      if (lowestOf(byConstant).size() < byConstant.size())
        share(alike, byConstant);
    if (areFewer(masked))
      for (auto &[alike, byConstant] : masked)
        share(alike, byConstant);
  }

private:
  /// What offsets have in common: where they begin, but for a constant, and what is added to them
  /// in each iteration.
  using Alike = std::pair<const llvm::SCEV *, const llvm::SCEV *>;
  using Groups = llvm::MapVector<Alike, ByConstant>;

  void add(Offset offset) {
    if (offset.choice && !loop.contains(offset.choice))
      offset = {offset.use, nullptr, offset.choice, 0};
    const llvm::SCEV *start = evolution.getSCEV(offset.value);
    const llvm::SCEV *step = evolution.getZero(start->getType());
    if (auto *moved = llvm::dyn_cast<llvm::SCEVAddRecExpr>(start);
        moved && moved->getLoop() == &loop && moved->isAffine()) {
      start = moved->getStart();
      step = moved->getStepRecurrence(evolution);
    } else if (!offset.choice || !evolution.isLoopInvariant(start, &loop)) {
      return;
    }
    if (!expander.isSafeToExpandAt(start, place) || !expander.isSafeToExpandAt(step, place))
      return;
    auto [rest, constant] = apart(start, evolution);
    (offset.choice ? masked : groups)[{rest, step}][constant].push_back(offset);
  }

  /// Whether the lowest offsets, and numbers that masks choose beside them, are fewer than offsets.
  static bool areFewer(const Groups &groups) {
    size_t all = 0, bases = 0;
    llvm::DenseSet<int64_t> numbers;
    for (auto &[alike, byConstant] : groups) {
      llvm::SmallVector<int64_t> lowest = lowestOf(byConstant);
      all += byConstant.size();
      bases += lowest.size();
      for (auto &[constant, offsets] : byConstant)
        numbers.insert(constant - *std::prev(llvm::upper_bound(lowest, constant)));
    }
    numbers.erase(0);
    return bases + numbers.size() < all;
  }

  void share(const Alike &alike, const ByConstant &byConstant) {
    llvm::SmallVector<int64_t> lowest = lowestOf(byConstant);
    llvm::MapVector<int64_t, llvm::Value *> held;
    for (int64_t constant : lowest)
      held[constant] = hold(alike, constant);
    auto from = held.begin();
    for (auto &[constant, offsets] : byConstant) {
      if (auto next = std::next(from); next != held.end() && next->first == constant)
        from = next;
      for (const Offset &offset : offsets)
        reachFrom(from->second, constant - from->first, offset);
    }
  }

  /// The offset that the loop carries, or has from in front of it.
  llvm::Value *hold(const Alike &alike, int64_t constant) {
    auto [start, step] = alike;
    llvm::Type *word = start->getType();
    const llvm::SCEV *first = evolution.getAddExpr(
        start, evolution.getConstant(word, uint64_t(constant), /*isSigned=*/true));
    if (step->isZero())
      return expander.expandCodeFor(first, word, place);
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
  Groups groups, masked; ///< without masks, with masks
};

/// Whether the access's buffer is known to end within 2 GiB: whatever is added to an offset of as
/// many bytes, as far as accesses reach, is out of range.
bool endsWithinHalf(const llvm::Use &use) {
  constexpr unsigned records = 2;
  auto *made =
      llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser()->getOperand(use.getOperandNo() - 1));
  if (!made || made->getIntrinsicID() != llvm::Intrinsic::amdgcn_make_buffer_rsrc)
    return false;
  auto *bytes = llvm::dyn_cast<llvm::ConstantInt>(made->getArgOperand(records));
  return bytes && bytes->getValue().ule(half);
}

/// What accesses of a block choose under one mask.
class BlockOffsets {
public:
  BlockOffsets(llvm::BasicBlock &block, llvm::ScalarEvolution &evolution)
      : block(block), evolution(evolution) {}

  void run() {
    for (llvm::Instruction &instruction : block)
      if (llvm::Use *use = offsetOfBufferAccess(&instruction); use && endsWithinHalf(*use))
        add(offsetOf(*use));
    for (auto &[alike, byConstant] : groups) {
      llvm::SmallVector<int64_t> lowest = lowestOf(byConstant);
      for (int64_t constant : lowest)
        share(byConstant, constant);
    }
  }

private:
  /// The mask, whether it is true for lanes that access memory, and their offset, but for a
  /// constant.
  using Alike = std::tuple<llvm::Value *, unsigned, const llvm::SCEV *>;

  void add(const Offset &offset) {
    if (!offset.choice || uint32_t(offset.other) < half)
      return;
    auto [rest, constant] = apart(evolution.getSCEV(offset.value), evolution);
    bool isWanted = offset.choice->getTrueValue() == offset.value;
    groups[{offset.choice->getCondition(), isWanted, rest}][constant].push_back(offset);
  }

  /// The accesses that `lowest` reaches.
  void share(const ByConstant &byConstant, int64_t lowest) {
    auto begin = byConstant.find(lowest), end = byConstant.lower_bound(lowest + reach);
    if (std::next(begin) == end)
      return;
    const Offset *earliest = &begin->second.front();
    int64_t constant = lowest;
    for (auto at = begin; at != end; ++at)
      for (const Offset &offset : at->second)
        if (userOf(offset).comesBefore(&userOf(*earliest))) {
          earliest = &offset;
          constant = at->first;
        }
    llvm::IRBuilder<> b(&userOf(*earliest));
    llvm::Value *base = earliest->value;
    if (constant != lowest)
      base = b.CreateAdd(base, b.getInt32(uint32_t(lowest - constant)));
    bool isWanted = earliest->choice->getTrueValue() == earliest->value;
    llvm::Value *out = b.getInt32(half);
    llvm::Value *chosen = b.CreateSelect(earliest->choice->getCondition(), isWanted ? base : out,
                                         isWanted ? out : base);
    for (auto at = begin; at != end; ++at)
      for (const Offset &offset : at->second) {
        b.SetInsertPoint(&userOf(offset));
        offset.use->set(b.CreateAdd(chosen, b.getInt32(uint32_t(at->first - lowest))));
      }
  }

  static llvm::Instruction &userOf(const Offset &offset) {
    return *llvm::cast<llvm::Instruction>(offset.use->getUser());
  }

  llvm::BasicBlock &block;
  llvm::ScalarEvolution &evolution;
  llvm::MapVector<Alike, ByConstant> groups;
};

/// What `value` is without a constant that is added to it; null: it is no such sum.
llvm::Value *withoutConstant(llvm::Value *value, const llvm::APInt *&constant) {
  using namespace llvm::PatternMatch;
  llvm::Value *base = nullptr;
  return match(value, m_AddLike(m_Value(base), m_APInt(constant))) ? base : nullptr;
}

/// The same of what the constant's bits are set in, where they may have been set before: LLVM
/// leaves out what clears them. Another value may be that.
llvm::Value *withoutBits(llvm::Value *value, const llvm::APInt *&constant) {
  using namespace llvm::PatternMatch;
  llvm::Value *base = nullptr;
  auto *whole = llvm::dyn_cast<llvm::Instruction>(value);
  if (!whole || !match(value, m_Or(m_Value(base), m_APInt(constant))))
    return nullptr;
  llvm::KnownBits bits = llvm::computeKnownBits(base, whole->getDataLayout());
  for (llvm::User *user : base->users()) {
    auto *cleared = llvm::dyn_cast<llvm::Instruction>(user);
    if (cleared && cleared->getParent() == whole->getParent() && cleared->comesBefore(whole) &&
        match(cleared, m_And(m_Specific(base), m_SpecificInt(~bits.Zero & ~*constant))))
      return cleared;
  }
  return nullptr;
}

/// Of an offset that a mask chooses, what is added to both alternatives, if that is a constant
/// below `accessReach`. Of offsets of zero or more: what it brings for others is not measured.
void addBehindMask(const Offset &offset, llvm::Value *base, const llvm::APInt *constant,
                   int64_t accessReach) {
  if (base && constant->isStrictlyPositive() && constant->slt(accessReach) &&
      offset.other - constant->getSExtValue() == std::numeric_limits<int32_t>::min() &&
      llvm::isKnownNonNegative(base, llvm::SimplifyQuery(offset.choice->getDataLayout())))
    reachFrom(base, constant->getSExtValue(), offset);
}

/// What scalar evolution is of, and it.
class Evolution {
public:
  explicit Evolution(llvm::Function &kernel)
      : functions(kernel.getParent()->getTargetTriple()), library(functions), tree(kernel),
        loops(tree), assumptions(kernel), evolution(kernel, library, assumptions, tree, loops) {}

  llvm::TargetLibraryInfoImpl functions;
  llvm::TargetLibraryInfo library;
  llvm::DominatorTree tree;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::ScalarEvolution evolution;
};

} // namespace

void reachForward(llvm::Function &kernel) {
  Evolution of(kernel);
  for (llvm::Loop *loop : of.loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader() && loop->getLoopLatch())
      LoopOffsets(*loop, of.evolution).run();
  const llvm::APInt *constant = nullptr;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (llvm::Use *use = offsetOfBufferAccess(&instruction))
      if (Offset offset = offsetOf(*use); offset.choice)
        addBehindMask(offset, withoutConstant(offset.value, constant), constant, reach);
}

std::vector<std::pair<llvm::Use *, llvm::Value *>> reachBehindMasks(llvm::Function &kernel,
                                                                    int64_t accessReach) {
  std::vector<std::pair<llvm::Use *, llvm::Value *>> before;
  const llvm::APInt *constant = nullptr;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    llvm::Use *use = offsetOfBufferAccess(&instruction);
    Offset offset = use ? offsetOf(*use) : Offset();
    if (!offset.choice)
      continue;
    llvm::Value *base = withoutConstant(offset.value, constant);
    addBehindMask(offset, base ? base : withoutBits(offset.value, constant), constant, accessReach);
    if (use->get() != offset.choice)
      before.emplace_back(use, offset.choice);
  }
  return before;
}

void shareMaskedOffsets(llvm::Function &kernel) {
  Evolution of(kernel);
  for (llvm::BasicBlock &block : kernel)
    BlockOffsets(block, of.evolution).run();
}

} // namespace kiln
