#include "compiler/Expansion/ByteFloats/ByteFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Arithmetic on 32 bits, scalar or as a vector of `shape`.
struct Words {
  OpBuilder &b;
  Location loc;
  Type shape;

  Type like(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? vector.clone(element) : element;
  }
  template <typename Op, typename... Args> Value make(Args &&...args) const {
    return b.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }
  Value constant(TypedAttr value) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      value = DenseElementsAttr::get(vector.clone(value.getType()), Attribute(value));
    return make<arith::ConstantOp>(value);
  }
  Value word(uint32_t bits) const { return constant(b.getI32IntegerAttr(int32_t(bits))); }
  Value real(float value) const { return constant(b.getF32FloatAttr(value)); }

  Value add(Value l, Value r) const { return make<arith::AddIOp>(l, r); }
  Value sub(Value l, Value r) const { return make<arith::SubIOp>(l, r); }
  Value bitAnd(Value l, uint32_t r) const { return make<arith::AndIOp>(l, word(r)); }
  Value bitOr(Value l, Value r) const { return make<arith::OrIOp>(l, r); }
  Value shiftLeft(Value l, unsigned r) const { return make<arith::ShLIOp>(l, word(r)); }
  Value shiftRight(Value l, unsigned r) const { return make<arith::ShRUIOp>(l, word(r)); }
  Value compare(arith::CmpIPredicate predicate, Value l, uint32_t r) const {
    return make<arith::CmpIOp>(predicate, l, word(r));
  }
  Value select(Value condition, Value t, Value f) const {
    return make<arith::SelectOp>(condition, t, f);
  }
  Value asFloat(Value bits) const { return make<arith::BitcastOp>(like(b.getF32Type()), bits); }
  Value asWord(Value value) const { return make<arith::BitcastOp>(like(b.getI32Type()), value); }
};

constexpr auto equal = arith::CmpIPredicate::eq;
constexpr auto atLeast = arith::CmpIPredicate::sge;
constexpr uint32_t infinityBits = 0x7f800000, quietBits = 0x7fc00000;

uint32_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

} // namespace

Value widenByteFloat(OpBuilder &b, Location loc, Value byte, Type type) {
  Format format = formatOf(type);
  Words w{b, loc, byte.getType()};
  Value code = w.make<arith::ExtUIOp>(w.like(b.getI32Type()), byte);
  Value magnitude = w.bitAnd(code, 0x7f);
  // With its exponent and mantissa where f32 has them the number is too small by a power of two. A
  // product with that is exact, also for subnormal numbers.
  Value places = w.shiftLeft(magnitude, 23 - format.mantissa);
  Value power = w.real(std::ldexp(1.0f, 127 - format.bias));
  Value bits = w.asWord(w.make<arith::MulFOp>(w.asFloat(places), power));
  if (format.hasInfinity) {
    // The quiet bit is a carry out of the codes above infinity's.
    Value quiet = w.shiftLeft(w.bitAnd(w.add(magnitude, w.word(0x7e - format.largest)), 0x80), 15);
    Value special = w.bitOr(w.bitOr(places, w.word(infinityBits)), quiet);
    bits = w.select(w.compare(atLeast, magnitude, format.largest + 1), special, bits);
  } else if (!format.isUnsignedZero) {
    uint32_t nan = infinityBits | 0x7f << (23 - format.mantissa);
    bits = w.select(w.compare(equal, magnitude, 0x7f), w.word(nan), bits);
  }
  bits = w.bitOr(bits, w.shiftLeft(w.bitAnd(code, 0x80), 24));
  if (format.isUnsignedZero)
    bits = w.select(w.compare(equal, code, 0x80), w.word(quietBits), bits);
  return w.asFloat(bits);
}

Value narrowByteFloat(OpBuilder &b, Location loc, Value value, Type type) {
  Format format = formatOf(type);
  Words w{b, loc, value.getType()};
  unsigned shift = 23 - format.mantissa;
  Value bits = w.asWord(value), magnitude = w.bitAnd(bits, 0x7fffffff);
  // Numbers without a sign compare as their bits do.
  Value word = w.make<arith::MinSIOp>(magnitude, w.word(bitsOf(format.value(format.largest))));
  // Normal results: round by adding just below half, and the last bit that stays.
  Value odd = w.bitAnd(w.shiftRight(word, shift), 1);
  Value rounded = w.add(w.add(word, odd), w.word((1u << (shift - 1)) - 1));
  Value normal =
      w.sub(w.shiftRight(rounded, shift), w.word(uint32_t(127 - format.bias) << format.mantissa));
  // Subnormal results: adding a number whose last place is the smallest subnormal rounds to it.
  float anchor = std::ldexp(1.0f, 24 - format.bias - int(format.mantissa));
  Value sum = w.make<arith::AddFOp>(w.asFloat(word), w.real(anchor));
  Value subnormal = w.sub(w.asWord(sum), w.word(bitsOf(anchor)));
  Value isNormal = w.compare(atLeast, word, bitsOf(std::ldexp(1.0f, 1 - format.bias)));
  Value code = w.select(isNormal, normal, subnormal);
  Value isNan = w.compare(atLeast, magnitude, infinityBits + 1);
  Value sign = w.bitAnd(w.shiftRight(bits, 24), 0x80);
  if (format.isUnsignedZero) {
    sign = w.select(w.compare(equal, code, 0), w.word(0), sign);
    code = w.select(isNan, w.word(0x80), w.bitOr(code, sign));
  } else {
    code = w.bitOr(w.select(isNan, w.word(0x7f), code), sign);
  }
  return w.make<arith::TruncIOp>(w.like(b.getI8Type()), code);
}

} // namespace kiln
