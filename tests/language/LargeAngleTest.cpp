// sin and cos of arguments of any size, where pi needs many digits.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

class LargeAngle : public SourceTest {};

template <typename T> std::vector<T> angles() {
  Random random(3);
  std::vector<T> all = {T(0), T(-0.0), T(1e5), T(-1e5), std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(), std::numeric_limits<T>::min(),
                        // The doubles and floats nearest to multiples of pi/2.
                        T(5.319372648326541e255), T(16367173.0 * 0x1p72), T(1e22), T(1e9 + 1)};
  int largest = std::numeric_limits<T>::max_exponent - 1;
  while (all.size() < 1021) {
    T angle = T(std::ldexp(random.next(), int(random.below(uint64_t(largest + 10))) - 10));
    all.push_back(angle);
  }
  all.push_back(std::numeric_limits<T>::infinity());
  all.push_back(-std::numeric_limits<T>::infinity());
  all.push_back(std::numeric_limits<T>::quiet_NaN());
  return all;
}

template <typename T> void check(const char *target, const std::string &type) {
  Buffer<T> x(angles<T>()), sine(x.count()), cosine(x.count());
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, s, c):
    i = tl.arange(0, 1024)
    x = tl.load(p + i)
    tl.store(s + i, tl.sin(x))
    tl.store(c + i, tl.cos(x))
)",
                      target, {{"p", type, x}, {"s", type, sine}, {"c", type, cosine}}),
            "");
  for (size_t i = 0; i < x.count(); ++i) {
    if (!std::isfinite(x[i])) {
      EXPECT_TRUE(std::isnan(sine[i]) && std::isnan(cosine[i])) << x[i];
      continue;
    }
    long double s = std::sin((long double)(x[i])), c = std::cos((long double)(x[i]));
    long double unit = std::numeric_limits<T>::epsilon();
    // Relative to the result, down to where zeros of the function are.
    EXPECT_NEAR((long double)(sine[i]), s, 3 * unit * std::fabs(s) + unit * unit) << x[i];
    EXPECT_NEAR((long double)(cosine[i]), c, 3 * unit * std::fabs(c) + unit * unit) << x[i];
  }
  EXPECT_TRUE(std::signbit(sine[1]));
}

/// Of a block far larger than what its mask lets through, threads have elements that are nobody's.
TEST_P(LargeAngle, UnderAConstantMask) {
  constexpr size_t most = 40;
  constexpr float step = 1e7F;
  Buffer<float> sine(1024);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(s, step):
    i = tl.arange(0, 1024)
    tl.store(s + i, tl.sin(i.to(tl.float32) * step), i < 40)
)",
                      GetParam(), {{"s", "*fp32", sine}, {"step", "fp32", step}}),
            "");
  for (size_t i = 0; i < sine.count(); ++i) {
    double expected = i < most ? std::sin(double(float(i) * step)) : 0;
    EXPECT_NEAR(sine[i], expected, 3e-7 * std::fabs(expected)) << i;
  }
}

TEST_P(LargeAngle, Single) { check<float>(GetParam(), "*fp32"); }
TEST_P(LargeAngle, Double) { check<double>(GetParam(), "*fp64"); }

KILN_SOURCE_TESTS_ON_ALL(LargeAngle);

} // namespace
} // namespace kiln::testing
