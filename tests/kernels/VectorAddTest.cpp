#include "tests/kernels/KernelTest.h"
#include "vector_add.h"

using namespace kiln::test;

namespace {

class VectorAdd : public KernelTest {};

TEST_P(VectorAdd, F32MatchesForOddSizesAndAlignments) {
  for (int n : oddSizes)
    for (size_t misalign : {0, 1}) {
      Buffer<float> x(n, misalign), y(n), out(n, misalign);
      x.fill([&](size_t) { return random(); });
      y.fill([&](size_t) { return random(); });
      EXPECT_KILN(vector_add_f32(stream(), x.data(), y.data(), out.data(), n));
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(out[i], x[i] + y[i]) << i << " of " << n;
      EXPECT_TRUE(out.guardsHold());
      EXPECT_TRUE(x.guardsHold());
    }
}

TEST_P(VectorAdd, F16RoundsOnce) {
  for (int n : oddSizes) {
    Buffer<F16> x(n), y(n), out(n);
    x.fill([&](size_t) { return F16(random(-100, 100)); });
    y.fill([&](size_t) { return F16(random(-100, 100)); });
    EXPECT_KILN(vector_add_f16(stream(), x.data(), y.data(), out.data(), n));
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i].bits, F16(float(x[i]) + float(y[i])).bits) << i << " of " << n;
    EXPECT_TRUE(out.guardsHold());
  }
}

TEST_P(VectorAdd, EmptyGridWritesNothing) {
  Buffer<float> out(1);
  EXPECT_KILN(vector_add_f32(stream(), out.data(), out.data(), out.data(), 0));
  EXPECT_TRUE(out.guardsHold());
}

KILN_INSTANTIATE(VectorAdd);

} // namespace
