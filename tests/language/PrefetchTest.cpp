// Loops that may load what their next iteration reads before they store: all is in program order,
// be it in other arrays, in place, or through arguments that happen to be equal.

#include "tests/language/SourceKernel.h"

#include <algorithm>
#include <limits>

namespace kiln::testing {
namespace {

class Prefetch : public SourceTest {};

constexpr int extent = 256;

std::vector<int32_t> numbers(int count, uint64_t seed) {
  std::vector<int32_t> x(size_t(std::max(1, count)));
  Random random(seed);
  std::generate(x.begin(), x.end(), [&] { return int32_t(random.below(2001)) - 1000; });
  return x;
}

void expectEqual(const Buffer<int32_t> &found, const std::vector<int32_t> &expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(found[i], expected[i]) << i;
}

const char *const rowsSource = R"(
@triton.jit
def kernel(q, p, w, rows, n, N: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, N)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(p + row * n + i, mask=i < n, other=-5000) + tl.load(w + row)
        tl.store(q + row * n + i, x - tl.max(x, 0) // 2, mask=i < n)
)";

/// What rowsSource does, instance by instance.
void transformRows(int32_t *q, const int32_t *p, const int32_t *w, int rows, int n, int programs) {
  for (int program = 0; program < programs; ++program)
    for (int row = program; row < rows; row += programs) {
      std::vector<int32_t> x(p + row * n, p + (row + 1) * n);
      for (int32_t &element : x)
        element += w[row];
      int32_t largest = *std::max_element(x.begin(), x.end());
      for (int i = 0; i < n; ++i)
        q[row * n + i] = x[i] - largest / 2;
    }
}

struct Rows {
  int rows, n, stages;
};

TEST_P(Prefetch, RowsOfPersistentPrograms) {
  for (Rows shape : {Rows{0, 200, 3}, {1, extent, 3}, {2, 201, 1}, {7, extent, 3}, {7, 201, 4}}) {
    SCOPED_TRACE(std::to_string(shape.rows) + " rows of " + std::to_string(shape.n));
    std::vector<int32_t> x = numbers(shape.rows * shape.n, 1), y(x.size());
    Buffer<int32_t> p(x), q(x.size()), w(numbers(shape.rows, 2));
    SourceOptions options;
    options.grid = {2, 1, 1};
    ASSERT_EQ(runSource(rowsSource, GetParam(),
                        {{"q", "*i32", q},
                         {"p", "*i32", p},
                         {"w", "*i32", w},
                         {"rows", "i32", shape.rows},
                         {"n", "i32", shape.n}},
                        {{"N", extent}, {"STAGES", shape.stages}}, options),
              "");
    transformRows(y.data(), x.data(), w.data(), shape.rows, shape.n, 2);
    expectEqual(q, y);
  }
}

TEST_P(Prefetch, ArgumentsThatAreEqual) {
  constexpr int rows = 9, n = 203;
  for (bool inPlace : {true, false}) {
    // Later rows' numbers stand in the first row of what is stored.
    std::vector<int32_t> x = numbers(rows * n, 3), y = inPlace ? x : numbers(rows * n, 4);
    Buffer<int32_t> p(x), q(y);
    const Buffer<int32_t> &source = inPlace ? q : p;
    ASSERT_EQ(runSource(rowsSource, GetParam(),
                        {{"q", "*i32", q},
                         {"p", "*i32", source},
                         {"w", "*i32", q},
                         {"rows", "i32", rows},
                         {"n", "i32", n}},
                        {{"N", extent}, {"STAGES", 3}}),
              "");
    transformRows(y.data(), inPlace ? y.data() : x.data(), y.data(), rows, n, 1);
    expectEqual(q, y);
  }
}

const char *const recurrenceSource = R"(
@triton.jit
def kernel(p, n, AHEAD: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in tl.range(4, n + 4, num_stages=3):
        x = tl.load(p + k * N + i)
        tl.store(p + (k + AHEAD) * N + i, x + tl.max(x, 0) % 7)
)";

TEST_P(Prefetch, WhatAnIterationBeforeHasStored) {
  for (int ahead : {-3, 0, 1, 2}) {
    constexpr int iterations = 6;
    std::vector<int32_t> x = numbers((iterations + 8) * extent, ahead + 9);
    for (int32_t &element : x)
      element = std::abs(element);
    Buffer<int32_t> p(x);
    ASSERT_EQ(runSource(recurrenceSource, GetParam(), {{"p", "*i32", p}, {"n", "i32", iterations}},
                        {{"AHEAD", ahead}, {"N", extent}}),
              "");
    for (int k = 4; k < iterations + 4; ++k) {
      std::vector<int32_t> row(x.begin() + k * extent, x.begin() + (k + 1) * extent);
      int32_t rest = *std::max_element(row.begin(), row.end()) % 7;
      for (int i = 0; i < extent; ++i)
        x[(k + ahead) * extent + i] = row[i] + rest;
    }
    expectEqual(p, x);
  }
}

const char *const aheadSource = R"(
@triton.jit
def kernel(q, p, start, end, step, N: tl.constexpr, STEP: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros([N], tl.int32)
    for k in tl.range(start, end, STEP if STEP > 0 else step, num_stages=STAGES):
        at = (k - start) // step
        x = tl.load(p + at * N + i)
        y = tl.load(p + at * N + i, mask=i % 3 != at % 3, other=-7)
        total = total % 1000 * 3 + x - y + tl.max(x, 0)
        tl.store(q + at * N + i, total)
)";

/// As many iterations as there are ahead, some more, fewer and none, up to the end of the numbers.
TEST_P(Prefetch, IterationsAhead) {
  constexpr int most = std::numeric_limits<int>::max();
  for (int stages : {3, 4, 6})
    for (int iterations : {0, 1, 2, 3, 4, 5, 7, 9})
      for (bool isConstant : {false, true}) {
        SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(iterations));
        int step = 3, start = most - 1 - 3 * iterations;
        std::vector<int32_t> x = numbers(iterations * extent, 11), y(x.size()), total(extent);
        Buffer<int32_t> p(x), q(y);
        ASSERT_EQ(runSource(aheadSource, GetParam(),
                            {{"q", "*i32", q},
                             {"p", "*i32", p},
                             {"start", "i32", start},
                             {"end", "i32", most - 1},
                             {"step", "i32", step}},
                            {{"N", extent}, {"STEP", isConstant ? step : 0}, {"STAGES", stages}}),
                  "");
        for (int k = 0; k < iterations; ++k) {
          auto row = x.begin() + k * extent;
          int32_t largest = *std::max_element(row, row + extent);
          for (int i = 0; i < extent; ++i) {
            int32_t other = i % 3 != k % 3 ? row[i] : -7;
            total[i] = total[i] % 1000 * 3 + row[i] - other + largest;
            y[k * extent + i] = total[i];
          }
        }
        expectEqual(q, y);
      }
}

const char *const togetherSource = R"(
@triton.jit
def kernel(q, p, start, end, step, N: tl.constexpr, STEP: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros([N], tl.int32)
    for k in range(start, end, STEP if STEP > 0 else step):
        at = (k - start) // step
        x = tl.load(p + at * N + i)
        y = tl.load(p + at * N + i, mask=i % 3 != at % 3, other=-7)
        total = total % 1000 * 3 + x - y
    tl.store(q + i, total)
)";

/// Iterations of a loop that only reads, whose loads begin together: whole groups of four, what is
/// left of one, and none.
TEST_P(Prefetch, LoadsTogether) {
  constexpr int most = std::numeric_limits<int>::max();
  for (int iterations : {0, 1, 2, 3, 4, 5, 6, 7, 8, 11})
    for (bool isConstant : {false, true}) {
      SCOPED_TRACE(iterations);
      int step = 3, start = most - 1 - 3 * iterations;
      std::vector<int32_t> x = numbers(iterations * extent, 12), total(extent);
      Buffer<int32_t> p(x), q(total);
      ASSERT_EQ(runSource(togetherSource, GetParam(),
                          {{"q", "*i32", q},
                           {"p", "*i32", p},
                           {"start", "i32", start},
                           {"end", "i32", most - 1},
                           {"step", "i32", step}},
                          {{"N", extent}, {"STEP", isConstant ? step : 0}}),
                "");
      for (int k = 0; k < iterations; ++k)
        for (int i = 0; i < extent; ++i) {
          int32_t loaded = x[k * extent + i];
          total[i] = total[i] % 1000 * 3 + loaded - (i % 3 != k % 3 ? loaded : -7);
        }
      expectEqual(q, total);
    }
}

const char *const chainSource = R"(
@triton.jit
def kernel(q, p, table, places, start, end, step, N: tl.constexpr):
    i = tl.arange(0, N)
    rows = p
    total = tl.zeros([N], tl.int32)
    for k in tl.range(start, end, step, num_stages=2):
        place = tl.load(places + (k - start) // step)
        total += tl.load(rows + i) + tl.load(table + place * N + i)
        tl.store(q + i, total)
        total += tl.load(q + i) % 5
        rows += N
    tl.store(q + i, total + tl.sum(tl.load(rows - N + i), 0))
)";

/// Addresses that are carried, that hang on what is loaded, and what this iteration has stored;
/// numbers of iterations near the ends of the range.
TEST_P(Prefetch, AddressesOfAllKinds) {
  constexpr int most = std::numeric_limits<int>::max();
  struct Range {
    int start, end, step;
  };
  for (Range range : {Range{0, 1, 1}, {0, 5, 1}, {most - 9, most - 2, 3}, {-most, -most + 9, 2}}) {
    int iterations = (range.end - range.start + range.step - 1) / range.step;
    std::vector<int32_t> x = numbers(iterations * extent, 5), y(extent), total(extent);
    std::vector<int32_t> table = numbers(4 * extent, 6), places(iterations);
    for (int k = 0; k < iterations; ++k)
      places[k] = (3 * k + 1) % 4;
    Buffer<int32_t> p(x), q(y), t(table), indices(places);
    ASSERT_EQ(runSource(chainSource, GetParam(),
                        {{"q", "*i32", q},
                         {"p", "*i32", p},
                         {"table", "*i32", t},
                         {"places", "*i32", indices},
                         {"start", "i32", range.start},
                         {"end", "i32", range.end},
                         {"step", "i32", range.step}},
                        {{"N", extent}}),
              "");
    for (int k = 0; k < iterations; ++k)
      for (int i = 0; i < extent; ++i) {
        total[i] += x[k * extent + i] + table[places[k] * extent + i];
        total[i] += total[i] % 5;
      }
    int32_t last = 0;
    for (int i = 0; i < extent; ++i)
      last += x[(iterations - 1) * extent + i];
    for (int i = 0; i < extent; ++i)
      ASSERT_EQ(q[i], total[i] + last) << i;
  }
}

const char *const sumsSource = R"(
@triton.jit
def kernel(q, sums, p, r, w, rows, step, n, AHEAD: tl.constexpr, N: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.zeros([N], tl.int32)
    b = tl.zeros([N], tl.int32)
    c = tl.zeros([N], tl.int32)
    for row in tl.range(tl.program_id(0), rows, step, num_stages=STAGES):
        x = tl.load(p + row * N + i, mask=i < n, other=0)
        y = tl.load(r + row * N + i, mask=i < n, other=0)
        z = x * 3 + y + tl.load(w + row) - tl.max(x, 0)
        tl.store(q + (row + AHEAD) * N + i, z, mask=i < n)
        a += x * y
        b = b * 3 + y
        c = c * 5 + z
    sums += tl.program_id(0) * 3 * N + i
    tl.store(sums, a)
    tl.store(sums + N, b)
    tl.store(sums + 2 * N, c)
)";

/// Programs whose sums leave a processor room for one block of sixteen warps: what they load comes
/// through shared memory where there are copies. More rows than stages, fewer and none; arrays
/// that are apart, in place, and of which later rows are what the loop has stored.
TEST_P(Prefetch, RowsBesideLargeSums) {
  constexpr int N = 8192, programs = 2;
  struct Case {
    int rows, n, stages;
    bool isOne;
    int ahead, step = programs;
  };
  for (Case c : {Case{0, N, 3, false, 0}, Case{1, N, 3, false, 0}, Case{9, 8002, 3, false, 0},
                 Case{7, N - 16, 2, false, 0}, Case{5, N, 3, true, 0}, Case{8, 8190, 3, true, 2},
                 Case{2, N, 3, false, 0, 3 << 29}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " rows of " + std::to_string(c.n));
    std::vector<int32_t> x = numbers((c.rows + c.ahead) * N, 11), y = numbers(c.rows * N, 12);
    std::vector<int32_t> w = numbers(c.rows, 13), z = x, sums(size_t(programs) * 3 * N);
    Buffer<int32_t> p(x), q(x), r(y), others(w), found(sums.size());
    SourceOptions options;
    options.grid = {programs, 1, 1};
    options.numWarps = 16;
    ASSERT_EQ(runSource(sumsSource, GetParam(),
                        {{"q", "*i32", q},
                         {"sums", "*i32", found},
                         {"p", "*i32", c.isOne ? q : p},
                         {"r", "*i32", r},
                         {"w", "*i32", others},
                         {"rows", "i32", c.rows},
                         {"step", "i32", c.step},
                         {"n", "i32:2", c.n}},
                        {{"AHEAD", c.ahead}, {"N", N}, {"STAGES", c.stages}}, options),
              "");
    std::vector<int32_t> &read = c.isOne ? z : x;
    for (int row = 0; row < c.rows; ++row) {
      // Of a step over programs: each program has its own rows, and what it stores ahead as well.
      std::vector<int32_t> now(read.begin() + row * N, read.begin() + row * N + c.n);
      int32_t largest =
          std::max(*std::max_element(now.begin(), now.end()), c.n < N ? 0 : INT32_MIN);
      int32_t *of = &sums[size_t(row % programs) * 3 * N];
      for (int i = 0; i < N; ++i) {
        int32_t here = i < c.n ? now[i] : 0, other = i < c.n ? y[row * N + i] : 0;
        int32_t result = here * 3 + other + w[row] - largest;
        if (i < c.n)
          z[(row + c.ahead) * N + i] = result;
        of[i] = int32_t(uint32_t(of[i]) + uint32_t(here * other));
        of[N + i] = int32_t(uint32_t(of[N + i]) * 3 + uint32_t(other));
        of[2 * N + i] = int32_t(uint32_t(of[2 * N + i]) * 5 + uint32_t(result));
      }
    }
    expectEqual(q, z);
    expectEqual(found, sums);
  }
}

KILN_SOURCE_TESTS_ON_ALL(Prefetch);

} // namespace
} // namespace kiln::testing
