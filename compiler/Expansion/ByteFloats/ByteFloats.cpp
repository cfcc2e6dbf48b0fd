#include "compiler/Expansion/ByteFloats/ByteFloats.h"
#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include <cmath>

using namespace mlir;

namespace kiln {
namespace {

/// OCP "8-bit Floating Point Specification" (OFP8), and AMD's FNUZ forms ("CDNA 3 Instruction Set
/// Architecture").
struct Format {
  unsigned mantissa;
  int bias;
  unsigned largest;    ///< magnitude of the largest finite number
  bool hasInfinity;    ///< the magnitude after the largest, and NaNs above it
  bool isUnsignedZero; ///< minus zero's code is NaN instead

  float value(unsigned magnitude) const {
    unsigned fraction = magnitude & ((1u << mantissa) - 1);
    return std::ldexp(float(fraction + (1u << mantissa)),
                      int(magnitude >> mantissa) - bias - int(mantissa));
  }
};

Format formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return {3, 7, 0x7e, false, false};
  if (isa<Float8E4M3FNUZType>(type))
    return {3, 8, 0x7f, false, true};
  if (isa<Float8E5M2Type>(type))
    return {2, 15, 0x7b, true, false};
  return {2, 16, 0x7f, false, true};
}

constexpr auto equal = arith::CmpIPredicate::eq;
constexpr auto atLeast = arith::CmpIPredicate::sge;
constexpr uint32_t infinityBits = 0x7f800000, quietBits = 0x7fc00000;

uint32_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

} // namespace

Value widenByteFloat(OpBuilder &b, Location loc, Value byte, Type type) {
  Format format = formatOf(type);
  VectorBuilder v(b, loc);
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value code = v.zeroExtend(byte, i32);
  auto word = [&](uint32_t bits) { return v.integer(int32_t(bits), code); };
  Value magnitude = v.bitAnd(code, word(0x7f));
  // With its exponent and mantissa where f32 has them the number is too small by a power of two. A
  // product with that is exact, also for subnormal numbers.
  Value places = v.shiftLeft(magnitude, 23 - format.mantissa), small = v.bitcast(places, f32);
  Value bits = v.bitcast(v.mul(small, v.real(std::ldexp(1.0, 127 - format.bias), small)), i32);
  if (format.hasInfinity) {
    // The quiet bit is a carry out of the codes above infinity's.
    Value carry = v.bitAnd(v.add(magnitude, word(0x7e - format.largest)), word(0x80));
    Value special = v.bitOr(v.bitOr(places, word(infinityBits)), v.shiftLeft(carry, 15));
    bits = v.select(v.compare(atLeast, magnitude, word(format.largest + 1)), special, bits);
  } else if (!format.isUnsignedZero) {
    uint32_t nan = infinityBits | 0x7f << (23 - format.mantissa);
    bits = v.select(v.compare(equal, magnitude, word(0x7f)), word(nan), bits);
  }
  bits = v.bitOr(bits, v.shiftLeft(v.bitAnd(code, word(0x80)), 24));
  if (format.isUnsignedZero)
    bits = v.select(v.compare(equal, code, word(0x80)), word(quietBits), bits);
  return v.bitcast(bits, f32);
}

Value narrowByteFloat(OpBuilder &b, Location loc, Value value, Type type) {
  Format format = formatOf(type);
  VectorBuilder v(b, loc);
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  unsigned shift = 23 - format.mantissa;
  Value bits = v.bitcast(value, i32);
  auto word = [&](uint32_t number) { return v.integer(int32_t(number), bits); };
  Value magnitude = v.bitAnd(bits, word(0x7fffffff));
  // Numbers without a sign compare as their bits do.
  Value limited =
      arith::MinSIOp::create(b, loc, magnitude, word(bitsOf(format.value(format.largest))));
  // Normal results: round by adding just below half, and the last bit that stays.
  Value odd = v.bitAnd(v.shiftRight(limited, shift, false), word(1));
  Value rounded = v.add(v.add(limited, odd), word((1u << (shift - 1)) - 1));
  Value normal = v.sub(v.shiftRight(rounded, shift, false),
                       word(uint32_t(127 - format.bias) << format.mantissa));
  // Subnormal results: adding a number whose last place is the smallest subnormal rounds to it.
  float anchor = std::ldexp(1.0f, 24 - format.bias - int(format.mantissa));
  Value sum = v.add(v.bitcast(limited, f32), v.real(anchor, value));
  Value subnormal = v.sub(v.bitcast(sum, i32), word(bitsOf(anchor)));
  Value isNormal = v.compare(atLeast, limited, word(bitsOf(std::ldexp(1.0f, 1 - format.bias))));
  Value code = v.select(isNormal, normal, subnormal);
  Value isNan = v.compare(atLeast, magnitude, word(infinityBits + 1));
  Value sign = v.bitAnd(v.shiftRight(bits, 24, false), word(0x80));
  if (format.isUnsignedZero) {
    sign = v.select(v.compare(equal, code, word(0)), word(0), sign);
    code = v.select(isNan, word(0x80), v.bitOr(code, sign));
  } else {
    code = v.bitOr(v.select(isNan, word(0x7f), code), sign);
  }
  return v.resize(code, b.getI8Type());
}

} // namespace kiln
