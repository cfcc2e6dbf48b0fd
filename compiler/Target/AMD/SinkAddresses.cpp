// A loop's accesses to shared memory are at a thread's place, xor a constant for each row of a
// swizzle, plus one that the instruction has. LLVM computes the xors once, in front of the loop,
// and holds ten or more registers of them all through it, where one and an instruction next to each
// access would do. Where a thread lacks registers, what it has beside the sums of its products goes
// to memory for them.
//
// Between two barriers the first xor is with a constant that LLVM cannot see through, taken as the
// first access comes, and the others count from its result: what hangs on it cannot leave the loop,
// nor move to another barrier's side. LLVM takes that for a place that accesses do not pass, as
// they do not pass the barrier. A constant that is hidden takes a move of the scalar unit, where
// the thread's place, which the next barrier's side needs, too, would be copied by lanes; that is
// done where nothing is xored, or where it is asked for.
//
// Only of blocks whose accesses are those of operands: some hundreds, as of sums of products
// without units, would each take an instruction, and lose the order that LLVM gives them.

#include "compiler/Target/AMD/SinkAddresses.h"
#include "compiler/Target/AMD/DeviceInstructions.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

/// The operand that is an address in shared memory; null: there is none.
llvm::Use *addressOf(llvm::Instruction &instruction) {
  unsigned number = llvm::isa<llvm::StoreInst>(instruction) ? 1 : 0;
  if (!llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction))
    return nullptr;
  llvm::Use &use = instruction.getOperandUse(number);
  return use->getType()->getPointerAddressSpace() == sharedSpace ? &use : nullptr;
}

/// The accesses of a block of the loop.
class BlockAddresses {
  /// A place xor a constant.
  struct Xored {
    llvm::Value *value = nullptr;
    uint64_t constant = 0;
  };

public:
  BlockAddresses(llvm::BasicBlock &block, const llvm::Loop &loop, HiddenOfAddresses hidden)
      : block(block), loop(loop), hides(hidden) {}

  void run() {
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
      if (isBarrier(instruction)) {
        copies.clear();
        xored.clear();
        first = nullptr;
      }
      llvm::Use *use = addressOf(instruction);
      if (!use || !isComputed(*use))
        continue;
      if (!first) {
        first = &instruction;
        if (hides == HiddenOfAddresses::Constants)
          findXored();
      }
      use->set(copyOf(*use, instruction));
    }
  }

private:
  /// Whether the value is computed in front of the loop by what is copied.
  bool isComputed(llvm::Value *value) const {
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    if (!op || loop.contains(op))
      return false;
    if (op->getOpcode() == llvm::Instruction::Xor)
      return llvm::isa<llvm::ConstantInt>(op->getOperand(1));
    return llvm::isa<llvm::GetElementPtrInst>(op) && op->getNumOperands() == 2;
  }

  /// The places that accesses up to the next barrier xor.
  void findXored() {
    for (llvm::Instruction *at = first; at && !isBarrier(*at); at = at->getNextNode())
      if (llvm::Use *use = addressOf(*at))
        for (llvm::Value *value = *use; isComputed(value);) {
          auto *op = llvm::cast<llvm::Instruction>(value);
          bool isXor = op->getOpcode() == llvm::Instruction::Xor;
          value = op->getOperand(isXor || isComputed(op->getOperand(0)) ? 0 : 1);
          if (isXor && !isComputed(value) && value->getType()->isIntegerTy(32))
            xored.try_emplace(value);
        }
  }

  /// Of a place xor a constant, from the first such value between two barriers.
  llvm::Value *copyOfXor(llvm::Instruction &value, Xored &known, llvm::Instruction &access) {
    auto *constant = llvm::cast<llvm::ConstantInt>(value.getOperand(1));
    if (!known.value) {
      llvm::IRBuilder<> builder(first);
      llvm::Value *hidden = opaque(builder, constant, "s", /*hasSideEffects=*/true);
      known = {builder.CreateXor(value.getOperand(0), hidden), constant->getZExtValue()};
      return known.value;
    }
    llvm::IRBuilder<> builder(&access);
    return builder.CreateXor(known.value, known.constant ^ constant->getZExtValue());
  }

  llvm::Value *copyOf(llvm::Value *value, llvm::Instruction &access) {
    if (llvm::isa<llvm::Constant>(value) || xored.contains(value))
      return value;
    auto [known, isNew] = copies.try_emplace(value);
    if (!isNew)
      return known->second;
    llvm::Value *copy = isComputed(value) ? copyOfOperation(value, access) : hidden(value);
    return copies[value] = copy;
  }

  llvm::Value *copyOfOperation(llvm::Value *value, llvm::Instruction &access) {
    auto *op = llvm::cast<llvm::Instruction>(value);
    if (auto known = xored.find(op->getOperand(0)); known != xored.end())
      return copyOfXor(*op, known->second, access);
    llvm::Instruction *copy = op->clone();
    for (llvm::Use &operand : copy->operands())
      operand.set(copyOf(operand, access));
    copy->insertBefore(access.getIterator());
    return copy;
  }

  /// The thread's number, in front of the barrier's first access.
  llvm::Value *hidden(llvm::Value *value) {
    if (!value->getType()->isIntegerTy(32))
      return value;
    llvm::IRBuilder<> builder(first);
    return opaque(builder, value, "v", /*hasSideEffects=*/true);
  }

  llvm::BasicBlock &block;
  const llvm::Loop &loop;
  HiddenOfAddresses hides;
  llvm::DenseMap<llvm::Value *, llvm::Value *> copies;
  /// By the places that are xored between two barriers.
  llvm::DenseMap<llvm::Value *, Xored> xored;
  llvm::Instruction *first = nullptr; ///< access since the last barrier
};

} // namespace

/// Whether the block's accesses to shared memory are mostly those of units' operands.
static bool readsOperands(llvm::BasicBlock &block) {
  constexpr unsigned mostPerProduct = 4;
  unsigned accesses = 0, products = 0;
  for (llvm::Instruction &instruction : block) {
    accesses += addressOf(instruction) != nullptr;
    products += isWmma(instruction);
  }
  return accesses <= mostPerProduct * products;
}

void sinkAddresses(llvm::Function &kernel, HiddenOfAddresses hidden) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::BasicBlock &block : kernel)
    if (llvm::Loop *loop = loops.getLoopFor(&block); loop && readsOperands(block))
      BlockAddresses(block, *loop, hidden).run();
}

} // namespace kiln
