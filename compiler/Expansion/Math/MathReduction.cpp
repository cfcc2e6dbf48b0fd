// Arguments of sin and cos, brought to [-pi/4, pi/4].
//
// Up to a limit, n pi/2 is subtracted in three parts. Beyond, x / (pi/2) needs
// digits of 2/pi from where they begin to matter for a number of x's size (M.
// Payne and R. Hanek, 1983): three words of them, times the mantissa, give the
// quadrant and twice a word of fraction. It is rare, so it stands in a branch
// of its own.

#include "compiler/Expansion/Math/MathBuilder.h"

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

MathBuilder::Reduced MathBuilder::reduceNear(Value x) const {
  if (!target.hasFMA())
    return subtractQuartersInDouble(x);
  Value r = x;
  if (!isDouble) {
    // Beyond 1.5 * 2^23 the last place counts ones, also of what is no number. All parts are
    // positive, which keeps the sign of a zero.
    Value magic = number(0x1.8p23), shifted = fma(x, number(2 / M_PI), magic);
    Value n = sub(shifted, magic);
    for (double part : {1.57079625129699707, 7.54978941586159635e-8, 5.39030285815811905e-15})
      r = fma(n, number(-part), r);
    return {r, bitsOf(shifted)};
  }
  Value n = roundEven(mul(x, number(2 / M_PI)));
  for (double part : {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33})
    r = fma(n, number(-part), r);
  // The quadrant of what has none is not looked at, but must be a number.
  Value whole = b.select(less(abs(x), number(INFINITY)), n, number(0));
  return {r, b.make<arith::FPToSIOp>(wordType(), whole)};
}

/// Where products are rounded: in f64 that with the upper 33 bits of pi/2 is exact.
MathBuilder::Reduced MathBuilder::subtractQuartersInDouble(Value x) const {
  assert(!isDouble && "f64 is the functions' of a library where nothing is fused");
  Value wide = b.extendFloat(x, b.builder.getF64Type());
  // Beyond 1.5 * 2^52 the last place counts ones, also of what is no number.
  Value magic = b.real(0x1.8p52, wide), shifted = add(mul(wide, b.real(2 / M_PI, wide)), magic);
  Value n = sub(shifted, magic), r = wide;
  for (double part : {1.57079632673412561417, 6.07710050650619224932e-11})
    r = sub(r, mul(n, b.real(part, wide)));
  Value quadrant = b.resize(b.bitcast(shifted, b.builder.getI64Type()), b.builder.getI32Type());
  return {b.truncateFloat(r, laneType(type)), quadrant};
}

/// pi/2 times the signed binary fraction of two words. In f32 by way of f64,
/// which rounds once.
Value MathBuilder::turnedToAngle(Value high, Value low) const {
  if (isDouble) {
    Value turned = fma(b.make<arith::UIToFPOp>(type, low), number(0x1p-64),
                       b.make<arith::SIToFPOp>(type, high));
    return mul(turned, number(std::ldexp(M_PI / 2, -64)));
  }
  Type i64 = b.builder.getI64Type(), f64 = vectorOf(b.builder.getF64Type(), laneCount(type));
  Value both = b.bitOr(b.shiftLeft(b.zeroExtend(high, i64), 32), b.zeroExtend(low, i64));
  Value turned = b.make<arith::SIToFPOp>(f64, both);
  Value angle = b.make<arith::MulFOp>(turned, b.real(std::ldexp(M_PI / 2, -64), turned));
  return b.truncateFloat(angle, laneType(type));
}

MathBuilder::Reduced MathBuilder::reduceFar(Value x) const {
  unsigned width = isDouble ? 64 : 32, mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  unsigned lastWord = isDouble ? 1024 / 64 : 128 / 32;
  auto constant = [&](uint64_t value) {
    return b.constant(isDouble ? int64_t(value) : int64_t(int32_t(value)), wordType());
  };
  auto shift = [&](bool left, Value value, Value amount) {
    return left ? b.make<arith::ShLIOp>(value, amount) : b.make<arith::ShRUIOp>(value, amount);
  };
  // x = m 2^e with m in [1/2, 1) as a fraction of `width` bits.
  Value bits = bitsOf(abs(x));
  Value m = b.bitOr(b.shiftLeft(bits, width - 1 - mantissa), constant(uint64_t(1) << (width - 1)));
  Value e = b.sub(b.shiftRight(bits, mantissa, false), constant(bias - 1));
  Value first = b.make<arith::ShRUIOp>(e, constant(isDouble ? 6 : 5));
  Value within = b.bitAnd(e, constant(width - 1));
  SmallVector<Value, 4> raw;
  for (int offset = -1; offset <= 2; ++offset) {
    Value chosen = constant(digits(offset, isDouble));
    for (unsigned index = 1; index <= lastWord; ++index)
      chosen = b.select(b.compare(arith::CmpIPredicate::eq, first, constant(index)),
                        constant(digits(int(index) + offset, isDouble)), chosen);
    raw.push_back(chosen);
  }
  // Shifted left by `within` bits; a shift by the whole width is one by all but
  // one, and one.
  Value rest = b.make<arith::SubIOp>(constant(width - 1), within);
  SmallVector<Value, 3> d;
  for (unsigned index = 0; index < 3; ++index)
    d.push_back(b.bitOr(shift(true, raw[index], within),
                        shift(false, b.shiftRight(raw[index + 1], 1, false), rest)));
  // The product, of which what lies above the second bit before the point does
  // not count.
  auto low = arith::MulUIExtendedOp::create(b.builder, b.loc, m, d[2]);
  auto middle = arith::MulUIExtendedOp::create(b.builder, b.loc, m, d[1]);
  Value below = b.make<arith::AddIOp>(middle.getLow(), low.getHigh());
  Value carry = b.make<arith::ExtUIOp>(
      wordType(), b.compare(arith::CmpIPredicate::ult, below, middle.getLow()));
  Value top = b.make<arith::AddIOp>(b.make<arith::AddIOp>(middle.getHigh(), carry),
                                    b.make<arith::MulIOp>(m, d[0]));
  // Two bits of quadrant, then the fraction, which counts as negative from 1/2
  // on.
  Value fraction = b.bitOr(b.shiftLeft(top, 2), b.shiftRight(below, width - 2, false));
  Value beyondHalf = b.shiftRight(fraction, width - 1, false);
  Value quadrant = b.make<arith::AddIOp>(b.shiftRight(top, width - 2, false), beyondHalf);
  Value r = turnedToAngle(fraction, b.shiftLeft(below, 2));
  Value negative = less(x, number(0));
  return {b.select(negative, b.make<arith::NegFOp>(r), r),
          b.select(negative, b.make<arith::SubIOp>(constant(0), quadrant), quadrant)};
}

Value MathBuilder::isFar(Value x) const {
  Value magnitude = abs(x);
  return b.bitAnd(less(number(isDouble ? 1e9 : nearLimit), magnitude),
                  less(magnitude, number(INFINITY)));
}

MathBuilder::Reduced MathBuilder::reduceToQuarter(Value x) const {
  Value isLarge = isFar(x);
  auto isVector = isa<VectorType>(type);
  Reduced usual;
  if (isVector)
    usual = reduceNear(x);
  auto large = [&](OpBuilder &builder, Location loc) {
    VectorBuilder inner(builder, loc);
    auto [r, quadrant] = MathBuilder(inner, target, type).reduceFar(x);
    if (isVector) {
      r = inner.select(isLarge, r, usual.first);
      quadrant = inner.select(isLarge, quadrant, usual.second);
    }
    scf::YieldOp::create(builder, loc, ValueRange{r, quadrant});
  };
  auto small = [&](OpBuilder &builder, Location loc) {
    VectorBuilder inner(builder, loc);
    auto [r, quadrant] = isVector ? usual : MathBuilder(inner, target, type).reduceNear(x);
    scf::YieldOp::create(builder, loc, ValueRange{r, quadrant});
  };
  auto branch = scf::IfOp::create(b.builder, b.loc, b.anyOf(isLarge), large, small);
  return {branch.getResult(0), branch.getResult(1)};
}

} // namespace kiln
