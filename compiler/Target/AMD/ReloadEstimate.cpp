//===- ReloadEstimate.cpp - What does not stay in registers -----------------------===//

#include "compiler/Target/AMD/ReloadEstimate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"
#include <set>
#include <vector>

namespace kiln {

/// None for masks, which are scalars, and for places a constant away from others, which accesses
/// have as their offset.
static unsigned registersOf(const llvm::Instruction &value) {
  auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(&value);
  llvm::Type *type = value.getType();
  if (type->isVoidTy() || type->isIntOrIntVectorTy(1) || !type->isSized() ||
      (place && place->hasAllConstantIndices()))
    return 0;
  return unsigned(
      llvm::divideCeil(value.getDataLayout().getTypeSizeInBits(type).getFixedValue(), 32u));
}

namespace {

/// The registers of a thread as it goes through the function.
class ReloadCounter {
public:
  ReloadCounter(const llvm::Function &function, unsigned registers) : most(registers) {
    for (const llvm::Instruction &value : llvm::instructions(function)) {
      numberOf[&value] = instructions.size();
      instructions.push_back(&value);
    }
    usesOf.resize(instructions.size());
    for (unsigned number = instructions.size(); number--;)
      for (const llvm::Value *operand : instructions[number]->operands())
        if (auto found = numberOf.find(operand); found != numberOf.end())
          usesOf[found->second].push_back(number);
  }

  unsigned run() {
    for (unsigned number = 0; number != instructions.size(); ++number) {
      for (const llvm::Value *operand : instructions[number]->operands())
        // What comes by way of a loop's end is defined further down.
        if (auto found = numberOf.find(operand); found != numberOf.end() && found->second < number)
          use(found->second, number);
      hold(number, number);
    }
    return reloads;
  }

private:
  void use(unsigned value, unsigned user) {
    llvm::SmallVector<unsigned> &uses = usesOf[value];
    if (uses.empty() || uses.back() > user)
      return; // An operand that the instruction has twice.
    unsigned registers = registersOf(*instructions[value]);
    if (held.erase({uses.back(), value}))
      taken -= registers;
    else
      reloads += registers;
    hold(value, user);
  }

  /// From the instruction numbered `now` on, until the next one that takes it.
  void hold(unsigned value, unsigned now) {
    llvm::SmallVector<unsigned> &uses = usesOf[value];
    while (!uses.empty() && uses.back() <= now)
      uses.pop_back();
    unsigned registers = registersOf(*instructions[value]);
    if (uses.empty() || !registers)
      return;
    held.insert({uses.back(), value});
    taken += registers;
    while (taken > most) {
      auto last = std::prev(held.end());
      taken -= registersOf(*instructions[last->second]);
      held.erase(last);
    }
  }

  unsigned most, taken = 0, reloads = 0;
  llvm::SmallVector<const llvm::Instruction *, 0> instructions;
  llvm::DenseMap<const llvm::Value *, unsigned> numberOf;
  /// Of each instruction: who takes it, the first one last.
  std::vector<llvm::SmallVector<unsigned>> usesOf;
  /// What is in registers, by who takes it next.
  std::set<std::pair<unsigned, unsigned>> held;
};

} // namespace

unsigned estimateReloads(const llvm::Function &function, unsigned registers) {
  return ReloadCounter(function, registers).run();
}

} // namespace kiln
