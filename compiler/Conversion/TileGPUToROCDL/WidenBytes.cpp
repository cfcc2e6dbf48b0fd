// Each code goes to the upper byte of a half of a word, and both are widened by the same
// instructions on words: no carry leaves a half. With exponent and mantissa where f16 has them a
// number of E4M3 is too small by a power of two. A product with that is exact, also for subnormal
// numbers, which AMD's f16 does not flush.
//
// By way of f32, as the CPU widens them (ByteFloats.cpp), each code takes eight instructions.

#include "compiler/Conversion/TileGPUToROCDL/WidenBytes.h"

using namespace mlir;

namespace kiln {
namespace {

/// The same bits in both halves.
constexpr int32_t twice(uint32_t bits) { return int32_t(bits | bits << 16); }

constexpr int32_t signs = twice(0x8000), upperBytes = twice(0x7f00);

Value timesPower(const ScalarBuilder &s, Value bits, double power) {
  auto halves = VectorType::get(2, s.builder().getF16Type());
  Value factor = arith::ConstantOp::create(
      s.builder(), s.location(),
      DenseElementsAttr::get(halves, s.builder().getF16FloatAttr(float(power))));
  return s.make<arith::MulFOp>(s.bitcast(bits, halves), factor);
}

Value fromE4M3(const ScalarBuilder &s, Value codes) {
  constexpr double power = 256; // of biases 15 and 7
  Value places = s.bitAnd(s.shiftRight(codes, 1), twice(0x3f80));
  // One more than the largest magnitude, NaN's, carries to the highest bit of the exponent.
  Value nans = s.bitAnd(s.add(places, s.i32(twice(0x80))), twice(0x4000));
  return timesPower(s, s.bitOr(s.bitOr(places, nans), s.bitAnd(codes, signs)), power);
}

Value fromE4M3Fnuz(const ScalarBuilder &s, Value codes) {
  constexpr double power = 128; // of biases 15 and 8
  Value places = s.bitAnd(s.shiftRight(codes, 1), twice(0x3f80));
  // A sign without a number is NaN, which has none.
  Value numbers = s.add(s.bitAnd(codes, upperBytes), s.i32(twice(0x7fff)));
  Value all = s.bitAnd(codes, signs), signsOfNumbers = s.bitAnd(numbers, all);
  Value nans = s.make<arith::XOrIOp>(all, signsOfNumbers);
  Value bits = s.make<arith::SubIOp>(nans, s.shiftRight(nans, 6));
  return timesPower(s, s.bitOr(s.bitOr(places, bits), signsOfNumbers), power);
}

} // namespace

Value widenBytesToHalves(const ScalarBuilder &s, Value low, Value high, Type format) {
  Value none = s.integer(s.builder().getI8Type(), 0);
  Value upper = s.bitcast(s.pack({none, low, none, high}), s.builder().getI32Type());
  if (isa<Float8E4M3FNType>(format))
    return fromE4M3(s, upper);
  return isa<Float8E4M3FNUZType>(format) ? fromE4M3Fnuz(s, upper) : Value();
}

} // namespace kiln
