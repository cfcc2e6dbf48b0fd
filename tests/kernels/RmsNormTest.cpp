#include "rms_norm.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

class RmsNorm : public KernelTest {
protected:
  template <typename T, typename Launch>
  void run(int rows, int columns, int stride, double tolerance, Launch launch) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", stride " << stride);
    const float eps = 1e-6f;
    Buffer<T> x(size_t(rows) * stride), weight(columns), out(size_t(rows) * stride);
    for (Buffer<T> *buffer : {&x, &weight, &out})
      buffer->fill([&](size_t) { return T(random(-2, 3)); });
    ASSERT_KILN(launch(stream(), rows, 1, 1, x.data(), weight.data(), out.data(), stride, stride,
                       columns, eps));
    for (int r = 0; r < rows; ++r) {
      double squares = 0;
      for (int c = 0; c < columns; ++c)
        squares += std::pow(double(float(x[size_t(r) * stride + c])), 2);
      double inverse = 1 / std::sqrt(squares / columns + eps);
      for (int c = 0; c < columns; ++c) {
        double expected = float(x[size_t(r) * stride + c]) * inverse * float(weight[c]);
        ASSERT_NEAR(float(out[size_t(r) * stride + c]), expected,
                    tolerance * (1 + std::fabs(expected)))
            << r << ", " << c;
      }
    }
    EXPECT_TRUE(out.guardsHold());
  }
};

TEST_P(RmsNorm, F32MatchesForOddSizesAndStrides) {
  for (int columns : oddSizes)
    for (int padding : {0, 3})
      run<float>(3, columns, columns + padding, 1e-5, rms_norm_f32);
}

TEST_P(RmsNorm, F16Matches) {
  for (int columns : {16, 1008, 4112})
    run<F16>(2, columns, columns, 1e-3, rms_norm_f16);
}

KILN_INSTANTIATE(RmsNorm);

} // namespace
