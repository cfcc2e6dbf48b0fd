// What stands behind a loop, and what values in front of it are computed of.

#ifndef KILN_COMPILER_TARGET_AMD_BEHINDLOOPS_H
#define KILN_COMPILER_TARGET_AMD_BEHINDLOOPS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace kiln {

/// What a value is computed of: numbers that all threads of a wave have alike, the thread's number
/// by arithmetic that costs next to nothing, or more.
enum class Origin : uint8_t { Scalar, Thread, Other };

class Origins {
public:
  Origin of(const llvm::Value *value);

  /// `op` is the thread's number, too.
  void addNumber(const llvm::Instruction &op);
  bool isNumber(const llvm::Instruction &op) const;

private:
  Origin find(const llvm::Instruction &op);

  llvm::DenseMap<const llvm::Instruction *, Origin> known;
  llvm::DenseSet<const llvm::Instruction *> numbers;
};

/// The blocks that come behind a loop, and those of another branch that stands behind it.
class BlocksBehind {
public:
  BlocksBehind(const llvm::Loop &loop, const llvm::DominatorTree &tree);

  llvm::ArrayRef<llvm::BasicBlock *> blocks() const { return behind.getArrayRef(); }
  bool contains(llvm::BasicBlock *block) const { return behind.contains(block); }
  /// The first block behind the loop that all paths to `block` go through.
  llvm::BasicBlock *firstBehind(llvm::BasicBlock *block) const;
  /// `op` again in `place`, of what `copyOf` makes of its operands.
  llvm::Instruction *copy(llvm::Instruction &op, llvm::BasicBlock &place,
                          llvm::function_ref<llvm::Value *(llvm::Value *)> copyOf);
  /// Where the block's own instructions begin, and what is added to it ends.
  llvm::BasicBlock::iterator end(llvm::BasicBlock &place);

private:
  const llvm::DominatorTree &tree;
  llvm::SmallSetVector<llvm::BasicBlock *, 16> behind;
  llvm::DenseMap<llvm::BasicBlock *, llvm::Instruction *> begins;
};

/// Calls `visit` with each innermost loop of which some instruction is wanted.
void forEachInnermostLoop(const llvm::LoopInfo &loops,
                          llvm::function_ref<bool(const llvm::Instruction &)> isWanted,
                          llvm::function_ref<void(llvm::Loop &)> visit);

} // namespace kiln

#endif
