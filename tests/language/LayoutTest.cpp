// The same program on tiles and blocks of many sizes: from one warp with much of a tile in each
// thread to many warps that hold copies of a few elements. What each step moves must not depend on
// where its elements are.

#include "tests/language/SourceKernel.h"

#include <algorithm>

namespace kiln::testing {
namespace {

class Layout : public SourceTest {};

struct Shape {
  int rows, columns;

  int count() const { return rows * columns; }
};
int elementsOf(const Shape &shape) { return shape.count(); }

const Shape shapes[] = {{1, 1}, {1, 64}, {64, 1}, {2, 2}, {4, 256}, {16, 32}, {128, 8}, {64, 32}};
const unsigned warpCounts[] = {1, 2, 8};

using Numbers = std::vector<int32_t>;

Numbers numbers(const Shape &shape) {
  Numbers x(shape.count());
  Random random(shape.count());
  for (int32_t &value : x)
    value = int32_t(random.below(1000));
  return x;
}

const char *const load = R"(
@triton.jit
def kernel(p, q, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(p + r * C + c)
)";

/// What a kernel that goes on with `body` after `load` makes of x: `countOf(shape)` numbers, of
/// which `check(shape, x, y)` says whether they are right. For all shapes and numbers of warps, but
/// for more than 32 elements in each thread, which take long to compile.
template <typename CountOf, typename Check>
void forAllShapes(const char *target, const std::string &body, CountOf countOf, Check check) {
  for (const Shape &shape : shapes)
    for (unsigned warps : warpCounts) {
      if (shape.count() > int(warps) * 1024)
        continue;
      SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + ", " +
                   std::to_string(warps) + " warps");
      Numbers x = numbers(shape);
      Buffer<int32_t> input(x), y(countOf(shape));
      SourceOptions options;
      options.numWarps = warps;
      ASSERT_EQ(runSource(load + body, target, {{"p", "*i32", input}, {"q", "*i32", y}},
                          {{"R", shape.rows}, {"C", shape.columns}}, options),
                "");
      check(shape, x, Numbers(y.data(), y.data() + y.count()));
      if (::testing::Test::HasFatalFailure())
        return;
    }
}

TEST_P(Layout, SumsOfBothAxesComeBack) {
  forAllShapes(GetParam(),
               "    y = x + tl.sum(x, 0)[None, :] * 3 - tl.max(x, 1)[:, None]\n"
               "    tl.store(q + r * C + c, y)\n",
               elementsOf, [](const Shape &shape, const Numbers &x, const Numbers &y) {
                 auto [rows, columns] = shape;
                 for (int r = 0; r < rows; ++r)
                   for (int c = 0; c < columns; ++c) {
                     int sum = 0, largest = x[r * columns];
                     for (int i = 0; i < rows; ++i)
                       sum += x[i * columns + c];
                     for (int i = 0; i < columns; ++i)
                       largest = std::max(largest, x[r * columns + i]);
                     ASSERT_EQ(y[r * columns + c], x[r * columns + c] + 3 * sum - largest);
                   }
               });
}

TEST_P(Layout, ScansOfBothAxes) {
  forAllShapes(GetParam(),
               "    tl.store(q + r * C + c, tl.cumsum(tl.cumsum(x, 0), 1, reverse=True))\n",
               elementsOf, [](const Shape &shape, const Numbers &x, const Numbers &y) {
                 auto [rows, columns] = shape;
                 for (int r = 0; r < rows; ++r)
                   for (int c = 0; c < columns; ++c) {
                     int sum = 0;
                     for (int i = 0; i <= r; ++i)
                       for (int j = c; j < columns; ++j)
                         sum += x[i * columns + j];
                     ASSERT_EQ(y[r * columns + c], sum);
                   }
               });
}

TEST_P(Layout, TransposedAndReshaped) {
  // The transposed elements in a row, shifted by one with a gather.
  forAllShapes(GetParam(),
               "    flat = tl.trans(x).reshape([R * C])\n"
               "    at = tl.arange(0, R * C)\n"
               "    tl.store(q + at, tl.gather(flat, (at + 1) % (R * C), 0))\n",
               elementsOf, [](const Shape &shape, const Numbers &x, const Numbers &y) {
                 auto [rows, columns] = shape;
                 for (int i = 0; i < rows * columns; ++i) {
                   int from = (i + 1) % (rows * columns);
                   ASSERT_EQ(y[i], x[from % rows * columns + from / rows]);
                 }
               });
}

TEST_P(Layout, JoinedAndSplit) {
  forAllShapes(
      GetParam(),
      "    a, b = tl.split(tl.join(x, -x).permute(1, 0, 2))\n"
      "    both = tl.interleave(a, tl.flip(b, 1))\n"
      "    at = tl.arange(0, C)[:, None] * (2 * R) + tl.arange(0, 2 * R)[None, :]\n"
      "    tl.store(q + at, both)\n",
      [](const Shape &shape) { return 2 * shape.count(); },
      [](const Shape &shape, const Numbers &x, const Numbers &y) {
        auto [rows, columns] = shape;
        for (int c = 0; c < columns; ++c)
          for (int r = 0; r < rows; ++r) {
            ASSERT_EQ(y[c * 2 * rows + 2 * r], x[r * columns + c]);
            ASSERT_EQ(y[c * 2 * rows + 2 * r + 1], -x[(rows - 1 - r) * columns + c]);
          }
      });
}

TEST_P(Layout, SortedRowsAndBestPlaces) {
  forAllShapes(GetParam(),
               "    place = tl.argmin(x, 1)[:, None]\n"
               "    tl.store(q + r * C + c, tl.sort(x, 1) * 1024 + place)\n",
               elementsOf, [](const Shape &shape, const Numbers &x, const Numbers &y) {
                 auto [rows, columns] = shape;
                 for (int r = 0; r < rows; ++r) {
                   Numbers row(&x[r * columns], &x[r * columns] + columns);
                   int place = int(std::min_element(row.begin(), row.end()) - row.begin());
                   std::sort(row.begin(), row.end());
                   for (int c = 0; c < columns; ++c)
                     ASSERT_EQ(y[r * columns + c], row[size_t(c)] * 1024 + place);
                 }
               });
}

TEST_P(Layout, AtomicsCountEachElementOnce) {
  forAllShapes(
      GetParam(),
      "    tl.atomic_add(q + x % 16, 1)\n"
      "    tl.atomic_add(q + 16 + r, tl.sum(x, 1, keep_dims=True))\n",
      [](const Shape &shape) { return 16 + shape.rows; },
      [](const Shape &shape, const Numbers &x, const Numbers &y) {
        Numbers expected(16 + shape.rows);
        for (int i = 0; i < shape.count(); ++i) {
          ++expected[size_t(x[i] % 16)];
          expected[size_t(16 + i / shape.columns)] += x[i];
        }
        ASSERT_EQ(y, expected);
      });
}

KILN_SOURCE_TESTS(Layout);
// Lanes swap words there.
INSTANTIATE_TEST_SUITE_P(Gfx950, Layout, ::testing::Values("emu:gfx950"), sourceTargetName);

} // namespace
} // namespace kiln::testing
