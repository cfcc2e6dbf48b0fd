// Shared-memory allocation: offsets for buffers and scratch (StoragePlan.h). Where they are more
// than the target has, the largest layout conversions are done in slices (SlicedExchange.h). On AMD
// so are those behind a loop, as of a product's result, that would take more than the loop and so
// keep a processor from running as many blocks as it has registers for; and in a loop those of
// warps with themselves, which wait for no other warp between slices. Slices that leave the sum as
// it would be without them, beside operands of the same size, are taken back.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/RowEnds.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/SlicedExchange.h"

using namespace mlir;

namespace kiln {
namespace {

class Allocator {
public:
  Allocator(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), plan(kernel, target) {}

  LogicalResult run() {
    int64_t total = plan.place();
    while (total > int64_t(target.maxSharedBytes) && sliceLargest(isAny))
      total = plan.place();
    std::optional<int64_t> share = shareOfBlock();
    while (share && total > *share &&
           sliceLargest([&](Operation *op) { return !innermostLoopOf(op) || hasFreeSlices(op); })) {
      int64_t before = total;
      total = plan.place();
      if (total == before)
        break;
    }
    total = joinSlices(total);
    Builder builder(kernel.getContext());
    // The total is there for whoever asks why it failed.
    kernel->setAttr(tilegpu::TileGPUDialect::sharedBytesAttr, builder.getI32IntegerAttr(total));
    if (total > int64_t(target.maxSharedBytes))
      return report(total);
    for (const Storage &storage : plan.storages())
      storage.op->setAttr(tilegpu::TileGPUDialect::offsetAttr,
                          builder.getI32IntegerAttr(storage.offset));
    return success();
  }

private:
  static bool isAny(Operation *) { return true; }

  /// The most bytes with which a processor holds as many blocks as it has registers for.
  std::optional<int64_t> shareOfBlock() const {
    auto module = kernel->getParentOfType<ModuleOp>();
    if (auto limit = module->getAttrOfType<IntegerAttr>(sharedLimitAttr))
      return limit.getInt();
    bool isAMD = target.matrix.mfmaGeneration || target.matrix.wmmaGeneration;
    unsigned blocks = isAMD ? blocksByRegisters(kernel, target) : 0;
    return blocks ? std::optional<int64_t>(target.maxSharedBytes / blocks) : std::nullopt;
  }

  /// Whether no warp waits for another in twice as many slices either.
  bool hasFreeSlices(Operation *op) const {
    return slicesOf(op) < maxSlicesOf(op) && waitsForNoWarp(op, 2 * slicesOf(op));
  }

  /// Whether the operation is a layout conversion that no warp waits for another in, in so many
  /// slices.
  bool waitsForNoWarp(Operation *op, int64_t slices) const {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op);
    return convert && exchangesWithinWarps(tilegpu::layoutOf(convert.getSource()),
                                           tilegpu::layoutOf(convert.getResult()),
                                           tilegpu::storageBits(convert.getType().getElementType()),
                                           tilegpu::sharedMemoryOf(target), slices);
  }

  /// Halves the scratch of the layout conversion that has the most, of those whose tiles can go
  /// through it in twice as many slices; false if there is none.
  bool sliceLargest(llvm::function_ref<bool(Operation *)> mayBe) {
    Storage *largest = nullptr;
    for (Storage &storage : plan.storages())
      if (mayBe(storage.op) && slicesOf(storage.op) < maxSlicesOf(storage.op) &&
          (!largest || storage.bytes > largest->bytes))
        largest = &storage;
    if (!largest)
      return false;
    setSlices(*largest, 2 * slicesOf(largest->op));
    return true;
  }

  /// Halves the slices between which warps wait for others again, as far as all takes no more than
  /// `total` bytes so; gives everything its offset, and returns what it takes.
  int64_t joinSlices(int64_t total) {
    for (Storage &storage : plan.storages())
      for (int64_t slices = slicesOf(storage.op); slices > 1 && !waitsForNoWarp(storage.op, slices);
           slices /= 2) {
        setSlices(storage, slices / 2);
        if (plan.place() > total) {
          setSlices(storage, slices);
          break;
        }
      }
    return plan.place();
  }

  static void setSlices(Storage &storage, int64_t slices) {
    storage.bytes = storage.bytes * slicesOf(storage.op) / slices;
    if (slices > 1)
      storage.op->setAttr(tilegpu::TileGPUDialect::slicesAttr,
                          Builder(storage.op->getContext()).getI32IntegerAttr(slices));
    else
      storage.op->removeAttr(tilegpu::TileGPUDialect::slicesAttr);
  }

  static int64_t slicesOf(Operation *op) {
    auto slices = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::slicesAttr);
    return slices ? slices.getInt() : 1;
  }

  static int64_t maxSlicesOf(Operation *op) {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op);
    return convert ? maxSlices(tilegpu::layoutOf(convert.getSource()),
                               tilegpu::layoutOf(convert.getResult()))
                   : 1;
  }

  LogicalResult report(int64_t total) {
    const Storage *largest = &plan.storages().front();
    for (const Storage &storage : plan.storages())
      if (storage.bytes > largest->bytes)
        largest = &storage;
    InFlightDiagnostic diagnostic = kernel.emitError("expected at most ")
                                    << target.maxSharedBytes << " bytes of shared memory on "
                                    << target.name << ", got " << total;
    diagnostic.attachNote(largest->op->getLoc())
        << "the largest part, " << largest->bytes << " bytes, is needed here";
    return diagnostic;
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  StoragePlan plan;
};

struct AllocateSharedMemoryPass
    : PassWrapper<AllocateSharedMemoryPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllocateSharedMemoryPass)

  StringRef getArgument() const override { return "kiln-allocate-shared-memory"; }
  StringRef getDescription() const override { return "Give buffers and scratch their offsets"; }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (failed(Allocator(getOperation(), *target).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createAllocateSharedMemoryPass() {
  return std::make_unique<AllocateSharedMemoryPass>();
}

void registerTileGPUPasses() {
  PassRegistration<AllocateSharedMemoryPass>();
  registerPass([] { return createStageOperandsPass(); });
  registerPass([] { return createResetSumsPass(); });
  registerPass([] { return createVersionLoopsPass(); });
  registerPass([] { return createSpecialiseWarpsPass(); });
  registerPass([] { return createArrangeCopiesPass(); });
  registerPass([] { return createPipelineLoopsPass(); });
  registerPass([] { return createPrefetchOperandsPass(); });
  registerPass([] { return createDeferReductionsPass(); });
  registerPass([] { return createDelayDotsPass(); });
  registerPass([] { return createEvictReadPass(); });
  registerPass([] { return createFindRowEndsPass(); });
  registerPass([] { return createPrefetchLoadsPass(); });
  registerPass([] { return createSinkLoadsPass(); });
  registerPass([] { return createSinkIndicesPass(); });
  registerPass([] { return createLiftLoadsPass(); });
  registerPass([] { return createStartLoadsPass(); });
  registerPass([] { return createCopyBlocksPass(); });
  registerPass([] { return createShareBuffersPass(); });
  registerPass([] { return createReadStagedPass(); });
  registerPass([] { return createDeferReadsPass(); });
  registerPass([] { return createTakeTurnsPass(); });
  registerPass([] { return createPeelLoopsPass(); });
  registerPass([] { return createInsertBarriersPass(); });
  registerPass([] { return createChainDotsPass(); });
  registerPass([] { return createVersionBarriersPass(); });
  registerPass([] { return createEstimateRegistersPass(); });
  registerPass([] { return createUseBuffersPass(); });
  registerPass([] { return createUnrollLoopsPass(); });
}

} // namespace kiln
