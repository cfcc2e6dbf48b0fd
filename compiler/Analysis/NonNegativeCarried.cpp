#include "compiler/Analysis/NonNegativeCarried.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

std::optional<int64_t> constantIn(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getBitWidth() > 64)
    return std::nullopt;
  return constant.getSExtValue();
}

/// What is at least 0 where the loop's body runs.
class BodyFacts {
public:
  explicit BodyFacts(scf::ForOp loop) {
    std::optional<int64_t> lower = constantIn(loop.getLowerBound());
    std::optional<int64_t> step = constantIn(loop.getStep());
    counts = lower && *lower >= 0 && step && *step > 0 && !loop.getUnsignedCmp();
    if (!counts)
      return;
    known.insert(loop.getInductionVar());
    addPositive(loop.getUpperBound());
  }

  bool counts; ///< so that the upper bound is positive
  DenseSet<Value> known;

  bool isNonNegative(Value value, unsigned depth = 0) const;

private:
  /// Of what is at least 1 so is what it is a part or a quotient of.
  void addPositive(Value value);
};

void BodyFacts::addPositive(Value value) {
  if (!known.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> right =
      op && op->getNumOperands() == 2 ? constantIn(op->getOperand(1)) : std::nullopt;
  if (!right)
    return;
  // x + c >= least.
  auto addSummand = [&](Value sum, int64_t least) {
    auto add = sum.getDefiningOp<arith::AddIOp>();
    std::optional<int64_t> constant = add ? constantIn(add.getRhs()) : std::nullopt;
    if (constant && *constant < least)
      addPositive(add.getLhs());
  };
  if (isa<arith::DivSIOp>(op) && *right > 0) {
    addPositive(op->getOperand(0));
    addSummand(op->getOperand(0), *right);
  }
  if (isa<arith::MulIOp>(op) && *right > 0)
    addPositive(op->getOperand(0));
  if (isa<arith::AddIOp>(op))
    addSummand(value, 1);
}

bool BodyFacts::isNonNegative(Value value, unsigned depth) const {
  constexpr unsigned deepest = 32;
  if (known.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return false;
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto integer = dyn_cast<IntegerAttr>(constant);
    return integer && !integer.getValue().isNegative();
  }
  auto operand = [&](unsigned index) { return isNonNegative(op->getOperand(index), depth + 1); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::ProgramIdOp, tile::NumProgramsOp>([](auto) { return true; })
      .Case([](tile::ArangeOp range) { return int32_t(range.getStart()) >= 0; })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp,
            tile::HintOp, tilegpu::ConvertLayoutOp, arith::ExtSIOp>(
          [&](auto) { return operand(0); })
      .Case<arith::AddIOp, arith::MulIOp>([&](auto) { return operand(0) && operand(1); })
      .Case([&](arith::DivSIOp div) {
        Attribute divisor;
        bool isPositive = !matchPattern(div.getRhs(), m_Constant(&divisor)) || operand(1);
        return isPositive && operand(0);
      })
      .Case([&](arith::RemSIOp) { return operand(0); })
      .Default([](Operation *) { return false; });
}

} // namespace

SmallVector<BlockArgument> nonNegativeCarried(scf::ForOp loop) {
  BodyFacts facts(loop);
  SmallVector<BlockArgument> carried;
  if (!facts.counts)
    return carried;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (getElementTypeOrSelf(argument.getType()).isInteger() &&
        facts.isNonNegative(loop.getTiedLoopInit(argument)->get()))
      carried.push_back(argument);
  // Those that stay so, as long as the others do.
  facts.known.insert(carried.begin(), carried.end());
  auto becomesNegative = [&](BlockArgument argument) {
    if (facts.isNonNegative(loop.getTiedLoopYieldedValue(argument)->get()))
      return false;
    facts.known.erase(argument);
    return true;
  };
  while (true) {
    size_t before = carried.size();
    llvm::erase_if(carried, becomesNegative);
    if (carried.size() == before)
      return carried;
  }
}

} // namespace kiln
