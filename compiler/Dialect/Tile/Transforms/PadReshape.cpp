// A reshape merges and splits axes in groups of equal size, [6, 8, 5] -> [48, 5] in [6, 8] -> [48]
// and [5] -> [5]. Padding the outermost axis of a group adds elements behind all others, and both
// sides grow alike: the elements keep their numbers. Padding any other axis opens gaps. Then each
// place of the result fetches its element: its number in the original shapes is computed from its
// padded coordinates, the padded coordinates in the source from that.

#include "compiler/Dialect/Tile/Transforms/PadReshape.h"
#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// No axis but the outermost of those longer than 1 grows.
bool growsOutside(ArrayRef<int64_t> group) {
  group = group.drop_while([](int64_t extent) { return extent == 1; });
  return group.empty() || ArrayRef(paddedShape(group.drop_front())) == group.drop_front();
}

/// Whether every element has the same number in the padded shapes.
bool keepsNumbers(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  while (!from.empty() && !to.empty()) {
    size_t left = 1, right = 1;
    int64_t leftCount = from[0], rightCount = to[0];
    while (leftCount != rightCount)
      if (leftCount < rightCount)
        leftCount *= from[left++];
      else
        rightCount *= to[right++];
    if (!growsOutside(from.take_front(left)) || !growsOutside(to.take_front(right)))
      return false;
    from = from.drop_front(left);
    to = to.drop_front(right);
  }
  return true; // what is left are axes of extent 1
}

/// Arithmetic on one i32 tensor of rank 1 and constants.
class Numbers {
public:
  Numbers(OpBuilder &builder, Location loc, int64_t count)
      : builder(builder), loc(loc), all(indexRange(builder, loc, count)) {}

  Value places() { return all; }
  Value limit(Value number, int64_t most) {
    return arith::MinUIOp::create(builder, loc, number, constant(most));
  }

  /// The number in `to` of the elements that have these in `from`: equal coordinates, in row-major
  /// order in both.
  Value moved(Value number, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
    Value result;
    int64_t fromStride = 1, toStride = 1;
    for (int axis = int(from.size()) - 1; axis >= 0; --axis) {
      if (from[axis] != 1) {
        Value part = digit(number, fromStride, from[axis], countOf(from));
        if (toStride != 1)
          part = arith::MulIOp::create(builder, loc, part, constant(toStride));
        result = result ? Value(arith::AddIOp::create(builder, loc, result, part)) : part;
      }
      fromStride *= from[axis];
      toStride *= to[axis];
    }
    return result ? result : constant(0);
  }

private:
  Value constant(int64_t value) { return splatOf(builder, loc, all.getType(), value); }

  Value digit(Value number, int64_t stride, int64_t extent, int64_t count) {
    if (stride != 1)
      number = llvm::isPowerOf2_64(uint64_t(stride))
                   ? Value(arith::ShRUIOp::create(builder, loc, number,
                                                  constant(llvm::Log2_64(uint64_t(stride)))))
                   : arith::DivUIOp::create(builder, loc, number, constant(stride));
    if (stride * extent == count)
      return number;
    return llvm::isPowerOf2_64(uint64_t(extent))
               ? Value(arith::AndIOp::create(builder, loc, number, constant(extent - 1)))
               : arith::RemUIOp::create(builder, loc, number, constant(extent));
  }

  OpBuilder &builder;
  Location loc;
  Value all;
};

} // namespace

Value padReshape(OpBuilder &builder, tile::ReshapeOp reshape, ArrayRef<int64_t> from,
                 ArrayRef<int64_t> to) {
  if (keepsNumbers(from, to))
    return reshape.getResult();
  Location loc = reshape.getLoc();
  auto source = cast<RankedTensorType>(reshape.getSource().getType());
  auto result = cast<RankedTensorType>(reshape.getType());
  Type element = source.getElementType();
  auto reshaped = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, element);
    return value.getType() == type ? value : tile::ReshapeOp::create(builder, loc, type, value);
  };
  Numbers numbers(builder, loc, result.getNumElements());
  Value place = numbers.moved(numbers.places(), result.getShape(), to);
  place = numbers.limit(place, countOf(to) - 1);
  Value index = numbers.moved(place, from, source.getShape());
  auto flat = RankedTensorType::get({result.getNumElements()}, element);
  Value elements = reshaped(reshape.getSource(), {source.getNumElements()});
  return reshaped(tile::GatherOp::create(builder, loc, flat, elements, index, 0),
                  result.getShape());
}

} // namespace kiln
