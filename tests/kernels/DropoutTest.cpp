#include "dropout.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

/// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011):
/// Philox4x32-10; the first of the four words.
uint32_t philox(uint64_t seed, uint32_t counter) {
  uint32_t c[4] = {counter, 0, 0, 0}, k[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * c[0], odd = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {uint32_t(odd >> 32) ^ c[1] ^ k[0], uint32_t(odd),
                        uint32_t(even >> 32) ^ c[3] ^ k[1], uint32_t(even)};
    std::memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c[0];
}

/// As tl.rand makes a number of [0, 1) of it: the magnitude of the word as a signed one.
float uniform(uint32_t word) {
  int32_t value = int32_t(word);
  return float(value < 0 ? -value - 1 : value) * 4.6566127342e-10f;
}

class Dropout : public KernelTest {
protected:
  template <typename T, typename Launch>
  void run(int n, float probability, int64_t seed, double tolerance, Launch launch) {
    SCOPED_TRACE(testing::Message() << n << " elements, " << probability << ", seed " << seed);
    Buffer<T> x(n), out(n);
    x.fill([&](size_t) { return T(random(1, 2)); });
    ASSERT_KILN(launch(stream(), x.data(), out.data(), n, probability, seed));
    int kept = 0;
    for (int i = 0; i < n; ++i) {
      bool isKept = uniform(philox(uint64_t(seed), uint32_t(i))) >= probability;
      double expected = isKept ? double(float(x[i])) / (1 - double(probability)) : 0;
      ASSERT_NEAR(double(float(out[i])), expected, tolerance * expected) << i;
      kept += isKept;
    }
    EXPECT_NEAR(kept, n * (1 - probability), 4 * std::sqrt(n) + 1);
    EXPECT_TRUE(out.guardsHold());
  }
};

TEST_P(Dropout, TheMaskFollowsFromTheSeed) {
  for (int n : oddSizes)
    run<float>(n, 0.25f, 0x123456789abcdef, 1e-6, dropout_f32);
  run<float>(1000, 0.5f, -7, 1e-6, dropout_f32);
  run<float>(1000, 0.f, 3, 1e-6, dropout_f32);
}

TEST_P(Dropout, BF16) { run<BF16>(4097, 0.1f, 42, 1.0 / 128, dropout_bf16); }

KILN_INSTANTIATE(Dropout);

} // namespace
