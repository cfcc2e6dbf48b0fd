// Dots on units that read shared memory by themselves.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_WARPGROUPDOT_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_WARPGROUPDOT_H

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include <map>

namespace kiln {

/// (batch …, row, column) → register, as lane 0 of warp 0 sees it.
using Places = std::map<llvm::SmallVector<int64_t, 4>, unsigned>;

/// Places of the registers whose number is a multiple of `stride`.
Places placesOf(const LinearLayout &layout, unsigned stride);

/// The registers of the dot's result, in flight if it is asynchronous. `a` and `b` are the address
/// of a buffer each, or `a` registers.
llvm::SmallVector<mlir::Value> multiplyInWarpGroups(const ScalarBuilder &s,
                                                    const Lowering &lowering, tilegpu::DotOp op,
                                                    mlir::ValueRange a, mlir::ValueRange b,
                                                    mlir::ValueRange c);

/// The registers of accumulators, once at most `pending` groups of products are in flight.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
waitForProducts(const ScalarBuilder &s, llvm::ArrayRef<mlir::ValueRange> accumulators,
                unsigned pending);

} // namespace kiln

#endif
