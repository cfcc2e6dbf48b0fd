// Tiles at short offsets under bounds, which on AMD's GPUs are in buffers whose bounds the hardware
// checks: every form of a bound, every width of elements, odd sizes, on every AMD target.

#include "tests/language/SourceKernel.h"
#include <algorithm>

namespace kiln::testing {
namespace {

class BoundedTile : public SourceTest {};

constexpr int programs = 5, tile = 256, memorySize = 1500;

/// What a program copies: for each element i of its tile the place, or -1 where the mask is false.
struct Form {
  const char *name;
  /// In Python, of p (program), i (element), n (bound), m (another one) and N (the tile).
  const char *place, *mask;
  std::function<int(int p, int i, int n, int m)> placeOf;
};

const Form forms[] = {
    {"bound", "p * N + i", "p * N + i < n",
     [](int p, int i, int n, int) { return p * tile + i < n ? p * tile + i : -1; }},
    {"reversed", "p * N + i", "n > p * N + i",
     [](int p, int i, int n, int) { return p * tile + i < n ? p * tile + i : -1; }},
    {"included", "p * N + i", "p * N + i <= n - 1",
     [](int p, int i, int n, int) { return p * tile + i < n ? p * tile + i : -1; }},
    {"of the tile", "p * 300 + i", "i < m",
     [](int p, int i, int, int m) { return i < m ? p * 300 + i : -1; }},
    {"two", "p * N + i", "(p * N + i < n) & (i < m)",
     [](int p, int i, int n, int m) { return p * tile + i < n && i < m ? p * tile + i : -1; }},
    {"condition", "p * N + i", "(p * N + i < n) & (p != 2)",
     [](int p, int i, int n, int) { return p * tile + i < n && p != 2 ? p * tile + i : -1; }},
    {"both ends", "p * N + i", "(p * N + i < n) & (i >= 3)",
     [](int p, int i, int n, int) { return p * tile + i < n && i >= 3 ? p * tile + i : -1; }},
    {"every third", "p * N + i", "(p * N + i < n) & (i % 3 == 0)",
     [](int p, int i, int n, int) { return p * tile + i < n && i % 3 == 0 ? p * tile + i : -1; }},
    {"negative bound", "p * N + i", "p * N + i < n - 3000", [](int, int, int, int) { return -1; }},
    {"second place", "p * 2 + i * 3", "i * 3 < m",
     [](int p, int i, int, int m) { return i * 3 < m ? p * 2 + i * 3 : -1; }},
    {"half a place", "p * N + i", "2 * i < m",
     [](int p, int i, int, int m) { return 2 * i < m ? p * tile + i : -1; }},
    {"large product", "p * N + i", "(p * N + i).to(tl.int64) < n.to(tl.int64) * m * 4294967296",
     [](int p, int i, int, int) { return p * tile + i; }},
    {"largest number", "p * N + i", "p * N + i <= n * 0 + 2147483647",
     [](int p, int i, int, int) { return p * tile + i; }},
    {"64 bits", "(p.to(tl.int64) * N + i)", "p.to(tl.int64) * N + i < n",
     [](int p, int i, int n, int) { return p * tile + i < n ? p * tile + i : -1; }},
};

const Form &formOf(const std::string &name) {
  return *std::find_if(std::begin(forms), std::end(forms),
                       [&](const Form &form) { return form.name == name; });
}

std::string textOf(const Form &form, const char *other, const char *modifiers) {
  return std::string(R"(
@triton.jit
def kernel(x, o, n, m, N: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + )") +
         form.place + ", mask=" + form.mask + other + modifiers + R"()
    tl.store(o + p * N + i, v)
    tl.store(x + )" +
         form.place + ", v + 1, mask=" + form.mask + modifiers + ")\n";
}

template <typename T>
void checkForm(bool smallArrays, const char *target, const Form &form, const char *type, int n,
               int m, const char *bound = "i32", bool hasOther = true, const char *modifiers = "") {
  SCOPED_TRACE(std::string(form.name) + " of " + type + ", n = " + std::to_string(n));
  Buffer<T> x(memorySize), out(programs * tile);
  std::vector<T> before(memorySize), after;
  for (int i = 0; i < memorySize; ++i)
    x[i] = before[i] = T(i % 100 + 1);
  after = before;
  std::vector<T> loaded(programs * tile);
  // Programs may share places, but write what they have read there.
  for (int p = 0; p < programs; ++p)
    for (int i = 0; i < tile; ++i) {
      int place = form.placeOf(p, i, n, m);
      loaded[size_t(p * tile + i)] = place < 0 ? T(hasOther ? 7 : 0) : before[size_t(place)];
      if (place >= 0)
        after[size_t(place)] = T(before[size_t(place)] + 1);
    }
  SourceOptions options;
  options.grid = {programs, 1, 1};
  options.threads = 1;
  options.smallArrays = smallArrays;
  ASSERT_EQ(runSource(textOf(form, hasOther ? ", other=7" : ", other=0", modifiers), target,
                      {{"x", std::string("*") + type, x},
                       {"o", std::string("*") + type, out},
                       {"n", bound, n},
                       {"m", "i32", m}},
                      {{"N", tile}}, options),
            "");
  if (std::string(form.name) == "second place")
    return; // several programs write one place
  for (int i = 0; i < programs * tile; ++i)
    ASSERT_EQ(out[i], loaded[size_t(i)]) << i;
  for (int i = 0; i < memorySize; ++i)
    ASSERT_EQ(x[i], after[size_t(i)]) << i;
}

/// As it is, and with the promise that arrays are below 2 GiB.
template <typename T, typename... Arguments> void check(const Arguments &...arguments) {
  for (bool smallArrays : {false, true})
    checkForm<T>(smallArrays, arguments...);
}

TEST_P(BoundedTile, EveryFormOfABound) {
  for (const Form &form : forms)
    for (int n : {1280, 1023, 1})
      check<int32_t>(GetParam(), form, "i32", n, 101);
}

TEST_P(BoundedTile, EveryWidthOfElements) {
  for (int n : {1023, 1024}) {
    check<int8_t>(GetParam(), forms[0], "i8", n, 0);
    check<int16_t>(GetParam(), forms[0], "i16", n, 0);
    check<float>(GetParam(), forms[0], "fp32", n, 0);
    check<double>(GetParam(), forms[0], "fp64", n, 0);
    // A bound that would divide elements.
    check<float>(GetParam(), formOf("half a place"), "fp32", n, 101);
    check<double>(GetParam(), formOf("half a place"), "fp64", n, 101);
    check<int64_t>(GetParam(), forms[0], "i64", n, 0, "i32", /*hasOther=*/false);
  }
  // Words that a bound does not divide.
  for (const char *bound : {"i32:2", "i32:16"}) {
    check<int16_t>(GetParam(), forms[0], "i16", 1008, 0, bound);
    check<int8_t>(GetParam(), forms[0], "i8", 1008, 0, bound, /*hasOther=*/false);
  }
}

TEST_P(BoundedTile, EveryModifier) {
  for (const char *modifiers :
       {", cache_modifier='.cg'", ", cache_modifier='.cs'", ", eviction_policy='evict_first'",
        ", eviction_policy='evict_last'"})
    for (int n : {1023, 1024})
      check<float>(GetParam(), forms[0], "fp32", n, 0, "i32", true, modifiers);
}

/// Rows of an array, with a stride at run time, and a loop along them.
TEST_P(BoundedTile, RowsAndLoops) {
  constexpr int rows = 4, columns = 700, stride = 720;
  Buffer<float> x(rows * stride), out(rows * stride), moved(rows * stride);
  for (int i = 0; i < rows * stride; ++i)
    x[i] = float(i);
  SourceOptions options;
  options.grid = {2, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, o, q, rows, columns, stride, N: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        source = x + row.to(tl.int64) * stride
        pointers = x + row * stride + tl.arange(0, N)
        for start in range(0, columns, N):
            i = start + tl.arange(0, N)
            v = tl.load(source + i, mask=i < columns, other=-1.0, cache_modifier='.cg')
            tl.store(o + row * stride + i, v * 2, mask=i < columns)
            w = tl.load(pointers, mask=i < columns, other=0.0)
            tl.store(q + row * stride + i, w + 1, mask=(i < columns) & (row != 1))
            pointers += N
)",
                      GetParam(),
                      {{"x", "*fp32", x},
                       {"o", "*fp32", out},
                       {"q", "*fp32", moved},
                       {"rows", "i32", rows},
                       {"columns", "i32", columns},
                       {"stride", "i32", stride}},
                      {{"N", 256}}, options),
            "");
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < stride; ++column) {
      int i = row * stride + column;
      bool isIn = column < columns;
      ASSERT_EQ(out[i], isIn ? 2 * float(i) : 0) << i;
      ASSERT_EQ(moved[i], isIn && row != 1 ? float(i) + 1 : 0) << i;
    }
}

/// An axis that is in the mask and not in the address.
TEST_P(BoundedTile, BoundsOfAxesThatTheAddressLacks) {
  constexpr int rows = 16, columns = 32;
  for (int n : {5, 20, 40})
    for (bool isSwapped : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + (isSwapped ? ", swapped" : ""));
      Buffer<float> x(columns), out(rows * columns);
      for (int i = 0; i < columns; ++i)
        x[i] = float(i + 1);
      std::string source = isSwapped ? R"(
@triton.jit
def kernel(x, o, n, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[None, :]
    j = tl.arange(0, C)[:, None]
    tl.store(o + i * C + j, tl.load(x + j + i * 0, mask=i + j < n, other=0.0))
)"
                                     : R"(
@triton.jit
def kernel(x, o, n, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None]
    j = tl.arange(0, C)[None, :]
    tl.store(o + i * C + j, tl.load(x + j + i * 0, mask=i + j < n, other=0.0))
)";
      ASSERT_EQ(runSource(source, GetParam(),
                          {{"x", "*fp32", x}, {"o", "*fp32", out}, {"n", "i32", n}},
                          {{"R", rows}, {"C", columns}}),
                "");
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
          ASSERT_EQ(out[row * columns + column], row + column < n ? float(column + 1) : 0)
              << row << " " << column;
    }
}

const char *const boundedTargets[] = {"cpu",        "emu:sm_90a",  "emu:gfx90a", "emu:gfx942",
                                      "emu:gfx950", "emu:gfx1100", "emu:gfx1201"};
INSTANTIATE_TEST_SUITE_P(, BoundedTile, ::testing::ValuesIn(boundedTargets), sourceTargetName);

} // namespace
} // namespace kiln::testing
