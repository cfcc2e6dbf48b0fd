// Row-wise kernels: vector add, softmax, layer norm.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::test;

namespace {

constexpr int oddSizes[] = {1, 7, 127, 1000, 4097};

TEST(RowKernels, VectorAdd) {
  CompiledKernel kernel(vectorAddText(256));
  std::mt19937 random(1);
  for (int n : oddSizes) {
    GuardedArray<float> x(n, random), y(n, random), z(n);
    kernel.launch({uint32_t(n + 255) / 256, 1, 1},
                  {x.parameter(), y.parameter(), z.parameter(), &n});
    for (int i = 0; i != n; ++i)
      ASSERT_EQ(z[i], x[i] + y[i]) << i << " of " << n;
    EXPECT_TRUE(z.guardsIntact());
  }
}

TEST(RowKernels, SoftmaxInPlaceAndNot) {
  CompiledKernel kernel(softmaxText(8192));
  std::mt19937 random(2);
  for (int n : oddSizes)
    for (bool inPlace : {false, true}) {
      int rows = 3, stride = n + 5;
      GuardedArray<float> in(rows * stride, random, -8, 8), out(rows * stride);
      std::vector<float> original(in.data(), in.data() + rows * stride);
      GuardedArray<float> &result = inPlace ? in : out;
      kernel.launch({3, 1, 1}, {result.parameter(), in.parameter(), &stride, &n});
      for (int row = 0; row != rows; ++row) {
        double max = -INFINITY, sum = 0;
        for (int i = 0; i != n; ++i)
          max = std::max<double>(max, original[row * stride + i]);
        for (int i = 0; i != n; ++i)
          sum += std::exp(original[row * stride + i] - max);
        for (int i = 0; i != stride; ++i) {
          double untouched = inPlace ? original[row * stride + i] : 0;
          double expected = i < n ? std::exp(original[row * stride + i] - max) / sum : untouched;
          ASSERT_NEAR(result[row * stride + i], expected, 1e-6 * std::abs(expected))
              << i << " of " << n;
        }
      }
      EXPECT_TRUE(result.guardsIntact());
    }
}

} // namespace
