// Conversions of e2m1 and e8m0 by integer arithmetic on the bits of fp32.

#include "compiler/Sema/Tensors/NarrowFloats.h"

namespace kiln::sema {

using ast::BinaryOp;
using ast::CompareOp;

static Tensor apply(Evaluator &evaluator, BinaryOp op, Tensor x, Int number) {
  Value result = evaluator.binary(op, Value::tensor(x), Value::integer(number));
  return evaluator.failed() ? Tensor() : result.getTensor();
}
static Tensor holds(Evaluator &evaluator, CompareOp op, Tensor x, Value number) {
  Tensor constant = evaluator.splat(evaluator.constant(x.dtype(), number), x.type.shape);
  Value result = evaluator.compare(op, Value::tensor(x), Value::tensor(constant));
  return evaluator.failed() ? Tensor() : result.getTensor();
}
static Tensor number(Evaluator &evaluator, Tensor like, DType type, double value) {
  Value constant = type.isInt() ? Value::integer(Int(value)) : Value::real(value);
  return evaluator.splat(evaluator.constant(type, constant), like.type.shape);
}

std::array<Tensor, 2> unpackNibbles(Evaluator &evaluator, Tensor bytes) {
  Tensor codes = evaluator.cast(bytes, Scalar::UInt8);
  return {apply(evaluator, BinaryOp::BitAnd, codes, 15),
          apply(evaluator, BinaryOp::ShiftRight, codes, 4)};
}

Tensor decodeE2M1(Evaluator &evaluator, Tensor codes, DType type) {
  Tensor word = evaluator.cast(codes, Scalar::UInt32);
  Tensor magnitude = apply(evaluator, BinaryOp::BitAnd, word, 7);
  // Codes from 2 on have an exponent with a bias of 1 and one bit of mantissa, as fp32's upper
  // bits have; 0 and 1 stand for 0 and 0.5.
  Tensor normal = apply(evaluator, BinaryOp::Add,
                        apply(evaluator, BinaryOp::ShiftLeft, magnitude, 22), Int(126) << 23);
  Tensor bits = evaluator.select(
      holds(evaluator, CompareOp::Equal, magnitude, Value::integer(0)), magnitude,
      evaluator.select(holds(evaluator, CompareOp::Equal, magnitude, Value::integer(1)),
                       number(evaluator, magnitude, Scalar::UInt32, double(Int(126) << 23)),
                       normal));
  Tensor sign =
      apply(evaluator, BinaryOp::ShiftLeft, apply(evaluator, BinaryOp::BitAnd, word, 8), 28);
  Value both = evaluator.binary(BinaryOp::BitOr, Value::tensor(bits), Value::tensor(sign));
  if (evaluator.failed())
    return {};
  return evaluator.cast(evaluator.bitcast(both.getTensor(), Scalar::FP32), type);
}

Tensor encodeE2M1(Evaluator &evaluator, Tensor numbers) {
  Tensor x = evaluator.cast(numbers, Scalar::FP32);
  Tensor magnitude{evaluator.emit<mlir::math::AbsFOp>(x.ir), x.type};
  // The code is the number of midpoints below; a midpoint itself belongs to the even code.
  Tensor code = number(evaluator, x, Scalar::UInt8, 0);
  bool isEvenAbove = false;
  for (double midpoint : {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0}) {
    CompareOp op = isEvenAbove ? CompareOp::GreaterEqual : CompareOp::Greater;
    isEvenAbove = !isEvenAbove;
    Tensor above = holds(evaluator, op, magnitude, Value::real(midpoint));
    code = evaluator.add(Value::tensor(code), Value::tensor(evaluator.cast(above, Scalar::UInt8)));
  }
  Tensor bits = evaluator.bitcast(x, Scalar::UInt32);
  Tensor sign = evaluator.cast(
      apply(evaluator, BinaryOp::BitAnd, apply(evaluator, BinaryOp::ShiftRight, bits, 28), 8),
      Scalar::UInt8);
  Value signedCode = evaluator.binary(BinaryOp::BitOr, Value::tensor(code), Value::tensor(sign));
  Value isNan = evaluator.compare(CompareOp::NotEqual, Value::tensor(x), Value::tensor(x));
  if (evaluator.failed())
    return {};
  return evaluator.select(isNan.getTensor(), number(evaluator, x, Scalar::UInt8, 7),
                          signedCode.getTensor());
}

Tensor decodeE8M0(Evaluator &evaluator, Tensor codes) {
  Tensor word = evaluator.cast(evaluator.bitcast(codes, Scalar::UInt8), Scalar::UInt32);
  Tensor normal = apply(evaluator, BinaryOp::ShiftLeft, word, 23);
  // 2^-127 is subnormal; all ones would read as infinity.
  Tensor bits = evaluator.select(holds(evaluator, CompareOp::Equal, word, Value::integer(0)),
                                 number(evaluator, word, Scalar::UInt32, 1 << 22), normal);
  bits = evaluator.select(holds(evaluator, CompareOp::Equal, word, Value::integer(255)),
                          number(evaluator, word, Scalar::UInt32, 0x7fc00000), bits);
  return evaluator.bitcast(bits, Scalar::FP32);
}

Tensor clampToFinite(Evaluator &evaluator, Tensor numbers, DType type) {
  double largest = type.is(Scalar::FP8E4NV) ? 448
                   : type.is(Scalar::FP8E5) ? 57344
                   : type.is(Scalar::FP16)  ? 65504
                                            : 3.3895313892515355e38;
  // Comparisons, so that NaN stays.
  Tensor top = number(evaluator, numbers, numbers.dtype(), largest);
  Tensor bottom = number(evaluator, numbers, numbers.dtype(), -largest);
  Tensor lower = evaluator.select(
      holds(evaluator, CompareOp::Greater, numbers, Value::real(largest)), top, numbers);
  return evaluator.select(holds(evaluator, CompareOp::Less, numbers, Value::real(-largest)), bottom,
                          lower);
}

/// The sign bit `from` of `bits` as bit `to`, joined with `magnitude`.
static Tensor withSign(Evaluator &evaluator, Tensor magnitude, Tensor bits, int from, int to) {
  Tensor sign = apply(evaluator, BinaryOp::BitAnd, bits, Int(1) << from);
  sign = apply(evaluator, to > from ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight, sign,
               std::abs(to - from));
  Value both = evaluator.binary(BinaryOp::BitOr, Value::tensor(magnitude), Value::tensor(sign));
  return evaluator.failed() ? Tensor() : both.getTensor();
}

Tensor decodeE4B15(Evaluator &evaluator, Tensor numbers) {
  Tensor bits = evaluator.cast(evaluator.bitcast(numbers, Scalar::UInt8), Scalar::UInt16);
  Tensor magnitude =
      apply(evaluator, BinaryOp::ShiftLeft, apply(evaluator, BinaryOp::BitAnd, bits, 0x7f), 7);
  return evaluator.bitcast(withSign(evaluator, magnitude, bits, 7, 15), Scalar::FP16);
}

Tensor encodeE4B15(Evaluator &evaluator, Tensor numbers) {
  Tensor bits = evaluator.bitcast(numbers, Scalar::UInt16);
  Tensor magnitude = apply(evaluator, BinaryOp::BitAnd, bits, 0x7fff);
  Tensor largest = number(evaluator, magnitude, Scalar::UInt16, 0x3f00);
  magnitude = evaluator.minMax(false, Value::tensor(magnitude), Value::tensor(largest), false);
  magnitude =
      apply(evaluator, BinaryOp::ShiftRight, apply(evaluator, BinaryOp::Add, magnitude, 0x40), 7);
  return evaluator.bitcast(
      evaluator.cast(withSign(evaluator, magnitude, bits, 15, 7), Scalar::UInt8), Scalar::FP8E4B15);
}

} // namespace kiln::sema
