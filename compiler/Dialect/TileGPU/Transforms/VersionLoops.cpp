// Loops whose products' operands might be what the loop writes.
//
//     for …: q = load(p + i); …; dot(…, q); atomic_add(r + i, …)
//
// Program order has q loaded behind the addition of the iteration before, unless p and r lead into
// different arrays (AddressMeeting.h). The kernel compares the arguments and has the loop twice: as
// it was for equal ones, and one whose loads may run ahead (SpecialiseWarps.cpp,
// PipelineLoops.cpp).

#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/LoadDetours.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {
namespace {

struct VersionLoopsPass : PassWrapper<VersionLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VersionLoopsPass)

  StringRef getArgument() const override { return "kiln-version-loops"; }
  StringRef getDescription() const override {
    return "Compare arguments where equal ones alone keep loads that feed dots from running ahead";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    llvm::MapVector<scf::ForOp, std::set<ArgumentPair>> versions;
    kernel.walk([&](scf::ForOp loop) {
      bool runsAhead = target->asyncCopies || RingBudget(kernel, *target).wishedStages(loop) > 1;
      if (!runsAhead || !isInnermost(loop) || pairsThatForbid(loop, *target).empty())
        return;
      // A warp of its own copies for all of the loops around.
      scf::ForOp versioned = target->tensorMaps ? outermostLoop(loop) : loop;
      std::set<ArgumentPair> pairs = pairsThatOrder(loop, *target);
      versions[versioned].insert(pairs.begin(), pairs.end());
    });
    ArgumentComparisons comparisons(kernel);
    for (auto &[loop, pairs] : versions)
      versionFor(pairs, loop, comparisons);
  }

private:
  /// Pairs of arguments that keep loads which feed dots, or which their operands are computed from,
  /// from running ahead, if they are equal.
  std::set<ArgumentPair> pairsThatForbid(scf::ForOp loop, const TargetInfo &target) {
    auto staged = [&] {
      AxisInfoAnalysis facts(getOperation());
      return findStagedLoads(loop, facts, target, /*mayCompare=*/true);
    };
    StagedLoads asTheyAre = staged();
    // A loop that runs a few times gains less than the buffers and the second version cost.
    constexpr unsigned fewTimes = 4;
    std::optional<APInt> times = loop.getStaticTripCount();
    if (!asTheyAre.pairs.empty() || !target.asyncCopies || (times && times->ule(fewTimes)))
      return asTheyAre.pairs;
    SmallVector<LoadDetour> detours = detourLoads(loop, target, [&](tile::LoadOp load) {
      return !asTheyAre.addresses.contains(load) && isLargeTile(load);
    });
    std::set<ArgumentPair> pairs;
    if (!detours.empty())
      pairs = staged().pairs;
    for (LoadDetour &detour : llvm::reverse(detours))
      detour.takeBack();
    return pairs;
  }

  /// Those of all that the loop reads, by which it would have barriers.
  static std::set<ArgumentPair> pairsThatOrder(scf::ForOp loop, const TargetInfo &target) {
    GlobalOrder order(target);
    BarrierNeed need;
    loop.getBody()->walk([&](Operation *op) {
      std::optional<GlobalAccess> access = globalAccessOf(op);
      if (access && access->reads && !access->writes)
        need.add(order.againstRunningAhead(op, loop));
    });
    return need.pairs;
  }
};

} // namespace

std::unique_ptr<Pass> createVersionLoopsPass() { return std::make_unique<VersionLoopsPass>(); }

} // namespace kiln
