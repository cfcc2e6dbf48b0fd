// Neutral elements, and the order of operands: see the header.

#include "compiler/Dialect/Tile/Combiners.h"
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

bool commutes(Operation *combiner) {
  return combiner && combiner->hasTrait<OpTrait::IsCommutative>();
}

} // namespace kiln::tile
