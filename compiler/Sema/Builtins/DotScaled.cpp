// tl.dot_scaled: microscaling formats become bf16 or fp16 times their scales, and tl.dot multiplies
// them; or the target has instructions that do all of it, for what these take.
//
// bf16 holds every e2m1, e4m3 and e5m2 number times every e8m0 scale exactly, up to its range.
// Where fp16 takes part, both sides become fp16, as Triton's do: its range is smaller, so numbers
// are multiplied by their scales in fp32 and rounded once. (Triton rounds the scale too, which then
// is infinite from 2^16 on, and zero times it NaN.)

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/NarrowFloats.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

/// One side of the product. `kAxis` counts from the end: 1 on the left, 2 on the right.
struct Side {
  Tensor values, scale;
  std::string format;
  bool packsK = true;
  unsigned kAxis = 1;
  std::string name;
};

Tensor callLanguage(TensorBuilder &build, llvm::StringRef name, std::vector<Value> args,
                    Keywords keywords = {}) {
  Value value = build.callBuiltin(Library::Language, name, std::move(args), std::move(keywords));
  return build.failed() ? Tensor() : value.getTensor();
}

std::optional<Side> readSide(TensorBuilder &build, const Call &call, unsigned first,
                             unsigned packs) {
  Side side;
  side.name = first ? "rhs" : "lhs";
  side.kAxis = first ? 2 : 1;
  side.values = build.toTensor(call[first]);
  std::optional<std::string> format =
      side.values ? build.constantString(call[first + 2], "a format") : std::nullopt;
  std::optional<bool> packsK =
      format ? build.constantBool(call[packs], "k_pack") : std::optional<bool>();
  if (!packsK)
    return std::nullopt;
  side.format = *format;
  side.packsK = *packsK;
  if (!call[first + 1].isNone()) {
    side.scale = build.toTensor(call[first + 1]);
    if (!side.scale)
      return std::nullopt;
  }
  auto type = llvm::StringSwitch<std::optional<Scalar>>(*format)
                  .Case("e2m1", Scalar::UInt8)
                  .Case("e4m3", Scalar::FP8E4NV)
                  .Case("e5m2", Scalar::FP8E5)
                  .Case("bf16", Scalar::BF16)
                  .Case("fp16", Scalar::FP16)
                  .Default(std::nullopt);
  if (!type)
    return build.fail(DiagKind::SemaInvalidArgument, side.name + "_format",
                      "e2m1, e4m3, e5m2, bf16 or fp16", "'" + *format + "'");
  if (side.values.type.shape.size() != 2 && side.values.type.shape.size() != 3)
    return build.fail(DiagKind::SemaShape, side.name, "a tensor of rank 2 or 3",
                      side.values.type.str());
  if (!side.packsK && *format != "e2m1")
    return build.fail(DiagKind::SemaInvalidArgument, side.name + "_k_pack",
                      "True, as only e2m1 is packed", "False");
  DType given = side.values.dtype(), bits = getIntType(DType(*type).getBits(), false);
  if (given != DType(*type) && given != bits)
    return build.fail(DiagKind::SemaShape, side.name + " of format " + *format,
                      "elements of type " + DType(*type).str() + " or " + bits.str(),
                      side.values.type.str());
  side.values = build.bitcast(side.values, *type);
  return side;
}

/// The numbers of all pairs, of which these are the first and the second, along the packed axis.
Tensor joinPairs(TensorBuilder &build, const Side &side, Tensor low, Tensor high) {
  if (!low || !high)
    return {};
  size_t rank = side.values.type.shape.size();
  size_t axis = side.packsK ? rank - side.kAxis : rank - (3 - side.kAxis);
  Tensor joined = callLanguage(build, "join", {Value::tensor(low), Value::tensor(high)});
  if (!joined)
    return {};
  llvm::SmallVector<int64_t, 4> order, shape(side.values.type.shape);
  for (size_t i = 0; i < rank; ++i) {
    order.push_back(int64_t(i));
    if (i == axis)
      order.push_back(int64_t(rank));
  }
  shape[axis] *= 2;
  return build.reshape(build.permute(joined, order), shape, false);
}

/// Two numbers from every byte, the lower bits first; too small by 2^exponent.
Tensor unpack(TensorBuilder &build, const Side &side, DType type, int &exponent) {
  auto [low, high] = decodeE2M1Pairs(build, side.values, type, exponent);
  return joinPairs(build, side, low, high);
}

/// Of the numbers, with K last.
llvm::SmallVector<int64_t, 4> shapeOfNumbers(const Side &side) {
  llvm::SmallVector<int64_t, 4> shape(side.values.type.shape);
  size_t rank = shape.size();
  if (side.format == "e2m1")
    shape[side.packsK ? rank - side.kAxis : rank - (3 - side.kAxis)] *= 2;
  if (side.kAxis == 2)
    std::swap(shape[rank - 1], shape[rank - 2]);
  return shape;
}

/// A scale is of [rows, K / group] on both sides.
bool checkScale(TensorBuilder &build, const Side &side) {
  llvm::SmallVector<int64_t, 4> wanted = shapeOfNumbers(side), given(side.scale.type.shape);
  size_t rank = wanted.size();
  int64_t depth = wanted.back();
  bool fits = given.size() == rank && depth % given.back() == 0 &&
              (depth / given.back() == 32 || depth / given.back() == 16);
  for (size_t i = 0; fits && i + 1 < rank; ++i)
    fits = given[i] == wanted[i];
  if (!fits) {
    wanted.back() /= 32;
    build.error(DiagKind::SemaShape, side.name + "_scale",
                shapeToString(wanted) + ", or twice as many columns", side.scale.type.str());
  }
  return fits;
}

/// A scale for each element of the side, or of `numbersOfElement` numbers along K.
Tensor spread(TensorBuilder &build, const Side &side, Tensor scale, int64_t numbersOfElement) {
  llvm::SmallVector<int64_t, 4> wanted = shapeOfNumbers(side), given(scale.type.shape);
  size_t rank = wanted.size();
  wanted.back() /= numbersOfElement;
  given.push_back(wanted.back() / given.back());
  scale = build.broadcastTo(build.expandDims(scale, unsigned(rank)), given);
  scale = build.reshape(scale, wanted, false);
  if (side.kAxis == 1)
    return scale;
  llvm::SmallVector<int64_t, 4> order;
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(i));
  std::swap(order[rank - 1], order[rank - 2]);
  return build.permute(scale, order);
}

bool areE8M0(const Tensor &scale) {
  return scale.dtype().is(Scalar::UInt8) || scale.dtype().is(Scalar::Int8);
}

/// The scales as fp32, one for each number, which is too small by 2^exponent.
Tensor spreadScale(TensorBuilder &build, const Side &side, int exponent) {
  if (!checkScale(build, side))
    return {};
  Tensor scale = side.scale;
  if (areE8M0(scale))
    scale = decodeE8M0(build, scale);
  else if (scale.dtype().is(Scalar::FP8E4NV))
    scale = build.cast(scale, Scalar::FP32);
  else {
    build.error(DiagKind::SemaShape, side.name + "_scale", "uint8 (e8m0) or fp8e4nv",
                scale.type.str());
    return {};
  }
  if (scale && exponent)
    scale = raisedScale(build, scale, exponent);
  return scale ? spread(build, side, scale, /*numbersOfElement=*/1) : Tensor();
}

/// Of K, where there is a scale for each group of elements; 0 where there is not.
int64_t elementsPerScale(const Side &side) {
  if (!side.scale || side.scale.type.getNumElements() <= 1)
    return 0;
  llvm::ArrayRef<int64_t> shape = side.values.type.shape;
  int64_t depth = shape[shape.size() - side.kAxis] * (side.format == "e2m1" && side.packsK ? 2 : 1);
  return depth / side.scale.type.shape.back();
}

Tensor constantOf(TensorBuilder &build, DType type, llvm::ArrayRef<int64_t> shape,
                  mlir::TypedAttr element) {
  auto ir = mlir::RankedTensorType::get(shape, element.getType());
  return {mlir::arith::ConstantOp::create(build.getBuilder(), build.loc(),
                                          mlir::DenseElementsAttr::get(ir, element)),
          TensorType(type, shape)};
}

/// Scales (e8m0) of one.
Tensor onesOf(TensorBuilder &build, llvm::ArrayRef<int64_t> shape) {
  constexpr int8_t one = 127;
  return constantOf(build, Scalar::UInt8, shape, build.getBuilder().getI8IntegerAttr(one));
}

/// Whether all of `side` has e8m0 scales, or none, that an element's numbers share.
bool sharesScales(const Side &side) {
  return !side.scale || (areE8M0(side.scale) && (side.format != "e2m1" || side.packsK));
}

/// The numbers times their scales where sharesScales, else without, by instructions for it.
Tensor widenByInstructions(TensorBuilder &build, const Side &side, DType type) {
  bool arePairs = side.format == "e2m1", scales = side.scale && sharesScales(side);
  if (scales && !checkScale(build, side))
    return {};
  Tensor scale =
      scales ? spread(build, side, build.bitcast(side.scale, Scalar::UInt8), arePairs ? 2 : 1)
             : onesOf(build, side.values.type.shape);
  if (!scale)
    return {};
  auto part = [&](bool isUpper) {
    TensorType result(type, side.values.type.shape);
    return Tensor{
        build.emit<tile::WidenScaledOp>(build.toMLIR(result), side.values.ir, scale.ir, isUpper),
        result};
  };
  return arePairs ? joinPairs(build, side, part(false), part(true)) : part(false);
}

Tensor widen(TensorBuilder &build, const Side &side, DType type) {
  bool isSmall = side.values.dtype().getBits() == 8, arePairs = side.format == "e2m1";
  if (!side.scale && !arePairs)
    return build.cast(side.values, type);
  bool hasInstructions = isSmall && build.getTarget().scaledConversions;
  if (hasInstructions && sharesScales(side))
    return widenByInstructions(build, side, type);
  // Of halves times fp32 numbers AMD has instructions, so fp16 comes first.
  DType decoded = type.is(Scalar::FP16) && !hasInstructions ? type : Scalar::FP32;
  int exponent = 0;
  Tensor values = !arePairs         ? build.cast(side.values, decoded)
                  : hasInstructions ? widenByInstructions(build, side, decoded)
                                    : unpack(build, side, decoded, exponent);
  // bf16's numbers are as large as fp32's, so its scales can be no larger.
  bool raisesScale = side.scale && decoded.is(Scalar::FP16);
  if (values && exponent && !raisesScale)
    values = timesPowerOfTwo(build, values, exponent);
  if (values && side.scale) {
    Tensor scale = spreadScale(build, side, raisesScale ? exponent : 0);
    if (!scale)
      return {};
    values = build.multiply(Value::tensor(build.cast(values, Scalar::FP32)), Value::tensor(scale));
  }
  if (!values)
    return {};
  // Of at most eight bits of mantissa, as a number's are with those of its scale: nothing to round.
  if (isSmall && type.is(Scalar::BF16))
    return upperHalves(build, values);
  return build.cast(values, type);
}

/// fp16 has all numbers of 4 and 8 bits, and fp32 those of fp16 and bf16.
DType typeOfProduct(const Side &left, const Side &right) {
  auto isOf = [&](llvm::StringRef format) {
    return left.format == format || right.format == format;
  };
  if (!isOf("fp16"))
    return Scalar::BF16;
  return isOf("bf16") ? Scalar::FP32 : Scalar::FP16;
}

//===-- on instructions for it
//--------------------------------------------------------------------------------------===//

constexpr int64_t numbersPerScale = 32;

bool isOfInstructions(const Side &side) {
  bool isSmall = side.format == "e2m1" || side.format == "e4m3" || side.format == "e5m2";
  bool hasScale = !side.scale ||
                  ((side.scale.dtype().is(Scalar::UInt8) || side.scale.dtype().is(Scalar::Int8)) &&
                   elementsPerScale(side) == numbersPerScale);
  return isSmall && hasScale && side.values.type.shape.size() == 2;
}

/// Whether the target has instructions for the product, of 32 x 32 x 64 or 16 x 16 x 128 numbers.
bool suitsInstructions(TensorBuilder &build, const Side &left, const Side &right,
                       const Value &accumulator) {
  if (!build.getTarget().scaledProducts || !isOfInstructions(left) || !isOfInstructions(right))
    return false;
  int64_t m = shapeOfNumbers(left)[0], n = shapeOfNumbers(right)[0], k = shapeOfNumbers(left)[1];
  if (shapeOfNumbers(right)[1] != k)
    return false;
  if (!accumulator.isNone()) {
    if (!accumulator.isTensor())
      return false;
    const TensorType &type = accumulator.getTensor().type;
    if (!type.dtype.is(Scalar::FP32) || type.shape != llvm::ArrayRef<int64_t>({m, n}))
      return false;
  }
  int64_t least = std::min(m, n);
  return (least >= 32 && k >= 64) || (least >= 16 && k >= 128);
}

/// As the instructions take it: bytes of 8-bit floats, or pairs of 4-bit ones along K. Other pairs
/// become e4m3, which has all their numbers.
Tensor operandOf(TensorBuilder &build, const Side &side) {
  if (side.format != "e2m1" || side.packsK)
    return side.values;
  if (build.getTarget().scaledConversions) {
    Tensor numbers = widenByInstructions(build, side, Scalar::FP32);
    return numbers ? build.cast(numbers, Scalar::FP8E4NV) : numbers;
  }
  int exponent = 0;
  Tensor numbers = unpack(build, side, Scalar::FP16, exponent);
  return numbers ? build.cast(timesPowerOfTwo(build, numbers, exponent), Scalar::FP8E4NV) : numbers;
}

Value multiplyByInstructions(TensorBuilder &build, const Side &left, const Side &right,
                             const Value &accumulator) {
  mlir::OpBuilder &ir = build.getBuilder();
  llvm::SmallVector<mlir::Value, 2> operands, scales;
  for (const Side *side : {&left, &right}) {
    Tensor operand = operandOf(build, *side);
    if (!operand || (side->scale && !checkScale(build, *side)))
      return Value();
    llvm::SmallVector<int64_t, 4> shape = shapeOfNumbers(*side);
    shape.back() /= numbersPerScale;
    Tensor scale = side->scale ? side->scale : onesOf(build, shape);
    operands.push_back(operand.ir);
    scales.push_back(scale.ir);
  }
  Tensor sum =
      accumulator.isNone()
          ? constantOf(build, Scalar::FP32, {shapeOfNumbers(left)[0], shapeOfNumbers(right)[0]},
                       ir.getF32FloatAttr(0))
          : accumulator.getTensor();
  auto op = tile::DotOp::create(ir, build.loc(), sum.ir.getType(), operands[0], operands[1], sum.ir,
                                scales, tile::InputPrecision::IEEE, /*max_imprecise_acc=*/0);
  return Value::tensor(Tensor{op.getResult(), sum.type});
}

} // namespace

Value builtinDotScaled(TensorBuilder &build, Call &call) {
  std::optional<Side> left = readSide(build, call, 0, 8);
  std::optional<Side> right = left ? readSide(build, call, 3, 9) : std::nullopt;
  if (!right)
    return Value();
  if (!call[10].isNone()) {
    std::optional<DType> out = build.constantDType(call[10], "out_dtype");
    if (!out)
      return Value();
    if (!out->is(Scalar::FP32))
      return build.error(DiagKind::SemaInvalidArgument, "out_dtype", "fp32", out->str());
  }
  int64_t groups[] = {elementsPerScale(*left), elementsPerScale(*right)};
  if (groups[0] && groups[1] && groups[0] != groups[1])
    return build.error(DiagKind::SemaShape, "the scales of tl.dot_scaled",
                       "one number of elements for each scale on both sides",
                       std::to_string(groups[0]) + " and " + std::to_string(groups[1]));
  if (call[6].isTensor() && !call[6].getTensor().dtype().is(Scalar::FP32))
    return build.error(DiagKind::SemaShape, "the accumulator of tl.dot_scaled", "elements of fp32",
                       call[6].getTensor().type.str());
  if (suitsInstructions(build, *left, *right, call[6]))
    return multiplyByInstructions(build, *left, *right, call[6]);
  DType type = typeOfProduct(*left, *right);
  Tensor a = widen(build, *left, type);
  Tensor b = a ? widen(build, *right, type) : Tensor();
  if (!b)
    return Value();
  Tensor result = callLanguage(build, "dot", {Value::tensor(a), Value::tensor(b), call[6]},
                               {{"input_precision", Value::string("tf32")}});
  return result ? Value::tensor(result) : Value();
}

} // namespace kiln::sema
