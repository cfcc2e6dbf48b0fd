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
};

const Shape shapes[] = {{1, 1}, {1, 64}, {64, 1}, {2, 2}, {4, 256}, {16, 32}, {128, 8}, {64, 32}};
const unsigned warpCounts[] = {1, 2, 8};

/// Runs `source`, whose kernel takes p, q, R and C, on x; `results` numbers come back.
std::vector<int32_t> run(const char *target, const std::string &source, const Shape &shape,
                         unsigned warps, const std::vector<int32_t> &x, int results) {
  Buffer<int32_t> input(x), y(results);
  SourceOptions options;
  options.numWarps = warps;
  EXPECT_EQ(runSource(source, target, {{"p", "*i32", input}, {"q", "*i32", y}},
                      {{"R", shape.rows}, {"C", shape.columns}}, options),
            "");
  return {y.data(), y.data() + results};
}

std::vector<int32_t> numbers(const Shape &shape, int seed) {
  std::vector<int32_t> x(shape.rows * shape.columns);
  Random random(seed);
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

/// More than 32 elements in each thread take long to compile.
#define FOR_ALL_SHAPES                                                                             \
  for (const Shape &shape : shapes)                                                                \
    for (unsigned warps : warpCounts)                                                              \
      if (shape.rows * shape.columns <= int(warps) * 1024)

TEST_P(Layout, SumsOfBothAxesComeBack) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 1);
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) + "    y = x + tl.sum(x, 0)[None, :] * 3 - tl.max(x, 1)[:, None]\n"
                                "    tl.store(q + r * C + c, y)\n",
            shape, warps, x, rows * columns);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        int sum = 0, largest = x[r * columns];
        for (int i = 0; i < rows; ++i)
          sum += x[i * columns + c];
        for (int i = 0; i < columns; ++i)
          largest = std::max(largest, x[r * columns + i]);
        ASSERT_EQ(y[r * columns + c], x[r * columns + c] + 3 * sum - largest)
            << rows << " x " << columns << ", " << warps << " warps";
      }
  }
}

TEST_P(Layout, ScansOfBothAxes) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 2);
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) +
                "    tl.store(q + r * C + c, tl.cumsum(tl.cumsum(x, 0), 1, reverse=True))\n",
            shape, warps, x, rows * columns);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        int sum = 0;
        for (int i = 0; i <= r; ++i)
          for (int j = c; j < columns; ++j)
            sum += x[i * columns + j];
        ASSERT_EQ(y[r * columns + c], sum) << rows << " x " << columns << ", " << warps << " warps";
      }
  }
}

TEST_P(Layout, TransposedAndReshaped) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 3);
    // The transposed elements in a row, shifted by one with a gather.
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) + "    flat = tl.trans(x).reshape([R * C])\n"
                                "    at = tl.arange(0, R * C)\n"
                                "    tl.store(q + at, tl.gather(flat, (at + 1) % (R * C), 0))\n",
            shape, warps, x, rows * columns);
    for (int i = 0; i < rows * columns; ++i) {
      int from = (i + 1) % (rows * columns);
      ASSERT_EQ(y[i], x[from % rows * columns + from / rows])
          << rows << " x " << columns << ", " << warps << " warps";
    }
  }
}

TEST_P(Layout, JoinedAndSplit) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 4);
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) +
                "    a, b = tl.split(tl.join(x, -x).permute(1, 0, 2))\n"
                "    both = tl.interleave(a, tl.flip(b, 1))\n"
                "    at = tl.arange(0, C)[:, None] * (2 * R) + tl.arange(0, 2 * R)[None, :]\n"
                "    tl.store(q + at, both)\n",
            shape, warps, x, 2 * rows * columns);
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) {
        ASSERT_EQ(y[c * 2 * rows + 2 * r], x[r * columns + c])
            << rows << " x " << columns << ", " << warps << " warps";
        ASSERT_EQ(y[c * 2 * rows + 2 * r + 1], -x[(rows - 1 - r) * columns + c]);
      }
  }
}

TEST_P(Layout, SortedRowsAndBestPlaces) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 5);
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) + "    place = tl.argmin(x, 1)[:, None]\n"
                                "    tl.store(q + r * C + c, tl.sort(x, 1) * 1024 + place)\n",
            shape, warps, x, rows * columns);
    for (int r = 0; r < rows; ++r) {
      std::vector<int32_t> row(&x[r * columns], &x[r * columns] + columns);
      int place = int(std::min_element(row.begin(), row.end()) - row.begin());
      std::sort(row.begin(), row.end());
      for (int c = 0; c < columns; ++c)
        ASSERT_EQ(y[r * columns + c], row[size_t(c)] * 1024 + place)
            << rows << " x " << columns << ", " << warps << " warps";
    }
  }
}

TEST_P(Layout, AtomicsCountEachElementOnce) {
  FOR_ALL_SHAPES {
    auto [rows, columns] = shape;
    std::vector<int32_t> x = numbers(shape, 6);
    std::vector<int32_t> y =
        run(GetParam(),
            std::string(load) + "    tl.atomic_add(q + x % 16, 1)\n"
                                "    tl.atomic_add(q + 16 + r, tl.sum(x, 1, keep_dims=True))\n",
            shape, warps, x, 16 + rows);
    std::vector<int32_t> expected(16 + rows);
    for (int i = 0; i < rows * columns; ++i) {
      ++expected[size_t(x[i] % 16)];
      expected[size_t(16 + i / columns)] += x[i];
    }
    ASSERT_EQ(y, expected) << rows << " x " << columns << ", " << warps << " warps";
  }
}

KILN_SOURCE_TESTS(Layout);

} // namespace
} // namespace kiln::testing
