// tl.dot_scaled, run on the CPU, against sums in double precision over the formats' definitions.

#include "tests/compiler/Sema/SourceKernel.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <random>

using kiln::test::runSource;

namespace {

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

std::vector<uint8_t> randomBytes(size_t count, unsigned low, unsigned high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<unsigned> distribution(low, high);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = uint8_t(distribution(generator));
  return bytes;
}

constexpr size_t M = 16, N = 32, K = 64;

void expectNear(const std::vector<float> &got, const std::vector<double> &expected) {
  for (size_t i = 0; i < got.size(); ++i)
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

TEST(DotScaled, EightBitOperands) {
  // Both signs, no NaN or infinity.
  auto a = randomBytes(M * K, 0, 0x7e, 1), b = randomBytes(K * N, 0x80, 0xf0, 2);
  auto sa = randomBytes(M * K / 32, 120, 130, 3), sb = randomBytes(N * K / 32, 120, 130, 4);
  for (size_t i = 0; i < b.size(); i += 3)
    b[i] &= 0x7f;
  std::vector<float> c(M * N);
  runSource(std::string(load2) +
                "    x = tl.dot_scaled(tile(a, 16, 64), tile(sa, 16, 2), 'e4m3', tile(b, 64, 32), "
                "tile(sb, 32, 2), 'e5m2', acc=tl.full((16, 32), 5.0, tl.float32))\n"
                "    tl.store(c + o, x)\n",
            {"*u8", "*u8", "*u8", "*u8", "*fp32"},
            {a.data(), sa.data(), b.data(), sb.data(), c.data()});
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

TEST(DotScaled, FourBitOperandsPackedAlongEitherAxis) {
  auto a = randomBytes(M * K / 2, 0, 255, 5), sa = randomBytes(M * K / 32, 125, 129, 6);
  auto b = randomBytes(K * N / 2, 0, 255, 7);
  std::vector<float> alongK(M * N), alongN(M * N);
  const char *types[] = {"*u8", "*u8", "*u8", "*u8", "*fp32"};
  std::vector<std::string> signature(types, types + 5);
  // b is [K / 2, N] in the first and [K, N / 2] in the second; the right scale is absent.
  runSource(std::string(load2) +
                "    x = tl.dot_scaled(tile(a, 16, 32), tile(sa, 16, 2), 'e2m1', tile(b, 32, 32), "
                "None, 'e2m1')\n    tl.store(c + o, x)\n",
            signature, {a.data(), sa.data(), b.data(), b.data(), alongK.data()});
  runSource(std::string(load2) +
                "    x = tl.dot_scaled(tile(a, 16, 32), tile(sa, 16, 2), 'e2m1', tile(b, 64, 16), "
                "None, 'e2m1', rhs_k_pack=False)\n    tl.store(c + o, x)\n",
            signature, {a.data(), sa.data(), b.data(), b.data(), alongN.data()});
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

TEST(DotScaled, ScaleOf255IsNan) {
  auto a = randomBytes(M * K, 0x30, 0x40, 8), b = randomBytes(K * N, 0x30, 0x40, 9);
  std::vector<uint8_t> sa(M * K / 32, 127), sb(N * K / 32, 127);
  sa[2 * 3 + 1] = 255;
  std::vector<float> c(M * N);
  runSource(std::string(load2) +
                "    x = tl.dot_scaled(tile(a, 16, 64), tile(sa, 16, 2), 'e4m3', tile(b, 64, 32), "
                "tile(sb, 32, 2), 'e4m3')\n    tl.store(c + o, x)\n",
            {"*u8", "*u8", "*u8", "*u8", "*fp32"},
            {a.data(), sa.data(), b.data(), sb.data(), c.data()});
  for (size_t m = 0; m < M; ++m)
    for (size_t n = 0; n < N; ++n)
      ASSERT_EQ(std::isnan(c[m * N + n]), m == 3) << m << ' ' << n;
}

} // namespace
