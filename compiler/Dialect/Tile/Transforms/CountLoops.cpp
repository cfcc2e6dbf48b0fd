// `while` loops that count.

#include "compiler/Dialect/Tile/Transforms/CountLoops.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/KnownSigns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace kiln {
namespace {

/// One of the conditions, `counter + offset < bound` or the like, all of whose terms but the
/// counter are from outside.
struct Bound {
  arith::CmpIPredicate predicate;
  Value value;
  /// Null for none.
  Value offset;
};

bool isUnsigned(arith::CmpIPredicate predicate) { return predicate >= arith::CmpIPredicate::ult; }

bool isBelow(arith::CmpIPredicate p) {
  return p == arith::CmpIPredicate::slt || p == arith::CmpIPredicate::sle ||
         p == arith::CmpIPredicate::ult || p == arith::CmpIPredicate::ule;
}

bool isAbove(arith::CmpIPredicate p) {
  return p == arith::CmpIPredicate::sgt || p == arith::CmpIPredicate::sge ||
         p == arith::CmpIPredicate::ugt || p == arith::CmpIPredicate::uge;
}

bool includesEqual(arith::CmpIPredicate p) {
  return p == arith::CmpIPredicate::sle || p == arith::CmpIPredicate::ule ||
         p == arith::CmpIPredicate::sge || p == arith::CmpIPredicate::uge;
}

arith::CmpIPredicate turned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  static constexpr std::pair<P, P> pairs[] = {
      {P::slt, P::sgt}, {P::sle, P::sge}, {P::ult, P::ugt}, {P::ule, P::uge}};
  for (auto [one, other] : pairs) {
    if (predicate == one)
      return other;
    if (predicate == other)
      return one;
  }
  return predicate;
}

/// What a `while` counts by, if it does.
class CountedLoop {
public:
  explicit CountedLoop(scf::WhileOp loop) : loop(loop), b(loop) {}

  /// Finds the counter.
  LogicalResult match();
  /// Puts the scf.for in its place.
  void rewrite();

private:
  LogicalResult matchCondition();
  LogicalResult matchCounter(BlockArgument candidate);
  LogicalResult matchStep();
  LogicalResult sortConditions();
  std::optional<Bound> boundOf(Value condition);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  unsigned bits() const { return counter.getType().getIntOrFloatBitWidth(); }

  Value makeStep();
  Value makeBound(const Bound &bound);
  Value makeEnd();
  void fillBody(scf::ForOp counted, Value count);
  Value cloned(Value condition);

  scf::WhileOp loop;
  OpBuilder b;
  /// All of them have to hold.
  SmallVector<Value> conditions;
  /// The argument of the region that asks.
  BlockArgument counter;
  /// What is added to the counter, and what is subtracted from it.
  SmallVector<Value> added, subtracted;
  bool goesDown = false, inUnsigned = false;
  SmallVector<Bound> ends;
  /// Asked once.
  SmallVector<Value> asked;
};

/// The condition's operands may be computed there, of nothing but numbers.
LogicalResult CountedLoop::matchCondition() {
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    if (!isMemoryEffectFree(&op) || op.getNumRegions())
      return failure();
  conditions.push_back(loop.getConditionOp().getCondition());
  for (size_t i = 0; i < conditions.size();) {
    auto both = conditions[i].getDefiningOp<arith::AndIOp>();
    if (!both || isOutside(conditions[i])) {
      ++i;
      continue;
    }
    conditions[i] = both.getLhs();
    conditions.push_back(both.getRhs());
  }
  return success();
}

/// Empty where a condition is not one of the counter.
std::optional<Bound> CountedLoop::boundOf(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  Bound bound{compare.getPredicate(), compare.getRhs(), {}};
  Value index = compare.getLhs();
  if (isOutside(index)) {
    std::swap(index, bound.value);
    bound.predicate = turned(bound.predicate);
  }
  if (!isOutside(bound.value) || !index.getType().isIntOrIndex())
    return std::nullopt;
  bool isSigned = !isUnsigned(bound.predicate);
  while (index != counter) {
    Operation *op = index.getDefiningOp();
    if (auto add = dyn_cast_or_null<arith::AddIOp>(op); add && !bound.offset) {
      bool isLeft = isOutside(add.getLhs());
      bound.offset = isLeft ? add.getLhs() : add.getRhs();
      index = isLeft ? add.getRhs() : add.getLhs();
    } else if (isSigned ? isa_and_nonnull<arith::ExtSIOp>(op)
                        : isa_and_nonnull<arith::ExtUIOp>(op)) {
      index = op->getOperand(0);
    } else {
      return std::nullopt;
    }
  }
  // An offset is subtracted from the bound, for which there have to be bits.
  constexpr unsigned most = 64;
  unsigned width = bound.value.getType().getIntOrFloatBitWidth();
  if ((bound.offset && (!isOutside(bound.offset) || width == most)) || width > most)
    return std::nullopt;
  return bound;
}

/// The body adds to the counter what does not change.
LogicalResult CountedLoop::matchStep() {
  ValueRange forwarded = loop.getConditionOp().getArgs();
  Value next = loop.getYieldOp().getOperand(counter.getArgNumber());
  while (true) {
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getOwner() == loop.getAfterBody())
      return success(forwarded[argument.getArgNumber()] == counter);
    if (auto add = next.getDefiningOp<arith::AddIOp>()) {
      bool isLeft = isOutside(add.getLhs());
      added.push_back(isLeft ? add.getLhs() : add.getRhs());
      next = isLeft ? add.getRhs() : add.getLhs();
    } else if (auto subtract = next.getDefiningOp<arith::SubIOp>()) {
      subtracted.push_back(subtract.getRhs());
      next = subtract.getLhs();
    } else {
      return failure();
    }
    Operation *op = next.getDefiningOp();
    if (op && isOutside(next))
      return failure();
  }
}

/// Which way it goes, if that is known of all parts of the step.
LogicalResult CountedLoop::sortConditions() {
  auto isPositive = [&](Value part) { return isKnownAtLeast(part, 1, loop); };
  auto isNegative = [&](Value part) {
    APInt constant;
    return matchPattern(part, m_ConstantInt(&constant)) && constant.isNegative() &&
           !constant.isMinSignedValue();
  };
  if (added.empty() && subtracted.empty())
    return failure();
  if (!llvm::all_of(llvm::concat<Value>(added, subtracted), [&](Value v) { return isOutside(v); }))
    return failure();
  if (llvm::all_of(added, isPositive) && llvm::all_of(subtracted, isNegative))
    goesDown = false;
  else if (llvm::all_of(added, isNegative) && llvm::all_of(subtracted, isPositive))
    goesDown = true;
  else
    return failure();
  std::optional<bool> ofUnsigned;
  for (Value condition : conditions) {
    if (isOutside(condition)) {
      asked.push_back(condition);
      continue;
    }
    std::optional<Bound> bound = boundOf(condition);
    if (!bound || (!isBelow(bound->predicate) && !isAbove(bound->predicate)) ||
        ofUnsigned.value_or(isUnsigned(bound->predicate)) != isUnsigned(bound->predicate))
      return failure();
    ofUnsigned = isUnsigned(bound->predicate);
    if (isAbove(bound->predicate) == goesDown)
      ends.push_back(*bound);
    else
      asked.push_back(condition);
  }
  inUnsigned = ofUnsigned.value_or(false);
  // Behind the largest number of 64 bits there is none, which another end may make a loop's that
  // does end.
  bool mayWrap = ends.size() > 1 && llvm::any_of(ends, [](const Bound &end) {
                   return includesEqual(end.predicate) && end.value.getType().isInteger(64);
                 });
  return success(!ends.empty() && !mayWrap);
}

LogicalResult CountedLoop::matchCounter(BlockArgument candidate) {
  counter = candidate;
  added.clear();
  subtracted.clear();
  ends.clear();
  asked.clear();
  auto type = dyn_cast<IntegerType>(candidate.getType());
  if (!type || type.getWidth() < 8 || type.getWidth() > 64 || failed(matchStep()))
    return failure();
  return sortConditions();
}

LogicalResult CountedLoop::match() {
  if (failed(matchCondition()))
    return failure();
  for (BlockArgument argument : loop.getBeforeArguments())
    if (succeeded(matchCounter(argument)))
      return success();
  return failure();
}

/// Positive, whichever way the counter goes.
Value CountedLoop::makeStep() {
  Location loc = loop.getLoc();
  Value sum;
  auto add = [&](Value part, bool isNegated) {
    if (!sum && isNegated)
      sum = arith::ConstantOp::create(b, loc, b.getIntegerAttr(part.getType(), 0));
    if (isNegated)
      sum = b.createOrFold<arith::SubIOp>(loc, sum, part);
    else
      sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, part) : part;
  };
  for (Value part : goesDown ? subtracted : added)
    add(part, false);
  for (Value part : goesDown ? added : subtracted)
    add(part, true);
  return sum;
}

/// The first number that the counter does not have any more by this condition, or in a loop that
/// goes down the last one that it does not have: of the counter's type.
Value CountedLoop::makeBound(const Bound &bound) {
  Location loc = loop.getLoc();
  bool isNear = includesEqual(bound.predicate);
  auto one = [&](Type type) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1)).getResult();
  };
  auto moved = [&](Value value) -> Value {
    if (!isNear)
      return value;
    return goesDown ? b.createOrFold<arith::SubIOp>(loc, value, one(value.getType()))
                    : b.createOrFold<arith::AddIOp>(loc, value, one(value.getType()));
  };
  // Alone, a bound behind which there is no number belongs to a loop that does not end.
  if (!bound.offset && bound.value.getType() == counter.getType() && (!isNear || ends.size() == 1))
    return moved(bound.value);
  Type wide = b.getI64Type();
  auto extended = [&](Value value) -> Value {
    if (value.getType() == wide)
      return value;
    return inUnsigned ? b.createOrFold<arith::ExtUIOp>(loc, wide, value)
                      : b.createOrFold<arith::ExtSIOp>(loc, wide, value);
  };
  Value end = extended(bound.value);
  if (bound.offset)
    end = b.createOrFold<arith::SubIOp>(loc, end, extended(bound.offset));
  end = moved(end);
  if (bits() == 64)
    return end;
  APInt least = inUnsigned ? APInt::getMinValue(bits()) : APInt::getSignedMinValue(bits());
  APInt most = inUnsigned ? APInt::getMaxValue(bits()) : APInt::getSignedMaxValue(bits());
  auto constant = [&](const APInt &value) {
    APInt number = inUnsigned ? value.zext(64) : value.sext(64);
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(wide, number)).getResult();
  };
  // What was a number of 64 bits without a sign may be beyond all that have one.
  bool isWideUnsigned = inUnsigned && !bound.offset && bound.value.getType() == wide;
  end = isWideUnsigned ? b.createOrFold<arith::MinUIOp>(loc, end, constant(most))
                       : b.createOrFold<arith::MinSIOp>(loc, end, constant(most));
  if (!isWideUnsigned)
    end = b.createOrFold<arith::MaxSIOp>(loc, end, constant(least));
  return b.createOrFold<arith::TruncIOp>(loc, counter.getType(), end);
}

/// The condition at the loop's start.
Value CountedLoop::cloned(Value condition) {
  if (isOutside(condition))
    return condition;
  IRMapping map;
  map.map(loop.getBeforeArguments(), loop.getInits());
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    b.clone(op, map);
  return map.lookup(condition);
}

/// Where it ends: the nearest end, or its start, where a condition that is asked once does not
/// hold.
Value CountedLoop::makeEnd() {
  Location loc = loop.getLoc();
  Value nearest;
  for (const Bound &end : ends) {
    Value own = makeBound(end);
    if (!nearest)
      nearest = own;
    else if (goesDown)
      nearest = inUnsigned ? b.createOrFold<arith::MaxUIOp>(loc, nearest, own)
                           : b.createOrFold<arith::MaxSIOp>(loc, nearest, own);
    else
      nearest = inUnsigned ? b.createOrFold<arith::MinUIOp>(loc, nearest, own)
                           : b.createOrFold<arith::MinSIOp>(loc, nearest, own);
  }
  for (Value condition : asked)
    nearest = b.createOrFold<arith::SelectOp>(loc, cloned(condition), nearest,
                                              loop.getInits()[counter.getArgNumber()]);
  return nearest;
}

/// What the condition computes and passes on, and the body.
void CountedLoop::fillBody(scf::ForOp counted, Value count) {
  IRMapping map;
  map.map(loop.getBeforeArguments(), counted.getRegionIterArgs());
  map.map(counter, count);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    b.clone(op, map);
  for (auto [argument, value] :
       llvm::zip(loop.getAfterArguments(), loop.getConditionOp().getArgs()))
    argument.replaceAllUsesWith(map.lookupOrDefault(value));
  Block *body = counted.getBody();
  body->getOperations().splice(body->end(), loop.getAfterBody()->getOperations());
}

void CountedLoop::rewrite() {
  Location loc = loop.getLoc();
  Value start = loop.getInits()[counter.getArgNumber()], step = makeStep(), end = makeEnd();
  Value sum = goesDown ? b.createOrFold<arith::AddIOp>(loc, start, end) : Value();
  auto counted = scf::ForOp::create(b, loc, goesDown ? end : start, goesDown ? start : end, step,
                                    loop.getInits(), nullptr, inUnsigned);
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  // With no values to carry it comes with a terminator.
  counted.getBody()->clear();
  b.setInsertionPointToStart(counted.getBody());
  Value count = counted.getInductionVar();
  if (goesDown)
    count = arith::SubIOp::create(b, loc, sum, count);
  fillBody(counted, count);

  b.setInsertionPointAfter(counted);
  IRMapping behind;
  behind.map(loop.getBeforeArguments(), counted.getResults());
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    b.clone(op, behind);
  SmallVector<Value> results;
  for (Value value : loop.getConditionOp().getArgs())
    results.push_back(behind.lookupOrDefault(value));
  loop.replaceAllUsesWith(results);
  loop.erase();
}

struct CountLoopsPass : PassWrapper<CountLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountLoopsPass)
  StringRef getArgument() const override { return "kiln-count-loops"; }
  StringRef getDescription() const override {
    return "Make loops that say how often they run of those that count and compare";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    getOperation().walk([](scf::WhileOp loop) {
      moveLoopInvariantCode(loop);
      CountedLoop counted(loop);
      if (succeeded(counted.match()))
        counted.rewrite();
    });
  }
};

} // namespace

std::unique_ptr<Pass> createCountLoopsPass() { return std::make_unique<CountLoopsPass>(); }

void registerCountLoopsPass() { PassRegistration<CountLoopsPass>(); }

} // namespace kiln
