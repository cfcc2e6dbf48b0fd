// Loops in which programs share an array's tiles, the last of which is a part of one: each program
// takes every so manieth element or tile, or a run of tiles. Of any length, and with more programs
// than tiles. All numbers are exact.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class GridStrideLoop : public SourceTest {};

constexpr int tile = 256, mostPrograms = 11;

const char *const source = R"(
@triton.jit
def kernel(x, y, totals, n, step, N: tl.constexpr, FORM: tl.constexpr, SUMS: tl.constexpr, STAGES: tl.constexpr):
    program = tl.program_id(0)
    i = tl.arange(0, N)
    tiles = tl.cdiv(n, N)
    if FORM == "elements" or FORM == "carried":
        first = program * N
        last = n
        by = tl.num_programs(0) * N
    elif FORM == "tiles":
        first = program
        last = tiles
        by = tl.num_programs(0)
    elif FORM == "argument":
        first = program * N
        last = n
        by = step
    else:
        each = tl.cdiv(tiles, tl.num_programs(0))
        first = program * each
        last = tl.minimum(first + each, tiles)
        by = 1
    total = tl.zeros((N,), tl.int32)
    carried = first + i
    for k in tl.range(first, last, by, num_stages=STAGES):
        if FORM == "carried":
            at = carried
            carried += by
        else:
            at = k + i if FORM == "elements" or FORM == "argument" else k * N + i
        value = tl.load(x + at, mask=at < n, other=3)
        if SUMS:
            total += value
        tl.store(y + at, value * 2 + 1, mask=at < n)
    tl.store(totals + program * N + i, total)
)";

struct Form {
  const char *name;
  bool sums, isSmall, isInPlace;
  int stages = 1;
};

template <typename T> std::vector<T> numbers(int count, uint64_t seed) {
  Random random(seed);
  std::vector<T> numbers(count);
  for (T &number : numbers)
    number = T(random.below(10000));
  return numbers;
}

/// Which tiles the program takes.
std::vector<int> tilesOf(const std::string &form, int program, int programs, int n) {
  int tiles = n > 0 ? (n + tile - 1) / tile : 0, each = (tiles + programs - 1) / programs;
  std::vector<int> taken;
  for (int t = 0; t < tiles; ++t)
    if (form == "runs" ? t / each == program : t % programs == program)
      taken.push_back(t);
  return taken;
}

/// The kernel's error, or "" or what is wrong.
template <typename T>
std::string run(SourceKernel &kernel, const std::string &type, Form form, int n, int programs) {
  int count = std::max(n, 8);
  std::vector<T> given = numbers<T>(count, 1),
                 y = form.isInPlace ? given : std::vector<T>(count, T(-1));
  std::vector<int32_t> totals(mostPrograms * tile);
  for (int program = 0; program < programs; ++program)
    for (int t : tilesOf(form.name, program, programs, n))
      for (int i = 0; i < tile; ++i) {
        int at = t * tile + i;
        if (form.sums)
          totals[program * tile + i] += at < n ? given[at] : 3;
        if (at < n)
          y[at] = T(given[at] * 2 + 1);
      }
  Buffer<T> x(given), other(std::vector<T>(count, T(-1)));
  Buffer<T> &ys = form.isInPlace ? x : other;
  Buffer<int32_t> sums(mostPrograms * tile);
  if (std::string error = kernel.run({{"x", type, x},
                                      {"y", type, ys},
                                      {"totals", "*i32", sums},
                                      {"n", "i32", n},
                                      {"step", "i32", programs * tile}},
                                     {uint32_t(programs), 1, 1});
      !error.empty())
    return error;
  for (int i = 0; i < count; ++i)
    if (ys[i] != y[i])
      return "y " + std::to_string(i);
  for (size_t i = 0; i < totals.size(); ++i)
    if (sums[i] != totals[i])
      return "total " + std::to_string(i);
  return "";
}

template <typename T>
void runOfAnyLength(const std::string &target, const std::string &type, Form form) {
  SourceOptions options;
  options.numWarps = 1;
  options.smallArrays = form.isSmall;
  Buffer<T> none(8);
  Buffer<int32_t> totals(8);
  SourceKernel kernel(
      source, target,
      {{"x", type, none},
       {"y", type, none},
       {"totals", "*i32", totals},
       {"n", "i32", 0},
       {"step", "i32", 0}},
      {{"N", tile}, {"FORM", form.name}, {"SUMS", form.sums}, {"STAGES", form.stages}}, options);
  ASSERT_EQ(kernel.errors(), "");
  for (int n : {-5, 0, 1, 255, 256, 257, 1023, 1500, 2049})
    for (int programs : {1, 3, mostPrograms})
      EXPECT_EQ(run<T>(kernel, type, form, n, programs), "")
          << type << " by " << form.name << ", " << n << " elements, " << programs << " programs"
          << (form.sums ? ", sums" : "") << (form.isSmall ? ", small arrays" : "")
          << (form.isInPlace ? ", in place" : "") << ", " << form.stages << " stages";
}

TEST_P(GridStrideLoop, OfWords) {
  for (const char *form : {"elements", "tiles", "argument", "runs"})
    for (bool isSmall : {false, true})
      runOfAnyLength<int32_t>(GetParam(), "*i32", {form, false, isSmall, isSmall});
}

/// Bounds that divide words.
TEST_P(GridStrideLoop, OfHalves) {
  for (const char *form : {"elements", "tiles", "argument", "runs"})
    for (bool isSmall : {false, true})
      runOfAnyLength<int16_t>(GetParam(), "*i16", {form, false, isSmall, !isSmall});
}

/// What is not there counts.
TEST_P(GridStrideLoop, OfSums) {
  for (const char *form : {"elements", "tiles"})
    runOfAnyLength<int16_t>(GetParam(), "*i16", {form, true, true, false});
}

/// Loads run ahead by as many programs' tiles, whose offsets the loop carries.
TEST_P(GridStrideLoop, OfLoadsAhead) {
  for (const char *form : {"elements", "carried"})
    for (bool isSmall : {false, true}) {
      runOfAnyLength<int32_t>(GetParam(), "*i32", {form, false, isSmall, false, 2});
      runOfAnyLength<int16_t>(GetParam(), "*i16", {form, true, isSmall, !isSmall, 2});
    }
}

/// Rows that an index leads to.
TEST_P(GridStrideLoop, OfRowsByIndex) {
  constexpr int stride = 700, rows = 3;
  std::vector<int32_t> given = numbers<int32_t>(rows * stride, 2);
  SourceOptions options;
  options.numWarps = 1;
  options.smallArrays = true;
  auto arguments = [](Buffer<int32_t> &x, Buffer<int32_t> &y, Buffer<int32_t> &index, int n) {
    return std::vector<SourceArgument>{{"x", "*i32", x},
                                       {"y", "*i32", y},
                                       {"index", "*i32", index},
                                       {"n", "i32", n},
                                       {"stride", "i32", stride}};
  };
  Buffer<int32_t> none(8);
  SourceKernel kernel(R"(
@triton.jit
def kernel(x, y, index, n, stride, N: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    for k in range(0, n, N):
        i = k + tl.arange(0, N)
        value = tl.load(x + row * stride + i, mask=i < n)
        tl.store(y + tl.program_id(0) * stride + i, value + 1, mask=i < n)
)",
                      GetParam(), arguments(none, none, none, 0), {{"N", tile}}, options);
  ASSERT_EQ(kernel.errors(), "");
  for (int n : {-5, 0, 1, 255, 256, 257, 699}) {
    Buffer<int32_t> x(given), y(rows * stride), index({2, 0, 1});
    ASSERT_EQ(kernel.run(arguments(x, y, index, n), {rows, 1, 1}), "");
    for (int i = 0; i < rows * stride; ++i)
      ASSERT_EQ(y[i], i % stride < n ? given[index[i / stride] * stride + i % stride] + 1 : 0)
          << i << " of " << n;
  }
}

/// Each program has every so manieth row. Rows that reach into the next one are in order.
TEST_P(GridStrideLoop, OfRows) {
  constexpr int rows = 7, widest = 230;
  SourceOptions options;
  options.numWarps = 2;
  auto arguments = [](Buffer<int32_t> &x, Buffer<int32_t> &y, int columns, int stride) {
    return std::vector<SourceArgument>{{"x", "*i32", x},
                                       {"y", "*i32", y},
                                       {"rows", "i32", rows},
                                       {"columns", "i32", columns},
                                       {"stride", "i32", stride}};
  };
  Buffer<int32_t> none(8);
  SourceKernel kernel(R"(
@triton.jit
def kernel(x, y, rows, columns, stride, N: tl.constexpr):
    i = tl.arange(0, N)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * stride + i, mask=i < columns)
        tl.store(y + row * stride + i, value * 2 + row, mask=i < columns)
)",
                      GetParam(), arguments(none, none, 0, 0), {{"N", tile}}, options);
  ASSERT_EQ(kernel.errors(), "");
  for (int stride : {0, 1, 64, 150, 199, 200, 201, widest})
    for (int columns : {0, 1, 200})
      for (bool isInPlace : {false, true})
        for (int programs : {1, 3}) {
          if (programs > 1 && columns > stride)
            continue;
          std::vector<int32_t> given = numbers<int32_t>(rows * widest + tile, 3), before = given,
                               after = isInPlace ? given : std::vector<int32_t>(given.size());
          std::vector<int32_t> &read = isInPlace ? after : before;
          for (int row = 0; row < rows; ++row) {
            std::vector<int32_t> values(read.begin() + row * stride,
                                        read.begin() + row * stride + columns);
            for (int i = 0; i < columns; ++i)
              after[row * stride + i] = values[i] * 2 + row;
          }
          Buffer<int32_t> x(given), other(given.size());
          Buffer<int32_t> &y = isInPlace ? x : other;
          ASSERT_EQ(kernel.run(arguments(x, y, columns, stride), {uint32_t(programs), 1, 1}), "");
          for (size_t i = 0; i < after.size(); ++i)
            ASSERT_EQ(y[i], after[i])
                << i << " of " << columns << " by " << stride << (isInPlace ? ", in place" : "");
        }
}

KILN_SOURCE_TESTS_ON_ALL(GridStrideLoop);

} // namespace
} // namespace kiln::testing
