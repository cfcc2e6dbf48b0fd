// Operators and the elementwise functions of numbers, on every type: integers against 128-bit ones
// (wrapping), floats against extended precision rounded once.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.add tl.sub tl.mul tl.where tl.maximum tl.minimum tl.clamp tl.fdiv tl.div_rn tl.fma "
            "tl.umulhi tl.abs tl.cdiv tl.to libdevice.isnan libdevice.isinf libdevice.isfinited "
            "libdevice.finitef libdevice.float_as_int libdevice.int_as_float libdevice.popc "
            "libdevice.clz libdevice.ffs libdevice.llrint libdevice.llround libdevice.max "
            "libdevice.min");

using Unsigned = unsigned __int128;

class Arithmetic : public SourceTest {};

#define I(EXPRESSION) [](const __int128 *x) -> __int128 { return EXPRESSION; }
#define F(EXPRESSION) [](const long double *x) -> long double { return EXPRESSION; }

/// Every edge of x with every edge of y, then random pairs. Two arrays.
std::vector<Array> pairs(const std::string &type, bool finite = false) {
  size_t edges = NumberType::of(type).edges().size(), count = edges * edges + 57;
  Array x = mixedArray(type, count, 3, 100, finite), y = mixedArray(type, count, 4, 100, finite);
  Array first(type, count), second(type, count);
  for (size_t i = 0; i < count; ++i) {
    bool pair = i < edges * edges;
    first.setBits(i, x.bits(pair ? i / edges : i));
    second.setBits(i, y.bits(pair ? i % edges : i));
  }
  return {first, second};
}

/// y with what a division or a shift is not defined for replaced.
Array divisors(const std::vector<Array> &xy) {
  Array y = xy[1];
  for (size_t i = 0; i < y.count(); ++i)
    if (y[i] == 0 || y[i] == -1)
      y.set(i, 3);
  return y;
}
Array shiftCounts(const std::vector<Array> &xy) {
  Array y = xy[1];
  for (size_t i = 0; i < y.count(); ++i)
    y.setBits(i, y.bits(i) % y.type().bits);
  return y;
}

TEST_P(Arithmetic, OfIntegersWraps) {
  for (const std::string &type : integerTypes) {
    std::vector<Array> xy = pairs(type);
    checkElementwise(GetParam(), xy,
                     std::vector<IntegerCheck>{
                         {{"x + y", type}, I(x[0] + x[1])},
                         {{"x - y", type}, I(x[0] - x[1])},
                         {{"x * y", type}, I(__int128(Unsigned(x[0]) * x[1]))},
                         {{"tl.add(x, y)", type}, I(x[0] + x[1])},
                         {{"tl.sub(x, y)", type}, I(x[0] - x[1])},
                         {{"tl.mul(x, y)", type}, I(__int128(Unsigned(x[0]) * x[1]))},
                         {{"tl.fma(x, y, x)", type}, I(__int128(Unsigned(x[0]) * x[1] + x[0]))},
                         {{"x & y", type}, I(x[0] & x[1])},
                         {{"x | y", type}, I(x[0] | x[1])},
                         {{"x ^ y", type}, I(x[0] ^ x[1])},
                         {{"-x", type}, I(-x[0])},
                         {{"+x", type}, I(x[0])},
                         {{"~x", type}, I(~x[0])},
                         {{"x + 7", type}, I(x[0] + 7)},
                         {{"3 - x", type}, I(3 - x[0])}});
  }
}

TEST_P(Arithmetic, OfIntegersComparesBySign) {
  for (const std::string &type : integerTypes) {
    checkElementwise(
        GetParam(), pairs(type),
        std::vector<IntegerCheck>{{{"x < y", "i8"}, I(x[0] < x[1])},
                                  {{"x <= y", "i8"}, I(x[0] <= x[1])},
                                  {{"x > y", "i8"}, I(x[0] > x[1])},
                                  {{"x >= y", "i8"}, I(x[0] >= x[1])},
                                  {{"x == y", "i8"}, I(x[0] == x[1])},
                                  {{"x != y", "i8"}, I(x[0] != x[1])},
                                  {{"x > 2", "i8"}, I(x[0] > 2)},
                                  {{"tl.maximum(x, y)", type}, I(std::max(x[0], x[1]))},
                                  {{"tl.minimum(x, y)", type}, I(std::min(x[0], x[1]))},
                                  {{"libdevice.max(x, y)", type}, I(std::max(x[0], x[1]))},
                                  {{"libdevice.min(x, y)", type}, I(std::min(x[0], x[1]))},
                                  {{"tl.abs(x)", type}, I(x[0] < 0 ? -x[0] : x[0])},
                                  {{"tl.where(x < y, x, y)", type}, I(std::min(x[0], x[1]))},
                                  {{"tl.where(x, x, y)", type}, I(x[0] ? x[0] : x[1])},
                                  {{"tl.where(x != 0, 1, y)", type}, I(x[0] ? 1 : x[1])}});
  }
}

TEST_P(Arithmetic, OfIntegersDividesTruncating) {
  for (const std::string &type : integerTypes) {
    std::vector<Array> xy = pairs(type);
    checkElementwise(GetParam(), {xy[0], divisors(xy)},
                     std::vector<IntegerCheck>{{{"x // y", type}, I(x[0] / x[1])},
                                               {{"x % y", type}, I(x[0] % x[1])},
                                               {{"x // 7", type}, I(x[0] / 7)},
                                               {{"x % 16", type}, I(x[0] % 16)},
                                               {{"x // 8", type}, I(x[0] / 8)}});
    checkElementwise(GetParam(), {xy[0], shiftCounts(xy)},
                     std::vector<IntegerCheck>{{{"x << y", type}, I(x[0] << x[1])},
                                               {{"x >> y", type}, I(x[0] >> x[1])},
                                               {{"x >> 1", type}, I(x[0] >> 1)}});
  }
  // Not negative, and without overflow.
  Array x = uniformArray("i32", 77, 5, 0, 1e6), y = uniformArray("i32", 77, 6, 1, 50);
  checkElementwise(
      GetParam(), {x, y},
      std::vector<IntegerCheck>{{{"tl.cdiv(x, y)", "i32"}, I((x[0] + x[1] - 1) / x[1])},
                                {{"tl.cdiv(x, 32)", "i32"}, I((x[0] + 31) / 32)}});
}

TEST_P(Arithmetic, OfMixedIntegersPromotesAsInC) {
  Array x = mixedArray("i8", 99, 1), y = mixedArray("u16", 99, 2), z = mixedArray("i32", 99, 3),
        w = mixedArray("u32", 99, 4);
  checkElementwise(GetParam(), {x, y, z, w},
                   std::vector<IntegerCheck>{
                       {{"x + z", "i64"}, I(int32_t(x[0] + x[2]))},
                       {{"y * z", "i64"}, I(int32_t(uint32_t(x[1]) * uint32_t(x[2])))},
                       {{"z + w", "i64"}, I(uint32_t(x[2] + x[3]))},
                       {{"x + w", "i64"}, I(uint32_t(x[0] + x[3]))},
                       {{"x * y", "i64"}, I(uint16_t(x[0] * x[1]))},
                       {{"z < w", "i8"}, I(uint32_t(x[2]) < uint32_t(x[3]))},
                       {{"x + 1000 * (z > 0)", "i64"}, I(int32_t(x[0] + 1000 * (x[2] > 0)))}});
}

TEST_P(Arithmetic, OfBooleans) {
  Array x("i1", 8), y("i1", 8);
  for (size_t i = 0; i < 8; ++i) {
    x.setBits(i, i & 1);
    y.setBits(i, i >> 1 & 1);
  }
  checkElementwise(GetParam(), {x, y},
                   std::vector<IntegerCheck>{{{"x & y", "i8"}, I(x[0] && x[1])},
                                             {{"x | y", "i8"}, I(x[0] || x[1])},
                                             {{"x ^ y", "i1"}, I(x[0] != x[1])},
                                             {{"~x", "i1"}, I(!x[0])},
                                             {{"x == y", "i8"}, I(x[0] == x[1])},
                                             {{"x < y", "i8"}, I(x[0] < x[1])},
                                             {{"tl.where(x, y, ~y)", "i8"}, I(x[0] ? x[1] : !x[1])},
                                             {{"x.to(tl.int32) + y", "i32"}, I(x[0] + x[1])}});
}

TEST_P(Arithmetic, OfBits) {
  for (std::string type : {"i32", "u32", "i64", "u64"}) {
    bool wide = NumberType::of(type).bits == 64;
    Array x = mixedArray(type, 99, 8);
    checkElementwise(GetParam(), {x},
                     std::vector<IntegerCheck>{
                         {{"libdevice.popc(x)", "i32"},
                          wide ? I(__builtin_popcountll(uint64_t(x[0])))
                               : I(__builtin_popcount(uint32_t(x[0])))},
                         {{"libdevice.clz(x)", "i32"},
                          wide ? I(x[0] ? __builtin_clzll(uint64_t(x[0])) : 64)
                               : I(x[0] ? __builtin_clz(uint32_t(x[0])) : 32)},
                         {{"libdevice.ffs(x)", "i32"}, I(__builtin_ffsll(int64_t(x[0])))}});
    checkElementwise(GetParam(), pairs(type),
                     std::vector<IntegerCheck>{
                         {{"tl.umulhi(x, y)", type},
                          wide ? I(__int128(Unsigned(uint64_t(x[0])) * uint64_t(x[1]) >> 64))
                               : I(__int128(uint64_t(uint32_t(x[0])) * uint32_t(x[1]) >> 32))}});
  }
}

TEST_P(Arithmetic, OfFloatsRoundsOnce) {
  for (const std::string &type : floatTypes) {
    // Halves are divided in fp32.
    std::string quotient = type == "fp64" ? "fp64" : "fp32";
    double division = type == "fp32" ? 2 : 0.5;
    checkElementwise(
        GetParam(), pairs(type),
        std::vector<FloatCheck>{{{"x + y", type}, F(x[0] + x[1])},
                                {{"x - y", type}, F(x[0] - x[1])},
                                {{"x * y", type}, F(x[0] * x[1])},
                                {{"-x", type}, F(-x[0])},
                                {{"tl.abs(x)", type}, F(std::fabs(x[0]))},
                                {{"x / y", quotient}, F(x[0] / x[1]), division},
                                {{"tl.fdiv(x, y)", quotient}, F(x[0] / x[1]), division},
                                {{"tl.fdiv(x, y, ieee_rounding=True)", quotient}, F(x[0] / x[1])},
                                {{"x + 1", type}, F(x[0] + 1)},
                                {{"tl.where(x > y, x, y)", type}, F(x[0] > x[1] ? x[0] : x[1])}});
    checkElementwise(
        GetParam(), pairs(type),
        std::vector<FloatCheck>{{{"x < y", "i8"}, F(x[0] < x[1])},
                                {{"x <= y", "i8"}, F(x[0] <= x[1])},
                                {{"x > y", "i8"}, F(x[0] > x[1])},
                                {{"x >= y", "i8"}, F(x[0] >= x[1])},
                                {{"x == y", "i8"}, F(x[0] == x[1])},
                                {{"x != y", "i8"}, F(x[0] != x[1])},
                                {{"tl.where(x, 1, 0)", "i8"}, F(x[0] != 0)},
                                {{"libdevice.isnan(x)", "i8"}, F(std::isnan(x[0]))},
                                {{"libdevice.isinf(x)", "i8"}, F(std::isinf(x[0]))},
                                {{"libdevice.isfinited(x)", "i8"}, F(std::isfinite(x[0]))},
                                {{"libdevice.finitef(x)", "i8"}, F(std::isfinite(x[0]))}});
    checkElementwise(GetParam(), pairs(type, /*finite=*/true),
                     std::vector<FloatCheck>{{{"x % y", type}, F(std::fmod(x[0], x[1]))}});
  }
}

/// Of NaN and a number.
long double largest(long double x, long double y) { return std::fmax(x, y); }

TEST_P(Arithmetic, MinimaAndMaximaOfFloats) {
  for (const std::string &type : floatTypes) {
    // Either zero may be the larger one.
    std::vector<Array> xy = pairs(type);
    for (size_t i = 0; i < xy[0].count(); ++i)
      if (xy[0][i] == 0 && xy[1][i] == 0)
        xy[1].setBits(i, xy[0].bits(i));
    checkElementwise(GetParam(), xy,
                     std::vector<FloatCheck>{
                         {{"tl.maximum(x, y)", type}, F(largest(x[0], x[1]))},
                         {{"tl.minimum(x, y)", type}, F(-largest(-x[0], -x[1]))},
                         {{"libdevice.max(x, y)", type}, F(largest(x[0], x[1]))},
                         {{"libdevice.min(x, y)", type}, F(-largest(-x[0], -x[1]))},
                         {{"tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)", type},
                          F(std::isnan(x[0] + x[1]) && std::isnan(x[0] * 0 + x[1] * 0) &&
                                    (std::isnan(x[0]) || std::isnan(x[1]))
                                ? NAN
                                : largest(x[0], x[1]))},
                         {{"tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)", type},
                          F(std::isnan(x[0]) || std::isnan(x[1]) ? NAN : -largest(-x[0], -x[1]))},
                         {{"tl.clamp(x, -1.5, 2.0)", type},
                          F(std::isnan(x[0]) ? -1.5L : std::fmin(std::fmax(x[0], -1.5L), 2.0L))},
                         {{"tl.clamp(x, -1.5, 2.0, propagate_nan=tl.PropagateNan.ALL)", type},
                          F(std::isnan(x[0]) ? NAN : std::fmin(std::fmax(x[0], -1.5L), 2.0L))}});
  }
}

TEST_P(Arithmetic, FusedAndCorrectlyRounded) {
  for (std::string type : {"fp32", "fp64"}) {
    std::vector<Array> xy = pairs(type);
    checkElementwise(GetParam(), xy,
                     std::vector<FloatCheck>{{{"tl.div_rn(x, y)", type}, F(x[0] / x[1])}});
  }
  // The product of two fp32 numbers and its sum with a third are exact or nearly so in the
  // reference.
  for (std::string type : {"fp16", "bf16", "fp32"}) {
    std::vector<Array> xy = pairs(type, /*finite=*/true);
    xy.push_back(mixedArray(type, xy[0].count(), 9, 10, true));
    checkElementwise(GetParam(), xy,
                     std::vector<FloatCheck>{
                         {{"tl.fma(x, y, z)", type}, F(std::fma(x[0], x[1], x[2])), 0.5001}});
  }
}

TEST_P(Arithmetic, BitsOfFloats) {
  Array x = mixedArray("fp32", 99, 21), i = mixedArray("i32", 99, 22);
  std::vector<Array> results = evaluate(
      GetParam(), {{"libdevice.float_as_int(x)", "i32"}, {"libdevice.int_as_float(y)", "fp32"}},
      {x, i});
  ASSERT_EQ(results.size(), 2u);
  for (size_t at = 0; at < 99; ++at) {
    EXPECT_EQ(results[0].bits(at), x.bits(at));
    EXPECT_EQ(results[1].bits(at), i.bits(at));
  }
  Array half = uniformArray("fp64", 99, 23, -1e6, 1e6);
  for (size_t at = 0; at < 50; ++at)
    half.set(at, (int(at) - 25) * 0.5L);
  checkElementwise(
      GetParam(), {half},
      std::vector<FloatCheck>{{{"libdevice.llrint(x)", "i64"}, F(std::nearbyint(x[0]))},
                              {{"libdevice.llround(x)", "i64"}, F(std::round(x[0]))}});
}

KILN_SOURCE_TESTS(Arithmetic);

} // namespace
} // namespace kiln::testing
