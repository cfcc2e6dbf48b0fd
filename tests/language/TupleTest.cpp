// Tuples, named tuples and aggregates: made, taken apart, passed, returned, merged and carried.

#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

using Ints = std::vector<int32_t>;

KILN_COVERS("tl.aggregate_replace");

class Tuple : public SourceTest {};

TEST_P(Tuple, IndexSliceJoinCompare) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def put(out, values):
    for k in tl.static_range(len(values)):
        tl.store(out + k, values[k])

@triton.jit
def kernel(out, n):
    a = (n, n + 1, 7)
    tl.static_assert(len(a) == 3 and len(a[1:]) == 2 and len(()) == 0)
    put(out, a[1:] + (a[0],))
    put(out + 3, a[::-1])
    put(out + 6, a[-1:] * 2)
    nested = ((n, (8, n * 2)), 5)
    put(out + 8, nested[0][1])
    (x, (y, z)), w = nested
    put(out + 10, (x, y, z, w))
    first, *rest = a
    put(out + 14, rest)
    x, y = y, x
    put(out + 16, (x, y))
    put(out + 18, tuple([v + 1 for v in a]))
    k: tl.constexpr = 2
    put(out + 21, (a[k], a[k - 1]))
    sum = 0
    for v in a:
        sum += v
    tl.store(out + 23, sum)
    tl.store(out + 24, (1, 2) == (1, 2))
    tl.store(out + 25, tl.tuple((1, 2)) == (1, 3))
    tl.static_assert(((3, 4) or (5, 6)) == (3, 4) and ((3, 4) and (5, 6)) == (5, 6))
    tl.static_assert((() or (5, 6)) == (5, 6) and ((1, 2) and (3, 4) and ()) == ())
    tl.static_assert((() and tl.program_id(0)) == ())
    tl.static_assert((1, 2) + (3,) == (1, 2, 3) and (0,) * 3 == (0, 0, 0))
    tl.static_assert((1, (2, 3)) == (1, (2, 3)) and (1, 2) != (2, 1))
    tl.static_assert(2 in (1, 2) and 3 not in (1, 2))
)",
                                GetParam(), "i32", 26, {{"n", "i32", 3}});
  EXPECT_EQ(out,
            (Ints{4, 7, 3, 7, 4, 3, 7, 7, 8, 6, 3, 8, 6, 5, 4, 7, 8, 3, 4, 5, 8, 7, 4, 14, 1, 0}));
}

TEST_P(Tuple, ThroughFunctionsBranchesAndLoops) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def both(x, y):
    return x + y, (x - y, x * y)

@triton.jit
def passed(values):
    tl.static_assert(values[1] is None)
    return values

@triton.jit
def counted(pair, n):
    for i in range(n):
        pair = (pair[0] + i, (pair[1][0] * 2, pair[1][1] - 1))
    return pair

@triton.jit
def kernel(out, n):
    s, (d, p) = both(n, 3)
    tl.store(out, s)
    tl.store(out + 1, d)
    tl.store(out + 2, p)
    kept = passed((n, None, (4, n)))
    tl.store(out + 3, kept[2][0] + kept[2][1])
    if n > 4:
        choice = (n, (1, 2))
    else:
        choice = (-n, (3, 4))
    tl.store(out + 4, choice[0])
    tl.store(out + 5, choice[1][0] * 10 + choice[1][1])
    loop = counted((n, (n - 4, n)), 5)
    tl.store(out + 6, loop[0])
    tl.store(out + 7, loop[1][0])
    tl.store(out + 8, loop[1][1])
    swapped = (n, n + 1) if n < 4 else (n + 1, n)
    tl.store(out + 9, swapped[0])
    blocks = (tl.arange(0, 4), tl.arange(4, 8))
    i = 0
    while i < 3:
        blocks = (blocks[1], blocks[0] + 1)
        i += 1
    tl.store(out + 12 + tl.arange(0, 4), blocks[0] - blocks[1])
)",
                                GetParam(), "i32", 16, {{"n", "i32", 5}});
  EXPECT_EQ(out, (Ints{8, 2, 15, 9, 5, 12, 15, 32, 0, 6, 0, 0, 3, 3, 3, 3}));
}

TEST_P(Tuple, NamedFieldsAndFunctionsInside) {
  Ints out = outputsOf<int32_t>(
      R"(
from typing import NamedTuple
from collections import namedtuple

class Matrix(NamedTuple):
    base: tl.tensor
    shape: tuple
    strides: tuple

class Closure(NamedTuple):
    fn: tl.constexpr
    captured: tuple

Point = namedtuple('Point', ['x', 'y'])

@triton.jit
def element(m, i, j):
    inside = (i < m.shape[0]) & (j < m.shape[1])
    return tl.load(m.base + i * m.strides[0] + j * m.strides[1], mask=inside, other=-1)

@triton.jit
def scaled(x, factor, offset):
    return x * factor + offset

@triton.jit
def apply(closure, x):
    return closure.fn(x, *closure.captured)

@triton.jit
def moved(point, by):
    return Point(point.x + by, y=point.y)

@triton.jit
def kernel(p, out, n):
    m = Matrix(shape=(2, n), base=p, strides=(n, 1))
    tl.store(out, element(m, 1, 2))
    tl.store(out + 1, element(m, 2, 0))
    tl.store(out + 2, apply(Closure(scaled, (n, 5)), 10))
    point = moved(moved(Point(1, 2), n), n)
    tl.store(out + 3, point.x * 100 + point.y)
    tl.store(out + 4, point[0])
    if n > 2:
        m = Matrix(p + 1, (2, n), m.strides)
    tl.store(out + 5, element(m, 0, 0))
    for i in range(2):
        point = Point(point.y, point.x)
        m = Matrix(m.base + 1, m.shape, m.strides)
    tl.store(out + 6, point.x)
    tl.store(out + 7, element(m, 0, 0))
)",
      GetParam(), "i32", 8,
      {{"p", "*i32", Buffer<int32_t>({10, 11, 12, 13, 14, 15})}, {"n", "i32", 3}});
  EXPECT_EQ(out, (Ints{15, -1, 35, 702, 7, 11, 7, 13}));
}

TEST_P(Tuple, Aggregates) {
  Ints out = outputsOf<int32_t>(R"(
@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    @triton.jit
    def total(self):
        return self.first + self.second

    @triton.jit
    def swapped(self):
        return Pair(self.second, self.first)

    def __getitem__(self, place: tl.constexpr, _semantic=None):
        return self.first if place == 0 else self.second

@triton.aggregate
class Scaled(Pair):
    FACTOR: tl.constexpr = 10

    @triton.jit
    def value(self):
        return self.total() * self.FACTOR

@triton.aggregate
class Counter:
    value: tl.tensor
    squared: tl.constexpr

    def __init__(self, value, side):
        self.value = value
        self.squared = tl.constexpr(side * side)

    @staticmethod
    @triton.jit
    def start():
        return Counter(tl.program_id(0), 3)

    @triton.jit
    def next(self):
        return tl.aggregate_replace(self, value=self.value + 1)

@triton.jit
def use(pair):
    return pair.first * 2 + pair[1]

@triton.jit
def kernel(out, n):
    pair = Pair(n, second=n + 1)
    tl.store(out, pair.total())
    tl.store(out + 1, use(pair.swapped()))
    tl.store(out + 2, pair[0] * 10 + pair[1])
    scaled = Scaled(n, 4)
    tl.static_assert(scaled.FACTOR == 10)
    tl.store(out + 3, scaled.value())
    other = tl.aggregate_replace(scaled, second=n, FACTOR=3)
    tl.store(out + 4, other.value())
    tl.store(out + 5, scaled.value())
    counter = Counter.start()
    tl.static_assert(counter.squared == 9)
    for i in range(n):
        counter = counter.next()
        if i % 2 == 0:
            pair = pair.swapped()
    tl.store(out + 6, counter.value + counter.squared)
    tl.store(out + 7, pair.first)
)",
                                GetParam(), "i32", 8, {{"n", "i32", 5}});
  EXPECT_EQ(out, (Ints{11, 17, 56, 90, 30, 90, 14, 6}));
}

TEST_P(Tuple, RefusesWhatDoesNotFit) {
  auto expectError = [&](const std::string &body, const std::string &message) {
    std::string errors = runSource(R"(
@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

@triton.jit
def kernel(n):
    )" + body + "\n",
                                   GetParam(), {{"n", "i32", 4}});
    EXPECT_NE(errors.find(message), std::string::npos) << body << ": " << errors;
  };
  expectError("a, b, c = (n, n)", "cannot unpack 2 values into 3 targets");
  expectError("a = (1, 2)[n]", "must be known at compile time");
  expectError("a = (1, 2)\n    a[0] = 3", "assigning to an element");
  expectError("a = (n, 1)\n    for i in range(n):\n        a = (n, 1, 2)",
              "'a' changes in the loop");
  expectError("a = (n, 1)\n    if n > 1:\n        a = (n,)\n    tl.static_assert(len(a) == 2)",
              "'a'");
  expectError("a = Pair(n)", "needs a value for 'second'");
  expectError("a = Pair(n, n, n)", "takes 2 arguments, got 3");
  expectError("a = Pair(n, n, third=n)", "has no parameter 'third'");
  expectError("a = Pair(n, n).third", "no attribute 'third'");
  expectError("a = tl.aggregate_replace(Pair(n, n), third=1)", "no attribute 'third'");
  expectError("a = Pair(n, n)[0]", "__getitem__");
}

KILN_SOURCE_TESTS(Tuple);

} // namespace
} // namespace kiln::testing
