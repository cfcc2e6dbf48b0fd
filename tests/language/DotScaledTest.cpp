// tl.dot_scaled against sums in double precision over the formats' definitions.

#include "tests/language/SourceKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <algorithm>
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

/// Scales of zero are no missing ones, also where they are known when the kernel is compiled.
TEST_P(DotScaled, ConstantScales) {
  constexpr size_t rows = 32, depth = 64;
  auto a = randomBytes(rows * depth, 0x30, 0x40, 10), b = randomBytes(depth * rows, 0x30, 0x40, 11);
  for (int scale : {0, 126, 127}) {
    Buffer<float> c(rows * rows);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, S: tl.constexpr):
    i, j, k = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :], tl.arange(0, 64)
    s = tl.full((32, 2), S, tl.uint8)
    x = tl.load(a + i * 64 + k[None, :])
    y = tl.load(b + k[:, None] * 32 + j)
    tl.store(c + i * 32 + j, tl.dot_scaled(x, s, 'e4m3', y, s, 'e4m3'))
)",
                        GetParam(), {{"a", "*u8", a}, {"b", "*u8", b}, {"c", "*fp32", c}},
                        {{"S", scale}}),
              "");
    for (size_t m = 0; m < rows; ++m)
      for (size_t n = 0; n < rows; ++n) {
        double expected = 0;
        for (size_t k = 0; k < depth; ++k)
          expected += e4m3(a[m * depth + k]) * e4m3(b[k * rows + n]);
        expected = std::ldexp(expected, 2 * (scale - 127));
        ASSERT_NEAR(c[m * rows + n], expected, 1e-5 * expected + 1e-30) << scale;
      }
  }
}

/// What gfx950 multiplies by instructions for it, and other targets as above. Loads are masked, as
/// M and K of the arrays may be less than the tile's.
struct ScaledProduct {
  std::string left, right;
  size_t m, n, k, tileM, tileK;
  bool hasLeftScale = true, hasRightScale = true;
  unsigned matrixSize = 0;
  unsigned mostScale = 130;
};

/// An fp16 or bf16 number.
double half(const std::string &format, unsigned bits) {
  unsigned mantissaBits = format == "fp16" ? 10 : 7, bias = format == "fp16" ? 15 : 127;
  double fraction = double(bits & ((1u << mantissaBits) - 1)) / (1 << mantissaBits);
  double value = std::ldexp(1 + fraction, int((bits & 0x7fff) >> mantissaBits) - int(bias));
  return bits & 0x8000 ? -value : value;
}
bool isHalf(const std::string &format) { return format == "fp16" || format == "bf16"; }

/// fp16 numbers from 1/16 on, bf16 numbers from 1/32 on, all below 8; other formats' numbers but
/// for infinity and NaN.
Buffer<uint8_t> numbersOf(const std::string &format, size_t count, unsigned seed) {
  if (!isHalf(format))
    return randomBytes(format == "e2m1" ? count / 2 : count, 0, format == "e2m1" ? 255 : 0x7b,
                       seed);
  Buffer<uint8_t> low = randomBytes(count, 0, 255, seed),
                  high = randomBytes(count, format == "fp16" ? 0x2c : 0x3d, 0x40, seed + 100),
                  both(2 * count);
  for (size_t i = 0; i < count; ++i) {
    both[2 * i] = low[i];
    both[2 * i + 1] = high[i];
  }
  return both;
}

double numberOf(const std::string &format, const Buffer<uint8_t> &bytes, size_t at) {
  if (format == "e2m1")
    return e2m1(bytes[at / 2] >> (at % 2 * 4) & 15);
  if (isHalf(format))
    return half(format, bytes[2 * at] | bytes[2 * at + 1] << 8);
  return format == "e4m3" ? e4m3(bytes[at]) : e5m2(bytes[at]);
}

const char *scaledLoop = R"(
@triton.jit
def kernel(a, sa, b, sb, c, M, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr,
           FA: tl.constexpr, FB: tl.constexpr, HA: tl.constexpr, HB: tl.constexpr):
    PA: tl.constexpr = 2 if FA == 'e2m1' else 1
    PB: tl.constexpr = 2 if FB == 'e2m1' else 1
    m = tl.arange(0, BM)
    n = tl.arange(0, N)
    acc = tl.full((BM, N), 0.5, tl.float32)
    for k in range(0, K, BK):
        ka = k // PA + tl.arange(0, BK // PA)
        kb = k // PB + tl.arange(0, BK // PB)
        ks = k // 32 + tl.arange(0, BK // 32)
        x = tl.load(a + m[:, None] * (K // PA) + ka[None, :], mask=(m[:, None] < M) & (ka[None, :] < K // PA), other=0)
        y = tl.load(b + n[None, :] * (K // PB) + kb[:, None], mask=kb[:, None] < K // PB, other=0)
        xs = None
        ys = None
        if HA:
            xs = tl.load(sa + m[:, None] * (K // 32) + ks[None, :], mask=(m[:, None] < M) & (ks[None, :] < K // 32), other=127)
        if HB:
            ys = tl.load(sb + n[:, None] * (K // 32) + ks[None, :], mask=ks[None, :] < K // 32, other=127)
        acc = tl.dot_scaled(x, xs, FA, y, ys, FB, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=m[:, None] < M)
)";

std::string runScaled(const char *target, const ScaledProduct &p, const SourceOptions &options,
                      std::vector<double> &errors) {
  Buffer<uint8_t> a = numbersOf(p.left, p.m * p.k, 11), b = numbersOf(p.right, p.n * p.k, 12);
  for (size_t i = 0; p.left != "e2m1" && i < a.count(); i += 3)
    a[i] |= 0x80;
  auto sa = randomBytes(p.m * p.k / 32, 118, p.mostScale, 13),
       sb = randomBytes(p.n * p.k / 32, 118, p.mostScale, 14);
  Buffer<float> c(p.m * p.n);
  auto pointerTo = [](const std::string &format) {
    return isHalf(format) ? "*" + format : std::string("*u8");
  };
  std::string wrong = runSource(scaledLoop, target,
                                {{"a", pointerTo(p.left), a},
                                 {"sa", "*u8", sa},
                                 {"b", pointerTo(p.right), b},
                                 {"sb", "*u8", sb},
                                 {"c", "*fp32", c},
                                 {"M", "i32", int(p.m)},
                                 {"K", "i32", int(p.k)}},
                                {{"N", int(p.n)},
                                 {"BM", int(p.tileM)},
                                 {"BK", int(p.tileK)},
                                 {"FA", p.left.c_str()},
                                 {"FB", p.right.c_str()},
                                 {"HA", p.hasLeftScale},
                                 {"HB", p.hasRightScale}},
                                options);
  errors.clear();
  for (size_t m = 0; m < p.m; ++m)
    for (size_t n = 0; n < p.n; ++n) {
      double sum = 0.5, magnitude = 0.5;
      for (size_t k = 0; k < p.k; ++k) {
        double left = numberOf(p.left, a, m * p.k + k), right = numberOf(p.right, b, n * p.k + k);
        if (p.hasLeftScale)
          left *= e8m0(sa[(m * p.k + k) / 32]);
        if (p.hasRightScale)
          right *= e8m0(sb[(n * p.k + k) / 32]);
        sum += left * right;
        magnitude += std::abs(left * right);
      }
      errors.push_back(std::abs(c[m * p.n + n] - sum) / magnitude);
    }
  return wrong;
}

void checkScaled(const char *target, llvm::ArrayRef<ScaledProduct> products) {
  for (const ScaledProduct &product : products) {
    SourceOptions options;
    options.matrixSize = product.matrixSize;
    std::vector<double> errors;
    ASSERT_EQ(runScaled(target, product, options, errors), "");
    for (size_t i = 0; i < errors.size(); ++i)
      ASSERT_LT(errors[i], 2e-6) << product.left << " " << product.right << " " << product.m << " "
                                 << product.k << " at " << i;
  }
}

/// Of fp16 all numbers times their scales are fp16 numbers, up to 57344.
TEST_P(DotScaled, OfSmallNumbersAndHalves) {
  const ScaledProduct products[] = {
      {"fp16", "e4m3", 61, 64, 192, 64, 64, false, true, 0, 127},
      {"e5m2", "fp16", 64, 32, 128, 64, 64, true, false, 0, 127},
      {"fp16", "e2m1", 64, 64, 128, 64, 64, false, true, 0, 127},
      {"fp16", "e5m2", 13, 32, 96, 16, 32, false, false, 0, 127},
      {"fp16", "fp16", 32, 64, 128, 32, 128, true, true, 0, 127},
      {"bf16", "e4m3", 64, 64, 128, 64, 64, false, true},
      {"bf16", "e2m1", 13, 32, 224, 16, 32, false, true},
      {"e5m2", "bf16", 32, 64, 64, 32, 64, true, true},
      {"fp16", "bf16", 32, 32, 64, 32, 32, true, true},
  };
  checkScaled(GetParam(), products);
}

/// Scales that are no fp16 numbers: what they make of a number may be one.
TEST_P(DotScaled, ScalesBeyondHalves) {
  constexpr size_t depth = 32, columns = 16;
  Buffer<uint8_t> b(depth * columns), sb(columns);
  std::vector<double> expected(columns);
  const std::tuple<unsigned, int, double> cases[] = {
      {0x00, 20, 0},
      {0x08, 16, 1024},
      {0x38, 16, INFINITY},
      {0xb8, 100, -INFINITY},
      {0x7e, -30, 7 * std::ldexp(1.0, -24)},
      {0x7e, -100, 0},
  };
  for (size_t column = 0; column < columns; ++column) {
    auto [code, exponent, value] = cases[column % std::size(cases)];
    for (size_t k = 0; k < depth; ++k)
      b[k * columns + column] = uint8_t(code);
    sb[column] = uint8_t(127 + exponent);
    expected[column] = depth * value;
  }
  Buffer<float> c(columns * columns);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(b, sb, c):
    n = tl.arange(0, 16)
    y = tl.load(b + tl.arange(0, 32)[:, None] * 16 + n[None, :])
    x = tl.full((16, 32), 1.0, tl.float16)
    tl.store(c + n[:, None] * 16 + n[None, :],
             tl.dot_scaled(x, None, 'fp16', y, tl.load(sb + n)[:, None], 'e4m3'))
)",
                      GetParam(), {{"b", "*u8", b}, {"sb", "*u8", sb}, {"c", "*fp32", c}}),
            "");
  for (size_t i = 0; i < c.count(); ++i)
    ASSERT_EQ(c[i], float(expected[i % columns])) << i;
}

/// What a type makes of a number, to nearest even.
double roundedTo(const std::string &format, double number) {
  bool isFP16 = format == "fp16";
  int mantissaBits = isFP16 ? 10 : 7, least = isFP16 ? -14 : -126, most = isFP16 ? 15 : 127;
  if (!std::isfinite(number) || number == 0)
    return number;
  int unit = std::max(std::ilogb(number), least) - mantissaBits;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(number, -unit)), unit);
  return std::abs(rounded) >= std::ldexp(1, most + 1) ? std::copysign(INFINITY, number) : rounded;
}

const char *allNumbers = R"(
@triton.jit
def kernel(b, sb, c, X: tl.constexpr, FX: tl.constexpr, F: tl.constexpr):
    P: tl.constexpr = 2 if F == 'e2m1' else 1
    n = tl.arange(0, 16)
    k = tl.arange(0, 32)
    y = tl.load(b + tl.arange(0, 32 // P)[:, None] * 16 + n[None, :])
    x = tl.where(k[:, None] == k[None, :], X, 0.0).to(tl.bfloat16 if FX == 'bf16' else tl.float16)
    tl.store(c + k[:, None] * 16 + n[None, :],
             tl.dot_scaled(x, None, FX, y, tl.load(sb + n)[:, None], F))
)";

/// One by one, as a factor in each row of the other operand picks them: all of e2m1, and of the
/// others numbers of each exponent.
void checkAllNumbers(const char *target, const char *halves, const char *format,
                     llvm::ArrayRef<int> scales, double factor) {
  constexpr size_t depth = 32, columns = 16;
  bool arePairs = llvm::StringRef(format) == "e2m1";
  Buffer<uint8_t> b(depth * columns / (arePairs ? 2 : 1)), sb(columns);
  Buffer<float> c(depth * columns);
  for (size_t i = 0; i < b.count(); ++i) {
    size_t k = i / columns;
    b[i] = uint8_t(arePairs ? (2 * k & 15) | (2 * k + 1) << 4 : 8 * k + i % 3);
    // No infinity or NaN, of which others of its column become NaN.
    if (!arePairs && (b[i] & 0x78) == 0x78)
      b[i] = 0;
  }
  for (size_t n = 0; n < columns; ++n)
    sb[n] = uint8_t(scales[n % scales.size()]);
  ASSERT_EQ(runSource(allNumbers, target, {{"b", "*u8", b}, {"sb", "*u8", sb}, {"c", "*fp32", c}},
                      {{"X", factor}, {"FX", halves}, {"F", format}}),
            "");
  for (size_t n = 0; n < columns; ++n) {
    double numbers[depth];
    bool isFinite = sb[n] != 255;
    for (size_t k = 0; k < depth; ++k) {
      size_t pair = k / 2 * columns + n;
      double number =
          arePairs ? e2m1(b[pair] >> (k % 2 * 4) & 15) : numberOf(format, b, k * columns + n);
      numbers[k] = roundedTo(halves, number * e8m0(sb[n]));
      isFinite &= std::isfinite(numbers[k]);
    }
    // Zero times infinity is NaN, in each other row.
    for (size_t k = 0; k < depth; ++k)
      if (isFinite)
        ASSERT_EQ(c[k * columns + n], float(numbers[k] * factor))
            << format << k << ' ' << int(sb[n]);
      else
        ASSERT_FALSE(std::isfinite(c[k * columns + n])) << format << k << ' ' << int(sb[n]);
  }
}

TEST_P(DotScaled, AllNumbersTimesScales) {
  // Results in the range of normal f32 numbers, of bf16 numbers that have them exactly.
  for (const char *format : {"e2m1", "e4m3", "e5m2"}) {
    bool isE2M1 = llvm::StringRef(format) == "e2m1";
    const int low[] = {isE2M1 ? 0 : 20, isE2M1 ? 1 : 21, 40, 126, 127, 128, 255};
    checkAllNumbers(GetParam(), "bf16", format, low, std::ldexp(1, 60));
    const int high[] = {127, 200, 236, 251, 252, 253, 254, 255};
    checkAllNumbers(GetParam(), "bf16", format, high, std::ldexp(1, -60));
    // Subnormal numbers of fp16, those that round to even or zero, and infinities.
    const int halves[] = {0, 90, 100, 101, 102, 103, 104, 105, 113, 127, 135, 140, 254, 255};
    checkAllNumbers(GetParam(), "fp16", format, halves, 1);
  }
}

TEST_P(DotScaled, ByInstructionsWhereTheTargetHasThem) {
  const ScaledProduct products[] = {
      {"e4m3", "e4m3", 64, 64, 256, 64, 128},
      {"e4m3", "e5m2", 61, 64, 192, 64, 128},
      {"e5m2", "e4m3", 16, 64, 256, 16, 128},
      {"e2m1", "e2m1", 64, 64, 256, 64, 128},
      {"e2m1", "e2m1", 13, 32, 224, 16, 128},
      {"e4m3", "e2m1", 64, 32, 128, 64, 64},
      {"e2m1", "e5m2", 32, 64, 128, 32, 128},
      {"e5m2", "e2m1", 61, 64, 192, 64, 64},
      {"e2m1", "e4m3", 13, 64, 256, 16, 128},
      {"e5m2", "e2m1", 64, 64, 256, 64, 128, true, false, 16},
      {"e4m3", "e4m3", 64, 64, 128, 64, 128, false, true},
      {"e2m1", "e2m1", 64, 64, 128, 64, 128, true, false, 16},
  };
  checkScaled(GetParam(), products);
}

/// Pairs along the columns beside pairs along K.
TEST_P(DotScaled, OfPairsAlongColumns) {
  constexpr size_t rows = 32, columns = 64, depth = 64;
  auto a = randomBytes(rows * depth / 2, 0, 255, 15),
       b = randomBytes(depth * columns / 2, 0, 255, 16);
  auto sb = randomBytes(columns * depth / 32, 120, 130, 17);
  Buffer<float> c(rows * columns);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, sb, c):
    m, n, k = tl.arange(0, 32)[:, None], tl.arange(0, 64), tl.arange(0, 64)
    x = tl.load(a + m * 32 + tl.arange(0, 32)[None, :])
    y = tl.load(b + k[:, None] * 32 + tl.arange(0, 32)[None, :])
    s = tl.load(sb + n[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.store(c + m * 64 + n[None, :], tl.dot_scaled(x, None, 'e2m1', y, s, 'e2m1', rhs_k_pack=False))
)",
                      GetParam(),
                      {{"a", "*u8", a}, {"b", "*u8", b}, {"sb", "*u8", sb}, {"c", "*fp32", c}}),
            "");
  for (size_t m = 0; m < rows; ++m)
    for (size_t n = 0; n < columns; ++n) {
      double expected = 0;
      for (size_t k = 0; k < depth; ++k)
        expected += numberOf("e2m1", a, m * depth + k) * numberOf("e2m1", b, k * columns + n) *
                    e8m0(sb[n * 2 + k / 32]);
      ASSERT_NEAR(c[m * columns + n], expected, 1e-4) << m << ' ' << n;
    }
}

/// Scales that are no powers of two, for 16 numbers each, of pairs along K and along the columns.
TEST_P(DotScaled, ScalesWithMantissas) {
  constexpr size_t rows = 32, columns = 32, depth = 64, group = 16;
  for (const char *left : {"bf16", "fp16"})
    for (bool alongK : {true, false}) {
      Buffer<uint8_t> a = numbersOf(left, rows * depth, 18),
                      b = randomBytes(depth * columns / 2, 0, 255, 19),
                      sb = randomBytes(columns * depth / group, 0x28, 0x47, 20);
      Buffer<float> c(rows * columns);
      ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, sb, c, FA: tl.constexpr, ALONG_K: tl.constexpr):
    m, n, k = tl.arange(0, 32)[:, None], tl.arange(0, 32), tl.arange(0, 64)
    h, g = tl.arange(0, 32), tl.arange(0, 16)
    x = tl.load(a + m * 64 + k[None, :])
    if ALONG_K:
        y = tl.load(b + h[:, None] + n[None, :] * 32)
    else:
        y = tl.load(b + k[:, None] * 16 + g[None, :])
    s = tl.load(sb + n[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.store(c + m * 32 + n[None, :], tl.dot_scaled(x, None, FA, y, s, 'e2m1', rhs_k_pack=ALONG_K))
)",
                          GetParam(),
                          {{"a", std::string("*") + left, a},
                           {"b", "*u8", b},
                           {"sb", "*fp8e4nv", sb},
                           {"c", "*fp32", c}},
                          {{"FA", left}, {"ALONG_K", alongK}}),
                "");
      for (size_t m = 0; m < rows; ++m)
        for (size_t n = 0; n < columns; ++n) {
          double expected = 0, magnitude = 0;
          for (size_t k = 0; k < depth; ++k) {
            double right = numberOf("e2m1", b, alongK ? n * depth + k : k * columns + n) *
                           e4m3(sb[n * 4 + k / group]);
            double term = numberOf(left, a, m * depth + k) * right;
            expected += term;
            magnitude += std::abs(term);
          }
          ASSERT_NEAR(c[m * columns + n], expected, 2e-6 * magnitude)
              << left << ' ' << m << ' ' << n;
        }
    }
}

/// The emulator tells one side's scales from the other's, and their bytes.
TEST(DotScaledInstructions, WrongScalesAreFound) {
  for (unsigned seeded : {0, 1}) {
    SourceOptions options;
    unsigned count = 0;
    options.edit = [&](mlir::ModuleOp &module) {
      module.walk([&](mlir::Operation *op) {
        if (!op->getName().getStringRef().starts_with("rocdl.mfma.scale."))
          return;
        ++count;
        if (seeded == 0) {
          mlir::Value left = op->getOperand(6);
          op->setOperand(6, op->getOperand(8));
          op->setOperand(8, left);
        } else {
          mlir::OpBuilder b(op);
          op->setOperand(5, mlir::LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 1));
        }
      });
    };
    std::vector<double> errors;
    runScaled("emu:gfx950", {"e4m3", "e4m3", 32, 32, 64, 32, 64}, options, errors);
    EXPECT_GT(count, 0u);
    EXPECT_GT(*std::max_element(errors.begin(), errors.end()), 1e-3);
  }
}

KILN_SOURCE_TESTS(DotScaled);
INSTANTIATE_TEST_SUITE_P(OfAmd, DotScaled,
                         ::testing::Values("emu:gfx950", "emu:gfx1100", "emu:gfx1201"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
