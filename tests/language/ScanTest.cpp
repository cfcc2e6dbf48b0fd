// Scans along every axis, both ways, of every type, by operators and by functions of tuples.

#include "tests/language/Numbers.h"

#include <cmath>
#include <functional>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.cumsum tl.cumprod tl.associative_scan");

class Scan : public SourceTest {};

struct Tile {
  int a, b, c;
  int count() const { return a * b * c; }
  int extent(int axis) const { return axis == 0 ? a : axis == 1 ? b : c; }
  int stride(int axis) const { return axis == 0 ? b * c : axis == 1 ? c : 1; }
};

const Tile tiles[] = {{4, 8, 16}, {1, 32, 2}, {16, 1, 1}, {2, 1, 256}};

using Step = std::function<long double(long double, long double)>;

void checkScan(const char *target, const std::string &expression, const Array &x, const Tile &tile,
               int axis, bool reverse, const std::string &resultType, const Step &step,
               const std::string &functions = "") {
  Array y(resultType, tile.count());
  std::string source = functions + R"(
@triton.jit
def kernel(p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr,
           REVERSE: tl.constexpr):
    at = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C \
        + tl.arange(0, C)[None, None, :]
    x = tl.load(p + at)
    tl.store(q + at, )" +
                       expression + ")\n";
  ASSERT_EQ(
      runSource(
          source, target, {x.argument("p"), y.argument("q")},
          {{"A", tile.a}, {"B", tile.b}, {"C", tile.c}, {"AXIS", axis}, {"REVERSE", reverse}}),
      "")
      << expression;
  const NumberType &type = y.type();
  int stride = tile.stride(axis), extent = tile.extent(axis);
  for (int i = 0; i < tile.count(); ++i) {
    int position = i / stride % extent;
    if (position != (reverse ? extent - 1 : 0))
      continue;
    // Wraps after every step, as the elements do.
    long double running = x[i];
    for (int k = 0; k < extent; ++k) {
      int at = i + (reverse ? -k : k) * stride;
      if (k)
        running = type.decode(type.encode(step(running, x[at])));
      ASSERT_EQ(ulpsBetween(type, y.bits(at), running), 0)
          << expression << " of " << x.type().name << ", axis " << axis << ", tile " << tile.a
          << " x " << tile.b << " x " << tile.c << " at " << at << ": " << y[at] << ", expected "
          << running;
    }
  }
}

Array wholeNumbers(const std::string &type, int count, int low, int high) {
  Array x(type, count);
  Random random(count);
  for (int i = 0; i < count; ++i)
    x.set(i, low + int(random.below(high - low + 1)));
  return x;
}

const Step plus = [](long double a, long double b) { return a + b; };
const Step times = [](long double a, long double b) { return a * b; };

TEST_P(Scan, AlongEveryAxisBothWays) {
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2})
      for (bool reverse : {false, true}) {
        Array x = wholeNumbers("fp32", tile.count(), -9, 9);
        checkScan(GetParam(), "tl.cumsum(x, AXIS, reverse=REVERSE)", x, tile, axis, reverse, "fp32",
                  plus);
      }
}

TEST_P(Scan, OfEveryType) {
  const Tile tile = {4, 8, 16};
  std::vector<std::string> types = integerTypes;
  types.insert(types.end(), floatTypes.begin(), floatTypes.end());
  for (const std::string &type : types) {
    const NumberType &info = NumberType::of(type);
    // Narrow integers are summed in 32 bits, bf16 in fp32.
    std::string sums = info.isFloat()   ? (type == "bf16" ? "fp32" : type)
                       : info.bits < 32 ? (type[0] == 'u' ? "u32" : "i32")
                                        : type;
    Array x = wholeNumbers(type, tile.count(), type[0] == 'u' ? 0 : -5, 9);
    checkScan(GetParam(), "x.cumsum(AXIS)", x, tile, 2, false, sums, plus);
    std::string products = type == "bf16" ? "fp32" : type;
    Array y = wholeNumbers(type, tile.count(), 1, 2);
    checkScan(GetParam(), "tl.cumprod(x, AXIS, reverse=REVERSE)", y, tile, 1, true, products,
              times);
  }
  // Overflow.
  Array big = mixedArray("i32", tile.count(), 3);
  checkScan(GetParam(), "tl.cumsum(x, AXIS)", big, tile, 2, false, "i32",
            [](long double a, long double b) { return (long double)int32_t(int64_t(a + b)); });
  checkScan(GetParam(), "tl.cumsum(x, AXIS, dtype=tl.int64)", big, tile, 2, false, "i64", plus);
}

TEST_P(Scan, OfNaNAndInfinities) {
  const Tile tile = {1, 2, 64};
  Array x = wholeNumbers("fp32", tile.count(), -9, 9);
  x.set(20, INFINITY);
  x.set(40, -INFINITY);
  x.set(64 + 32, NAN);
  checkScan(GetParam(), "tl.cumsum(x, AXIS)", x, tile, 2, false, "fp32", plus);
  checkScan(GetParam(), "tl.cumsum(x, AXIS, reverse=REVERSE)", x, tile, 2, true, "fp32", plus);
}

const char *const functions = R"(
@triton.jit
def largest(a, b):
    return tl.maximum(a, b)

@triton.jit
def first(a, b):
    return a

@triton.jit
def line(a1, b1, a2, b2):
    # x -> a2 * (a1 * x + b1) + b2
    return a1 * a2, b1 * a2 + b2
)";

TEST_P(Scan, ByFunctions) {
  for (const Tile &tile : tiles)
    for (int axis : {0, 1, 2}) {
      Array x = wholeNumbers("i32", tile.count(), -1000, 1000);
      for (bool reverse : {false, true}) {
        checkScan(
            GetParam(), "tl.associative_scan(x, AXIS, largest, reverse=REVERSE)", x, tile, axis,
            reverse, "i32", [](long double a, long double b) { return std::fmax(a, b); },
            functions);
        // Not commutative.
        checkScan(
            GetParam(), "tl.associative_scan(x, AXIS, first, reverse=REVERSE)", x, tile, axis,
            reverse, "i32", [](long double a, long double) { return a; }, functions);
      }
    }
}

TEST_P(Scan, OfTuples) {
  const Tile tile = {2, 64, 2};
  // A linear recurrence h = 3 h + x, in wrapping integers.
  Array x = wholeNumbers("u32", tile.count(), 0, 9);
  checkScan(
      GetParam(), "tl.associative_scan((tl.full(x.shape, 3, tl.uint32), x), AXIS, line)[1]", x,
      tile, 1, false, "u32",
      [](long double h, long double b) { return (long double)(uint32_t(h) * 3 + uint32_t(b)); },
      functions);
}

KILN_SOURCE_TESTS(Scan);

} // namespace
} // namespace kiln::testing
