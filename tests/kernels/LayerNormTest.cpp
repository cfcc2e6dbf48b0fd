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

/// The gradients of sum(out * dout), which definitions are of, in double.
TEST_P(LayerNorm, BackwardMatchesTheDerivatives) {
  constexpr int groups = 8; // as the spec says
  struct Shape {
    int rows, columns, padding;
  };
  for (auto [rows, columns, padding] :
       {Shape{1, 1, 0}, {13, 127, 3}, {40, 1000, 0}, {9, 4095, 1}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    int stride = columns + padding;
    Buffer<float> x(size_t(rows) * stride), dout(size_t(rows) * stride), dx(size_t(rows) * stride);
    Buffer<float> weight(columns), mean(rows), rstd(rows), dweight(columns), dbias(columns),
        weightGroups(size_t(groups) * columns), biasGroups(size_t(groups) * columns);
    Buffer<int32_t> locks(2 * groups);
    for (Buffer<float> *buffer : {&x, &dout, &weight})
      buffer->fill([&](size_t) { return random(-2, 3); });
    // Groups that no row adds to hold what they held.
    weightGroups.fill([](size_t) { return 0.f; });
    biasGroups.fill([](size_t) { return 0.f; });
    locks.fill([](size_t) { return 0; });
    std::vector<double> expectedWeight(columns), expectedBias(columns), expected(x.size());
    for (int r = 0; r < rows; ++r) {
      const float *row = &x[size_t(r) * stride], *gradient = &dout[size_t(r) * stride];
      double average = 0, variance = 0, along = 0, across = 0;
      for (int c = 0; c < columns; ++c)
        average += double(row[c]) / columns;
      for (int c = 0; c < columns; ++c)
        variance += std::pow(row[c] - average, 2) / columns;
      double inverse = 1 / std::sqrt(variance + 1e-5);
      mean[r] = float(average);
      rstd[r] = float(inverse);
      auto normal = [&](int c) { return (row[c] - average) * inverse; };
      for (int c = 0; c < columns; ++c) {
        along += normal(c) * weight[c] * gradient[c] / columns;
        across += double(weight[c]) * gradient[c] / columns;
        expectedWeight[c] += normal(c) * gradient[c];
        expectedBias[c] += gradient[c];
      }
      for (int c = 0; c < columns; ++c)
        expected[size_t(r) * stride + c] =
            (double(weight[c]) * gradient[c] - normal(c) * along - across) * inverse;
    }
    ASSERT_KILN(layer_norm_backward_f32(stream(), rows, 1, 1, x.data(), weight.data(), dout.data(),
                                        mean.data(), rstd.data(), dx.data(), weightGroups.data(),
                                        biasGroups.data(), locks.data(), stride, stride, stride,
                                        columns));
    ASSERT_KILN(layer_norm_backward_sum_f32(stream(), weightGroups.data(), dweight.data(), groups,
                                            columns));
    ASSERT_KILN(
        layer_norm_backward_sum_f32(stream(), biasGroups.data(), dbias.data(), groups, columns));
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        ASSERT_NEAR(dx[size_t(r) * stride + c], expected[size_t(r) * stride + c],
                    // One column is its own mean: the exact gradient is 0 times 316.
                    columns == 1 ? 1e-2 : 1e-4 * (1 + std::fabs(expected[size_t(r) * stride + c])))
            << r << ", " << c;
    for (int c = 0; c < columns; ++c) {
      ASSERT_NEAR(dweight[c], expectedWeight[c], 1e-4 * rows) << c;
      ASSERT_NEAR(dbias[c], expectedBias[c], 1e-5 * rows) << c;
    }
    for (int i = 0; i < groups; ++i)
      EXPECT_EQ(locks[i], 0) << "given back";
    EXPECT_TRUE(dx.guardsHold());
    EXPECT_TRUE(weightGroups.guardsHold());
    EXPECT_TRUE(biasGroups.guardsHold());
  }
}

KILN_INSTANTIATE(LayerNorm);

} // namespace
