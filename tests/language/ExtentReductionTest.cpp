// Reductions and scans along and across axes whose extents are not powers of two, against loops in
// double.

#include "tests/language/SourceKernel.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace kiln::testing {
namespace {

class ExtentReduction : public SourceTest {};

using Values = std::vector<double>;

/// Rows x columns numbers: random multiples of 1/8 of either sign, none below 1/8 in magnitude.
Buffer<float> randomTile(int rows, int columns, uint64_t seed = 7) {
  Random random(seed);
  Buffer<float> values(size_t(rows) * columns);
  for (size_t i = 0; i < values.count(); ++i)
    values[i] = float(int(random.below(80)) + 1) / 8 * (random.below(2) ? 1 : -1);
  return values;
}

/// The elements along `axis` at place `other` of the other one.
Values lineOf(const Buffer<float> &x, int columns, int axis, int other) {
  Values line;
  int rows = int(x.count()) / columns;
  for (int i = 0; i < (axis == 0 ? rows : columns); ++i)
    line.push_back(axis == 0 ? x[i * columns + other] : x[other * columns + i]);
  return line;
}

const char *const helpers = R"(
@triton.jit
def product(a, b):
    return a * b
@triton.jit
def first(a, b):
    return a
@triton.jit
def last(a, b):
    return b
@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d
@triton.jit
def absolute_max(a, b):
    return tl.where(tl.abs(a) >= tl.abs(b), a, b)
)";

struct Reduction {
  std::string expression;
  std::function<double(const Values &)> reference;
};

const Reduction reductions[] = {
    {"tl.sum(x, A)",
     [](const Values &v) {
       double sum = 0;
       for (double e : v)
         sum += e;
       return sum;
     }},
    {"tl.max(x, A)", [](const Values &v) { return *std::max_element(v.begin(), v.end()); }},
    {"tl.min(x, A)", [](const Values &v) { return *std::min_element(v.begin(), v.end()); }},
    {"tl.argmax(x, A).to(tl.float32)",
     [](const Values &v) { return double(std::max_element(v.begin(), v.end()) - v.begin()); }},
    {"tl.argmin(x, A).to(tl.float32)",
     [](const Values &v) { return double(std::min_element(v.begin(), v.end()) - v.begin()); }},
    {"tl.reduce(tl.where(x > 0, 1.125, -0.875), A, product)",
     [](const Values &v) {
       double result = 1;
       for (double e : v)
         result *= e > 0 ? 1.125 : -0.875;
       return result;
     }},
    {"tl.reduce(x, A, first)", [](const Values &v) { return v.front(); }},
    {"tl.reduce(x, A, last)", [](const Values &v) { return v.back(); }},
    {"tl.reduce(x, A, absolute_max)",
     [](const Values &v) {
       double result = v[0];
       for (double e : v)
         result = std::fabs(result) >= std::fabs(e) ? result : e;
       return result;
     }},
    {"tl.reduce((tl.where(x > 0, 0.5, -0.5), x), A, compose)[1]",
     [](const Values &v) {
       double result = 0;
       for (double e : v)
         result = result * (e > 0 ? 0.5 : -0.5) + e;
       return result;
     }},
    {"tl.xor_sum(x.to(tl.int32), A).to(tl.float32)",
     [](const Values &v) {
       int result = 0;
       for (double e : v)
         result ^= int(e);
       return double(result);
     }},
    {"tl.reduce_or((x > 9.5).to(tl.int1), A).to(tl.float32)",
     [](const Values &v) {
       return double(std::any_of(v.begin(), v.end(), [](double e) { return e > 9.5; }));
     }},
};

constexpr std::pair<int, int> tiles[] = {{48, 40}, {5, 100}, {33, 16}, {64, 3}};
constexpr std::pair<int, int> smallTiles[] = {{12, 20}, {5, 40}, {33, 4}, {16, 3}};

TEST_P(ExtentReduction, ReductionsAlongEitherAxis) {
  // All reductions in one kernel; result k of a line is q[k * lines + line].
  for (auto [rows, columns] : tiles)
    for (int axis : {0, 1}) {
      std::string source = std::string(helpers) +
                           "@triton.jit\n"
                           "def kernel(p, q, R: tl.constexpr, C: tl.constexpr, A: tl.constexpr, "
                           "L: tl.constexpr):\n"
                           "    x = tl.load(p + tl.arange(0, R)[:, None] * C + "
                           "tl.arange(0, C)[None, :])\n"
                           "    at = q + tl.arange(0, L)\n";
      for (auto [index, reduction] : llvm::enumerate(reductions))
        source +=
            "    tl.store(at + " + std::to_string(index) + " * L, " + reduction.expression + ")\n";
      int lines = axis == 0 ? columns : rows;
      Buffer<float> x = randomTile(rows, columns), y(std::size(reductions) * lines);
      ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                          {{"R", rows}, {"C", columns}, {"A", axis}, {"L", lines}}),
                "");
      for (auto [index, reduction] : llvm::enumerate(reductions))
        for (int line = 0; line < lines; ++line) {
          double expected = reduction.reference(lineOf(x, columns, axis, line));
          ASSERT_NEAR(y[index * lines + line], expected, 1e-4 * std::max(1.0, std::fabs(expected)))
              << reduction.expression << " of " << rows << "x" << columns << " along " << axis
              << ", line " << line;
        }
    }
}

TEST_P(ExtentReduction, ReductionsOfEverything) {
  const char *source = R"(
@triton.jit
def kernel(p, q, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(q, tl.sum(x))
    tl.store(q + 1, tl.max(x))
    tl.store(q + 2, tl.min(x, keep_dims=True).reshape([1]).item())
    tl.store(q + 3 + tl.arange(0, 1)[:, None], tl.sum(x, keep_dims=True))
)";
  for (auto [rows, columns] : tiles) {
    Buffer<float> x = randomTile(rows, columns), y(4);
    ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                        {{"R", rows}, {"C", columns}}),
              "");
    double sum = 0, greatest = -1e9, least = 1e9;
    for (size_t i = 0; i < x.count(); ++i) {
      sum += x[i];
      greatest = std::max<double>(greatest, x[i]);
      least = std::min<double>(least, x[i]);
    }
    EXPECT_NEAR(y[0], sum, 1e-2);
    EXPECT_EQ(y[1], greatest);
    EXPECT_EQ(y[2], least);
    EXPECT_EQ(y[3], y[0]);
  }
}

TEST_P(ExtentReduction, ValuesThatLookLikePadding) {
  // Rows of infinities and NaN: no neutral element may take their place, no index lie outside.
  const char *source = R"(
@triton.jit
def kernel(p, q, i, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    x = tl.load(p + r[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(q + r, tl.max(x, 1))
    tl.store(q + R + r, tl.min(x, 1))
    tl.store(i + r, tl.argmax(x, 1))
    tl.store(i + R + r, tl.argmin(x, 1))
    tl.store(i + 2 * R + r, tl.argmax(x, 1, tie_break_left=False))
)";
  int rows = 5, columns = 24;
  float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  float fillers[] = {infinity, -infinity, nan, 0, -1};
  Buffer<float> x(rows * columns), y(2 * rows);
  Buffer<int32_t> index(3 * rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      x[r * columns + c] = fillers[r];
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*fp32", x}, {"q", "*fp32", y}, {"i", "*i32", index}},
                      {{"R", rows}, {"C", columns}}),
            "");
  for (int r = 0; r < rows; ++r) {
    for (float value : {y[r], y[rows + r]})
      EXPECT_TRUE(std::isnan(fillers[r]) ? std::isnan(value) : value == fillers[r]) << value;
    if (!std::isnan(fillers[r])) {
      EXPECT_EQ(index[r], 0);
      EXPECT_EQ(index[rows + r], 0);
    }
    EXPECT_LT(index[2 * rows + r], columns);
    EXPECT_GE(index[2 * rows + r], 0);
  }
}

struct Scan {
  std::string expression;
  /// From the value before and the element; the first value is the element.
  std::function<double(double, double)> combine;
};

const Scan scans[] = {
    {"tl.cumsum(x, A, reverse=REV)", [](double a, double b) { return a + b; }},
    {"tl.cumprod(tl.where(x > 0, 1.125, -0.875), A, reverse=REV)", nullptr},
    {"tl.associative_scan(x, A, absolute_max, reverse=REV)",
     [](double a, double b) { return std::fabs(a) >= std::fabs(b) ? a : b; }},
    {"tl.associative_scan(x, A, first, reverse=REV)", [](double a, double) { return a; }},
    {"tl.associative_scan((tl.where(x > 0, 0.5, -0.5), x), A, compose, reverse=REV)[1]",
     [](double a, double b) { return a * (b > 0 ? 0.5 : -0.5) + b; }},
};

TEST_P(ExtentReduction, ScansAlongEitherAxisBothWays) {
  for (auto [rows, columns] : smallTiles)
    for (int axis : {0, 1})
      for (bool reverse : {false, true}) {
        std::string source = std::string(helpers) +
                             "@triton.jit\n"
                             "def kernel(p, q, R: tl.constexpr, C: tl.constexpr, A: tl.constexpr, "
                             "REV: tl.constexpr):\n"
                             "    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]\n"
                             "    x = tl.load(p + i)\n";
        for (auto [index, scan] : llvm::enumerate(scans))
          source += "    tl.store(q + i + " + std::to_string(index) + " * R * C, " +
                    scan.expression + ")\n";
        size_t count = size_t(rows) * columns;
        Buffer<float> x = randomTile(rows, columns), y(std::size(scans) * count);
        ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                            {{"R", rows}, {"C", columns}, {"A", axis}, {"REV", reverse}}),
                  "");
        for (auto [index, scan] : llvm::enumerate(scans)) {
          Buffer<float> result(count);
          std::copy_n(&y[index * count], count, result.data());
          for (int line = 0; line < (axis == 0 ? columns : rows); ++line) {
            Values in = lineOf(x, columns, axis, line), out = lineOf(result, columns, axis, line);
            if (reverse) {
              std::reverse(in.begin(), in.end());
              std::reverse(out.begin(), out.end());
            }
            double running = 0;
            for (size_t i = 0; i < in.size(); ++i) {
              double factor = in[i] > 0 ? 1.125 : -0.875;
              if (!scan.combine)
                running = i == 0 ? factor : running * factor;
              else
                running = i == 0 ? in[0] : scan.combine(running, in[i]);
              ASSERT_NEAR(out[i], running, 1e-4 * std::max(10.0, std::fabs(running)))
                  << scan.expression << " of " << rows << "x" << columns << " along " << axis
                  << (reverse ? " reversed" : "") << ", line " << line << " at " << i;
            }
          }
        }
      }
}

TEST_P(ExtentReduction, SoftmaxOfRows) {
  const char *source = R"(
@triton.jit
def kernel(p, q, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.arange(0, C)[None, :]
    i = (tl.program_id(0) * R + tl.arange(0, R))[:, None] * columns + c
    x = tl.load(p + i, mask=c < columns, other=-float("inf"))
    x = tl.exp(x - tl.max(x, 1, keep_dims=True))
    tl.store(q + i, x / tl.sum(x, 1, keep_dims=True), mask=c < columns)
)";
  for (auto [rows, block, columns] :
       {std::tuple(6, 48, 48), std::tuple(3, 96, 90), std::tuple(1, 1000, 1000)}) {
    Buffer<float> x = randomTile(2 * rows, columns), y(x.count());
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"p", "*fp32", x}, {"q", "*fp32", y}, {"columns", "i32", columns}},
                        {{"R", rows}, {"C", block}}, {{2, 1, 1}}),
              "");
    for (int r = 0; r < 2 * rows; ++r) {
      double sum = 0;
      for (int c = 0; c < columns; ++c)
        sum += std::exp(double(x[r * columns + c]));
      for (int c = 0; c < columns; ++c)
        ASSERT_NEAR(y[r * columns + c], std::exp(double(x[r * columns + c])) / sum, 1e-6);
    }
  }
}

TEST_P(ExtentReduction, ThreeAxes) {
  const char *source = R"(
@triton.jit
def kernel(p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    x = tl.load(p + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    y = tl.sum(x, 1)
    tl.store(q + a[:, None] * C + c[None, :], y)
    tl.store(q + A * C + a, tl.sum(tl.sum(x, 2), 1))
)";
  int as = 5, bs = 3, cs = 7;
  Buffer<float> x = randomTile(as * bs, cs), y(as * cs + as);
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                      {{"A", as}, {"B", bs}, {"C", cs}}),
            "");
  for (int a = 0; a < as; ++a) {
    double all = 0;
    for (int c = 0; c < cs; ++c) {
      double sum = 0;
      for (int b = 0; b < bs; ++b)
        sum += x[(a * bs + b) * cs + c];
      ASSERT_NEAR(y[a * cs + c], sum, 1e-5);
      all += sum;
    }
    ASSERT_NEAR(y[as * cs + a], all, 1e-4);
  }
}

KILN_SOURCE_TESTS_ON_ALL(ExtentReduction);

} // namespace
} // namespace kiln::testing
