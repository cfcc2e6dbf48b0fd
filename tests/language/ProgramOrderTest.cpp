// Accesses to global memory happen in program order, tile operation by tile operation, whichever of
// a program instance's threads make them: elements that several threads hold, scalars, elements
// that change threads between two accesses, arguments that are one array, loops, and what other
// instances change meanwhile.

#include "tests/language/SourceKernel.h"

#include <algorithm>

namespace kiln::testing {
namespace {

class ProgramOrder : public SourceTest {};

Buffer<int32_t> counted(size_t count, int32_t first = 0) {
  Buffer<int32_t> buffer(count);
  for (size_t i = 0; i < count; ++i)
    buffer[i] = first + int32_t(i);
  return buffer;
}

TEST_P(ProgramOrder, StateAfterAWhileLoopIsThatOfItsCondition) {
  for (const char *body :
       {"x *= 0.5", "tl.debug_barrier()\n        x *= 0.5", "x = tl.flip(x * 0.5, 0)"}) {
    Buffer<float> x(256), y(1);
    for (size_t i = 0; i < 256; ++i)
      x[i] = float(i % 100) + 1;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 256)
    x = tl.load(p + i)
    while tl.max(x, 0) > 1:
        )" + std::string(body) +
                            R"(
    tl.store(q, tl.sum(x, 0))
)",
                        GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}}),
              "");
    float sum = 0;
    for (size_t i = 0; i < 256; ++i)
      sum += x[i] / 128;
    EXPECT_NEAR(y[0], sum, 1e-4) << body;
  }
}

TEST_P(ProgramOrder, ElementsOfSeveralThreads) {
  // 32 elements on 128 threads: all of them load, some of them store.
  Buffer<int32_t> x = counted(32), y(2);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 32)
    x = tl.load(p + i)
    tl.store(p + i, x + 1)
    tl.store(q, tl.sum(x, 0))
    again = tl.load(p + i)
    tl.store(p + i, again * 2)
    tl.store(q + 1, tl.sum(again, 0))
)",
                      GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}}),
            "");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(x[size_t(i)], 2 * (i + 1));
  EXPECT_EQ(y[0], 31 * 16);
  EXPECT_EQ(y[1], 31 * 16 + 32);
}

TEST_P(ProgramOrder, ScalarsSteerAllThreadsAlike) {
  Buffer<int32_t> x({7, 3, 1, 0}), y(256, 1);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 256)
    x = tl.load(p)
    tl.store(p, 0)
    if x > 5:
        tl.store(q, tl.sum(tl.load(q + i), 0))
    # A countdown in memory.
    while tl.load(p + 1) > 0:
        tl.store(p + 1, tl.load(p + 1) - 1)
        n = tl.load(p + 2)
        tl.store(p + 2, n + tl.max(tl.load(q + i), 0))
    tl.store(p + 3, tl.load(p + 2))
)",
                      GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}}),
            "");
  EXPECT_EQ(y[0], 256);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 0);
  EXPECT_EQ(x[2], 1 + 3 * 256);
  EXPECT_EQ(x[3], 1 + 3 * 256);
}

/// With two arguments and with one array given for both, through every way to move an element.
TEST_P(ProgramOrder, ElementsThatChangeThreads) {
  const char *source = R"(
@triton.jit
def kernel(P, Q, n):
    i = tl.arange(0, 128)
    tl.store(P + i, i + n)
    tl.store(Q + i, tl.load(P + 127 - i))
)";
  Buffer<int32_t> x(128), y(128), z(128);
  ASSERT_EQ(runSource(source, GetParam(), {{"P", "*i32", x}, {"Q", "*i32", y}, {"n", "i32", 100}}),
            "");
  ASSERT_EQ(runSource(source, GetParam(), {{"P", "*i32", z}, {"Q", "*i32", z}, {"n", "i32", 100}}),
            "");
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(x[size_t(i)], 100 + i);
    EXPECT_EQ(y[size_t(i)], 227 - i);
    EXPECT_EQ(z[size_t(i)], 227 - i);
  }
}

TEST_P(ProgramOrder, TransposesInPlace) {
  const char *source = R"(
@triton.jit
def kernel(P, Q, s0, s1, t0, t1):
    i = tl.arange(0, 32)[:, None]
    j = tl.arange(0, 32)[None, :]
    tl.store(Q + i * t0 + j * t1, tl.load(P + i * s0 + j * s1))
)";
  Buffer<int32_t> x = counted(1024);
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"P", "*i32", x},
                       {"Q", "*i32", x},
                       {"s0", "i32", 32},
                       {"s1", "i32:1", 1},
                       {"t0", "i32:1", 1},
                       {"t1", "i32", 32}}),
            "");
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j)
      ASSERT_EQ(x[size_t(j * 32 + i)], i * 32 + j);
}

/// Halves turned by factors that all rows share, in place, n of 64 columns. The factors may be in
/// the very array that is turned.
TEST_P(ProgramOrder, FactorsFromTheArrayThatIsOverwritten) {
  const char *source = R"(
@triton.jit
def kernel(p, factors, n):
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, 64)[None, :]
    factor = tl.load(factors + j, j < n)
    at = p + i * 128 + j
    left = tl.load(at, j < n)
    right = tl.load(at + 64, j < n)
    tl.store(at, left * factor - right, j < n)
    tl.store(at + 64, right * factor + left, j < n)
)";
  for (bool same : {false, true}) {
    Buffer<int32_t> x = counted(8 * 128, 3), apart = counted(64, 3);
    ASSERT_EQ(
        runSource(source, GetParam(),
                  {{"p", "*i32", x}, {"factors", "*i32", same ? x : apart}, {"n", "i32", 61}}),
        "");
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 64; ++j) {
        int left = i * 128 + j + 3, right = left + 64, factor = j + 3;
        const int32_t *row = &x[size_t(i) * 128];
        ASSERT_EQ(row[j], j < 61 ? left * factor - right : left) << same << " " << i << " " << j;
        ASSERT_EQ(row[j + 64], j < 61 ? right * factor + left : right) << same;
      }
  }
}

/// In a loop, with what an iteration reads from the array that those before it may have written.
TEST_P(ProgramOrder, LoopsOverOneArrayOrTwo) {
  const char *source = R"(
@triton.jit
def kernel(p, q, n):
    i = tl.arange(0, 128)
    for start in range(0, n, 128):
        mask = start + i < n
        x = tl.load(p + n - 1 - start - i, mask)
        tl.store(q + start + i, x * 2 + 1, mask)
)";
  for (bool same : {false, true}) {
    constexpr int n = 601;
    Buffer<int32_t> x = counted(n), apart(n), &out = same ? x : apart;
    std::vector<int32_t> expected(out.data(), out.data() + n);
    for (int start = 0; start < n; start += 128) {
      // All of an iteration's loads come before its stores.
      std::vector<int32_t> from = same ? expected : std::vector<int32_t>(x.data(), x.data() + n);
      for (int k = start; k < std::min(start + 128, n); ++k)
        expected[size_t(k)] = from[size_t(n - 1 - k)] * 2 + 1;
    }
    ASSERT_EQ(
        runSource(source, GetParam(), {{"p", "*i32", x}, {"q", "*i32", out}, {"n", "i32", n}}), "");
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(out[size_t(k)], expected[size_t(k)]) << same << " " << k;
  }
}

TEST_P(ProgramOrder, PointersThatMeet) {
  // All lanes read one element and write it; neighbours shift; a gather with repeated indices.
  Buffer<int32_t> x(1, 5), shifted = counted(129), gathered = counted(64), index(128);
  for (size_t i = 0; i < 128; ++i)
    index[i] = int32_t(i % 64);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, g, index, zero):
    i = tl.arange(0, 128)
    same = p + i * zero
    tl.store(same, tl.load(same) + 1)
    tl.store(q + i, tl.load(q + i + 1))
    at = g + tl.load(index + i)
    tl.store(at, tl.load(at) + 1)
)",
                      GetParam(),
                      {{"p", "*i32", x},
                       {"q", "*i32", shifted},
                       {"g", "*i32", gathered},
                       {"index", "*i32", index},
                       {"zero", "i32", 0}}),
            "");
  EXPECT_EQ(x[0], 6);
  for (int i = 0; i < 129; ++i)
    EXPECT_EQ(shifted[size_t(i)], std::min(i + 1, 128));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(gathered[size_t(i)], i + 1);
}

TEST_P(ProgramOrder, IterationsFollowEachOther) {
  // What one iteration stores another thread loads in the next; then iterations that are apart.
  Buffer<int32_t> x = counted(256), y = counted(1024), z = counted(256);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, r, trips, stride):
    i = tl.arange(0, 256)
    for _ in range(trips):
        tl.store(p + i, tl.load(p + (i + 1) % 256) + 1)
    for start in range(0, 1024, 256):
        x = tl.load(q + start + i)
        tl.store(q + start + i, x * 2)
    here = r + i
    for _ in range(trips):
        tl.store(here, tl.load(r + 255 - i) + 1)
        here += stride
)",
                      GetParam(),
                      {{"p", "*i32", x},
                       {"q", "*i32", y},
                       {"r", "*i32", z},
                       {"trips", "i32", 5},
                       {"stride", "i32", 0}}),
            "");
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(x[size_t(i)], (i + 5) % 256 + 5);
    EXPECT_EQ(z[size_t(i)], 255 - i + 5);
  }
  for (int i = 0; i < 1024; ++i)
    EXPECT_EQ(y[size_t(i)], 2 * i);
}

/// The bias is read from the matrix that the product then overwrites.
TEST_P(ProgramOrder, BiasFromTheMatrixThatIsOverwritten) {
  for (const char *offsets : {"i[:, None] * 64", "j[None, :]"}) {
    Buffer<float> x(64 * 64), y(64 * 64), z(64 * 64);
    for (int i = 0; i < 64 * 64; ++i) {
      x[size_t(i)] = float(i % 7 - 3);
      y[size_t(i)] = float(i % 5 - 2);
      z[size_t(i)] = float(i % 11);
    }
    std::vector<float> before(z.data(), z.data() + 64 * 64);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(X, Y, Z):
    i = tl.arange(0, 64)
    j = tl.arange(0, 64)
    x = tl.load(X + i[:, None] * 64 + j[None, :])
    y = tl.load(Y + i[:, None] * 64 + j[None, :])
    z = tl.dot(x, y)
    z += tl.load(Z + )" + std::string(offsets) +
                            R"()
    tl.store(Z + i[:, None] * 64 + j[None, :], z)
)",
                        GetParam(), {{"X", "*fp32", x}, {"Y", "*fp32", y}, {"Z", "*fp32", z}}),
              "");
    bool byRow = offsets[0] == 'i';
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        float sum = before[size_t(byRow ? i * 64 : j)];
        for (int k = 0; k < 64; ++k)
          sum += x[size_t(i * 64 + k)] * y[size_t(k * 64 + j)];
        ASSERT_EQ(z[size_t(i * 64 + j)], sum) << i << " " << j;
      }
  }
}

TEST_P(ProgramOrder, AtomicsBetweenLoadsAndStores) {
  Buffer<int32_t> x = counted(128), y(128), old(128), count({0, 0});
  ASSERT_EQ(
      runSource(
          R"(
@triton.jit
def kernel(p, q, old, count):
    i = tl.arange(0, 128)
    back = 127 - i
    tl.store(p + i, i * 3)
    tl.store(old + i, tl.atomic_add(p + back, 1, sem='relaxed'))
    tl.atomic_max(p + i, 60, sem='relaxed')
    tl.store(q + back, tl.load(p + back))
    tl.store(count, 4)
    tl.atomic_add(count, 1, sem='relaxed')
    tl.store(count + 1, tl.load(count) + tl.sum(tl.load(p + i), 0))
)",
          GetParam(),
          {{"p", "*i32", x}, {"q", "*i32", y}, {"old", "*i32", old}, {"count", "*i32", count}}),
      "");
  int sum = 0;
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(old[size_t(i)], 3 * (127 - i));
    EXPECT_EQ(x[size_t(i)], std::max(3 * i + 1, 60));
    EXPECT_EQ(y[size_t(i)], x[size_t(i)]);
    sum += x[size_t(i)];
  }
  EXPECT_EQ(count[0], 5);
  EXPECT_EQ(count[1], 5 + sum);
}

/// Tiles of more elements than threads have registers go slice by slice.
TEST_P(ProgramOrder, SlicesOfLargeTiles) {
  const size_t n = 1 << 16;
  Buffer<int32_t> x = counted(n), y = counted(n), z = counted(n), total(1);
  ASSERT_EQ(
      runSource(R"(
@triton.jit
def kernel(p, q, r, total, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(p + i, tl.load(p + n - 1 - i) + 1)
    # One array as two arguments.
    tl.store(r + i, tl.load(q + n - 1 - i) + 1)
    tl.store(total, tl.sum(tl.load(p + i) & 1, 0))
)",
                GetParam(),
                {{"p", "*i32", x}, {"q", "*i32", y}, {"r", "*i32", y}, {"total", "*i32", total}},
                {{"n", int(n)}}),
      "");
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(x[i], int32_t(n - i));
    ASSERT_EQ(y[i], int32_t(n - i));
  }
  EXPECT_EQ(total[0], int32_t(n / 2));
}

/// Others change what a volatile load reads: all threads of an instance must see the same.
TEST_P(ProgramOrder, SpinLoopsOnWhatOthersChange) {
  Buffer<int32_t> flags(9), values(8 * 64), out(8);
  SourceOptions options;
  options.grid = {8, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(flags, values, out):
    pid = tl.program_id(0)
    i = tl.arange(0, 64)
    waited = 0
    while tl.load(flags + pid, volatile=True) < pid:
        waited += tl.sum(tl.load(values + pid * 64 + i), 0)
    # A tile that all warps hold, and a load with a mask.
    few = tl.load(flags + tl.arange(0, 2) * 0 + pid, mask=tl.arange(0, 2) < 2, other=0, volatile=True)
    tl.store(values + pid * 64 + i, i + tl.sum(few, 0))
    tl.store(out + pid, tl.sum(tl.load(values + pid * 64 + 63 - i), 0) + 0 * waited)
    tl.atomic_xchg(flags + pid + 1, pid + 1)
)",
                      GetParam(),
                      {{"flags", "*i32", flags}, {"values", "*i32", values}, {"out", "*i32", out}},
                      {}, options),
            "");
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(out[size_t(i)], 63 * 32 + 64 * 2 * i);
}

TEST_P(ProgramOrder, ReturnsAndReductions) {
  Buffer<int32_t> x = counted(256), y(4, -1);
  SourceOptions options;
  options.grid = {4, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    pid = tl.program_id(0)
    i = tl.arange(0, 64)
    x = tl.load(p + pid * 64 + i)
    if tl.max(x, 0) < 100:
        return
    tl.store(p + pid * 64 + 63 - i, x)
    if tl.load(p + pid * 64) > 200:
        tl.store(q + pid, tl.sum(x, 0))
        return
    tl.store(q + pid, tl.load(p + pid * 64))
)",
                      GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}}, {}, options),
            "");
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], 127);
  EXPECT_EQ(y[2], 191);
  EXPECT_EQ(y[3], (192 + 255) * 32);
}

/// Rows that may reach into each other, by the stride, and a loop along them: where they do, what a
/// later iteration stores stays. In one iteration all elements of a place are alike.
TEST_P(ProgramOrder, RowsOfAnyStrideInALoopOverColumns) {
  constexpr int rows = 16, columns = 200, block = 64, memory = rows * 230 + 300;
  for (int stride : {0, 1, 24, 64, 199, 200, 201, 230}) {
    Buffer<int32_t> out(memory, -1);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(y, rows, columns, stride, R: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, R)
    for start in range(0, columns, B):
        c = start + tl.arange(0, B)
        mask = (r < rows)[:, None] & (c < columns)[None, :]
        tl.store(y + r[:, None] * stride + c[None, :], start + 0 * (r[:, None] + c[None, :]), mask=mask)
)",
                        GetParam(),
                        {{"y", "*i32", out},
                         {"rows", "i32", rows - 1},
                         {"columns", "i32", columns},
                         {"stride", "i32", stride}},
                        {{"R", rows}, {"B", block}}),
              "");
    std::vector<int32_t> expected(memory, -1);
    for (int start = 0; start < columns; start += block)
      for (int r = 0; r < rows - 1; ++r)
        for (int c = start; c < std::min(start + block, columns); ++c)
          expected[size_t(r * stride + c)] = start;
    for (size_t i = 0; i < memory; ++i)
      ASSERT_EQ(out[i], expected[i]) << "stride " << stride << ", at " << i;
  }
}

/// Rows that lie one behind the other, loaded and stored a place further, also in one array.
TEST_P(ProgramOrder, RowsOfTheirOwnLength) {
  constexpr int rows = 16, block = 64;
  for (int columns : {200, 256})
    for (bool isInPlace : {false, true}) {
      Buffer<int32_t> x = counted(size_t(rows * columns)), out(size_t(rows * columns));
      ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y, rows, columns, R: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, R)
    for start in range(0, columns, B):
        c = start + tl.arange(0, B)
        mask = (r < rows)[:, None] & (c < columns)[None, :]
        v = tl.load(x + r[:, None] * columns + c[None, :], mask=mask, other=0)
        tl.store(y + r[:, None] * columns + c[None, :], v * 2 + start, mask=mask)
        # Another thread's.
        w = tl.load(y + (R - 1 - r)[:, None] * columns + c[None, :], mask=((R - 1 - r) < rows)[:, None] & (c < columns)[None, :], other=0)
        tl.store(y + (R - 1 - r)[:, None] * columns + c[None, :], w + 1, mask=((R - 1 - r) < rows)[:, None] & (c < columns)[None, :])
)",
                          GetParam(),
                          {{"x", "*i32", x},
                           {"y", "*i32", isInPlace ? x : out},
                           {"rows", "i32", rows - 2},
                           {"columns", "i32", columns}},
                          {{"R", rows}, {"B", block}}),
                "");
      const Buffer<int32_t> &result = isInPlace ? x : out;
      for (int i = 0; i < rows * columns; ++i) {
        bool isIn = i < (rows - 2) * columns;
        int start = i % columns / block * block;
        ASSERT_EQ(result[size_t(i)], isIn ? 2 * i + start + 1 : isInPlace ? i : 0) << i;
      }
    }
}

KILN_SOURCE_TESTS_ON_ALL(ProgramOrder);

} // namespace
} // namespace kiln::testing
