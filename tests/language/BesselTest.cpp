// libdevice's Bessel functions and erfcx, against the C library's in long double, with the bounds
// that CUDA's Programming Guide gives ("Mathematical Functions", maximum errors).

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("libdevice.j0 libdevice.j1 libdevice.jn libdevice.y0 libdevice.y1 libdevice.yn "
            "libdevice.cyl_bessel_i0 libdevice.cyl_bessel_i1 libdevice.erfcx");

class Bessel : public SourceTest {};

using LongDouble = long double;
#define F(EXPRESSION) [](const LongDouble *x) -> LongDouble { return EXPRESSION; }

/// Within `ulps` below 8, and by `absolute` beyond.
void expectNear(const Array &result, const Array &x, Reference reference, double ulps,
                double absolute, const std::string &what) {
  for (size_t i = 0; i < x.count(); ++i) {
    LongDouble argument = x[i], expected = reference(&argument);
    // Next to a zero the reference has no digits left: its own error is absolute.
    if (std::fabs(argument) < 8 && std::fabs(expected) < 1e-14L && argument != 0)
      EXPECT_LE(std::fabs(result[i] - expected), std::fabs(expected) * 1e-12L + 1e-19L)
          << what << " of " << argument << ": " << result[i] << ", not " << expected;
    else if (std::fabs(argument) < 8 || !std::isfinite(argument))
      EXPECT_LE(ulpsBetween(result.type(), result.bits(i), expected), ulps)
          << what << " of " << argument << ": " << result[i] << ", not " << expected;
    else
      EXPECT_LE(std::fabs(result[i] - expected), absolute) << what << " of " << argument;
  }
}

/// Numbers up to 8, beyond, next to the zeros, and the special ones.
Array arguments(const std::string &type, bool isSigned) {
  Array x = uniformArray(type, 400, 41, isSigned ? -8 : 0, 8);
  Array far = uniformArray(type, 100, 42, 8, 300);
  for (size_t i = 0; i < 100; ++i)
    x.set(i, far[i] * (isSigned && i % 2 ? -1 : 1));
  const LongDouble at[] = {0,
                           -0.0L,
                           INFINITY,
                           NAN,
                           1e-30L,
                           1e-8L,
                           2.4048255576957727L,
                           5.52007811028631064L,
                           3.83170597020751231L,
                           7.0155866698156187L,
                           0.893576966279167522L,
                           3.95767841931485837L,
                           7.08605106030177270L,
                           2.19714132603101704L,
                           5.42968104079413513L,
                           5,
                           2.5L,
                           3.75L,
                           6.5L,
                           12,
                           7.9999999L,
                           8};
  for (size_t i = 0; i < std::size(at); ++i)
    x.set(100 + i, at[i]);
  return x;
}

TEST_P(Bessel, OfTheFirstKind) {
  for (std::string type : {"fp32", "fp64"}) {
    Array x = arguments(type, true);
    std::vector<Array> results =
        evaluate(GetParam(), {{"libdevice.j0(x)", type}, {"libdevice.j1(x)", type}}, {x});
    ASSERT_EQ(results.size(), 2u);
    double ulps = type == "fp32" ? 9 : 7, absolute = type == "fp32" ? 5e-7 : 1e-14;
    expectNear(results[0], x, F(std::isinf(x[0]) ? 0 : ::j0l(x[0])), ulps, absolute, type + " j0");
    expectNear(results[1], x, F(std::isinf(x[0]) ? 0 : ::j1l(x[0])), ulps, absolute, type + " j1");
  }
}

/// At the numbers next to zeros, against values computed with 60 digits.
TEST_P(Bessel, NextToZeros) {
  struct {
    const char *name;
    double at, value;
  } zeros[] = {{"j0", 2.404825557695773, -6.10876525973673e-17},
               {"j0", 5.520078110286311, -2.7522649432621832e-17},
               {"j1", 3.8317059702075125, -6.149807356994906e-17},
               {"j1", 7.015586669815619, 2.825339409478929e-17},
               {"y0", 0.8935769662791675, -2.3389279284062102e-17},
               {"y0", 3.957678419314858, -4.3331064642935194e-17},
               {"y0", 7.086051060301773, 2.651448172550504e-17},
               {"y1", 2.197141326031017, 2.513306678922122e-17},
               {"y1", 5.429681040794135, 1.4165786380203692e-16}};
  for (auto [name, at, value] : zeros) {
    Array x("fp64", 1);
    x.set(0, at);
    Array result =
        evaluate(GetParam(), {{std::string("libdevice.") + name + "(x)", "fp64"}}, {x}).at(0);
    EXPECT_LE(ulpsBetween(result.type(), result.bits(0), value), 8) << name << " of " << at;
  }
}

TEST_P(Bessel, OfTheSecondKind) {
  for (std::string type : {"fp32", "fp64"}) {
    Array x = arguments(type, false);
    std::vector<Array> results =
        evaluate(GetParam(), {{"libdevice.y0(x)", type}, {"libdevice.y1(x)", type}}, {x});
    ASSERT_EQ(results.size(), 2u);
    double ulps = type == "fp32" ? 9 : 8, absolute = type == "fp32" ? 5e-7 : 1e-14;
    expectNear(results[0], x, F(x[0] == 0 ? -INFINITY : ::y0l(x[0])), ulps, absolute, type + " y0");
    expectNear(results[1], x, F(x[0] == 0 ? -INFINITY : ::y1l(x[0])), ulps, absolute, type + " y1");
    Array below = uniformArray(type, 20, 43, -9, -1);
    results = evaluate(GetParam(), {{"libdevice.y0(x)", type}, {"libdevice.y1(x)", type}}, {below});
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < below.count(); ++i)
      EXPECT_TRUE(std::isnan(results[0][i]) && std::isnan(results[1][i]));
  }
}

TEST_P(Bessel, OfHigherOrders) {
  for (std::string type : {"fp32", "fp64"})
    for (bool scalars : {false, true}) {
      size_t count = scalars ? 40 : 300;
      Array n = uniformArray("i32", count, 44, 0, 40), x = uniformArray(type, count, 45, 0, 60);
      for (size_t i = 0; i < count; i += 3)
        x.set(i, x[i] / 20);
      const LongDouble at[] = {0, INFINITY, NAN, 1e-6L, 7, 128, -3};
      for (size_t i = 0; i < 14; ++i) {
        x.set(i, at[i / 2]);
        n.set(i, i % 2 ? 0 : LongDouble(i / 2));
      }
      n.set(10, 128);
      n.set(14, -1);
      std::vector<Array> results =
          evaluate(GetParam(), {{"libdevice.jn(x, y)", type}, {"libdevice.yn(x, y)", type}}, {n, x},
                   scalars);
      ASSERT_EQ(results.size(), 2u);
      double relative = type == "fp32" ? 1.2e-7 : 1e-12;
      for (size_t i = 0; i < count; ++i) {
        int order = int(n[i]);
        LongDouble a = x[i];
        LongDouble j = order < 0 ? NAN : std::isinf(a) ? 0 : ::jnl(order, a);
        LongDouble y = order < 0 || a < 0 ? NAN : a == 0 ? -INFINITY : ::ynl(order, a);
        std::string what =
            type + " of order " + std::to_string(order) + " at " + std::to_string(double(a));
        auto expectClose = [&](LongDouble result, LongDouble expected, const char *kind) {
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(result)) << kind << what;
          else if (std::fabs(expected) > (type == "fp32" ? 3e38L : 1e300L))
            EXPECT_LE(result, -(type == "fp32" ? 3e38L : 1e300L)) << kind << what;
          else
            // Near a zero the error is that of the neighbouring orders.
            EXPECT_LE(std::fabs(result - expected),
                      relative * std::max(std::fabs(expected), a > order ? 0.1L : 0.0L) + 1e-44L)
                << kind << what << ": " << result << ", not " << expected;
        };
        expectClose(results[0][i], j, "J ");
        expectClose(results[1][i], y, "Y ");
      }
    }
}

TEST_P(Bessel, Modified) {
  for (std::string type : {"fp32", "fp64"}) {
    Array x = uniformArray(type, 300, 46, -30, 30), far = uniformArray(type, 60, 47, 30, 86);
    const LongDouble at[] = {0, -0.0L, INFINITY, NAN, 1e-20L, 12, 11.9999L, 700, 710, 713, 720};
    for (size_t i = 0; i < 60; ++i)
      x.set(i, i < std::size(at) && (type == "fp64" || at[i] < 100 || std::isinf(at[i])) ? at[i]
                                                                                         : far[i]);
    std::vector<Array> results =
        evaluate(GetParam(),
                 {{"libdevice.cyl_bessel_i0(x)", type}, {"libdevice.cyl_bessel_i1(x)", type}}, {x});
    ASSERT_EQ(results.size(), 2u);
    double ulps = type == "fp32" ? 6 : 8;
    auto modified = [](LongDouble order, LongDouble a) -> LongDouble {
      if (std::isnan(a) || std::isinf(a))
        return std::fabs(a);
      return std::cyl_bessel_i(order, std::fabs(a));
    };
    for (size_t i = 0; i < x.count(); ++i) {
      LongDouble zeroth = modified(0, x[i]), first = std::copysign(modified(1, x[i]), x[i]);
      EXPECT_LE(ulpsBetween(results[0].type(), results[0].bits(i), zeroth), ulps)
          << type << " i0 of " << x[i] << ": " << results[0][i] << ", not " << zeroth;
      if (x[i] != 0)
        EXPECT_LE(ulpsBetween(results[1].type(), results[1].bits(i), first), ulps)
            << type << " i1 of " << x[i] << ": " << results[1][i] << ", not " << first;
      else
        EXPECT_EQ(results[1][i], 0);
    }
  }
}

TEST_P(Bessel, ScaledComplementOfTheErrorFunction) {
  for (std::string type : {"fp32", "fp64"}) {
    Array x = uniformArray(type, 300, 48, -5, 30);
    const LongDouble at[] = {0,   -0.0L,  INFINITY, -INFINITY, NAN,   -9.3L,
                             -26, -26.7L, -30,      1e3L,      1e10L, 1e30L};
    for (size_t i = 0; i < std::size(at); ++i)
      x.set(i, at[i]);
    Array result = evaluate(GetParam(), {{"libdevice.erfcx(x)", type}}, {x}).at(0);
    for (size_t i = 0; i < x.count(); ++i) {
      LongDouble a = x[i], expected = std::exp(a * a) * std::erfc(a);
      if (a > 50) // 1 / (x sqrt(pi)) (1 - 1/(2 x^2) + 3/(4 x^4))
        expected = (1 - 1 / (2 * a * a) + 3 / (4 * a * a * a * a)) / (a * std::sqrt(M_PIl));
      EXPECT_LE(ulpsBetween(result.type(), result.bits(i), expected), type == "fp32" ? 4 : 8)
          << type << " erfcx of " << a << ": " << result[i] << ", not " << expected;
    }
  }
}

KILN_SOURCE_TESTS(Bessel);

} // namespace
} // namespace kiln::testing
