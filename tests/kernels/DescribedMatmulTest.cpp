#include "described_matmul.h"
#include "tests/kernels/KernelTest.h"

#include <cmath>

using namespace kiln::test;

namespace {

class DescribedMatmul : public KernelTest {
protected:
  static kiln_tensor tensor(F16 *base, int rows, int columns, int stride) {
    kiln_tensor result = {};
    result.base = base;
    result.rank = 2;
    result.shape[0] = rows;
    result.shape[1] = columns;
    result.strides[0] = stride;
    result.strides[1] = 1;
    return result;
  }

  /// Rows are `padding` elements longer than they need be, and multiples of 8 elements.
  void run(int m, int n, int k, int padding = 0) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    auto strideOf = [&](int columns) { return (columns + padding + 7) / 8 * 8; };
    const int sa = strideOf(k), sb = strideOf(n), st = strideOf(k), sc = strideOf(n);
    Buffer<F16> a(size_t(m) * sa), b(size_t(k) * sb), t(size_t(n) * st), c(size_t(m) * sc);
    a.fill([&](size_t) { return F16(random()); });
    b.fill([&](size_t) { return F16(random()); });
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < k; ++j)
        t[size_t(i) * st + j] = b[size_t(j) * sb + i];
    const F16 untouched(-99.f);
    auto check = [&](auto launch) {
      c.fill([&](size_t) { return untouched; });
      ASSERT_KILN(launch());
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < sc; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += double(float(a[size_t(i) * sa + l])) * double(float(b[size_t(l) * sb + j % n]));
          const double got = double(float(c[size_t(i) * sc + j]));
          if (j < n)
            ASSERT_NEAR(got, sum, 2e-3 * (1 + std::abs(sum))) << i << ", " << j;
          else
            ASSERT_EQ(got, double(float(untouched))) << i << ", " << j;
        }
      EXPECT_TRUE(c.guardsHold());
    };
    const kiln_tensor A = tensor(a.data(), m, k, sa), B = tensor(b.data(), k, n, sb),
                      T = tensor(t.data(), n, k, st), C = tensor(c.data(), m, n, sc);
    check([&] { return described_matmul_f16_nn(stream(), A, B, C, m, n, k); });
    check([&] { return described_matmul_f16_nt(stream(), A, T, C, m, n, k); });
    for (int programs : {1, 2, 100})
      check(
          [&] { return described_persistent_matmul_f16_nt(stream(), A, T, C, m, n, k, programs); });
  }
};

TEST_P(DescribedMatmul, MatchesForAnyShape) {
  run(200, 272, 80);
  run(1, 1, 1);
  run(130, 67, 45, 24);
}

KILN_INSTANTIATE(DescribedMatmul);

} // namespace
