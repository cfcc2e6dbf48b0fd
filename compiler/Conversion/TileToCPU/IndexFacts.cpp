// Strides along an axis: see the header. Index arithmetic is taken not to wrap, as everywhere in
// tile programs.

#include "compiler/Conversion/TileToCPU/IndexFacts.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

std::optional<int64_t> constantOf(Value value) {
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
      attribute = splat.getSplatValue<Attribute>();
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return integer.getValue().sextOrTrunc(64).getSExtValue();
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
                      tile::TransOp, tile::HintOp, arith::ExtSIOp>(op))
    return constantOf(op->getOperand(0));
  return std::nullopt;
}

std::optional<int64_t> IndexFacts::stride(Value value, unsigned axis) {
  if (!isa<RankedTensorType>(value.getType()))
    return 0;
  auto [entry, isNew] = known.try_emplace({value, axis}, std::nullopt);
  if (!isNew)
    return entry->second;
  std::optional<int64_t> result = compute(value, axis);
  known[{value, axis}] = result;
  return result;
}

std::optional<int64_t> IndexFacts::compute(Value value, unsigned axis) {
  if (cast<RankedTensorType>(value.getType()).getDimSize(axis) == 1)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  using Result = std::optional<int64_t>;
  auto sum = [&](Value a, Value b, int64_t sign) -> Result {
    Result left = stride(a, axis), right = stride(b, axis);
    if (!left || !right)
      return std::nullopt;
    return *left + sign * *right;
  };
  // Whatever else an operation computes, it is uniform where its operands are.
  auto uniform = [&]() -> Result {
    bool elementwise =
        OpTrait::hasElementwiseMappableTraits(op) || isa<tile::LoadOp, tile::BitcastOp>(op);
    bool still = elementwise &&
                 llvm::all_of(op->getOperands(), [&](Value v) { return stride(v, axis) == 0; });
    return still ? Result(0) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](tile::ArangeOp) { return 1; })
      .Case([](tile::SplatOp) { return 0; })
      .Case([](arith::ConstantOp constant) -> Result {
        return isa<SplatElementsAttr>(constant.getValue()) ? Result(0) : std::nullopt;
      })
      .Case([&](tile::HintOp hint) { return stride(hint.getSource(), axis); })
      .Case([&](tile::BroadcastOp cast) { return stride(cast.getSource(), axis); })
      .Case([&](tile::ExpandDimsOp expand) {
        return stride(expand.getSource(), axis - (axis > expand.getAxis()));
      })
      .Case([&](tile::TransOp trans) { return stride(trans.getSource(), trans.getOrder()[axis]); })
      .Case([&](tile::AddPtrOp add) { return sum(add.getPtr(), add.getOffset(), 1); })
      .Case([&](arith::AddIOp add) { return sum(add.getLhs(), add.getRhs(), 1); })
      .Case([&](arith::SubIOp sub) { return sum(sub.getLhs(), sub.getRhs(), -1); })
      .Case([&](arith::ExtSIOp extend) {
        return tile::elementTypeOf(extend.getIn().getType()).isInteger(1)
                   ? uniform()
                   : stride(extend.getIn(), axis);
      })
      .Case([&](arith::MulIOp mul) -> Result {
        Value factor = mul.getRhs(), other = mul.getLhs();
        if (!constantOf(factor))
          std::swap(factor, other);
        Result inner = stride(other, axis);
        if (constantOf(factor) && inner)
          return *inner * *constantOf(factor);
        return uniform();
      })
      .Default([&](Operation *) { return uniform(); });
}

Progress IndexFacts::progress(Value value, unsigned axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getDimSize(axis) == 1)
    return Progress::Uniform;
  if (std::optional<int64_t> constant = stride(value, axis))
    return *constant == 0 ? Progress::Uniform : Progress::Affine;
  auto [entry, isNew] = knownProgress.try_emplace({value, axis}, Progress::Unknown);
  if (!isNew)
    return entry->second;
  Progress result = computeProgress(value, axis);
  knownProgress[{value, axis}] = result;
  return result;
}

Progress IndexFacts::computeProgress(Value value, unsigned axis) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return Progress::Unknown;
  auto operand = [&](unsigned i) { return progress(op->getOperand(i), axis); };
  if (isa<tile::HintOp, tile::BroadcastOp, arith::ExtSIOp>(op))
    return operand(0);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return progress(expand.getSource(), axis - (axis > expand.getAxis()));
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return progress(trans.getSource(), trans.getOrder()[axis]);
  if (isa<arith::RemSIOp>(op)) {
    bool counts = stride(op->getOperand(0), axis) == 1 && operand(1) == Progress::Uniform;
    return counts ? Progress::Wrapped : Progress::Unknown;
  }
  bool adds = isa<tile::AddPtrOp, arith::AddIOp, arith::SubIOp>(op);
  if (!adds && !isa<arith::MulIOp>(op))
    return Progress::Unknown;
  Progress left = operand(0), right = operand(1);
  if (left == Progress::Uniform)
    return right;
  if (right == Progress::Uniform)
    return left;
  return adds && left == Progress::Affine && right == Progress::Affine ? Progress::Affine
                                                                       : Progress::Unknown;
}

} // namespace kiln::cpu
