// Which loads of a loop can run ahead of the dots that they feed.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STAGEDLOADS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_STAGEDLOADS_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// A load that is stored to a buffer, seen through transpositions, and used for nothing else: but,
/// where threads hold what they load, for stores to other buffers.
struct StagedLoad {
  mlir::Operation *load = nullptr;                 ///< a tile.load or tile.descriptor_load
  llvm::SmallVector<tile::TransOp> transpositions; ///< from the load on
  tilegpu::SharedStoreOp store;
  tilegpu::AllocOp buffer;
  unsigned vector = 1;  ///< elements of a thread's copy, where threads copy
  bool counted = false; ///< the mask may end within them

  /// The engine copies all of it.
  bool isBlock() const { return llvm::isa<tile::DescriptorLoadOp>(load); }
  /// Which axis of what is loaded each of the buffer's axes is.
  llvm::SmallVector<int32_t> order() const;
};

/// What is stored to the buffer, if that is a load seen through transpositions that have no other
/// use, nor has the load; without a vector. With `isShared` other buffers may have it, too.
std::optional<StagedLoad> loadBehind(tilegpu::SharedStoreOp store, bool isShared = false);

/// What the buffer, perhaps transposed, is allocated by, if that is no argument or slot.
tilegpu::AllocOp allocationBehind(mlir::Value buffer);

/// Who uses the buffer, as it is or transposed.
llvm::SmallVector<mlir::Operation *> usersOf(tilegpu::AllocOp buffer);

/// Whether the scalar or each element is zero, the positive one: what a bounded load brings in
/// place of what is not there.
bool isZero(mlir::Value value);

/// Has the load made only where `condition`, which is for all elements, holds as well.
void makeConditional(mlir::RewriterBase &rewriter, tile::LoadOp load, mlir::Value condition);

/// Whether there is no loop in the loop.
bool isInnermost(mlir::scf::ForOp loop);
llvm::SmallVector<mlir::scf::ForOp> innermostLoops(mlir::Operation *kernel);

/// The last of the loops around it that have nothing but loops between them, or itself.
mlir::scf::ForOp outermostLoop(mlir::scf::ForOp loop);

/// What the loop computes for the addresses of the loads: they and it can be done iterations ahead.
struct StagedLoads {
  llvm::SmallVector<StagedLoad> loads;
  /// Loads that dots read as threads hold them, where there are no copies to shared memory.
  llvm::SmallVector<tile::LoadOp> direct;
  llvm::SmallSetVector<mlir::Operation *, 16> addresses;
  std::set<ArgumentPair> pairs; ///< of arguments, if none of which are equal

  /// Whether an address hangs on what the loop loads, as on an index.
  bool isByIndex() const { return llvm::any_of(addresses, llvm::IsaPred<tile::LoadOp>); }
};

/// How loads run ahead of a loop.
enum class StagedAs : uint8_t {
  TargetHas, ///< copies to shared memory of threads where the target has such, else in registers
  WarpCopies ///< copies of warps (TargetInfo::warpCopies)
};

/// The loads of an innermost loop that can run ahead of the rest of it, in its order. Others, and
/// all if what they depend on cannot run ahead, are left out; so are, unless `mayCompare`, those
/// that wait for what the loop writes where two of the kernel's arguments are equal.
StagedLoads findStagedLoads(mlir::scf::ForOp loop, const AxisInfoAnalysis &facts,
                            const TargetInfo &target, bool mayCompare = false,
                            StagedAs form = StagedAs::TargetHas);

/// Puts an operation behind all that the loop carries, as MLIR's pipeliner wants: in `last = i` and
/// `a, b = b, c` there is none. Canonicalisation takes it away again.
void defineCarried(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

/// The loop with its iterations numbered in signed integers, which is all that MLIR's pipeliner
/// knows: of 64 bits in place of unsigned ones, and null if those have as many. With `isWide` of 64
/// bits in any case: the numbers of iterations that there are not must not wrap around.
mlir::scf::ForOp countSigned(mlir::scf::ForOp loop, StagedLoads &staged, bool isWide);

/// What else the loop does with parts of an address it computes for itself: values that go from one
/// stage to another would have to be kept for as many iterations.
void unshareAddresses(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                      const StagedLoads &staged);

/// The loads that addresses hang on, with all that they need in turn. Made an iteration ahead of
/// the copies, nothing waits for them. What else the addresses do with it they compute for
/// themselves.
llvm::SmallPtrSet<mlir::Operation *, 16> findIndices(mlir::RewriterBase &rewriter,
                                                     mlir::scf::ForOp loop, StagedLoads &staged);

} // namespace kiln

#endif
