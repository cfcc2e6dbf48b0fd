// Layouts of loads that warps could copy to shared memory.
//
// Where a warp's copies lie side by side in shared memory (TargetInfo::warpCopies), the buffer says
// which lane reads what: swizzles are in the addresses. So a load whose value goes to a buffer of a
// dot takes the layout that is the buffer's own, cut into pieces of 16 bytes that follow one
// another in lanes, then warps, then registers, and its addresses are computed for that. Each piece
// is whole in memory; rows of a buffer are, so that lanes next to each other read lines of memory
// as before.
//
// Refused: conversions of addresses that cannot be computed again. They go through shared memory in
// each iteration.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/Relayout.h"
#include "compiler/Dialect/TileGPU/Transforms/WarpCopies.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {
namespace {

struct ArrangeCopiesPass : PassWrapper<ArrangeCopiesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ArrangeCopiesPass)

  StringRef getArgument() const override { return "kiln-arrange-copies"; }
  StringRef getDescription() const override {
    return "Load what feeds dots in the layouts in which warps can copy it to shared memory";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (!target->warpCopies)
      return;
    bool isChanged = false;
    for (scf::ForOp loop : innermostLoops(getOperation()))
      isChanged |= arrange(loop, *target);
    if (isChanged && failed(dropReplaced()))
      signalPassFailure();
  }

private:
  bool arrange(scf::ForOp loop, const TargetInfo &target) {
    StagedLoads staged;
    {
      AxisInfoAnalysis facts(getOperation());
      staged = findWarpCopies(loop, facts, target);
    }
    if (staged.loads.empty() || areArranged(staged, target) ||
        planWarpCopies(getOperation(), loop, staged, target).stages < 2)
      return false;
    Relayout relayout(loop);
    for (const StagedLoad &load : staged.loads)
      for (Value operand : load.load->getOperands())
        if (!relayout.want(operand, layoutOfLoad(load, target)))
          return false;
    relayout.carry();
    for (const StagedLoad &load : staged.loads)
      change(load, relayout, target);
    return true;
  }

  /// The load's own, in front of transpositions.
  static tilegpu::LayoutAttr layoutOfLoad(const StagedLoad &load, const TargetInfo &target) {
    tilegpu::LayoutAttr layout = layoutOfCopy(load, target);
    for (tile::TransOp trans : llvm::reverse(load.transpositions))
      layout = layoutBefore(trans, layout);
    return layout;
  }

  static void change(const StagedLoad &load, Relayout &relayout, const TargetInfo &target) {
    tilegpu::LayoutAttr layout = layoutOfLoad(load, target);
    for (OpOperand &operand : load.load->getOpOperands())
      operand.set(relayout.make(operand.get(), layout));
    auto setLayout = [](Value value, tilegpu::LayoutAttr layout) {
      value.setType(tilegpu::withLayout(cast<RankedTensorType>(value.getType()), layout));
    };
    setLayout(load.load->getResult(0), layout);
    for (tile::TransOp trans : load.transpositions) {
      LinearLayout source = tilegpu::layoutOf(trans.getSource());
      SmallVector<unsigned> order(trans.getOrder().begin(), trans.getOrder().end());
      setLayout(trans, tilegpu::LayoutAttr::get(trans.getContext(), source.transpose(order)));
    }
  }

  /// What loops have carried for the addresses before.
  LogicalResult dropReplaced() {
    MLIRContext *context = &getContext();
    getOperation().walk([](scf::ForOp loop) { stopCarrying(loop); });
    RewritePatternSet patterns(context);
    scf::ForOp::getCanonicalizationPatterns(patterns, context);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// Carries on unchanged what is only changed for the next iteration.
  static void stopCarrying(scf::ForOp loop) {
    for (auto [argument, yielded, result] : llvm::zip_equal(
             loop.getRegionIterArgs(), loop.getYieldedValuesMutable().value(), loop.getResults())) {
      Operation *next = yielded.get().getDefiningOp();
      bool isUnused = result.use_empty() && next && argument.hasOneUse() &&
                      *argument.getUsers().begin() == next && next->hasOneUse() &&
                      isMemoryEffectFree(next);
      if (!isUnused)
        continue;
      yielded.set(argument);
      next->erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createArrangeCopiesPass() { return std::make_unique<ArrangeCopiesPass>(); }

} // namespace kiln
