// Short loops without products, of any length: several iterations of one are made one where that
// is faster, and what iterations hand each other, be it in registers or in memory, is the same. All
// numbers are exact.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class StreamingLoop : public SourceTest {};

constexpr int width = 64, rowsAtMost = 24;

const char *const source = R"(
@triton.jit
def kernel(x, y, totals, first, last, step, columns, N: tl.constexpr):
    i = tl.arange(0, N)
    inside = i < columns
    total = tl.zeros((N,), tl.int32)
    for k in range(first, last, step):
        value = tl.load(x + k * N + i, mask=inside, other=1)
        total = total * 3 + value
        tl.store(y + (k + 1) * N + i, total - tl.sum(value, 0), mask=inside)
    tl.store(totals + i, total)
)";

struct Range {
  int first, last, step;
};

/// What the kernel computes, of rows that it writes over where `y` is `x`.
struct Expected {
  std::vector<int32_t> y, totals = std::vector<int32_t>(width);

  Expected(std::vector<int32_t> x, std::vector<int32_t> before, bool isInPlace, Range range,
           int columns)
      : y(std::move(before)) {
    std::vector<int32_t> &read = isInPlace ? y : x;
    for (int k = range.first; k < range.last; k += range.step) {
      std::vector<uint32_t> row(width, 1);
      uint32_t sum = 0;
      for (int i = 0; i < width; ++i) {
        if (i < columns)
          row[i] = uint32_t(read[k * width + i]);
        sum += row[i];
        totals[i] = int32_t(uint32_t(totals[i]) * 3 + row[i]);
      }
      for (int i = 0; i < columns; ++i)
        y[(k + 1) * width + i] = int32_t(uint32_t(totals[i]) - sum);
    }
  }
};

std::vector<int32_t> numbers(uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> numbers(size_t(rowsAtMost) * width);
  for (int32_t &number : numbers)
    number = int32_t(random.below(1u << 31));
  return numbers;
}

std::vector<SourceArgument> arguments(Buffer<int32_t> &x, Buffer<int32_t> &y,
                                      Buffer<int32_t> &totals, Range range, int columns) {
  return {{"x", "*i32:16", x},           {"y", "*i32:16", y},         {"totals", "*i32:16", totals},
          {"first", "i32", range.first}, {"last", "i32", range.last}, {"step", "i32", range.step},
          {"columns", "i32", columns}};
}

/// The kernel's error, or "" or what is wrong.
std::string run(SourceKernel &kernel, Range range, int columns, bool isInPlace) {
  Buffer<int32_t> x(numbers(1)), other(numbers(2)), totals(width);
  Buffer<int32_t> &y = isInPlace ? x : other;
  Expected expected(numbers(1), numbers(isInPlace ? 1 : 2), isInPlace, range, columns);
  if (std::string error = kernel.run(arguments(x, y, totals, range, columns), {1, 1, 1});
      !error.empty())
    return error;
  for (size_t i = 0; i < y.count(); ++i)
    if (y[i] != expected.y[i])
      return "y " + std::to_string(i);
  for (size_t i = 0; i < totals.count(); ++i)
    if (totals[i] != expected.totals[i])
      return "total " + std::to_string(i);
  return "";
}

TEST_P(StreamingLoop, OfAnyLength) {
  for (unsigned warps : {1u, 2u}) {
    SourceOptions options;
    options.numWarps = warps;
    Buffer<int32_t> none(8);
    SourceKernel kernel(source, GetParam(), arguments(none, none, none, {0, 0, 1}, 0),
                        {{"N", width}}, options);
    ASSERT_EQ(kernel.errors(), "");
    for (Range range : {Range{0, 0, 1},
                        {0, 1, 1},
                        {0, 2, 1},
                        {0, 3, 1},
                        {2, 23, 1},
                        {7, 3, 1},
                        {3, 20, 4},
                        {0, 22, 11},
                        {5, 6, 100}})
      for (int columns : {width, 37})
        for (bool isInPlace : {false, true})
          EXPECT_EQ(run(kernel, range, columns, isInPlace), "")
              << range.first << " to " << range.last << " by " << range.step << ", " << columns
              << " columns, " << warps << " warps, " << (isInPlace ? "in place" : "apart");
  }
}

constexpr int block = 32, most = 5 * block;

/// Elements count where they are, and the last block is stored elsewhere; where elements are
/// `stride` apart, there as well.
const char *const inBlocks = R"(
@triton.jit
def kernel(x, y, last, totals, n, stride, N: tl.constexpr, COUNTS: tl.constexpr, LOADS_AHEAD: tl.constexpr,
           IS_STRIDED: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    end = tl.cdiv(n, N) if COUNTS else n
    step = 1 if COUNTS else N
    for k in tl.range(0, end, step, num_stages=2 if LOADS_AHEAD else 1):
        at = k * N + i if COUNTS else k + i
        inside = at < n
        place = at * stride if IS_STRIDED else at
        value = tl.load(x + place, mask=inside, other=7)
        total = total * 3 + tl.where(inside, value - 2, 11)
        result = total + tl.sum(value, 0)
        if k + step < end:
            tl.store(y + place, result, mask=inside)
        else:
            tl.store(last + i, result, mask=inside)
            if IS_STRIDED:
                tl.store(y + place, result, mask=inside)
    tl.store(totals + i, total)
)";

/// The kernel's error, or "" or what is wrong.
std::string runInBlocks(SourceKernel &kernel, int n, int stride) {
  std::vector<int32_t> given = numbers(3), y(size_t(most) * 3, -1), last(block, -1), totals(block);
  for (int k = 0; k < n; k += block) {
    uint32_t sum = 0;
    auto value = [&](int i) { return k + i < n ? uint32_t(given[(k + i) * stride]) : 7u; };
    for (int i = 0; i < block; ++i)
      sum += value(i);
    for (int i = 0; i < block; ++i) {
      totals[i] = int32_t(uint32_t(totals[i]) * 3 + (k + i < n ? value(i) - 2 : 11u));
      int32_t result = int32_t(uint32_t(totals[i]) + sum);
      if (k + i < n && k + block >= n)
        last[i] = result;
      if (k + i < n && (k + block < n || stride > 1))
        y[(k + i) * stride] = result;
    }
  }
  given.resize(y.size());
  Buffer<int32_t> x(given), ys(std::vector<int32_t>(y.size(), -1)),
      lasts(std::vector<int32_t>(block, -1)), sums(block);
  if (std::string error = kernel.run({{"x", "*i32:16", x},
                                      {"y", "*i32:16", ys},
                                      {"last", "*i32:16", lasts},
                                      {"totals", "*i32:16", sums},
                                      {"n", "i32", n},
                                      {"stride", "i32", stride}},
                                     {1, 1, 1});
      !error.empty())
    return error;
  auto isAs = [](Buffer<int32_t> &found, const std::vector<int32_t> &expected) {
    for (size_t i = 0; i < expected.size(); ++i)
      if (found[i] != expected[i])
        return false;
    return true;
  };
  return !isAs(ys, y) ? "y" : !isAs(lasts, last) ? "last" : !isAs(sums, totals) ? "totals" : "";
}

struct Blocks {
  bool counts, loadsAhead;
  int stride;
  bool isSmall;
};

void runOfAnyLength(const std::string &target, Blocks blocks) {
  SourceOptions options;
  options.smallArrays = blocks.isSmall;
  Buffer<int32_t> none(8);
  SourceKernel kernel(inBlocks, target,
                      {{"x", "*i32:16", none},
                       {"y", "*i32:16", none},
                       {"last", "*i32:16", none},
                       {"totals", "*i32:16", none},
                       {"n", "i32", 0},
                       {"stride", "i32", 0}},
                      {{"N", block},
                       {"COUNTS", blocks.counts},
                       {"LOADS_AHEAD", blocks.loadsAhead},
                       {"IS_STRIDED", blocks.stride > 1}},
                      options);
  ASSERT_EQ(kernel.errors(), "");
  for (int n : {-40, 0, 1, 31, 32, 33, 64, 95, 97, 128, 159, 160})
    EXPECT_EQ(runInBlocks(kernel, n, blocks.stride), "")
        << n << (blocks.counts ? ", by numbers of blocks" : "")
        << (blocks.loadsAhead ? ", ahead" : "") << ", stride " << blocks.stride
        << (blocks.isSmall ? ", small arrays" : "");
}

/// Masks that only the last iteration has to ask for.
TEST_P(StreamingLoop, OfBlocksThatABoundDivides) {
  for (bool counts : {false, true})
    for (bool loadsAhead : {false, true})
      for (int stride : {1, 3})
        for (bool isSmall : {false, true})
          runOfAnyLength(GetParam(), {counts, loadsAhead, stride, isSmall});
}

KILN_SOURCE_TESTS_ON_ALL(StreamingLoop);

} // namespace
} // namespace kiln::testing
