// tile.print and tile.assert: one line for each element, and one look at each condition, by the one
// thread that owns it.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Expansion/Messages/Messages.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

struct PrintDistribution : DistributionPattern<tile::PrintOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::PrintOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value thread = lowering.device.threadId(rewriter, loc);
    auto type = op.getValue() ? dyn_cast<RankedTensorType>(op.getValue().getType()) : nullptr;
    Value owner =
        type ? isOwner(s, tilegpu::layoutOf(type), thread, lowering.target()) : s.equal(thread, 0);
    SmallVector<SmallVector<Value>> coordinates;
    if (type)
      for (unsigned axis = 0; axis < type.getRank(); ++axis)
        coordinates.push_back(
            coordinatesAlong(s, tilegpu::layoutOf(type), axis, thread, lowering.target()));
    // Duplicates within a thread come after the register that they repeat.
    SmallVector<unsigned> first =
        type ? firstDuplicates(tilegpu::layoutOf(type)) : SmallVector<unsigned>{0};
    OpBuilder::InsertionGuard guard(rewriter);
    if (owner) {
      auto branch = scf::IfOp::create(rewriter, loc, owner, /*withElseRegion=*/false);
      rewriter.setInsertionPointToStart(branch.thenBlock());
    }
    std::string format = lineFormat(op);
    for (auto [reg, original] : llvm::enumerate(first)) {
      if (reg != original)
        continue;
      SmallVector<Value> values;
      for (unsigned axis = 0; axis < 3; ++axis)
        values.push_back(lowering.device.programId(rewriter, loc, axis, lowering.clusterBlocks));
      Value printed;
      for (auto [axis, extent] : llvm::enumerate(printedShape(op))) {
        Value index = coordinates[axis][reg];
        values.push_back(index);
        if (extent == type.getDimSize(axis))
          continue;
        Value inside = s.compare(arith::CmpIPredicate::ult, index, s.i32(extent));
        printed = printed ? s.bitAnd(printed, inside) : inside;
      }
      OpBuilder::InsertionGuard element(rewriter);
      if (printed) {
        auto branch = scf::IfOp::create(rewriter, loc, printed, /*withElseRegion=*/false);
        rewriter.setInsertionPointToStart(branch.thenBlock());
      }
      if (op.getValue())
        values.push_back(promoted(s, adaptor.getValue()[reg]));
      tilegpu::PrintOp::create(rewriter, loc, rewriter.getStringAttr(format), values);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// As C passes it where no parameter says its type.
  static Value promoted(const ScalarBuilder &s, Value value) {
    OpBuilder &b = s.builder();
    if (value.getType().isF32())
      return s.make<arith::ExtFOp>(b.getF64Type(), value);
    return isa<LLVM::LLVMPointerType>(value.getType()) ? s.bitcast(value, b.getI64Type()) : value;
  }
};

struct AssertDistribution : DistributionPattern<tile::AssertOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::AssertOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Value holds = s.boolean(true);
    for (Value condition : adaptor.getCondition())
      holds = s.bitAnd(holds, condition);
    Value violated = s.bitXor(holds, s.boolean(true));
    Value thread = lowering.device.threadId(rewriter, op.getLoc());
    auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
    if (Value owner = type ? isOwner(s, tilegpu::layoutOf(type), thread, lowering.target())
                           : s.equal(thread, 0))
      violated = s.bitAnd(owner, violated);
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), violated, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    tilegpu::FailOp::create(rewriter, op.getLoc(), op.getMessageAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateDebugPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<PrintDistribution, AssertDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
