// tl.map_elementwise: functions of scalars that branch and loop.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.map_elementwise");

class Map : public SourceTest {};

TEST_P(Map, Branches) {
  Buffer<float> x(100), y(100);
  for (int i = 0; i < 100; ++i)
    x[i] = float(i - 50) / 8;
  ASSERT_EQ(runSource(R"(
@triton.jit
def selu(x, alpha):
    if x > 0:
        return x
    if x < -5:
        return -alpha
    return alpha * (tl.exp(x) - 1)

@triton.jit
def kernel(p, q, n):
    i = tl.arange(0, 128)
    x = tl.load(p + i, mask=i < n, other=0.0)
    y = tl.map_elementwise(selu, x, 1.5)
    tl.store(q + i, y + x, mask=i < n)
)",
                      GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", 100}}),
            "");
  for (int i = 0; i < 100; ++i) {
    double v = x[i], expected = v > 0 ? v : v < -5 ? -1.5 : 1.5 * (std::exp(v) - 1);
    EXPECT_NEAR(y[i], expected + v, 1e-5) << i;
  }
}

TEST_P(Map, Loops) {
  // Each element has its own number of rounds.
  Buffer<int32_t> x(256), steps(256), peak(256);
  for (int i = 0; i < 256; ++i)
    x[i] = i + 1;
  ASSERT_EQ(runSource(R"(
@triton.jit
def collatz(n):
    steps = 0
    peak = n
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        if n > peak:
            peak = n
        steps += 1
    return steps, peak

@triton.jit
def kernel(p, q, r):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    steps, peak = tl.map_elementwise(collatz, tl.load(p + i))
    tl.store(q + i, steps)
    tl.store(r + i, peak)
)",
                      GetParam(), {{"p", "*i32", x}, {"q", "*i32", steps}, {"r", "*i32", peak}}),
            "");
  for (int i = 0; i < 256; ++i) {
    int n = i + 1, count = 0, most = n;
    for (; n != 1; ++count) {
      n = n % 2 ? 3 * n + 1 : n / 2;
      most = std::max(most, n);
    }
    EXPECT_EQ(steps[i], count) << i;
    EXPECT_EQ(peak[i], most) << i;
  }
}

TEST_P(Map, LoopsOnTilesOfAnyExtents) {
  // What pads the tile on GPUs is zero, from where the loop would not end.
  const char *source = R"(
@triton.jit
def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count

@triton.jit
def kernel(p, q):
    i = tl.arange(0, 21)
    tl.store(q + i, tl.map_elementwise(steps, tl.load(p + i)))
)";
  Buffer<int32_t> x(21), y(21);
  for (int i = 0; i < 21; ++i)
    x[i] = i + 1;
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}}), "");
  for (int i = 0; i < 21; ++i) {
    int count = 0;
    for (int n = x[i]; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1)
      ++count;
    EXPECT_EQ(y[i], count) << x[i];
  }
}

TEST_P(Map, PacksAndBroadcasts) {
  Buffer<int16_t> x(64), y(64);
  Buffer<int32_t> z(64);
  for (int i = 0; i < 64; ++i)
    x[i] = int16_t(i * 37 % 64);
  ASSERT_EQ(runSource(R"(
@triton.jit
def sort_pair(a, b, c, d):
    # Places 0 and 1 of both arguments.
    if a > b:
        return b, a, c + d, 0
    return a, b, c, d

@triton.jit
def kernel(p, q, r):
    i = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    row = tl.arange(0, 8)[:, None]
    s, t = tl.map_elementwise(sort_pair, tl.load(p + i), row, pack=2)
    tl.store(q + i, s)
    tl.store(r + i, t)
)",
                      GetParam(), {{"p", "*i16", x}, {"q", "*i16", y}, {"r", "*i32", z}}),
            "");
  for (int i = 0; i < 64; i += 2) {
    int row = i / 8;
    bool swaps = x[i] > x[i + 1];
    EXPECT_EQ(y[i], std::min(x[i], x[i + 1])) << i;
    EXPECT_EQ(y[i + 1], std::max(x[i], x[i + 1])) << i;
    EXPECT_EQ(z[i], swaps ? 2 * row : row) << i;
    EXPECT_EQ(z[i + 1], swaps ? 0 : row) << i;
  }
}

TEST_P(Map, OfHalfAndSmallFloats) {
  Buffer<uint16_t> x(32);
  Buffer<uint8_t> small(32);
  Buffer<float> y(32);
  for (int i = 0; i < 32; ++i) {
    x[i] = uint16_t(0x3c00 + (i << 5)); // 1 + i / 32
    small[i] = uint8_t(0x38 + i % 8);   // 1 + (i % 8) / 8
  }
  ASSERT_EQ(runSource(R"(
@triton.jit
def choose(a, b):
    r = b.to(tl.float32)
    if a > 1.5:
        r = a.to(tl.float32) * 2
    return r

@triton.jit
def kernel(p, s, q):
    i = tl.arange(0, 32)
    tl.store(q + i, tl.map_elementwise(choose, tl.load(p + i), tl.load(s + i)))
)",
                      GetParam(), {{"p", "*fp16", x}, {"s", "*fp8e4nv", small}, {"q", "*fp32", y}}),
            "");
  for (int i = 0; i < 32; ++i) {
    float a = 1 + float(i) / 32;
    EXPECT_EQ(y[i], a > 1.5f ? 2 * a : 1 + float(i % 8) / 8) << i;
  }
}

TEST_P(Map, RefusesEffects) {
  Buffer<float> x(16);
  std::string errors = runSource(R"(
@triton.jit
def peek(p):
    return tl.load(p)

@triton.jit
def kernel(p):
    i = tl.arange(0, 16)
    tl.store(p + i, tl.map_elementwise(peek, p + i))
)",
                                 GetParam(), {{"p", "*fp32", x}});
  EXPECT_NE(errors.find("without effects on memory"), std::string::npos) << errors;
}

KILN_SOURCE_TESTS(Map);

} // namespace
} // namespace kiln::testing
