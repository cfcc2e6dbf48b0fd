// Functions that have formulas of their own for fp32, on numbers of all sizes and where one piece
// of a formula ends, against long double, with the bounds that CUDA's Programming Guide gives.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

class SinglePrecision : public SourceTest {};

using LongDouble = long double;

/// erfc(y) = q, or erf(y) = 1 - q, by Halley's steps from an estimate.
LongDouble inverse(LongDouble s, LongDouble q) {
  if (std::isnan(q) || q < 0)
    return NAN;
  if (q == 0)
    return INFINITY;
  LongDouble y = s < 0.5L ? s * std::sqrt(M_PIl) / 2 : std::sqrt(-std::log(q * (2 - q)));
  for (int step = 0; step < 40; ++step) {
    LongDouble error = q < 0.5L ? q - std::erfc(y) : std::erf(y) - s;
    LongDouble newton = error / (M_2_SQRTPIl * std::exp(-y * y));
    y -= newton / (1 + newton * y);
  }
  return y;
}
LongDouble erfinv(LongDouble x) {
  return std::copysign(inverse(std::fabs(x), 1 - std::fabs(x)), x);
}
LongDouble erfcinv(LongDouble x) { return x <= 1 ? inverse(1 - x, x) : -inverse(x - 1, 2 - x); }
LongDouble normcdfinv(LongDouble x) { return -std::sqrt(2.0L) * erfcinv(2 * x); }

LongDouble erfcx(LongDouble x) {
  if (x < 50)
    return std::exp(x * x) * std::erfc(x);
  // 1 / (x sqrt(pi)) (1 - 1/(2 x²) + 3/(4 x⁴))
  LongDouble square = 1 / (2 * x * x);
  return (1 - square + 3 * square * square) / (x * std::sqrt(M_PIl));
}
LongDouble tgamma(LongDouble x) { return x < 0 && x == std::floor(x) ? NAN : std::tgamma(x); }
template <int order> LongDouble modified(LongDouble x) {
  if (std::isnan(x))
    return x;
  LongDouble result =
      std::fabs(x) < 200 ? std::cyl_bessel_i(LongDouble(order), std::fabs(x)) : INFINITY;
  return order ? std::copysign(result, x) : result;
}

struct Function {
  const char *name;
  LongDouble (*reference)(LongDouble x);
  double ulps;
  double low, high;
  /// Where pieces meet, and zeros.
  std::vector<double> places;
  /// Of an error that is not relative: the bound, and of which arguments.
  double absolute = 0;
  bool (*isAbsolute)(LongDouble x) = nullptr;
};

bool isBeyond8(LongDouble x) { return std::fabs(x) >= 8; }

const Function functions[] = {
    // 2 where products and sums are fused.
    {"erfinv", erfinv, 2.4, -1, 1, {0, 1, -1, 0.9984, -0.9984, 0.99999994}},
    {"erfcinv", erfcinv, 4, 0, 2, {1, 2, 0.00159, 3e-8, 1e-37, 1e-30, 1.9999999}},
    {"normcdfinv", normcdfinv, 5, 0, 1, {0.5, 1, 0.000797, 1.5e-8, 1e-30}},
    {"erfcx", erfcx, 4, -9.5, 40, {0, -9.38, 1e-3, 2.5, 1e10, 1e38, 3.3e38}},
    {"lgamma",
     [](LongDouble x) { return std::lgamma(x); },
     6,
     -30,
     40,
     {0, 1, 2, 3, -1, -2, -0.5, 1e-30, -1e-30, 1e30, 4.08e36, -1e4},
     4e-6,
     [](LongDouble x) { return x > -10.001L && x < -2.264L; }},
    {"tgamma", tgamma, 5, -42, 36, {0, 0.5, 1.5, 3, -0.5, -1, -34.5, 35.04, 1e-38, -1e-30, -41.3}},
    {"j0", ::j0l, 9, -30, 30, {0, 2.4048255, 3.9, 5.5200781, 8}, 5e-7, isBeyond8},
    {"j1", ::j1l, 9, -30, 30, {0, 3.8317060, 5.3, 7.0155867, 8, 1e-30}, 5e-7, isBeyond8},
    {"y0",
     ::y0l,
     9,
     0,
     30,
     {0.8935770, 0.4468, 2.2, 3.9576783, 5.5, 7.0860511, 8},
     5e-7,
     isBeyond8},
    {"y1", ::y1l, 9, 0, 30, {2.1971413, 1.6, 3.8, 5.4296808, 8, 1e-20}, 5e-7, isBeyond8},
    {"cyl_bessel_i0", modified<0>, 6, -92, 92, {0, 7.75, 91.9, 1e-20}},
    {"cyl_bessel_i1", modified<1>, 6, -92, 92, {0, 7.75, 91.9, 1e-20}},
};

/// The special numbers, an interval, the neighbourhoods of places, and every size.
Array arguments(const Function &function) {
  constexpr size_t perPlace = 40, uniform = 1200, all = 700;
  std::vector<uint64_t> edges = NumberType::of("fp32").edges();
  Array x("fp32", edges.size() + uniform + all + perPlace * function.places.size());
  size_t count = 0;
  for (uint64_t edge : edges)
    x.setBits(count++, edge);
  Random random(51);
  for (size_t i = 0; i < uniform; ++i)
    x.set(count++, function.low + (function.high - function.low) * random.next());
  for (size_t i = 0; i < all; ++i)
    x.setBits(count++, uint64_t(random.next() * 4294967296.0));
  for (double place : function.places)
    for (size_t i = 0; i < perPlace; ++i) {
      double width = i % 2 ? 1e-2 : 3e-7;
      x.set(count++, (place ? place : 1e-3) * (1 + (random.next() - 0.5) * width));
    }
  return x;
}

TEST_P(SinglePrecision, IsAsAccurateAsCudas) {
  for (const Function &function : functions) {
    Array x = arguments(function);
    std::string call = std::string("libdevice.") + function.name + "(x)";
    std::vector<Array> results = evaluate(GetParam(), {{call, "fp32"}}, {x});
    ASSERT_EQ(results.size(), 1u) << call;
    const Array &result = results[0];
    for (size_t i = 0; i < x.count(); ++i) {
      LongDouble argument = x[i], expected = function.reference(argument);
      bool isSecondKind = function.name[0] == 'y';
      if (isSecondKind && argument <= 0)
        expected = argument == 0 ? -INFINITY : NAN;
      if (std::isinf(argument) && function.isAbsolute == isBeyond8)
        expected = isSecondKind && argument < 0 ? NAN : 0;
      bool isAbsolute = function.isAbsolute && function.isAbsolute(argument);
      if (isAbsolute && std::isfinite(expected))
        EXPECT_LE(std::fabs(result[i] - expected), function.absolute)
            << function.name << " of " << argument;
      else
        EXPECT_LE(ulpsBetween(result.type(), result.bits(i), expected), function.ulps)
            << function.name << " of " << argument << ": " << result[i] << ", not " << expected;
    }
  }
}

KILN_SOURCE_TESTS(SinglePrecision);

} // namespace
} // namespace kiln::testing
