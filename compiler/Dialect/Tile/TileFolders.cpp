// Folds and canonical forms of Tile operations.

#include "compiler/Basic/ByteFloats.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/CommonFolders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kiln::tile {
namespace {

/// The constant as one of `type` (a tensor) when every element of it is equal; null otherwise.
Attribute splatTo(Attribute constant, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto dense = dyn_cast_or_null<SplatElementsAttr>(constant))
    return dense.resizeSplat(tensor);
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(constant))
    return SplatElementsAttr::get(tensor, constant);
  return {};
}

/// The operand when the operation leaves its type as it is, else the same constant in the new
/// shape.
template <typename Op> OpFoldResult foldShapeChange(Op op, Attribute source) {
  if (op.getSource().getType() == op.getResult().getType())
    return op.getSource();
  return splatTo(source, op.getResult().getType());
}

bool isAllFalse(Value mask) { return mask && matchPattern(mask, m_Zero()); }
bool isAllTrue(Value mask) { return mask && matchPattern(mask, m_One()); }

/// A load whose mask is constant: all true, it has no mask; all false, it is `other`.
struct DropConstantLoadMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    if (isAllTrue(op.getMask())) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getOtherMutable().clear();
        op.getMaskMutable().clear();
      });
      return success();
    }
    if (!isAllFalse(op.getMask()) || !op.getOther())
      return rewriter.notifyMatchFailure(
          op, "the mask is not constant, or there is no value to take its place");
    rewriter.replaceOp(op, op.getOther());
    return success();
  }
};

/// A store whose mask is constant: all true, it has no mask; all false, it is nothing.
struct DropConstantStoreMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const override {
    if (isAllTrue(op.getMask())) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
      return success();
    }
    if (!isAllFalse(op.getMask()))
      return rewriter.notifyMatchFailure(op, "the mask is not constant");
    rewriter.eraseOp(op);
    return success();
  }
};

/// x + a · b is one product with x as its accumulator. A sum that has the product's own rounding
/// (few bits at a time) keeps it.
template <typename AddOp> struct AddIntoDot : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned number : {0, 1}) {
      auto dot = add->getOperand(number).template getDefiningOp<DotOp>();
      if (!dot || !dot->hasOneUse() || dot->getBlock() != add->getBlock() ||
          dot.getMaxImpreciseAcc() != 0 ||
          !(matchPattern(dot.getC(), m_AnyZeroFloat()) || matchPattern(dot.getC(), m_Zero())))
        continue;
      rewriter.replaceOpWithNewOp<DotOp>(add, dot.getResult().getType(), dot.getA(), dot.getB(),
                                         add->getOperand(1 - number), dot.getScales(),
                                         dot.getPrecision(), dot.getMaxImpreciseAcc());
      return success();
    }
    return rewriter.notifyMatchFailure(add, "neither operand is a product alone");
  }
};

/// `a > b or a is NaN ? a : b`, as torch.compile writes maxima that keep NaN, is one operation.
/// Only the sign of a zero may differ, which a reduction leaves open.
struct MaximumByComparison : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Block &combine = op.getCombine().front();
    Operation *yield = combine.getTerminator();
    arith::SelectOp select;
    if (combine.getNumArguments() == 2)
      select = yield->getOperand(0).getDefiningOp<arith::SelectOp>();
    Value a = combine.getArgument(0), b = combine.getArguments().back();
    if (!select || select.getTrueValue() != a || select.getFalseValue() != b)
      return rewriter.notifyMatchFailure(op, "it does not choose between its operands");
    auto either = select.getCondition().getDefiningOp<arith::OrIOp>();
    if (!either)
      return rewriter.notifyMatchFailure(op, "the choice does not regard NaN");
    for (auto [order, isNan] : {std::pair(either.getLhs(), either.getRhs()),
                                std::pair(either.getRhs(), either.getLhs())}) {
      bool larger = compares(order, arith::CmpFPredicate::OGT, a, b);
      if ((!larger && !compares(order, arith::CmpFPredicate::OLT, a, b)) ||
          !(compares(isNan, arith::CmpFPredicate::UNE, a, a) ||
            compares(isNan, arith::CmpFPredicate::UNO, a, a)))
        continue;
      rewriter.setInsertionPoint(yield);
      Value chosen = larger ? Value(arith::MaximumFOp::create(rewriter, op.getLoc(), a, b))
                            : Value(arith::MinimumFOp::create(rewriter, op.getLoc(), a, b));
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(0, chosen); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "it compares otherwise");
  }

private:
  static bool compares(Value condition, arith::CmpFPredicate predicate, Value a, Value b) {
    auto compare = condition.getDefiningOp<arith::CmpFOp>();
    return compare && compare.getPredicate() == predicate && compare.getLhs() == a &&
           compare.getRhs() == b;
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MaximumByComparison>(context);
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  return splatTo(adaptor.getSource(), getResult().getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult folded = foldShapeChange(*this, adaptor.getSource()))
    return folded;
  // A broadcast of a splat or of a broadcast starts from the source of that.
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return splatTo(adaptor.getSource(), getResult().getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult folded = foldShapeChange(*this, adaptor.getSource()))
    return folded;
  auto inner = getSource().getDefiningOp<ReshapeOp>();
  if (!inner || inner.getAnyOrder() != getAnyOrder())
    return {};
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool identity = llvm::all_of(llvm::enumerate(getOrder()),
                               [](auto it) { return int64_t(it.index()) == it.value(); });
  if (identity && getSource().getType() == getResult().getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<TransOp>()) {
    SmallVector<int32_t> order;
    for (int32_t axis : getOrder())
      order.push_back(inner.getOrder()[axis]);
    setOrder(order);
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return splatTo(adaptor.getSource(), getResult().getType());
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  return matchPattern(getOffset(), m_Zero()) ? OpFoldResult(getPtr()) : OpFoldResult();
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<BitcastOp>();
  if (!inner)
    return {};
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

OpFoldResult NarrowOp::fold(FoldAdaptor adaptor) {
  const llvm::fltSemantics &format = cast<FloatType>(elementTypeOf(getType())).getFloatSemantics();
  return constFoldCastOp<FloatAttr, FloatAttr, APFloat, APFloat, void>(
      adaptor.getOperands(), getType(),
      [&](const APFloat &value, bool &) { return narrowToByteFloat(value, format); });
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropConstantLoadMask>(context);
}

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddIntoDot<arith::AddFOp>, AddIntoDot<arith::AddIOp>>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropConstantStoreMask>(context);
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  // A volatile read is never removed or repeated.
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get());
}

void AssemblyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other) {
  Type pointee = cast<PtrType>(elementTypeOf(ptr.getType())).getPointee();
  build(builder, state, withElementType(ptr.getType(), pointee), ptr, mask, other,
        CacheModifier::None, EvictionPolicy::Normal, false);
}

} // namespace kiln::tile

#define GET_OP_CLASSES
#include "compiler/Dialect/Tile/TileOps.cpp.inc"
