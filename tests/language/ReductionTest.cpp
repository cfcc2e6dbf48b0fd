// Reductions over every axis and over all, with and without keep_dims, of every type, against
// loops.

#include "tests/language/Numbers.h"

#include <cmath>
#include <functional>
#include <limits>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.sum tl.max tl.min tl.argmax tl.argmin tl.xor_sum tl.reduce_or tl.reduce tl.softmax "
            "tl.ravel");

class Reduction : public SourceTest {};

constexpr int none = 99;

struct Tile {
  int a, b, c;
  int count() const { return a * b * c; }
  int extent(int axis) const { return axis == none ? count() : axis == 0 ? a : axis == 1 ? b : c; }
  /// The elements that result `r` combines, in order: their indices.
  std::vector<int> line(int axis, int r) const {
    std::vector<int> indices;
    int stride = axis == none || axis == 2 ? 1 : axis == 1 ? c : b * c;
    int first = axis == none ? 0 : axis == 2 ? r * c : axis == 1 ? r / c * b * c + r % c : r;
    for (int i = 0; i < extent(axis); ++i)
      indices.push_back(first + i * stride);
    return indices;
  }
};

const Tile tiles[] = {{4, 8, 16}, {1, 32, 2}, {16, 1, 1}, {2, 2, 128}};

/// Runs `y = expression` of x, a tile, and what else the expression needs; stores y flat.
Array reduceTile(const char *target, const Tile &tile, int axis, bool keep,
                 const std::string &expression, const Array &x, const std::string &resultType,
                 const std::string &functions = "") {
  int results = tile.count() / tile.extent(axis);
  Array y(resultType, results);
  std::string source = functions + R"(
@triton.jit
def kernel(p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, N: tl.constexpr,
           AXIS: tl.constexpr, KEEP: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    at = (a * B + b) * C + c
    x = tl.load(p + at)
    y = )" + expression +
                       R"(
    if KEEP:
        tl.static_assert(len(y.shape) == 3)
        if AXIS is not None:
            tl.static_assert(y.shape[AXIS] == 1)
    if AXIS is None and not KEEP:
        tl.store(q, y)
    else:
        tl.store(q + tl.arange(0, N), tl.ravel(y))
)";
  EXPECT_EQ(runSource(source, target, {x.argument("p"), y.argument("q")},
                      {{"A", tile.a},
                       {"B", tile.b},
                       {"C", tile.c},
                       {"N", results},
                       {"AXIS", axis == none ? Literal::none() : Literal::ofInt(axis)},
                       {"KEEP", keep}}),
            "")
      << expression;
  return y;
}

using Combine = std::function<long double(const std::vector<long double> &)>;

void checkReduction(const char *target, const std::string &expression, const Array &x,
                    const Tile &tile, int axis, bool keep, const std::string &resultType,
                    const Combine &combine, const std::string &functions = "") {
  Array y = reduceTile(target, tile, axis, keep, expression, x, resultType, functions);
  for (size_t r = 0; r < y.count(); ++r) {
    std::vector<long double> values;
    for (int i : tile.line(axis, int(r)))
      values.push_back(x[i]);
    long double expected = combine(values);
    ASSERT_EQ(ulpsBetween(y.type(), y.bits(r), expected), 0)
        << expression << " of " << x.type().name << ", axis " << axis << ", tile " << tile.a
        << " x " << tile.b << " x " << tile.c << ", result " << r << ": " << y[r] << ", expected "
        << expected;
  }
}

/// Whole numbers, so that sums of floats are exact in any order.
Array wholeNumbers(const std::string &type, int count, int bound, int seed = 1) {
  Array x(type, count);
  Random random(seed);
  bool isUnsigned = x.type().kind == NumberType::Unsigned;
  for (int i = 0; i < count; ++i)
    x.set(i, (long double)random.below(2 * bound + 1) - (isUnsigned ? 0 : bound));
  return x;
}

long double sum(const std::vector<long double> &values) {
  long double total = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    total += values[i];
  return total;
}
long double largest(const std::vector<long double> &values) {
  long double best = values[0];
  for (long double value : values)
    best = std::fmax(best, value);
  return best;
}
long double smallest(const std::vector<long double> &values) {
  long double best = values[0];
  for (long double value : values)
    best = std::fmin(best, value);
  return best;
}

struct Named {
  const char *name;
  Combine combine;
};
const Named namedReductions[] = {{"tl.sum", sum}, {"tl.max", largest}, {"tl.min", smallest}};

std::vector<std::string> numberTypes() {
  std::vector<std::string> types = integerTypes;
  types.insert(types.end(), floatTypes.begin(), floatTypes.end());
  return types;
}

TEST_P(Reduction, OverEveryAxis) {
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2, -1, none})
      for (bool keep : {false, true}) {
        if (keep != (axis % 2 == 0) && tile.a != 4)
          continue;
        Array x = wholeNumbers("fp32", tile.count(), 3);
        int at = axis == -1 ? 2 : axis;
        for (const auto &[name, combine] : namedReductions)
          checkReduction(GetParam(),
                         std::string(name) + "(x, axis=" + (axis == -1 ? "-1" : "AXIS") +
                             ", keep_dims=KEEP)",
                         x, tile, at, keep, "fp32", combine);
      }
}

TEST_P(Reduction, OfEveryType) {
  const Tile tile = {4, 8, 16};
  for (const std::string &type : numberTypes()) {
    bool isFloat = NumberType::of(type).isFloat();
    std::string wide = isFloat ? "fp64" : type[0] == 'u' ? "u64" : "i64";
    Array x = wholeNumbers(type, tile.count(), type[0] == 'u' || type == "i8" ? 60 : 3);
    checkReduction(GetParam(), "tl.sum(x, AXIS)", x, tile, 1, false, wide, sum);
    checkReduction(GetParam(), "x.sum(axis=AXIS)", x, tile, none, false, wide, sum);
    checkReduction(GetParam(),
                   "tl.sum(x, AXIS, dtype=tl." + std::string(isFloat ? "float64" : "int64") + ")",
                   x, tile, 2, false, isFloat ? "fp64" : "i64", sum);
    Array any = mixedArray(type, tile.count(), 5, 100);
    for (size_t i = 0; i < any.count(); ++i)
      if (any[i] == 0)
        any.set(i, 5); // Zeros of both signs are equal.
    checkReduction(GetParam(), "tl.max(x, AXIS)", any, tile, 1, false, wide, largest);
    checkReduction(GetParam(), "tl.min(x, AXIS)", any, tile, 2, false, wide, smallest);
    checkReduction(GetParam(), "x.max()", any, tile, none, false, wide, largest);
    if (isFloat)
      continue;
    auto bits = [](auto combine) {
      return [=](const std::vector<long double> &values) {
        int64_t result = 0;
        for (long double value : values)
          result = combine(result, value < 0 ? int64_t(value) : int64_t(uint64_t(value)));
        return (long double)result;
      };
    };
    if (type == "u64")
      continue; // Its references do not fit int64_t.
    checkReduction(GetParam(), "tl.xor_sum(x, AXIS, keep_dims=KEEP)", any, tile, 0, true,
                   type[0] == 'u' ? wide : "i64", bits([](int64_t a, int64_t b) { return a ^ b; }));
    checkReduction(GetParam(), "tl.reduce_or(x, AXIS)", any, tile, 2, false,
                   type[0] == 'u' ? wide : "i64", bits([](int64_t a, int64_t b) { return a | b; }));
  }
}

TEST_P(Reduction, OfBooleans) {
  const Tile tile = {4, 8, 16};
  Array x("i1", tile.count());
  for (int i = 0; i < tile.count(); ++i)
    x.setBits(i, i % 5 == 0 && i > 64);
  checkReduction(GetParam(), "tl.sum(x.to(tl.int32), AXIS)", x, tile, 2, false, "i32", sum);
  checkReduction(GetParam(), "tl.reduce_or(x, AXIS)", x, tile, 2, false, "i8", largest);
  checkReduction(GetParam(), "tl.max(x.to(tl.int8), AXIS)", x, tile, none, false, "i8", largest);
  // The sum of booleans counts them.
  checkReduction(GetParam(), "tl.sum(x, AXIS)", x, tile, 1, false, "i32", sum);
}

TEST_P(Reduction, SumsWrap) {
  const Tile tile = {4, 8, 16};
  Array x("i32", tile.count()), y("u64", tile.count());
  for (int i = 0; i < tile.count(); ++i) {
    x.setBits(i, 0x70000000 + i);
    y.setBits(i, 0xf000000000000000 + i);
  }
  Array sums = reduceTile(GetParam(), tile, 1, false, "tl.sum(x, AXIS)", x, "i32");
  Array wide = reduceTile(GetParam(), tile, 2, false, "tl.sum(x, AXIS)", y, "u64");
  for (int r = 0; r < 64; ++r) {
    uint32_t expected = 0;
    for (int i : tile.line(1, r))
      expected += uint32_t(x.bits(i));
    ASSERT_EQ(sums.bits(r), expected);
  }
  for (int r = 0; r < 32; ++r) {
    uint64_t expected = 0;
    for (int i : tile.line(2, r))
      expected += y.bits(i);
    ASSERT_EQ(wide.bits(r), expected);
  }
}

TEST_P(Reduction, OfNaNAndInfinities) {
  // Rows: NaN among numbers, nothing but NaN, both infinities, one infinity, and -0 alone.
  const Tile tile = {1, 8, 16};
  for (const std::string &type : floatTypes) {
    Array x = wholeNumbers(type, tile.count(), 3);
    for (int c = 0; c < 16; ++c) {
      x.set(16 + c, NAN);
      x.set(64 + c, -0.0L);
      x.set(80 + c, -INFINITY);
    }
    x.set(5, NAN);
    x.set(32, INFINITY);
    x.set(47, -INFINITY);
    x.set(50, INFINITY);
    std::string wide = "fp64";
    for (const auto &[name, combine] : namedReductions)
      checkReduction(GetParam(), std::string(name) + "(x, AXIS)", x, tile, 2, false, wide, combine);
  }
}

/// The index of the best value, the first or the last of equal ones.
Combine bestIndex(bool isMax, bool first) {
  return [=](const std::vector<long double> &values) {
    size_t best = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      bool better = isMax ? values[i] > values[best] : values[i] < values[best];
      if (better || (!first && values[i] == values[best]))
        best = i;
    }
    return (long double)best;
  };
}

TEST_P(Reduction, IndicesOfTheFirstOfEqualElements) {
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2})
      for (std::string type : {"fp32", "i32", "u8", "fp16", "i64"}) {
        if (type != "fp32" && (tile.a != 4 || axis != 1))
          continue;
        Array x = wholeNumbers(type, tile.count(), 2);
        for (bool isMax : {true, false}) {
          std::string name = isMax ? "max" : "min";
          checkReduction(GetParam(), "tl.arg" + name + "(x, AXIS, keep_dims=KEEP)", x, tile, axis,
                         axis == 1, "i32", bestIndex(isMax, true));
          checkReduction(GetParam(), "tl." + name + "(x, AXIS, return_indices=True)[1]", x, tile,
                         axis, false, "i32", bestIndex(isMax, true));
          checkReduction(GetParam(), "tl." + name + "(x, AXIS, return_indices=True)[0]", x, tile,
                         axis, false, type, isMax ? largest : smallest);
        }
      }
}

TEST_P(Reduction, IndicesWithoutTieBreakAreOfAnEqualElement) {
  const Tile tile = {2, 2, 128};
  Array x = wholeNumbers("fp32", tile.count(), 2);
  for (std::string expression :
       {"tl.argmax(x, AXIS, tie_break_left=False)",
        "tl.max(x, AXIS, return_indices=True, return_indices_tie_break_left=False)[1]"}) {
    Array y = reduceTile(GetParam(), tile, 2, false, expression, x, "i32");
    for (int r = 0; r < 4; ++r) {
      ASSERT_LT(y.bits(r), 128u);
      ASSERT_EQ(x[r * 128 + int(y.bits(r))], 2) << r;
    }
  }
}

TEST_P(Reduction, ByFunctions) {
  const char *functions = R"(
@triton.jit
def clipped(a, b):
    return tl.minimum(a + b, 100)

@triton.jit
def second(a, b):
    return b

@triton.jit
def longest(best_a, at_a, best_b, at_b):
    take = (best_b > best_a) | ((best_b == best_a) & (at_b < at_a))
    return tl.where(take, best_b, best_a), tl.where(take, at_b, at_a)

@triton.jit
def total(x, at, AXIS: tl.constexpr):
    return tl.reduce((x, at), AXIS, longest)
)";
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2, none}) {
      Array x = wholeNumbers("u32", tile.count(), 3);
      checkReduction(
          GetParam(), "tl.reduce(x, AXIS, clipped)", x, tile, axis, false, "i64",
          [](const std::vector<long double> &values) {
            long double result = values[0];
            for (size_t i = 1; i < values.size(); ++i)
              result = std::fmin(result + values[i], 100.0L);
            return result;
          },
          functions);
      // Not commutative: the operands' order counts.
      checkReduction(
          GetParam(), "tl.reduce(x, AXIS, second, keep_dims=KEEP)", x, tile, axis, true, "u32",
          [](const std::vector<long double> &values) { return values.back(); }, functions);
      if (axis != none)
        checkReduction(GetParam(),
                       "total(x, (a if AXIS == 0 else b if AXIS == 1 else c) + tl.zeros_like(at), "
                       "AXIS)[1]",
                       x, tile, axis, false, "i32", bestIndex(true, true), functions);
    }
}

/// What comes of another lane is a factor, and counts the bits of a shift: of associative functions
/// whose operands' order counts.
TEST_P(Reduction, ByFunctionsThatMultiplyAndShift) {
  const char *functions = R"(
@triton.jit
def composed(factor_a, term_a, factor_b, term_b):
    return factor_a * factor_b, term_a * factor_b + term_b

@triton.jit
def term(x, AXIS: tl.constexpr):
    return tl.reduce((2 * x + 1, x), AXIS, composed)[1]

@triton.jit
def appended(count_a, bits_a, count_b, bits_b):
    return count_a + count_b, (bits_a << count_b) | bits_b

@triton.jit
def bits(x, AXIS: tl.constexpr):
    count = tl.where(x % 8 == 0, 1, 0)
    return tl.reduce((count, (count & (x >> 3)).to(tl.int64)), AXIS, appended)[1]
)";
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2}) {
      Array x = wholeNumbers("i32", tile.count(), 1000);
      checkReduction(
          GetParam(), "term(x, AXIS)", x, tile, axis, false, "i32",
          [](const std::vector<long double> &values) {
            uint32_t result = 0;
            for (long double value : values)
              result = result * (2 * uint32_t(int32_t(value)) + 1) + uint32_t(int32_t(value));
            return (long double)int32_t(result);
          },
          functions);
      checkReduction(
          GetParam(), "bits(x, AXIS)", x, tile, axis, false, "i64",
          [](const std::vector<long double> &values) {
            int64_t result = 0;
            for (long double value : values)
              if (int32_t(value) % 8 == 0)
                result = result << 1 | (int32_t(value) >> 3 & 1);
            return (long double)result;
          },
          functions);
    }
}

/// Mean and variance from those of parts, which may be put together in any order but for rounding.
TEST_P(Reduction, MeanAndVarianceOfParts) {
  const char *functions = R"(
@triton.jit
def together(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    share = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n

@triton.jit
def variance(x, AXIS: tl.constexpr, count):
    counted = tl.where(x < 900, 1.0, 0.0)
    mean, m2, n = tl.reduce((tl.where(x < 900, x, 0.0), tl.zeros_like(x), counted), AXIS, together)
    return m2 / count
)";
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2}) {
      int extent = tile.extent(axis);
      Array x("fp32", tile.count());
      Random random(axis);
      for (size_t i = 0; i < x.count(); ++i) // a part of no elements in each line but the shortest
        x.set(i, extent > 1 && tile.line(axis, 0)[1] == int(i) ? 1000
                                                               : int(random.below(2001)) * 0.01);
      Array y =
          reduceTile(GetParam(), tile, axis, false,
                     "variance(x, AXIS, " + std::to_string(extent) + ".0)", x, "fp32", functions);
      for (size_t r = 0; r < y.count(); ++r) {
        long double sum = 0, squares = 0;
        int count = 0;
        for (int i : tile.line(axis, int(r)))
          if (x[i] < 900)
            sum += x[i], ++count;
        for (int i : tile.line(axis, int(r)))
          if (x[i] < 900)
            squares += (x[i] - sum / count) * (x[i] - sum / count);
        ASSERT_NEAR(double(y[r]), double(squares / extent), 1e-4) << "axis " << axis << ", " << r;
      }
    }
}

/// As torch.compile writes them: NaN wins, the first of several, and among equals the smaller
/// index.
TEST_P(Reduction, MaximaThatKeepNaN) {
  const char *functions = R"(
@triton.jit
def larger(a, b):
    mask = a > b
    mask |= a != a
    return tl.where(mask, a, b)

@triton.jit
def larger_at(a, at_a, b, at_b):
    mask = a > b
    equal = a == b
    a_isnan = a != a
    b_isnan = b != b
    mask |= a_isnan & (not b_isnan)
    equal |= a_isnan & b_isnan
    mask |= equal & (at_a < at_b)
    return tl.where(mask, a, b), tl.where(mask, at_a, at_b)

@triton.jit
def place(x, at, AXIS: tl.constexpr):
    return tl.reduce((x, at), AXIS, larger_at)[1]
)";
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2}) {
      Array x = wholeNumbers("fp32", tile.count(), 3);
      for (size_t i = 0; i < x.count(); i += 37)
        x.set(i, std::numeric_limits<double>::quiet_NaN());
      Array most = reduceTile(GetParam(), tile, axis, false, "tl.reduce(x, AXIS, larger)", x,
                              "fp32", functions);
      Array at = reduceTile(
          GetParam(), tile, axis, false,
          "place(x, (a if AXIS == 0 else b if AXIS == 1 else c) + tl.zeros_like(at), AXIS)", x,
          "i32", functions);
      for (size_t r = 0; r < most.count(); ++r) {
        int best = 0;
        std::vector<int> line = tile.line(axis, int(r));
        for (int i = 1; i < int(line.size()); ++i)
          if (!std::isnan(double(x[line[best]])) &&
              (std::isnan(double(x[line[i]])) || x[line[i]] > x[line[best]]))
            best = i;
        ASSERT_EQ(int(at[r]), best) << "axis " << axis << ", " << r;
        double expected = double(x[line[best]]), found = double(most[r]);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << r;
      }
    }
}

TEST_P(Reduction, Softmax) {
  const int rows = 8, columns = 64;
  Array x = mixedArray("fp32", rows * columns, 9, 20, true), y("fp32", rows * columns);
  for (int i = 0; i < rows * columns; ++i)
    if (std::fabs(x[i]) > 30)
      x.set(i, i % 7 ? 1.5L : -INFINITY);
  // Along axis 0, the default.
  const char *source = R"(
@triton.jit
def kernel(p, q, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, C)[:, None] + tl.arange(0, R)[None, :] * C
    tl.store(q + at, tl.softmax(tl.load(p + at)))
)";
  ASSERT_EQ(runSource(source, GetParam(), {x.argument("p"), y.argument("q")},
                      {{"R", rows}, {"C", columns}}),
            "");
  for (int r = 0; r < rows; ++r) {
    long double peak = -INFINITY, total = 0;
    for (int c = 0; c < columns; ++c)
      peak = std::max(peak, x[r * columns + c]);
    for (int c = 0; c < columns; ++c)
      total += std::exp(x[r * columns + c] - peak);
    for (int c = 0; c < columns; ++c)
      ASSERT_NEAR(double(y[r * columns + c]), double(std::exp(x[r * columns + c] - peak) / total),
                  1e-6);
  }
}

KILN_SOURCE_TESTS(Reduction);
// Lanes swap words there.
INSTANTIATE_TEST_SUITE_P(Gfx950, Reduction, ::testing::Values("emu:gfx950"), sourceTargetName);
// Instructions of three operands read lanes there, but none of 64 bits.
INSTANTIATE_TEST_SUITE_P(Gfx1201, Reduction, ::testing::Values("emu:gfx1201"), sourceTargetName);

} // namespace
} // namespace kiln::testing
