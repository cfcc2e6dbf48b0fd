// Dots of a loop that are waited for in the next iteration.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_DOTSINFLIGHT_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_DOTSINFLIGHT_H

#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// A unit that reads shared memory by itself works on while the threads go on. A dot's result that
/// the loop only carries on is wanted in the next iteration at the earliest:
///   * where all dots just add up (a product), by the next dot, which follows it in the unit: no
///     wait at all, but for the buffers;
///   * otherwise (attention's second product, which is rescaled) by what first uses it. It is
///     waited for together with the dot in front of that use, if there is one, so that both run
///     side by side;
///   * where some add up beside others (attention's backward pass), together with the next of the
///     others: in the same iteration (`startBeside`), or in the next one. Threads must have
///     registers for all that is in flight then: ptxas makes dots wait for each other where it has
///     to move their sums.
class DotsInFlight {
public:
  /// Looks at the loop before its buffers become rings.
  DotsInFlight(mlir::scf::ForOp loop, const StagedLoads &staged);

  /// Sums beside others are waited for in their iteration: a slot less to fill costs more than the
  /// wait.
  void withoutSpareSlot() {
    if (!onlyAddUp)
      dots = reworked;
  }

  bool any() const { return !dots.empty(); }
  /// Whether no dot runs beside what follows it.
  bool waitsForEach() const { return dots.empty() && beside.empty(); }
  /// Whether it is a result that the loop works on before it goes on, as attention does.
  bool isReworked() const { return !reworked.empty(); }

  struct Places {
    mlir::Operation *started; ///< behind it this iteration's first dots run
    mlir::Operation *done;    ///< behind it the thread's dots of earlier iterations are complete
  };
  /// Makes those asynchronous that are complete by the end of the iteration, with the dots whose
  /// waits they share, whether there is `any()` or not.
  void startBeside(mlir::RewriterBase &rewriter) const;
  /// Makes the dots asynchronous, and puts waits into the loop and behind it.
  Places start(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop) const;

private:
  Places startSums(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop) const;
  Places startResults(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop) const;

  /// The loop's first use of results that it works on.
  mlir::Operation *firstRework(mlir::scf::ForOp loop) const;
  /// The dot of the loop that is waited for together with those of the iteration before.
  tilegpu::DotOp waitedBeside(mlir::scf::ForOp loop) const;

  llvm::SmallVector<tilegpu::DotOp> dots;
  llvm::SmallVector<tilegpu::DotOp> reworked; ///< those of them that do not just add up
  /// Sums that are complete when the dot behind them, of the same iteration, is.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<tilegpu::DotOp>> beside;
  bool onlyAddUp = false;
};

/// Registers of a thread that hold a dot's operand or result; none for a buffer.
unsigned registersOf(mlir::Type operand);
/// Those of its result, and of what a unit that reads the other operand by itself takes from them.
unsigned registersOf(tilegpu::DotOp dot);
/// Those of the results of all dots of the loop and of one operand, of mostRegisters that a thread
/// has.
int64_t registersOfDots(mlir::scf::ForOp loop);
inline constexpr int64_t mostRegisters = 256;
/// About those of a thread's addresses and masks in a loop of copies; the copy engine wants next to
/// none.
int64_t registersOfAddresses(const StagedLoads &staged);

} // namespace kiln

#endif
