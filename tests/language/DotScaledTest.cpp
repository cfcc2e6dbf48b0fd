// tl.dot_scaled against sums in double precision over the formats' definitions.

#include "tests/language/SourceKernel.h"

#include <cmath>
#include <random>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.dot_scaled");

class DotScaled : public SourceTest {};

double e2m1(unsigned code) {
  static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}
double small(unsigned code, unsigned mantissaBits, int bias) {
  unsigned mantissa = code & ((1u << mantissaBits) - 1);
  int exponent = int(code & 0x7f) >> mantissaBits;
  double fraction = double(mantissa) / (1 << mantissaBits);
  double value =
      exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias);
  return code & 0x80 ? -value : value;
}
double e4m3(unsigned code) { return small(code, 3, 7); }
double e5m2(unsigned code) { return small(code, 2, 15); }
double e8m0(unsigned code) { return std::ldexp(1.0, int(code) - 127); }

Buffer<uint8_t> randomBytes(size_t count, unsigned low, unsigned high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<unsigned> distribution(low, high);
  Buffer<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = uint8_t(distribution(generator));
  return bytes;
}

constexpr size_t M = 16, N = 32, K = 64;

void expectNear(const Buffer<float> &got, const std::vector<double> &expected) {
  for (size_t i = 0; i < got.count(); ++i)
    ASSERT_NEAR(got[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-2) << i;
}

const char *load2 = R"(
@triton.jit
def tile(p, R: tl.constexpr, C: tl.constexpr):
    return tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])

@triton.jit
def kernel(a, sa, b, sb, c):
    o = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
)";

std::vector<SourceArgument> arguments(const Buffer<uint8_t> &a, const Buffer<uint8_t> &sa,
                                      const Buffer<uint8_t> &b, const Buffer<uint8_t> &sb,
                                      const Buffer<float> &c) {
  return {
      {"a", "*u8", a}, {"sa", "*u8", sa}, {"b", "*u8", b}, {"sb", "*u8", sb}, {"c", "*fp32", c}};
}

TEST_P(DotScaled, EightBitOperands) {
  // Both signs, no NaN or infinity.
  auto a = randomBytes(M * K, 0, 0x7e, 1), b = randomBytes(K * N, 0x80, 0xf0, 2);
  auto sa = randomBytes(M * K / 32, 120, 130, 3), sb = randomBytes(N * K / 32, 120, 130, 4);
  for (size_t i = 0; i < b.count(); i += 3)
    b[i] &= 0x7f;
  Buffer<float> c(M * N);
  ASSERT_EQ(
      runSource(
          std::string(load2) +
              "    x = tl.dot_scaled(tile(a, 16, 64), tile(sa, 16, 2), 'e4m3', tile(b, 64, 32), "
              "tile(sb, 32, 2), 'e5m2', acc=tl.full((16, 32), 5.0, tl.float32))\n"
              "    tl.store(c + o, x)\n",
          GetParam(), arguments(a, sa, b, sb, c)),
      "");
  std::vector<double> expected(M * N, 5.0);
  std::vector<double> scaleOfError(M * N);
  for (size_t m = 0; m < M; ++m)
    for (size_t n = 0; n < N; ++n) {
      for (size_t k = 0; k < K; ++k) {
        double term = e4m3(a[m * K + k]) * e8m0(sa[m * 2 + k / 32]) * e5m2(b[k * N + n]) *
                      e8m0(sb[n * 2 + k / 32]);
        expected[m * N + n] += term;
        scaleOfError[m * N + n] += std::abs(term);
      }
      ASSERT_NEAR(c[m * N + n], expected[m * N + n], 1e-5 * scaleOfError[m * N + n] + 1e-5);
    }
}

TEST_P(DotScaled, FourBitOperandsPackedAlongEitherAxis) {
  auto a = randomBytes(M * K / 2, 0, 255, 5), sa = randomBytes(M * K / 32, 125, 129, 6);
  auto b = randomBytes(K * N / 2, 0, 255, 7);
  Buffer<float> alongK(M * N), alongN(M * N);
  // b is [K / 2, N] in the first and [K, N / 2] in the second; the right scale is absent.
  ASSERT_EQ(
      runSource(
          std::string(load2) +
              "    x = tl.dot_scaled(tile(a, 16, 32), tile(sa, 16, 2), 'e2m1', tile(b, 32, 32), "
              "None, 'e2m1')\n    tl.store(c + o, x)\n",
          GetParam(), arguments(a, sa, b, b, alongK)),
      "");
  ASSERT_EQ(
      runSource(
          std::string(load2) +
              "    x = tl.dot_scaled(tile(a, 16, 32), tile(sa, 16, 2), 'e2m1', tile(b, 64, 16), "
              "None, 'e2m1', rhs_k_pack=False)\n    tl.store(c + o, x)\n",
          GetParam(), arguments(a, sa, b, b, alongN)),
      "");
  std::vector<double> expectedK(M * N), expectedN(M * N);
  for (size_t m = 0; m < M; ++m)
    for (size_t n = 0; n < N; ++n)
      for (size_t k = 0; k < K; ++k) {
        double left = e2m1(a[m * K / 2 + k / 2] >> (k % 2 * 4) & 15) * e8m0(sa[m * 2 + k / 32]);
        expectedK[m * N + n] += left * e2m1(b[k / 2 * N + n] >> (k % 2 * 4) & 15);
        expectedN[m * N + n] += left * e2m1(b[k * N / 2 + n / 2] >> (n % 2 * 4) & 15);
      }
  expectNear(alongK, expectedK);
  expectNear(alongN, expectedN);
}

TEST_P(DotScaled, ScaleOf255IsNan) {
  auto a = randomBytes(M * K, 0x30, 0x40, 8), b = randomBytes(K * N, 0x30, 0x40, 9);
  Buffer<uint8_t> sa(M * K / 32, 127), sb(N * K / 32, 127);
  sa[2 * 3 + 1] = 255;
  Buffer<float> c(M * N);
  ASSERT_EQ(
      runSource(
          std::string(load2) +
              "    x = tl.dot_scaled(tile(a, 16, 64), tile(sa, 16, 2), 'e4m3', tile(b, 64, 32), "
              "tile(sb, 32, 2), 'e4m3')\n    tl.store(c + o, x)\n",
          GetParam(), arguments(a, sa, b, sb, c)),
      "");
  for (size_t m = 0; m < M; ++m)
    for (size_t n = 0; n < N; ++n)
      ASSERT_EQ(std::isnan(c[m * N + n]), m == 3) << m << ' ' << n;
}

KILN_SOURCE_TESTS(DotScaled);

} // namespace
} // namespace kiln::testing
