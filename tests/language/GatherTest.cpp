// tl.gather and tl.histogram against loops.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.gather tl.histogram tl.exp");

class Gather : public SourceTest {};

const char *const gatherSource = R"(
@triton.jit
def kernel(p, i, q, R: tl.constexpr, C: tl.constexpr, RI: tl.constexpr, CI: tl.constexpr,
           AXIS: tl.constexpr):
    x = tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    places = tl.arange(0, RI)[:, None] * CI + tl.arange(0, CI)[None, :]
    y = tl.gather(x, tl.load(i + places), AXIS)
    tl.store(q + places, y)
)";

/// Gathers from rows x columns elements, `count` of them along the axis.
template <typename T, typename I>
void checkGather(const char *target, const std::string &type, const std::string &indexType,
                 int rows, int columns, int axis, int count) {
  int extent = axis == 0 ? rows : columns;
  int resultRows = axis == 0 ? count : rows, resultColumns = axis == 0 ? columns : count;
  Buffer<T> x(rows * columns), y(resultRows * resultColumns);
  Buffer<I> index(resultRows * resultColumns);
  Random random(rows + count);
  for (int i = 0; i < rows * columns; ++i)
    x[i] = T(random.below(100));
  for (int i = 0; i < resultRows * resultColumns; ++i)
    index[i] = I(random.below(uint64_t(extent)));
  ASSERT_EQ(
      runSource(
          gatherSource, target, {{"p", type, x}, {"i", indexType, index}, {"q", type, y}},
          {{"R", rows}, {"C", columns}, {"RI", resultRows}, {"CI", resultColumns}, {"AXIS", axis}}),
      "");
  for (int r = 0; r < resultRows; ++r)
    for (int c = 0; c < resultColumns; ++c) {
      int place = r * resultColumns + c, at = int(index[place]);
      ASSERT_EQ(y[place], axis == 0 ? x[at * columns + c] : x[r * columns + at])
          << "axis " << axis << " at " << r << ", " << c;
    }
}

TEST_P(Gather, AlongEitherAxis) {
  checkGather<float, int32_t>(GetParam(), "*fp32", "*i32", 16, 32, 0, 16);
  checkGather<float, int32_t>(GetParam(), "*fp32", "*i32", 16, 32, 1, 32);
  checkGather<float, int64_t>(GetParam(), "*fp32", "*i64", 8, 64, 1, 16);
  checkGather<int8_t, int8_t>(GetParam(), "*i8", "*i8", 4, 64, 1, 128);
  checkGather<int64_t, uint8_t>(GetParam(), "*i64", "*u8", 256, 4, 0, 8);
  checkGather<double, int16_t>(GetParam(), "*fp64", "*i16", 2, 2, 0, 1);
}

TEST_P(Gather, OfAnyExtents) {
  checkGather<float, int32_t>(GetParam(), "*fp32", "*i32", 12, 20, 1, 20);
  checkGather<int16_t, int32_t>(GetParam(), "*i16", "*i32", 12, 20, 0, 5);
  checkGather<int64_t, int64_t>(GetParam(), "*i64", "*i64", 3, 64, 1, 33);
  checkGather<float, int8_t>(GetParam(), "*fp32", "*i8", 16, 7, 0, 24);
}

TEST_P(Gather, OfWhatIsComputed) {
  // The source has two users and a mask in it; indices run backwards.
  const char *source = R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 128)
    x = tl.exp(tl.load(p + i, mask=i < 100, other=0.0))
    flags = x > 1.5
    y = tl.gather(x, 127 - i, 0) + x
    tl.store(q + i, tl.where(tl.gather(flags, i ^ 1, 0), y, -y))
)";
  Buffer<float> x(128), y(128);
  for (int i = 0; i < 128; ++i)
    x[i] = float(i) / 100;
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}}), "");
  auto value = [&](int i) { return i < 100 ? std::exp(double(x[i])) : 1.0; };
  for (int i = 0; i < 128; ++i) {
    double sum = value(127 - i) + value(i);
    ASSERT_NEAR(y[i], value(i ^ 1) > 1.5 ? sum : -sum, 1e-5) << i;
  }
}

const char *const histogramSource = R"(
@triton.jit
def kernel(p, q, N: tl.constexpr, BINS: tl.constexpr, LIMIT: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    if LIMIT is None:
        h = tl.histogram(x, BINS)
    else:
        h = tl.histogram(x, BINS, mask=i < LIMIT)
    tl.store(q + tl.arange(0, BINS), h)
)";

template <typename T>
void checkHistogram(const char *target, const std::string &type, int count, int bins, int limit) {
  Buffer<T> x(count);
  Buffer<int32_t> counts(bins);
  Random random(count + bins);
  std::vector<int32_t> expected(bins);
  for (int i = 0; i < count; ++i) {
    // Some lie outside of the bins, of 64-bit numbers only by their upper half.
    x[i] = T(T(random.below(uint64_t(bins) + 4)) - T(2));
    if (sizeof(T) == 8 && i % 5 == 0)
      x[i] = T(uint64_t(x[i]) | (uint64_t(1) << 40));
    bool isCounted = (limit < 0 || i < limit) && x[i] >= T(0) && uint64_t(x[i]) < uint64_t(bins);
    if (isCounted)
      ++expected[size_t(x[i])];
  }
  ASSERT_EQ(runSource(histogramSource, target, {{"p", type, x}, {"q", "*i32", counts}},
                      {{"N", count},
                       {"BINS", bins},
                       {"LIMIT", limit < 0 ? Literal::none() : Literal::ofInt(limit)}}),
            "");
  for (int bin = 0; bin < bins; ++bin)
    ASSERT_EQ(counts[bin], expected[bin]) << bin;
}

TEST_P(Gather, HistogramOfAnyExtents) {
  checkHistogram<int32_t>(GetParam(), "*i32", 100, 16, -1);
  checkHistogram<int32_t>(GetParam(), "*i32", 7, 3, 5);
  checkHistogram<int32_t>(GetParam(), "*i32", 3000, 24, -1);
  checkHistogram<int32_t>(GetParam(), "*i32", 3000, 24, 2900);
}

TEST_P(Gather, Histogram) {
  checkHistogram<int32_t>(GetParam(), "*i32", 256, 16, -1);
  checkHistogram<int64_t>(GetParam(), "*i64", 64, 2, 40);
  checkHistogram<uint8_t>(GetParam(), "*u8", 512, 256, -1);
  checkHistogram<int8_t>(GetParam(), "*i8", 128, 32, -1);
  checkHistogram<uint64_t>(GetParam(), "*u64", 64, 8, -1);
  checkHistogram<int32_t>(GetParam(), "*i32", 1024, 64, 1000);
  checkHistogram<int32_t>(GetParam(), "*i32", 4096, 2048, -1);
}

// No load says which thread has which of these numbers.
TEST_P(Gather, HistogramOfComputedNumbers) {
  for (auto [count, bins] : {std::pair(2, 1), std::pair(64, 4), std::pair(1024, 16)}) {
    Buffer<int32_t> counts(bins);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(q, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(q + tl.arange(0, BINS), tl.histogram(tl.arange(0, N) % BINS, BINS))
)",
                        GetParam(), {{"q", "*i32", counts}}, {{"N", count}, {"BINS", bins}}),
              "");
    for (int bin = 0; bin < bins; ++bin)
      ASSERT_EQ(counts[bin], count / bins) << bin;
  }
}

KILN_SOURCE_TESTS_ON_ALL(Gather);

} // namespace
} // namespace kiln::testing
