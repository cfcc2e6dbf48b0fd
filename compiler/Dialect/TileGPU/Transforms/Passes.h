// The passes on TileGPU IR, after layout assignment.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// Lets threads carry their own parts of what a loop sums up by reductions, and combines the parts
/// behind the loop. On func.func, after layout assignment.
std::unique_ptr<mlir::Pass> createDeferReductionsPass();

/// Splits the conversions that make dots' operands into stores to buffers and loads from them,
/// right before the dot. On func.func, after layout assignment; the module names the target.
std::unique_ptr<mlir::Pass> createStageOperandsPass();

/// Has products that read shared memory begin a loop's sums anew, in place of a choice for each
/// register. On func.func, after kiln-stage-operands.
std::unique_ptr<mlir::Pass> createResetSumsPass();

/// Has loops twice whose loads that feed dots would meet what the loop writes if arguments were
/// equal: for equal ones, and one whose loads the passes below may let run ahead. On func.func,
/// after kiln-stage-operands; the module names the target.
std::unique_ptr<mlir::Pass> createVersionLoopsPass();

/// Gives a kernel whose products read only blocks that the copy engine brings a warp beside its own
/// that starts all the copies. On func.func, after kiln-stage-operands; the module names the
/// target.
std::unique_ptr<mlir::Pass> createSpecialiseWarpsPass();

/// Has loads that feed dots in a loop, and that warps can copy to shared memory, take the layouts
/// of such copies. On func.func, after kiln-stage-operands; the module names the target.
std::unique_ptr<mlir::Pass> createArrangeCopiesPass();

/// Turns loads that feed dots in a loop into copies into rings of buffers, which run `num_stages` -
/// 1 iterations ahead: as many of the loop's or else the kernel's `tile.num_stages` as shared
/// memory has room for. On func.func, after kiln-stage-operands; the module names the target.
std::unique_ptr<mlir::Pass> createPipelineLoopsPass();

/// On the module: loads run ahead of dots though threads lack registers for that by the estimate,
/// if not many (unit).
inline constexpr llvm::StringLiteral loadsAheadAttr = "tilegpu.loads_ahead";
/// On the kernel: there are such loads (unit).
inline constexpr llvm::StringLiteral loadsWaitAttr = "tilegpu.loads_wait";

/// Where no copies bring operands to shared memory, has threads load what feeds dots an iteration
/// ahead, and store it to the dots' buffers once these are read, if the loop or else the kernel has
/// stages, and threads have registers for it: RDNA's may lack some where the module has
/// `loadsAheadAttr`, else the kernel gets `loadsWaitAttr`. On func.func, after kiln-stage-operands;
/// the module names the target.
std::unique_ptr<mlir::Pass> createPrefetchOperandsPass();

/// In loops whose second dot only sums up what threads make of the first one's result, as
/// attention's does, starts it an iteration later: beside that work. On func.func, after
/// kiln-pipeline-loops; the module names the target.
std::unique_ptr<mlir::Pass> createDelayDotsPass();

/// Has what a program loads for the second time and not again, and what it stores beside that,
/// leave the L1 cache first, on NVIDIA. On func.func, ahead of kiln-prefetch-loads; the module
/// names the target.
std::unique_ptr<mlir::Pass> createEvictReadPass();

/// Has loops that ask for stages load what their next iteration reads before the work of this one,
/// into registers, where that keeps program order and threads have registers for it. On func.func,
/// after kiln-pipeline-loops; the module names the target.
std::unique_ptr<mlir::Pass> createPrefetchLoadsPass();

/// Has the last iteration of a loop of products behind it, where the others would ask whether there
/// is a next one to load for. On func.func, ahead of kiln-allocate-shared-memory; the module names
/// the target.
std::unique_ptr<mlir::Pass> createPeelLoopsPass();

/// Moves large loads behind the products ahead of their use where the kernel's threads do not have
/// registers for what they hold meanwhile. On func.func, ahead of kiln-insert-barriers; the module
/// names the target.
std::unique_ptr<mlir::Pass> createSinkLoadsPass();

/// Computes tiles of indices that only what stands behind a loop uses there, of scalars. On
/// func.func, behind all that may move their users.
std::unique_ptr<mlir::Pass> createSinkIndicesPass();

/// Makes two iterations of short loops without products one, for targets whose assembler does not.
/// On func.func, behind all that reads loops; the module names the target.
std::unique_ptr<mlir::Pass> createUnrollLoopsPass();

/// Moves small loads of loops in front of places where threads meet, behind the load before. On
/// func.func, ahead of kiln-insert-barriers; the module names the target.
std::unique_ptr<mlir::Pass> createLiftLoadsPass();

/// Says on a loop's load, to whose addresses the loop then stores what it had before, for how many
/// registers it is started ahead of all that follows. On func.func, after kiln-lift-loads; the
/// module names the target.
std::unique_ptr<mlir::Pass> createStartLoadsPass();

/// Turns loads of described blocks that are still there (`tile.descriptor_load`, of descriptors
/// that the launcher makes) into copies to buffers that are waited for at once, and stores of such
/// into copies from buffers. On func.func, after kiln-pipeline-loops.
std::unique_ptr<mlir::Pass> createCopyBlocksPass();

/// Has dots read a tile from the buffer that holds it already, and tiles that threads have no
/// registers for stored to their buffers ahead of the products in between. On func.func, after
/// kiln-copy-blocks; the module names the target.
std::unique_ptr<mlir::Pass> createShareBuffersPass();

/// Has threads read from dots' buffers what they want of a tile in another layout, and stores
/// operands that one barrier can serve one behind the other. On func.func, after
/// kiln-share-buffers; the module names the target.
std::unique_ptr<mlir::Pass> createReadStagedPass();

/// Has the copy engine read what a loop stores by it while the next iteration runs. On func.func,
/// after kiln-copy-blocks; the module names the target.
std::unique_ptr<mlir::Pass> createDeferReadsPass();

/// Has a product's operands in shared memory one after the other, where more blocks fit a processor
/// for it. On func.func, after kiln-read-staged; the module names the target.
std::unique_ptr<mlir::Pass> createTakeTurnsPass();

/// Gives every buffer and scratch an offset in shared memory, so that what is alive together does
/// not overlap, and puts the total on the kernel. A kernel that needs more than the target has is
/// an error with both numbers. On func.func; the module names the target.
std::unique_ptr<mlir::Pass> createAllocateSharedMemoryPass();

/// Puts tilegpu.barrier before shared-memory accesses that could meet an earlier one of another
/// thread with no barrier between. On func.func, after allocation.
std::unique_ptr<mlir::Pass> createInsertBarriersPass();

/// Starts a dot right behind the one whose sum it goes on with, where nothing in between touches
/// memory. On func.func, after barrier insertion.
std::unique_ptr<mlir::Pass> createChainDotsPass();

/// Replaces conditional barriers by two versions of the code that holds them, where it is small and
/// the target's conditional barriers are slow. On func.func, after barrier insertion; the module
/// names the target.
std::unique_ptr<mlir::Pass> createVersionBarriersPass();

/// Puts how many registers a thread needs on the kernel, estimated (RegisterEstimate.h). On
/// func.func, when buffers, barriers and roles of warps are final; the module names the target.
std::unique_ptr<mlir::Pass> createEstimateRegistersPass();

/// Turns loads and stores into accesses to buffers with hardware bounds, where the target has them
/// and offsets are known to be short. On func.func, behind all that looks at global accesses; the
/// module names the target.
std::unique_ptr<mlir::Pass> createUseBuffersPass();

/// Registers all of these.
void registerTileGPUPasses();

} // namespace kiln

#endif
