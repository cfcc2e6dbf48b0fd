// Powers whose exponent is known: a few products, a root or a quotient.
//
// Each is at least as accurate as the function is (docs/accuracy.md), and has C's special values:
// the product for a cube or a fourth power overflows only where the power does, and loses digits
// below the normal numbers only where the power is zero. A power that may be an approximation
// stays, as that has no value for negative numbers.

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;

namespace kiln::tile {
namespace {

/// Operations on values of one type.
struct Arithmetic {
  PatternRewriter &rewriter;
  Location loc;
  Type type;

  Value number(double value) const {
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    Attribute constant = rewriter.getFloatAttr(element, value);
    if (auto tensor = dyn_cast<ShapedType>(type))
      constant = SplatElementsAttr::get(tensor, constant);
    return arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(constant));
  }
  Value product(Value x, Value y) const { return arith::MulFOp::create(rewriter, loc, x, y); }
  Value square(Value x) const { return product(x, x); }
  Value inverse(Value x) const { return arith::DivFOp::create(rewriter, loc, number(1), x); }
  /// Unlike the root's, the power of a negative zero is a zero without a sign, and that of minus
  /// infinity is infinite.
  Value root(Value x) const {
    Value isLeast =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OEQ, x, number(-INFINITY));
    Value unsignedZero = arith::AddFOp::create(rewriter, loc, x, number(0));
    Value root = math::SqrtOp::create(rewriter, loc, unsignedZero);
    return arith::SelectOp::create(rewriter, loc, isLeast, number(INFINITY), root);
  }
};

/// x to the power of a constant; null for those that only the function computes.
Value constantPower(const Arithmetic &a, Value x, double exponent) {
  if (exponent == 0)
    return a.number(1);
  if (exponent == 0.5)
    return a.root(x);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return a.square(x);
  if (exponent == 3)
    return a.product(a.square(x), x);
  if (exponent == 4)
    return a.square(a.square(x));
  if (exponent == -1)
    return a.inverse(x);
  // The other way round the square may be infinite where its inverse is a number.
  if (exponent == -2)
    return a.square(a.inverse(x));
  return {};
}

template <typename Op> struct ExpandConstantPower : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "a type whose products are not the function's");
    if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "permitted to be an approximation");
    APFloat real(0.0);
    APInt whole;
    if (matchPattern(op.getRhs(), m_ConstantFloat(&real))) {
      bool isInexact;
      real.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
    } else if (matchPattern(op.getRhs(), m_ConstantInt(&whole))) {
      real = APFloat(double(whole.getSExtValue()));
    } else {
      return rewriter.notifyMatchFailure(op, "the exponent is not constant");
    }
    Arithmetic arithmetic{rewriter, op.getLoc(), op.getType()};
    Value result = constantPower(arithmetic, op.getLhs(), real.convertToDouble());
    if (!result)
      return rewriter.notifyMatchFailure(op, "a power that takes the function");
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void TileDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<ExpandConstantPower<math::PowFOp>, ExpandConstantPower<math::FPowIOp>>(
      patterns.getContext());
}

} // namespace kiln::tile
