// Dots in types that the target's matrix units take.

#include "compiler/Conversion/TileToTileGPU/LegalizeDots.h"

#include "compiler/Dialect/TileGPU/SmallFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {

static std::optional<MatrixTiling> select(tile::DotOp dot, MatrixElement operand,
                                          MatrixElement accumulator, const TargetInfo &target,
                                          unsigned numWarps, UnitUse use,
                                          std::optional<MatrixElement> operandB = std::nullopt) {
  ArrayRef<int64_t> a = dot.getA().getType().getShape(), b = dot.getB().getType().getShape(),
                    c = dot.getC().getType().getShape();
  // Where one operand's bytes are two numbers each, the other one's count.
  int64_t depth = std::max(a.back(), b[b.size() - 2]);
  // Descriptors of shared memory tell no batches.
  auto asked = [&](StringRef name) -> unsigned {
    auto kernel = dot->getParentOfType<func::FuncOp>();
    auto number = kernel ? kernel->getAttrOfType<IntegerAttr>(name) : IntegerAttr();
    return number ? number.getInt() : 0;
  };
  return selectMatrixTiling(target, {c[c.size() - 2], c.back(), depth, operand, accumulator,
                                     numWarps, use.fromShared && c.size() == 2, use.isAlongM,
                                     asked(tile::TileDialect::matrixSizeAttr),
                                     asked(tile::TileDialect::kPackAttr) == 1,
                                     !dot.getScales().empty(), operandB});
}

std::optional<MatrixTiling> matrixTilingOf(tile::DotOp dot, const TargetInfo &target,
                                           unsigned numWarps, UnitUse use) {
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  if (!dot.getScales().empty()) {
    auto elementOf = [](Type type) {
      return type.isInteger(8) ? MatrixElement::E2M1x2 : MatrixElement::F8E4M3;
    };
    return select(dot, elementOf(a), MatrixElement::F32, target, numWarps, use, elementOf(b));
  }
  auto operand = tilegpu::matrixElementOf(a, dot.getPrecision()),
       operandB = tilegpu::matrixElementOf(b, dot.getPrecision());
  auto accumulator =
      tilegpu::matrixElementOf(dot.getC().getType().getElementType(), tile::InputPrecision::IEEE);
  if (!operand || !operandB || !accumulator || !tilegpu::readsFormat(target, a) ||
      !tilegpu::readsFormat(target, b))
    return std::nullopt;
  if (auto tiling = select(dot, *operand, *accumulator, target, numWarps, use, operandB))
    return tiling;
  if (*operand == MatrixElement::TF32 && a == b)
    return select(dot, MatrixElement::F32, *accumulator, target, numWarps, use);
  return std::nullopt;
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
  auto wide = tile::DotOp::create(builder, loc, c.getType(), a, b, c, dot.getPrecision(),
                                  dot.getMaxImpreciseAcc());
  wide->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
  return wide;
}

//===-- f32 as a sum of narrower numbers
//-----------------------------------------------------------------------===//

namespace {

/// A product of f32 operands as products of parts that matrix units take.
struct SplitProduct {
  MatrixElement element;
  /// The mantissa's bits that the first parts lack.
  unsigned bitsLeft;
  unsigned parts;
  /// The last of the products: those of parts i and j with i + j up to this.
  unsigned lastSum;
};

} // namespace

static std::optional<SplitProduct> splitProductOf(tile::InputPrecision precision) {
  switch (precision) {
  case tile::InputPrecision::TF32x3:
    return SplitProduct{MatrixElement::TF32, 13, 2, 1};
  case tile::InputPrecision::BF16x3:
    return SplitProduct{MatrixElement::BF16, 16, 2, 1};
  case tile::InputPrecision::BF16x6:
    return SplitProduct{MatrixElement::BF16, 16, 3, 2};
  default:
    return std::nullopt;
  }
}

/// x rounded to its leading bits. Numbers that this could make infinite are cut off.
static Value leadingPart(OpBuilder &b, Location loc, Value x, unsigned bitsLeft) {
  auto type = cast<RankedTensorType>(x.getType());
  auto bitsType = type.clone(b.getI32Type());
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bitsType, APInt(32, value)));
  };
  Value bits = tile::BitcastOp::create(b, loc, bitsType, x);
  Value raised = arith::AddIOp::create(b, loc, bits, constant(1u << (bitsLeft - 1)));
  Value magnitude = arith::AndIOp::create(b, loc, bits, constant(0x7fffffff));
  Value isLarge =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, magnitude, constant(0x7f000000));
  Value chosen = arith::SelectOp::create(b, loc, isLarge, bits, raised);
  Value leading = arith::AndIOp::create(b, loc, chosen, constant(~uint32_t(0) << bitsLeft));
  return tile::BitcastOp::create(b, loc, type, leading);
}

/// x as a sum whose parts have the leading bits of what is left each; the last one is rounded by
/// who takes it.
static SmallVector<Value> splitNumber(OpBuilder &b, Location loc, Value x,
                                      const SplitProduct &split) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<Value> parts;
  for (unsigned part = 0; part < split.parts; ++part) {
    Value leading = x;
    if (part + 1 < split.parts) {
      leading = leadingPart(b, loc, x, split.bitsLeft);
      x = arith::SubFOp::create(b, loc, x, leading);
    }
    if (split.element == MatrixElement::BF16)
      leading = arith::TruncFOp::create(b, loc, type.clone(b.getBF16Type()), leading);
    parts.push_back(leading);
  }
  return parts;
}

/// Small products first; what an infinite operand makes of its later parts, NaN, does not count.
static bool splitOperands(tile::DotOp dot, const TargetInfo &target, unsigned numWarps) {
  std::optional<SplitProduct> split = splitProductOf(dot.getPrecision());
  if (!split || !dot.getA().getType().getElementType().isF32() ||
      !select(dot, split->element, MatrixElement::F32, target, numWarps, UnitUse()))
    return false;
  // A unit for f32 is as fast as three products, and more exact.
  if (split->element == MatrixElement::TF32 &&
      select(dot, MatrixElement::F32, MatrixElement::F32, target, numWarps, UnitUse()))
    return false;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  SmallVector<Value> left = splitNumber(b, loc, dot.getA(), *split),
                     right = splitNumber(b, loc, dot.getB(), *split);
  RankedTensorType type = dot.getResult().getType();
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  auto multiply = [&](unsigned i, unsigned j, Value sum) -> Value {
    return tile::DotOp::create(b, loc, type, left[i], right[j], sum, tile::InputPrecision::TF32,
                               dot.getMaxImpreciseAcc());
  };
  Value small = zero;
  for (unsigned sum = split->lastSum; sum > 0; --sum)
    for (unsigned i = 0; i <= sum; ++i)
      small = multiply(i, sum - i, small);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, small, small);
  small = arith::SelectOp::create(b, loc, isNan, zero, small);
  dot.replaceAllUsesWith(multiply(0, 0, arith::AddFOp::create(b, loc, dot.getC(), small)));
  dot.erase();
  return true;
}

//===-- f32 operands that are narrower numbers --===//

/// The f16 or bf16 values that the f32 operand is widened from, perhaps transposed; or null.
static Value beforeWidening(OpBuilder &b, Value operand, Type &element) {
  if (auto trans = operand.getDefiningOp<tile::TransOp>()) {
    Value narrow = beforeWidening(b, trans.getSource(), element);
    auto type = cast<RankedTensorType>(trans.getType());
    return narrow ? tile::TransOp::create(b, trans.getLoc(), type.clone(element), narrow,
                                          trans.getOrder())
                        .getResult()
                  : Value();
  }
  auto widening = operand.getDefiningOp<arith::ExtFOp>();
  if (!widening)
    return {};
  element = cast<RankedTensorType>(widening.getIn().getType()).getElementType();
  return element.isF16() || element.isBF16() ? widening.getIn() : Value();
}

/// Erases the dot, and what only made its operands of narrower ones.
static void eraseWithWidenings(tile::DotOp dot) {
  llvm::SmallSetVector<Operation *, 8> unused;
  for (Value operand : {dot.getA(), dot.getB()})
    for (Operation *op = operand.getDefiningOp(); isa_and_present<tile::TransOp, arith::ExtFOp>(op);
         op = op->getOperand(0).getDefiningOp())
      unused.insert(op);
  dot.erase();
  auto eraseOne = [&] {
    auto found = llvm::find_if(unused, [](Operation *op) { return op->use_empty(); });
    if (found == unused.end())
      return false;
    Operation *op = *found;
    unused.remove(op);
    op->erase();
    return true;
  };
  while (eraseOne()) {
  }
}

/// TF32 has every f16 and bf16 value, and f32 every product of two of one type: a unit for these
/// gives the same products, from half the bytes.
static tile::DotOp narrowOperands(tile::DotOp dot, const TargetInfo &target, unsigned numWarps) {
  if (dot.getPrecision() == tile::InputPrecision::IEEE ||
      !dot.getC().getType().getElementType().isF32() ||
      !select(dot, MatrixElement::TF32, MatrixElement::F32, target, numWarps, UnitUse()))
    return dot;
  OpBuilder builder(dot);
  Type ofA, ofB;
  Value a = beforeWidening(builder, dot.getA(), ofA), b = beforeWidening(builder, dot.getB(), ofB);
  if (!a || !b || ofA != ofB) {
    for (Value made : {a, b})
      while (made && made.use_empty()) {
        auto trans = made.getDefiningOp<tile::TransOp>();
        made = trans.getSource();
        trans.erase();
      }
    return dot;
  }
  auto narrow = tile::DotOp::create(builder, dot.getLoc(), dot.getC().getType(), a, b, dot.getC(),
                                    tile::InputPrecision::TF32, dot.getMaxImpreciseAcc());
  narrow->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
  bool hasUnit = matrixTilingOf(narrow, target, numWarps).has_value();
  tile::DotOp kept = hasUnit ? narrow : dot, other = hasUnit ? dot : narrow;
  other.replaceAllUsesWith(kept.getResult());
  eraseWithWidenings(other);
  return kept;
}

static void legalize(tile::DotOp dot, const TargetInfo &target, unsigned numWarps) {
  if (matrixTilingOf(dot, target, numWarps))
    return;
  Builder builder(dot.getContext());
  RankedTensorType result = dot.getResult().getType();
  Type operand = dot.getA().getType().getElementType(), accumulator = result.getElementType();
  // Every such value is an f16 value.
  if (tilegpu::isSmallFloat(operand) &&
      tilegpu::isSmallFloat(dot.getB().getType().getElementType()))
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
  for (tile::DotOp dot : dots) {
    if (!dot.getScales().empty())
      continue;
    dot = narrowOperands(dot, target, numWarps);
    if (!splitOperands(dot, target, numWarps))
      legalize(dot, target, numWarps);
  }
}

} // namespace kiln
