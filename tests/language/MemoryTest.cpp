// Loads and stores: every type, masks (empty ones too), strides, hints, block pointers with their
// boundary checks, and tensor descriptors.

#include "tests/language/Numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.load tl.store tl.make_block_ptr tl.advance tl.make_tensor_descriptor "
            "tl._experimental_make_tensor_descriptor tl.load_tensor_descriptor "
            "tl.store_tensor_descriptor tl._experimental_descriptor_load "
            "tl._experimental_descriptor_store");

class Memory : public SourceTest {};

std::vector<std::string> allTypes() {
  std::vector<std::string> all = {"i1"};
  for (const auto *types : {&integerTypes, &float8Types, &floatTypes})
    all.insert(all.end(), types->begin(), types->end());
  return all;
}

TEST_P(Memory, CopiesEveryTypeUnderMasks) {
  const char *source = R"(
@triton.jit
def kernel(p, q, r, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(q + i, tl.load(p + i, mask=i < n), mask=i < n)
    # What is masked off has the other value.
    tl.store(r + i, tl.load(p + i, (i < n) & (i % 3 == 0), other=tl.load(p + 1)), mask=i < n)
    # Nothing is loaded or stored: the addresses need not exist.
    nothing = i < 0
    tl.store(p + (i << 20), tl.load(p - (i << 20), mask=nothing, other=0), mask=nothing)
    tl.store(s + i, tl.load(p - 1 - i, mask=nothing, other=1), mask=i < n)
)";
  for (const std::string &type : allTypes()) {
    auto arguments = [](const Array &x, const Array &y, const Array &z, const Array &w, int n) {
      return std::vector<SourceArgument>{
          x.argument("p"), y.argument("q"), z.argument("r"), w.argument("s"), {"n", "i32", n}};
    };
    Array any(type, 1);
    SourceKernel kernel(source, GetParam(), arguments(any, any, any, any, 0), {{"BLOCK", 64}});
    for (int n : {1, 33, 127, 128, 200}) {
      Array x = mixedArray(type, std::max(n, 2), n), y(type, n), z(type, n), w(type, n);
      ASSERT_EQ(kernel.run(arguments(x, y, z, w, n), {uint32_t(n + 63) / 64, 1, 1}), "") << type;
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(y.bits(i), x.bits(i)) << type << " " << i;
        ASSERT_EQ(z.bits(i), x.bits(i % 3 == 0 ? i : 1)) << type << " " << i;
        ASSERT_EQ(w.bits(i), w.type().encode(1)) << type << " " << i;
      }
    }
  }
}

/// A thread has two neighbours, and a bound may end between them.
TEST_P(Memory, PairsThatABoundEndsWithin) {
  const char *source = R"(
@triton.jit
def kernel(p, q, r, n):
    i = tl.arange(0, 256)
    tl.store(q + i, tl.load(p + i, mask=i < n, other=-5))
    tl.store(r + i, tl.load(p + i, mask=i < n), mask=i < n)
)";
  for (int n : {0, 1, 2, 101, 255, 256}) {
    Buffer<int16_t> p(std::max(n, 1)), q(256), r(std::max(n, 1));
    for (int i = 0; i < n; ++i)
      p[size_t(i)] = int16_t(3 * i - 200);
    ASSERT_EQ(
        runSource(source, GetParam(),
                  {{"p", "*i16:16", p}, {"q", "*i16:16", q}, {"r", "*i16:16", r}, {"n", "i32", n}}),
        "");
    for (int i = 0; i < 256; ++i) {
      ASSERT_EQ(q[size_t(i)], i < n ? 3 * i - 200 : -5) << n << " " << i;
      if (i < n)
        ASSERT_EQ(r[size_t(i)], 3 * i - 200) << n << " " << i;
    }
  }
}

/// Indices are kept within bounds that the mask has, too, or has not.
TEST_P(Memory, BoundsOfIndicesUnderMasks) {
  const char *source = R"(
@triton.jit
def kernel(p, q, r, s, t, rows, columns, N: tl.constexpr):
    i = tl.arange(0, N)
    inside = (i < rows)[:, None] & (i >= 3)[:, None] & (i < columns)[None, :]
    out = i[:, None] * N + i[None, :]
    # All that the mask lets through is as it is.
    row = tl.maximum(tl.minimum(i, rows - 1), 3)
    column = tl.where(i < columns, i, 0)
    tl.store(q + out, tl.load(p + row[:, None] * columns + column[None, :], mask=inside, other=-1))
    # These change what it lets through: closer bounds, the other axis, other conditions.
    row = tl.minimum(i, rows - 2)[:, None] - tl.minimum(i, 4)[:, None]
    column = tl.minimum(i[None, :], tl.minimum(rows - 1, columns - 1)) - tl.where(i > 6, 2, 0)[None, :]
    tl.store(r + out, tl.load(p + row * columns + column, mask=inside, other=-2))
    # One of two conditions is enough.
    either = (i < columns)[None, :] | (i < 2)[:, None]
    column = tl.minimum(i, columns - 1)[None, :] + tl.zeros_like(i)[:, None]
    tl.store(s + out, tl.load(p + column, mask=either, other=-3))
    # Where something is written, and a loop's own indices.
    for first in range(0, rows, 8):
        k = first + tl.arange(0, 8)
        last = tl.minimum(k, rows - 1)
        x = tl.load(p + last * columns, mask=k < rows)
        tl.store(t + tl.maximum(last, 0), x, mask=(k < rows) & (k >= 0))
)";
  constexpr int size = 32;
  for (auto [rows, columns] : {std::pair(20, 27), {32, 32}, {9, 31}, {3, 5}}) {
    Buffer<int> p(rows * columns), q(size * size), r(size * size), s(size * size), t(rows);
    for (int i = 0; i < rows * columns; ++i)
      p[size_t(i)] = 7 * i + 5;
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"p", "*i32", p},
                         {"q", "*i32", q},
                         {"r", "*i32", r},
                         {"s", "*i32", s},
                         {"t", "*i32", t},
                         {"rows", "i32", rows},
                         {"columns", "i32", columns}},
                        {{"N", size}}),
              "");
    auto at = [&p, columns = columns](int row, int column) {
      return p[size_t(row * columns + column)];
    };
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        bool isIn = i < rows && i >= 3 && j < columns;
        size_t out = size_t(i * size + j);
        ASSERT_EQ(q[out], isIn ? at(i, j) : -1) << i << " " << j;
        int row = std::min(i, rows - 2) - std::min(i, 4);
        int column = std::min(j, std::min(rows - 1, columns - 1)) - (j > 6 ? 2 : 0);
        ASSERT_EQ(r[out], isIn ? at(row, column) : -2) << i << " " << j;
        ASSERT_EQ(s[out], j < columns || i < 2 ? at(0, std::min(j, columns - 1)) : -3)
            << i << " " << j;
      }
    for (int i = 0; i < rows; ++i)
      ASSERT_EQ(t[size_t(i)], at(i, 0)) << i;
  }
}

TEST_P(Memory, FollowsStridesAndIndices) {
  const char *source = R"(
@triton.jit
def kernel(p, q, index, rows, columns, stride_r, stride_c, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    inside = (r < rows) & (c < columns)
    # Backwards, and gathered.
    x = tl.load(p + (rows - 1 - r) * stride_r + c * stride_c, mask=inside, other=-1)
    picked = tl.load(index + c, mask=c < columns, other=0)
    y = tl.load(p + r * stride_r + picked * stride_c, mask=inside)
    tl.store(q + c * rows + r, x + 1000 * y, mask=inside)
)";
  const int rows = 13, columns = 27;
  for (auto [strideR, strideC] :
       {std::pair(columns, 1), {columns + 5, 1}, {1, rows}, {3, rows * 3 + 1}}) {
    Buffer<int32_t> x(size_t(rows - 1) * strideR + (columns - 1) * strideC + 1), y(rows * columns);
    Buffer<int16_t> index(columns);
    for (size_t i = 0; i < x.count(); ++i)
      x[i] = int(i % 997);
    for (int c = 0; c < columns; ++c)
      index[c] = int16_t(c * 5 % columns);
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"p", "*i32:4", x},
                         {"q", "*i32", y},
                         {"index", "*i16:2", index},
                         {"rows", "i32", rows},
                         {"columns", "i32", columns},
                         {"stride_r", "i64", int64_t(strideR)},
                         {"stride_c", "i32", strideC}},
                        {{"R", 16}, {"C", 32}}),
              "");
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        ASSERT_EQ(y[c * rows + r], x[(rows - 1 - r) * strideR + c * strideC] +
                                       1000 * x[r * strideR + index[c] * strideC]);
  }
}

TEST_P(Memory, AcceptsEveryHint) {
  std::string body;
  int results = 0;
  auto add = [&](const std::string &load, const std::string &store) {
    body += "    tl.store(q + " + std::to_string(results++) + " * 64 + i, tl.load(p + i" + load +
            ")" + store + ")\n";
  };
  for (std::string cache : {"", ".ca", ".cg", ".cs", ".cv"})
    for (std::string evict : {"", "evict_first", "evict_last", "evict_normal"})
      add(", cache_modifier='" + cache + "', eviction_policy='" + evict + "'", "");
  for (std::string cache : {"", ".wb", ".cg", ".cs", ".wt"})
    for (std::string evict : {"", "evict_first", "evict_last", "evict_normal"})
      add("", ", cache_modifier='" + cache + "', eviction_policy='" + evict + "'");
  add(", volatile=True", "");
  add(", mask=i < 64, other=0.0, volatile=True, cache_modifier='.cg'", ", mask=i >= 0");
  Array x = mixedArray("fp32", 64, 3), y("fp32", size_t(results) * 64);
  ASSERT_EQ(runSource("@triton.jit\ndef kernel(p, q):\n    i = tl.arange(0, 64)\n" + body,
                      GetParam(), {x.argument("p"), y.argument("q")}),
            "");
  for (int i = 0; i < results * 64; ++i)
    ASSERT_EQ(y.bits(i), x.bits(i % 64)) << i / 64;
}

TEST_P(Memory, OfScalarsAndPointersToPointers) {
  Buffer<float> x({1, 2, 3, 4}), y(4);
  Buffer<uint64_t> table(2);
  table[0] = reinterpret_cast<uintptr_t>(x.data());
  table[1] = reinterpret_cast<uintptr_t>(y.data());
  ASSERT_EQ(
      runSource(R"(
@triton.jit
def kernel(table, p, q, n):
    source = tl.load(table).to(tl.pointer_type(tl.float32))
    target = tl.load(table + 1).to(tl.pointer_type(tl.float32))
    tl.store(target, tl.load(source + 2))
    tl.store(target + 1, tl.load(source, mask=n > 5, other=-7.0))
    tl.store(target + 2, 9.0, mask=n > 5)
    tl.store(target + 3, 11, mask=n < 5)
)",
                GetParam(),
                {{"table", "*i64", table}, {"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", 3}}),
      "");
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], -7);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 11);
}

//--- Block pointers and descriptors ---

constexpr int rows = 21, columns = 37, blockRows = 8, blockColumns = 16;

/// The matrix that the blocks are of, row-major with room between the rows, and where it is copied.
struct Matrices {
  static constexpr int stride = 48;
  Buffer<float> x{rows * stride}, y{rows * stride};
  Matrices() {
    for (int i = 0; i < rows * stride; ++i)
      x[i] = float(i + 1);
  }
  std::vector<SourceArgument> arguments() {
    return {
        {"p", "*fp32", x}, {"q", "*fp32", y}, {"rows", "i32", rows}, {"columns", "i32", columns}};
  }
  void expectCopied(bool transposed = false) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < stride; ++c)
        ASSERT_EQ(y[r * stride + c], c < columns ? x[r * stride + c] : 0)
            << r << ", " << c << transposed;
  }
};

const std::vector<SourceConstant> blockConstants = {
    {"R", blockRows}, {"C", blockColumns}, {"STRIDE", Matrices::stride}};
const SourceOptions blockGrid = {
    {(rows + blockRows - 1) / blockRows, (columns + blockColumns - 1) / blockColumns, 1}};

TEST_P(Memory, BlockPointersStayInside) {
  Matrices m;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, rows, columns, R: tl.constexpr, C: tl.constexpr, STRIDE: tl.constexpr):
    at = (tl.program_id(0) * R, tl.program_id(1) * C)
    source = tl.make_block_ptr(p, (rows, columns), (STRIDE, 1), at, (R, C), (1, 0))
    target = tl.make_block_ptr(base=q, shape=(rows, columns), strides=(STRIDE, 1), offsets=at,
                               block_shape=(R, C), order=(1, 0))
    x = tl.load(source, boundary_check=(0, 1))
    tl.store(target, x, boundary_check=(0, 1))
)",
                      GetParam(), m.arguments(), blockConstants, blockGrid),
            "");
  m.expectCopied();
}

TEST_P(Memory, BlockPointersAdvanceAndPad) {
  Matrices m;
  Buffer<float> sums(2);
  std::vector<SourceArgument> arguments = m.arguments();
  arguments.push_back({"sums", "*fp32", sums});
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, rows, columns, sums, R: tl.constexpr, C: tl.constexpr, STRIDE: tl.constexpr):
    # Transposed: the matrix's columns are the first axis.
    source = tl.make_block_ptr(p, (columns, rows), (1, STRIDE), (0, 0), (C, R), (0, 1))
    target = tl.make_block_ptr(q, (rows, columns), (STRIDE, 1), (0, 0), (R, C), (1, 0))
    total = tl.zeros((C, R), tl.float32)
    count = tl.zeros((C, R), tl.int32)
    for r in range(0, rows, R):
        row = source
        out = target
        for c in range(0, columns, C):
            x = tl.load(row, boundary_check=(0, 1), padding_option='zero')
            total += x
            padded = tl.load(row, boundary_check=(0, 1), padding_option='nan')
            count += (padded != padded).to(tl.int32)
            tl.store(out, tl.trans(x), boundary_check=(0, 1))
            row = tl.advance(row, (C, 0))
            out = tl.advance(out, [0, C])
        source = tl.advance(source, (0, R))
        target = tl.advance(target, (R, 0))
    tl.store(sums, tl.sum(total))
    tl.store(sums + 1, tl.sum(count))
)",
                      GetParam(), arguments, blockConstants),
            "");
  m.expectCopied();
  double total = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      total += m.x[r * Matrices::stride + c];
  EXPECT_NEAR(sums[0], total, total * 1e-6);
  EXPECT_EQ(sums[1], 24 * 48 - rows * columns);
}

TEST_P(Memory, BlockPointersCheckOnlyTheAxesNamed) {
  // Axis 1 fits; axis 0 starts before the matrix.
  Matrices m;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, rows, columns, R: tl.constexpr, C: tl.constexpr, STRIDE: tl.constexpr):
    block = tl.make_block_ptr(p, (rows, columns), (STRIDE, 1), (-3, C), (R, C), (1, 0))
    x = tl.load(block, boundary_check=(0, ), padding_option='zero')
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(q + at, x)
)",
                      GetParam(), m.arguments(), blockConstants),
            "");
  for (int r = 0; r < blockRows; ++r)
    for (int c = 0; c < blockColumns; ++c)
      ASSERT_EQ(m.y[r * blockColumns + c],
                r < 3 ? 0 : m.x[(r - 3) * Matrices::stride + c + blockColumns]);
}

TEST_P(Memory, DescriptorsStayInside) {
  const char *forms[][2] = {{"source.load([r, c])", "target.store([r, c], x)"},
                            {"tl.load_tensor_descriptor(source, [r, c])",
                             "tl.store_tensor_descriptor(target, [r, c], x)"},
                            {"tl._experimental_descriptor_load(source, [r, c], (R, C), tl.float32)",
                             "tl._experimental_descriptor_store(target, x, [r, c])"}};
  for (std::string make : {"tl.make_tensor_descriptor", "tl._experimental_make_tensor_descriptor"})
    for (auto &[load, store] : forms) {
      Matrices m;
      ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, rows, columns, R: tl.constexpr, C: tl.constexpr, STRIDE: tl.constexpr):
    source = )" + make + R"((p, shape=[rows, columns], strides=[STRIDE, 1], block_shape=[R, C])
    target = )" + make + R"((q, [rows, columns], [STRIDE, 1], [R, C])
    r, c = tl.program_id(0) * R, tl.program_id(1) * C
    x = )" + load + "\n    " + store +
                              "\n",
                          GetParam(), m.arguments(), blockConstants, blockGrid),
                "");
      m.expectCopied();
    }
}

TEST_P(Memory, DescriptorsPad) {
  Matrices m;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, rows, columns, R: tl.constexpr, C: tl.constexpr, STRIDE: tl.constexpr):
    zero = tl.make_tensor_descriptor(p, [rows, columns], [STRIDE, 1], [R, C])
    nan = tl.make_tensor_descriptor(p, [rows, columns], [STRIDE, 1], [R, C], padding_option='nan')
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(q + at, zero.load([rows - 2, -4]))
    tl.store(q + R * C + at, nan.load([rows - 2, -4]))
)",
                      GetParam(), m.arguments(), blockConstants),
            "");
  for (int r = 0; r < blockRows; ++r)
    for (int c = 0; c < blockColumns; ++c) {
      bool inside = r < 2 && c >= 4;
      float expected = inside ? m.x[(rows - 2 + r) * Matrices::stride + c - 4] : 0;
      ASSERT_EQ(m.y[r * blockColumns + c], expected);
      float padded = m.y[blockRows * blockColumns + r * blockColumns + c];
      ASSERT_TRUE(inside ? padded == expected : std::isnan(padded)) << padded;
    }
}

/// One thread stores what all wait for, in front of a loop and at its end to the same place.
TEST_P(Memory, LoopsUntilOneThreadHasStored) {
  const std::string source = R"(
@triton.jit
def kernel(counts, x, trips):
    program = tl.program_id(0)
    i = trips - 3
    while i < trips:
        count = counts + (program * 3 + i) * 2
        tl.store(count, 4)
        tl.store(count + 1, i)
        while tl.load(count) > 0:
            while tl.atomic_cas(count + 1, 77, 77) == 77:
                tl.atomic_xchg(count + 1, 78)
            tl.store(count, tl.load(count) - 1)
            tl.store(count + 1, tl.load(count + 1) + tl.min(tl.load(x + tl.arange(0, 32)), axis=0))
        i += 1
)";
  for (unsigned numWarps : {1, 4}) {
    Buffer<int> x(32), counts(12);
    for (int i = 0; i < 32; ++i)
      x[i] = 10 + (i * 7) % 32;
    SourceOptions options;
    options.grid = {2, 1, 1};
    options.numWarps = numWarps;
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"counts", "*i32:16", counts}, {"x", "*i32:16", x}, {"trips", "i32", 3}},
                        {}, options),
              "");
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(counts[2 * i], 0);
      EXPECT_EQ(counts[2 * i + 1], i % 3 + 40) << i;
    }
  }
}

KILN_SOURCE_TESTS(Memory);

} // namespace
} // namespace kiln::testing
