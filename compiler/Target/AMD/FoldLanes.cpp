// A move between lanes names a lane by a register and a constant. Rows of a tile that each lane
// takes from others are at a constant distance from one another, but LLVM computes each number
// once, in front of a loop, where its selection of instructions for the loop does not see that it
// is a sum, and holds a register for each or, of those that a thread lacks, computes them over and
// over.
//
// So the sums stand next to the moves, of a number that LLVM cannot see through: else it would
// compute them in front of the loop again. That number is said to hang on what is moved, which the
// loop has loaded: it is no place that other instructions do not pass.

#include "compiler/Target/AMD/FoldLanes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

#include <tuple>

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

/// Moves of one value in one block, by numbers from one base.
using Moved = std::tuple<llvm::BasicBlock *, llvm::Value *, llvm::Value *>;
using Moves = llvm::SmallVector<llvm::IntrinsicInst *>;

void fold(const Moves &moves, llvm::Value *value, llvm::Value *base) {
  llvm::IRBuilder<> b(moves.front());
  llvm::Type *type = base->getType();
  auto *opaque = llvm::InlineAsm::get(
      llvm::FunctionType::get(type, {type, value->getType()}, false), "", "=v,0,v",
      /*hasSideEffects=*/false);
  llvm::Value *hidden = b.CreateCall(opaque, {base, value});
  for (llvm::IntrinsicInst *move : moves) {
    llvm::Instruction *sum = LaneSum(move->getArgOperand(0)).sum->clone();
    sum->replaceUsesOfWith(base, hidden);
    sum->insertBefore(move->getIterator());
    move->setArgOperand(0, sum);
  }
}

} // namespace

void foldLanes(llvm::Function &kernel) {
  llvm::MapVector<Moved, Moves> found;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *move = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!move || move->getIntrinsicID() != llvm::Intrinsic::amdgcn_ds_bpermute)
      continue;
    LaneSum lane(move->getArgOperand(0));
    llvm::BasicBlock *block = move->getParent();
    if (lane.sum && lane.sum->getParent() != block)
      found[{block, move->getArgOperand(1), lane.base}].push_back(move);
  }
  // The hidden number takes a register and a copy.
  constexpr size_t few = 2;
  for (auto &[moved, moves] : found)
    if (moves.size() > few)
      fold(moves, std::get<1>(moved), std::get<2>(moved));
}

} // namespace kiln
