// Products of fp32 in narrower parts: how exact they are, and what becomes of infinities.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

class DotPrecision : public SourceTest {};

constexpr int size = 32;

const char *const product = R"(
@triton.jit
def kernel(a, b, c, PRECISION: tl.constexpr):
    i = tl.arange(0, 32)
    place = i[:, None] * 32 + i[None, :]
    acc = tl.load(c + place)
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place), acc,
                               input_precision=PRECISION))
)";

TEST_P(DotPrecision, OfEveryName) {
  struct {
    const char *name;
    double unit;                 ///< of the largest product of a sum
  } cases[] = {{"tf32", 0x1p-9}, // a unit may cut both operands off
               {"bf16x3", 0x1p-15},
               {"tf32x3", 0x1p-20},
               {"bf16x6", 0x1p-20},
               {"ieee", 0x1p-21}};
  for (auto [name, unit] : cases) {
    Buffer<float> a(size * size), b(size * size), c(size * size);
    std::vector<float> acc(size * size);
    Random random(4);
    for (int i = 0; i < size * size; ++i) {
      a[i] = float(std::ldexp(random.next(), int(random.below(20)) - 10));
      b[i] = float(std::ldexp(random.next(), int(random.below(20)) - 10));
      c[i] = acc[i] = float(random.next());
    }
    ASSERT_EQ(runSource(product, GetParam(),
                        {{"a", "*fp32", a}, {"b", "*fp32", b}, {"c", "*fp32", c}},
                        {{"PRECISION", name}}),
              "");
    for (int m = 0; m < size; ++m)
      for (int n = 0; n < size; ++n) {
        double sum = acc[m * size + n], magnitude = std::fabs(sum);
        for (int k = 0; k < size; ++k) {
          double term = double(a[m * size + k]) * double(b[k * size + n]);
          sum += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(c[m * size + n], sum, unit * magnitude) << name << " " << m << " " << n;
      }
  }
}

TEST_P(DotPrecision, InfinitiesStay) {
  for (const char *name : {"bf16x3", "tf32x3", "bf16x6"}) {
    Buffer<float> a(size * size, 1.25f), b(size * size, 0.75f), c(size * size);
    float infinity = std::numeric_limits<float>::infinity();
    a[3] = infinity;
    a[size + 5] = -infinity;
    a[2 * size] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_EQ(runSource(product, GetParam(),
                        {{"a", "*fp32", a}, {"b", "*fp32", b}, {"c", "*fp32", c}},
                        {{"PRECISION", name}}),
              "");
    EXPECT_EQ(c[0], infinity) << name;
    EXPECT_EQ(c[size + 7], -infinity) << name;
    EXPECT_TRUE(std::isnan(c[2 * size + 1])) << name;
    EXPECT_EQ(c[3 * size + 2], 30.0f) << name;
  }
}

KILN_SOURCE_TESTS_ON_ALL(DotPrecision);

} // namespace
} // namespace kiln::testing
