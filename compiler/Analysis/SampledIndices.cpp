#include "compiler/Analysis/SampledIndices.h"
#include "compiler/Dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

std::optional<int64_t> SampledIndices::at(Value value, ArrayRef<int64_t> element) {
  ofElement.clear();
  return find(value, element);
}

SampledIndices::Sample SampledIndices::find(Value value, ArrayRef<int64_t> element) {
  if (auto known = ofElement.find(value); known != ofElement.end())
    return known->second;
  Sample sample = compute(value, element);
  ofElement[value] = sample;
  return sample;
}

/// A large number that its known divisor divides; 0 for a pointer.
SampledIndices::Sample SampledIndices::usual(Value scalar) const {
  if (!scalar.getType().isIntOrIndex())
    return 0;
  constexpr int64_t large = 1 << 20, oddPart = 7, much = 16;
  int64_t divisor = std::min(facts.get(scalar).divisibility[0], large);
  return divisor >= much ? large : large + oddPart * divisor;
}

static std::optional<bool> compare(arith::CmpIPredicate predicate, int64_t lhs, int64_t rhs) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return lhs == rhs;
  case P::ne:
    return lhs != rhs;
  case P::slt:
  case P::ult:
    return lhs < rhs;
  case P::sle:
  case P::ule:
    return lhs <= rhs;
  case P::sgt:
  case P::ugt:
    return lhs > rhs;
  case P::sge:
  case P::uge:
    return lhs >= rhs;
  }
  return std::nullopt;
}

SampledIndices::Sample SampledIndices::ofArithmetic(Operation *op, ArrayRef<int64_t> element) {
  Sample left = find(op->getOperand(0), element), right = find(op->getOperand(1), element);
  if (!left || !right)
    return std::nullopt;
  int64_t lhs = *left, rhs = *right;
  // As unsigned numbers, so that what is too large wraps.
  auto wrap = [](uint64_t value) { return Sample(int64_t(value)); };
  constexpr int64_t width = 64;
  bool mayShift = rhs >= 0 && rhs<width, mayDivide = rhs> 0;
  return llvm::TypeSwitch<Operation *, Sample>(op)
      .Case([&](arith::AddIOp) { return wrap(uint64_t(lhs) + uint64_t(rhs)); })
      .Case([&](arith::SubIOp) { return wrap(uint64_t(lhs) - uint64_t(rhs)); })
      .Case([&](arith::MulIOp) { return wrap(uint64_t(lhs) * uint64_t(rhs)); })
      .Case<arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return mayDivide ? Sample(lhs / rhs) : std::nullopt; })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return mayDivide ? Sample(lhs % rhs) : std::nullopt; })
      .Case([&](arith::ShLIOp) { return mayShift ? wrap(uint64_t(lhs) << rhs) : std::nullopt; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return mayShift ? Sample(lhs >> rhs) : std::nullopt; })
      .Case([&](arith::AndIOp) { return lhs & rhs; })
      .Case([&](arith::OrIOp) { return lhs | rhs; })
      .Case([&](arith::XOrIOp) { return lhs ^ rhs; })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return std::min(lhs, rhs); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return std::max(lhs, rhs); })
      .Case([&](arith::CmpIOp op) { return Sample(compare(op.getPredicate(), lhs, rhs)); })
      .Default([](Operation *) { return std::nullopt; });
}

SampledIndices::Sample SampledIndices::compute(Value value, ArrayRef<int64_t> element) {
  bool isScalar = !isa<RankedTensorType>(value.getType());
  Sample unknown = isScalar ? usual(value) : std::nullopt;
  if (std::optional<int64_t> constant = facts.get(value).constant)
    return constant;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return unknown;
    bool counts = argument == loop.getInductionVar();
    return find(counts ? loop.getLowerBound() : loop.getTiedLoopInit(argument)->get(), element);
  }
  Operation *op = value.getDefiningOp();
  auto first = [&](ArrayRef<int64_t> of) { return find(op->getOperand(0), of); };
  return llvm::TypeSwitch<Operation *, Sample>(op)
      .Case([&](tile::ProgramIdOp) { return 1; })
      .Case([&](tile::NumProgramsOp) { return 1; })
      .Case([&](tile::ArangeOp range) { return int64_t(range.getStart()) + element[0]; })
      .Case([&](tile::SplatOp) { return first({}); })
      .Case([&](tile::ExpandDimsOp expand) {
        SmallVector<int64_t> source(element);
        source.erase(source.begin() + expand.getAxis());
        return first(source);
      })
      .Case([&](tile::BroadcastOp broadcast) {
        SmallVector<int64_t> source(element);
        for (auto [axis, size] : llvm::enumerate(broadcast.getSource().getType().getShape()))
          source[axis] = size == 1 ? 0 : source[axis];
        return first(source);
      })
      .Case<tile::HintOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return first(element); })
      .Case([&](tile::AddPtrOp add) -> Sample {
        Sample base = first(element), offset = find(add.getOffset(), element);
        auto pointer = cast<tile::PtrType>(tile::elementTypeOf(value.getType()));
        if (!base || !offset)
          return std::nullopt;
        return int64_t(uint64_t(*base) + uint64_t(*offset) * pointer.getElementBytes());
      })
      .Case([&](arith::SelectOp select) -> Sample {
        Sample condition = first(
            isa<RankedTensorType>(select.getCondition().getType()) ? element : ArrayRef<int64_t>{});
        if (!condition)
          return std::nullopt;
        return find(*condition ? select.getTrueValue() : select.getFalseValue(), element);
      })
      .Default([&](Operation *) {
        bool isArithmetic = op->getNumOperands() == 2 && op->hasTrait<OpTrait::Elementwise>();
        return isArithmetic ? ofArithmetic(op, element) : unknown;
      });
}

} // namespace kiln
