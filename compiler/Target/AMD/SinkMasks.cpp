// A comparison of lanes is one or two scalar registers until something is chosen by it. A source
// compares first, loads, and chooses then what masked lanes have: of hundreds of elements in a
// thread LLVM keeps each comparison from one to the other, spills most to lanes of vector registers
// and reads them back, four instructions each, and searches long for registers. An index that is
// there for the comparison alone goes along.

#include "compiler/Target/AMD/SinkMasks.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace kiln {
namespace {

/// The choice that alone takes the comparison, in its block; or null.
llvm::SelectInst *choiceOf(llvm::ICmpInst &comparison) {
  if (!comparison.hasOneUse())
    return nullptr;
  auto *choice = llvm::dyn_cast<llvm::SelectInst>(*comparison.user_begin());
  bool isHere = choice && choice->getCondition() == &comparison &&
                choice->getParent() == comparison.getParent();
  return isHere ? choice : nullptr;
}

/// `comparison` to in front of `choice`, with what it alone takes of its block.
void sink(llvm::ICmpInst &comparison, llvm::SelectInst &choice) {
  comparison.moveBefore(choice.getIterator());
  llvm::SmallVector<llvm::Instruction *> moved{&comparison};
  while (!moved.empty()) {
    llvm::Instruction *user = moved.pop_back_val();
    for (llvm::Use &use : user->operands()) {
      auto *operand = llvm::dyn_cast<llvm::Instruction>(use.get());
      if (operand && operand->hasOneUse() && operand->getParent() == user->getParent() &&
          llvm::isa<llvm::BinaryOperator, llvm::CastInst>(operand)) {
        operand->moveBefore(user->getIterator());
        moved.push_back(operand);
      }
    }
  }
}

} // namespace

void sinkMasks(llvm::Function &kernel) {
  // Of about a hundred scalar registers, of which masks are pairs on CDNA.
  constexpr size_t most = 40;
  for (llvm::BasicBlock &block : kernel) {
    llvm::SmallVector<llvm::ICmpInst *> comparisons;
    for (llvm::Instruction &op : block)
      if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&op);
          comparison && choiceOf(*comparison))
        comparisons.push_back(comparison);
    if (comparisons.size() <= most)
      continue;
    for (llvm::ICmpInst *comparison : comparisons)
      sink(*comparison, *choiceOf(*comparison));
  }
}

} // namespace kiln
