// A loop's accesses to shared memory are at a thread's place, xor a constant for each row of a
// swizzle, plus one that the instruction has. LLVM computes the xors once, in front of the loop,
// and holds ten or more registers of them all through it, where one and an instruction next to each
// access would do. Where a thread lacks registers, what it has beside the sums of its products goes
// to memory for them.
//
// Between two barriers the thread's place is one that LLVM cannot see through, taken as the first
// access comes: what hangs on it cannot leave the loop, nor move to another barrier's side. LLVM
// takes that for a place that accesses do not pass, as they do not pass the barrier.
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
public:
  BlockAddresses(llvm::BasicBlock &block, const llvm::Loop &loop) : block(block), loop(loop) {}

  void run() {
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
      if (isBarrier(instruction)) {
        copies.clear();
        first = nullptr;
      }
      llvm::Use *use = addressOf(instruction);
      if (!use || !isComputed(*use))
        continue;
      if (!first)
        first = &instruction;
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

  llvm::Value *copyOf(llvm::Value *value, llvm::Instruction &access) {
    if (llvm::isa<llvm::Constant>(value))
      return value;
    auto [known, isNew] = copies.try_emplace(value);
    if (!isNew)
      return known->second;
    llvm::Value *copy = isComputed(value) ? copyOfOperation(value, access) : hidden(value);
    return copies[value] = copy;
  }

  llvm::Value *copyOfOperation(llvm::Value *value, llvm::Instruction &access) {
    llvm::Instruction *copy = llvm::cast<llvm::Instruction>(value)->clone();
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
  llvm::DenseMap<llvm::Value *, llvm::Value *> copies;
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

void sinkAddresses(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::BasicBlock &block : kernel)
    if (llvm::Loop *loop = loops.getLoopFor(&block); loop && readsOperands(block))
      BlockAddresses(block, *loop).run();
}

} // namespace kiln
