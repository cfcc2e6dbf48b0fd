//===- OperationOrder.cpp - Arithmetic next to where it is used ----------------===//

#include "compiler/Target/NVIDIA/OperationOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace kiln {

static bool isMatrixInstruction(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return false;
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
    return assembly->getAsmString().contains("mma");
  const llvm::Function *callee = call->getCalledFunction();
  return callee && callee->getName().contains("mma");
}

/// Whether its place does not matter, as long as its operands come first.
static bool mayMove(const llvm::Instruction &instruction) {
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator() ||
      instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())
    return false;
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || !call->isConvergent();
}

/// Whether threads meet, or wait for memory, here.
static bool isBoundary(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return llvm::isa<llvm::FenceInst>(instruction);
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
    return llvm::StringRef(assembly->getConstraintString()).contains("~{memory}");
  // Lanes that exchange values touch no memory that others could.
  return call->mayWriteToMemory() && !call->onlyAccessesInaccessibleMemory() &&
         (call->isConvergent() || !call->onlyAccessesArgMemory());
}

namespace {

/// Instructions of a block, none of which leaves it.
class Stretch {
public:
  explicit Stretch(unsigned registers) : registers(registers) {}

  void add(llvm::Instruction &instruction) {
    numbers.try_emplace(&instruction, instructions.size());
    instructions.push_back(&instruction);
  }

  /// Their new order, none if no less lives at a time in that; and forgets them.
  llvm::SmallVector<llvm::Instruction *> order() {
    llvm::SmallVector<llvm::Instruction *> ordered;
    llvm::SmallVector<bool> isDone(instructions.size());
    for (llvm::Instruction *instruction : instructions)
      if (!mayMove(*instruction) || !hasUser(*instruction))
        take(*instruction, ordered, isDone);
    uint64_t most = mostLive(instructions);
    if (most <= 2 * uint64_t(registers) || paysBy * mostLive(ordered) > (paysBy - 1) * most)
      ordered.clear();
    instructions.clear();
    numbers.clear();
    return ordered;
  }

private:
  /// The part of what lives by which it has to become less: one tenth.
  static constexpr uint64_t paysBy = 10;

  /// Halves of registers that hold a value; predicates have their own.
  static uint64_t sizeOf(const llvm::Value &value, const llvm::DataLayout &layout) {
    llvm::Type *type = value.getType();
    if (!type->isSized() || type->isIntOrIntVectorTy(1))
      return 0;
    return llvm::divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 16);
  }

  /// What lives at a time, at most, of what is computed here and of what nobody else reads.
  uint64_t mostLive(llvm::ArrayRef<llvm::Instruction *> list) const {
    if (list.empty())
      return 0;
    const llvm::DataLayout &layout = list.front()->getDataLayout();
    size_t end = list.size();
    llvm::DenseMap<const llvm::Value *, size_t> lastUse;
    for (auto [place, instruction] : llvm::enumerate(list))
      for (const llvm::Value *operand : instruction->operands())
        if (llvm::isa<llvm::Instruction, llvm::Argument>(operand))
          lastUse[operand] = place;
    llvm::SmallVector<int64_t> change(end + 2);
    auto lives = [&](const llvm::Value &value, size_t first, size_t last) {
      auto size = int64_t(sizeOf(value, layout));
      change[first] += size;
      change[last + 1] -= size;
    };
    for (auto [place, instruction] : llvm::enumerate(list))
      if (!instruction->use_empty())
        lives(*instruction, place + 1, isReadElsewhere(*instruction) ? end : lastUse[instruction]);
    for (auto [value, last] : lastUse) {
      auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
      if (!(instruction && numbers.contains(instruction)) && !isReadElsewhere(*value))
        lives(*value, 0, last);
    }
    int64_t live = 0, most = 0;
    for (int64_t each : change)
      most = std::max(most, live += each);
    return uint64_t(most);
  }

  bool isReadElsewhere(const llvm::Value &value) const {
    return llvm::any_of(value.users(), [&](const llvm::User *user) {
      return !numbers.contains(llvm::cast<llvm::Instruction>(user));
    });
  }

  bool hasUser(const llvm::Instruction &instruction) const {
    return llvm::any_of(instruction.users(), [&](const llvm::User *user) {
      return numbers.contains(llvm::cast<llvm::Instruction>(user));
    });
  }

  /// Behind what it is computed from.
  void take(llvm::Instruction &last, llvm::SmallVectorImpl<llvm::Instruction *> &ordered,
            llvm::SmallVectorImpl<bool> &isDone) const {
    // An instruction, and how many of its operands have been seen to.
    llvm::SmallVector<std::pair<llvm::Instruction *, unsigned>> path{{&last, 0}};
    while (!path.empty()) {
      auto &[instruction, operand] = path.back();
      unsigned number = numbers.lookup(instruction);
      if (!isDone[number] && operand < instruction->getNumOperands()) {
        auto *source = llvm::dyn_cast<llvm::Instruction>(instruction->getOperand(operand++));
        if (source && numbers.contains(source) && !isDone[numbers.lookup(source)])
          path.emplace_back(source, 0);
        continue;
      }
      if (!isDone[number]) {
        isDone[number] = true;
        ordered.push_back(instruction);
      }
      path.pop_back();
    }
  }

  const unsigned registers;
  llvm::SmallVector<llvm::Instruction *> instructions;
  llvm::DenseMap<const llvm::Instruction *, unsigned> numbers;
};

} // namespace

/// New orders, and the instructions in front of which they come.
using Orders =
    llvm::SmallVector<std::pair<llvm::SmallVector<llvm::Instruction *>, llvm::Instruction *>>;

static void orderBlock(llvm::BasicBlock &block, unsigned registers, Orders &orders) {
  Stretch stretch(registers);
  for (llvm::Instruction &instruction : block) {
    bool ends = instruction.isTerminator();
    if (!ends && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction))
      stretch.add(instruction);
    if (!ends && !isBoundary(instruction))
      continue;
    auto ordered = stretch.order();
    if (!ordered.empty())
      orders.emplace_back(std::move(ordered), ends ? &instruction : instruction.getNextNode());
  }
}

std::unique_ptr<llvm::Module> computeNearUses(llvm::Module &module, unsigned registers) {
  Orders orders;
  for (llvm::Function &function : module)
    if (llvm::none_of(llvm::instructions(function), isMatrixInstruction))
      for (llvm::BasicBlock &block : function)
        orderBlock(block, registers, orders);
  if (orders.empty())
    return nullptr;
  std::unique_ptr<llvm::Module> asWritten = llvm::CloneModule(module);
  for (auto &[ordered, end] : orders)
    for (llvm::Instruction *instruction : ordered)
      instruction->moveBefore(end->getIterator());
  return asWritten;
}

} // namespace kiln
