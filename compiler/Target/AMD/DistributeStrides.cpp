// The rows of a thread's elements are one that its tile begins with, which a loop changes, and one
// for each of them, which it does not. Both are added and then multiplied by the stride: a
// multiplication for each row and iteration, which take four times as long as additions and are as
// many instructions. Distributed, (first + row) * stride is first * stride, which all rows have in
// common and is mostly a scalar, and row * stride, which is known in front of the loop. What is
// added to the product divides likewise, so that an offset is an addition of two numbers.
//
// Modulo 2^32 both are the same, whatever overflows; what is said of overflow is dropped.
//
// Not where each product has a part of its own that the loop changes: it would be multiplied as
// often. Nor of many offsets, as each of a row of its own then holds a register through the loop.
// LLVM has nothing that does this: Reassociate takes no factors out of sums of several uses, and
// LICM moves sums of products, not products of sums.

#include "compiler/Target/AMD/DistributeStrides.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include <map>
#include <tuple>

namespace kiln {
namespace {

using llvm::Instruction;

/// A number as a sum: what the loop changes, and what it does not. Null: there is no such part.
struct Parts {
  llvm::Value *varying = nullptr, *fixed = nullptr;
};

class LoopStrides {
public:
  explicit LoopStrides(llvm::Loop &loop)
      : loop(loop), before(loop.getLoopPreheader()->getTerminator()) {}

  void run(const llvm::LoopInfo &loops) {
    llvm::LoopBlocksRPO blocks(&loop);
    blocks.perform(&loops);
    for (llvm::BasicBlock *block : blocks)
      for (Instruction &op : *block)
        if (isLinear(op))
          classify(op);
    constexpr size_t mostHeld = 16;
    findOffsets();
    for (Instruction *op : linear)
      if (needed.contains(op))
        parts[op] = divide(*op);
    if (countHeld() <= mostHeld)
      replaceOffsets();
    for (llvm::WeakTrackingVH &op : made)
      if (op)
        llvm::RecursivelyDeleteTriviallyDeadInstructions(op);
  }

private:
  bool isFixed(llvm::Value *value) const { return loop.isLoopInvariant(value); }

  /// Whether the parts of a sum are those of what it is computed of.
  bool isLinear(const Instruction &op) const {
    if (!op.getType()->isIntegerTy(32) || !loop.contains(&op))
      return false;
    switch (op.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
      return true;
    case Instruction::Or:
      return llvm::cast<llvm::PossiblyDisjointInst>(op).isDisjoint();
    case Instruction::Mul:
      return isFixed(op.getOperand(0)) || isFixed(op.getOperand(1));
    case Instruction::Shl:
      return llvm::isa<llvm::ConstantInt>(op.getOperand(1));
    default:
      return false;
    }
  }

  static bool isScaled(const Instruction &op) {
    return op.getOpcode() == Instruction::Mul || op.getOpcode() == Instruction::Shl;
  }

  /// Of a product or shift, what is multiplied: the loop does not change the other operand.
  llvm::Use &multiplied(Instruction &op) const {
    return op.getOperandUse(op.getOpcode() == Instruction::Mul && isFixed(op.getOperand(0)));
  }

  /// Takes the operations in the order of the program.
  void classify(Instruction &op) {
    linear.push_back(&op);
    bool isProduct = op.getOpcode() == Instruction::Mul;
    bool hasFixed = false, hasVarying = false, isDistributed = false;
    for (llvm::Use &use : op.operands()) {
      if (isScaled(op) && &use != &multiplied(op))
        continue;
      isDistributed |= distributed.contains(use) || (isProduct && mixed.contains(use));
      hasFixed |= mixed.contains(use) || isFixed(use);
      hasVarying |= !isFixed(use);
    }
    if (hasFixed && hasVarying)
      mixed.insert(&op);
    if (isDistributed)
      distributed.insert(&op);
  }

  /// What something else takes than sums and products.
  void findOffsets() {
    for (Instruction *op : linear)
      if (distributed.contains(op) && llvm::any_of(op->users(), [&](llvm::User *user) {
            return !isLinear(*llvm::cast<Instruction>(user));
          }))
        offsets.push_back(op);
    llvm::SmallVector<llvm::Value *> pending(offsets.begin(), offsets.end());
    while (!pending.empty()) {
      llvm::Value *value = pending.pop_back_val();
      if (mixed.contains(value) && needed.insert(value).second)
        llvm::append_range(pending, llvm::cast<Instruction>(value)->operands());
    }
  }

  Parts partsOf(llvm::Value *value) const {
    if (auto known = parts.find(value); known != parts.end())
      return known->second;
    return isFixed(value) ? Parts{nullptr, value} : Parts{value, nullptr};
  }

  Parts divide(Instruction &op) {
    llvm::IRBuilder<> here(&op);
    if (isScaled(op)) {
      llvm::Use &sum = multiplied(op);
      llvm::Value *factor = op.getOperand(1 - sum.getOperandNo());
      Parts of = partsOf(sum);
      return {combine(op.getOpcode(), of.varying, factor, here),
              combine(op.getOpcode(), of.fixed, factor, before)};
    }
    auto opcode = op.getOpcode() == Instruction::Sub ? Instruction::Sub : Instruction::Add;
    Parts left = partsOf(op.getOperand(0)), right = partsOf(op.getOperand(1));
    return {combine(opcode, left.varying, right.varying, here),
            combine(opcode, left.fixed, right.fixed, before)};
  }

  /// The same of the same once in each block.
  llvm::Value *combine(unsigned opcode, llvm::Value *left, llvm::Value *right,
                       llvm::IRBuilder<> &builder) {
    if (!right)
      return left;
    if (!left && opcode != Instruction::Sub)
      return opcode == Instruction::Add ? right : nullptr;
    llvm::Value *&known = combined[{builder.GetInsertBlock(), opcode, left, right}];
    if (!known) {
      known = left ? builder.CreateBinOp(Instruction::BinaryOps(opcode), left, right)
                   : builder.CreateNeg(right);
      made.push_back(known);
    }
    return known;
  }

  /// Registers that what the loop does not change of the offsets takes: rows of several iterations
  /// that are one have it in common.
  size_t countHeld() const {
    llvm::DenseSet<llvm::Value *> held;
    for (Instruction *op : offsets)
      if (llvm::Value *fixed = parts.lookup(op).fixed;
          !llvm::isa_and_nonnull<llvm::Constant>(fixed))
        held.insert(fixed);
    return held.size();
  }

  void replaceOffsets() {
    llvm::MapVector<llvm::Value *, llvm::SmallVector<Instruction *>> byVarying;
    for (Instruction *op : offsets)
      byVarying[parts.lookup(op).varying].push_back(op);
    for (auto &[varying, alike] : byVarying)
      if (alike.size() > 1)
        addToShared(*llvm::cast<Instruction>(varying), alike);
  }

  /// Strength reduction does not see through a freeze: it would carry and move each sum.
  void addToShared(Instruction &varying, llvm::ArrayRef<Instruction *> alike) {
    llvm::IRBuilder<> behind(varying.getNextNode());
    llvm::Value *shared = behind.CreateFreeze(&varying);
    for (Instruction *op : alike) {
      llvm::IRBuilder<> here(op);
      op->replaceAllUsesWith(here.CreateAdd(shared, parts.lookup(op).fixed));
      made.push_back(op);
    }
  }

  llvm::Loop &loop;
  llvm::IRBuilder<> before;                  ///< in front of the loop
  llvm::SmallVector<Instruction *> linear;   ///< in the program's order
  llvm::DenseSet<llvm::Value *> mixed;       ///< that have both parts
  llvm::DenseSet<llvm::Value *> distributed; ///< of which one is of a product of a sum
  llvm::DenseSet<llvm::Value *> needed;      ///< that offsets are computed of
  llvm::SmallVector<Instruction *> offsets;
  llvm::DenseMap<llvm::Value *, Parts> parts;
  std::map<std::tuple<llvm::BasicBlock *, unsigned, llvm::Value *, llvm::Value *>, llvm::Value *>
      combined;
  llvm::SmallVector<llvm::WeakTrackingVH> made; ///< or replaced
};

} // namespace

void distributeStrides(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getLoopPreheader())
      LoopStrides(*loop).run(loops);
}

} // namespace kiln
