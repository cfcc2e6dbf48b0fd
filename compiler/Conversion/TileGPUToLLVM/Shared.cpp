// Buffers in shared memory, and barriers.

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

SharedArray arrayOf(const Lowering &lowering, tilegpu::BufferType type, Value base) {
  return {base, lowering.elementType(type.getElementType()), type.getLayout().getPadInterval(),
          type.getLayout().getPadAmount()};
}

SharedAccess accessOf(const Lowering &lowering, RankedTensorType tensor,
                      tilegpu::BufferType buffer) {
  return planSharedAccess(tilegpu::layoutOf(tensor), buffer.getLayout().getShared(),
                          tilegpu::storageBits(buffer.getElementType()),
                          tilegpu::sharedMemoryOf(lowering.target()));
}

struct AllocSpread : SpreadPattern<tilegpu::AllocOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tilegpu::AllocOp op, Adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    Value address = lowering.scratch(s, op);
    if (!address)
      return failure();
    rewriter.replaceOp(op, address);
    return success();
  }
};

struct SharedStoreSpread : SpreadPattern<tilegpu::SharedStoreOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tilegpu::SharedStoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType buffer = op.getBuffer().getType();
    storeShared(s, lowering, arrayOf(lowering, buffer, adaptor.getBuffer()[0]),
                accessOf(lowering, op.getValue().getType(), buffer), adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

struct SharedLoadSpread : SpreadPattern<tilegpu::SharedLoadOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tilegpu::SharedLoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType buffer = op.getBuffer().getType();
    SharedArray array = arrayOf(lowering, buffer, adaptor.getBuffer()[0]);
    replace(op, rewriter, loadShared(s, lowering, array, accessOf(lowering, op.getType(), buffer)));
    return success();
  }
};

struct SharedBarrierSpread : SpreadPattern<tilegpu::BarrierOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tilegpu::BarrierOp op, Adaptor adaptor, const ScalarBuilder &,
                       ConversionPatternRewriter &rewriter) const override {
    OpBuilder::InsertionGuard guard(rewriter);
    if (op.getCondition()) {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), adaptor.getCondition()[0],
                                      /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    lowering.device.barrier(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateSharedPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<AllocSpread, SharedStoreSpread, SharedLoadSpread, SharedBarrierSpread>(
      lowering, patterns.getContext());
}

} // namespace kiln
