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
    "libdevice.normcdf");

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
      {"libdevice.hypot(x, y)", F(std::hypot(x[0], x[1])), 4},
      {"libdevice.rhypot(x, y)", F(1 / std::hypot(x[0], x[1])), 4},
      {"libdevice.norm3d(x, y, z)", F(std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])), 4},
      {"libdevice.rnorm3d(x, y, z)", F(1 / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])), 4},
      {"libdevice.norm4d(x, y, z, w)",
       F(std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3])), 4},
      {"libdevice.rnorm4d(x, y, z, w)",
       F(1 / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3])), 4},
      {"libdevice.fdim(x, y)", F(std::fdim(x[0], x[1])), 0.5},
      {"libdevice.saturatef(x)", F(x[0] > 0 ? std::fmin(x[0], 1) : 0), 0},
      {"libdevice.rcbrt(x)", F(1 / std::cbrt(x[0])), 6},
      {"libdevice.fast_exp10f(x * 2)", F(std::pow(10.0L, x[0] * 2)), 512},
      {"libdevice.fast_log10f(y * y + 2)", F(std::log10(x[1] * x[1] + 2)), 64},
      {"libdevice.fast_tanf(x / 8)", F(std::tan(x[0] / 8)), 4},
      {"libdevice.fma_rn(x, y, z)", F(x[0] * x[1] + x[2]), 1},
      {"libdevice.normcdf(x)", F(std::erfc(-x[0] * std::sqrt(0.5L)) / 2), 256},
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
      {{"libdevice.hypot(x, y)", "fp32"}, F(std::hypot(x[0], x[1])), 4},
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

KILN_SOURCE_TESTS(Device);

} // namespace
} // namespace kiln::testing
