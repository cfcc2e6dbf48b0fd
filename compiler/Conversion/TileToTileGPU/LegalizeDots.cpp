// Dots in types that the target's matrix units take.

#include "compiler/Conversion/TileToTileGPU/LegalizeDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

static std::optional<MatrixTiling> select(tile::DotOp dot, MatrixElement operand,
                                          MatrixElement accumulator, const TargetInfo &target,
                                          unsigned numWarps) {
  ArrayRef<int64_t> a = dot.getA().getType().getShape(), c = dot.getC().getType().getShape();
  return selectMatrixTiling(target,
                            {c[c.size() - 2], c.back(), a.back(), operand, accumulator, numWarps});
}

std::optional<MatrixTiling> matrixTilingOf(tile::DotOp dot, const TargetInfo &target,
                                           unsigned numWarps) {
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  auto operand = tilegpu::matrixElementOf(a, dot.getPrecision());
  auto accumulator =
      tilegpu::matrixElementOf(dot.getC().getType().getElementType(), tile::InputPrecision::IEEE);
  if (!operand || !accumulator || a != b)
    return std::nullopt;
  if (auto tiling = select(dot, *operand, *accumulator, target, numWarps))
    return tiling;
  if (*operand == MatrixElement::TF32)
    return select(dot, MatrixElement::F32, *accumulator, target, numWarps);
  return std::nullopt;
}

/// At most a byte: every such value is an f16 value.
static bool isSmallFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

static Value widened(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return arith::ExtFOp::create(builder, loc, type.clone(element), value);
}

/// The dot with operands and accumulator of these types.
static tile::DotOp widen(tile::DotOp dot, Type operand, Type accumulator) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  Value a = widened(builder, loc, dot.getA(), operand);
  Value b = widened(builder, loc, dot.getB(), operand);
  Value c = widened(builder, loc, dot.getC(), accumulator);
  return tile::DotOp::create(builder, loc, c.getType(), a, b, c, dot.getPrecision(),
                             dot.getMaxImpreciseAcc());
}

static void legalize(tile::DotOp dot, const TargetInfo &target, unsigned numWarps) {
  if (matrixTilingOf(dot, target, numWarps))
    return;
  Builder builder(dot.getContext());
  RankedTensorType result = dot.getResult().getType();
  Type operand = dot.getA().getType().getElementType(), accumulator = result.getElementType();
  if (isSmallFloat(operand) && isSmallFloat(dot.getB().getType().getElementType()))
    operand = builder.getF16Type();
  if (accumulator.isF16() || accumulator.isBF16())
    accumulator = builder.getF32Type();
  tile::DotOp wide = widen(dot, operand, accumulator);
  if (!matrixTilingOf(wide, target, numWarps)) {
    // No gain: leave the dot as it was.
    SmallVector<Value> made(wide->getOperands());
    wide.erase();
    for (auto [value, original] : llvm::zip(made, dot->getOperands()))
      if (value != original)
        value.getDefiningOp()->erase();
    return;
  }
  OpBuilder after(dot);
  Value narrow = wide.getResult();
  if (narrow.getType() != result)
    narrow = arith::TruncFOp::create(after, dot.getLoc(), result, narrow);
  dot.replaceAllUsesWith(narrow);
  dot.erase();
}

void legalizeDots(func::FuncOp kernel, const TargetInfo &target, unsigned numWarps) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
  for (tile::DotOp dot : dots)
    legalize(dot, target, numWarps);
}

} // namespace kiln
