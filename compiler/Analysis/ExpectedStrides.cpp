#include "compiler/Analysis/ExpectedStrides.h"
#include "compiler/Dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace kiln {

using Stride = std::optional<int64_t>;

Stride ExpectedStrides::of(Value value, unsigned axis) {
  if (!isa<RankedTensorType>(value.getType()))
    return 0;
  Known &answers = unknownAreLeast ? knownLeast : known;
  auto [found, isNew] = answers.try_emplace({value, axis}, std::nullopt);
  if (!isNew)
    return found->second;
  Stride stride = compute(value, axis);
  return answers[{value, axis}] = stride;
}

/// The same, strides that are not known being taken for the largest number that is known to divide
/// them.
Stride ExpectedStrides::least(Value value, unsigned axis) {
  llvm::SaveAndRestore counting(unknownAreLeast, true);
  return of(value, axis);
}

std::optional<unsigned> ExpectedStrides::guessUnitAxis(Value value) {
  std::optional<unsigned> unit;
  bool hasOther = false;
  auto type = cast<RankedTensorType>(value.getType());
  for (unsigned axis = 0; axis < unsigned(type.getRank()); ++axis) {
    Stride stride = least(value, axis);
    if (type.getDimSize(axis) == 1 || stride == 0)
      continue;
    if (stride != 1)
      hasOther = true;
    else if (unit || of(value, axis))
      return std::nullopt;
    else
      unit = axis;
  }
  return hasOther ? unit : std::nullopt;
}

Stride ExpectedStrides::ofProduct(Value lhs, Value rhs, unsigned axis) {
  Stride left = of(lhs, axis), right = of(rhs, axis);
  if (left == 0 && right == 0)
    return 0;
  if (left == 0)
    std::swap(lhs, rhs), std::swap(left, right);
  AxisInfo info = facts.get(rhs);
  Stride factor = info.constant;
  if (!factor && unknownAreLeast)
    factor = std::min<int64_t>(info.divisibility[isa<RankedTensorType>(rhs.getType()) ? axis : 0],
                               1 << 16);
  return left && right == 0 && factor ? Stride(*left * *factor) : std::nullopt;
}

Stride ExpectedStrides::ofView(Operation *op, unsigned axis) {
  Value source = op->getOperand(0);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    unsigned added = expand.getAxis();
    return axis == added ? 0 : of(source, axis - unsigned(axis > added));
  }
  if (isa<tile::BroadcastOp>(op))
    return cast<RankedTensorType>(source.getType()).getDimSize(axis) == 1 ? 0 : of(source, axis);
  return of(source, axis);
}

Stride ExpectedStrides::compute(Value value, unsigned axis) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Loops take addresses on by as much for all elements.
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? of(loop.getTiedLoopInit(argument)->get(), axis) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  auto sum = [&](Value lhs, Value rhs, int64_t sign) {
    Stride left = of(lhs, axis), right = of(rhs, axis);
    return left && right ? Stride(*left + sign * *right) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Stride>(op)
      .Case([&](tile::ArangeOp) { return 1; })
      .Case([&](tile::SplatOp) { return 0; })
      .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::HintOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](Operation *view) { return ofView(view, axis); })
      .Case<arith::AddIOp, tile::AddPtrOp>(
          [&](Operation *add) { return sum(add->getOperand(0), add->getOperand(1), 1); })
      .Case([&](arith::SubIOp sub) { return sum(sub.getLhs(), sub.getRhs(), -1); })
      .Case([&](arith::MulIOp mul) { return ofProduct(mul.getLhs(), mul.getRhs(), axis); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *rem) {
        return of(rem->getOperand(1), axis) == 0 ? of(rem->getOperand(0), axis) : std::nullopt;
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation *div) {
        Stride divided = of(div->getOperand(0), axis), divisor = of(div->getOperand(1), axis);
        return divided && divisor == 0 ? Stride(0) : std::nullopt;
      })
      .Case([&](arith::SelectOp select) {
        return select.getTrueValue().getDefiningOp<arith::ConstantOp>()
                   ? of(select.getFalseValue(), axis)
                   : of(select.getTrueValue(), axis);
      })
      .Default([&](Operation *) { return facts.get(value).constant ? Stride(0) : std::nullopt; });
}

} // namespace kiln
