// libdevice's conversions, functions on bits, and compositions, against C's own arithmetic.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS(
    "libdevice.float2int_rn libdevice.float2int_rz libdevice.float2int_rd "
    "libdevice.float2int_ru libdevice.float2uint_rn libdevice.float2uint_rz "
    "libdevice.float2uint_rd libdevice.float2uint_ru libdevice.float2ll_rn "
    "libdevice.float2ll_rz libdevice.float2ll_rd libdevice.float2ll_ru libdevice.float2ull_rn "
    "libdevice.float2ull_rz libdevice.float2ull_rd libdevice.float2ull_ru "
    "libdevice.double2int_rn libdevice.double2int_rz libdevice.double2int_rd "
    "libdevice.double2int_ru libdevice.double2uint_rn libdevice.double2uint_rz "
    "libdevice.double2uint_rd libdevice.double2uint_ru libdevice.double2ll_rn "
    "libdevice.double2ll_rz libdevice.double2ll_rd libdevice.double2ll_ru "
    "libdevice.double2ull_rn libdevice.double2ull_rz libdevice.double2ull_rd "
    "libdevice.double2ull_ru libdevice.int2float_rn libdevice.int2double_rn "
    "libdevice.uint2float_rn libdevice.uint2double_rn libdevice.ll2float_rn "
    "libdevice.ll2double_rn libdevice.ull2float_rn libdevice.ull2double_rn "
    "libdevice.double2float_rn libdevice.double2float_rz libdevice.float_as_uint "
    "libdevice.uint_as_float libdevice.double_as_longlong libdevice.longlong_as_double "
    "libdevice.double2hiint libdevice.double2loint libdevice.hiloint2double libdevice.brev "
    "libdevice.mulhi libdevice.mul24 libdevice.hadd libdevice.rhadd libdevice.sad "
    "libdevice.hypot libdevice.rhypot libdevice.norm3d libdevice.norm4d libdevice.rnorm3d "
    "libdevice.rnorm4d libdevice.fdim libdevice.saturatef libdevice.rcbrt "
    "libdevice.fast_exp10f libdevice.fast_log10f libdevice.fast_tanf libdevice.fma_rn "
    "libdevice.normcdf libdevice.sinpi libdevice.cospi libdevice.ldexp libdevice.scalbn "
    "libdevice.ilogb libdevice.logb libdevice.nextafter libdevice.remainder libdevice.add_rn "
    "libdevice.sub_rn libdevice.mul_rn libdevice.div_rn libdevice.sqrt_rn libdevice.erfinv "
    "libdevice.erfcinv libdevice.normcdfinv libdevice.lgamma libdevice.tgamma libdevice.byte_perm "
    "libdevice.signbit libdevice.rcp64h");

class Device : public SourceTest {};

using LongDouble = long double;
#define F(EXPRESSION) [](const LongDouble *x) -> LongDouble { return EXPRESSION; }
#define I(EXPRESSION) [](const __int128 *x) -> __int128 { return EXPRESSION; }

TEST_P(Device, Compositions) {
  struct {
    const char *call;
    Reference reference;
    double ulps;
  } functions[] = {
      {"libdevice.hypot(x, y)", F(std::hypot(x[0], x[1])), 2},
      {"libdevice.rhypot(x, y)", F(1 / std::hypot(x[0], x[1])), 3},
      {"libdevice.norm3d(x, y, z)", F(std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])), 4},
      {"libdevice.rnorm3d(x, y, z)", F(1 / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])), 4},
      {"libdevice.norm4d(x, y, z, w)",
       F(std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3])), 4},
      {"libdevice.rnorm4d(x, y, z, w)",
       F(1 / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3])), 4},
      {"libdevice.fdim(x, y)", F(std::fdim(x[0], x[1])), 0.5},
      {"libdevice.saturatef(x)", F(x[0] > 0 ? std::fmin(x[0], 1) : 0), 0},
      {"libdevice.rcbrt(x)", F(1 / std::cbrt(x[0])), 4},
      {"libdevice.fast_exp10f(x * 2)", F(std::pow(10.0L, x[0] * 2)), 512},
      {"libdevice.fast_log10f(y * y + 2)", F(std::log10(x[1] * x[1] + 2)), 64},
      {"libdevice.fast_tanf(x / 8)", F(std::tan(x[0] / 8)), 4},
      {"libdevice.fma_rn(x, y, z)", F(x[0] * x[1] + x[2]), 1},
      {"libdevice.normcdf(x)", F(std::erfc(-x[0] * std::sqrt(0.5L)) / 2), 6},
  };
  for (auto [call, reference, ulps] : functions)
    for (const char *type : {"fp32", "fp64"}) {
      std::vector<Array> inputs;
      for (uint64_t seed : {1, 2, 3, 4})
        inputs.push_back(uniformArray(type, 150, seed, -9, 9));
      checkElementwise(GetParam(), inputs,
                       std::vector<FloatCheck>{{{call, type}, reference, ulps}});
    }
}

TEST_P(Device, LengthsDoNotOverflow) {
  std::vector<FloatCheck> checks = {
      {{"libdevice.hypot(x, y)", "fp32"}, F(std::hypot(x[0], x[1])), 2},
      {{"libdevice.norm3d(x, y, x)", "fp32"}, F(std::sqrt(x[0] * x[0] * 2 + x[1] * x[1])), 4}};
  for (double scale : {1e30, 1e37, 1e-37})
    checkElementwise(
        GetParam(),
        {uniformArray("fp32", 60, 5, -scale, scale), uniformArray("fp32", 60, 6, -scale, scale)},
        checks);
}

/// As the mode's letter says.
template <char mode> LongDouble rounded(LongDouble x) {
  return mode == 'n'   ? std::nearbyint(x)
         : mode == 'd' ? std::floor(x)
         : mode == 'u' ? std::ceil(x)
                       : std::trunc(x);
}

TEST_P(Device, FloatsToIntegers) {
  for (std::string source : {"float", "double"})
    for (auto [name, type] :
         {std::pair("int", "i32"), {"uint", "u32"}, {"ll", "i64"}, {"ull", "u64"}}) {
      bool isSigned = name[0] != 'u';
      Array x =
          uniformArray(source == "float" ? "fp32" : "fp64", 200, 7, isSigned ? -1000 : 1, 1000);
      for (int i = 0; i < 40; ++i)
        x.set(size_t(i), (isSigned ? -20 : 0) + i * 0.5L + 0.5L);
      std::string call = "libdevice." + source + "2" + name + "_";
      std::string resultType = type;
      auto check = [&](const char *mode, Reference reference) {
        Array result = evaluate(GetParam(), {{call + mode + "(x)", resultType}}, {x}).at(0);
        for (size_t i = 0; i < x.count(); ++i) {
          LongDouble number = x[i];
          EXPECT_EQ(result[i], reference(&number)) << call << mode << " of " << number;
        }
      };
      check("rn", F(rounded<'n'>(x[0])));
      check("rz", F(rounded<'z'>(x[0])));
      check("rd", F(rounded<'d'>(x[0])));
      check("ru", F(rounded<'u'>(x[0])));
    }
}

TEST_P(Device, IntegersToFloats) {
  for (auto [name, type] :
       {std::pair("int", "i32"), {"uint", "u32"}, {"ll", "i64"}, {"ull", "u64"}}) {
    Array x = mixedArray(type, 100, 8, 1e6);
    std::string call = std::string("libdevice.") + name + "2";
    checkElementwise(GetParam(), {x},
                     std::vector<FloatCheck>{{{call + "float_rn(x)", "fp32"}, F(x[0]), 0.5},
                                             {{call + "double_rn(x)", "fp64"}, F(x[0]), 0.5}});
  }
  Array x = uniformArray("fp64", 100, 9, -1e6, 1e6);
  std::vector<Array> results = evaluate(
      GetParam(),
      {{"libdevice.double2float_rn(x)", "fp32"}, {"libdevice.double2float_rz(x)", "fp32"}}, {x});
  for (size_t i = 0; i < x.count(); ++i) {
    float nearest = float(double(x[i])), towardZero = nearest;
    if (std::fabs(nearest) > std::fabs(x[i]))
      towardZero = std::nextafter(nearest, 0.0f);
    EXPECT_EQ(results[0][i], nearest);
    EXPECT_EQ(results[1][i], towardZero);
  }
}

TEST_P(Device, Bits) {
  Array f = mixedArray("fp32", 60, 10), d = mixedArray("fp64", 60, 11),
        i = mixedArray("i32", 60, 12);
  std::vector<Array> ofF =
      evaluate(GetParam(),
               {{"libdevice.float_as_uint(x)", "u32"},
                {"libdevice.uint_as_float(libdevice.float_as_uint(x))", "fp32"}},
               {f});
  std::vector<Array> ofD = evaluate(
      GetParam(),
      {{"libdevice.double_as_longlong(x)", "i64"},
       {"libdevice.longlong_as_double(libdevice.double_as_longlong(x))", "fp64"},
       {"libdevice.double2hiint(x)", "i32"},
       {"libdevice.double2loint(x)", "i32"},
       {"libdevice.hiloint2double(libdevice.double2hiint(x), libdevice.double2loint(x))", "fp64"}},
      {d});
  for (size_t k = 0; k < f.count(); ++k) {
    EXPECT_EQ(ofF[0].bits(k), f.bits(k));
    EXPECT_EQ(ofF[1].bits(k), f.bits(k));
    EXPECT_EQ(ofD[0].bits(k), d.bits(k));
    EXPECT_EQ(ofD[1].bits(k), d.bits(k));
    EXPECT_EQ(ofD[2].bits(k), d.bits(k) >> 32);
    EXPECT_EQ(ofD[3].bits(k), d.bits(k) & 0xffffffff);
    EXPECT_EQ(ofD[4].bits(k), d.bits(k));
  }
  for (const char *type : {"i32", "u32", "i64", "u8"}) {
    Array x = mixedArray(type, 60, 13, 1e6);
    Array result = evaluate(GetParam(), {{"libdevice.brev(x)", type}}, {x}).at(0);
    unsigned width = x.type().bits;
    for (size_t k = 0; k < x.count(); ++k) {
      uint64_t reversed = 0;
      for (unsigned bit = 0; bit < width; ++bit)
        reversed |= (x.bits(k) >> bit & 1) << (width - 1 - bit);
      EXPECT_EQ(result.bits(k), reversed) << type;
    }
  }
}

TEST_P(Device, Integers) {
  for (const char *type : {"i32", "u32"}) {
    std::vector<Array> inputs = {mixedArray(type, 90, 14, 1e7), mixedArray(type, 90, 15, 1e7)};
    std::string unsignedType = "u32";
    checkElementwise(
        GetParam(), inputs,
        std::vector<IntegerCheck>{{{"libdevice.mulhi(x, y)", type}, I(x[0] * x[1] >> 32)},
                                  {{"libdevice.hadd(x, y)", type}, I((x[0] + x[1]) >> 1)},
                                  {{"libdevice.rhadd(x, y)", type}, I((x[0] + x[1] + 1) >> 1)},
                                  {{"libdevice.sad(x, y, x.to(tl.uint32))", unsignedType},
                                   I((x[0] > x[1] ? x[0] - x[1] : x[1] - x[0]) + x[0])}});
  }
  std::vector<Array> small = {mixedArray("i32", 90, 16, 8e6), mixedArray("i32", 90, 17, 8e6)};
  checkElementwise(GetParam(), small,
                   std::vector<IntegerCheck>{{{"libdevice.mul24(x, y)", "i32"},
                                              I((__int128(int32_t(uint32_t(x[0]) << 8) >> 8)) *
                                                (int32_t(uint32_t(x[1]) << 8) >> 8))}});
}

/// sin(pi x) by an exact reduction.
LongDouble sineOfPi(LongDouble x) {
  LongDouble turn = std::remainder(x, 2.0L);
  if (std::fabs(turn) == 1)
    return std::copysign(0.0L, x);
  if (std::fabs(turn) > 0.5L)
    turn = std::copysign(1.0L, turn) - turn;
  return std::copysign(std::sin(M_PIl * turn), turn);
}

LongDouble cosineOfPi(LongDouble x) {
  LongDouble turn = std::fabs(std::remainder(x, 2.0L));
  return std::sin(M_PIl * (0.5L - turn));
}

TEST_P(Device, MultiplesOfPi) {
  for (const char *type : {"fp32", "fp64"})
    for (double range : {1.0, 30.0, 1e5}) {
      Array x = mixedArray(type, 150, 18, range, true);
      for (int i = 0; i < 40; ++i)
        x.set(size_t(i), (i - 20) / 4.0L);
      checkElementwise(
          GetParam(), {x},
          std::vector<FloatCheck>{{{"libdevice.sinpi(x)", type}, F(sineOfPi(x[0])), 2},
                                  {{"libdevice.cospi(x)", type}, F(cosineOfPi(x[0])), 2}});
    }
}

TEST_P(Device, PartsOfFloats) {
  for (std::string type : {"fp32", "fp64"}) {
    bool isDouble = type == "fp64";
    Array x = mixedArray(type, 200, 19), y = mixedArray(type, 200, 20);
    Array n = uniformArray("i32", 200, 21, isDouble ? -2200 : -320, isDouble ? 2200 : 320);
    for (size_t i = 0; i < 40; ++i)
      y.setBits(i * 5, x.bits(i * 5));
    std::vector<Array> results = evaluate(GetParam(),
                                          {{"libdevice.ldexp(x, z)", type},
                                           {"libdevice.scalbn(x, z)", type},
                                           {"libdevice.ilogb(x)", "i32"},
                                           {"libdevice.logb(x)", type},
                                           {"libdevice.nextafter(x, y)", type},
                                           {"libdevice.remainder(x, y)", type}},
                                          {x, y, n});
    ASSERT_EQ(results.size(), 6u);
    for (size_t i = 0; i < x.count(); ++i) {
      LongDouble a = x[i], b = y[i];
      LongDouble next = isDouble ? LongDouble(std::nextafter(double(a), double(b)))
                                 : LongDouble(std::nextafter(float(a), float(b)));
      LongDouble expected[] = {std::scalbn(a, int(n[i])),
                               std::scalbn(a, int(n[i])),
                               LongDouble(std::ilogb(a)),
                               std::logb(a),
                               next,
                               std::remainder(a, b)};
      for (size_t k = 0; k < 6; ++k)
        EXPECT_EQ(ulpsBetween(results[k].type(), results[k].bits(i), expected[k]), 0)
            << type << " function " << k << " of " << a << ", " << b << ", " << n[i];
    }
  }
}

TEST_P(Device, RoundedToNearest) {
  for (const char *type : {"fp32", "fp64"})
    checkElementwise(
        GetParam(), {uniformArray(type, 90, 22, -9, 9), uniformArray(type, 90, 23, 1, 9)},
        std::vector<FloatCheck>{{{"libdevice.add_rn(x, y)", type}, F(x[0] + x[1]), 0.501},
                                {{"libdevice.sub_rn(x, y)", type}, F(x[0] - x[1]), 0.501},
                                {{"libdevice.mul_rn(x, y)", type}, F(x[0] * x[1]), 0.501},
                                {{"libdevice.div_rn(x, y)", type}, F(x[0] / x[1]), 0.501},
                                {{"libdevice.sqrt_rn(y)", type}, F(std::sqrt(x[1])), 0.501}});
}

/// A bound by the type.
double unitsOf(const char *type, double inSingle, double inDouble) {
  return type == std::string("fp32") ? inSingle : inDouble;
}

TEST_P(Device, InverseErrorFunctions) {
  // Held against their inverses, near 0 and in the tails.
  for (const char *type : {"fp32", "fp64"}) {
    Array y = uniformArray(type, 120, 24, -3.5, 3.5), x(type, 120), q(type, 120), p(type, 120);
    for (size_t i = 0; i < y.count(); ++i) {
      LongDouble scale = i % 3 == 0 ? 1e-6L : 1;
      x.set(i, std::erf(y[i] * scale));
      q.set(i, std::erfc(y[i] * 2.4L + (i % 2 ? 0 : 0.5L)));
      p.set(i, std::erfc(-y[i]) / 2);
    }
    std::vector<Array> results = evaluate(GetParam(),
                                          {{"libdevice.erfinv(x)", "fp64"},
                                           {"libdevice.erfcinv(y)", "fp64"},
                                           {"libdevice.normcdfinv(z)", "fp64"}},
                                          {x, q, p});
    ASSERT_EQ(results.size(), 3u);
    // In fp32 the bounds of SinglePrecisionTest.
    bool isSingle = type == std::string("fp32");
    double epsilon = isSingle ? 2.4e-7 : 4e-15, epsilonC = isSingle ? 4.8e-7 : 4e-15;
    for (size_t i = 0; i < y.count(); ++i) {
      LongDouble a = results[0][i], b = results[1][i], c = results[2][i];
      // The slope turns an error of the result into one of the argument.
      LongDouble slope = 2 / std::sqrt(M_PIl);
      EXPECT_LE(std::fabs(std::erf(a) - x[i]),
                epsilon * std::fabs(a) * slope * std::exp(-a * a) + 1e-19L)
          << type << " erfinv of " << x[i];
      if (q[i] > 1e-37L && q[i] < 2)
        EXPECT_LE(std::fabs(std::erfc(b) - q[i]),
                  epsilonC * std::fabs(b) * slope * std::exp(-b * b) + q[i] * 3e-16L)
            << type << " erfcinv of " << q[i];
      LongDouble d = -c / std::sqrt(2.0L);
      EXPECT_LE(std::fabs(std::erfc(d) / 2 - p[i]),
                epsilonC * std::fabs(d) * slope * std::exp(-d * d) + p[i] * 3e-16L)
          << type << " normcdfinv of " << p[i];
    }
    Array edges(type, 6);
    const LongDouble at[] = {0, 1, -1, 2, 1.5L, NAN};
    for (size_t i = 0; i < 6; ++i)
      edges.set(i, at[i]);
    results = evaluate(GetParam(), {{"libdevice.erfinv(x)", type}, {"libdevice.erfcinv(x)", type}},
                       {edges});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0][0], 0);
    EXPECT_EQ(results[0][1], INFINITY);
    EXPECT_EQ(results[0][2], -INFINITY);
    EXPECT_TRUE(std::isnan(results[0][3]) && std::isnan(results[0][5]));
    EXPECT_EQ(results[1][0], INFINITY);
    EXPECT_EQ(results[1][1], 0);
    EXPECT_TRUE(std::isnan(results[1][2]) && std::isnan(results[1][5]));
    EXPECT_EQ(results[1][3], -INFINITY);
  }
}

TEST_P(Device, GammaFunctions) {
  for (const char *type : {"fp32", "fp64"}) {
    Array x = uniformArray(type, 160, 25, -20, 30);
    const LongDouble at[] = {0,  -0.0L, 1,        2,         0.5L, 1.5L,  -0.5L,  -1,
                             -2, 170,   INFINITY, -INFINITY, NAN,  1e-6L, -1e-6L, 1e10L};
    for (size_t i = 0; i < 16; ++i)
      x.set(i, at[i]);
    std::vector<Array> results =
        evaluate(GetParam(), {{"libdevice.lgamma(x)", type}, {"libdevice.tgamma(x)", type}}, {x});
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < x.count(); ++i) {
      LongDouble logarithm = std::lgamma(x[i]), gamma = std::tgamma(x[i]);
      if (std::isinf(logarithm))
        EXPECT_EQ(results[0][i], logarithm) << x[i];
      else if (!std::isnan(logarithm))
        EXPECT_LE(std::fabs(results[0][i] - logarithm),
                  unitsOf(type, 20, 450) * (type == std::string("fp32") ? 1.2e-7L : 2.2e-16L) *
                      std::max(LongDouble(1), std::fabs(logarithm)))
            << type << " lgamma of " << x[i];
      EXPECT_LE(ulpsBetween(results[1].type(), results[1].bits(i), gamma), unitsOf(type, 5, 4500))
          << type << " tgamma of " << x[i] << ": " << results[1][i] << ", not " << gamma;
    }
    EXPECT_TRUE(std::isnan(results[0][12]));
  }
}

TEST_P(Device, BytesOfTwoWords) {
  std::vector<Array> words = {mixedArray("i32", 80, 26), mixedArray("i32", 80, 27),
                              mixedArray("u32", 80, 28)};
  Array result = evaluate(GetParam(), {{"libdevice.byte_perm(x, y, z)", "i32"}}, words).at(0);
  for (size_t i = 0; i < result.count(); ++i) {
    uint64_t bytes = words[1].bits(i) << 32 | words[0].bits(i), expected = 0;
    for (unsigned k = 0; k < 4; ++k)
      expected |= (bytes >> (words[2].bits(i) >> (4 * k) & 7) * 8 & 255) << (8 * k);
    EXPECT_EQ(result.bits(i), expected);
  }
}

TEST_P(Device, SignBits) {
  for (const char *type : {"fp32", "fp64"}) {
    Array x = mixedArray(type, 90, 29);
    Array result = evaluate(GetParam(), {{"libdevice.signbit(x)", "i32"}}, {x}).at(0);
    for (size_t i = 0; i < x.count(); ++i)
      EXPECT_EQ(result.bits(i), x.bits(i) >> (x.type().bits - 1));
  }
}

TEST_P(Device, UpperWordOfTheReciprocal) {
  Array x = mixedArray("fp64", 120, 30);
  Array result = evaluate(GetParam(), {{"libdevice.rcp64h(x)", "fp64"}}, {x}).at(0);
  for (size_t i = 0; i < x.count(); ++i) {
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(result[i]));
      continue;
    }
    EXPECT_EQ(result.bits(i) & 0xffffffff, 0u);
    // 20 bits of mantissa on both sides.
    LongDouble expected = std::fabs(x[i]) < 0x1p-1022L ? std::copysign(INFINITY, x[i]) : 1 / x[i];
    if (std::fabs(expected) < 0x1p-1022L)
      expected = std::copysign(0.0L, expected);
    if (std::isinf(expected) || expected == 0)
      EXPECT_EQ(result[i], expected) << x[i];
    else
      EXPECT_LE(std::fabs(result[i] - expected), std::fabs(expected) * 0x1p-18L) << x[i];
  }
}

KILN_SOURCE_TESTS(Device);

} // namespace
} // namespace kiln::testing
