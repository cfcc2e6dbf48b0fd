// Registers of a thread to and from shared memory, and to and from other lanes.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_SHAREDTRANSFER_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_SHAREDTRANSFER_H

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Layout/StagedOperand.h"

namespace kiln {

/// A piece of shared memory as an array of elements of one type.
struct SharedArray {
  mlir::Value base; ///< !llvm.ptr<3>
  mlir::Type element;
  /// Unused elements: `padAmount` after every `padInterval` (0: none).
  unsigned padInterval = 0, padAmount = 0;
};

/// A buffer's, at `base`.
SharedArray arrayOf(const Lowering &lowering, tilegpu::BufferType type, mlir::Value base);

/// Bytes of one element in shared memory; booleans take one.
unsigned sharedBytes(mlir::Type element);

/// The accesses of threads whose places are given by a map (register, lane, warp → offset).
SharedAccess accessByOffsets(const LinearLayout &offsets, mlir::Type element);

/// Stores registers; of duplicates only one is written.
void storeShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                 const SharedAccess &access, mlir::ValueRange registers);

/// The registers of a thread.
llvm::SmallVector<mlir::Value> loadShared(const ScalarBuilder &s, const Lowering &lowering,
                                          const SharedArray &array, const SharedAccess &access);
/// Those of them that the access names.
void loadShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                const SharedAccess &access, llvm::MutableArrayRef<mlir::Value> registers);

/// The same by ldmatrix.
llvm::SmallVector<mlir::Value> loadMatrices(const ScalarBuilder &s, const Lowering &lowering,
                                            const SharedArray &array, const MatrixAccess &access);

/// The same across rows (planTransposedAccess).
llvm::SmallVector<mlir::Value> loadTransposed(const ScalarBuilder &s, const Lowering &lowering,
                                              const SharedArray &array, const SharedAccess &access);

/// Starts copies of what `pointers` point to, a register each, where `masks` (empty: everywhere)
/// hold, if `condition` (i1 or null) does. `counted`: of a copy's masks the true ones come first.
/// `needsNoZeros`: where `condition` does not hold, nothing need arrive.
void copyToShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                  const SharedAccess &access, mlir::ValueRange pointers, mlir::ValueRange masks,
                  mlir::Value condition, bool counted, bool needsNoZeros);

/// By warps' copies (TargetInfo::warpCopies), of an access whose lanes are side by side: `copy` of
/// what begins at a register to an address.
void copyByWarps(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                 const SharedAccess &access,
                 llvm::function_ref<void(unsigned first, mlir::Value to)> copy);
/// Such an access for a copy of tiles in `layout`, by `vector` neighbours; or an error.
mlir::FailureOr<SharedAccess> planWarpCopies(mlir::Operation *op, const Lowering &lowering,
                                             const LinearLayout &layout, tilegpu::BufferType buffer,
                                             unsigned vector);

/// The registers of the threads that own elements of a value of `type`, to all threads that hold
/// them: through scratch with one element per element of the tensor (one for a scalar). `owner`:
/// i1. `ordersGlobal`: what the owners did to global memory, too, comes before what follows.
void shareOwners(const ScalarBuilder &s, const Lowering &lowering, mlir::Type type,
                 mlir::Value owner, mlir::Value scratch,
                 llvm::MutableArrayRef<mlir::Value> registers, bool ordersGlobal);

/// One element, at a run-time offset.
mlir::Value loadSharedElement(const ScalarBuilder &s, const SharedArray &array, mlir::Value offset);

/// Several small values in one integer (one value: itself), and `count` of a type out of it.
mlir::Value packWord(const ScalarBuilder &s, mlir::ArrayRef<mlir::Value> values);
llvm::SmallVector<mlir::Value> unpackWord(const ScalarBuilder &s, mlir::Value word,
                                          mlir::Type element, unsigned count);

/// A value of any scalar type from the lane that differs by `mask`, or from lane `lane`.
mlir::Value shuffleXor(const ScalarBuilder &s, const TargetLowering &device, mlir::Value value,
                       unsigned mask);
/// Where TargetLowering::swapsLanes: what lanes with the bit set have of the first value changes
/// places with what those that differ by `mask` have of the second. Of one value twice, both have
/// that of the lane with the bit clear, and then of the other.
std::pair<mlir::Value, mlir::Value> swapLanes(const ScalarBuilder &s, const TargetLowering &device,
                                              mlir::Value first, mlir::Value second, unsigned mask);
/// One of any scalar type through `move`, which moves an i32.
mlir::Value inWords(const ScalarBuilder &s, mlir::Value value,
                    llvm::function_ref<mlir::Value(mlir::Value)> move);
mlir::Value shuffleIndex(const ScalarBuilder &s, const TargetLowering &device, mlir::Value value,
                         mlir::Value lane);

} // namespace kiln

#endif
