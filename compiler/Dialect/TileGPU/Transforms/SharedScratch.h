// Which operations need scratch in shared memory, and how much.
//
// The contract with the lowering to LLVM. An operation with scratch writes it, waits for all
// threads of the block at a barrier of its own, and reads it; the barriers between operations are
// the barrier pass's. Its address is the kernel's shared memory plus the operation's
// tilegpu.offset.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SHAREDSCRATCH_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SHAREDSCRATCH_H

#include "compiler/Dialect/TileGPU/TileGPU.h"

namespace kiln {

/// Bytes of scratch that `op` needs on `target`, 0 for none: layout conversions that cannot stay in
/// a warp, reductions and scans along an axis that several warps share, gathers, atomics whose
/// result other threads use than the one that performs them, volatile loads that one thread makes
/// for others, clocks that one thread reads.
int64_t scratchBytes(mlir::Operation *op, const TargetInfo &target);

/// Whether one thread makes a load for all that hold the element, and gives them what it read: the
/// element may change between two reads (volatile), and threads that saw it differently would go
/// different ways.
bool isReadForAll(tile::LoadOp load);

/// Whether an operation's lowering has a barrier before or behind its accesses to global memory.
bool startsWithBarrier(mlir::Operation *op);
bool endsWithBarrier(mlir::Operation *op);

} // namespace kiln

#endif
