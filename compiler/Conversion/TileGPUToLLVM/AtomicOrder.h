// What an atomic operation of a block's tile orders.
//
// It orders for the whole block, as one who reads the program would have it: a release is of what
// all threads did before, an acquire is for what all do after. So there is a barrier before a
// release and behind an acquire, and fences around the operation, which itself is relaxed. Where a
// barrier does not wait for stores (TargetInfo::cumulativeFences), every thread does so in front of
// the one before a release: a wave of CDNA would pass it with stores in flight, which the owner's
// fence neither waits for nor writes back.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_ATOMICORDER_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_ATOMICORDER_H

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "llvm/ADT/ScopeExit.h"

namespace kiln {

struct AtomicOrder {
  /// Of an operation that orders nothing.
  AtomicOrder() = default;
  AtomicOrder(mlir::Operation *op, tile::MemorySemantic semantic, tile::MemoryScope scope);

  /// In front of the operation.
  void releaseBlock(const ScalarBuilder &s, const Lowering &lowering) const;
  /// Behind it.
  void acquireBlock(const ScalarBuilder &s, const Lowering &lowering) const;

  /// What `make` makes, between the operation's fences.
  template <typename Make>
  auto betweenFences(const ScalarBuilder &s, const Lowering &lowering, Make make) const {
    if (releases)
      fence(s, lowering, mlir::LLVM::AtomicOrdering::release);
    // Where it gives nothing, too.
    llvm::scope_exit acquire([&] {
      if (acquires)
        fence(s, lowering, mlir::LLVM::AtomicOrdering::acquire);
    });
    return make();
  }

  /// The same of what gives nothing, without fences of threads that own nothing: `make` makes it
  /// for `owner`s (null: everybody).
  void
  performByOwners(const ScalarBuilder &s, const Lowering &lowering, mlir::Value owner,
                  llvm::function_ref<void(const ScalarBuilder &, mlir::Value owner)> make) const;

  bool releases = false, acquires = false;
  tile::MemoryScope scope = tile::MemoryScope::GPU;

private:
  void fence(const ScalarBuilder &s, const Lowering &lowering,
             mlir::LLVM::AtomicOrdering ordering) const;
};

} // namespace kiln

#endif
