// Small kernels on every emulated GPU, against plain loops.

#include "instructions.h"
#include "tests/kernels/KernelTest.h"
#include <algorithm>

using namespace kiln::test;

namespace {

class Instructions : public KernelTest {
protected:
  /// a (m x k) times b (k x n), of elements that `make` makes.
  template <typename T, typename Sum, typename Launch, typename Make>
  void multiply(int m, int n, int k, double tolerance, Launch launch, Make make) {
    Buffer<T> a(m * k), b(k * n);
    Buffer<Sum> c(m * n);
    a.fill(make);
    b.fill(make);
    ASSERT_KILN(launch(stream(), a.data(), b.data(), c.data()));
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double expected = 0;
        for (int i = 0; i < k; ++i)
          expected += double(float(a[row * k + i])) * double(float(b[i * n + column]));
        ASSERT_NEAR(double(c[row * n + column]), expected, tolerance) << row << ", " << column;
      }
    EXPECT_TRUE(c.guardsHold());
  }
};

TEST_P(Instructions, MatrixProducts) {
  multiply<F16, float>(64, 32, 64, 1e-4, dot_f16, [&](size_t) { return F16(random()); });
  multiply<BF16, float>(64, 64, 32, 1e-4, dot_bf16, [&](size_t) { return BF16(random()); });
  // tf32 on NVIDIA.
  multiply<float, float>(32, 32, 32, 1e-2, dot_f32, [&](size_t) { return random(); });
  multiply<int8_t, int32_t>(64, 32, 64, 0, dot_i8,
                            [&](size_t) { return int8_t(random(-128, 127)); });
}

TEST_P(Instructions, Scan) {
  Buffer<float> x(1024), out(1024);
  x.fill([&](size_t) { return random(); });
  ASSERT_KILN(scan_f32(stream(), x.data(), out.data()));
  double sum = 0;
  for (int i = 0; i < 1024; ++i)
    ASSERT_NEAR(out[i], sum += x[i], 1e-4) << i;
}

TEST_P(Instructions, ReductionsAlongBothAxes) {
  Buffer<float> x(32 * 128), largest(128);
  Buffer<int32_t> place(32);
  x.fill([&](size_t) { return random(); });
  ASSERT_KILN(reduce_f32(stream(), x.data(), largest.data(), place.data()));
  for (int column = 0; column < 128; ++column) {
    float expected = x[column];
    for (int row = 1; row < 32; ++row)
      expected = std::max(expected, x[row * 128 + column]);
    EXPECT_EQ(largest[column], expected);
  }
  for (int row = 0; row < 32; ++row)
    EXPECT_EQ(place[row], std::max_element(&x[row * 128], &x[row * 128] + 128) - &x[row * 128]);
}

TEST_P(Instructions, Transposition) {
  Buffer<int16_t> x(64 * 128), out(64 * 128);
  x.fill([](size_t i) { return int16_t(i * 7); });
  ASSERT_KILN(transpose_16(stream(), x.data(), out.data()));
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 128; ++column)
      ASSERT_EQ(out[column * 64 + row], x[row * 128 + column]);
}

TEST_P(Instructions, AtomicsOfManyBlocks) {
  Buffer<int32_t> x(256), out(68);
  x.fill([&](size_t) { return int32_t(random(-500, 500)); });
  out.fill([](size_t) { return 0; });
  ASSERT_KILN(atomic_i32(stream(), x.data(), out.data()));
  std::vector<int32_t> expected(68);
  for (int block = 0; block < 9; ++block)
    for (int i = 0; i < 256; ++i) {
      expected[(i + block) % 64] += x[i];
      expected[64 + i % 4] = std::max(expected[64 + i % 4], x[i]);
    }
  for (int i = 0; i < 68; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_P(Instructions, BlocksTakeTurnsAtALock) {
  Buffer<int32_t> lock(1), out(128);
  lock[0] = 0;
  out.fill([](size_t) { return 0; });
  ASSERT_KILN(lock_i32(stream(), lock.data(), out.data()));
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], 37 * i);
}

TEST_P(Instructions, Functions) {
  Buffer<float> x(2048), y(2048), out(2048);
  x.fill([&](size_t) { return random(-2, 2); });
  y.fill([&](size_t) { return random(-2, 2); });
  ASSERT_KILN(functions_f32(stream(), x.data(), y.data(), out.data()));
  for (int i = 0; i < 2048; ++i) {
    double a = x[i], b = y[i];
    double expected = std::exp(a) + std::sin(b) * std::sqrt(std::fabs(a)) +
                      std::log(std::fabs(b) + 1) + std::erf(a) + std::floor(b) +
                      (a > b ? a / (b * b + 1) : 1 / std::sqrt(a * a + 1));
    ASSERT_NEAR(out[i], expected, 1e-5) << a << ", " << b;
  }
}

KILN_INSTANTIATE(Instructions);

} // namespace
