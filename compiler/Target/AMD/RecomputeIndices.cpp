// Rows and columns of a thread's elements are computed in front of a loop of products, for what it
// loads, and used again behind it, for what the kernel stores. LLVM computes each of them once, and
// holds them all through the loop, where threads lack registers: of RDNA's 256 the sums of products
// and their operands may take all. They are some shifts of the thread's number and additions of
// scalars. So what stands behind the loop computes them again, of a number of the thread that LLVM
// cannot see through, and the loop holds that alone; on RDNA not even that, as a lane counts the
// lanes in front of it, and a scalar register has the number of the wave's first thread, which
// RDNA 4 knows by itself. Where the code behind a loop itself lacks registers, as of several tiles
// that one block exchanges, each block computes them.
//
// Where a loop lacks few registers, so does each iteration with what few instructions make: rows
// that are compared with an end, a shift and an addition.
//
// Not what takes divisions, nor what is loaded, nor numbers of 64 bits.

#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/AMD/BehindLoops.h"
#include "compiler/Target/AMD/DeviceInstructions.h"
#include "compiler/Target/OpaqueValue.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

/// The thread's number as code behind a loop has it.
class NumberAgain {
public:
  explicit NumberAgain(HeldNumber held) : held(held) {}

  /// Of `number`, which is the thread's, or one that this has made.
  llvm::Instruction *make(llvm::Instruction &number, llvm::IRBuilder<> &builder) {
    llvm::Value *scalar = held == HeldNumber::None          ? firstOfWave(builder)
                          : held == HeldNumber::FirstOfWave ? firstOf(number)
                                                            : nullptr;
    if (!scalar)
      return opaque(builder, &number, "v", /*hasSideEffects=*/true);
    return countLanes(opaque(builder, scalar, "s", /*hasSideEffects=*/true), builder);
  }

  /// The same, where the loop seems to change the number of the wave's first thread in each
  /// iteration: then it is in no order with other instructions. Null: that number is not known.
  llvm::Instruction *makeIn(llvm::Loop &loop, llvm::Instruction &number,
                            llvm::IRBuilder<> &builder) {
    llvm::Value *scalar = firstOf(number);
    if (!scalar || !loop.getLoopPreheader() || !loop.getLoopLatch())
      return nullptr;
    llvm::PHINode *&moved = carried[&loop];
    if (!moved) {
      llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
      moved = llvm::IRBuilder<>(header, header->begin()).CreatePHI(scalar->getType(), 2);
      moved->addIncoming(scalar, loop.getLoopPreheader());
      llvm::IRBuilder<> end(latch->getTerminator());
      moved->addIncoming(opaque(end, moved, "s"), latch);
    }
    return countLanes(moved, builder);
  }

  /// What loops carry for that.
  auto inLoops() const { return llvm::make_second_range(carried); }

private:
  static llvm::Instruction *countLanes(llvm::Value *scalar, llvm::IRBuilder<> &builder) {
    llvm::Type *i32 = builder.getInt32Ty();
    return builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_mbcnt_lo, {},
                                   {llvm::Constant::getAllOnesValue(i32), scalar});
  }

  static llvm::Value *firstOfWave(llvm::IRBuilder<> &builder) {
    constexpr uint64_t lanesAsPower = 5;
    llvm::ArrayRef<llvm::Value *> none;
    return builder.CreateShl(builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_wave_id, none),
                             lanesAsPower);
  }

  /// All lanes are there where the kernel begins.
  llvm::Value *firstOf(llvm::Instruction &number) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&number);
    if (first || !call || !call->getParent()->isEntryBlock() ||
        call->getIntrinsicID() != llvm::Intrinsic::amdgcn_workitem_id_x)
      return first;
    llvm::IRBuilder<> builder(call->getNextNode());
    if (held == HeldNumber::None)
      return first = firstOfWave(builder);
    return first = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane,
                                           builder.getInt32Ty(), call, {}, "wave");
  }

  HeldNumber held;
  llvm::Value *first = nullptr; ///< the number of the wave's first thread
  llvm::MapVector<llvm::Loop *, llvm::PHINode *> carried;
};

/// What is behind one loop.
class BehindLoop {
public:
  BehindLoop(const llvm::Loop &loop, const llvm::LoopInfo &loops, const llvm::DominatorTree &tree,
             Origins &origins, IndexPlaces places, NumberAgain &number)
      : loop(loop), loops(loops), tree(tree), origins(origins), places(places), number(number),
        behind(loop, tree) {}

  void run() {
    for (llvm::BasicBlock *block : behind.blocks()) {
      llvm::BasicBlock &place = placeFor(*block);
      for (llvm::Instruction &instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction))
          continue;
        for (llvm::Use &use : instruction.operands())
          if (isHeld(use, place))
            use.set(copyOf(use, copies[&place], place));
      }
    }
  }

private:
  using Copies = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  llvm::BasicBlock &placeFor(llvm::BasicBlock &block) const {
    bool isOwn = places == IndexPlaces::EachBlock && !loops.getLoopFor(&block);
    return isOwn ? block : *behind.firstBehind(&block);
  }

  /// Whether the loop, or a block behind it, holds the value for `place`, which could compute it.
  bool isHeld(llvm::Value *value, llvm::BasicBlock &place) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    if (!op || loop.contains(op) || origins.of(op) != Origin::Thread)
      return false;
    llvm::BasicBlock *block = op->getParent();
    return tree.dominates(block, loop.getHeader()) ||
           (behind.contains(block) && tree.properlyDominates(block, &place));
  }

  /// What was hidden, of a number that was.
  static llvm::Value *shown(llvm::Value *value) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(value);
    return call && call->isInlineAsm() ? call->getArgOperand(0) : value;
  }

  llvm::Value *copyOf(llvm::Value *value, Copies &known, llvm::BasicBlock &place) {
    if (origins.of(value) != Origin::Thread)
      return value;
    value = shown(value);
    if (llvm::Value *copy = known.lookup(value))
      return copy;
    auto *op = llvm::cast<llvm::Instruction>(value);
    return known[value] =
               origins.isNumber(*op) ? numberIn(*op, place) : copyOfOperation(*op, known, place);
  }

  llvm::Value *copyOfOperation(llvm::Instruction &op, Copies &known, llvm::BasicBlock &place) {
    return behind.copy(op, place, [&](llvm::Value *value) { return copyOf(value, known, place); });
  }

  llvm::Value *numberIn(llvm::Instruction &op, llvm::BasicBlock &place) {
    llvm::IRBuilder<> builder(&place, behind.end(place));
    llvm::Instruction *again = number.make(op, builder);
    origins.addNumber(*again);
    return again;
  }

  const llvm::Loop &loop;
  const llvm::LoopInfo &loops;
  const llvm::DominatorTree &tree;
  Origins &origins;
  IndexPlaces places;
  NumberAgain &number;
  BlocksBehind behind;
  llvm::DenseMap<llvm::BasicBlock *, Copies> copies;
};

/// How many instructions make the value of the thread's number, and of scalars.
unsigned lengthOf(llvm::Value *value, Origins &origins) {
  auto *op = llvm::dyn_cast<llvm::Instruction>(value);
  if (!op || origins.of(op) != Origin::Thread || origins.isNumber(*op))
    return 0;
  unsigned length = 1;
  for (llvm::Value *operand : op->operands())
    length += lengthOf(operand, origins);
  return length;
}

/// Values of the thread's number again, in front of one instruction.
class CopiesFor {
public:
  CopiesFor(llvm::Instruction &user, llvm::Loop &loop, Origins &origins, NumberAgain &number)
      : user(user), loop(loop), origins(origins), number(number) {}

  llvm::Value *copyOf(llvm::Value *value) {
    if (origins.of(value) != Origin::Thread)
      return value;
    if (llvm::Value *copy = copies.lookup(value))
      return copy;
    auto *op = llvm::cast<llvm::Instruction>(value);
    return copies[op] = origins.isNumber(*op) ? numberOf(*op) : copyOfOperation(*op);
  }

private:
  llvm::Value *numberOf(llvm::Instruction &op) {
    llvm::IRBuilder<> builder(&user);
    llvm::Instruction *again = number.makeIn(loop, op, builder);
    return again ? again : &op;
  }

  llvm::Value *copyOfOperation(llvm::Instruction &op) {
    llvm::Instruction *copy = op.clone();
    for (llvm::Use &operand : copy->operands())
      operand.set(copyOf(operand));
    copy->insertBefore(user.getIterator());
    return copy;
  }

  llvm::Instruction &user;
  llvm::Loop &loop;
  Origins &origins;
  NumberAgain &number;
  llvm::DenseMap<llvm::Value *, llvm::Value *> copies;
};

} // namespace

HeldNumber heldNumberOf(const TargetInfo &target) {
  if (!target.matrix.wmmaGeneration)
    return HeldNumber::Thread;
  return target.matrix.wmmaGeneration < 4 ? HeldNumber::FirstOfWave : HeldNumber::None;
}

void recomputeIndices(llvm::Function &kernel, IndexPlaces places, HeldNumber held) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  NumberAgain number(held);
  forEachInnermostLoop(loops, isProduct, [&](llvm::Loop &loop) {
    BehindLoop(loop, loops, tree, origins, places, number).run();
  });
}

HeldIndices recomputeInLoops(llvm::Function &kernel, unsigned mostInstructions, HeldNumber holds) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  NumberAgain number(holds);
  HeldIndices held;
  auto isHeld = [&](llvm::Value *value, const llvm::Loop &loop) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    return op && !loop.contains(op) && !op->getType()->isIntegerTy(1) &&
           origins.of(op) == Origin::Thread && lengthOf(op, origins) <= mostInstructions;
  };
  forEachInnermostLoop(loops, isProduct, [&](llvm::Loop &loop) {
    // Where the latch is not what ends it, LLVM's structured form may carry scalars in lanes, of
    // which it makes none again for assembly text.
    if (!loop.isRotatedForm())
      return;
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &user : llvm::make_early_inc_range(*block)) {
        if (llvm::isa<llvm::PHINode>(user))
          continue;
        CopiesFor copies(user, loop, origins, number);
        for (llvm::Use &use : user.operands())
          if (isHeld(use, loop)) {
            held.uses.emplace_back(&use, use.get());
            use.set(copies.copyOf(use));
          }
      }
  });
  held.carried.assign(number.inLoops().begin(), number.inLoops().end());
  return held;
}

void holdAgain(const HeldIndices &held) {
  for (auto [use, value] : held.uses) {
    llvm::Value *copy = use->get();
    use->set(value);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(copy);
  }
  for (llvm::PHINode *number : held.carried) {
    auto *next = llvm::cast<llvm::Instruction>(number->getIncomingValue(1));
    number->replaceAllUsesWith(llvm::PoisonValue::get(number->getType()));
    number->eraseFromParent();
    next->eraseFromParent();
  }
}

} // namespace kiln
