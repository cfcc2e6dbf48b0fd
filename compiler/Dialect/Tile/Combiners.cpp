// Neutral elements, and the order of operands: see the header.

#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace kiln::tile {

static TypedAttr neutralFloat(Operation *combiner, FloatType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool hasInfinity = llvm::APFloat::semanticsHasInf(type.getFloatSemantics());
  auto real = [&](double value) -> TypedAttr { return FloatAttr::get(type, value); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case([&](arith::AddFOp) { return real(-0.0); })
      .Case([&](arith::MulFOp) { return real(1.0); })
      .Case([&](arith::MaximumFOp) { return hasInfinity ? real(-infinity) : TypedAttr(); })
      .Case([&](arith::MinimumFOp) { return hasInfinity ? real(infinity) : TypedAttr(); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>(
          [&](Operation *) { return real(std::numeric_limits<double>::quiet_NaN()); })
      .Default([](Operation *) { return TypedAttr(); });
}

static TypedAttr neutralInteger(Operation *combiner, IntegerType type) {
  unsigned bits = type.getWidth();
  auto integer = [&](const APInt &value) -> TypedAttr { return IntegerAttr::get(type, value); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt(bits, 0)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case([&](arith::MaxSIOp) { return integer(APInt::getSignedMinValue(bits)); })
      .Case([&](arith::MinSIOp) { return integer(APInt::getSignedMaxValue(bits)); })
      .Case<arith::MinUIOp, arith::AndIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Default([](Operation *) { return TypedAttr(); });
}

TypedAttr neutralElement(Operation *combiner) {
  if (!combiner)
    return {};
  Type element = combiner->getResult(0).getType();
  if (auto real = dyn_cast<FloatType>(element))
    return neutralFloat(combiner, real);
  if (auto integer = dyn_cast<IntegerType>(element))
    return neutralInteger(combiner, integer);
  return {};
}

namespace {

/// A comparison of value `index` of the first group with that of the second.
struct Comparison {
  enum Kind { IsSmaller, IsLarger, IsEqual } kind;
  unsigned index;
};

std::optional<Comparison::Kind> kindOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return Comparison::IsEqual;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return Comparison::IsSmaller;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return Comparison::IsLarger;
  default:
    return std::nullopt;
  }
}

std::optional<Comparison::Kind> kindOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return Comparison::IsEqual;
  case arith::CmpFPredicate::OLT:
    return Comparison::IsSmaller;
  case arith::CmpFPredicate::OGT:
    return Comparison::IsLarger;
  default:
    return std::nullopt;
  }
}

std::optional<Comparison> comparisonIn(Value condition, Block &body) {
  Operation *op = condition.getDefiningOp();
  std::optional<Comparison::Kind> kind;
  if (auto integers = dyn_cast_or_null<arith::CmpIOp>(op))
    kind = kindOf(integers.getPredicate());
  else if (auto reals = dyn_cast_or_null<arith::CmpFOp>(op))
    kind = kindOf(reals.getPredicate());
  if (!kind)
    return std::nullopt;
  unsigned groupSize = body.getNumArguments() / 2;
  auto a = dyn_cast<BlockArgument>(op->getOperand(0)),
       b = dyn_cast<BlockArgument>(op->getOperand(1));
  if (!a || !b || a.getOwner() != &body || b.getOwner() != &body ||
      a.getArgNumber() + groupSize != b.getArgNumber())
    return std::nullopt;
  return Comparison{*kind, a.getArgNumber()};
}

bool isStrict(const Comparison &comparison) { return comparison.kind != Comparison::IsEqual; }

/// One value of the first group comes first, or it is equal and another comes first.
bool isTotalOrder(Value condition, Block &body) {
  auto either = condition.getDefiningOp<arith::OrIOp>();
  if (!either)
    return false;
  for (auto [strict, tie] :
       {std::pair(either.getLhs(), either.getRhs()), std::pair(either.getRhs(), either.getLhs())}) {
    std::optional<Comparison> first = comparisonIn(strict, body);
    auto both = tie.getDefiningOp<arith::AndIOp>();
    if (!first || !isStrict(*first) || !both)
      continue;
    std::optional<Comparison> left = comparisonIn(both.getLhs(), body),
                              right = comparisonIn(both.getRhs(), body);
    if (!left || !right)
      continue;
    if (isStrict(*left))
      std::swap(left, right);
    if (!isStrict(*left) && isStrict(*right) && left->index == first->index &&
        right->index != first->index)
      return true;
  }
  return false;
}

/// A whole group is chosen, by a total order of the groups.
bool choosesByTotalOrder(Block &body) {
  unsigned groupSize = body.getNumArguments() / 2;
  Value condition;
  for (auto [index, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto select = result.getDefiningOp<arith::SelectOp>();
    if (!select || select.getTrueValue() != body.getArgument(index) ||
        select.getFalseValue() != body.getArgument(groupSize + index) ||
        (condition && condition != select.getCondition()))
      return false;
    condition = select.getCondition();
  }
  return condition && isTotalOrder(condition, body);
}

} // namespace

bool commutes(ReduceOp reduce) {
  if (Operation *combiner = reduce.getSingleCombiner())
    return combiner->hasTrait<OpTrait::IsCommutative>();
  return choosesByTotalOrder(reduce.getCombine().front());
}

} // namespace kiln::tile
