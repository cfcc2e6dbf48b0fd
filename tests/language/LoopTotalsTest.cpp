// What a loop carries on and combines with a reduction in each iteration, as attention's row sums
// and a long row's total: threads carry their own parts on GPUs.

#include "tests/language/SourceKernel.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kiln::testing {
namespace {

class LoopTotals : public SourceTest {};

const char *const rowsSource = R"(
@triton.jit
def kernel(p, scales, start, q, n, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    columns = tl.arange(0, N)[None, :]
    count: tl.constexpr = M if AXIS == 1 else N
    i = tl.arange(0, count)
    total = tl.load(start + i)
    for k in range(n):
        x = tl.load(p + k * (M * N) + rows * N + columns)
        total = total * tl.load(scales + k * count + i) + tl.sum(x, axis=AXIS)
    tl.store(q + i, total)
)";

void checkRows(const char *target, int m, int n, int axis, int iterations, unsigned warps) {
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", axis " + std::to_string(axis) +
               ", " + std::to_string(iterations) + " iterations");
  int count = axis == 1 ? m : n, along = axis == 1 ? n : m;
  Buffer<float> x(size_t(std::max(1, iterations * m * n))), start(count), y(count);
  Buffer<float> scales(size_t(std::max(1, iterations * count)));
  Random random(m + n + iterations);
  std::generate_n(x.data(), x.count(), [&] { return float(random.next()); });
  std::generate_n(scales.data(), scales.count(), [&] { return float(random.next()); });
  std::generate_n(start.data(), start.count(), [&] { return float(9 * random.next()); });
  SourceOptions options;
  options.numWarps = warps;
  ASSERT_EQ(runSource(rowsSource, target,
                      {{"p", "*fp32", x},
                       {"scales", "*fp32", scales},
                       {"start", "*fp32", start},
                       {"q", "*fp32", y},
                       {"n", "i32", iterations}},
                      {{"M", m}, {"N", n}, {"AXIS", axis}}, options),
            "");
  for (int r = 0; r < count; ++r) {
    double total = start[r];
    for (int k = 0; k < iterations; ++k) {
      total *= scales[k * count + r];
      for (int i = 0; i < along; ++i)
        total += x[k * m * n + (axis == 1 ? r * n + i : i * n + r)];
    }
    ASSERT_NEAR(y[r], total, 1e-4 * (along + 1)) << r;
  }
}

TEST_P(LoopTotals, ScaledSumsOfRows) {
  for (int iterations : {0, 1, 2, 5}) {
    checkRows(GetParam(), 16, 64, 1, iterations, 4);
    checkRows(GetParam(), 64, 16, 0, iterations, 4);
  }
  checkRows(GetParam(), 1, 1024, 1, 3, 8);
  checkRows(GetParam(), 128, 2, 1, 3, 2);
  checkRows(GetParam(), 12, 20, 1, 3, 1);
}

const char *const scalarSource = R"(
@triton.jit
def kernel(p, q, r, n, start, BLOCK: tl.constexpr):
    total = start
    largest = -1000000
    bits = 0
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        x = tl.load(p + i, mask=i < n, other=0)
        total += tl.sum(x)
        largest = tl.maximum(largest, tl.max(tl.where(i < n, x, -1000000)))
        bits ^= tl.xor_sum(x)
    # Goes on with what the first loop has left.
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(p + i, mask=i < n, other=0))
    tl.store(q, total)
    tl.store(q + 1, largest)
    tl.store(q + 2, bits)
    # Is looked at in each iteration.
    seen = start
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        seen += tl.sum(tl.load(p + i, mask=i < n, other=0))
        tl.store(r + k // BLOCK, seen)
)";

TEST_P(LoopTotals, OfWholeTiles) {
  for (int n : {0, 1, 500, 2048}) {
    constexpr int block = 512, start = -7;
    Buffer<int32_t> x(std::max(1, n)), y(3), seen(4);
    Random random(n);
    std::generate_n(x.data(), x.count(), [&] { return int32_t(random.below(2001)) - 1000; });
    ASSERT_EQ(runSource(scalarSource, GetParam(),
                        {{"p", "*i32", x},
                         {"q", "*i32", y},
                         {"r", "*i32", seen},
                         {"n", "i32", n},
                         {"start", "i32", start}},
                        {{"BLOCK", block}}),
              "");
    const int32_t *first = x.data(), *end = first + n;
    ASSERT_EQ(y[0], start + 2 * std::accumulate(first, end, 0));
    ASSERT_EQ(y[1], n ? *std::max_element(first, end) : -1000000);
    ASSERT_EQ(y[2], std::accumulate(first, end, 0, std::bit_xor<int32_t>()));
    for (int k = 0; k < n; k += block)
      ASSERT_EQ(seen[k / block], start + std::accumulate(first, first + std::min(n, k + block), 0));
  }
}

const char *const unrolledSource = R"(
@triton.jit
def kernel(p, q, r, M: tl.constexpr, N: tl.constexpr, TIMES: tl.constexpr):
    rows = tl.arange(0, M)
    place = rows[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(q + rows)
    largest = tl.full([M], -5000, tl.int32)
    middle = total
    for k in tl.static_range(TIMES):
        x = tl.load(p + k * (M * N) + place)
        largest = tl.maximum(tl.max(x, 1), largest)
        total = total + tl.sum(x, 1)
        if k == 1:
            middle = total
        tl.store(p + k * (M * N) + place, x + 1)
    tl.store(q + rows, total)
    tl.store(r + rows, largest + middle)
)";

TEST_P(LoopTotals, OfUnrolledLoops) {
  constexpr int m = 16, n = 64;
  for (int times : {1, 2, 5}) {
    Buffer<int32_t> x(size_t(times * m * n)), y(m), z(m);
    Random random(times);
    std::generate_n(x.data(), x.count(), [&] { return int32_t(random.below(2001)) - 1000; });
    std::generate_n(y.data(), y.count(), [&] { return int32_t(random.below(2001)) - 1000; });
    std::vector<int32_t> total(y.data(), y.data() + m), largest(m, -5000), middle = total;
    for (int k = 0; k < times; ++k)
      for (int r = 0; r < m; ++r) {
        const int32_t *row = x.data() + (k * m + r) * n;
        total[r] += std::accumulate(row, row + n, 0);
        largest[r] = std::max(largest[r], *std::max_element(row, row + n));
        if (k == 1)
          middle[r] = total[r];
      }
    ASSERT_EQ(runSource(unrolledSource, GetParam(),
                        {{"p", "*i32", x}, {"q", "*i32", y}, {"r", "*i32", z}},
                        {{"M", m}, {"N", n}, {"TIMES", times}}),
              "");
    for (int r = 0; r < m; ++r) {
      ASSERT_EQ(y[r], total[r]);
      ASSERT_EQ(z[r], largest[r] + middle[r]);
    }
  }
}

const char *const bytesSource = R"(
@triton.jit
def kernel(p, stride, q, LENGTH: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((N,), tl.float32)
    last: tl.constexpr = (LENGTH - 1) // N * N
    for start in range(last if DOWN else 0, -1 if DOWN else LENGTH, -N if DOWN else N):
        i = start + tl.arange(0, N)
        total += tl.load(p + row * stride + i + 1, mask=i + 1 < LENGTH, other=2).to(tl.float32)
    tl.store(q + row, tl.sum(total))
)";

/// Of so many numbers a thread that accesses reach them from one offset, which counts with the
/// loop.
TEST_P(LoopTotals, LongRowsOfKnownLength) {
  constexpr int rows = 3, block = 1024;
  for (auto [length, down] :
       {std::pair(3816, false), {3072, false}, {9000, false}, {3816, true}, {9000, true}}) {
    int stride = length + 3;
    Buffer<uint8_t> x(size_t(rows) * stride);
    Buffer<float> y(rows);
    Random random(length);
    std::generate_n(x.data(), x.count(), [&] { return uint8_t(random.below(256)); });
    SourceOptions options;
    options.grid = {rows, 1, 1};
    options.numWarps = 1;
    options.smallArrays = true;
    ASSERT_EQ(runSource(bytesSource, GetParam(),
                        {{"p", "*u8", x}, {"stride", "i64", int64_t(stride)}, {"q", "*fp32", y}},
                        {{"LENGTH", length}, {"N", block}, {"DOWN", down}}, options),
              "");
    int covered = (length + block - 1) / block * block;
    for (int row = 0; row < rows; ++row) {
      double total = 2 * (covered - length + 1);
      for (int i = 1; i < length; ++i)
        total += x[row * stride + i];
      EXPECT_EQ(y[row], total) << length << ", row " << row;
    }
  }
}

const char *const backSource = R"(
@triton.jit
def kernel(p, stride, q, r, LENGTH: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((N,), tl.float32)
    for start in range(0, LENGTH, N):
        i = LENGTH - 1 - (start + tl.arange(0, N))
        x = tl.load(p + row * stride + i, mask=i >= 0, other=0)
        total += x
        tl.store(r + row * stride + i, x, mask=i >= 0)
    tl.store(q + row, tl.sum(total))
)";

/// Lanes that a bound leaves out have offsets below zero.
TEST_P(LoopTotals, RowsFromTheirEnds) {
  constexpr int rows = 2, block = 256;
  for (int length : {445, 120, 700, 2000})
    for (unsigned warps : {1u, 4u}) {
      int stride = length + 5;
      Buffer<float> x(size_t(rows) * stride), copy(x.count()), y(rows);
      Random random(length);
      std::generate_n(x.data(), x.count(), [&] { return float(random.below(256)); });
      SourceOptions options;
      options.grid = {rows, 1, 1};
      options.numWarps = warps;
      options.smallArrays = true;
      ASSERT_EQ(runSource(backSource, GetParam(),
                          {{"p", "*fp32", x},
                           {"stride", "i32", stride},
                           {"q", "*fp32", y},
                           {"r", "*fp32", copy}},
                          {{"LENGTH", length}, {"N", block}}, options),
                "");
      for (int row = 0; row < rows; ++row) {
        const float *begin = x.data() + row * stride, *end = begin + length;
        EXPECT_EQ(y[row], std::accumulate(begin, end, 0.0)) << length << ", row " << row;
        EXPECT_TRUE(std::equal(begin, end, copy.data() + row * stride));
      }
    }
}

const char *const cyclicSource = R"(
@triton.jit
def kernel(p, q, r, n, N: tl.constexpr):
    total = tl.zeros((N,), tl.int32)
    for start in range(0, n, N):
        i = start + tl.arange(0, N)
        x = tl.load(p + i % 7, mask=i < n, other=0).to(tl.int32)
        tl.store(r + i, x, mask=i < n)
        total += x
    tl.store(q, tl.sum(total))
)";

/// A remainder is a difference in the end, of which constants must not go to the access.
TEST_P(LoopTotals, CyclicIndices) {
  for (const char *type : {"i32", "i64"})
    for (auto [n, block] : {std::pair(260, 64), {260, 128}, {33, 64}, {1000, 256}}) {
      Buffer<uint8_t> x({3, 250, 17, 99, 128, 1, 64});
      Buffer<int32_t> y(1), copy(n);
      SourceOptions options;
      options.numWarps = 1;
      options.smallArrays = true;
      ASSERT_EQ(
          runSource(
              cyclicSource, GetParam(),
              {{"p", "*u8", x}, {"q", "*i32", y}, {"r", "*i32", copy}, {"n", type, int64_t(n)}},
              {{"N", block}}, options),
          "");
      int32_t total = 0;
      for (int i = 0; i < n; ++i) {
        total += x[i % 7];
        EXPECT_EQ(copy[i], x[i % 7]) << type << ", " << n << ", " << i;
      }
      EXPECT_EQ(y[0], total) << type << ", " << n;
    }
}

const char *const fromTheLastSource = R"(
@triton.jit
def kernel(p, stride, q, r, FIRST: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + FIRST + i * stride)
    tl.store(q + i, x)
    tl.store(r + FIRST + i * stride, x)
)";

/// A stride below zero, and a constant that leads back into the array.
TEST_P(LoopTotals, RowsBySteps) {
  constexpr int n = 128;
  for (int stride : {-1, -3, 2}) {
    int first = stride < 0 ? -stride * (n - 1) + 3 : 5;
    Buffer<int32_t> x(first + n * 2 + 1), y(n), copy(x.count());
    std::iota(x.data(), x.data() + x.count(), 7);
    SourceOptions options;
    options.numWarps = 1;
    options.smallArrays = true;
    ASSERT_EQ(
        runSource(
            fromTheLastSource, GetParam(),
            {{"p", "*i32", x}, {"stride", "i32", stride}, {"q", "*i32", y}, {"r", "*i32", copy}},
            {{"FIRST", first}, {"N", n}}, options),
        "");
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(y[i], x[first + i * stride]) << stride << ", " << i;
      EXPECT_EQ(copy[first + i * stride], y[i]) << stride << ", " << i;
    }
  }
}

KILN_SOURCE_TESTS_ON_ALL(LoopTotals);

} // namespace
} // namespace kiln::testing
