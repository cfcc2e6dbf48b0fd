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
/// result other threads use than the one that performs them, clocks that one thread reads.
int64_t scratchBytes(mlir::Operation *op, const TargetInfo &target);

} // namespace kiln

#endif
