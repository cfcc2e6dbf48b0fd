// A thread's indices, computed again behind the loops of products.

#ifndef KILN_COMPILER_TARGET_AMD_RECOMPUTEINDICES_H
#define KILN_COMPILER_TARGET_AMD_RECOMPUTEINDICES_H

#include <utility>
#include <vector>

namespace llvm {
class Function;
class PHINode;
class Use;
class Value;
} // namespace llvm

namespace kiln {

struct TargetInfo;

/// Where what stands behind a loop computes an index again.
enum class IndexPlaces {
  /// Once, directly behind the loop.
  BehindLoop,
  /// In each block that uses it, unless the block is in a loop itself.
  EachBlock,
};

/// What the loop holds of the thread's number.
enum class HeldNumber {
  /// The number.
  Thread,
  /// That of the first thread of its wave of 32 lanes, in a scalar register.
  FirstOfWave,
  /// Nothing: the processor has the number of the wave of 32 lanes (RDNA 4).
  None,
};

/// As little as there can be.
HeldNumber heldNumberOf(const TargetInfo &target);

/// What stands behind a loop of products computes indices of the thread's number again, rather
/// than have registers hold them all through the loop.
void recomputeIndices(llvm::Function &kernel, IndexPlaces places, HeldNumber held);

/// What loops of products take that they compute in each iteration.
struct HeldIndices {
  std::vector<std::pair<llvm::Use *, llvm::Value *>> uses; ///< and what they held for that
  std::vector<llvm::PHINode *> carried;                    ///< to compute it
};

/// Loops of products compute what so many instructions make of the thread's number in each
/// iteration.
HeldIndices recomputeInLoops(llvm::Function &kernel, unsigned mostInstructions, HeldNumber held);

/// As it was before.
void holdAgain(const HeldIndices &held);

} // namespace kiln

#endif
