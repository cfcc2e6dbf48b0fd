#include "softmax.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

class Softmax : public KernelTest {
protected:
  void run(int rows, int columns, int strideX, int strideOut) {
    SCOPED_TRACE(testing::Message()
                 << rows << " x " << columns << ", strides " << strideX << " and " << strideOut);
    Buffer<float> x(size_t(rows) * strideX), out(size_t(rows) * strideOut);
    x.fill([&](size_t) { return random(-20, 20); });
    out.fill([](size_t) { return -7.f; });
    ASSERT_KILN(softmax_f32(stream(), x.data(), out.data(), rows, columns, strideX, strideOut));
    for (int r = 0; r < rows; ++r) {
      const float *row = x.data() + size_t(r) * strideX;
      double largest = *std::max_element(row, row + columns), sum = 0;
      for (int c = 0; c < columns; ++c)
        sum += std::exp(row[c] - largest);
      for (int c = 0; c < strideOut; ++c) {
        double expected = c < columns ? std::exp(row[c] - largest) / sum : -7.0;
        ASSERT_NEAR(out[size_t(r) * strideOut + c], expected, 1e-6 + 1e-5 * std::fabs(expected))
            << r << ", " << c;
      }
    }
    EXPECT_TRUE(out.guardsHold());
  }
};

TEST_P(Softmax, MatchesForOddSizesAndStrides) {
  for (int columns : oddSizes) {
    run(3, columns, columns, columns);
    run(5, columns, columns + 3, columns + 1);
  }
}

TEST_P(Softmax, MatchesWhereEverythingIsAligned) { run(4, 1024, 1024, 1024); }

TEST_P(Softmax, InfinitiesBecomeZeros) {
  Buffer<float> x(16), out(16);
  x.fill([](size_t i) { return i % 2 ? -INFINITY : 0.f; });
  EXPECT_KILN(softmax_f32(stream(), x.data(), out.data(), 1, 16, 16, 16));
  for (int i = 0; i < 16; ++i)
    EXPECT_FLOAT_EQ(out[i], i % 2 ? 0.f : 0.125f);
}

TEST_P(Softmax, RowsTooLongForEveryVariantAreAMiss) {
  Buffer<float> x(1), out(1);
  EXPECT_EQ(softmax_f32(stream(), x.data(), out.data(), 1, 8193, 8193, 8193),
            KILN_ERROR_NO_VARIANT);
  EXPECT_NE(std::string(kiln_last_error()).find("n_cols"), std::string::npos) << kiln_last_error();
}

KILN_INSTANTIATE(Softmax);

} // namespace
