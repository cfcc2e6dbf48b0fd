// What tile operations do to global memory, and when two of them need a barrier between.
//
// Kiln promises that a program instance's accesses to global memory happen in program order, tile
// operation by tile operation. A thread keeps its own order. So an order has to be made only where
// an element that one thread touched is touched by another, and one of the two writes: where an
// element moves to another thread between two accesses (other indices, another layout), or where
// several threads hold it (all of them load, one of them stores).

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_GLOBALACCESSES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_GLOBALACCESSES_H

#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>
#include <set>

namespace kiln {

struct GlobalAccess {
  mlir::Operation *op;
  /// Null: any memory. A scalar pointer with `isWhole` stands for all of its array.
  mlir::Value pointers;
  bool reads, writes;
  /// Of the threads that hold an element only one, its owner, makes the access.
  bool byOwners;
  /// Set for atomics that give the same whichever comes first.
  std::optional<tile::AtomicKind> commutes;
  bool isWhole = false;
  /// Of the pointers that are followed; null: all.
  mlir::Value mask = {};

  MaskedPointers elements() const { return {pointers, mask}; }
  /// Whether it is known which elements are touched.
  bool hasElements() const { return pointers && !isWhole; }
};

/// The global memory that an operation touches, if any.
std::optional<GlobalAccess> globalAccessOf(mlir::Operation *op);

/// Whether other programs that see what it does see all that was written before.
bool tellsOthers(mlir::Operation *op);

/// Whether there may be behind it what other threads or programs have written.
bool showsOthersWrites(mlir::Operation *op);

/// When a barrier is needed: never, if the arguments of one of `pairs` are equal, or always. Unless
/// it is `ofWrites`, what it orders is reads before writes. One `ofShared` memory is always needed,
/// but may order that alone (MemoryFeatures::partialBarriers, both).
struct BarrierNeed {
  bool always = false, ofWrites = false, ofShared = false;
  std::set<ArgumentPair> pairs;

  bool isNever() const { return !always && !ofShared && pairs.empty(); }
  void add(const BarrierNeed &other) {
    always |= other.always;
    ofWrites |= other.ofWrites;
    ofShared |= other.ofShared;
    pairs.insert(other.pairs.begin(), other.pairs.end());
  }
};

class GlobalOrder {
public:
  explicit GlobalOrder(const TargetInfo &target) : target(target) {}

  /// What stands between an earlier and a later access, which is in a later iteration of `passed`.
  BarrierNeed between(const GlobalAccess &earlier, const GlobalAccess &later,
                      llvm::ArrayRef<mlir::Operation *> passed);
  /// Whether one touches an element that the other writes, be it by the same thread.
  bool mayMeet(const GlobalAccess &earlier, const GlobalAccess &later,
               llvm::ArrayRef<mlir::Operation *> passed);
  /// Whether threads access memory themselves, before this access of the copy engine, that it may
  /// touch: that has to be fenced.
  bool threadsMayMeet(mlir::Operation *byEngine);
  /// What stands between a read and what may come before it in the kernel and writes, by the arrays
  /// alone.
  BarrierNeed behindWrites(mlir::Operation *read);
  /// What keeps a read of a later iteration from running ahead of what the loop writes.
  BarrierNeed againstRunningAhead(mlir::Operation *read, mlir::scf::ForOp loop);
  /// What stands between by the arrays alone, as if all their elements met.
  BarrierNeed betweenArrays(const GlobalAccess &earlier, const GlobalAccess &later);
  /// Whether elements are in several threads: of few of them, and scalars.
  bool hasSeveralThreads(mlir::Value elements) const;

private:
  bool keepsThreads(const GlobalAccess &earlier, const GlobalAccess &later) const;

  const TargetInfo &target;
  AddressMeetings meetings;
};

} // namespace kiln

#endif
