// Slots that are filled again as soon as they are read, in the iteration that reads them. With S
// slots, and loads of two parts:
//
//     wait until the first part's copies of iteration i have landed, barrier
//     read it from slot i, multiply
//     wait for the second part's copies, barrier: everyone has read the first part
//     start the first part's copies of iteration i + S, into slot i
//     read the second part, multiply
//     barrier: everyone has read it
//     start the second part's copies of iteration i + S, into slot i

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_REFILLS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_REFILLS_H

#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Target/TargetInfo.h"

namespace kiln {

/// Loads whose slots are filled behind one barrier, by one group of copies.
struct Refill {
  llvm::SmallVector<unsigned> loads; ///< by their numbers
  mlir::Operation *place = nullptr;  ///< behind it all of them have been read ...
  bool isBefore = false;             ///< ... or before it: it exchanges, and may want the barrier
  mlir::Operation *barrier = nullptr;
};

/// Where the loop has read what is staged, in its order. Parts of a fourth and more that have been
/// read when threads are about to exchange something are refilled there, which takes no barrier
/// that would not be there; the rest behind the last reader. Parts have a wait each, of which those
/// of `inOneGroup`, as of the copy engine, know nothing.
llvm::SmallVector<Refill> findRefills(mlir::scf::ForOp loop, const StagedLoads &staged,
                                      const TargetInfo &target, bool inOneGroup);

/// Puts the barriers where they belong.
void addBarriers(mlir::RewriterBase &rewriter, llvm::MutableArrayRef<Refill> refills);
/// Puts waits for what is read from there on in front of them and of `arrival`, the barrier behind
/// which the first slot is read. Copies are `distance` iterations ahead.
void waitForRefills(mlir::RewriterBase &rewriter, llvm::ArrayRef<Refill> refills,
                    const StagedLoads &staged, mlir::Operation *arrival, unsigned distance,
                    mlir::ValueRange rings);

/// Of `addresses`, in the order of the block, what `copies` need, with themselves.
llvm::SmallPtrSet<mlir::Operation *, 16>
neededBy(llvm::ArrayRef<mlir::Operation *> copies,
         const llvm::SmallSetVector<mlir::Operation *, 16> &addresses);

} // namespace kiln

#endif
