// Conversions of e2m1 and e8m0 by integer arithmetic on the bits of fp32.

#include "compiler/Sema/Tensors/NarrowFloats.h"

#include <cmath>

namespace kiln::sema {

using ast::BinaryOp;
using ast::CompareOp;

static Tensor apply(TensorBuilder &build, BinaryOp op, Tensor x, Int number) {
  Value result = build.binary(op, Value::tensor(x), Value::integer(number));
  return build.failed() ? Tensor() : result.getTensor();
}
static Tensor holds(TensorBuilder &build, CompareOp op, Tensor x, Value number) {
  Tensor constant = build.splat(build.constant(x.dtype(), number), x.type.shape);
  Value result = build.compare(op, Value::tensor(x), Value::tensor(constant));
  return build.failed() ? Tensor() : result.getTensor();
}
static Tensor number(TensorBuilder &build, Tensor like, DType type, double value) {
  Value constant = type.isInt() ? Value::integer(Int(value)) : Value::real(value);
  return build.splat(build.constant(type, constant), like.type.shape);
}

std::array<Tensor, 2> unpackNibbles(TensorBuilder &build, Tensor bytes) {
  Tensor codes = build.cast(bytes, Scalar::UInt8);
  return {apply(build, BinaryOp::BitAnd, codes, 15), apply(build, BinaryOp::ShiftRight, codes, 4)};
}

Tensor decodeE2M1(TensorBuilder &build, Tensor codes, DType type) {
  Tensor word = build.cast(codes, Scalar::UInt32);
  // With its two bits of exponent and one of mantissa where fp32 has them the number is too small
  // by a power of two. A product with that is exact, also for 0.5, which is subnormal.
  Tensor bits = apply(build, BinaryOp::ShiftLeft, apply(build, BinaryOp::BitAnd, word, 7), 22);
  Tensor sign = apply(build, BinaryOp::ShiftLeft, apply(build, BinaryOp::BitAnd, word, 8), 28);
  Value both = build.binary(BinaryOp::BitOr, Value::tensor(bits), Value::tensor(sign));
  if (build.failed())
    return {};
  Tensor small = build.bitcast(both.getTensor(), Scalar::FP32);
  Tensor scale = number(build, small, Scalar::FP32, std::ldexp(1.0, 126));
  Value product = build.binary(BinaryOp::Mul, Value::tensor(small), Value::tensor(scale));
  return build.failed() ? Tensor() : build.cast(product.getTensor(), type);
}

std::array<Tensor, 2> decodeE2M1Pairs(TensorBuilder &build, Tensor bytes, DType type,
                                      int &exponent) {
  // Both codes of a byte at once: a product puts copies of it in the halves of a word, so that
  // their bits of exponent and mantissa are where fp16 or bf16 has these. Signs are carried to
  // their place by an addition, past the bits of exponent that e2m1 lacks: those it leaves there
  // are dropped.
  bool isHalf = type.is(Scalar::FP16);
  int place = isHalf ? 9 : 6;
  exponent = isHalf ? 14 : 126;
  constexpr Int both = 0x10001;
  Int factor = (Int(1) << place) | (Int(1) << (place + 12));
  Tensor codes = apply(build, BinaryOp::Mul, build.cast(bytes, Scalar::UInt32), factor);
  codes = apply(build, BinaryOp::BitAnd, codes, both * (15 << place));
  codes = apply(build, BinaryOp::Add, codes, both * (0x8000 - (8 << place)));
  codes = apply(build, BinaryOp::BitAnd, codes, both * (0x8000 | 7 << place));
  if (!codes)
    return {};
  if (isHalf) {
    auto half = [&](Tensor bits) {
      return build.bitcast(build.cast(bits, Scalar::UInt16), Scalar::FP16);
    };
    return {half(codes), half(apply(build, BinaryOp::ShiftRight, codes, 16))};
  }
  return {build.bitcast(apply(build, BinaryOp::ShiftLeft, codes, 16), Scalar::FP32),
          build.bitcast(apply(build, BinaryOp::BitAnd, codes, 0xffff0000), Scalar::FP32)};
}

Tensor timesPowerOfTwo(TensorBuilder &build, Tensor numbers, int exponent) {
  Tensor factor = number(build, numbers, numbers.dtype(), std::ldexp(1.0, exponent));
  return build.multiply(Value::tensor(numbers), Value::tensor(factor));
}

Tensor raisedScale(TensorBuilder &build, Tensor scale, int exponent) {
  double most = std::ldexp(1.0, 127 - exponent);
  Tensor isLarger = holds(build, CompareOp::Greater, scale, Value::real(most));
  scale = build.select(isLarger, number(build, scale, Scalar::FP32, most), scale);
  return timesPowerOfTwo(build, scale, exponent);
}

Tensor upperHalves(TensorBuilder &build, Tensor numbers) {
  Tensor bits = build.bitcast(numbers, Scalar::UInt32);
  return build.bitcast(build.cast(apply(build, BinaryOp::ShiftRight, bits, 16), Scalar::UInt16),
                       Scalar::BF16);
}

Tensor encodeE2M1(TensorBuilder &build, Tensor numbers) {
  Tensor x = build.cast(numbers, Scalar::FP32);
  Tensor magnitude{build.emit<mlir::math::AbsFOp>(x.ir), x.type};
  // The code is the number of midpoints below; a midpoint itself belongs to the even code.
  Tensor code = number(build, x, Scalar::UInt8, 0);
  bool isEvenAbove = false;
  for (double midpoint : {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0}) {
    CompareOp op = isEvenAbove ? CompareOp::GreaterEqual : CompareOp::Greater;
    isEvenAbove = !isEvenAbove;
    Tensor above = holds(build, op, magnitude, Value::real(midpoint));
    code = build.add(Value::tensor(code), Value::tensor(build.cast(above, Scalar::UInt8)));
  }
  Tensor bits = build.bitcast(x, Scalar::UInt32);
  Tensor sign =
      build.cast(apply(build, BinaryOp::BitAnd, apply(build, BinaryOp::ShiftRight, bits, 28), 8),
                 Scalar::UInt8);
  Value signedCode = build.binary(BinaryOp::BitOr, Value::tensor(code), Value::tensor(sign));
  Value isNan = build.compare(CompareOp::NotEqual, Value::tensor(x), Value::tensor(x));
  if (build.failed())
    return {};
  return build.select(isNan.getTensor(), number(build, x, Scalar::UInt8, 7),
                      signedCode.getTensor());
}

Tensor decodeE8M0(TensorBuilder &build, Tensor codes) {
  Tensor word = build.cast(build.bitcast(codes, Scalar::UInt8), Scalar::UInt32);
  Tensor normal = apply(build, BinaryOp::ShiftLeft, word, 23);
  // 2^-127 is subnormal; all ones would read as infinity.
  Tensor bits = build.select(holds(build, CompareOp::Equal, word, Value::integer(0)),
                             number(build, word, Scalar::UInt32, 1 << 22), normal);
  bits = build.select(holds(build, CompareOp::Equal, word, Value::integer(255)),
                      number(build, word, Scalar::UInt32, 0x7fc00000), bits);
  return build.bitcast(bits, Scalar::FP32);
}

Tensor clampToFinite(TensorBuilder &build, Tensor numbers, DType type) {
  double largest = type.is(Scalar::FP8E4NV) ? 448
                   : type.is(Scalar::FP8E5) ? 57344
                   : type.is(Scalar::FP16)  ? 65504
                                            : 3.3895313892515355e38;
  // Comparisons, so that NaN stays.
  Tensor top = number(build, numbers, numbers.dtype(), largest);
  Tensor bottom = number(build, numbers, numbers.dtype(), -largest);
  Tensor lower =
      build.select(holds(build, CompareOp::Greater, numbers, Value::real(largest)), top, numbers);
  return build.select(holds(build, CompareOp::Less, numbers, Value::real(-largest)), bottom, lower);
}

/// The sign bit `from` of `bits` as bit `to`, joined with `magnitude`.
static Tensor withSign(TensorBuilder &build, Tensor magnitude, Tensor bits, int from, int to) {
  Tensor sign = apply(build, BinaryOp::BitAnd, bits, Int(1) << from);
  sign = apply(build, to > from ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight, sign,
               std::abs(to - from));
  Value both = build.binary(BinaryOp::BitOr, Value::tensor(magnitude), Value::tensor(sign));
  return build.failed() ? Tensor() : both.getTensor();
}

Tensor decodeE4B15(TensorBuilder &build, Tensor numbers) {
  Tensor bits = build.cast(build.bitcast(numbers, Scalar::UInt8), Scalar::UInt16);
  Tensor magnitude =
      apply(build, BinaryOp::ShiftLeft, apply(build, BinaryOp::BitAnd, bits, 0x7f), 7);
  return build.bitcast(withSign(build, magnitude, bits, 7, 15), Scalar::FP16);
}

Tensor encodeE4B15(TensorBuilder &build, Tensor numbers) {
  Tensor bits = build.bitcast(numbers, Scalar::UInt16);
  Tensor magnitude = apply(build, BinaryOp::BitAnd, bits, 0x7fff);
  Tensor largest = number(build, magnitude, Scalar::UInt16, 0x3f00);
  magnitude = build.minMax(false, Value::tensor(magnitude), Value::tensor(largest), false);
  magnitude = apply(build, BinaryOp::ShiftRight, apply(build, BinaryOp::Add, magnitude, 0x40), 7);
  return build.bitcast(build.cast(withSign(build, magnitude, bits, 15, 7), Scalar::UInt8),
                       Scalar::FP8E4B15);
}

} // namespace kiln::sema
