// Elementwise operations: once per register, and once for neighbours that are known to be equal
// (AxisInfo's constancy): a comparison with a multiple of 16 gives one predicate for 16 rows.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Dialect/TileGPU/SmallFloats.h"
#include "compiler/Layout/RegisterRenaming.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace kiln {
namespace {

/// For every register the first one whose results are the same.
SmallVector<unsigned> sourceRegisters(ResultRange results, const Lowering &lowering) {
  auto type = dyn_cast<RankedTensorType>(results[0].getType());
  if (!type)
    return {0};
  const LinearLayout &layout = tilegpu::layoutOf(type);
  BinaryVector equal = ~BinaryVector(0);
  for (Value result : results)
    equal &= lowering.equalNeighbours(result);
  return firstDuplicates(layout, equal);
}

/// Any operation of arith or math whose operands and results are tensors of one layout.
struct ElementwiseDistribution : ConversionPattern {
  ElementwiseDistribution(const Lowering &lowering, MLIRContext *context)
      : ConversionPattern(lowering.types, MatchAnyOpTypeTag(), /*benefit=*/1, context),
        lowering(lowering) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "is not elementwise");
    for (Type type : op->getResultTypes())
      if (isa<RankedTensorType>(type) && !tilegpu::layoutAttrOf(type))
        return rewriter.notifyMatchFailure(op, "has a tensor without a layout");
    // Selecting moves bits only.
    auto isSmallFloat = [](Type type) { return tilegpu::isSmallFloat(tile::elementTypeOf(type)); };
    if (!isa<arith::SelectOp>(op) && (llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
                                      llvm::any_of(op->getResultTypes(), isSmallFloat)))
      return op->emitError() << "'" << op->getName() << "' of 8-bit floats is not supported on "
                             << lowering.target().name << " yet";
    SmallVector<unsigned> sources = sourceRegisters(op->getResults(), lowering);
    SmallVector<SmallVector<Value>> results(op->getNumResults());
    for (auto [reg, source] : llvm::enumerate(sources)) {
      if (source != reg) {
        for (SmallVector<Value> &values : results)
          values.push_back(values[source]);
        continue;
      }
      OperationState state(op->getLoc(), op->getName());
      for (Type type : op->getResultTypes())
        state.addTypes(lowering.elementType(type));
      state.addAttributes(op->getAttrs());
      // A scalar operand (select's condition) serves every register.
      for (ValueRange operand : operands)
        state.addOperands(operand[operand.size() == 1 ? 0 : reg]);
      for (auto [index, value] : llvm::enumerate(rewriter.create(state)->getResults()))
        results[index].push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  const Lowering &lowering;
};

/// Quotients and remainders of 64-bit numbers, of which a GPU makes a call of some 70 instructions.
/// Where all operands of a thread are below 2^32, as indices mostly are, those of 32 bits are taken
/// for all of them under one condition. (LLVM has a condition for each.)
template <typename Wide, typename Narrow>
struct WideDivisionDistribution : DistributionPattern<Wide> {
  /// Before the elementwise pattern.
  WideDivisionDistribution(const Lowering &lowering, MLIRContext *context)
      : DistributionPattern<Wide>(lowering, context, /*benefit=*/2) {}

  LogicalResult distribute(Wide op, typename Wide::template GenericAdaptor<ArrayRef<ValueRange>> in,
                           const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.getElementType().isInteger(64) ||
        this->lowering.facts.get(op.getRhs()).constant)
      return rewriter.notifyMatchFailure(op, "is no division of 64-bit numbers by another");
    SmallVector<unsigned> sources = sourceRegisters(op->getResults(), this->lowering);
    SmallVector<unsigned> distinct(sources);
    llvm::sort(distinct);
    distinct.erase(llvm::unique(distinct), distinct.end());
    if (distinct.size() < 2)
      return rewriter.notifyMatchFailure(op, "is one division");
    llvm::SetVector<Value> operands;
    for (unsigned reg : distinct)
      for (ValueRange each : {in.getLhs(), in.getRhs()})
        operands.insert(each[reg]);
    Value all = operands[0];
    for (Value operand : operands.getArrayRef().drop_front())
      all = s.bitOr(all, operand);
    Value limit = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            rewriter.getI64IntegerAttr(int64_t(1) << 32));
    Value isNarrow = s.make<arith::CmpIOp>(arith::CmpIPredicate::ult, all, limit);
    auto divide = [&](bool narrow) {
      return [&, narrow](OpBuilder &b, Location loc) {
        SmallVector<Value> results;
        for (unsigned reg : distinct)
          results.push_back(quotient(b, loc, in.getLhs()[reg], in.getRhs()[reg], narrow));
        scf::YieldOp::create(b, loc, results);
      };
    };
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), isNarrow, divide(true), divide(false));
    this->replace(op, rewriter, llvm::map_to_vector(sources, [&](unsigned reg) -> Value {
                    return branch.getResult(llvm::lower_bound(distinct, reg) - distinct.begin());
                  }));
    return success();
  }

private:
  static Value quotient(OpBuilder &b, Location loc, Value lhs, Value rhs, bool narrow) {
    if (!narrow)
      return Wide::create(b, loc, lhs, rhs);
    auto word = [&](Value value) { return arith::TruncIOp::create(b, loc, b.getI32Type(), value); };
    Value result = Narrow::create(b, loc, word(lhs), word(rhs));
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), result);
  }
};

/// A constant is made once, whatever the number of registers.
struct ConstantDistribution : DistributionPattern<arith::ConstantOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(arith::ConstantOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Attribute value = op.getValue();
    size_t count = 1;
    if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
      if (!elements.isSplat())
        return op.emitError() << "a constant tensor of different elements is not supported on "
                              << lowering.target().name << " yet";
      count = tilegpu::layoutOf(op.getType()).numRegisters();
      value = elements.getSplatValue<Attribute>();
    }
    auto number = dyn_cast<FloatAttr>(value);
    if (number && number.getType().getIntOrFloatBitWidth() == 8)
      value = rewriter.getIntegerAttr(rewriter.getI8Type(),
                                      number.getValue().bitcastToAPInt().getZExtValue());
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), cast<TypedAttr>(value));
    replace(op, rewriter, SmallVector<Value>(count, constant));
    return success();
  }
};

struct PoisonDistribution : DistributionPattern<ub::PoisonOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(ub::PoisonOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getType());
    Value poison = LLVM::PoisonOp::create(rewriter, op.getLoc(), element);
    size_t count =
        isa<RankedTensorType>(op.getType()) ? tilegpu::layoutOf(op.getType()).numRegisters() : 1;
    replace(op, rewriter, SmallVector<Value>(count, poison));
    return success();
  }
};

struct BitcastDistribution : DistributionPattern<tile::BitcastOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::BitcastOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getType());
    SmallVector<Value> results;
    for (Value value : adaptor.getSource())
      results.push_back(s.bitcast(value, element));
    replace(op, rewriter, results);
    return success();
  }
};

struct PermuteBytesDistribution : DistributionPattern<tile::PermuteBytesOp> {
  /// Before the elementwise pattern, which makes the same operation of scalars.
  PermuteBytesDistribution(const Lowering &lowering, MLIRContext *context)
      : DistributionPattern(lowering, context, /*benefit=*/2) {}

  LogicalResult distribute(tile::PermuteBytesOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> words;
    for (auto [low, high, selectors] :
         llvm::zip_equal(adaptor.getLow(), adaptor.getHigh(), adaptor.getSelectors())) {
      words.push_back(lowering.device.permuteBytes(rewriter, op.getLoc(), low, high, selectors));
      if (!words.back())
        return op.emitError() << "'" << op->getName() << "' is not supported on "
                              << lowering.target().name;
    }
    replace(op, rewriter, words);
    return success();
  }
};

struct HintDistribution : DistributionPattern<tile::HintOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::HintOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    replace(op, rewriter, adaptor.getSource());
    return success();
  }
};

} // namespace

void populateElementwisePatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ElementwiseDistribution, ConstantDistribution, PoisonDistribution,
               BitcastDistribution, PermuteBytesDistribution, HintDistribution,
               WideDivisionDistribution<arith::DivSIOp, arith::DivUIOp>,
               WideDivisionDistribution<arith::DivUIOp, arith::DivUIOp>,
               WideDivisionDistribution<arith::RemSIOp, arith::RemUIOp>,
               WideDivisionDistribution<arith::RemUIOp, arith::RemUIOp>>(lowering,
                                                                         patterns.getContext());
}

} // namespace kiln
