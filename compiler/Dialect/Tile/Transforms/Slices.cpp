#include "compiler/Dialect/Tile/Transforms/Slices.h"

#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;

namespace kiln {

RankedTensorType Slices::typeOf(Type type, unsigned axis) const {
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  shape[axis] = extent;
  return cast<RankedTensorType>(type).clone(shape);
}

/// What is known of runs of neighbours holds of those in a slice; their first is a multiple less.
void Slices::weaken(tile::HintOp hint, unsigned axis) const {
  auto change = [&](DenseI64ArrayAttr numbers, function_ref<int64_t(int64_t)> weaker) {
    if (!numbers)
      return numbers;
    SmallVector<int64_t> changed(numbers.asArrayRef());
    changed[axis] = weaker(changed[axis]);
    return DenseI64ArrayAttr::get(hint.getContext(), changed);
  };
  auto within = [&](int64_t number) { return std::min(number, extent); };
  auto ofFirst = [&](int64_t number) { return std::gcd(number, extent); };
  hint.setDivisibilityAttr(change(hint.getDivisibilityAttr(), ofFirst));
  hint.setContiguityAttr(change(hint.getContiguityAttr(), within));
  hint.setConstancyAttr(change(hint.getConstancyAttr(), within));
}

Operation *Slices::clone(Operation *op, unsigned own) {
  IRMapping operands;
  for (OpOperand &operand : op->getOpOperands())
    if (Axis axis = operandAxis(operand, own))
      operands.map(operand.get(), of(operand.get(), *axis));
  Operation *clone = b.clone(*op, operands);
  if (auto hint = dyn_cast<tile::HintOp>(clone))
    weaken(hint, own);
  if (Axis axis = resultAxis(op, own))
    for (Value result : clone->getResults())
      result.setType(typeOf(result.getType(), *axis));
  return clone;
}

Value Slices::of(Value value, unsigned axis) {
  auto found = known.find({value.getAsOpaquePointer(), axis});
  if (found != known.end())
    return found->second;
  Value made = make(value, axis);
  set(value, axis, made);
  return made;
}

Value Slices::numbersFrom(Location loc, Value first) {
  Value numbers = indexRange(b, loc, extent);
  return arith::AddIOp::create(b, loc, tile::SplatOp::create(b, loc, numbers.getType(), first),
                               numbers);
}

/// Of a tensor from outside.
Value Slices::make(Value value, unsigned axis) {
  Location loc = value.getLoc();
  RankedTensorType type = typeOf(value.getType(), axis);
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op); constant && isUniform(op))
    return arith::ConstantOp::create(
        b, loc, cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  if (isUniform(op)) {
    Operation *clone = b.clone(*op);
    clone->getResult(0).setType(type);
    return clone->getResult(0);
  }
  auto range = dyn_cast_or_null<tile::ArangeOp>(op);
  if (!range && isRecomputed(op)) {
    Operation *made = clone(op, ownAxisOfResult(op, axis));
    for (auto [whole, part] : llvm::zip_equal(op->getResults(), made->getResults()))
      set(whole, axis, part);
    return made->getResult(cast<OpResult>(value).getResultNumber());
  }

  // The numbers of the slice, from the range's start or to pick elements with.
  Value first = start;
  if (range && range.getStart() != 0)
    first = arith::AddIOp::create(
        b, loc, start, arith::ConstantIntOp::create(b, loc, int32_t(range.getStart()), 32));
  Value numbers = numbersFrom(loc, first);
  if (range)
    return numbers;
  SmallVector<int64_t> shape{extent};
  for (unsigned other = 0; other != type.getRank(); ++other)
    if (other != axis) {
      shape.insert(shape.begin() + other, 1);
      numbers = tile::ExpandDimsOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()),
                                           numbers, other);
    }
  auto whole = RankedTensorType::get(type.getShape(), b.getI32Type());
  if (numbers.getType() != whole)
    numbers = tile::BroadcastOp::create(b, loc, whole, numbers);
  return tile::GatherOp::create(b, loc, type, value, numbers, axis);
}

} // namespace kiln
