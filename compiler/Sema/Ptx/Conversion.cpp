// cvt of inline PTX: between element types, in pairs, and to whole numbers.

#include "compiler/Sema/Ptx/Translator.h"

#include "compiler/Sema/Tensors/NarrowFloats.h"

#include <cmath>

namespace kiln::sema {

namespace math = mlir::math;
using ast::BinaryOp;
using ast::CompareOp;

/// What `rni`, `rzi`, `rmi` and `rpi` ask for; empty without one of them.
std::optional<Tensor> PtxTranslator::roundToWhole(const PtxInstruction &instruction, Tensor x) {
  auto round = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    return Tensor{build.emit<Op>(x.ir), x.type};
  };
  if (instruction.has("rni"))
    return round(std::common_type<math::RoundEvenOp>());
  if (instruction.has("rzi"))
    return round(std::common_type<math::TruncOp>());
  if (instruction.has("rmi"))
    return round(std::common_type<math::FloorOp>());
  if (instruction.has("rpi"))
    return round(std::common_type<math::CeilOp>());
  return std::nullopt;
}

/// Two powers of two as their exponents, the first source in the upper byte: up to the next one,
/// with `satfinite` at most 2^127. NaN is 255.
Tensor PtxTranslator::convertToScales(const PtxInstruction &instruction) {
  if (!instruction.has("rp") || instruction.operands.size() != 3 || typesOf(instruction).empty() ||
      !typesOf(instruction)[0].element.is(Scalar::FP32))
    return refuse(instruction);
  std::vector<Tensor> codes;
  for (unsigned source : {2u, 1u}) {
    Tensor x = read(instruction.operands[source], 32);
    if (!x)
      return {};
    Tensor exponent =
        binary(BinaryOp::BitAnd, binary(BinaryOp::ShiftRight, x, 23), constantBits(32, 255));
    Tensor rest = binary(BinaryOp::BitAnd, x, 0x7fffff);
    Tensor isNaN = binary(BinaryOp::BitAnd, test(CompareOp::Equal, exponent, constantBits(32, 255)),
                          test(CompareOp::NotEqual, rest, constantBits(32, 0)));
    // Of denormal numbers, the half of the smallest normal one is the smallest scale.
    Tensor isDenormal = test(CompareOp::Equal, exponent, constantBits(32, 0));
    Tensor limit = build.select(isDenormal, constantBits(32, 0x400000), constantBits(32, 0));
    Tensor isUp = test(CompareOp::Greater, rest, limit);
    Tensor code = binary(BinaryOp::Add, exponent, build.cast(isUp, Scalar::UInt32));
    if (instruction.has("satfinite"))
      code = build.minMax(false, Value::tensor(code), Value::tensor(constantBits(32, 254)), false);
    code = build.select(isNaN, constantBits(32, 255), code);
    codes.push_back(build.cast(code, Scalar::UInt8));
  }
  return combine(codes);
}

Tensor PtxTranslator::convertElement(const PtxInstruction &instruction, Tensor value, DType to) {
  DType from = value.dtype();
  if (from.isFloat() && to.isInt()) {
    Tensor wide = from.getBits() < 32 ? build.cast(value, Scalar::FP32) : value;
    if (std::optional<Tensor> whole = roundToWhole(instruction, wide))
      wide = *whole;
    // Out of range, the nearest integer; NaN is 0.
    auto limit = [&](double value) {
      return build.splat(build.constant(wide.dtype(), Value::real(value)), shape);
    };
    auto whole = [&](Int value) { return build.splat(build.integerConstant(to, value), shape); };
    Tensor result = build.cast(wide, to);
    result = build.select(test(CompareOp::GreaterEqual, wide, limit(double(to.getMax()) + 1)),
                          whole(to.getMax()), result);
    result = build.select(test(CompareOp::Less, wide, limit(double(to.getMin()))),
                          whole(to.getMin()), result);
    return build.select(test(CompareOp::NotEqual, wide, wide), whole(0), result);
  }
  if (from.isFloat() && to.isFloat()) {
    if (instruction.has("satfinite"))
      value = clampToFinite(build, value, to);
    if (instruction.has("relu"))
      value = build.cast(
          build.minMax(true, Value::tensor(value),
                       Value::tensor(build.splat(build.constant(from, Value::integer(0)), shape)),
                       false),
          from);
    if (std::optional<Tensor> whole = roundToWhole(instruction, value))
      value = *whole;
    std::optional<Direction> direction = directionOf(instruction);
    if (direction && from.is(Scalar::FP64) && to.is(Scalar::FP32))
      return convertToward(*direction, {&build, value}, to).tensor;
    if (direction && *direction != Direction::TowardZero)
      return refuse(instruction);
    // The NaN of PTX's 8-bit formats has no sign.
    if (to.isFP8())
      value = build.select(test(CompareOp::NotEqual, value, value),
                           build.splat(build.constant(from, Value::real(NAN)), shape), value);
    bool towardZero = instruction.has("rz") && to.getBits() < from.getBits();
    return build.cast(value, to, towardZero ? Rounding::TowardZero : Rounding::Default);
  }
  std::optional<Direction> direction = directionOf(instruction);
  if (direction && to.isFloat() && from.isInt() && to.getBits() >= 32)
    return convertToward(*direction, {&build, value}, to).tensor;
  return direction ? refuse(instruction) : build.cast(value, to);
}

Tensor PtxTranslator::convert(const PtxInstruction &instruction) {
  if (instruction.has("ue8m0x2"))
    return convertToScales(instruction);
  for (llvm::StringRef rounding : {"rs", "rna", "sat", "scaled"})
    if (instruction.has(rounding))
      return refuse(instruction);
  // e2m1x2: two 4-bit floats in a byte.
  bool isNarrowTarget = instruction.has("e2m1x2");
  llvm::SmallVector<Type, 2> types = typesOf(instruction);
  llvm::ArrayRef<PtxOperand> sources = llvm::ArrayRef(instruction.operands).drop_front();
  if (isNarrowTarget && types.size() == 1 && types[0].count == 2 && sources.size() == 1) {
    std::vector<Tensor> halves;
    Tensor byte = read(sources[0], 8);
    if (!byte)
      return {};
    for (Tensor code : unpackNibbles(build, byte))
      halves.push_back(bitsOf(decodeE2M1(build, code, types[0].element)));
    return combine(halves);
  }
  if (isNarrowTarget && types.size() == 1 && types[0].count == 1 && sources.size() == 2) {
    Tensor high = readAs(sources[0], types[0].element), low = readAs(sources[1], types[0].element);
    if (!high || !low || !types[0].element.isFloat())
      return build.failed() ? Tensor() : refuse(instruction);
    Tensor upper = binary(BinaryOp::ShiftLeft, encodeE2M1(build, high), 4);
    return binary(BinaryOp::BitOr, upper, encodeE2M1(build, low));
  }
  if (isNarrowTarget || types.size() != 2)
    return refuse(instruction);
  Type to = types[0], from = types[1];
  std::vector<Tensor> parts;
  if (to.count == 2 && from.count == 1 && sources.size() == 2) {
    // The first source becomes the upper half.
    for (const PtxOperand *source : {&sources[1], &sources[0]})
      parts.push_back(readAs(*source, from.element));
  } else if (to.count == from.count && sources.size() == 1) {
    Tensor bits = read(sources[0], from.getBits());
    if (!bits)
      return {};
    for (Tensor part : divide(bits, from.count))
      parts.push_back(build.bitcast(part, from.element));
  } else
    return refuse(instruction);
  for (Tensor &part : parts) {
    if (!part)
      return {};
    part = bitsOf(convertElement(instruction, part, to.element));
    if (!part)
      return {};
  }
  return parts.size() == 1 ? parts.front() : combine(parts);
}

} // namespace kiln::sema
