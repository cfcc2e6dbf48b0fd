// Loads that read every address several times: see the header.

#include "compiler/Dialect/Tile/Transforms/LoadOnce.h"
#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "compiler/Dialect/Tile/Transforms/Simplification.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace kiln {
namespace {

//===-- Quotients without a rest ---===//

std::optional<int64_t> constantIn(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getSignificantBits() > 32)
    return std::nullopt;
  return constant.getSExtValue();
}

/// What a tensor is divided by, or shifted down by as a power of two.
std::optional<int64_t> divisorOf(Operation *op) {
  if (!isa<arith::DivSIOp, arith::ShRSIOp>(op))
    return std::nullopt;
  std::optional<int64_t> constant = constantIn(op->getOperand(1));
  bool isShift = isa<arith::ShRSIOp>(op);
  if (!constant || *constant <= 0 || (isShift && *constant > 30))
    return std::nullopt;
  return isShift ? int64_t(1) << *constant : *constant;
}

/// Whether all terms of an index, which does not overflow, are multiples by the way they are
/// written.
bool isMultiple(Value value, int64_t divisor) {
  if (std::optional<int64_t> constant = constantIn(value))
    return *constant % divisor == 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::AddIOp>(op))
    return isMultiple(op->getOperand(0), divisor) && isMultiple(op->getOperand(1), divisor);
  if (isa<arith::MulIOp>(op)) {
    std::optional<int64_t> factor = constantIn(op->getOperand(1));
    return factor && *factor % divisor == 0;
  }
  return isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, arith::ExtSIOp>(op) &&
         isMultiple(op->getOperand(0), divisor);
}

/// The quotient of such an index, term by term.
Value divide(OpBuilder &b, Value value, int64_t divisor) {
  Location loc = value.getLoc();
  if (std::optional<int64_t> constant = constantIn(value)) {
    int64_t quotient = *constant / divisor;
    if (isa<RankedTensorType>(value.getType()))
      return splatOf(b, loc, value.getType(), quotient);
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(value.getType(), quotient));
  }
  Operation *op = value.getDefiningOp();
  SmallVector<Value> quotients(op->getOperands());
  for (Value &operand : MutableArrayRef(quotients).drop_front(isa<arith::MulIOp>(op) ? 1 : 0))
    operand = divide(b, operand, divisor);
  Operation *quotient = b.clone(*op);
  quotient->setOperands(quotients);
  return quotient->getResult(0);
}

//===-- Every so many elements of a tensor ---===//

/// Of tensors that are computed from ranges: every `step`th element along an axis, the first of
/// each group.
class Sampler {
public:
  explicit Sampler(int64_t step) : step(step) {}

  /// Whether it can be computed. `carried` gets the tensors of loops that it is computed from.
  bool canSample(Value value, unsigned axis, SmallVectorImpl<BlockArgument> &carried) {
    if (!seen.insert({value, axis}).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      carried.push_back(argument);
      return isInduction(argument);
    }
    Operation *op = value.getDefiningOp();
    if (isUniform(op) || isa<tile::ArangeOp>(op))
      return true;
    if (!isRecomputed(op))
      return false;
    unsigned own = ownAxisOfResult(op, axis);
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      Axis sampled = operandAxis(operand, own);
      return !sampled || canSample(operand.get(), *sampled, carried);
    });
  }

  /// Computes it, each part where the whole is computed. No part is carried by a loop.
  Value sample(Value value, unsigned axis) {
    auto known = samples.find({value, axis});
    if (known != samples.end())
      return known->second;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    Value made = make(b, value, axis);
    samples[{value, axis}] = made;
    return made;
  }

private:
  RankedTensorType sampledType(Type type, unsigned axis) const {
    SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
    shape[axis] /= step;
    return cast<RankedTensorType>(type).clone(shape);
  }

  Value make(OpBuilder &b, Value value, unsigned axis) {
    Operation *op = value.getDefiningOp();
    RankedTensorType type = sampledType(value.getType(), axis);
    if (auto range = dyn_cast<tile::ArangeOp>(op))
      return makeRange(b, range, type);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return arith::ConstantOp::create(
          b, op->getLoc(), cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
    if (Value quotient = makeQuotient(b, op, axis))
      return quotient;
    IRMapping operands;
    unsigned own = ownAxisOfResult(op, axis);
    if (!isUniform(op))
      for (OpOperand &operand : op->getOpOperands())
        if (Axis sampled = operandAxis(operand, own))
          operands.map(operand.get(), sample(operand.get(), *sampled));
    Operation *clone = b.clone(*op, operands);
    clone->getResult(0).setType(type);
    if (auto hint = dyn_cast<tile::HintOp>(clone))
      weaken(hint, axis);
    return clone->getResult(0);
  }

  /// A range's steps divided by what they are multiples of count by one again, which facts about
  /// axes do not say of a division.
  Value makeQuotient(OpBuilder &b, Operation *op, unsigned axis) {
    std::optional<int64_t> divisor = divisorOf(op);
    if (!divisor)
      return {};
    Value dividend = sample(op->getOperand(0), axis);
    return isMultiple(dividend, *divisor) ? divide(b, dividend, *divisor) : Value();
  }

  Value makeRange(OpBuilder &b, tile::ArangeOp range, RankedTensorType type) const {
    Location loc = range.getLoc();
    Value numbers = arith::MulIOp::create(b, loc, indexRange(b, loc, type.getNumElements()),
                                          splatOf(b, loc, type, step));
    return arith::AddIOp::create(b, loc, numbers, splatOf(b, loc, type, int32_t(range.getStart())));
  }

  /// Neighbours that counted up by one are further apart, and of equal ones there are fewer.
  void weaken(tile::HintOp hint, unsigned axis) const {
    auto change = [&](DenseI64ArrayAttr numbers, int64_t divisor) {
      if (!numbers)
        return numbers;
      SmallVector<int64_t> changed(numbers.asArrayRef());
      changed[axis] = divisor ? std::max<int64_t>(1, changed[axis] / divisor) : 1;
      return DenseI64ArrayAttr::get(hint.getContext(), changed);
    };
    hint.setContiguityAttr(change(hint.getContiguityAttr(), 0));
    hint.setDivisibilityAttr(change(hint.getDivisibilityAttr(), 0));
    hint.setConstancyAttr(change(hint.getConstancyAttr(), step));
  }

  int64_t step;
  DenseSet<std::pair<Value, unsigned>> seen;
  DenseMap<std::pair<Value, unsigned>, Value> samples;
};

//===-- What neighbours have alike ---===//

/// How many neighbours along an axis one access or division can serve.
struct Repetition {
  unsigned axis;
  int64_t count;
  /// Of a load whose mask may end within such neighbours, of which the first ones are read; of a
  /// remainder that counts up from the first one's.
  bool differs = false;
};

/// Each element `count` times along `axis`.
Value repeat(OpBuilder &b, Location loc, Value value, Repetition repetition, Type to) {
  auto type = cast<RankedTensorType>(value.getType());
  auto [axis, count, differs] = repetition;
  if (type.getDimSize(axis) == 1)
    return tile::BroadcastOp::create(b, loc, to, value);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis + 1, 1);
  Value apart = tile::ExpandDimsOp::create(b, loc, type.clone(shape), value, axis + 1);
  shape[axis + 1] = count;
  Value equal = tile::BroadcastOp::create(b, loc, type.clone(shape), apart);
  return tile::ReshapeOp::create(b, loc, to, equal, /*any_order=*/false);
}

std::optional<Repetition> repetitionOf(tile::LoadOp load, const AxisInfoAnalysis &facts) {
  auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
  if (!type || load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV ||
      (load.getOther() && !isUniform(load.getOther().getDefiningOp())))
    return std::nullopt;
  for (unsigned axis = 0; axis < unsigned(type.getRank()); ++axis) {
    int64_t count = std::min(facts.get(load.getPtr()).constancy[axis], type.getDimSize(axis));
    if (load.getMask())
      count = std::min(count, facts.get(load.getMask()).prefix[axis]);
    if (count > 1)
      return Repetition{axis, count,
                        load.getMask() && facts.maskConstancy(load.getMask(), axis) < count};
  }
  return std::nullopt;
}

/// What its addresses come from; `other` is one value.
SmallVector<Value> sampledOperands(tile::LoadOp load) {
  SmallVector<Value> operands{load.getPtr()};
  if (load.getMask())
    operands.push_back(load.getMask());
  return operands;
}

void narrow(tile::LoadOp load, Repetition repetition) {
  Sampler sampler(repetition.count);
  OpBuilder b(load);
  auto sampled = [&](Value operand) {
    return operand ? sampler.sample(operand, repetition.axis) : Value();
  };
  auto few = tile::LoadOp::create(b, load.getLoc(), sampled(load.getPtr()), sampled(load.getMask()),
                                  sampled(load.getOther()));
  few.setCacheAttr(load.getCacheAttr());
  few.setEvictAttr(load.getEvictAttr());
  Value all = repeat(b, load.getLoc(), few.getResult(), repetition, load.getType());
  if (repetition.differs && load.getOther())
    all = arith::SelectOp::create(b, load.getLoc(), load.getMask(), all, load.getOther());
  load.getResult().replaceAllUsesWith(all);
  load.erase();
}

/// Of divisions in loops by one number that only the launch knows: others are a shift or two.
/// Outside of loops what is expected of strides is worth more (ExpectedStrides.h).
std::optional<Repetition> repetitionOf(Operation *op, const AxisInfoAnalysis &facts) {
  bool isQuotient = isa<arith::DivSIOp, arith::DivUIOp>(op);
  if ((!isQuotient && !isa<arith::RemSIOp, arith::RemUIOp>(op)) || op->use_empty())
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  Operation *divisor = op->getOperand(1).getDefiningOp();
  if (!type || type.getElementTypeBitWidth() < 32 || !isUniform(divisor) ||
      isa<arith::ConstantOp>(divisor) || !op->getParentOfType<LoopLikeOpInterface>())
    return std::nullopt;
  AxisInfo info = facts.get(op->getResult(0));
  for (unsigned axis = 0; axis < unsigned(type.getRank()); ++axis) {
    int64_t equal = std::min(info.constancy[axis], type.getDimSize(axis));
    if (equal > 1)
      return Repetition{axis, equal};
    int64_t counting = std::min(info.contiguity[axis], type.getDimSize(axis));
    if (!isQuotient && counting > 1)
      return Repetition{axis, counting, /*differs=*/true};
  }
  return std::nullopt;
}

SmallVector<Value> sampledOperands(Operation *division) { return {division->getResult(0)}; }

/// 0 to count - 1 in each group along an axis.
Value countIn(OpBuilder &b, Location loc, RankedTensorType type, Repetition repetition) {
  auto [axis, count, differs] = repetition;
  Value places = indexRange(b, loc, type.getDimSize(axis));
  if (count < type.getDimSize(axis))
    places = arith::RemUIOp::create(b, loc, places, splatOf(b, loc, places.getType(), count));
  if (type.getElementTypeBitWidth() > 32)
    places = arith::ExtUIOp::create(
        b, loc, cast<RankedTensorType>(places.getType()).clone(type.getElementType()), places);
  for (unsigned other = 0; other < unsigned(type.getRank()); ++other) {
    if (other == axis)
      continue;
    auto known = cast<RankedTensorType>(places.getType());
    SmallVector<int64_t> shape(known.getShape());
    shape.insert(shape.begin() + other, 1);
    places = tile::ExpandDimsOp::create(b, loc, known.clone(shape), places, other);
  }
  return places.getType() == type ? places : tile::BroadcastOp::create(b, loc, type, places);
}

void narrow(Operation *op, Repetition repetition) {
  Value result = op->getResult(0);
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  Value few = Sampler(repetition.count).sample(result, repetition.axis);
  Value all = repeat(b, op->getLoc(), few, repetition, result.getType());
  if (repetition.differs)
    all = arith::AddIOp::create(
        b, op->getLoc(), all,
        countIn(b, op->getLoc(), cast<RankedTensorType>(result.getType()), repetition));
  result.replaceAllUsesWith(all);
  op->erase();
}

/// Narrows one operation, or makes a tensor that one needs and a loop carries a function of
/// scalars.
template <typename Op> bool changeOne(func::FuncOp kernel) {
  AxisInfoAnalysis facts(kernel);
  WalkResult result = kernel.walk([&](Op op) {
    std::optional<Repetition> repetition = repetitionOf(op, facts);
    if (!repetition)
      return WalkResult::advance();
    SmallVector<BlockArgument> carried;
    Sampler sampler(repetition->count);
    for (Value operand : sampledOperands(op))
      if (!sampler.canSample(operand, repetition->axis, carried))
        return WalkResult::advance();
    if (carried.empty())
      narrow(op, *repetition);
    else
      rewriteInduction(carried.front());
    return WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

struct LoadOncePass : PassWrapper<LoadOncePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LoadOncePass)
  StringRef getArgument() const override { return "kiln-load-once"; }
  StringRef getDescription() const override { return "Read each of the addresses of a load once"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    if (getOperation().isDeclaration() || !loadOnce(getOperation()))
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    addSimplification(passes);
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};

} // namespace

bool loadOnce(func::FuncOp kernel) {
  bool changed = false;
  while (changeOne<tile::LoadOp>(kernel))
    changed = true;
  // Only then, as no address is sampled through a repetition.
  while (changeOne<Operation *>(kernel))
    changed = true;
  return changed;
}

std::unique_ptr<Pass> createLoadOncePass() { return std::make_unique<LoadOncePass>(); }

void registerLoadOncePass() { PassRegistration<LoadOncePass>(); }

} // namespace kiln
