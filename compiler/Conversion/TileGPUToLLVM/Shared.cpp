// Buffers in shared memory, and barriers.

#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"
#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

SharedAccess accessOf(const Lowering &lowering, RankedTensorType tensor,
                      tilegpu::BufferType buffer) {
  return planSharedAccess(tilegpu::layoutOf(tensor), buffer.getLayout().getShared(),
                          tilegpu::storageBits(buffer.getElementType()),
                          tilegpu::sharedMemoryOf(lowering.target()));
}

struct AllocDistribution : DistributionPattern<tilegpu::AllocOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::AllocOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Value address = lowering.scratch(s, op);
    if (!address)
      return failure();
    rewriter.replaceOp(op, address);
    return success();
  }
};

struct SharedStoreDistribution : DistributionPattern<tilegpu::SharedStoreOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::SharedStoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType buffer = op.getBuffer().getType();
    storeShared(s, lowering, arrayOf(lowering, buffer, adaptor.getBuffer()[0]),
                accessOf(lowering, op.getValue().getType(), buffer), adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

struct SharedLoadDistribution : DistributionPattern<tilegpu::SharedLoadOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::SharedLoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType buffer = op.getBuffer().getType();
    SharedArray array = arrayOf(lowering, buffer, adaptor.getBuffer()[0]);
    std::optional<MatrixAccess> matrices;
    if (lowering.target().matrix.matrixLoads)
      matrices = planMatrixAccess(tilegpu::layoutOf(op.getType()), buffer.getLayout().getShared(),
                                  tilegpu::storageBits(buffer.getElementType()));
    if (matrices) {
      replace(op, rewriter, loadMatrices(s, lowering, array, *matrices));
      return success();
    }
    SharedAccess access = accessOf(lowering, op.getType(), buffer);
    std::optional<SharedAccess> across = accessAcross(op, access);
    replace(op, rewriter,
            across ? loadTransposed(s, lowering, array, *across)
                   : loadShared(s, lowering, array, access));
    return success();
  }

private:
  /// Where that reads more at once.
  std::optional<SharedAccess> accessAcross(tilegpu::SharedLoadOp op,
                                           const SharedAccess &access) const {
    tilegpu::BufferType buffer = op.getBuffer().getType();
    if (!lowering.target().matrix.transposedReads)
      return std::nullopt;
    std::optional<SharedAccess> across =
        planTransposedAccess(tilegpu::layoutOf(op.getType()), buffer.getLayout().getShared(),
                             tilegpu::storageBits(buffer.getElementType()));
    return across && across->vector > access.vector ? across : std::nullopt;
  }
};

struct SlotDistribution : DistributionPattern<tilegpu::SlotOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::SlotOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Value bytes = s.mul(adaptor.getIndex()[0], op.getRing().getType().getSlotBytes());
    rewriter.replaceOp(op, s.byteOffset(adaptor.getRing()[0], bytes));
    return success();
  }
};

struct TransBufferDistribution : DistributionPattern<tilegpu::TransBufferOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::TransBufferOp op, Adaptor adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getBuffer()[0]);
    return success();
  }
};

//===-- copies
//-----------------------------------------------------------------------------------===//

LogicalResult expectAsyncCopies(Operation *op, const Lowering &lowering) {
  if (lowering.target().asyncCopies || lowering.target().warpCopies)
    return success();
  return op->emitError() << "an asynchronous copy is not supported on " << lowering.target().name
                         << " yet";
}

struct CopyAsyncDistribution : DistributionPattern<tilegpu::CopyAsyncOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::CopyAsyncOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectAsyncCopies(op, lowering)))
      return failure();
    tilegpu::BufferType buffer = op.getBuffer().getType();
    const LinearLayout &layout = tilegpu::layoutOf(op.getPtr());
    SharedArray array = arrayOf(lowering, buffer, adaptor.getBuffer()[0]);
    ValueRange masks = op.getMask() ? ValueRange(adaptor.getMask()) : ValueRange();
    Value condition = op.getCondition() ? adaptor.getCondition()[0] : Value();
    if (lowering.target().warpCopies) {
      if (op.getCounted())
        return op.emitError() << "expected one mask for the elements that a lane copies";
      auto access = planWarpCopies(op, lowering, layout, buffer, op.getVector());
      if (failed(access))
        return failure();
      copyByWarps(s, lowering, array, *access, [&](unsigned first, Value to) {
        Value copied = both(condition, masks.empty() ? Value() : masks[first], s);
        lowering.device.copyByWarp(s.builder(), s.location(), to, adaptor.getPtr()[first],
                                   copied ? copied : s.boolean(true));
      });
    } else {
      unsigned bits = tilegpu::storageBits(buffer.getElementType());
      SharedMemoryShape memory = tilegpu::sharedMemoryOf(lowering.target());
      memory.maxVectorBits = op.getVector() * bits;
      SharedAccess access = planSharedAccess(layout, buffer.getLayout().getShared(), bits, memory);
      if (access.vector != op.getVector())
        return op.emitError() << "expected a layout in which a thread has " << op.getVector()
                              << " neighbours of the buffer, got " << access.vector;
      copyToShared(s, lowering, array, access, adaptor.getPtr(), masks, condition, op.getCounted(),
                   hasRegisters(op));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Of a predicate for some threads' copies and one for zeros ptxas makes a branch. One predicate
  /// for both is an instruction more, by which kernels without registers for it lose more.
  static bool hasRegisters(tilegpu::CopyAsyncOp op) {
    constexpr int64_t most = 255;
    auto needed =
        op->getParentOfType<FunctionOpInterface>()->getAttrOfType<IntegerAttr>(registersAttr);
    return !needed || needed.getInt() <= most;
  }
};

struct CommitDistribution : DistributionPattern<tilegpu::CommitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::CommitOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectAsyncCopies(op, lowering)))
      return failure();
    lowering.device.commitCopies(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitDistribution : DistributionPattern<tilegpu::WaitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::WaitOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectAsyncCopies(op, lowering)))
      return failure();
    // All younger copies may be in flight: those of the pending groups, where instructions count.
    unsigned copies = lowering.target().warpCopies ? op.getCopies() : 1;
    lowering.device.waitForCopies(rewriter, op.getLoc(), op.getPending() * copies);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ProxyFenceDistribution : DistributionPattern<tilegpu::ProxyFenceOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::ProxyFenceOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectAsyncCopies(op, lowering)))
      return failure();
    if (op.getIsGlobal())
      lowering.device.fenceForEngine(rewriter, op.getLoc());
    else
      lowering.device.fenceForUnits(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

//===-- barriers
//---------------------------------------------------------------------------------===//

struct SharedBarrierDistribution : DistributionPattern<tilegpu::BarrierOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::BarrierOp op, Adaptor adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    OpBuilder::InsertionGuard guard(rewriter);
    if (op.getCondition()) {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), adaptor.getCondition()[0],
                                      /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    if (op.getIsOfCluster()) {
      lowering.device.arriveAtCluster(rewriter, op.getLoc());
      lowering.device.waitForCluster(rewriter, op.getLoc());
    } else if (op.getIsOfAllWarps())
      lowering.device.barrierOfAll(
          rewriter, op.getLoc(),
          lowering.target().threadsPerBlock(lowering.numWarps + tilegpu::producerWarpsOf(op)));
    else if (op.getIsOfReads())
      lowering.device.readsBarrier(rewriter, op.getLoc(), /*withShared=*/op.getIsOfShared());
    else if (op.getIsOfShared())
      lowering.device.sharedBarrier(rewriter, op.getLoc());
    else
      lowering.device.barrier(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ClusterArriveDistribution : DistributionPattern<tilegpu::ClusterArriveOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::ClusterArriveOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    lowering.device.arriveAtCluster(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ClusterWaitDistribution : DistributionPattern<tilegpu::ClusterWaitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::ClusterWaitOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    lowering.device.waitForCluster(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateSharedPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<AllocDistribution, SharedStoreDistribution, SharedLoadDistribution, SlotDistribution,
               TransBufferDistribution, CopyAsyncDistribution, CommitDistribution, WaitDistribution,
               ProxyFenceDistribution, SharedBarrierDistribution, ClusterArriveDistribution,
               ClusterWaitDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
