#include "compiler/Analysis/NonNegativeCarried.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
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

/// Whether it is a quotient, or what is left of one, by a positive number.
bool isDividedByPositive(Operation *op) {
  if (!isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op))
    return false;
  Value divisor = op->getOperand(1);
  return divisor.getDefiningOp<tile::NumProgramsOp>() || constantIn(divisor).value_or(0) > 0;
}

/// What is at least 0 where the loop's body runs.
class BodyFacts {
public:
  BodyFacts() : counts(false) {}
  /// Of a body that runs only if this is positive.
  explicit BodyFacts(Value positive) : counts(true) { addPositive(positive); }
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
      .Case<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(
          [&](auto) { return operand(0) && operand(1); })
      .Case([&](arith::SubIOp sub) {
        // What is left up to the next multiple.
        auto rest = sub.getRhs().getDefiningOp<arith::RemSIOp>();
        return rest && rest.getRhs() == sub.getLhs() && isNonNegative(rest.getLhs(), depth + 1);
      })
      .Case([&](arith::DivSIOp div) {
        Attribute divisor;
        bool isPositive = !matchPattern(div.getRhs(), m_Constant(&divisor)) || operand(1);
        return isPositive && operand(0);
      })
      .Case([&](arith::RemSIOp) { return operand(0); })
      .Default([](Operation *) { return false; });
}

/// What would hold if `total` were not positive.
class WithoutTotal {
public:
  explicit WithoutTotal(Value total) : total(total) {}

  /// Whether `less` is then no more than `more`.
  bool isAtMost(Value less, Value more, unsigned depth = 0) const;

private:
  bool isNonPositive(Value value) const {
    Operation *op = value.getDefiningOp();
    return value == total || (isDividedByPositive(op) && op->getOperand(0) == total);
  }
  /// Of a number that is not negative and one that is not positive the smaller one is the latter.
  Value resolved(Value value) const {
    auto smaller = value.getDefiningOp<arith::MinSIOp>();
    if (smaller && isNonPositive(smaller.getLhs()) && none.isNonNegative(smaller.getRhs()))
      return smaller.getLhs();
    if (smaller && isNonPositive(smaller.getRhs()) && none.isNonNegative(smaller.getLhs()))
      return smaller.getRhs();
    return value;
  }

  Value total;
  BodyFacts none;
};

bool WithoutTotal::isAtMost(Value less, Value more, unsigned depth) const {
  constexpr unsigned deepest = 4;
  less = resolved(less);
  more = resolved(more);
  if (less == more)
    return true;
  Operation *a = less.getDefiningOp(), *b = more.getDefiningOp();
  if (!a || depth == deepest)
    return false;
  // Something is added that is not positive, or both are sums.
  auto sum = dyn_cast<arith::AddIOp>(a);
  if (sum && ((isNonPositive(sum.getRhs()) && isAtMost(sum.getLhs(), more, depth + 1)) ||
              (isNonPositive(sum.getLhs()) && isAtMost(sum.getRhs(), more, depth + 1))))
    return true;
  if (!b || a->getName() != b->getName() || a->getNumOperands() != 2)
    return false;
  for (unsigned first : {0, 1}) {
    Value ofA = a->getOperand(0), otherA = a->getOperand(1);
    Value ofB = b->getOperand(first), otherB = b->getOperand(1 - first);
    if (sum && isAtMost(ofA, ofB, depth + 1) && isAtMost(otherA, otherB, depth + 1))
      return true;
    // The same, which is not positive, more often.
    for (bool isLeft : {false, true}) {
      Value factor = isLeft ? ofA : otherA, times = isLeft ? otherA : ofA;
      Value otherFactor = isLeft ? ofB : otherB, otherTimes = isLeft ? otherB : ofB;
      auto oftener = times.getDefiningOp<arith::AddIOp>();
      if (isa<arith::MulIOp>(a) && factor == otherFactor && isNonPositive(factor) && oftener &&
          oftener.getLhs() == otherTimes && none.isNonNegative(oftener.getRhs()))
        return true;
    }
  }
  return false;
}

/// What is divided by positive numbers to compute `value`.
void collectDividends(Value value, SmallVectorImpl<Value> &dividends, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return;
  if (isDividedByPositive(op))
    dividends.push_back(op->getOperand(0));
  else if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(op))
    for (Value operand : op->getOperands())
      collectDividends(operand, dividends, depth + 1);
}

/// What holds in the body of a loop from `first` to `last` that runs only for a positive total.
std::optional<BodyFacts> factsOfShare(Value first, Value last) {
  SmallVector<Value> dividends;
  collectDividends(last, dividends);
  for (Value total : dividends)
    if (WithoutTotal(total).isAtMost(last, first))
      return BodyFacts(total);
  return std::nullopt;
}

/// Of the arguments of a body those that are not negative in the first iteration, and that stay so
/// as long as the others do.
SmallVector<BlockArgument> stayingSo(BodyFacts &facts, Block::BlockArgListType arguments,
                                     function_ref<Value(BlockArgument)> initOf,
                                     function_ref<Value(BlockArgument)> yieldedOf) {
  SmallVector<BlockArgument> carried;
  for (BlockArgument argument : arguments)
    if (getElementTypeOrSelf(argument.getType()).isInteger() &&
        facts.isNonNegative(initOf(argument)))
      carried.push_back(argument);
  facts.known.insert(carried.begin(), carried.end());
  auto becomesNegative = [&](BlockArgument argument) {
    if (facts.isNonNegative(yieldedOf(argument)))
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

} // namespace

SmallVector<BlockArgument> nonNegativeCarried(scf::ForOp loop) {
  BodyFacts facts(loop);
  bool goesUp = !loop.getUnsignedCmp() && constantIn(loop.getStep()).value_or(0) > 0;
  auto ofShare = goesUp && !facts.counts ? factsOfShare(loop.getLowerBound(), loop.getUpperBound())
                                         : std::nullopt;
  if (ofShare)
    facts = *ofShare;
  if (!facts.counts)
    return {};
  auto counter = cast<BlockArgument>(loop.getInductionVar());
  if (facts.isNonNegative(loop.getLowerBound()))
    facts.known.insert(counter);
  SmallVector<BlockArgument> carried = stayingSo(
      facts, loop.getRegionIterArgs(),
      [&](BlockArgument argument) { return loop.getTiedLoopInit(argument)->get(); },
      [&](BlockArgument argument) { return loop.getTiedLoopYieldedValue(argument)->get(); });
  if (facts.known.contains(counter))
    carried.push_back(counter);
  return carried;
}

SmallVector<BlockArgument> nonNegativeCarried(scf::WhileOp loop) {
  auto compare = loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  ValueRange forwarded = loop.getConditionOp().getArgs();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !llvm::equal(forwarded, loop.getBeforeArguments()))
    return {};
  auto at = dyn_cast<BlockArgument>(compare.getLhs());
  if (!at || at.getOwner() != loop.getBeforeBody() ||
      !loop.isDefinedOutsideOfLoop(compare.getRhs()))
    return {};
  auto facts = factsOfShare(loop.getInits()[at.getArgNumber()], compare.getRhs());
  if (!facts)
    return {};
  auto number = [](BlockArgument argument) { return argument.getArgNumber(); };
  return stayingSo(
      *facts, loop.getAfterArguments(),
      [&](BlockArgument argument) { return loop.getInits()[number(argument)]; },
      [&](BlockArgument argument) { return loop.getYieldOp().getOperand(number(argument)); });
}

} // namespace kiln
