// Interval arithmetic on index expressions: see the header.

#include "compiler/Conversion/TileToCPU/AddressRange.h"
#include "compiler/Conversion/TileToCPU/IndexFacts.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

static bool computeHasRange(Value value, DenseMap<Value, bool> &known) {
  if (!isa<RankedTensorType>(value.getType()) || constantOf(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tile::ArangeOp>(op))
    return true;
  if (isa_and_nonnull<tile::SplatOp>(op))
    return true;
  if (!isa_and_nonnull<tile::HintOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
                       tile::TransOp, tile::AddPtrOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
                       arith::ExtSIOp, arith::MinSIOp, arith::MaxSIOp, arith::RemSIOp,
                       arith::SelectOp>(op))
    return false;
  ValueRange operands = op->getOperands();
  return llvm::all_of(isa<arith::SelectOp>(op) ? operands.drop_front() : operands,
                      [&](Value operand) {
                        auto found = known.find(operand);
                        if (found != known.end())
                          return found->second;
                        bool result = computeHasRange(operand, known);
                        known[operand] = result;
                        return result;
                      });
}

bool hasRange(Value value) {
  DenseMap<Value, bool> known;
  return computeHasRange(value, known);
}

namespace {

struct RangeEmitter {
  RangeEmitter(VectorBuilder b, function_ref<Value(Value)> scalar) : b(b), scalar(scalar) {}

  VectorBuilder b;
  function_ref<Value(Value)> scalar;
  DenseMap<Value, Range> known;

  Value least(Value a, Value c) { return arith::MinSIOp::create(b.builder, b.loc, a, c); }
  Value greatest(Value a, Value c) { return arith::MaxSIOp::create(b.builder, b.loc, a, c); }
  Value number(int64_t value) { return b.constant(value, b.builder.getI64Type()); }

  Range product(Range x, Range y) {
    Value products[] = {b.mul(x.low, y.low), b.mul(x.low, y.high), b.mul(x.high, y.low),
                        b.mul(x.high, y.high)};
    return {least(least(products[0], products[1]), least(products[2], products[3])),
            greatest(greatest(products[0], products[1]), greatest(products[2], products[3]))};
  }
  /// x rem y has the sign of x and is smaller than y in magnitude.
  Range remainder(Range x, Range y) {
    Value bound = b.sub(greatest(b.sub(number(0), y.low), y.high), number(1));
    Value below = b.sub(number(0), bound);
    return {least(greatest(x.low, below), number(0)), greatest(least(x.high, bound), number(0))};
  }
  Range shifted(Range pointer, Range offset, int64_t bytes) {
    return {b.add(pointer.low, b.mul(offset.low, number(bytes))),
            b.add(pointer.high, b.mul(offset.high, number(bytes)))};
  }
  Range ofScalar(Value value) {
    Value emitted =
        b.bitcast(scalar(value),
                  isa<tile::PtrType>(value.getType()) ? b.builder.getI64Type() : value.getType());
    emitted = b.resize(emitted, b.builder.getI64Type());
    return {emitted, emitted};
  }

  Range of(Value value) {
    auto found = known.find(value);
    if (found != known.end())
      return found->second;
    Range result = compute(value);
    known[value] = result;
    return result;
  }

  Range compute(Value value) {
    if (std::optional<int64_t> constant = constantOf(value))
      return {number(*constant), number(*constant)};
    if (!isa<RankedTensorType>(value.getType()))
      return ofScalar(value);
    Operation *op = value.getDefiningOp();
    auto operand = [&](unsigned i) { return of(op->getOperand(i)); };
    return llvm::TypeSwitch<Operation *, Range>(op)
        .Case([&](tile::ArangeOp range) {
          return Range{number(range.getStart()), number(int64_t(range.getEnd()) - 1)};
        })
        .Case([&](tile::SplatOp splat) { return ofScalar(splat.getSource()); })
        .Case([&](tile::AddPtrOp add) {
          auto pointer = cast<tile::PtrType>(tile::elementTypeOf(add.getPtr().getType()));
          return shifted(operand(0), operand(1), pointer.getElementBytes());
        })
        .Case([&](arith::AddIOp) { return shifted(operand(0), operand(1), 1); })
        .Case([&](arith::SubIOp) {
          Range x = operand(0), y = operand(1);
          return Range{b.sub(x.low, y.high), b.sub(x.high, y.low)};
        })
        .Case([&](arith::MulIOp) { return product(operand(0), operand(1)); })
        .Case([&](arith::RemSIOp) { return remainder(operand(0), operand(1)); })
        .Case([&](arith::MinSIOp) {
          Range x = operand(0), y = operand(1);
          return Range{least(x.low, y.low), least(x.high, y.high)};
        })
        .Case([&](arith::MaxSIOp) {
          Range x = operand(0), y = operand(1);
          return Range{greatest(x.low, y.low), greatest(x.high, y.high)};
        })
        .Case([&](arith::SelectOp) {
          Range x = operand(1), y = operand(2);
          return Range{least(x.low, y.low), greatest(x.high, y.high)};
        })
        .Default([&](Operation *) { return operand(0); });
  }
};

} // namespace

std::optional<Range> rangeOf(Value value, OpBuilder &builder, Location loc,
                             function_ref<Value(Value)> scalar) {
  if (!hasRange(value))
    return std::nullopt;
  return RangeEmitter(VectorBuilder(builder, loc), scalar).of(value);
}

} // namespace kiln::cpu
