#include "layer_norm.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

class LayerNorm : public KernelTest {
protected:
  template <typename T, typename Launch>
  void run(int rows, int columns, int strideX, int strideOut, double tolerance, Launch launch) {
    SCOPED_TRACE(testing::Message()
                 << rows << " x " << columns << ", strides " << strideX << " and " << strideOut);
    const float eps = 1e-5f;
    Buffer<T> x(size_t(rows) * strideX), weight(columns), bias(columns),
        out(size_t(rows) * strideOut);
    Buffer<float> mean(rows), rstd(rows);
    for (Buffer<T> *buffer : {&x, &weight, &bias, &out})
      buffer->fill([&](size_t) { return T(random(-2, 3)); });
    ASSERT_KILN(launch(stream(), x.data(), weight.data(), bias.data(), out.data(), mean.data(),
                       rstd.data(), strideX, strideOut, columns, eps, rows));
    for (int r = 0; r < rows; ++r) {
      double average = 0, variance = 0;
      for (int c = 0; c < columns; ++c)
        average += float(x[size_t(r) * strideX + c]) / double(columns);
      for (int c = 0; c < columns; ++c)
        variance += std::pow(float(x[size_t(r) * strideX + c]) - average, 2) / columns;
      double inverse = 1 / std::sqrt(variance + eps);
      ASSERT_NEAR(mean[r], average, 1e-5);
      ASSERT_NEAR(rstd[r], inverse, 1e-4 * inverse);
      for (int c = 0; c < columns; ++c) {
        double expected =
            (float(x[size_t(r) * strideX + c]) - average) * inverse * float(weight[c]) +
            float(bias[c]);
        ASSERT_NEAR(float(out[size_t(r) * strideOut + c]), expected,
                    tolerance * (1 + std::fabs(expected)))
            << r << ", " << c;
      }
    }
    EXPECT_TRUE(out.guardsHold());
    EXPECT_TRUE(mean.guardsHold());
    EXPECT_TRUE(rstd.guardsHold());
  }
};

kiln_status launchF32(kiln_stream s, void *x, void *w, void *b, void *o, void *m, void *r, int sx,
                      int so, int n, float eps, uint32_t rows) {
  return layer_norm_f32(s, rows, 1, 1, x, w, b, o, m, r, sx, so, n, eps);
}
kiln_status launchBF16(kiln_stream s, void *x, void *w, void *b, void *o, void *m, void *r, int sx,
                       int so, int n, float eps, uint32_t rows) {
  return layer_norm_bf16(s, rows, 1, 1, x, w, b, o, m, r, sx, so, n, eps);
}

TEST_P(LayerNorm, F32MatchesForOddSizesAndStrides) {
  for (int columns : oddSizes) {
    run<float>(2, columns, columns, columns, 1e-4, launchF32);
    run<float>(3, columns, columns + 5, columns + 2, 1e-4, launchF32);
  }
}

TEST_P(LayerNorm, BF16Matches) {
  for (int columns : {16, 1008, 4112})
    run<BF16>(3, columns, columns + 16, columns, 1.0 / 128, launchBF16);
}

TEST_P(LayerNorm, AnUnalignedPointerMissesTheAlignedVariant) {
  Buffer<BF16> x(64, 1);
  Buffer<float> mean(1), rstd(1);
  EXPECT_EQ(launchBF16(stream(), x.data(), x.data(), x.data(), x.data(), mean.data(), rstd.data(),
                       16, 16, 16, 0, 1),
            KILN_ERROR_NO_VARIANT);
}

KILN_INSTANTIATE(LayerNorm);

} // namespace
