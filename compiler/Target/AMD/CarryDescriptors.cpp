// A buffer's descriptor is four words: the base in two, of which the upper 16 bits are other
// fields, the number of bytes, and flags. LLVM makes one of a pointer wherever it is used, by a
// mask of the upper word and copies next to the number of bytes; where a loop moves the pointer, in
// each iteration. So the words are written here, without the mask, and a loop carries them and adds
// to the first two.
//
// The upper bits are zero wherever something is accessed: what a kernel addresses lies below 2^47,
// and bases that begin 2 GiB in front of their array (UseBuffers.cpp) do so in the same half, as no
// memory of GPUs lies in the first 2 GiB. Where nothing is, as all lanes are out of range, they may
// be anything: an access without an index compares the offset with the number of bytes whatever
// they are.
//
// Of these, 32 bits lead to all of the array. Where that is no more instructions, the loop adds to
// the lanes' offsets in place of the base: one addition for each register of them, and arrays that
// are moved alike may share registers. Not where threads lack registers, as LLVM cannot compute
// again what a loop carries; nor what is out of range in front of the loop, as it would come into
// it.
//
// Of buffers that only copies to shared memory are from (BufferCopies.h), which take a descriptor
// by halves, the loop carries the base alone, and adds to it behind the last of them: where it
// stands, not to a copy.
//
// Refused: an offset for the wave beside the lanes' (soffset), of which LLVM's and the ISA's texts
// say differently whether it counts for the range.

#include "compiler/Target/AMD/CarryDescriptors.h"
#include "compiler/Target/BufferAccesses.h"
#include "compiler/Target/MemoryFeatures.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <map>
#include <tuple>

namespace kiln {
namespace {

/// Of llvm.amdgcn.make.buffer.rsrc.
enum Operand : unsigned { Base, Stride, Bytes, Flags };

constexpr unsigned bytesWord = 2;

/// The number that casts, and a copy to scalar registers, make of another one.
llvm::Value *withoutCasts(llvm::Value *value) {
  while (auto *op = llvm::dyn_cast<llvm::Instruction>(value)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(op);
    bool isCopy = call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_readfirstlane;
    if (!isCopy && !llvm::isa<llvm::CastInst>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether it is the offset that lanes are sent out of range by, and the number of bytes of buffers
/// of which that is the end; of 64 bits, its lower word.
bool isBeyond(const llvm::Value *value) {
  auto *number = llvm::dyn_cast<llvm::Constant>(value);
  if (number && number->getType()->isVectorTy())
    number = number->getSplatValue();
  auto *word = llvm::dyn_cast_or_null<llvm::ConstantInt>(number);
  return word && word->getBitWidth() >= 32 &&
         uint32_t(word->getZExtValue()) == uint32_t(movedBufferBytes);
}

/// A base that the loop moves, with one number of bytes, and what makes descriptors of them.
struct Buffer {
  const llvm::SCEVAddRecExpr *base;
  const llvm::SCEV *step;
  llvm::SmallVector<llvm::IntrinsicInst *, 1> calls;
  /// The offsets that could move in place of the base.
  llvm::SmallSetVector<llvm::Value *, 4> offsets = {};
  const llvm::SCEV *ahead = nullptr; ///< what they begin with beside their own; null: none can
};

bool hasFixedFields(const llvm::IntrinsicInst &call) {
  auto *stride = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(Stride));
  return stride && stride->isZero() && llvm::isa<llvm::Constant>(call.getArgOperand(Flags));
}

llvm::Value *wordsOf(llvm::Value *base, llvm::Value *bytes, llvm::Value *flags,
                     llvm::IRBuilder<> &b) {
  llvm::Type *wide = b.getInt64Ty();
  llvm::Value *low = base->getType()->isPointerTy() ? b.CreatePtrToInt(base, wide) : base;
  llvm::Value *high =
      b.CreateOr(b.CreateAnd(bytes, UINT32_MAX), b.CreateShl(b.CreateZExt(flags, wide), 32));
  auto *pair = llvm::FixedVectorType::get(wide, 2);
  llvm::Value *both = b.CreateInsertElement(llvm::PoisonValue::get(pair), low, uint64_t(0));
  both = b.CreateInsertElement(both, high, uint64_t(1));
  return b.CreateBitCast(both, llvm::FixedVectorType::get(b.getInt32Ty(), 4));
}

/// Has the words in place of what LLVM would make of the operands.
void replace(llvm::IntrinsicInst &call, llvm::Value *words, llvm::IRBuilder<> &b) {
  llvm::Value *whole = b.CreateBitCast(words, b.getInt128Ty());
  call.replaceAllUsesWith(b.CreateIntToPtr(whole, call.getType()));
  call.eraseFromParent();
}

class LoopDescriptors {
public:
  LoopDescriptors(llvm::Loop &loop, llvm::ScalarEvolution &evolution, llvm::DominatorTree &tree,
                  bool mayMoveOffsets)
      : loop(loop), evolution(evolution), tree(tree), mayMoveOffsets(mayMoveOffsets),
        place(loop.getLoopPreheader()->getTerminator()),
        expander(evolution, "base", /*PreserveLCSSA=*/false) {}

  void run() {
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &instruction : *block)
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_make_buffer_rsrc)
          add(*call);
    llvm::MapVector<const llvm::SCEV *, llvm::SmallVector<Buffer *>> byStep;
    for (auto &[key, buffer] : buffers) {
      findOffsets(buffer);
      byStep[buffer.step].push_back(&buffer);
    }
    for (auto &[step, alike] : byStep)
      carry(alike);
  }

private:
  void add(llvm::IntrinsicInst &call) {
    auto *base = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(call.getArgOperand(Base)));
    if (!hasFixedFields(call) || !base || base->getLoop() != &loop || !base->isAffine())
      return;
    const llvm::SCEV *step = base->getStepRecurrence(evolution);
    if (!expander.isSafeToExpandAt(base->getStart(), place) ||
        !expander.isSafeToExpandAt(step, place))
      return;
    buffers.try_emplace({base, call.getArgOperand(Bytes)}, Buffer{base, step, {}})
        .first->second.calls.push_back(&call);
  }

  /// The offset of a choice in the loop that sends other lanes out of range; null: it is none.
  llvm::Use *chosenOffset(llvm::Value *offset) const {
    auto *choice = llvm::dyn_cast<llvm::SelectInst>(offset);
    if (!choice || !loop.contains(choice))
      return nullptr;
    bool sendsFalse = isBeyond(choice->getFalseValue());
    if (sendsFalse == isBeyond(choice->getTrueValue()))
      return nullptr;
    return &choice->getOperandUse(sendsFalse ? 1 : 2);
  }

  /// An offset that the loop does not change, but for lanes that it sends out of range.
  llvm::Value *steadyOffset(llvm::Value *offset) const {
    while (llvm::Use *chosen = chosenOffset(offset))
      offset = *chosen;
    return loop.isLoopInvariant(offset) && !mayBeBeyond(offset) ? offset : nullptr;
  }

  /// Whether lanes are sent out of range in front of the loop: there is such a number in what the
  /// offset is computed of.
  static bool mayBeBeyond(llvm::Value *offset) {
    llvm::SmallSetVector<llvm::Value *, 16> parts;
    parts.insert(offset);
    for (unsigned i = 0; i < parts.size(); ++i) {
      if (isBeyond(parts[i]))
        return true;
      if (auto *op = llvm::dyn_cast<llvm::Instruction>(parts[i]))
        parts.insert_range(op->operand_values());
    }
    return false;
  }

  void findOffsets(Buffer &buffer) {
    if (!mayMoveOffsets || !isSmall(buffer.calls.front()->getArgOperand(Bytes)))
      return;
    const llvm::SCEV *array = evolution.getPointerBase(buffer.base->getStart());
    auto *value = llvm::dyn_cast<llvm::SCEVUnknown>(array);
    if (!value || !llvm::isa<llvm::Argument>(value->getValue()))
      return;
    for (llvm::IntrinsicInst *call : buffer.calls)
      for (llvm::User *user : call->users()) {
        llvm::Use *use = offsetOfBufferAccess(user);
        llvm::Value *offset = use ? steadyOffset(*use) : nullptr;
        if (!offset)
          return;
        buffer.offsets.insert(offset);
      }
    buffer.ahead = evolution.getMinusSCEV(
        evolution.getMinusSCEV(buffer.base->getStart(), array),
        evolution.getConstant(buffer.step->getType(), movedBufferStart, /*isSigned=*/true));
  }

  /// Whether it is the number of bytes of small arrays whose base is moved, or none.
  static bool isSmall(llvm::Value *bytes) {
    bytes = withoutCasts(bytes);
    auto *choice = llvm::dyn_cast<llvm::SelectInst>(bytes);
    if (!choice)
      return isBeyond(bytes);
    return isBeyond(choice->getTrueValue()) &&
           llvm::PatternMatch::match(choice->getFalseValue(), llvm::PatternMatch::m_Zero());
  }

  /// Whether so many offsets move in place of `bases`: as many additions, but in a loop that runs
  /// several times fewer, as what the offsets begin with takes registers there.
  bool areFew(size_t offsets, size_t bases) const {
    constexpr size_t additions = 2;
    size_t most = additions * bases;
    return loop.getParentLoop() ? offsets < most : offsets <= most;
  }

  /// Buffers that are moved alike.
  void carry(llvm::ArrayRef<Buffer *> alike) {
    llvm::SmallSetVector<llvm::Value *, 8> offsets;
    size_t movable = 0;
    for (Buffer *buffer : alike)
      if (buffer->ahead) {
        offsets.insert_range(buffer->offsets);
        ++movable;
      }
    bool moveTogether = areFew(offsets.size(), movable);
    for (Buffer *buffer : alike) {
      bool movesBase = !buffer->ahead || (!moveTogether && !areFew(buffer->offsets.size(), 1));
      if (!movesBase)
        moveOffsets(*buffer);
      if (isForCopies(*buffer))
        carryBase(*buffer);
      else
        carryWords(*buffer, movesBase);
    }
  }

  void moveOffsets(Buffer &buffer) {
    for (llvm::IntrinsicInst *call : buffer.calls)
      for (llvm::User *user : call->users()) {
        llvm::Use &use = *offsetOfBufferAccess(user);
        use.set(withMoved(use, buffer));
      }
  }

  llvm::Value *withMoved(llvm::Value *offset, const Buffer &buffer) {
    llvm::Use *chosen = chosenOffset(offset);
    if (!chosen)
      return movedOffset(offset, buffer);
    // Others may choose by the same.
    auto *choice = llvm::cast<llvm::Instruction>(offset)->clone();
    choice->setOperand(chosen->getOperandNo(), withMoved(*chosen, buffer));
    choice->insertBefore(llvm::cast<llvm::Instruction>(offset)->getIterator());
    return choice;
  }

  llvm::Value *movedOffset(llvm::Value *offset, const Buffer &buffer) {
    llvm::Value *&known = moved[{offset, buffer.step, buffer.ahead}];
    if (known)
      return known;
    llvm::IRBuilder<> before(place);
    llvm::Type *word = before.getInt32Ty(), *wide = before.getInt64Ty();
    auto low = [&](const llvm::SCEV *bytes) {
      return before.CreateTrunc(expander.expandCodeFor(bytes, wide, place), word);
    };
    llvm::Value *step = low(buffer.step);
    llvm::PHINode *phi = phiOf(before.CreateAdd(offset, low(buffer.ahead)), "offset");
    llvm::IRBuilder<> b(loop.getLoopLatch()->getTerminator());
    // LLVM would move one in place of several, and add that to each.
    phi->addIncoming(opaque(b, b.CreateAdd(phi, step), "v"), loop.getLoopLatch());
    return known = phi;
  }

  llvm::PHINode *phiOf(llvm::Value *first, const char *name) {
    llvm::IRBuilder<> b(loop.getHeader(), loop.getHeader()->begin());
    llvm::PHINode *phi = b.CreatePHI(first->getType(), 2, name);
    phi->addIncoming(first, loop.getLoopPreheader());
    return phi;
  }

  /// What the base is in the first iteration; where offsets move, where it is in all.
  llvm::Value *startOf(const Buffer &buffer, bool movesBase) {
    llvm::Type *pointer = buffer.calls.front()->getArgOperand(Base)->getType();
    const llvm::SCEV *start = buffer.base->getStart();
    if (!movesBase)
      start = evolution.getAddExpr(
          evolution.getPointerBase(start),
          evolution.getConstant(buffer.step->getType(), movedBufferStart, /*isSigned=*/true));
    return expander.expandCodeFor(start, pointer, place);
  }

  /// Whether assembly text alone asks for it, by halves.
  static bool isForCopies(const Buffer &buffer) {
    return llvm::all_of(buffer.calls, [](llvm::IntrinsicInst *call) {
      return llvm::all_of(call->users(), llvm::IsaPred<llvm::PtrToIntInst>);
    });
  }

  void carryBase(Buffer &buffer) {
    llvm::IRBuilder<> before(place);
    llvm::Type *wide = before.getInt64Ty();
    // Scalar, also where it comes from what only vector instructions compute.
    auto ofWave = [&](llvm::Value *value) {
      return before.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {wide}, {value});
    };
    llvm::Value *step = ofWave(expander.expandCodeFor(buffer.step, wide, place));
    llvm::Value *start = before.CreatePtrToInt(startOf(buffer, /*movesBase=*/true), wide);
    llvm::PHINode *base = phiOf(ofWave(start), "base");
    for (llvm::IntrinsicInst *call : buffer.calls) {
      llvm::IRBuilder<> b(call);
      replace(*call, wordsOf(base, call->getArgOperand(Bytes), call->getArgOperand(Flags), b), b);
    }
    llvm::IRBuilder<> b(loop.getLoopLatch()->getTerminator());
    llvm::Value *last = opaque(b, base, "s", /*hasSideEffects=*/true);
    base->addIncoming(b.CreateAdd(last, step), loop.getLoopLatch());
  }

  void carryWords(Buffer &buffer, bool movesBase) {
    llvm::IntrinsicInst &first = *buffer.calls.front();
    llvm::IRBuilder<> before(place);
    llvm::Value *bytes = first.getArgOperand(Bytes);
    bool isFixed = loop.isLoopInvariant(bytes);
    llvm::Value *words = wordsOf(startOf(buffer, movesBase), isFixed ? bytes : before.getInt64(0),
                                 first.getArgOperand(Flags), before);
    // LLVM would copy words that are alike to each access, in the loop.
    if (isFixed && !movesBase)
      words = opaque(before, words, "s");
    llvm::PHINode *carried = isFixed && !movesBase ? nullptr : phiOf(words, "descriptor");
    llvm::Value *last = carried ? carried : words;
    for (llvm::IntrinsicInst *call : buffer.calls) {
      llvm::IRBuilder<> b(call);
      llvm::Value *whole = carried ? carried : words;
      if (!isFixed)
        whole = b.CreateInsertElement(whole, b.CreateTrunc(bytes, b.getInt32Ty()), bytesWord);
      if (tree.dominates(call->getParent(), loop.getLoopLatch()))
        last = whole;
      replace(*call, whole, b);
    }
    if (!carried)
      return;
    llvm::IRBuilder<> b(loop.getLoopLatch()->getTerminator());
    if (movesBase)
      last = movedBy(last, expander.expandCodeFor(buffer.step, before.getInt64Ty(), place), b);
    carried->addIncoming(last, loop.getLoopLatch());
  }

  static llvm::Value *movedBy(llvm::Value *words, llvm::Value *step, llvm::IRBuilder<> &b) {
    auto *pair = llvm::FixedVectorType::get(b.getInt64Ty(), 2);
    llvm::Value *both = b.CreateBitCast(words, pair);
    llvm::Value *moved = b.CreateAdd(b.CreateExtractElement(both, uint64_t(0)), step);
    return b.CreateBitCast(b.CreateInsertElement(both, moved, uint64_t(0)), words->getType());
  }

  llvm::Loop &loop;
  llvm::ScalarEvolution &evolution;
  llvm::DominatorTree &tree;
  bool mayMoveOffsets;
  llvm::Instruction *place; ///< in front of the loop
  llvm::SCEVExpander expander;
  llvm::MapVector<std::pair<const llvm::SCEVAddRecExpr *, llvm::Value *>, Buffer> buffers;
  std::map<std::tuple<llvm::Value *, const llvm::SCEV *, const llvm::SCEV *>, llvm::Value *> moved;
};

} // namespace

void carryDescriptors(llvm::Function &kernel, bool mayMoveOffsets) {
  llvm::TargetLibraryInfoImpl functions(kernel.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  // Words are made in front of a loop, not where a branch leads to it and elsewhere.
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && !loop->getLoopPreheader())
      llvm::InsertPreheaderForLoop(loop, &tree, &loops, /*MSSAU=*/nullptr, /*PreserveLCSSA=*/false);
  llvm::AssumptionCache assumptions(kernel);
  llvm::ScalarEvolution evolution(kernel, library, assumptions, tree, loops);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader() && loop->getLoopLatch())
      LoopDescriptors(*loop, evolution, tree, mayMoveOffsets).run();
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_make_buffer_rsrc &&
        hasFixedFields(*call)) {
      llvm::IRBuilder<> b(call);
      llvm::Value *words = wordsOf(call->getArgOperand(Base), call->getArgOperand(Bytes),
                                   call->getArgOperand(Flags), b);
      replace(*call, words, b);
    }
  // Pointers that nobody asks for any more.
  for (llvm::BasicBlock &block : kernel)
    for (llvm::PHINode &phi : llvm::make_early_inc_range(block.phis()))
      llvm::RecursivelyDeleteDeadPHINode(&phi);
}

} // namespace kiln
