// Without instructions for it each code goes to the upper byte of a half of a word, and both are
// widened alike. Four codes of a word take one instruction for each two to get there. With exponent
// and mantissa where f16 has them a number of E4M3 is too small by a power of two. A product with
// that is exact, also for subnormal numbers, which AMD's f16 does not flush.
//
// By way of f32, as the CPU widens them (ByteFloats.cpp), each code takes eight instructions.

#include "compiler/Conversion/TileGPUToROCDL/WidenBytes.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace kiln {
namespace {

/// The same bits in both halves.
constexpr int32_t twice(uint32_t bits) { return int32_t(bits | bits << 16); }

/// A word's halves as numbers.
class Halves {
public:
  explicit Halves(const ScalarBuilder &s) : s(s) {}

  Value timesPower(Value bits, float power) const {
    auto type = VectorType::get(2, s.builder().getF16Type());
    FloatAttr factor = s.builder().getF16FloatAttr(power);
    return s.make<arith::MulFOp>(s.bitcast(bits, type), constant(type, factor));
  }

  /// Unlike words' sums, which carry, these wrap around each for itself.
  Value add(Value bits, int16_t number) const { return binary<arith::AddIOp>(bits, number); }
  Value least(Value bits, int16_t number) const { return binary<arith::MinSIOp>(bits, number); }
  /// Keeps signs, and copies them.
  Value shiftRight(Value bits, int16_t places) const {
    return binary<arith::ShRSIOp>(bits, places);
  }

private:
  Value constant(VectorType type, Attribute number) const {
    return arith::ConstantOp::create(s.builder(), s.location(),
                                     DenseElementsAttr::get(type, number));
  }

  template <typename Op> Value binary(Value bits, int16_t number) const {
    auto type = VectorType::get(2, s.builder().getI16Type());
    Value other = constant(type, s.builder().getI16IntegerAttr(number));
    return s.bitcast(s.make<Op>(s.bitcast(bits, type), other), s.builder().getI32Type());
  }

  const ScalarBuilder &s;
};

/// Signs where they are, exponents and mantissas where f16 has them.
Value placed(const Halves &halves, const ScalarBuilder &s, Value codes) {
  return s.bitAnd(halves.shiftRight(codes, 1), twice(0xbfff));
}

/// Two codes of the word, each in the upper byte of a half above zeros. An intrinsic, as LLVM makes
/// more than one instruction of shifts and masks that it combines with what follows.
Value upperBytes(const ScalarBuilder &s, Value word, uint32_t low, uint32_t high) {
  constexpr uint32_t none = 12;
  Value selector = s.i32(int32_t(none | low << 8 | none << 16 | high << 24));
  return LLVM::CallIntrinsicOp::create(s.builder(), s.location(), word.getType(),
                                       s.builder().getStringAttr("llvm.amdgcn.perm"),
                                       ValueRange{word, word, selector})
      .getResult(0);
}

Value fromE4M3(const ScalarBuilder &s, Value codes) {
  constexpr float power = 256; // of biases 15 and 7
  Halves halves(s);
  Value bits = placed(halves, s, codes);
  // One more than the largest magnitude, NaN's, carries to the highest bit of the exponent.
  Value nans = s.bitAnd(s.make<arith::AddIOp>(bits, s.i32(twice(0x80))), twice(0x4000));
  return halves.timesPower(s.bitOr(bits, nans), power);
}

Value fromE4M3Fnuz(const ScalarBuilder &s, Value codes) {
  constexpr float power = 128; // of biases 15 and 8
  constexpr int16_t nan = 0x7e00;
  Halves halves(s);
  // A sign without a number, NaN, is the least integer: one less is the largest, and then limited.
  Value less = halves.least(halves.add(placed(halves, s, codes), -1), nan - 1);
  return halves.timesPower(halves.add(less, 1), power);
}

/// Two codes of a word, which the instructions take from either half.
template <typename Op> Value singlesOf(const ScalarBuilder &s, Value word, bool isUpper) {
  Type pair = VectorType::get(2, s.builder().getF32Type());
  return Op::create(s.builder(), s.location(), pair, word, isUpper);
}

/// The same times a power of two.
template <typename ToF16, typename ToBF16, typename ToF32>
Value scaleHalf(const ScalarBuilder &s, Value word, Value scale, bool isUpper, Type to) {
  OpBuilder &b = s.builder();
  Type pair = VectorType::get(2, to);
  if (to.isF32())
    return ToF32::create(b, s.location(), pair, word, scale, isUpper);
  if (to.isF16())
    return ToF16::create(b, s.location(), pair, word, scale, isUpper);
  return ToBF16::create(b, s.location(), pair, word, scale, isUpper);
}

/// The pair that is a byte of the word, times a power of two.
Value scalePair(const ScalarBuilder &s, Value word, Value scale, unsigned byte, Type to) {
  OpBuilder &b = s.builder();
  Type pair = VectorType::get(2, to);
  if (to.isF32())
    return ROCDL::CvtScaleF32PkF32Fp4Op::create(b, s.location(), pair, word, scale, byte);
  if (to.isF16())
    return ROCDL::CvtScaleF32PkF16Fp4Op::create(b, s.location(), pair, word, scale, byte);
  return ROCDL::CvtScaleF32PkBf16Fp4Op::create(b, s.location(), pair, word, scale, byte);
}

/// As the instructions take it: they look at the exponent of an f32 number alone, of which 0 is
/// 2^-127, and 255 makes NaN of all numbers.
Value exponentOf(const ScalarBuilder &s, Value scale) {
  OpBuilder &b = s.builder();
  constexpr int32_t mantissaBits = 23;
  Value word = s.make<arith::ExtUIOp>(b.getI32Type(), scale);
  Value bits = s.make<arith::ShLIOp>(word, s.i32(mantissaBits));
  return s.bitcast(bits, b.getF32Type());
}

} // namespace

SmallVector<Value> widenScaledBytes(const ScalarBuilder &s, ArrayRef<Value> codes,
                                    ArrayRef<Value> scales, Type format, Type to) {
  auto convert = isa<Float8E5M2Type>(format)
                     ? scaleHalf<ROCDL::CvtScaleF32PkF16Bf8Op, ROCDL::CvtScaleF32PkBf16Bf8Op,
                                 ROCDL::CvtScaleF32PkF32Bf8Op>
                     : scaleHalf<ROCDL::CvtScaleF32PkF16Fp8Op, ROCDL::CvtScaleF32PkBf16Fp8Op,
                                 ROCDL::CvtScaleF32PkF32Fp8Op>;
  Value word = s.bitcast(s.pack(codes), s.builder().getI32Type());
  SmallVector<Value> numbers;
  // Of two codes with one scale both are of the same instruction in the end.
  for (auto [index, scale] : llvm::enumerate(scales)) {
    bool isUpper = index >= 2;
    numbers.push_back(s.unpack(convert(s, word, exponentOf(s, scale), isUpper, to))[index % 2]);
  }
  return numbers;
}

SmallVector<Value> widenScaledPairs(const ScalarBuilder &s, ArrayRef<Value> codes,
                                    ArrayRef<Value> scales, bool isUpper, Type to) {
  Value word = s.bitcast(s.pack(codes), s.builder().getI32Type());
  SmallVector<Value> numbers;
  for (auto [byte, scale] : llvm::enumerate(scales))
    numbers.push_back(s.unpack(scalePair(s, word, exponentOf(s, scale), byte, to))[isUpper]);
  return numbers;
}

SmallVector<Value> convertBytes(const ScalarBuilder &s, ArrayRef<Value> codes, Type format,
                                Type to) {
  if (!to.isF32()) {
    constexpr int64_t one = 127;
    SmallVector<Value> scales(codes.size(), s.integer(s.builder().getI8Type(), one));
    return widenScaledBytes(s, codes, scales, format, to);
  }
  auto convert = isa<Float8E5M2Type, Float8E5M2FNUZType>(format) ? singlesOf<ROCDL::CvtPkF32Bf8Op>
                                                                 : singlesOf<ROCDL::CvtPkF32Fp8Op>;
  Value word = s.bitcast(s.pack(codes), s.builder().getI32Type());
  SmallVector<Value> numbers = s.unpack(convert(s, word, /*isUpper=*/false));
  numbers.append(s.unpack(convert(s, word, /*isUpper=*/true)));
  return numbers;
}

SmallVector<Value> widenBytesToHalves(const ScalarBuilder &s, ArrayRef<Value> codes, Type format) {
  if (!isa<Float8E4M3FNType, Float8E4M3FNUZType>(format))
    return {};
  Value word = s.bitcast(s.pack(codes), s.builder().getI32Type());
  auto widened = isa<Float8E4M3FNType>(format) ? fromE4M3 : fromE4M3Fnuz;
  SmallVector<Value> numbers = s.unpack(widened(s, upperBytes(s, word, 0, 1)));
  numbers.append(s.unpack(widened(s, upperBytes(s, word, 2, 3))));
  return numbers;
}

} // namespace kiln
