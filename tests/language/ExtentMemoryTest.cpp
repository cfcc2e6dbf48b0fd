// Tiles whose extents are not powers of two: loads, stores, atomics, pointers in loops. Arrays end
// where the tile does, so that an access of padding is one that the test sees.

#include "tests/language/SourceKernel.h"

#include <algorithm>
#include <cmath>

namespace kiln::testing {
namespace {

class ExtentMemory : public SourceTest {};

Buffer<float> randomFloats(size_t count, uint64_t seed = 1) {
  Random random(seed);
  Buffer<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(random.next());
  return values;
}

TEST_P(ExtentMemory, VectorAdd) {
  const char *source = R"(
@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)
    else:
        tl.store(z + i, tl.load(x + i) + tl.load(y + i))
)";
  for (int block : {96, 100, 1, 3, 48, 1000, 127})
    for (bool masked : {false, true}) {
      int n = masked ? 2 * block + block / 2 + 1 : 3 * block;
      Buffer<float> x = randomFloats(n, 1), y = randomFloats(n, 2), z(n);
      ASSERT_EQ(
          runSource(source, GetParam(),
                    {{"x", "*fp32", x}, {"y", "*fp32", y}, {"z", "*fp32", z}, {"n", "i32", n}},
                    {{"BLOCK", block}, {"MASKED", masked}}, {{3, 1, 1}}),
          "");
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(z[i], x[i] + y[i]) << "block " << block << " at " << i;
    }
}

TEST_P(ExtentMemory, RangesThatDoNotStartAtZero) {
  const char *source = R"(
@triton.jit
def kernel(p, S: tl.constexpr, E: tl.constexpr):
    i = tl.arange(S, E)
    tl.store(p + i - S, i)
)";
  for (auto [start, end] : {std::pair(48, 96), std::pair(-5, 8), std::pair(7, 8), std::pair(-9, -2),
                            std::pair(INT32_MAX - 5, INT32_MAX)}) {
    Buffer<int32_t> result(size_t(end - start));
    ASSERT_EQ(runSource(source, GetParam(), {{"p", "*i32", result}}, {{"S", start}, {"E", end}}),
              "");
    for (int i = 0; i < end - start; ++i)
      ASSERT_EQ(result[i], start + i);
  }
}

TEST_P(ExtentMemory, TilesAndTheirTransposes) {
  const char *source = R"(
@triton.jit
def kernel(p, q, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(p + m[:, None] * N + n[None, :])
    tl.store(q + n[:, None] * M + m[None, :], tl.trans(x) * 2)
)";
  for (auto [rows, columns] : {std::pair(48, 80), std::pair(5, 64), std::pair(32, 7)}) {
    Buffer<float> x = randomFloats(size_t(rows * columns)), y(x.count());
    ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                        {{"M", rows}, {"N", columns}}),
              "");
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < columns; ++n)
        ASSERT_EQ(y[n * rows + m], 2 * x[m * columns + n]) << m << ", " << n;
  }
}

TEST_P(ExtentMemory, HalvesAndBytesAndBooleans) {
  const char *source = R"(
@triton.jit
def kernel(h, b, f, g, hq, bq, N: tl.constexpr):
    i = tl.arange(0, N)
    keep = tl.load(f + i)
    tl.store(hq + i, tl.where(keep, tl.load(h + i), 0))
    tl.store(bq + i, tl.load(b + i, mask=keep, other=-1))
    tl.store(g + i, keep == False)
)";
  for (int n : {96, 88, 100}) {
    Buffer<uint16_t> h(n), hq(n);
    Buffer<int8_t> b(n), bq(n);
    Buffer<uint8_t> f(n), g(n);
    for (int i = 0; i < n; ++i) {
      h[i] = uint16_t(0x3c00 + i);
      b[i] = int8_t(i);
      f[i] = i % 3 != 0;
    }
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"h", "*fp16", h},
                         {"b", "*i8", b},
                         {"f", "*i1", f},
                         {"g", "*i1", g},
                         {"hq", "*fp16", hq},
                         {"bq", "*i8", bq}},
                        {{"N", n}}),
              "");
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(hq[i], f[i] ? h[i] : 0);
      ASSERT_EQ(bq[i], f[i] ? b[i] : -1);
      ASSERT_EQ(g[i], !f[i]);
    }
  }
}

TEST_P(ExtentMemory, BlockPointers) {
  const char *source = R"(
@triton.jit
def kernel(p, q, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(p, (rows, columns), (columns, 1), (0, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(q, (rows, columns), (columns, 1), (0, 0), (M, N), (1, 0))
    for i in range(tl.cdiv(columns, N)):
        x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, x + 1, boundary_check=(0, 1))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (0, N))
)";
  for (auto [rows, columns] : {std::pair(48, 160), std::pair(40, 100), std::pair(3, 200)}) {
    Buffer<float> x = randomFloats(size_t(rows * columns)), y(x.count());
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"p", "*fp32", x},
                         {"q", "*fp32", y},
                         {"rows", "i32", rows},
                         {"columns", "i32", columns}},
                        {{"M", 48}, {"N", 80}}),
              "");
    for (size_t i = 0; i < x.count(); ++i)
      ASSERT_EQ(y[i], x[i] + 1) << i;
  }
}

TEST_P(ExtentMemory, TensorDescriptors) {
  const char *source = R"(
@triton.jit
def kernel(p, q, rows, columns):
    x = tl.make_tensor_descriptor(p, [rows, columns], [columns, 1], [24, 40])
    y = tl.make_tensor_descriptor(q, [rows, columns], [columns, 1], [24, 40])
    for i in range(0, rows, 24):
        for j in range(0, columns, 40):
            y.store([i, j], -x.load([i, j]))
)";
  int rows = 50, columns = 104;
  Buffer<float> x = randomFloats(size_t(rows * columns)), y(x.count());
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*fp32", x},
                       {"q", "*fp32", y},
                       {"rows", "i32", rows},
                       {"columns", "i32", columns}}),
            "");
  for (size_t i = 0; i < x.count(); ++i)
    ASSERT_EQ(y[i], -x[i]) << i;
}

TEST_P(ExtentMemory, CarriedThroughControlFlow) {
  // Pointers, sums and flags pass through for, while and if.
  const char *source = R"(
@triton.jit
def kernel(p, q, n, BLOCK: tl.constexpr):
    at = p + tl.arange(0, BLOCK)
    sum = tl.zeros([BLOCK], tl.float32)
    for i in range(n):
        x = tl.load(at)
        if i % 2 == 0:
            sum += x
        else:
            sum -= x * 2
        at += BLOCK
    left = n
    while left > 0:
        at -= BLOCK
        sum = tl.where(tl.load(at) > 0, sum + 1, sum)
        left -= 1
    tl.store(q + tl.arange(0, BLOCK), sum)
)";
  int n = 5;
  for (int block : {96, 20, 33}) {
    Buffer<float> x = randomFloats(size_t(n * block)), y(block);
    ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", n}},
                        {{"BLOCK", block}}),
              "");
    for (int i = 0; i < block; ++i) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum = k % 2 == 0 ? sum + x[k * block + i] : std::fma(-2.f, x[k * block + i], sum);
      for (int k = 0; k < n; ++k)
        sum += x[k * block + i] > 0;
      ASSERT_NEAR(y[i], sum, 1e-5) << i;
    }
  }
}

TEST_P(ExtentMemory, AtomicsHappenOncePerElement) {
  // All lanes of a bin meet; the sums would show an element that is added twice or not at all.
  const char *source = R"(
@triton.jit
def kernel(p, counts, tickets, N: tl.constexpr):
    i = tl.arange(0, N)
    bins = tl.load(p + i)
    tl.atomic_add(counts + bins, 1)
    tl.atomic_max(counts + 8 + bins, i, mask=i % 2 == 1)
    old = tl.atomic_add(counts + 16 + bins * 0, 1)
    tl.store(tickets + i, old)
)";
  for (int n : {96, 100, 5}) {
    Buffer<int32_t> bins(n), counts(17), tickets(n);
    Random random(n);
    std::vector<int> expected(17);
    for (int i = 0; i < n; ++i) {
      bins[i] = int(random.below(8));
      ++expected[bins[i]];
      if (i % 2)
        expected[8 + bins[i]] = i;
    }
    ASSERT_EQ(
        runSource(source, GetParam(),
                  {{"p", "*i32", bins}, {"counts", "*i32", counts}, {"tickets", "*i32", tickets}},
                  {{"N", n}}),
        "");
    expected[16] = n;
    for (int i = 0; i < 17; ++i)
      ASSERT_EQ(counts[i], expected[i]) << i;
    std::sort(tickets.data(), tickets.data() + n);
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(tickets[i], i);
  }
}

TEST_P(ExtentMemory, CompareAndSwap) {
  const char *source = R"(
@triton.jit
def kernel(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(q + i, tl.atomic_cas(p + i, i % 3, 100 + i))
)";
  int n = 24;
  Buffer<int32_t> p(n), q(n);
  for (int i = 0; i < n; ++i)
    p[i] = i % 2;
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*i32", p}, {"q", "*i32", q}}, {{"N", n}}), "");
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(q[i], i % 2);
    ASSERT_EQ(p[i], i % 2 == i % 3 ? 100 + i : i % 2);
  }
}

TEST_P(ExtentMemory, DivisionByWhatPaddingHolds) {
  // Behind the range, divisors are zero: loaded, counted down, and of the least integer by -1.
  const char *source = R"(
@triton.jit
def kernel(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    d = tl.load(p + i)
    down = 40 - i
    tl.store(q + i, 1000 // d + 7 % d + 500 // down + (-2147483648 + i) // (down - 1))
)";
  int n = 39;
  Buffer<int32_t> p(n), q(n);
  for (int i = 0; i < n; ++i)
    p[i] = i % 2 ? i + 1 : -i - 1;
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*i32", p}, {"q", "*i32", q}}, {{"N", n}}), "");
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(q[i], 1000 / p[i] + 7 % p[i] + 500 / (40 - i) +
                        int((-2147483648ll + i) / std::max(1, 39 - i)))
        << i;
}

TEST_P(ExtentMemory, TensorsOfPointers) {
  const char *source = R"(
@triton.jit
def kernel(p, v, q, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.load(p + i).to(tl.pointer_type(tl.int32))
    at = tl.where(i < 10, at, v + i)
    tl.store(q + i, tl.load(at))
)";
  int n = 20;
  Buffer<int32_t> values(n), q(n);
  Buffer<uint64_t> p(n);
  for (int i = 0; i < n; ++i) {
    values[i] = 3 * i;
    p[i] = reinterpret_cast<uint64_t>(&values[n - 1 - i]);
  }
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*i64", p}, {"v", "*i32", values}, {"q", "*i32", q}}, {{"N", n}}),
            "");
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(q[i], i < 10 ? 3 * (n - 1 - i) : 3 * i);
}

TEST_P(ExtentMemory, NothingIsAnError) {
  Buffer<int32_t> p(1);
  std::string errors = runSource("@triton.jit\n"
                                 "def kernel(p):\n"
                                 "    tl.store(p + tl.arange(4, 4), 0)\n",
                                 GetParam(), {{"p", "*i32", p}});
  EXPECT_NE(errors.find("more than the start, 4, got 4"), std::string::npos) << errors;
  errors = runSource("@triton.jit\n"
                     "def kernel(p):\n"
                     "    tl.store(p + tl.zeros([0, 3], tl.int32), 0)\n",
                     GetParam(), {{"p", "*i32", p}});
  EXPECT_NE(errors.find("extents of at least 1"), std::string::npos) << errors;
}

KILN_SOURCE_TESTS_ON_ALL(ExtentMemory);

} // namespace
} // namespace kiln::testing
