// tl.sort, tl.topk, tl.bitonic_merge and tl.flip against the standard library.

#include "tests/language/SourceKernel.h"

#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.sort tl.topk tl.bitonic_merge tl.flip");

class Sort : public SourceTest {};

/// A kernel that stores `expression` of x, a tile of rows x columns, as rows x results.
std::string tileKernel(const std::string &expression) {
  return "@triton.jit\n"
         "def kernel(p, q, R: tl.constexpr, C: tl.constexpr, N: tl.constexpr):\n"
         "    rows = tl.arange(0, R)[:, None]\n"
         "    x = tl.load(p + rows * C + tl.arange(0, C)[None, :])\n"
         "    y = " +
         expression +
         "\n"
         "    tl.store(q + rows * N + tl.arange(0, N)[None, :], y)\n";
}

std::vector<SourceConstant> extents(int rows, int columns, int results) {
  return {{"R", rows}, {"C", columns}, {"N", results}};
}

template <typename T> Buffer<T> randomTile(int count) {
  Random random(count);
  Buffer<T> tile(count);
  for (int i = 0; i < count; ++i)
    tile[i] = T(int64_t(random.below(200)) - 100);
  return tile;
}

template <typename T>
void checkSorted(const char *target, const std::string &type, int rows, int columns, int kept,
                 bool descending, const std::string &expression) {
  Buffer<T> x = randomTile<T>(rows * columns), y(rows * kept);
  ASSERT_EQ(runSource(tileKernel(expression), target, {{"p", type, x}, {"q", type, y}},
                      extents(rows, columns, kept)),
            "");
  for (int row = 0; row < rows; ++row) {
    std::vector<T> expected(&x[row * columns], &x[row * columns] + columns);
    std::sort(expected.begin(), expected.end());
    if (descending)
      std::reverse(expected.begin(), expected.end());
    for (int i = 0; i < kept; ++i)
      ASSERT_EQ(y[row * kept + i], expected[i]) << expression << " row " << row << " at " << i;
  }
}

TEST_P(Sort, RowsBothWays) {
  checkSorted<float>(GetParam(), "*fp32", 4, 64, 64, false, "tl.sort(x)");
  checkSorted<float>(GetParam(), "*fp32", 2, 32, 32, true, "tl.sort(x, 1, descending=True)");
  checkSorted<int32_t>(GetParam(), "*i32", 1, 16, 16, false, "tl.sort(x, dim=1)");
  checkSorted<uint8_t>(GetParam(), "*u8", 2, 64, 64, true, "tl.sort(x, descending=True)");
  checkSorted<int64_t>(GetParam(), "*i64", 8, 2, 2, false, "tl.sort(x)");
  checkSorted<float>(GetParam(), "*fp32", 4, 1, 1, false, "tl.sort(x)");
}

TEST_P(Sort, ManyElementsAcrossWarps) {
  checkSorted<float>(GetParam(), "*fp32", 1, 1024, 1024, false, "tl.sort(x)");
}

TEST_P(Sort, TopK) {
  checkSorted<float>(GetParam(), "*fp32", 4, 64, 8, true, "tl.topk(x, 8)");
  checkSorted<int32_t>(GetParam(), "*i32", 2, 32, 4, false, "tl.topk(x, 4, descending=False)");
  checkSorted<int16_t>(GetParam(), "*i16", 2, 32, 1, true, "tl.topk(x, 1).to(tl.int16)");
  checkSorted<float>(GetParam(), "*fp32", 2, 16, 16, true, "tl.topk(x, 16)");
}

TEST_P(Sort, OfAnyExtents) {
  checkSorted<float>(GetParam(), "*fp32", 3, 24, 24, false, "tl.sort(x)");
  checkSorted<float>(GetParam(), "*fp32", 5, 100, 100, true, "tl.sort(x, descending=True)");
  checkSorted<int32_t>(GetParam(), "*i32", 6, 16, 16, false, "tl.sort(x)");
  checkSorted<float>(GetParam(), "*fp32", 4, 20, 5, true, "tl.topk(x, 5)");
  checkSorted<int64_t>(GetParam(), "*i64", 2, 16, 3, true, "tl.topk(x, 3)");
  checkSorted<uint8_t>(GetParam(), "*u8", 3, 33, 4, false, "tl.topk(x, 4, descending=False)");
}

TEST_P(Sort, UpToTheExtremes) {
  // They are what rows are extended with.
  int columns = 20;
  for (const char *expression : {"tl.sort(x)", "tl.flip(tl.sort(x, descending=True), 1)"}) {
    Buffer<int8_t> x(columns), y(columns);
    for (int i = 0; i < columns; ++i)
      x[i] = i % 3 == 0 ? 127 : i % 3 == 1 ? -128 : int8_t(i);
    ASSERT_EQ(runSource(tileKernel(expression), GetParam(), {{"p", "*i8", x}, {"q", "*i8", y}},
                        extents(1, columns, columns)),
              "");
    std::sort(x.data(), x.data() + columns);
    for (int i = 0; i < columns; ++i)
      ASSERT_EQ(y[i], x[i]) << expression << " at " << i;
  }
}

TEST_P(Sort, MergeOfBitonicRows) {
  // Rising, then falling.
  int columns = 32;
  Buffer<float> x(columns), y(columns);
  for (int i = 0; i < columns; ++i)
    x[i] = float(i < 16 ? 2 * i : 63 - 2 * i);
  ASSERT_EQ(runSource(tileKernel("tl.bitonic_merge(x, descending=True)"), GetParam(),
                      {{"p", "*fp32", x}, {"q", "*fp32", y}}, extents(1, columns, columns)),
            "");
  for (int i = 0; i < columns; ++i)
    ASSERT_EQ(y[i], float(columns - 1 - i));
}

/// What Triton 3.8's network makes of a row, element by element.
std::vector<float> network(std::vector<float> row) {
  unsigned size = unsigned(row.size());
  for (unsigned block = 2; block <= size; block *= 2)
    for (unsigned distance = block / 2; distance > 0; distance /= 2) {
      std::vector<float> next(row);
      for (unsigned i = 0; i < size; ++i) {
        bool flip = block < size && (i & block);
        bool swap = (row[i] > row[i ^ distance]) != (flip != bool(i & distance));
        if (swap)
          next[i] = row[i ^ distance];
      }
      row = next;
    }
  return row;
}

TEST_P(Sort, NaNAndSignedZerosAsInTriton) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float infinity = std::numeric_limits<float>::infinity();
  Buffer<float> x(16), y(16);
  float values[] = {3, nan, -0.0f, 0.0f,  -infinity, 2, infinity, 0.0f,
                    1, -5,  nan,   -0.0f, 7,         7, -1,       4};
  std::copy_n(values, 16, x.data());
  ASSERT_EQ(runSource(tileKernel("tl.sort(x)"), GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}},
                      extents(1, 16, 16)),
            "");
  std::vector<float> expected = network(std::vector<float>(values, values + 16));
  for (int i = 0; i < 16; ++i)
    ASSERT_EQ(llvm::bit_cast<uint32_t>(y[i]), llvm::bit_cast<uint32_t>(expected[i])) << i;
}

TEST_P(Sort, Flip) {
  for (auto [rows, columns, dim] :
       {std::tuple(8, 32, 0), std::tuple(8, 32, 1), std::tuple(8, 32, -2), std::tuple(3, 24, 1),
        std::tuple(5, 16, 0)}) {
    Buffer<float> x = randomTile<float>(rows * columns), y(rows * columns);
    ASSERT_EQ(runSource(tileKernel("tl.flip(x, " + std::to_string(dim) + ")"), GetParam(),
                        {{"p", "*fp32", x}, {"q", "*fp32", y}}, extents(rows, columns, columns)),
              "");
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        ASSERT_EQ(y[r * columns + c],
                  dim == 1 ? x[r * columns + columns - 1 - c] : x[(rows - 1 - r) * columns + c]);
  }
}

KILN_SOURCE_TESTS_ON_ALL(Sort);

} // namespace
} // namespace kiln::testing
