// Values that several parts of a kernel need, on targets that compute them once and keep them.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class SharedValue : public SourceTest {};

// Addresses and mask are the same for runs of lanes, so that a part of them suffices for the load;
// the store needs them again.
TEST_P(SharedValue, OfWhichOneUserNeedsAPart) {
  const char *source = R"(
@triton.jit
def kernel(p, q, count, N: tl.constexpr, RUN: tl.constexpr):
    lane = tl.arange(0, N) % RUN
    run = tl.arange(0, N) // RUN
    base = run * 100
    mask = run < tl.load(count)
    x = tl.load(p + base + lane, mask=mask, other=0.0)
    tl.store(q + base + lane, x + tl.sum(x, 0), mask=mask)
)";
  for (int run : {4, 16, 64}) {
    constexpr int n = 256, used = 3;
    Buffer<float> x(100 * (n / run)), y(100 * (n / run), -1);
    Buffer<int32_t> count(1, used);
    Random random{uint64_t(run)};
    float sum = 0;
    for (size_t i = 0; i < x.count(); ++i)
      x[i] = float(random.below(100));
    for (int i = 0; i < used; ++i)
      for (int lane = 0; lane < run; ++lane)
        sum += x[i * 100 + lane];
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"p", "*fp32", x}, {"q", "*fp32", y}, {"count", "*i32", count}},
                        {{"N", n}, {"RUN", run}}),
              "");
    for (size_t i = 0; i < y.count(); ++i)
      ASSERT_EQ(y[i], i / 100 < used && int(i % 100) < run ? x[i] + sum : -1) << run << ", " << i;
  }
}

KILN_SOURCE_TESTS(SharedValue);

} // namespace
} // namespace kiln::testing
