// Where a thread's elements are: a linear layout evaluated at run time.
//
// A layout maps the bits of (register, lane, warp) to bits of a coordinate, and the map is linear
// over xor. So a coordinate is a part that depends on the thread alone, computed once, xor a
// constant per register. Where the two parts share no bits xor is addition, which is what address
// arithmetic folds into the offset field of an access.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_THREADINDEX_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_THREADINDEX_H

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "compiler/Layout/LinearLayout.h"
#include "compiler/Layout/RegisterRenaming.h"

namespace kiln {

/// The columns of a linear map from thread-number bits: lane bits first, then warp bits.
BinaryColumns threadColumns(const LinearLayout &layout, const TargetInfo &target);

/// columns * vector at run time: the xor of the columns that `bits` (an i32) selects.
mlir::Value applyColumns(const ScalarBuilder &s, llvm::ArrayRef<BinaryVector> columns,
                         mlir::Value bits);

/// thread ^ constant, where `possible` holds every bit that `thread` can have.
mlir::Value combineParts(const ScalarBuilder &s, mlir::Value thread, uint64_t possible,
                         uint64_t constant);

/// For every register the flat output (i32) of a layout, such as an offset into shared memory.
llvm::SmallVector<mlir::Value> flatOutputs(const ScalarBuilder &s, const LinearLayout &layout,
                                           mlir::Value threadId, const TargetInfo &target);

/// For every register its coordinate along one axis of the tensor (i32).
llvm::SmallVector<mlir::Value> coordinatesAlong(const ScalarBuilder &s, const LinearLayout &layout,
                                                unsigned axis, mlir::Value threadId,
                                                const TargetInfo &target);

/// i1: this thread is the one of its duplicates that stores. Null when there are none.
mlir::Value isOwner(const ScalarBuilder &s, const LinearLayout &layout, mlir::Value threadId,
                    const TargetInfo &target);

} // namespace kiln

#endif
