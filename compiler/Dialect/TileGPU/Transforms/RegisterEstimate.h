// How many registers a thread needs, estimated before the assembler knows.
//
// An assembler delays loads and interleaves arithmetic until they fit the registers there are. What
// it cannot get around are values that have to be there together: what a loop carries, accumulators
// of products, and what is used on both sides of a place where threads meet. So the estimate is the
// largest sum of what lives across such a place. Indices, addresses made of them, masks and
// constants can be computed again where they are used, and do not count; what stands for them, and
// for the scalars, is a constant.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_REGISTERESTIMATE_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_REGISTERESTIMATE_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// On the kernel: what createEstimateRegistersPass() says (i32).
inline constexpr llvm::StringLiteral registersAttr = "tilegpu.registers";

/// Registers of a thread that hold its elements of `value`; none for scalars.
unsigned registersOf(mlir::Value value);

/// How long the loop's code is: registers of a thread for all that an iteration computes, one for
/// a scalar.
unsigned registersComputedIn(mlir::scf::ForOp loop);

/// Whether the code of a loop without products is short enough to have its last iteration behind it
/// (PeelLoops.cpp): it is there several times where arguments may be equal.
bool isShortStream(mlir::scf::ForOp loop);

/// Those of the operand's elements that the dot multiplies at a time, one step along k.
unsigned registersOfStep(tilegpu::DotOp dot, mlir::Value operand);

/// Whether the operation is a view, a constant or arithmetic on indices: what its uses compute
/// again rather than hold.
bool isComputedAgain(mlir::Operation *op);

/// Registers of a thread of the kernel's own warps, as it stands before it becomes the program of
/// one thread.
unsigned estimateRegisters(mlir::func::FuncOp kernel, const TargetInfo &target);

/// What an estimate leaves out that counts where a thread can have 256 registers in all, and none
/// beside them to copy to: masks, offsets in shared memory, and what the back end has in flight.
/// ptxas was seen to spill from about 16 below on.
unsigned uncountedRegisters(const TargetInfo &target);

/// The estimates of loops with products are that much below what the back end takes, about.
inline constexpr unsigned missingBesideProducts = 56;

/// Registers of an NVIDIA processor for each thread of a block, if there is one block.
unsigned registerShare(mlir::func::FuncOp kernel, const TargetInfo &target);

/// The most registers of a thread with which a processor has all the warps that it can hold.
unsigned registersOfMostWarps(const TargetInfo &target);

/// AMD: the most registers of a thread with which a SIMD has room for so many waves.
unsigned registersOfWaves(const TargetInfo &target, unsigned waves);

/// How many blocks of the kernel a processor has registers for at a time, by the estimate and
/// `more` (or less, if negative) for a thread.
unsigned blocksByRegisters(mlir::func::FuncOp kernel, const TargetInfo &target, int more = 0);

/// Registers that a thread of the kernel's own warps can have: what the kernel sets, or its share,
/// or less where less is asked for.
unsigned registersOfThread(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace kiln

#endif
