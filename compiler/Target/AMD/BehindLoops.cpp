#include "compiler/Target/AMD/BehindLoops.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {

static bool isShort(const llvm::Type *type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() <= 32;
}

Origin Origins::of(const llvm::Value *value) {
  auto *op = llvm::dyn_cast<llvm::Instruction>(value);
  if (!op)
    return llvm::isa<llvm::Constant, llvm::Argument>(value) ? Origin::Scalar : Origin::Other;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  Origin origin = find(*op);
  known[op] = origin;
  return origin;
}

void Origins::addNumber(const llvm::Instruction &op) {
  numbers.insert(&op);
  known[&op] = Origin::Thread;
}
bool Origins::isNumber(const llvm::Instruction &op) const {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return numbers.contains(&op) ||
         (call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workitem_id_x);
}

Origin Origins::find(const llvm::Instruction &op) {
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

BlocksBehind::BlocksBehind(const llvm::Loop &loop, const llvm::DominatorTree &tree) : tree(tree) {
  llvm::SmallVector<llvm::BasicBlock *> pending;
  loop.getExitBlocks(pending);
  while (!pending.empty()) {
    llvm::BasicBlock *block = pending.pop_back_val();
    if (!loop.contains(block) && !tree.dominates(block, loop.getHeader()) && behind.insert(block))
      llvm::append_range(pending, llvm::successors(block));
  }
  // LLVM makes structured code of a branch between loops: what only the other side of it needs is
  // held all through this one, as if it stood behind it.
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> leading{loop.getHeader()};
  pending.push_back(loop.getHeader());
  while (!pending.empty())
    for (llvm::BasicBlock *before : llvm::predecessors(pending.pop_back_val()))
      if (leading.insert(before).second)
        pending.push_back(before);
  bool isLater = false;
  for (llvm::BasicBlock &block : *loop.getHeader()->getParent()) {
    isLater |= &block == loop.getHeader();
    if (isLater && !leading.contains(&block) && tree.isReachableFromEntry(&block))
      behind.insert(&block);
  }
}

llvm::BasicBlock *BlocksBehind::firstBehind(llvm::BasicBlock *block) const {
  while (true) {
    llvm::BasicBlock *before = tree.getNode(block)->getIDom()->getBlock();
    if (!behind.contains(before))
      return block;
    block = before;
  }
}

llvm::BasicBlock::iterator BlocksBehind::end(llvm::BasicBlock &place) {
  auto [known, isNew] = begins.try_emplace(&place, nullptr);
  if (isNew)
    known->second = &*place.getFirstInsertionPt();
  return known->second->getIterator();
}

llvm::Instruction *BlocksBehind::copy(llvm::Instruction &op, llvm::BasicBlock &place,
                                      llvm::function_ref<llvm::Value *(llvm::Value *)> copyOf) {
  llvm::Instruction *copy = op.clone();
  for (llvm::Use &operand : copy->operands())
    operand.set(copyOf(operand));
  copy->insertBefore(end(place));
  return copy;
}

void forEachInnermostLoop(const llvm::LoopInfo &loops,
                          llvm::function_ref<bool(const llvm::Instruction &)> isWanted,
                          llvm::function_ref<void(llvm::Loop &)> visit) {
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && llvm::any_of(loop->blocks(), [&](llvm::BasicBlock *block) {
          return llvm::any_of(*block, isWanted);
        }))
      visit(*loop);
}

} // namespace kiln
