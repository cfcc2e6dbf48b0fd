// A move between lanes names a lane by a register and a constant. Rows of a tile that each lane
// takes from others are at a constant distance from one another, but LLVM computes each number
// once, in front of a loop, where its selection of instructions for the loop does not see that it
// is a sum, and holds a register for each or, of those that a thread lacks, computes them over and
// over.
//
// So the sums stand next to the moves, of a number that LLVM cannot see through: else it would
// compute them in front of the loop again. That number is said to hang on what is moved, which the
// loop has loaded, and so is no place that other instructions do not pass.

#include "compiler/Target/AMD/FoldLanes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

#include <utility>

namespace kiln {
namespace {

/// The number of a lane, as a sum with what the instruction has bits for. Null: it is none.
struct LaneSum {
  explicit LaneSum(llvm::Value *lane) {
    using namespace llvm::PatternMatch;
    constexpr uint64_t offsets = 1 << 16;
    if (match(lane, m_AddLike(m_Value(base), m_ConstantInt(offset))) &&
        offset->getValue().ult(offsets))
      sum = llvm::dyn_cast<llvm::Instruction>(lane);
  }

  llvm::Instruction *sum = nullptr;
  llvm::Value *base = nullptr;
  llvm::ConstantInt *offset = nullptr;
};

/// A block, and the number from which its moves count.
using Place = std::pair<llvm::BasicBlock *, llvm::Value *>;
using Moves = llvm::SmallVector<llvm::IntrinsicInst *>;

/// Whether the moves are by many more numbers than they are of values: each value costs a register
/// and a copy.
bool isWorthCopies(const Moves &moves) {
  llvm::SmallPtrSet<llvm::Value *, 16> sums, values;
  for (llvm::IntrinsicInst *move : moves) {
    sums.insert(move->getArgOperand(0));
    values.insert(move->getArgOperand(1));
  }
  return sums.size() > 2 * values.size();
}

void fold(const Moves &moves, llvm::Value *base) {
  llvm::SmallDenseMap<llvm::Value *, llvm::Value *> hidden;
  llvm::Type *type = base->getType();
  auto *opaque =
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {type, type}, false), "", "=v,0,v",
                           /*hasSideEffects=*/false);
  for (llvm::IntrinsicInst *move : moves) {
    llvm::Value *&number = hidden[move->getArgOperand(1)];
    if (!number)
      number = llvm::IRBuilder<>(move).CreateCall(opaque, {base, move->getArgOperand(1)});
    llvm::Instruction *sum = LaneSum(move->getArgOperand(0)).sum->clone();
    sum->replaceUsesOfWith(base, number);
    sum->insertBefore(move->getIterator());
    move->setArgOperand(0, sum);
  }
}

} // namespace

void foldLanes(llvm::Function &kernel) {
  llvm::MapVector<Place, Moves> found;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *move = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!move || move->getIntrinsicID() != llvm::Intrinsic::amdgcn_ds_bpermute)
      continue;
    LaneSum lane(move->getArgOperand(0));
    llvm::BasicBlock *block = move->getParent();
    if (lane.sum && lane.sum->getParent() != block)
      found[{block, lane.base}].push_back(move);
  }
  for (auto &[place, moves] : found)
    if (isWorthCopies(moves))
      fold(moves, place.second);
}

} // namespace kiln
