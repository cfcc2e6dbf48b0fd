#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "compiler/Dialect/Tile/Transforms/ArrayBlocks.h"
#include "compiler/Dialect/Tile/Transforms/MaskBounds.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
namespace {

bool isZero(Value other) {
  return other && (matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero()));
}

class DotTrimmer {
public:
  explicit DotTrimmer(func::FuncOp kernel) : blocks(kernel) {}

  void trim(tile::DotOp dot) {
    ArrayRef<int64_t> shape = dot.getA().getType().getShape();
    unsigned rank = shape.size(), axisM = rank - 2, axisN = rank - 1;
    // What is not zero in the other operand may be infinite.
    int64_t depth =
        std::max(zeros.from(dot.getA(), /*axis=*/axisN), zeros.from(dot.getB(), /*axis=*/axisM));
    // Of two widths the operands count differently.
    bool isOfOneWidth = dot.getB().getType().getShape()[axisM] == shape.back();
    if (isOfOneWidth && depth > 0 && depth < shape.back())
      set(dot, usedDepthAttr, depth);
    int64_t columns = zeros.from(dot.getB(), axisN);
    if (columns > 0 && columns < dot.getType().getShape().back() &&
        blocks.isUnseen(dot.getResult(), axisN, columns))
      set(dot, usedColumnsAttr, columns);
  }

private:
  static void set(tile::DotOp dot, StringRef name, int64_t value) {
    dot->setAttr(name, Builder(dot.getContext()).getI32IntegerAttr(int32_t(value)));
  }

  ArrayBlocks blocks;
  ZeroTails zeros;
};

struct TrimDotsPass : PassWrapper<TrimDotsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TrimDotsPass)
  StringRef getArgument() const override { return "kiln-trim-dots"; }
  StringRef getDescription() const override {
    return "Say where the tiles of products end in zeros";
  }
  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation().walk([&](tile::DotOp dot) { dots.push_back(dot); });
    if (dots.empty())
      return;
    DotTrimmer trimmer(getOperation());
    for (tile::DotOp dot : dots)
      trimmer.trim(dot);
  }
};

} // namespace

int64_t ZeroTails::from(Value tile, unsigned axis) {
  if (auto found = known.find({tile, axis}); found != known.end())
    return found->second;
  int64_t begin = find(tile, axis);
  known[{tile, axis}] = begin;
  return begin;
}

int64_t ZeroTails::find(Value tile, unsigned axis) {
  Operation *op = tile.getDefiningOp();
  if (auto trans = dyn_cast_if_present<tile::TransOp>(op))
    return from(trans.getSource(), trans.getOrder()[axis]);
  if (isa_and_present<arith::ExtFOp, arith::TruncFOp>(op))
    return from(op->getOperand(0), axis);
  // One zero is not enough for a product, as the other factor may be infinite.
  if (isa_and_present<arith::MulFOp, arith::AddFOp>(op))
    return std::max(from(op->getOperand(0), axis), from(op->getOperand(1), axis));
  return ofLoad(tile, axis, cast<RankedTensorType>(tile.getType()).getShape()[axis]);
}

int64_t ZeroTails::ofLoad(Value tile, unsigned axis, int64_t extent) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  if (!load || !load.getMask() || !isZero(load.getOther()))
    return extent;
  for (const IndexBound &bound : boundsOf(load.getMask(), polynomials).bounds)
    if (std::optional<int64_t> rest = bound.rest.asConstant();
        rest && bound.isUpper && bound.axis == axis)
      extent = std::min(extent, -*rest);
  return extent;
}

int64_t usedExtent(Operation *dot, StringRef attribute, int64_t extent) {
  auto used = dot->getAttrOfType<IntegerAttr>(attribute);
  return used ? std::min(used.getInt(), extent) : extent;
}

std::unique_ptr<Pass> createTrimDotsPass() { return std::make_unique<TrimDotsPass>(); }

void registerTrimDotsPass() { PassRegistration<TrimDotsPass>(); }

} // namespace kiln
