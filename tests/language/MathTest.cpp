// Elementary functions of triton.language and libdevice against libm in extended precision, for
// every type that they take, on edges and random numbers, as tensors and as scalars.

#include "tests/language/Numbers.h"

#include <cmath>
#include <limits>

namespace kiln::testing {
namespace {

KILN_COVERS(
    "tl.exp tl.exp2 tl.log tl.log2 tl.sin tl.cos tl.sqrt tl.sqrt_rn tl.rsqrt tl.erf tl.floor "
    "tl.ceil tl.sigmoid libdevice.tanh libdevice.fast_tanhf libdevice.expm1 libdevice.exp10 "
    "libdevice.log1p libdevice.log10 libdevice.fast_expf libdevice.fast_logf "
    "libdevice.fast_log2f libdevice.fast_sinf libdevice.fast_cosf libdevice.rsqrt_rn "
    "libdevice.rcp_rn libdevice.tan libdevice.asin libdevice.acos libdevice.atan "
    "libdevice.sinh libdevice.cosh libdevice.asinh libdevice.acosh libdevice.atanh "
    "libdevice.erfc libdevice.cbrt libdevice.trunc libdevice.round libdevice.rint "
    "libdevice.nearbyint libdevice.pow libdevice.fast_powf libdevice.atan2 libdevice.fmod "
    "libdevice.copysign libdevice.fabs libdevice.fast_dividef");

class Math : public SourceTest {
protected:
  bool isCpu() const { return std::string(GetParam()) == "cpu"; }
};

/// A function of one operand and its bounds, in units of the last place.
struct Function {
  const char *call;
  Reference reference;
  /// On the CPU, on GPUs in fp32 (whose exponentials are approximations), and in fp64.
  double cpu, gpu, gpu64;
  /// Random operands; edges are added to them.
  double low, high;
};

using LongDouble = long double;

#define F(EXPRESSION) [](const LongDouble *x) -> LongDouble { return EXPRESSION; }

const Function functions[] = {
    {"tl.exp(x)", F(std::exp(x[0])), 2, 64, 2, -100, 100},
    {"tl.exp2(x)", F(std::exp2(x[0])), 2, 2, 2, -130, 130},
    {"tl.log(x)", F(std::log(x[0])), 2, 2, 2, 0, 1e6},
    {"tl.log2(x)", F(std::log2(x[0])), 3, 2, 2, 0, 1e6},
    {"tl.sin(x)", F(std::sin(x[0])), 2, 2, 2, -100, 100},
    {"tl.cos(x)", F(std::cos(x[0])), 2, 2, 2, -100, 100},
    {"tl.sqrt(x)", F(std::sqrt(x[0])), 0.5, 1, 0.5, 0, 1e6},
    {"tl.sqrt_rn(x)", F(std::sqrt(x[0])), 0.5, 0.5, 0.5, 0, 1e6},
    {"tl.rsqrt(x)", F(1 / std::sqrt(x[0])), 2, 2, 2, 0, 1e6},
    {"tl.erf(x)", F(std::erf(x[0])), 2, 4, 2, -5, 5},
    {"tl.floor(x)", F(std::floor(x[0])), 0, 0, 0, -1e3, 1e3},
    {"tl.ceil(x)", F(std::ceil(x[0])), 0, 0, 0, -1e3, 1e3},
    {"tl.sigmoid(x)", F(1 / (1 + std::exp(-x[0]))), 3, 64, 3, -80, 80},
    {"libdevice.tanh(x)", F(std::tanh(x[0])), 3, 2, 3, -10, 10},
    {"libdevice.fast_tanhf(x)", F(std::tanh(x[0])), 3, 8192, 3, -10, 10},
    {"libdevice.expm1(x)", F(std::expm1(x[0])), 2, 2, 3, -80, 80},
    {"libdevice.exp10(x)", F(std::pow(10.0L, x[0])), 3, 3, 3, -37, 37},
    {"libdevice.log1p(x)", F(std::log1p(x[0])), 2, 2, 3, -1, 1e4},
    {"libdevice.log10(x)", F(std::log10(x[0])), 2, 2, 3, 0, 1e6},
    {"libdevice.fast_expf(x)", F(std::exp(x[0])), 2, 64, 2, -80, 80},
    {"libdevice.fast_logf(x)", F(std::log(x[0])), 2, 3, 2, 0, 1e6},
    {"libdevice.fast_log2f(x)", F(std::log2(x[0])), 3, 2, 2, 0, 1e6},
    {"libdevice.fast_sinf(x)", F(std::sin(x[0])), 2, 2, 2, -100, 100},
    {"libdevice.fast_cosf(x)", F(std::cos(x[0])), 2, 2, 2, -100, 100},
    {"libdevice.fast_powf(tl.abs(x), 1.5)", F(std::pow(std::fabs(x[0]), 1.5L)), 2, 256, 16, 0, 1e3},
    {"libdevice.rsqrt_rn(x)", F(1 / std::sqrt(x[0])), 1.5, 0.5, 1.5, 0, 1e6},
    {"libdevice.rcp_rn(x)", F(1 / x[0]), 0.5, 0.5, 0.5, -1e3, 1e3},
    {"libdevice.tan(x)", F(std::tan(x[0])), 3, 4, 3, -100, 100},
    {"libdevice.asin(x)", F(std::asin(x[0])), 3, 3, 3, -1, 1},
    {"libdevice.acos(x)", F(std::acos(x[0])), 3, 3, 3, -1, 1},
    {"libdevice.atan(x)", F(std::atan(x[0])), 3, 2, 3, -100, 100},
    {"libdevice.sinh(x)", F(std::sinh(x[0])), 3, 3, 3, -89, 89},
    {"libdevice.cosh(x)", F(std::cosh(x[0])), 3, 3, 3, -89, 89},
    {"libdevice.asinh(x)", F(std::asinh(x[0])), 3, 3, 4, -1e4, 1e4},
    {"libdevice.acosh(x)", F(std::acosh(x[0])), 3, 3, 4, 1, 1e4},
    {"libdevice.atanh(x)", F(std::atanh(x[0])), 3, 3, 4, -1, 1},
    {"libdevice.erfc(x)", F(std::erfc(x[0])), 4, 5, 4, -5, 9},
    {"libdevice.cbrt(x)", F(std::cbrt(x[0])), 2, 1, 4, -1e6, 1e6},
    {"libdevice.fabs(x)", F(std::fabs(x[0])), 0, 0, 0, -1e3, 1e3},
    {"libdevice.trunc(x)", F(std::trunc(x[0])), 0, 0, 0, -1e3, 1e3},
    {"libdevice.round(x)", F(std::round(x[0])), 0, 0, 0, -1e3, 1e3},
    {"libdevice.rint(x)", F(std::nearbyint(x[0])), 0, 0, 0, -1e3, 1e3},
    {"libdevice.nearbyint(x)", F(std::nearbyint(x[0])), 0, 0, 0, -1e3, 1e3},
};

/// The type's edges, and random numbers of an interval.
Array operands(const std::string &type, double low, double high) {
  Array edges = mixedArray(type, NumberType::of(type).edges().size(), 0);
  Array x = uniformArray(type, 201, 17, low, high);
  for (size_t i = 0; i < edges.count(); ++i)
    x.setBits(i, edges.bits(i));
  return x;
}

TEST_P(Math, OfOneOperand) {
  for (const Function &function : functions)
    for (const char *type : {"fp32", "fp64"}) {
      bool wide = std::string(type) == "fp64";
      Array x = operands(type, function.low, function.high);
      double ulps = isCpu() ? function.cpu : wide ? function.gpu64 : function.gpu;
      checkElementwise(GetParam(), {x},
                       std::vector<FloatCheck>{{{function.call, type}, function.reference, ulps}});
    }
}

TEST_P(Math, OfTwoOperands) {
  struct Function2 {
    const char *call;
    Reference reference;
    double cpu, gpu, gpu64;
    double low, high, low2, high2;
  };
  const Function2 functions2[] = {
      {"libdevice.pow(x, y)", F(std::pow(x[0], x[1])), 2, 10, 16, 0, 20, -20, 20},
      {"libdevice.atan2(x, y)", F(std::atan2(x[0], x[1])), 2, 3, 3, -10, 10, -10, 10},
      {"libdevice.copysign(x, y)", F(std::copysign(x[0], x[1])), 0, 0, 0, -10, 10, -10, 10},
      {"libdevice.fast_dividef(x, y)", F(x[0] / x[1]), 2, 2, 0.5, -10, 10, -10, 10},
  };
  for (const Function2 &function : functions2)
    for (const char *type : {"fp32", "fp64"}) {
      bool wide = std::string(type) == "fp64";
      Array x = operands(type, function.low, function.high);
      Array y = operands(type, function.low2, function.high2);
      // Every edge with every other.
      size_t edges = NumberType::of(type).edges().size();
      Array xs(type, edges * edges + x.count()), ys(type, xs.count());
      for (size_t i = 0; i < xs.count(); ++i) {
        bool pair = i < edges * edges;
        xs.setBits(i, x.bits(pair ? i / edges : i - edges * edges));
        ys.setBits(i, y.bits(pair ? i % edges : xs.count() - 1 - i));
      }
      double ulps = isCpu() ? function.cpu : wide ? function.gpu64 : function.gpu;
      checkElementwise(GetParam(), {xs, ys},
                       std::vector<FloatCheck>{{{function.call, type}, function.reference, ulps}});
    }
}

/// Of which some are products, roots and quotients.
TEST_P(Math, PowersOfConstants) {
  const std::pair<const char *, Reference> powers[] = {
      {"0.0", F(std::pow(x[0], 0.0L))},   {"0.5", F(std::pow(x[0], 0.5L))},
      {"1.0", F(std::pow(x[0], 1.0L))},   {"2.0", F(std::pow(x[0], 2.0L))},
      {"3.0", F(std::pow(x[0], 3.0L))},   {"4.0", F(std::pow(x[0], 4.0L))},
      {"-1.0", F(std::pow(x[0], -1.0L))}, {"-2.0", F(std::pow(x[0], -2.0L))}};
  for (const char *type : {"fp32", "fp64"}) {
    std::vector<FloatCheck> checks;
    for (auto [exponent, reference] : powers) {
      std::string call = std::string("libdevice.pow(x, ") + exponent + ")";
      checks.push_back({{call, type}, reference, 2});
    }
    checks.push_back(
        {{"libdevice.pow(x, tl.full(x.shape, 3, tl.int32))", type}, F(std::pow(x[0], 3.0L)), 2});
    checks.push_back({{"libdevice.pow(x, 5.0)", type}, F(std::pow(x[0], 5.0L)), 10});
    checkElementwise(GetParam(), {mixedArray(type, 600, 31, 100)}, checks);
  }
}

/// Of any size, side by side, so that some of a thread's are large and others not.
TEST_P(Math, AnglesOfAnySize) {
  Array x = mixedArray("fp32", 3000, 29, 200);
  Random random(30);
  for (size_t i = 300; i < x.count(); i += 1 + size_t(random.next() * 40))
    x.set(i, (random.next() - 0.5) * std::pow(10.0, 38 * random.next()));
  const LongDouble at[] = {1e5L, -1e5L, 100001, 105615, 65504, 0x1.fffffep127L, -0x1p100L};
  for (size_t i = 0; i < std::size(at); ++i)
    x.set(x.count() - 1 - i, at[i]);
  checkElementwise(GetParam(), {x},
                   std::vector<FloatCheck>{
                       {{"tl.sin(x)", "fp32"}, F(std::sin(x[0])), 2},
                       {{"tl.cos(x)", "fp32"}, F(std::cos(x[0])), 2},
                       {{"libdevice.tan(x)", "fp32"}, F(std::tan(x[0])), 4},
                       {{"tl.where(tl.sin(x) > 0, tl.cos(x), 2)", "fp32"},
                        F(std::sin(x[0]) > 0 ? std::cos(x[0]) : 2.0L),
                        2},
                   });
  // Those of a small type need no look at their size.
  checkElementwise(
      GetParam(), {mixedArray("fp16", 3000, 32, 200)},
      std::vector<FloatCheck>{{{"tl.sin(x.to(tl.float32))", "fp32"}, F(std::sin(x[0])), 2},
                              {{"tl.cos(x.to(tl.float32))", "fp32"}, F(std::cos(x[0])), 2}});
}

/// Around where results overflow, become denormal or vanish.
TEST_P(Math, NearTheEndsOfTheRange) {
  struct {
    const char *call;
    Reference reference;
    /// In fp32 and in fp64.
    double ulps, ulps64;
    std::vector<double> ends, ends64;
  } edges[] = {
      {"libdevice.expm1(x)",
       F(std::expm1(x[0])),
       2,
       3,
       {88.72, -17.3, -0.35, 0.35},
       {709.78, -37.4}},
      {"libdevice.exp10(x)", F(std::pow(10.0L, x[0])), 3, 3, {38.53, -37.93, -45}, {308.25, -323}},
      {"libdevice.sinh(x)", F(std::sinh(x[0])), 3, 3, {89.41, 1, 1e-4}, {710.47, 1}},
      {"libdevice.cosh(x)", F(std::cosh(x[0])), 3, 3, {89.41, 1}, {710.47, 1}},
      {"libdevice.erfc(x)",
       F(std::erfc(x[0])),
       5,
       5,
       {0.75, 1e-3, 9.19, 10.05},
       {0.75, 26.54, 27.2}},
      {"libdevice.normcdf(x)",
       F(std::erfc(-x[0] * std::sqrt(0.5L)) / 2),
       5,
       6,
       {1, 12.9, 14.1, 0.5},
       {1, 37.5}},
      {"libdevice.log2(x)", F(std::log2(x[0])), 3, 4, {1, 0.71, 1.41, 1e-44}, {1, 0.71, 1.41}},
      {"libdevice.log10(x)", F(std::log10(x[0])), 2, 4, {1, 0.71, 1.41, 1e-44}, {1, 0.71, 1.41}},
  };
  for (const auto &edge : edges)
    for (const char *type : {"fp32", "fp64"}) {
      bool wide = std::string(type) == "fp64";
      const std::vector<double> &ends = wide ? edge.ends64 : edge.ends;
      constexpr size_t count = 160;
      Array x(type, 2 * count * ends.size());
      Random random(11);
      for (size_t i = 0; i < x.count(); ++i) {
        double distance = (random.next() - 0.5) * (i % 2 ? 0.02 : 2e-5);
        x.set(i, (i % 4 < 2 ? 1 : -1) * ends[i / (2 * count)] * (1 + distance));
      }
      checkElementwise(GetParam(), {x},
                       std::vector<FloatCheck>{
                           {{edge.call, type}, edge.reference, wide ? edge.ulps64 : edge.ulps}});
    }
}

/// Of numbers of any magnitude, so that quotients have hundreds of digits, and thousands in fp64.
TEST_P(Math, RemaindersAreExact) {
  for (const char *type : {"fp32", "fp64"}) {
    size_t edges = NumberType::of(type).edges().size(), count = edges * edges + 1500;
    Array x = mixedArray(type, count, 21, 1e6), y = mixedArray(type, count, 22, 10);
    for (size_t i = 0; i < edges * edges; ++i) {
      x.setBits(i, NumberType::of(type).edges()[i / edges]);
      y.setBits(i, NumberType::of(type).edges()[i % edges]);
    }
    checkElementwise(GetParam(), {x, y},
                     std::vector<FloatCheck>{
                         {{"libdevice.fmod(x, y)", type}, F(std::fmod(x[0], x[1])), 0},
                         {{"x % y", type}, F(std::fmod(x[0], x[1])), 0},
                         {{"libdevice.remainder(x, y)", type}, F(std::remainder(x[0], x[1])), 0}});
  }
}

TEST_P(Math, RoundedToNearest) {
  Array x = mixedArray("fp32", 3000, 23, 100);
  // Inverse roots next to the middle of two numbers.
  size_t place = 0;
  for (uint64_t mantissa : {0x3a18e3, 0x7ffffe, 0x7fffff, 1, 2})
    for (uint64_t exponent : {0, 1, 2, 126, 127, 128, 253, 254})
      x.setBits(place++, exponent << 23 | mantissa);
  checkElementwise(
      GetParam(), {x},
      std::vector<FloatCheck>{{{"libdevice.rsqrt_rn(x)", "fp32"}, F(1 / std::sqrt(x[0])), 0.5},
                              {{"tl.sqrt_rn(x)", "fp32"}, F(std::sqrt(x[0])), 0.5},
                              {{"libdevice.rcp_rn(x)", "fp32"}, F(1 / x[0]), 0.5}});
}

KILN_SOURCE_TESTS(Math);

} // namespace
} // namespace kiln::testing
