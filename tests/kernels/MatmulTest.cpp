#include "matmul.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

/// Row- or column-major, with room between the lines.
struct Matrix {
  int rows, columns, padding = 0;
  bool transposed = false;
  int rowStride() const { return transposed ? 1 : columns + padding; }
  int columnStride() const { return transposed ? rows + padding : 1; }
  size_t size() const {
    return size_t(transposed ? columns : rows) * (transposed ? rowLength() : columns + padding);
  }
  size_t at(int r, int c) const { return size_t(r) * rowStride() + size_t(c) * columnStride(); }

private:
  size_t rowLength() const { return rows + padding; }
};

class Matmul : public KernelTest {
protected:
  void run(
      Matrix a, Matrix b, Matrix c, double (*activation)(double) = [](double x) { return x; },
      decltype(&matmul_f16) launch = matmul_f16) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns);
    Buffer<F16> as(a.size()), bs(b.size()), cs(c.size());
    as.fill([&](size_t) { return F16(random()); });
    bs.fill([&](size_t) { return F16(random()); });
    const F16 untouched(-99.f);
    cs.fill([&](size_t) { return untouched; });
    ASSERT_KILN(launch(stream(), as.data(), bs.data(), cs.data(), c.rows, c.columns, a.columns,
                       a.rowStride(), a.columnStride(), b.rowStride(), b.columnStride(),
                       c.rowStride(), c.columnStride()));
    std::vector<bool> written(c.size());
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.columns; ++j) {
        double sum = 0;
        for (int k = 0; k < a.columns; ++k)
          sum += double(float(as[a.at(i, k)])) * double(float(bs[b.at(k, j)]));
        double expected = activation(sum);
        written[c.at(i, j)] = true;
        ASSERT_NEAR(float(cs[c.at(i, j)]), expected, 2e-3 * (1 + std::fabs(expected)))
            << i << ", " << j;
      }
    for (size_t i = 0; i < c.size(); ++i)
      if (!written[i])
        ASSERT_EQ(cs[i].bits, untouched.bits) << i;
    EXPECT_TRUE(cs.guardsHold());
  }
};

TEST_P(Matmul, MatchesForOddShapes) {
  for (auto [m, n, k] :
       {std::tuple(1, 1, 1), {7, 127, 1}, {127, 7, 129}, {130, 66, 1000}, {200, 150, 33}})
    run({m, k}, {k, n}, {m, n});
}

TEST_P(Matmul, MatchesForStrides) {
  run({70, 90, 3}, {90, 50, 1}, {70, 50, 7});
  run({70, 90, 3, true}, {90, 50, 1, true}, {70, 50, 2, true});
}

TEST_P(Matmul, MatchesWhereEverythingIsAligned) { run({128, 256}, {256, 128}, {128, 128}); }

TEST_P(Matmul, ActivationsAreFused) {
  run({33, 40}, {40, 65}, {33, 65}, [](double x) { return std::max(x, 0.0); }, matmul_f16_relu);
  run(
      {33, 40}, {40, 65}, {33, 65}, [](double x) { return x / (1 + std::exp(-x)); },
      matmul_f16_silu);
}

TEST_P(Matmul, EveryVariantComputesTheSame) {
  const int m = 96, n = 160, k = 64;
  Buffer<F16> a(m * k), b(k * n), c(m * n);
  a.fill([&](size_t) { return F16(random()); });
  b.fill([&](size_t) { return F16(random()); });
  for (uint32_t variant = 0; variant < matmul_f16_variants(nullptr); ++variant) {
    c.fill([](size_t) { return F16(0.f); });
    ASSERT_KILN(matmul_f16_variant(variant, stream(), a.data(), b.data(), c.data(), m, n, k, k, 1,
                                   n, 1, n, 1));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += double(float(a[i * k + l])) * double(float(b[l * n + j]));
        ASSERT_NEAR(float(c[i * n + j]), sum, 2e-3 * (1 + std::fabs(sum)))
            << variant << ": " << i << ", " << j;
      }
    EXPECT_TRUE(c.guardsHold());
  }
}

KILN_INSTANTIATE(Matmul);

} // namespace
