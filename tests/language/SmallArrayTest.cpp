// Arrays that are promised to be below 2 GiB, whose tiles AMD's GPUs reach by offsets of 32 bits:
// strides at run time, masks of both axes, loops that move pointers, every width of elements.

#include "tests/language/SourceKernel.h"
#include <algorithm>
#include <string>
#include <utility>

namespace kiln::testing {
namespace {

class SmallArray : public SourceTest {};

constexpr int rows = 37, columns = 51;

SourceOptions promised() {
  SourceOptions options;
  options.smallArrays = true;
  return options;
}

/// A transposed copy by tiles, of a matrix within a larger array.
template <typename T>
void checkTiles(const char *target, const char *type, int rowStride, int columnStride,
                const std::string &other) {
  SCOPED_TRACE(std::string(type) + ", strides " + std::to_string(rowStride) + " and " +
               std::to_string(columnStride));
  const int size = (rows - 1) * rowStride + (columns - 1) * columnStride + 1;
  Buffer<T> x(size), out(64 * 64), transposed(rows * columns);
  for (int i = 0; i < size; ++i)
    x[i] = T(i % 101 + 1);
  SourceOptions options = promised();
  options.grid = {4, 2, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, t, rows, columns, row_stride, column_stride, N: tl.constexpr, M: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    j = tl.program_id(1) * M + tl.arange(0, M)
    is_in = (i[:, None] < rows) & (j[None, :] < columns)
    v = tl.load(x + i[:, None] * row_stride + j[None, :] * column_stride, mask=is_in, other=)" +
                          other + R"()
    tl.store(o + i[:, None] * 64 + j[None, :], v)
    tl.store(t + j[None, :] * rows + i[:, None], v, mask=is_in)
)",
                      target,
                      {{"x", std::string("*") + type, x},
                       {"o", std::string("*") + type, out},
                       {"t", std::string("*") + type, transposed},
                       {"rows", "i32", rows},
                       {"columns", "i32", columns},
                       {"row_stride", "i32", rowStride},
                       {"column_stride", "i32", columnStride}},
                      {{"N", 16}, {"M", 32}}, options),
            "");
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) {
      bool isIn = i < rows && j < columns;
      T expected = isIn ? x[i * rowStride + j * columnStride] : T(std::stoi(other));
      ASSERT_EQ(out[i * 64 + j], expected) << i << " " << j;
      if (isIn) {
        ASSERT_EQ(transposed[j * rows + i], expected) << i << " " << j;
      }
    }
}

TEST_P(SmallArray, EveryWidthAndStride) {
  for (auto [row, column] : {std::pair(columns, 1), {64, 1}, {1, rows}, {150, 3}}) {
    checkTiles<float>(GetParam(), "fp32", row, column, "0");
    checkTiles<int8_t>(GetParam(), "i8", row, column, "7");
  }
  checkTiles<int16_t>(GetParam(), "i16", 64, 1, "0");
  checkTiles<double>(GetParam(), "fp64", 64, 1, "5");
  checkTiles<int64_t>(GetParam(), "i64", 1, 40, "0");
}

/// Pointers that a loop moves along the rows, from an index of 64 bits, and back.
TEST_P(SmallArray, MovedPointers) {
  constexpr int stride = 60;
  for (int step : {1, -1}) {
    Buffer<float> x(rows * stride), sums(rows), out(rows * stride);
    for (int i = 0; i < rows * stride; ++i)
      x[i] = float(i % 97);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, s, o, rows, columns, stride, step, N: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, N)[:, None]
    j = tl.arange(0, M)
    first = tl.where(step < 0, columns - 1, 0)
    p = x + i.to(tl.int64) * stride + (first + j[None, :] * step)
    q = o + i * stride + (first + j[None, :] * step)
    sum = tl.zeros((N,), tl.float32)
    for k in range(0, columns, M):
        is_in = (i < rows) & (k + j[None, :] < columns)
        v = tl.load(p, mask=is_in, other=0.0)
        sum += tl.sum(v, 1)
        tl.store(q, v + 1, mask=is_in)
        p += M * step
        q += M * step
    tl.store(s + tl.arange(0, N), sum, mask=tl.arange(0, N) < rows)
)",
                        GetParam(),
                        {{"x", "*fp32", x},
                         {"s", "*fp32", sums},
                         {"o", "*fp32", out},
                         {"rows", "i32", rows},
                         {"columns", "i32", columns},
                         {"stride", "i32", stride},
                         {"step", "i32", step}},
                        {{"N", 64}, {"M", 16}}, promised()),
              "");
    for (int i = 0; i < rows; ++i) {
      float sum = 0;
      for (int j = 0; j < stride; ++j) {
        sum += j < columns ? x[i * stride + j] : 0;
        ASSERT_EQ(out[i * stride + j], j < columns ? x[i * stride + j] + 1 : 0) << i << " " << j;
      }
      ASSERT_EQ(sums[i], sum) << i;
    }
  }
}

/// A window that begins in front of the array: lanes are masked off at first, and later are not.
TEST_P(SmallArray, LoopsThatBeginInFront) {
  constexpr int n = 100, width = 7;
  Buffer<float> x(n * 2), out(n);
  for (int i = 0; i < n * 2; ++i)
    x[i] = float(i % 13);
  SourceOptions options = promised();
  options.grid = {2, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, n, width, stride, N: tl.constexpr):
    t = tl.program_id(0) * N + tl.arange(0, N)
    sum = tl.zeros((N,), tl.float32)
    for k in range(width):
        at = t - (width - 1) + k
        sum += tl.load(x + at * stride, mask=(at >= 0) & (at < n), other=0.0) * (k + 1)
    tl.store(o + t, sum, mask=t < n)
)",
                      GetParam(),
                      {{"x", "*fp32", x},
                       {"o", "*fp32", out},
                       {"n", "i32", n},
                       {"width", "i32", width},
                       {"stride", "i32", 2}},
                      {{"N", 64}}, options),
            "");
  for (int t = 0; t < n; ++t) {
    float sum = 0;
    for (int k = 0; k < width; ++k)
      sum += t - (width - 1) + k >= 0 ? x[(t - (width - 1) + k) * 2] * float(k + 1) : 0;
    ASSERT_EQ(out[t], sum) << t;
  }
}

/// Rows that are looked up, in place, and by pointers of two loops.
TEST_P(SmallArray, InPlace) {
  constexpr int stride = 40;
  Buffer<float> x(rows * stride), before(rows * stride);
  Buffer<int32_t> table(rows);
  for (int i = 0; i < rows * stride; ++i)
    before[i] = x[i] = float(i % 31);
  for (int i = 0; i < rows; ++i)
    table[i] = (i * 7) % rows;
  SourceOptions options = promised();
  options.grid = {rows, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, table, columns, stride, N: tl.constexpr):
    row = x + tl.load(table + tl.program_id(0)) * stride
    i = tl.arange(0, N)
    most = tl.full((N,), -1.0, tl.float32)
    for k in range(0, columns, N):
        most = tl.maximum(most, tl.load(row + k + i, mask=k + i < columns, other=-1.0))
    largest = tl.max(most, 0)
    for k in range(0, columns, N):
        v = tl.load(row + k + i, mask=k + i < columns)
        tl.store(row + k + i, v - largest, mask=k + i < columns)
)",
                      GetParam(),
                      {{"x", "*fp32", x},
                       {"table", "*i32", table},
                       {"columns", "i32", 33},
                       {"stride", "i32", stride}},
                      {{"N", 16}}, options),
            "");
  for (int i = 0; i < rows; ++i) {
    float largest = -1;
    for (int j = 0; j < 33; ++j)
      largest = std::max(largest, before[i * stride + j]);
    for (int j = 0; j < stride; ++j)
      ASSERT_EQ(x[i * stride + j], before[i * stride + j] - (j < 33 ? largest : 0))
          << i << " " << j;
  }
}

/// Products as deep as a table says, of columns that end within a vector.
TEST_P(SmallArray, LoopsUpToWhatIsLoaded) {
  constexpr int m = 16, n = 64, most = 80;
  std::string target = GetParam();
  Buffer<float> sums(m * n);
  Buffer<int16_t> x(m * most), w(n * most); // f16 of small integers
  auto half = [](int value) { return int16_t(value == 0 ? 0 : value == 1 ? 0x3c00 : 0x4000); };
  for (int i = 0; i < m * most; ++i)
    x[i] = half(i % 3);
  for (int depth : {0, 1, 16, 30, 33, 64, 79}) {
    Buffer<int32_t> depths(2);
    depths[1] = depth;
    // What is not loaded would make a sum of anything but zeros infinite, and of zeros no number.
    constexpr int16_t infinity = 0x7c00;
    for (int i = 0; i < n * most; ++i)
      w[i] = i % most < depth ? half(i / 2 % 3) : infinity;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, w, o, depths, which, most, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    depth = tl.load(depths + which)
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    px = x + i[:, None] * most + k[None, :]
    pw = w + j[None, :] * most + k[:, None]
    sum = tl.zeros((M, N), tl.float32)
    for step in range(0, tl.cdiv(depth, K)):
        a = tl.load(px, mask=k[None, :] < depth - step * K, other=0.0)
        b = tl.load(pw, mask=k[:, None] < depth - step * K, other=0.0)
        sum += tl.dot(a, b)
        px += K
        pw += K
    tl.store(o + i[:, None] * N + j[None, :], sum)
)",
                        target,
                        {{"x", "*fp16:16", x},
                         {"w", "*fp16:16", w},
                         {"o", "*fp32:16", sums},
                         {"depths", "*i32", depths},
                         {"which", "i32", 1},
                         {"most", "i32:16", most}},
                        {{"M", m}, {"N", n}, {"K", 16}}, promised()),
              "");
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += (i * most + k) % 3 * ((j * most + k) / 2 % 3);
        ASSERT_EQ(sums[i * n + j], float(sum)) << depth << ": " << i << " " << j;
      }
  }
}

/// Products whose rows go where an index leads, of columns that end between the halves of a vector.
TEST_P(SmallArray, ColumnsThatEndBetweenHalves) {
  constexpr int size = 64, depth = 32, rows = 61;
  Buffer<int16_t> x(size * depth), w(depth * size); // f16 of small integers
  Buffer<int32_t> index(size);
  auto half = [](int value) { return int16_t(value == 0 ? 0 : value == 1 ? 0x3c00 : 0x4000); };
  for (int i = 0; i < size * depth; ++i) {
    x[i] = half(i % 3);
    w[i] = half(i / 5 % 3);
  }
  for (int i = 0; i < size; ++i)
    index[i] = (i * 7 + 2) % rows;
  for (int quarters : {0, 1, 2, 5, 15, 16, 17}) {
    Buffer<int16_t> out(size * size);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, w, o, index, rows, quarters, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, N)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    row = tl.load(index + i, mask=i < rows, other=0)
    sum = tl.dot(tl.load(x + i[:, None] * K + k[None, :]), tl.load(w + k[:, None] * N + j[None, :]))
    tl.store(o + row[:, None] * N + j[None, :], sum.to(tl.int16),
             mask=(i[:, None] < rows) & (j[None, :] < quarters * 4))
)",
                        GetParam(),
                        {{"x", "*fp16:16", x},
                         {"w", "*fp16:16", w},
                         {"o", "*i16:16", out},
                         {"index", "*i32:16", index},
                         {"rows", "i32", rows},
                         {"quarters", "i32", quarters}},
                        {{"N", size}, {"K", depth}}, promised()),
              "");
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += (i * depth + k) % 3 * ((k * size + j) / 5 % 3);
        int at = i < rows ? index[i] * size + j : i * size + j;
        ASSERT_EQ(out[at], i < rows && j < 4 * quarters ? sum : 0)
            << quarters << ": " << i << " " << j;
      }
  }
}

/// Products of operands that threads load element by element, along either axis, for others as
/// well; results that are stored so, columns of one row under one mask.
TEST_P(SmallArray, ProductsOfSingleElements) {
  constexpr int m = 64, n = 64, tile = 32, depth = 75;
  constexpr int strides[][2] = {{1, 67}, {79, 1}, {3, 201}};
  for (auto [row, column] : strides) {
    SCOPED_TRACE(row);
    const int size = (m - 1) * row + (depth - 1) * column + 1;
    Buffer<int16_t> x(size), w(size), out(m * n); // f16 of small integers
    Buffer<float> total(1);
    auto valueOf = [](int at) { return at % 5 % 3; };
    auto half = [](int value) { return int16_t(value == 0 ? 0 : value == 1 ? 0x3c00 : 0x4000); };
    for (int i = 0; i < size; ++i) {
      x[i] = half(valueOf(i));
      w[i] = half(valueOf(i / 2));
    }
    const int rows = 61;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, w, o, t, rows, unit, depth, row, column, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, N)
    k = tl.arange(0, K)
    sum = tl.zeros((N, N), tl.float32)
    all = tl.zeros((K, N), tl.float32)
    for step in range(0, depth, K):
        in_depth = step + k < depth
        a = tl.load(x + i[:, None] * row + (step + k)[None, :] * column, mask=in_depth[None, :], other=0.0)
        b = tl.load(w + i[None, :] * row + (step + k)[:, None] * column, mask=in_depth[:, None], other=0.0)
        sum += tl.dot(a, b + b)
        all += b
    tl.store(o + i[:, None] * unit + i[None, :] * N, sum.to(tl.int16), mask=i[:, None] < rows)
    tl.store(t, tl.sum(all))
)",
                        GetParam(),
                        {{"x", "*fp16:16", x},
                         {"w", "*fp16:16", w},
                         {"o", "*i16:16", out},
                         {"t", "*fp32", total},
                         {"rows", "i32", rows},
                         {"unit", "i32", 1},
                         {"depth", "i32", depth},
                         {"row", "i32", row},
                         {"column", "i32", column}},
                        {{"N", m}, {"K", tile}}, promised()),
              "");
    int all = 0;
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < depth; ++k)
        all += valueOf((j * row + k * column) / 2);
    EXPECT_EQ(total[0], float(all));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += valueOf(i * row + k * column) * 2 * valueOf((j * row + k * column) / 2);
        ASSERT_EQ(out[i + j * n], i < rows ? sum : 0) << i << " " << j;
      }
  }
}

/// Lanes that move up to what bounds the loop: rows of any length, programs behind the last row,
/// whose tile has one row, and parts that programs take in turns, in place.
TEST_P(SmallArray, LoopsUpToTheirBound) {
  constexpr int stride = 52, programs = 4;
  for (int columns : {0, 1, 16, 17, 51}) {
    SCOPED_TRACE(columns);
    Buffer<float> x(programs * stride), out(programs * stride), turns(programs * stride);
    for (int i = 0; i < programs * stride; ++i)
      turns[i] = x[i] = float(i + 1);
    SourceOptions options = promised();
    options.grid = {programs, 1, 1};
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, t, rows, columns, n, stride, N: tl.constexpr):
    row = tl.program_id(0)
    one = row + tl.arange(0, 1)[:, None]
    for k in range(0, columns, N):
        j = k + tl.arange(0, N)
        part = tl.load(x + row * stride + j, mask=j < columns, other=-1.0)
        is_in = (one < rows) & (j[None, :] < columns)
        whole = tl.load(x + one * stride + j[None, :], mask=is_in, other=0.0)
        tl.store(o + one * stride + j[None, :], whole + part[None, :], mask=is_in)
    for k in range(row * N, n, tl.num_programs(0) * N):
        j = k + tl.arange(0, N)
        tl.store(t + j, tl.load(t + j, mask=j < n) + 1, mask=j < n)
)",
                        GetParam(),
                        {{"x", "*fp32", x},
                         {"o", "*fp32", out},
                         {"t", "*fp32", turns},
                         {"rows", "i32", programs - 1},
                         {"columns", "i32", columns},
                         {"n", "i32", 3 * columns},
                         {"stride", "i32", stride}},
                        {{"N", 16}}, options),
              "");
    for (int i = 0; i < programs * stride; ++i) {
      bool isIn = i / stride < programs - 1 && i % stride < columns;
      ASSERT_EQ(out[i], isIn ? 2 * x[i] : 0) << i;
      ASSERT_EQ(turns[i], x[i] + (i < 3 * columns)) << i;
    }
  }
}

/// A row that is known to be shorter than its tile.
TEST_P(SmallArray, RowsShorterThanTheirTile) {
  Buffer<int16_t> x(96), out(96);
  for (int i = 0; i < 96; ++i)
    x[i] = int16_t(i + 1);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, N: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i, mask=i < COLUMNS, other=0)
    tl.store(o + i, v + tl.sum(v, 0).to(tl.int16), mask=i < COLUMNS)
)",
                      GetParam(), {{"x", "*i16:16", x}, {"o", "*i16:16", out}},
                      {{"N", 1024}, {"COLUMNS", 64}}, promised()),
            "");
  for (int i = 0; i < 96; ++i)
    ASSERT_EQ(out[i], i < 64 ? i + 1 + 64 * 65 / 2 : 0) << i;
}

/// Programs of which most are far behind the bound: what they begin at is 2^32 bytes or more, whose
/// lower word is in the array.
TEST_P(SmallArray, ProgramsBehindTheBound) {
  constexpr int count = 1000;
  for (int n : {101, 128, 1, 0, -5}) {
    SCOPED_TRACE(n);
    Buffer<float> x(count), out(count), out2(count);
    for (int i = 0; i < count; ++i)
      x[i] = float(i + 1);
    SourceOptions options = promised();
    options.grid = {8, 1, 1};
    ASSERT_EQ(
        runSource(R"(
@triton.jit
def kernel(x, o, p, n, STEP: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * STEP + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=7)
    tl.store(o + i, v + pid, mask=i < n)
    j = pid * 64 + tl.arange(0, N)
    tl.store(p + j, tl.load(x + j, mask=j < n), mask=j < n)
)",
                  GetParam(),
                  {{"x", "*fp32", x}, {"o", "*fp32", out}, {"p", "*fp32", out2}, {"n", "i32", n}},
                  {{"STEP", 1 << 28}, {"N", 128}}, options),
        "");
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(out[i], i < std::min(n, 128) ? i + 1 : 0) << i;
      ASSERT_EQ(out2[i], i < n ? i + 1 : 0) << i;
    }
  }
}

/// Rows that an index leads to, whose lanes are masked off one by one, beside rows in order; and
/// a row in front of the array, which nobody asks for.
TEST_P(SmallArray, RowsThatAnIndexLeadsTo) {
  constexpr int rows = 5, columns = 75, stride = 80;
  Buffer<float> x(rows * stride), out(rows * stride), before(rows * stride);
  Buffer<int32_t> index(rows);
  for (int i = 0; i < rows * stride; ++i)
    x[i] = float(i + 1);
  for (int i = 0; i < rows; ++i)
    index[i] = (i * 3 + 1) % rows;
  SourceOptions options = promised();
  options.grid = {rows + 2, 2, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, b, index, rows, columns, stride, N: tl.constexpr):
    i = tl.program_id(0) + tl.arange(0, 1)
    row = tl.load(index + i, mask=i < rows)
    j = tl.program_id(1) * N + tl.arange(0, N)
    is_in = (i[:, None] < rows) & (j[None, :] < columns)
    v = tl.load(x + row[:, None] * stride + j[None, :], mask=is_in)
    tl.store(o + i[:, None] * stride + j[None, :], v, mask=is_in)
    pid = tl.program_id(0)
    has = (pid >= 1) & (pid < rows)
    tl.store(b + pid * stride + j, tl.load(x + (pid - 1) * stride + j, mask=has & (j < columns)),
             mask=has & (j < columns))
)",
                      GetParam(),
                      {{"x", "*fp32", x},
                       {"o", "*fp32", out},
                       {"b", "*fp32", before},
                       {"index", "*i32", index},
                       {"rows", "i32", rows},
                       {"columns", "i32", columns},
                       {"stride", "i32", stride}},
                      {{"N", 64}}, options),
            "");
  for (int i = 0; i < rows * stride; ++i) {
    bool isIn = i % stride < columns;
    ASSERT_EQ(out[i], isIn ? x[index[i / stride] * stride + i % stride] : 0) << i;
    ASSERT_EQ(before[i], isIn && i >= stride ? x[i - stride] : 0) << i;
  }
}

/// Two arrays that a loop takes in turns, and what it leaves, read through what the loop's results
/// point to, and through the argument that they may be.
TEST_P(SmallArray, ArraysInTurns) {
  constexpr int n = 96;
  for (int rounds : {0, 1, 4}) {
    Buffer<int32_t> x(n), y(n), out(3 * n);
    for (int i = 0; i < n; ++i) {
      x[i] = 10 * i;
      y[i] = -1;
    }
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y, o, n, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    is_in = i < n
    p = x + i
    q = y + i
    for k in range(rounds):
        v = tl.load(x + (n - 1 - i), mask=is_in, other=0) * 0
        tl.store(q, tl.load(p, mask=is_in) + 1 + v, mask=is_in)
        p, q = q, p
    tl.store(o + i, tl.load(p, mask=is_in), mask=is_in)
    tl.store(o + n + i, tl.load(x + (n - 1 - i), mask=is_in), mask=is_in)
    tl.store(o + 2 * n + i, tl.load(y + (n - 1 - i), mask=is_in), mask=is_in)
)",
                        GetParam(),
                        {{"x", "*i32", x},
                         {"y", "*i32", y},
                         {"o", "*i32", out},
                         {"n", "i32", n},
                         {"rounds", "i32", rounds}},
                        {{"N", 128}}, promised()),
              "");
    for (int i = 0; i < n; ++i) {
      int last = n - 1 - i, ofX = 10 * last + rounds / 2 * 2,
          ofY = rounds ? 10 * last + (rounds + 1) / 2 * 2 - 1 : -1;
      ASSERT_EQ(out[i], rounds ? 10 * i + rounds : 10 * i) << rounds << " " << i;
      ASSERT_EQ(out[n + i], ofX) << rounds << " " << i;
      ASSERT_EQ(out[2 * n + i], ofY) << rounds << " " << i;
    }
  }
}

const char *const smallArrayTargets[] = {"cpu",        "emu:gfx90a",  "emu:gfx942",
                                         "emu:gfx950", "emu:gfx1100", "emu:gfx1201"};
INSTANTIATE_TEST_SUITE_P(, SmallArray, ::testing::ValuesIn(smallArrayTargets), sourceTargetName);

} // namespace
} // namespace kiln::testing
