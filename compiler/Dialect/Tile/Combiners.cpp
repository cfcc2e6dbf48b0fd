// Neutral elements, and whether operands may change places: see the header.

#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <cmath>
#include <limits>
#include <random>

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

using Constants = SmallVector<Attribute>;

/// Computes a combination's results from constants, by its operations' own folders.
class Evaluation {
public:
  explicit Evaluation(Region &combine) {
    IRMapping mapping;
    combine.cloneInto(&copy, mapping); // folders may change operations
  }

  Block &body() { return copy.front(); }

  /// No results if an operation does not fold.
  std::optional<Constants> of(ArrayRef<Attribute> arguments) {
    values.clear();
    for (auto [argument, value] : llvm::zip_equal(body().getArguments(), arguments))
      values[argument] = value;
    for (Operation &op : body().without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>() && failed(fold(op)))
        return std::nullopt;
    return operandsOf(*body().getTerminator());
  }

private:
  /// Null where a value is not constant.
  Attribute constant(Value value) {
    if (Attribute known = values.lookup(value))
      return known;
    Attribute captured;
    matchPattern(value, m_Constant(&captured));
    return captured;
  }

  std::optional<Constants> operandsOf(Operation &op) {
    Constants operands =
        llvm::map_to_vector(op.getOperands(), [&](Value v) { return constant(v); });
    if (llvm::is_contained(operands, Attribute()))
      return std::nullopt;
    return operands;
  }

  LogicalResult fold(Operation &op) {
    std::optional<Constants> operands = operandsOf(op);
    SmallVector<OpFoldResult> results;
    if (!operands || failed(op.fold(*operands, results)) || results.size() != op.getNumResults())
      return failure();
    for (auto [result, folded] : llvm::zip_equal(op.getResults(), results)) {
      auto attribute = dyn_cast<Attribute>(folded);
      values[result] = attribute ? attribute : constant(cast<Value>(folded));
      if (!values[result])
        return failure();
    }
    return success();
  }

  Region copy;
  DenseMap<Value, Attribute> values;
};

/// Random operands of a combination.
class Samples {
public:
  enum Kind { Positive, OfAnySign, OneOrTwo, OneOrLess };

  /// Null for types that are neither floats nor integers.
  Attribute draw(Type type, Kind kind) {
    if (auto real = dyn_cast<FloatType>(type))
      return FloatAttr::get(real, drawReal(kind));
    if (auto integer = dyn_cast<IntegerType>(type))
      return IntegerAttr::get(integer, APInt(integer.getWidth(), uint64_t(drawInteger(kind)), true,
                                             /*implicitTrunc=*/true));
    return {};
  }

private:
  uint32_t below(uint32_t bound) { return engine() % bound; }

  double drawReal(Kind kind) {
    if (areOftenEqual(kind))
      return double(drawInteger(kind));
    double magnitude = 0.5 + below(1u << 20) * 0x1.8p-20;
    return kind == OfAnySign && below(2) ? -magnitude : magnitude;
  }

  int64_t drawInteger(Kind kind) {
    if (areOftenEqual(kind))
      return kind == OneOrTwo ? 1 + int64_t(below(2)) : int64_t(below(3)) - 1;
    return 1 + int64_t(below(100)) - (kind == OfAnySign ? 50 : 0);
  }

  /// Whether operands are often equal.
  static bool areOftenEqual(Kind kind) { return kind == OneOrTwo || kind == OneOrLess; }

  std::mt19937 engine;
};

/// Equal but for rounding.
bool areClose(Attribute a, Attribute b) {
  auto real = dyn_cast<FloatAttr>(a);
  if (!real)
    return a == b;
  double x = real.getValueAsDouble(), y = cast<FloatAttr>(b).getValueAsDouble();
  unsigned precision = llvm::APFloat::semanticsPrecision(real.getValue().getSemantics());
  double tolerance = std::exp2(-0.5 * precision) * std::max({1.0, std::abs(x), std::abs(y)});
  return x == y || std::abs(x - y) <= tolerance;
}

/// Whether the value is one of the operands, by whatever condition, or a truth value.
bool isChosen(Value value) {
  if (isa<BlockArgument>(value) || value.getType().isInteger(1))
    return true;
  auto select = value.getDefiningOp<arith::SelectOp>();
  return select && isChosen(select.getTrueValue()) && isChosen(select.getFalseValue());
}

/// Whether results stay the same, but for rounding, where the two groups of random operands change
/// places.
bool commutesFor(Evaluation &evaluation, Samples &samples, Samples::Kind kind) {
  Block &body = evaluation.body();
  unsigned groupSize = body.getNumArguments() / 2;
  Constants operands = llvm::map_to_vector(body.getArgumentTypes(),
                                           [&](Type type) { return samples.draw(type, kind); });
  if (llvm::is_contained(operands, Attribute()))
    return false;
  std::optional<Constants> results = evaluation.of(operands);
  std::rotate(operands.begin(), operands.begin() + groupSize, operands.end());
  std::optional<Constants> swapped = evaluation.of(operands);
  return results && swapped && llvm::all_of(llvm::zip_equal(*results, *swapped), [](auto pair) {
           return areClose(std::get<0>(pair), std::get<1>(pair));
         });
}

} // namespace

bool commutes(ReduceOp reduce) {
  if (Operation *combiner = reduce.getSingleCombiner())
    return combiner->hasTrait<OpTrait::IsCommutative>();
  Evaluation evaluation(reduce.getCombine());
  Samples samples;
  SmallVector<Samples::Kind> kinds{Samples::Positive, Samples::OfAnySign, Samples::OneOrTwo};
  // Zeros and opposites, for which what computes may divide by zero.
  if (llvm::all_of(evaluation.body().getTerminator()->getOperands(), isChosen))
    kinds.push_back(Samples::OneOrLess);
  constexpr int repetitions = 48;
  return llvm::all_of(kinds, [&](Samples::Kind kind) {
    return llvm::all_of(llvm::seq(repetitions),
                        [&](int) { return commutesFor(evaluation, samples, kind); });
  });
}

} // namespace kiln::tile
