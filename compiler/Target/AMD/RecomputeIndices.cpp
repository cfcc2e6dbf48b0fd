// Rows and columns of a thread's elements are computed in front of a loop of products, for what it
// loads, and used again behind it, for what the kernel stores. LLVM computes each of them once, and
// holds them all through the loop, where threads lack registers: of RDNA's 256 the sums of products
// and their operands may take all. They are some shifts of the thread's number and additions of
// scalars. So what stands behind the loop computes them again, of a number of the thread that LLVM
// cannot see through, and the loop holds that alone.
//
// Not what takes divisions, nor what is loaded, nor numbers of 64 bits.

#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

/// What a value is computed of: numbers that all threads of a wave have alike, the thread's number
/// by arithmetic that costs next to nothing, or more.
enum class Origin : uint8_t { Scalar, Thread, Other };

bool isShort(const llvm::Type *type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() <= 32;
}

class Origins {
public:
  Origin of(const llvm::Value *value) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    if (!op)
      return llvm::isa<llvm::Constant, llvm::Argument>(value) ? Origin::Scalar : Origin::Other;
    if (auto found = known.find(op); found != known.end())
      return found->second;
    Origin origin = find(*op);
    known[op] = origin;
    return origin;
  }

  /// `op` is the thread's number, too.
  void addNumber(const llvm::Instruction &op) {
    numbers.insert(&op);
    known[&op] = Origin::Thread;
  }
  bool isNumber(const llvm::Instruction &op) const {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    return numbers.contains(&op) ||
           (call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workitem_id_x);
  }

private:
  Origin find(const llvm::Instruction &op) {
    if (isNumber(op))
      return Origin::Thread;
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op))
      switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::amdgcn_workgroup_id_x:
      case llvm::Intrinsic::amdgcn_workgroup_id_y:
      case llvm::Intrinsic::amdgcn_workgroup_id_z:
      case llvm::Intrinsic::amdgcn_readfirstlane:
        return Origin::Scalar;
      default:
        break;
      }
    bool isMinimum = llvm::isa<llvm::MinMaxIntrinsic>(op);
    if (!isMinimum && !llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::ICmpInst,
                                 llvm::SelectInst, llvm::FreezeInst>(op))
      return Origin::Other;
    Origin worst = Origin::Scalar;
    for (const llvm::Use &operand : op.operands())
      if (!llvm::isa<llvm::Function>(operand))
        worst = std::max(worst, of(operand));
    bool isDivision =
        op.getOpcode() == llvm::Instruction::SDiv || op.getOpcode() == llvm::Instruction::UDiv ||
        op.getOpcode() == llvm::Instruction::SRem || op.getOpcode() == llvm::Instruction::URem;
    // Of two freezes of one value each may choose its own.
    bool isCheap = isShort(op.getType()) && !isDivision && !llvm::isa<llvm::FreezeInst>(op) &&
                   llvm::all_of(op.operands(), [](const llvm::Use &operand) {
                     return isShort(operand->getType()) || llvm::isa<llvm::Function>(operand);
                   });
    return worst == Origin::Thread && !isCheap ? Origin::Other : worst;
  }

  llvm::DenseMap<const llvm::Instruction *, Origin> known;
  llvm::DenseSet<const llvm::Instruction *> numbers;
};

/// What is behind one loop.
class BehindLoop {
public:
  BehindLoop(const llvm::Loop &loop, const llvm::DominatorTree &tree, Origins &origins)
      : loop(loop), tree(tree), origins(origins) {
    llvm::SmallVector<llvm::BasicBlock *> pending;
    loop.getExitBlocks(pending);
    while (!pending.empty()) {
      llvm::BasicBlock *block = pending.pop_back_val();
      if (!loop.contains(block) && !tree.dominates(block, loop.getHeader()) && behind.insert(block))
        llvm::append_range(pending, llvm::successors(block));
    }
  }

  void run() {
    for (llvm::BasicBlock *block : behind)
      for (llvm::Instruction &instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction))
          continue;
        for (llvm::Use &use : instruction.operands())
          if (isHeld(use))
            use.set(copyOf(use, copies[firstBehind(block)], *firstBehind(block)));
      }
  }

private:
  using Copies = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  /// Whether the loop holds the value for what is behind it, which could compute it.
  bool isHeld(llvm::Value *value) {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    return op && tree.dominates(op->getParent(), loop.getHeader()) && !loop.contains(op) &&
           origins.of(op) == Origin::Thread;
  }

  /// The first block behind the loop that all paths to `block` go through.
  llvm::BasicBlock *firstBehind(llvm::BasicBlock *block) const {
    while (true) {
      llvm::BasicBlock *before = tree.getNode(block)->getIDom()->getBlock();
      if (!behind.contains(before))
        return block;
      block = before;
    }
  }

  llvm::Value *copyOf(llvm::Value *value, Copies &known, llvm::BasicBlock &place) {
    if (origins.of(value) != Origin::Thread)
      return value;
    if (llvm::Value *copy = known.lookup(value))
      return copy;
    auto *op = llvm::cast<llvm::Instruction>(value);
    return known[value] =
               origins.isNumber(*op) ? hidden(op, place) : copyOfOperation(*op, known, place);
  }

  llvm::Value *copyOfOperation(llvm::Instruction &op, Copies &known, llvm::BasicBlock &place) {
    llvm::Instruction *copy = op.clone();
    for (llvm::Use &operand : copy->operands())
      operand.set(copyOf(operand, known, place));
    copy->insertBefore(end(place));
    return copy;
  }

  llvm::Value *hidden(llvm::Value *number, llvm::BasicBlock &place) {
    llvm::IRBuilder<> builder(&place, end(place));
    auto *type = llvm::FunctionType::get(number->getType(), {number->getType()}, false);
    llvm::CallInst *call = builder.CreateCall(
        type, llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/true), {number});
    origins.addNumber(*call);
    return call;
  }

  /// Where the block's own instructions begin, and copies end.
  llvm::BasicBlock::iterator end(llvm::BasicBlock &place) {
    auto [known, isNew] = begins.try_emplace(&place, nullptr);
    if (isNew)
      known->second = &*place.getFirstInsertionPt();
    return known->second->getIterator();
  }

  const llvm::Loop &loop;
  const llvm::DominatorTree &tree;
  Origins &origins;
  llvm::SmallSetVector<llvm::BasicBlock *, 16> behind;
  llvm::DenseMap<llvm::BasicBlock *, Copies> copies;
  llvm::DenseMap<llvm::BasicBlock *, llvm::Instruction *> begins;
};

} // namespace

void recomputeIndices(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && llvm::any_of(loop->blocks(), [](llvm::BasicBlock *block) {
          return llvm::any_of(*block, isWmma);
        }))
      BehindLoop(*loop, tree, origins).run();
}

} // namespace kiln
