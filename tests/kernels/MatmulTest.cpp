#include "matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

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
    const Product product(as.data(), a, bs.data(), b);
    expectElements(cs.data(), c, 2e-3, [&](int i, int j) { return activation(product(i, j)); });
    expectUntouchedBetween(cs, c, untouched);
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
  run(
      {33, 40}, {40, 65}, {33, 65}, [](double x) { return std::max(x, 0.0); }, matmul_f16_relu);
  run(
      {33, 40}, {40, 65}, {33, 65}, [](double x) { return x / (1 + std::exp(-x)); },
      matmul_f16_silu);
}

/// Those of this target; each for the operands that it wants.
TEST_P(Matmul, EveryVariantComputesTheSame) {
  const Matrix a{96, 64}, c{96, 160};
  Buffer<F16> as(a.size()), bs(64 * 160), cs(c.size());
  as.fill([&](size_t) { return F16(random()); });
  bs.fill([&](size_t) { return F16(random()); });
  int launched = 0;
  for (uint32_t variant = 0; variant < matmul_f16_variants(nullptr); ++variant)
    for (bool transposed : {false, true}) {
      const Matrix b{64, 160, 0, transposed};
      cs.fill([](size_t) { return F16(0.f); });
      kiln_status status = finished(
          matmul_f16_variant(variant, stream(), as.data(), bs.data(), cs.data(), 96, 160, 64,
                             a.rowStride(), 1, b.rowStride(), b.columnStride(), c.rowStride(), 1));
      if (status == KILN_ERROR_NO_VARIANT || status == KILN_ERROR_NO_BINARY)
        continue;
      ASSERT_EQ(status, KILN_SUCCESS) << kiln_last_error();
      ++launched;
      SCOPED_TRACE(variant);
      expectElements(cs.data(), c, 2e-3, Product(as.data(), a, bs.data(), b));
      EXPECT_TRUE(cs.guardsHold());
    }
  // At least the aligned ones and the general one, which takes both.
  EXPECT_GE(launched, 4);
}

KILN_INSTANTIATE(Matmul);

} // namespace
