// Rings of slots that copies fill ahead of the dots that read them.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RINGS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RINGS_H

#include "compiler/Dialect/TileGPU/Transforms/DotsInFlight.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// The number of a slot, and the parity of the rounds that it has had; i32.
struct RingState {
  mlir::Value slot, phase;
};

/// The slot's number behind `slot`, of `slots`; `isEnd`: whether a round ends there.
mlir::Value numberAfter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value slot, unsigned slots,
                        mlir::Value &isEnd);
RingState stateAfter(mlir::OpBuilder &b, mlir::Location loc, RingState state, unsigned slots);
mlir::Value numberBefore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value slot, unsigned slots);

/// What reads the load's buffer.
llvm::SmallVector<mlir::Operation *> readersOf(const StagedLoad &load);
/// The first operation that reads what is staged.
mlir::Operation *firstReader(llvm::ArrayRef<StagedLoad> loads);

/// Removes the loop's fences that nothing is stored in front of but what copies bring. Units see
/// that without one: NVIDIA's own products read it so (CUTLASS, "MainloopSm90CpAsyncGmma"),
/// although the PTX ISA counts cp.async among the generic proxy.
void eraseFences(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                 llvm::ArrayRef<StagedLoad> loads);

/// Lets readers take the loop's slot `number` of the loads' rings, behind `arrival`, and removes
/// loads and stores.
void replaceBySlots(mlir::RewriterBase &rewriter, llvm::ArrayRef<StagedLoad> loads,
                    mlir::Operation *arrival, mlir::ValueRange rings, mlir::Value number);

/// How a loop is pipelined: copies are `stages` - 1 iterations ahead.
struct RingPlan {
  unsigned stages = 1, slots = 1;
  /// All iterations have slots of their own, and all copies are made in front of the loop.
  bool isFilledOnce() const { return slots < stages && !isRefilled; }
  /// Plans that where it is possible.
  void fillOnce(mlir::scf::ForOp loop);
  /// For dots that run into the next iteration.
  bool hasSpareSlot() const { return slots > stages; }
  /// Slots, one less than stages, are filled again as soon as they are read.
  bool isRefilled = false;
  /// That a processor can then hold at once, as far as one can say from the loop's dots.
  unsigned blocks = 0;
};

/// Room for rings in shared memory.
class RingBudget {
public:
  /// Of warps, on a processor.
  static constexpr unsigned schedulers = 4;

  RingBudget(mlir::func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target) {}

  /// As many stages as are asked for, or as there is shared memory for; of a loop whose threads
  /// work on products, no more than three if a second block has no room beside more; one where
  /// nothing is staged. The ring takes
  /// the place of the buffers that `replaced` allocate, the loop's own among them, and is there as
  /// long as `life` runs, the loop or one around it.
  RingPlan planFor(mlir::scf::ForOp loop, const StagedLoads &staged, const DotsInFlight &flight,
                   llvm::ArrayRef<mlir::Operation *> replaced, mlir::Operation *life);
  /// Takes a slot less, which is filled again where it is read, for more blocks on a processor that
  /// has few warps. Such loops start no dot that another iteration waits for.
  void tryToRefill(RingPlan &plan, mlir::scf::ForOp loop, const StagedLoads &staged);
  /// What allocates the loads' buffers.
  static llvm::SmallVector<mlir::Operation *> buffersOf(const StagedLoads &staged);

  /// Of the loop, or else of the kernel.
  unsigned wishedStages(mlir::scf::ForOp loop);

private:
  static llvm::SmallVector<int64_t> slotBytes(const StagedLoads &staged);
  int64_t blocksWith(int64_t sharedBytes, int64_t registers);

  mlir::func::FuncOp kernel;
  const TargetInfo &target;
};

} // namespace kiln

#endif
