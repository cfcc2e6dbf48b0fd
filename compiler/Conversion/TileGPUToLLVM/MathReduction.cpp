// Arguments of sin and cos, brought to [-pi/4, pi/4].
//
// Up to a limit, n pi/2 is subtracted in three parts. Beyond, x / (pi/2) needs
// digits of 2/pi from where they begin to matter for a number of x's size (M.
// Payne and R. Hanek, 1983): three words of them, times the mantissa, give the
// quadrant and twice a word of fraction. It is rare, so it stands in a branch
// of its own.

#include "compiler/Conversion/TileGPUToLLVM/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace kiln {

/// The digits of 2/pi, a quarter of it as a binary fraction.
static constexpr uint64_t quarterOfTwoOverPi[] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
    0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121,
    0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603,
    0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e,
    0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87};

/// Word `index` of the digits; zero before the first.
static uint64_t digits(int index, bool isDouble) {
  if (index < 0)
    return 0;
  if (isDouble)
    return quarterOfTwoOverPi[index];
  uint64_t pair = quarterOfTwoOverPi[index / 2];
  return index % 2 ? pair & 0xffffffff : pair >> 32;
}

MathBuilder::Reduced MathBuilder::subtractQuarters(Value x) const {
  Value n = roundEven(mul(x, number(2 / M_PI)));
  SmallVector<double> parts{1.57079637050628662109375, -4.37113900018624283e-08,
                            -1.71512451306171e-15};
  if (isDouble)
    parts = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33};
  Value r = x;
  for (double part : parts)
    r = fma(n, number(-part), r);
  // The quadrant of what has none is not looked at, but must be a number.
  Value whole = s.select(less(abs(x), number(INFINITY)), n, number(0));
  Type word = s.builder().getIntegerType(isDouble ? 64 : 32);
  return {r, s.make<arith::FPToSIOp>(word, whole)};
}

/// pi/2 times the signed binary fraction of two words. In f32 by way of f64,
/// which rounds once.
Value MathBuilder::turnedToAngle(Value high, Value low) const {
  OpBuilder &b = s.builder();
  if (isDouble) {
    Value turned = fma(s.make<arith::UIToFPOp>(type, low), number(0x1p-64),
                       s.make<arith::SIToFPOp>(type, high));
    return mul(turned, number(std::ldexp(M_PI / 2, -64)));
  }
  Value both = s.bitOr(s.shiftLeft(s.make<arith::ExtUIOp>(b.getI64Type(), high), 32),
                       s.make<arith::ExtUIOp>(b.getI64Type(), low));
  Value turned = s.make<arith::SIToFPOp>(b.getF64Type(), both);
  Value scale = s.real(b.getF64Type(), std::ldexp(M_PI / 2, -64));
  return s.make<arith::TruncFOp>(type, s.make<arith::MulFOp>(turned, scale));
}

MathBuilder::Reduced MathBuilder::multiplyByTwoOverPi(Value x) const {
  unsigned width = isDouble ? 64 : 32, mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  unsigned lastWord = isDouble ? 1024 / 64 : 128 / 32;
  Type word = s.builder().getIntegerType(width);
  auto constant = [&](uint64_t value) {
    return s.make<arith::ConstantOp>(s.builder().getIntegerAttr(word, APInt(width, value)));
  };
  auto shift = [&](bool left, Value value, Value amount) {
    return left ? s.make<arith::ShLIOp>(value, amount) : s.make<arith::ShRUIOp>(value, amount);
  };
  // x = m 2^e with m in [1/2, 1) as a fraction of `width` bits.
  Value bits = s.bitcast(abs(x), word);
  Value m = s.bitOr(s.shiftLeft(bits, width - 1 - mantissa), constant(uint64_t(1) << (width - 1)));
  Value e = s.make<arith::SubIOp>(s.shiftRight(bits, mantissa), constant(bias - 1));
  Value first = s.make<arith::ShRUIOp>(e, constant(isDouble ? 6 : 5));
  Value within = s.bitAnd(e, int64_t(width - 1));
  SmallVector<Value, 4> raw;
  for (int offset = -1; offset <= 2; ++offset) {
    Value chosen = constant(digits(offset, isDouble));
    for (unsigned index = 1; index <= lastWord; ++index)
      chosen =
          s.select(s.equal(first, index), constant(digits(int(index) + offset, isDouble)), chosen);
    raw.push_back(chosen);
  }
  // Shifted left by `within` bits; a shift by the whole width is one by all but
  // one, and one.
  Value rest = s.make<arith::SubIOp>(constant(width - 1), within);
  SmallVector<Value, 3> d;
  for (unsigned index = 0; index < 3; ++index)
    d.push_back(s.bitOr(shift(true, raw[index], within),
                        shift(false, s.shiftRight(raw[index + 1], 1), rest)));
  // The product, of which what lies above the second bit before the point does
  // not count.
  auto low = arith::MulUIExtendedOp::create(s.builder(), s.location(), m, d[2]);
  auto middle = arith::MulUIExtendedOp::create(s.builder(), s.location(), m, d[1]);
  Value below = s.make<arith::AddIOp>(middle.getLow(), low.getHigh());
  Value carry =
      s.make<arith::ExtUIOp>(word, s.compare(arith::CmpIPredicate::ult, below, middle.getLow()));
  Value top = s.make<arith::AddIOp>(s.make<arith::AddIOp>(middle.getHigh(), carry),
                                    s.make<arith::MulIOp>(m, d[0]));
  // Two bits of quadrant, then the fraction, which counts as negative from 1/2
  // on.
  Value fraction = s.bitOr(s.shiftLeft(top, 2), s.shiftRight(below, width - 2));
  Value beyondHalf = s.shiftRight(fraction, width - 1);
  Value quadrant = s.make<arith::AddIOp>(s.shiftRight(top, width - 2), beyondHalf);
  Value r = turnedToAngle(fraction, s.shiftLeft(below, 2));
  Value negative = less(x, number(0));
  return {s.select(negative, s.make<arith::NegFOp>(r), r),
          s.select(negative, s.make<arith::SubIOp>(constant(0), quadrant), quadrant)};
}

MathBuilder::Reduced MathBuilder::reduceToQuarter(Value x) const {
  Value magnitude = abs(x);
  Value isLarge = s.make<arith::AndIOp>(less(number(isDouble ? 1e9 : 1e5), magnitude),
                                        less(magnitude, number(INFINITY)));
  auto yield = [&](OpBuilder &b, Location loc, Reduced (MathBuilder::*reduce)(Value) const) {
    ScalarBuilder inner(b, loc);
    Reduced result = (MathBuilder(inner, device, type).*reduce)(x);
    scf::YieldOp::create(b, loc, ValueRange{result.first, result.second});
  };
  auto branch = scf::IfOp::create(
      s.builder(), s.location(), isLarge,
      [&](OpBuilder &b, Location loc) { yield(b, loc, &MathBuilder::multiplyByTwoOverPi); },
      [&](OpBuilder &b, Location loc) { yield(b, loc, &MathBuilder::subtractQuarters); });
  return {branch.getResult(0), branch.getResult(1)};
}

} // namespace kiln
