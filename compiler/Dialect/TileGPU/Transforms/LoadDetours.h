// Loads of values that dots' operands are computed from, taken through buffers.
//
// Weights of 4 or 8 bits become operands in registers, so that their loads feed no buffer. A buffer
// in between, that each thread fills and reads for itself, makes them loads like others: they can
// become copies that run iterations ahead. Where a dot takes the value from a buffer as it is, and
// others use it too, they read that buffer. So do loops without dots, where nothing else hides
// what they wait for memory.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADDETOURS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADDETOURS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

struct LoadDetour {
  tile::LoadOp load;
  tilegpu::AllocOp buffer;
  tilegpu::SharedStoreOp store;
  tilegpu::SharedLoadOp read;
  mlir::Operation *storedBefore = nullptr; ///< what the store for a dot stood in front of

  /// The least that a thread is to copy at a time, in bits. Rows of scales or maxima have one axis,
  /// and few elements; a tile in pieces of 4 bytes takes more instructions than the wait is worth.
  unsigned leastBits() { return buffer.getType().getShape().size() == 1 ? 32 : 64; }
  /// Leaves the loop as it was.
  void takeBack();
};

/// Whether a wait for the load would be worth a buffer of its own, or a second version of the loop.
bool isLargeTile(tile::LoadOp load);

/// Stores, and loads again, what the loop's body loads for operands of its dots and computes with,
/// where it may; of a loop that waits by itself (WaitingLoops.h), every large tile.
llvm::SmallVector<LoadDetour> detourLoads(mlir::scf::ForOp loop, const TargetInfo &target,
                                          llvm::function_ref<bool(tile::LoadOp)> may);

} // namespace kiln

#endif
