// Tiles of more elements than threads have registers for: GPU targets go over them in slices.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

class LargeTile : public SourceTest {};

// One warp: 1024 elements in each of 32 threads, 512 in each of 64.
constexpr int rows = 128, columns = 256;

SourceOptions oneWarp() {
  SourceOptions options;
  options.numWarps = 1;
  return options;
}

Buffer<float> wholeNumbers(int count) {
  Buffer<float> x(count);
  Random random(count);
  for (int i = 0; i < count; ++i)
    x[i] = float(random.below(19)) - 9;
  return x;
}

TEST_P(LargeTile, MaskedAlongBothAxes) {
  const char *source = R"(
@triton.jit
def kernel(p, q, m, n, stride, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None]
    j = tl.arange(0, C)[None, :]
    inside = (i < m) & (j < n)
    x = tl.load(p + i * stride + j, mask=inside & (j <= i), other=-7.0)
    tl.store(q + i * stride + j, x * 2, mask=inside)
)";
  for (int stride : {columns, 201})
    for (bool inPlace : {false, true}) {
      int m = rows - 3, n = 199;
      Buffer<float> x = wholeNumbers(rows * stride), y(rows * stride, -1);
      Buffer<float> &target = inPlace ? x : y;
      Buffer<float> before(x);
      ASSERT_EQ(runSource(source, GetParam(),
                          {{"p", "*fp32:4", x},
                           {"q", "*fp32:4", target},
                           {"m", "i32", m},
                           {"n", "i32", n},
                           {"stride", "i32", stride}},
                          {{"R", rows}, {"C", columns}}, oneWarp()),
                "");
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < stride; ++j) {
          float untouched = inPlace ? before[i * stride + j] : -1;
          float expected = i >= m || j >= n ? untouched : j <= i ? before[i * stride + j] * 2 : -14;
          ASSERT_EQ(target[i * stride + j], expected) << i << ", " << j << ", " << inPlace;
        }
    }
}

TEST_P(LargeTile, SummedAlongEachAxis) {
  const char *source = R"(
@triton.jit
def kernel(p, by_row, by_column, largest, total, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)
    j = tl.arange(0, C)
    x = tl.load(p + i[:, None] * C + j[None, :])
    tl.store(by_row + i, tl.sum(x, axis=1))
    x = tl.load(p + i[:, None] * C + j[None, :])
    tl.store(by_column + j, tl.sum(x + 1, axis=0) + j)
    x = tl.load(p + i[:, None] * C + j[None, :])
    tl.store(largest + j, tl.argmax(x * (R - i[:, None]), axis=0))
    tl.store(total, tl.sum(tl.load(p + tl.arange(0, R * C))))
)";
  Buffer<float> x = wholeNumbers(rows * columns), byRow(rows), byColumn(columns), total(1);
  Buffer<int32_t> largest(columns);
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*fp32", x},
                       {"by_row", "*fp32", byRow},
                       {"by_column", "*fp32", byColumn},
                       {"largest", "*i32", largest},
                       {"total", "*fp32", total}},
                      {{"R", rows}, {"C", columns}}, oneWarp()),
            "");
  float sum = 0;
  for (int i = 0; i < rows; ++i) {
    float row = 0;
    for (int j = 0; j < columns; ++j)
      row += x[i * columns + j];
    ASSERT_EQ(byRow[i], row) << i;
    sum += row;
  }
  EXPECT_EQ(total[0], sum);
  for (int j = 0; j < columns; ++j) {
    float column = 0;
    int best = 0;
    for (int i = 0; i < rows; ++i) {
      column += x[i * columns + j] + 1;
      if (x[i * columns + j] * float(rows - i) > x[best * columns + j] * float(rows - best))
        best = i;
    }
    ASSERT_EQ(byColumn[j], column + float(j)) << j;
    ASSERT_EQ(largest[j], best) << j;
  }
}

TEST_P(LargeTile, ScannedAlongEachAxisBothWays) {
  const char *source = R"(
@triton.jit
def kernel(p, q, sums, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, R)[:, None]
    j = tl.arange(0, C)[None, :]
    x = tl.load(p + i * C + j)
    y = tl.cumsum(x, axis=AXIS, reverse=REVERSE)
    y = tl.where(i > j, y, 1.0)
    tl.store(q + i * C + j, y)
    tl.store(sums + tl.arange(0, R), tl.sum(y, axis=1))
)";
  for (int axis : {0, 1})
    for (bool reverse : {false, true}) {
      Buffer<float> x = wholeNumbers(rows * columns), y(rows * columns), sums(rows);
      ASSERT_EQ(runSource(source, GetParam(),
                          {{"p", "*fp32", x}, {"q", "*fp32", y}, {"sums", "*fp32", sums}},
                          {{"R", rows}, {"C", columns}, {"AXIS", axis}, {"REVERSE", reverse}},
                          oneWarp()),
                "");
      std::vector<float> expected(x.data(), x.data() + rows * columns);
      int step = axis == 0 ? columns : 1, extent = axis == 0 ? rows : columns;
      for (int line = 0; line < rows * columns / extent; ++line) {
        int first = axis == 0 ? line : line * columns;
        for (int k = 1; k < extent; ++k) {
          int at = reverse ? extent - 1 - k : k, last = reverse ? at + 1 : at - 1;
          expected[first + at * step] += expected[first + last * step];
        }
      }
      for (int i = 0; i < rows; ++i) {
        float sum = 0;
        for (int j = 0; j < columns; ++j) {
          float wanted = i > j ? expected[i * columns + j] : 1;
          ASSERT_EQ(y[i * columns + j], wanted) << i << ", " << j << ", axis " << axis;
          sum += wanted;
        }
        ASSERT_EQ(sums[i], sum) << i << ", axis " << axis;
      }
    }
}

// The upper half of a product is the second result of one operation.
TEST_P(LargeTile, OfUpperHalvesOfProducts) {
  const char *source = R"(
@triton.jit
def kernel(q, factor, N: tl.constexpr):
    i = tl.arange(0, N)
    word = i.to(tl.uint32) * 2654435761
    tl.store(q + i, tl.umulhi(word, factor) ^ (word * 3))
)";
  int n = rows * columns;
  uint32_t factor = 0xD2511F53;
  Buffer<uint32_t> y(n);
  ASSERT_EQ(runSource(source, GetParam(), {{"q", "*u32", y}, {"factor", "u32", factor}}, {{"N", n}},
                      oneWarp()),
            "");
  for (int i = 0; i < n; ++i) {
    uint32_t word = uint32_t(i) * 2654435761u;
    ASSERT_EQ(y[i], uint32_t(uint64_t(word) * factor >> 32) ^ (word * 3)) << i;
  }
}

// What is computed of the whole before cannot be computed again for a slice: it is picked out.
TEST_P(LargeTile, OfDifferencesOfRunningSums) {
  const char *source = R"(
@triton.jit
def kernel(p, q, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)
    j = tl.arange(0, C)
    rows = tl.cumsum(tl.load(p + i), axis=0)
    columns = tl.cumsum(tl.load(p + j), axis=0, reverse=True)
    tl.store(q + i[:, None] * C + j[None, :], tl.minimum(rows, 20.0)[:, None] - columns[None, :])
)";
  Buffer<float> x = wholeNumbers(columns), y(rows * columns);
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                      {{"R", rows}, {"C", columns}}, oneWarp()),
            "");
  std::vector<float> after(columns + 1);
  for (int j = columns; j-- > 0;)
    after[j] = after[j + 1] + x[j];
  float row = 0;
  for (int i = 0; i < rows; ++i) {
    row += x[i];
    for (int j = 0; j < columns; ++j)
      ASSERT_EQ(y[i * columns + j], std::min(row, 20.0f) - after[j]) << i << ", " << j;
  }
}

TEST_P(LargeTile, SoftmaxOfRows) {
  const char *source = R"(
@triton.jit
def kernel(p, q, n, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None]
    j = tl.arange(0, C)[None, :]
    x = tl.load(p + i * n + j, mask=j < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(q + i * n + j, e / tl.sum(e, axis=1)[:, None], mask=j < n)
)";
  int n = 251;
  Buffer<float> x = wholeNumbers(rows * n), y(rows * n, -1);
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", n}},
                      {{"R", rows}, {"C", columns}}, oneWarp()),
            "");
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      sum += std::exp(double(x[i * n + j]));
    for (int j = 0; j < n; ++j)
      ASSERT_NEAR(y[i * n + j], std::exp(double(x[i * n + j])) / sum, 1e-6) << i << ", " << j;
  }
}

// The maximum of the whole is known after the last slice, and each element needs it.
TEST_P(LargeTile, SoftmaxOfTheWhole) {
  const char *source = R"(
@triton.jit
def kernel(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(q + i, e / tl.sum(e, axis=0))
)";
  int n = rows * columns;
  Buffer<float> x = wholeNumbers(n), y(n);
  ASSERT_EQ(
      runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}}, {{"N", n}}, oneWarp()),
      "");
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += std::exp(double(x[i]));
  for (int i = 0; i < n; ++i)
    ASSERT_NEAR(y[i] * n, std::exp(double(x[i])) / sum * n, 1e-4) << i;
}

KILN_SOURCE_TESTS(LargeTile);

} // namespace
} // namespace kiln::testing
