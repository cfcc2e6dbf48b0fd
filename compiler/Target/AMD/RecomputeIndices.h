// A thread's indices, computed again behind the loops of products.

#ifndef KILN_COMPILER_TARGET_AMD_RECOMPUTEINDICES_H
#define KILN_COMPILER_TARGET_AMD_RECOMPUTEINDICES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Where what stands behind a loop computes an index again.
enum class IndexPlaces {
  /// Once, directly behind the loop.
  BehindLoop,
  /// In each block that uses it, unless the block is in a loop itself.
  EachBlock,
};

/// What stands behind a loop of products computes indices of the thread's number again, rather
/// than have registers hold them all through the loop.
void recomputeIndices(llvm::Function &kernel, IndexPlaces places = IndexPlaces::BehindLoop);

} // namespace kiln

#endif
