// Two iterations of short streaming loops in one.
//
// A loop's count, its comparison and its branch, and what iterations hand each other from register
// to register (what was loaded ahead, running sums), are a good part of an iteration that streams
// a few registers. NVIDIA's assembler makes several iterations of one itself. LLVM's AMDGPU back
// end leaves loops of unknown length as they are, and all those in which lanes exchange values, as
// it does not know that all lanes make as many iterations.
//
// Not where threads hold so much that a processor would have fewer warps, nor beside products,
// whose loops are long and short of registers, and not in what runs for equal arguments alone
// (VersionBarriers.cpp), which is there for its barriers.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

bool isForEqualArguments(scf::ForOp loop) {
  for (Operation *inner = loop, *outer; (outer = inner->getParentOp()); inner = outer)
    if (auto branch = dyn_cast<scf::IfOp>(outer))
      if (branch->hasAttr(tile::TileDialect::unlikelyAttr) &&
          inner->getParentRegion() == &branch.getThenRegion())
        return true;
  return false;
}

/// Whether a processor has all the warps that it can hold, by the estimate, if threads hold what a
/// second iteration loads, too. Of fewer it may have half as many, as LLVM interleaves the two.
/// What is loaded for the next iteration is there twice already, and a second one takes the place
/// of the first one's.
bool leavesAllWarps(scf::ForOp loop, const TargetInfo &target) {
  unsigned loaded = 0;
  loop.getBody()->walk([&](Operation *op) {
    if (isa<tile::LoadOp, tilegpu::BufferLoadOp>(op) &&
        !llvm::is_contained(loop.getYieldedValues(), op->getResult(0)))
      loaded += registersOf(op->getResult(0));
  });
  auto kernel = loop->getParentOfType<func::FuncOp>();
  return estimateRegisters(kernel, target) + loaded <= registersOfMostWarps(target);
}

struct UnrollLoopsPass : PassWrapper<UnrollLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollLoopsPass)

  StringRef getArgument() const override { return "kiln-unroll-loops"; }
  StringRef getDescription() const override {
    return "Make two iterations of short streaming loops one, where no assembler does";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    bool isAMD = target->matrix.mfmaGeneration || target->matrix.wmmaGeneration;
    if (!isAMD || tilegpu::multiplies(kernel))
      return;
    for (scf::ForOp loop : innermostLoops(kernel))
      if (isWorthIt(loop) && leavesAllWarps(loop, *target))
        unroll(loop);
  }

private:
  static bool isWorthIt(scf::ForOp loop) {
    // A second copy of more is long to fetch, and what it spares a small part.
    constexpr unsigned most = 600;
    // LLVM does away with short ones.
    constexpr uint64_t fewTimes = 16;
    std::optional<APInt> times = loop.getStaticTripCount();
    return !loop.getUnsignedCmp() && !(times && times->ule(fewTimes)) &&
           registersComputedIn(loop) <= most && !isMemoryEffectFree(loop) &&
           !isForEqualArguments(loop);
  }

  static void unroll(scf::ForOp loop) {
    OpBuilder b(loop);
    // The unrolled loop's length is worked out of a span that has no sign.
    if (!loop.getStaticTripCount())
      loop.getUpperBoundMutable().assign(
          arith::MaxSIOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
    (void)loopUnrollByFactor(loop, /*unrollFactor=*/2);
  }
};

} // namespace

std::unique_ptr<Pass> createUnrollLoopsPass() { return std::make_unique<UnrollLoopsPass>(); }

} // namespace kiln
