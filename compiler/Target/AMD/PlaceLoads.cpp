// A loop's loads from global memory should be in flight together, and early. LLVM thinks of
// registers: where elements that are loaded one by one, or change places, are put together, it
// loads some, waits for them, works on them, and loads the next into the same registers. And what
// only a later block of the loop needs, as what is loaded an iteration ahead, it loads there,
// right in front of where it is waited for.
//
// So a barrier for the scheduler stands behind loads of which work takes something before the next
// product. Reads of shared memory, products and scalar instructions may pass it, all else may not:
// behind a barrier for everything LLVM was seen to read products' operands one after the other, as
// the part of the block that it then orders by itself needs few registers. And behind the loads for
// later blocks, where their own ends, stands an empty instruction that may write to memory: no load
// is moved past it.

#include "compiler/Target/AMD/PlaceLoads.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

/// Another name for elements of a value.
bool isView(const llvm::Instruction &op) {
  return llvm::isa<llvm::BitCastInst, llvm::ExtractElementInst>(op);
}

/// Loads of a block that wait for memory together, and where the next of its instructions takes
/// something of them.
class LoadGroups {
public:
  explicit LoadGroups(llvm::BasicBlock &block) {
    for (llvm::Instruction &op : block)
      add(op);
  }

  /// The last load of each group.
  llvm::ArrayRef<llvm::Instruction *> ends() const { return found; }

private:
  void add(llvm::Instruction &op) {
    bool isTaken = llvm::any_of(
        op.operands(), [&](const llvm::Use &operand) { return loaded.contains(operand.get()); });
    if (isTaken && isView(op)) {
      loaded.insert(&op);
      return;
    }
    if (isTaken && !llvm::isa<llvm::PHINode>(op))
      close();
    if (isGlobalRead(op)) {
      loaded.insert(&op);
      last = &op;
      ++loads;
      passesProduct = false;
    }
    passesProduct |= isWmma(op);
  }

  void close() {
    // A few wait once in any case.
    constexpr unsigned several = 4;
    if (loads >= several && !passesProduct)
      found.push_back(last);
    loaded.clear();
    loads = 0;
  }

  llvm::SmallVector<llvm::Instruction *> found;
  llvm::DenseSet<const llvm::Value *> loaded; ///< by the group, and views of it
  llvm::Instruction *last = nullptr;
  unsigned loads = 0;
  bool passesProduct = false; ///< since the last load
};

/// Whether it is loaded for other blocks of the loop alone.
bool isForLater(llvm::Instruction &load, const llvm::Loop &loop) {
  bool isUsedLater = false;
  llvm::SmallVector<llvm::Instruction *> pending{&load};
  while (!pending.empty())
    for (llvm::User *user : pending.pop_back_val()->users()) {
      auto *op = llvm::cast<llvm::Instruction>(user);
      bool isHere = op->getParent() == load.getParent() && !llvm::isa<llvm::PHINode>(op);
      if (isHere && !isView(*op))
        return false;
      if (isHere)
        pending.push_back(op);
      isUsedLater |= !isHere && !llvm::isa<llvm::PHINode>(op) && loop.contains(op);
    }
  return isUsedLater;
}

/// Lanes work behind the load, and begin no other one there.
void keepWorkBehind(llvm::Instruction &load) {
  // LLVM, "User Guide for AMDGPU Backend", llvm.amdgcn.sched.barrier: what may pass.
  constexpr uint32_t scalar = 0x4, matrix = 0x8, sharedRead = 0x100;
  llvm::IRBuilder<> b(load.getNextNode());
  b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier,
                    {b.getInt32(scalar | matrix | sharedRead)});
}

void groupLoads(llvm::BasicBlock &block) {
  for (llvm::Instruction *last : LoadGroups(block).ends())
    keepWorkBehind(*last);
}

void keepLoads(llvm::BasicBlock &block, const llvm::Loop &loop) {
  if (llvm::none_of(
          block, [&](llvm::Instruction &op) { return isGlobalRead(op) && isForLater(op, loop); }))
    return;
  llvm::IRBuilder<> b(block.getTerminator());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), false);
  b.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", /*hasSideEffects=*/true));
}

/// Loads of a block without effects in between, by how many others they wait for in a row.
class IndependentLoads {
public:
  IndependentLoads(llvm::BasicBlock &block, unsigned most) : most(most) {
    for (llvm::Instruction &op : block) {
      places.try_emplace(&op, places.size());
      add(op);
    }
    close();
  }

  /// Has the loads of each group behind its first.
  void gather() {
    for (llvm::ArrayRef<llvm::Instruction *> group : groups) {
      llvm::Instruction *first = group.front(), *last = first;
      for (llvm::Instruction *load : group.drop_front())
        last = moveBehind(last, *load, places.lookup(first));
      keepWorkBehind(*last);
    }
  }

private:
  void add(llvm::Instruction &op) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    if (call && call->isAssumeLikeIntrinsic())
      return;
    if (op.mayHaveSideEffects())
      return close();
    unsigned depth = 0;
    for (const llvm::Value *operand : op.operands())
      depth = std::max(depth, depths.lookup(operand));
    if (isGlobalRead(op)) {
      if (loads.size() <= depth)
        loads.resize(depth + 1);
      loads[depth].push_back(&op);
      constexpr unsigned wordBits = 32;
      uint64_t bits = op.getDataLayout().getTypeSizeInBits(op.getType());
      words += llvm::divideCeil(bits, wordBits);
      ++depth;
    }
    if (depth)
      depths[&op] = depth;
  }

  void close() {
    if (words <= most)
      for (llvm::SmallVector<llvm::Instruction *> &group : loads)
        if (group.size() > 1)
          groups.push_back(std::move(group));
    loads.clear();
    depths.clear();
    words = 0;
  }

  /// Moves the load, and what it takes of instructions that stood behind `place`, behind `last`;
  /// what has been moved already is in front of that. Returns the load.
  llvm::Instruction *moveBehind(llvm::Instruction *last, llvm::Instruction &load, size_t place) {
    llvm::SetVector<llvm::Instruction *> taken;
    taken.insert(&load);
    for (size_t i = 0; i < taken.size(); ++i)
      for (llvm::Value *operand : taken[i]->operands()) {
        auto *op = llvm::dyn_cast<llvm::Instruction>(operand);
        if (op && op->getParent() == load.getParent() && places.lookup(op) > place &&
            !moved.contains(op))
          taken.insert(op);
      }
    llvm::SmallVector<llvm::Instruction *> inOrder(taken.begin(), taken.end());
    llvm::sort(inOrder, [&](llvm::Instruction *a, llvm::Instruction *b) {
      return places.lookup(a) < places.lookup(b);
    });
    for (llvm::Instruction *op : inOrder) {
      op->moveAfter(last);
      moved.insert(op);
      last = op;
    }
    return last;
  }

  unsigned most;                                                           ///< words
  llvm::SmallVector<llvm::SmallVector<llvm::Instruction *>> groups, loads; ///< `loads`: by depth
  llvm::DenseMap<const llvm::Value *, unsigned> depths;     ///< loads in a row that it waits for
  unsigned words = 0;                                       ///< of `loads`
  llvm::DenseMap<const llvm::Instruction *, size_t> places; ///< in the block, as it was
  llvm::DenseSet<const llvm::Instruction *> moved;
};

} // namespace

void gatherLoads(llvm::Function &kernel, unsigned most) {
  // LLVM's scheduler has an edge from each barrier to each instruction.
  constexpr size_t longest = 4096;
  for (llvm::BasicBlock &block : kernel)
    if (block.size() <= longest)
      IndependentLoads(block, most).gather();
}

void placeLoads(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  for (llvm::BasicBlock &block : kernel) {
    llvm::Loop *loop = loops.getLoopFor(&block);
    if (!loop || !loop->isInnermost() || llvm::none_of(loop->blocks(), [](llvm::BasicBlock *each) {
          return llvm::any_of(*each, isWmma);
        }))
      continue;
    groupLoads(block);
    keepLoads(block, *loop);
  }
}

} // namespace kiln
