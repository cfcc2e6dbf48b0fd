// What the formulas are written in, logarithms and trigonometry.

#include "compiler/Conversion/TileGPUToLLVM/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double ln2 = 0.693147180559945309417, log2e = 1.44269504088896340736,
                        log10of2 = 0.301029995663981195214, log10e = 0.434294481903251827651,
                        pi = 3.14159265358979323846;

/// LLVM's permission to use an instruction that approximates the function.
static constexpr auto approximate = LLVM::FastmathFlags::afn;

//===-- building blocks
//----------------------------------------------------------------------===//

Value MathBuilder::add(Value a, Value b) const { return s.make<arith::AddFOp>(a, b); }
Value MathBuilder::sub(Value a, Value b) const { return s.make<arith::SubFOp>(a, b); }
Value MathBuilder::mul(Value a, Value b) const { return s.make<arith::MulFOp>(a, b); }
Value MathBuilder::divide(Value a, Value b) const {
  Value quick;
  if (!isDouble)
    quick = device.divideApproximately(s.builder(), s.location(), a, b);
  return quick ? quick : s.make<arith::DivFOp>(a, b);
}
Value MathBuilder::divideFast(Value a, Value b) const {
  if (isDouble)
    return s.make<arith::DivFOp>(a, b);
  return LLVM::FDivOp::create(s.builder(), s.location(), a, b, approximate);
}
Value MathBuilder::reciprocalFast(Value x) const {
  Value quick;
  if (!isDouble)
    quick = device.reciprocal(s.builder(), s.location(), x);
  return quick ? quick : divideFast(number(1), x);
}
Value MathBuilder::fma(Value a, Value b, Value c) const {
  return LLVM::FMAOp::create(s.builder(), s.location(), a, b, c);
}
Value MathBuilder::divideClosely(Value a, Value b) const {
  if (isDouble)
    return s.make<arith::DivFOp>(a, b);
  Value inverse = divideFast(number(1), b), quotient = mul(a, inverse);
  return fma(fma(negate(quotient), b, a), inverse, quotient);
}
Value MathBuilder::divideScaled(Value a, Value b) const {
  if (isDouble)
    return s.make<arith::DivFOp>(a, b);
  Value small = s.select(less(b, number(0x1p-64)), number(0x1p64), number(1));
  Value factor = s.select(less(number(0x1p64), b), number(0x1p-64), small);
  return divideClosely(mul(a, factor), mul(b, factor));
}
Value MathBuilder::sqrtClosely(Value x) const {
  if (isDouble)
    return sqrt(x);
  Value inverse = fastRsqrt(x), root = mul(x, inverse);
  Value closer = fma(fma(negate(root), root, x), mul(inverse, number(0.5)), root);
  return s.select(equal(x, number(0)), x, closer);
}
Value MathBuilder::negate(Value x) const { return s.make<arith::NegFOp>(x); }
Value MathBuilder::abs(Value x) const { return s.make<math::AbsFOp>(x); }
Value MathBuilder::sqrt(Value x) const { return s.make<math::SqrtOp>(x); }
Value MathBuilder::fastSqrt(Value x) const {
  return LLVM::SqrtOp::create(s.builder(), s.location(), x, approximate);
}
Value MathBuilder::copySign(Value magnitude, Value sign) const {
  return s.make<math::CopySignOp>(magnitude, sign);
}
Value MathBuilder::roundEven(Value x) const { return s.make<math::RoundEvenOp>(x); }
Value MathBuilder::less(Value a, Value b) const {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, b);
}
Value MathBuilder::equal(Value a, Value b) const {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b);
}

Value MathBuilder::polynomial(ArrayRef<double> c, Value x) const {
  Value sum = number(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, number(coefficient));
  return sum;
}

//===-- logarithms
//---------------------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::splitMantissa(Value x) const {
  unsigned mantissa = isDouble ? 52 : 23;
  Type bits = s.builder().getIntegerType(isDouble ? 64 : 32);
  // Denormals gain an exponent field first.
  Value tiny = less(x, number(isDouble ? 0x1p-1022 : 0x1p-126));
  Value normal = s.select(tiny, mul(x, number(std::ldexp(1.0, mantissa + 2))), x);
  Value word = s.bitcast(normal, bits);
  // Subtracting sqrt(1/2) leaves the exponent of the nearest power in the
  // field.
  int64_t root = isDouble ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  Value exponent = s.make<arith::ShRSIOp>(s.make<arith::SubIOp>(word, s.integer(bits, root)),
                                          s.integer(bits, mantissa));
  Value m = s.bitcast(s.make<arith::SubIOp>(word, s.shiftLeft(exponent, mantissa)), type);
  Value e = s.make<arith::SIToFPOp>(type, exponent);
  return {m, s.select(tiny, sub(e, number(mantissa + 2)), e)};
}

MathBuilder::Log MathBuilder::splitLog(Value x) const {
  auto [m, e] = splitMantissa(x);
  Value f = sub(m, number(1));
  if (!isDouble) {
    const double c[] = {3.3333331180e-01,  -2.4999996958e-01, 2.0000715749e-01,
                        -1.6667802319e-01, 1.4249057647e-01,  -1.2425687337e-01,
                        1.1685419916e-01,  -1.1479733811e-01, 6.9716114434e-02};
    Value square = mul(f, f);
    Value high = mul(mul(square, f), polynomial(c, f));
    return {f, fma(square, number(-0.5), high), e};
  }
  // log(1 + f) = 2 atanh(f / (2 + f)).
  Value t = s.make<arith::DivFOp>(f, add(f, number(2))), z = mul(t, t);
  SmallVector<double> c;
  for (int n = 1; n <= 23; n += 2)
    c.push_back(2.0 / n);
  return {mul(t, polynomial(c, z)), {}, e};
}

/// The values at the ends of the domain.
Value MathBuilder::finishLog(Value x, Value result) const {
  Value infinity = number(INFINITY);
  Value bounded = s.select(less(x, infinity), result, x);
  Value positive = s.select(less(number(0), x), bounded, number(NAN));
  return s.select(equal(x, number(0)), number(-INFINITY), positive);
}

Value MathBuilder::log(Value x) const {
  Log part = splitLog(x);
  Value m = part.rest ? add(part.leading, part.rest) : part.leading;
  return finishLog(x, fma(part.exponent, number(ln2), m));
}

Value MathBuilder::log2(Value x) const {
  Log part = splitLog(x);
  if (isDouble)
    return finishLog(x, fma(part.leading, number(log2e), part.exponent));
  // The factor less 1, so that what is left to round is small beside the
  // leading part.
  Value rest = fma(part.leading, number(log2e - 1), mul(part.rest, number(log2e)));
  return finishLog(x, add(part.exponent, add(part.leading, rest)));
}

Value MathBuilder::log10(Value x) const {
  Log part = splitLog(x);
  if (isDouble)
    return finishLog(x, fma(part.exponent, number(log10of2), mul(part.leading, number(log10e))));
  // Both factors in two parts, the first with few digits.
  constexpr double factor = 0.4375, ofExponent = 0.301025390625;
  Value rest = fma(part.leading, number(log10e - factor), mul(part.rest, number(log10e)));
  rest = fma(part.exponent, number(log10of2 - ofExponent), rest);
  return finishLog(x,
                   fma(part.exponent, number(ofExponent), fma(part.leading, number(factor), rest)));
}

Value MathBuilder::fastLog2(Value x) const {
  Value quick = device.log2(s.builder(), s.location(), x);
  return quick ? quick : Value(LLVM::Log2Op::create(s.builder(), s.location(), x, approximate));
}
Value MathBuilder::fastLog(Value x) const { return mul(fastLog2(x), number(ln2)); }
Value MathBuilder::fastLog10(Value x) const { return mul(fastLog2(x), number(log10of2)); }

Value MathBuilder::log1p(Value x) const {
  // log(u) for the rounded u = 1 + x, and the first-order effect of what was
  // rounded off.
  Value u = add(number(1), x);
  Value lost = sub(x, sub(u, number(1)));
  Value corrected = copySign(add(log(u), divideFast(lost, u)), x);
  Value regular = s.make<arith::AndIOp>(less(number(-1), x), less(x, number(INFINITY)));
  return s.select(regular, corrected, log(u));
}

//===-- trigonometry
//-------------------------------------------------------------------------===//

std::pair<Value, Value> MathBuilder::sineAndCosine(Value r) const {
  Value z = mul(r, r);
  SmallVector<double> forSin{-1.6666666664e-01, 8.3333318747e-03, -1.9840086724e-04,
                             2.7249924912e-06};
  SmallVector<double> forCos{4.1666664659e-02, -1.3888303034e-03, 2.4547941893e-05};
  if (isDouble) {
    forSin.clear();
    forCos.clear();
    double factorial = 6;
    for (int k = 3; k <= 19; k += 2, factorial *= double(k) * (k - 1))
      forSin.push_back((k / 2 % 2 ? -1 : 1) / factorial);
    factorial = 24;
    for (int k = 4; k <= 20; k += 2, factorial *= double(k) * (k - 1))
      forCos.push_back((k / 2 % 2 ? -1 : 1) / factorial);
  }
  return {fma(mul(z, r), polynomial(forSin, z), r),
          fma(mul(z, z), polynomial(forCos, z), fma(z, number(-0.5), number(1)))};
}

Value MathBuilder::hasBit(Value word, int64_t bit) const {
  return s.compare(arith::CmpIPredicate::ne, s.bitAnd(word, bit), s.zero(word.getType()));
}

Value MathBuilder::sinOrCos(Value x, int quarter) const {
  auto [r, turns] = reduceToQuarter(x);
  auto [sine, cosine] = sineAndCosine(r);
  Value quadrant = s.make<arith::AddIOp>(turns, s.integer(turns.getType(), quarter));
  Value chosen = s.select(hasBit(quadrant, 1), cosine, sine);
  Value result = s.select(hasBit(quadrant, 2), negate(chosen), chosen);
  // The reduction loses the sign of a zero.
  return quarter == 0 ? s.select(equal(x, number(0)), x, result) : result;
}

Value MathBuilder::tan(Value x) const {
  auto [r, turns] = reduceToQuarter(x);
  auto [sine, cosine] = sineAndCosine(r);
  Value odd = hasBit(turns, 1);
  Value quotient = divideClosely(s.select(odd, negate(cosine), sine), s.select(odd, sine, cosine));
  return s.select(equal(x, number(0)), x, quotient);
}

Value MathBuilder::fastSin(Value x) const {
  return LLVM::SinOp::create(s.builder(), s.location(), x, approximate);
}
Value MathBuilder::fastCos(Value x) const {
  return LLVM::CosOp::create(s.builder(), s.location(), x, approximate);
}
Value MathBuilder::fastTan(Value x) const { return divideFast(fastSin(x), fastCos(x)); }

Value MathBuilder::atan(Value x) const {
  Value magnitude = abs(x);
  Value large = less(number(1), magnitude);
  Value t = s.select(large, divideFast(number(1), magnitude), magnitude);
  SmallVector<double> c{-3.3333331733e-01, 1.9999739330e-01,  -1.4278568748e-01,
                        1.1033764115e-01,  -8.6568804299e-02, 6.2501694442e-02,
                        -3.5871538975e-02, 1.3507771423e-02,  -2.3869973158e-03};
  Value base, beyondEighth;
  if (isDouble) {
    // From tan(pi/8) on, atan(t) = pi/4 + atan((t - 1) / (t + 1)).
    c = {-0.33333333333333333,  0.19999999999999803,  -0.14285714285659327,  0.11111111105106705,
         -0.090909087510766359, 0.076922963049744701, -0.066664236280692576, 0.058789145444006217,
         -0.052303478730160742, 0.045511081263251719, -0.034558092551413797, 0.016271944751624062};
    beyondEighth = less(number(0.41421356237309503), t);
    base = s.select(beyondEighth, number(pi / 4), number(0));
    Value turned = s.make<arith::DivFOp>(sub(t, number(1)), add(t, number(1)));
    t = s.select(beyondEighth, turned, t);
  }
  Value z = mul(t, t);
  Value angle = fma(mul(z, t), polynomial(c, z), t);
  if (isDouble)
    angle = add(base, angle);
  return copySign(s.select(large, sub(number(pi / 2), angle), angle), x);
}

Value MathBuilder::atan2(Value y, Value x) const {
  Value ay = abs(y), ax = abs(x);
  // Of the two quotients the one that is at most 1; equal infinities give 1.
  Value steep = less(ax, ay);
  Value small = s.select(steep, ax, ay), large = s.select(steep, ay, ax);
  Value ratio = s.select(less(large, number(INFINITY)), divideScaled(small, large), number(0));
  ratio = s.select(equal(small, large), number(1), ratio);
  ratio = s.select(equal(large, number(0)), number(0), ratio);
  Value angle = atan(ratio);
  angle = s.select(steep, sub(number(pi / 2), angle), angle);
  // The sign of x counts also where it is zero.
  Value leftward = less(copySign(number(1), x), number(0));
  angle = s.select(leftward, sub(number(pi), angle), angle);
  Value unordered = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y);
  return s.select(unordered, number(NAN), copySign(angle, y));
}

Value MathBuilder::asin(Value x) const {
  return atan2(x, sqrtClosely(mul(sub(number(1), x), add(number(1), x))));
}
Value MathBuilder::acos(Value x) const {
  return atan2(sqrtClosely(mul(sub(number(1), x), add(number(1), x))), x);
}

//===-- inverse hyperbolic functions
//---------------------------------------------------------===//

Value MathBuilder::asinh(Value x) const {
  Value a = abs(x), square = mul(a, a), root = sqrtClosely(add(square, number(1)));
  Value inner = add(a, divideClosely(square, add(number(1), root)));
  return copySign(log1pOrDouble(a, inner), x);
}

Value MathBuilder::acosh(Value x) const {
  Value t = sub(x, number(1));
  Value inner = add(t, sqrtClosely(mul(t, add(x, number(1)))));
  return s.select(less(x, number(1)), number(NAN), log1pOrDouble(x, inner));
}

/// log(1 + inner), or log(2 a) where the inner one's squares may have become
/// infinite.
Value MathBuilder::log1pOrDouble(Value a, Value inner) const {
  Value regular = less(a, number(isDouble ? 1e150 : 1e18));
  return add(log1p(s.select(regular, inner, a)), s.select(regular, number(0), number(ln2)));
}

Value MathBuilder::atanh(Value x) const {
  Value a = abs(x), logarithm = log1p(divideClosely(add(a, a), sub(number(1), a)));
  logarithm = s.select(equal(a, number(1)), number(INFINITY), logarithm);
  return copySign(mul(logarithm, number(0.5)), x);
}

} // namespace kiln
