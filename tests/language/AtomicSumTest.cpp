// Sums by atomics whose results nobody uses: on NVIDIA additions to memory of neighbours at once.
// Several programs add to the same elements, under every kind of mask, at aligned places and
// others, and from tiles that threads hold more than once.
//
// The summands are small multiples of 1/4, so that every order of additions gives the same sum, in
// each type the one of double precision.

#include "tests/language/Numbers.h"

#include <functional>

namespace kiln::testing {
namespace {

class AtomicSum : public SourceTest {};

constexpr int programs = 6, memorySize = 1200;

/// What a program adds: for each element of the tile its place, or -1 where the mask is false.
struct Case {
  const char *name;
  int rows, columns, bound;
  const char *boundType;
  /// In Python, of p (program % 3), r and c (row and column), n (the bound) and R and C.
  const char *place, *mask;
  std::function<int(int p, int r, int c)> placeOf;
  bool isShared = false; ///< elements of a program meet
};

const Case cases[] = {
    {"whole", 1, 256, 0, "i32", "p * C + c", "None", [](int p, int, int c) { return p * 256 + c; }},
    {"aligned bound", 1, 256, 592, "i32:16", "p * C + c", "p * C + c < n",
     [](int p, int, int c) { return p * 256 + c < 592 ? p * 256 + c : -1; }},
    {"odd bound", 1, 256, 589, "i32", "p * C + c", "p * C + c < n",
     [](int p, int, int c) { return p * 256 + c < 589 ? p * 256 + c : -1; }},
    {"both sides", 1, 256, 589, "i32", "p * C + c", "(p * C + c < n) & (c > 6)",
     [](int p, int, int c) { return p * 256 + c < 589 && c > 6 ? p * 256 + c : -1; }},
    {"every third", 1, 256, 0, "i32", "p * C + c", "c % 3 == 0",
     [](int p, int, int c) { return c % 3 == 0 ? p * 256 + c : -1; }},
    {"pairs in the mask", 1, 256, 0, "i32", "p * C + c", "c // 2 % 3 == 0",
     [](int p, int, int c) { return c / 2 % 3 == 0 ? p * 256 + c : -1; }},
    {"within the tile the same", 1, 512, 0, "i32", "c // 16 + p", "None",
     [](int p, int, int c) { return c / 16 + p; }, /*isShared=*/true},
    {"backwards", 1, 128, 0, "i32", "p * C + C - 1 - c", "None",
     [](int p, int, int c) { return p * 128 + 127 - c; }},
    {"fewer than threads", 1, 16, 13, "i32", "c", "c < n",
     [](int, int, int c) { return c < 13 ? c : -1; }},
    {"odd rows", 8, 32, 29, "i32", "(r + p) * 37 + c", "c < n",
     [](int p, int r, int c) { return c < 29 ? (r + p) * 37 + c : -1; }},
    {"aligned rows", 8, 32, 6, "i32", "(r + p) * 64 + c", "r < n",
     [](int p, int r, int c) { return r < 6 ? (r + p) * 64 + c : -1; }},
    {"columns", 32, 8, 29, "i32", "(c + p) * 40 + r", "r < n",
     [](int p, int r, int c) { return r < 29 ? (c + p) * 40 + r : -1; }},
    {"one place", 1, 8, 0, "i32", "0", "None", [](int, int, int) { return 0; }, /*isShared=*/true},
};

/// Of integers whole numbers.
int unitOf(const char *type) { return type[0] == 'i' ? 1 : 4; }

double summand(const char *type, int program, int r, int c) {
  return double((program * 7 + r * 5 + c * 2) % 9 - 4) / unitOf(type);
}

const char body[] = R"(
@triton.jit
def kernel(y, n, R: tl.constexpr, C: tl.constexpr, UNIT: tl.constexpr):
    program = tl.program_id(0)
    p = program % 3
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    value = ((program * 7 + r * 5 + c * 2) % 9 - 4).to(tl.float32) / UNIT
    place = PLACE + 0 * (r + c)
    tl.atomic_add(y + place, value.to(y.dtype.element_ty), mask=MASK, sem='SEM', scope='SCOPE')
)";

std::string with(std::string text, const std::string &from, const std::string &to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string sourceOf(const Case &sum, const char *semantic, const char *scope) {
  return with(with(with(with(body, "PLACE", sum.place), "MASK", sum.mask), "SEM", semantic),
              "SCOPE", scope);
}

/// Runs it for an array that begins `shift` elements behind a multiple of 64 bytes.
void expectSums(const Case &sum, const char *type, int shift, const char *semantic,
                const char *scope, const char *target, SourceOptions options = {}) {
  SCOPED_TRACE(std::string(sum.name) + ", " + type + ", shifted by " + std::to_string(shift));
  Array y(type, memorySize + shift);
  std::vector<double> expected(memorySize + size_t(shift));
  for (size_t i = 0; i < expected.size(); ++i)
    y.set(i, expected[i] = double(i % 5));
  for (int program = 0; program < programs; ++program)
    for (int r = 0; r < sum.rows; ++r)
      for (int c = 0; c < sum.columns; ++c)
        if (int place = sum.placeOf(program % 3, r, c); place >= 0)
          expected[size_t(shift + place)] += summand(type, program, r, c);
  options.grid = {programs, 1, 1};
  SourceArgument array = y.argument("y");
  array.type += shift ? ":" + std::to_string(y.type().bits / 8) : "";
  array.bits += uint64_t(shift) * y.type().bits / 8;
  ASSERT_EQ(runSource(sourceOf(sum, semantic, scope), target,
                      {array, {"n", sum.boundType, sum.bound}},
                      {{"R", sum.rows}, {"C", sum.columns}, {"UNIT", unitOf(type)}}, options),
            "");
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(double(y[i]), expected[i]) << "at " << i;
}

/// One program's, at places of which no two are one, and what was there before.
void expectOldValues(const Case &sum, const char *type, int shift, const char *target,
                     const SourceOptions &options = {}) {
  SCOPED_TRACE(std::string(sum.name) + ", " + type + ", shifted by " + std::to_string(shift));
  Array y(type, memorySize + shift), old(type, sum.rows * sum.columns);
  std::vector<double> expected(memorySize + size_t(shift)), before(old.count());
  for (size_t i = 0; i < expected.size(); ++i)
    y.set(i, expected[i] = double(i % 5 + 1));
  for (int r = 0; r < sum.rows; ++r)
    for (int c = 0; c < sum.columns; ++c)
      if (int place = sum.placeOf(0, r, c); place >= 0) {
        double &sumThere = expected[size_t(shift + place)];
        before[size_t(r * sum.columns + c)] = sumThere;
        sumThere += summand(type, 0, r, c);
      }
  SourceArgument array = y.argument("y");
  array.type += shift ? ":" + std::to_string(y.type().bits / 8) : "";
  array.bits += uint64_t(shift) * y.type().bits / 8;
  std::string text = sourceOf(sum, "relaxed", "gpu");
  text = with(with(text, "kernel(y,", "kernel(y, o,"), "tl.atomic_add", "old = tl.atomic_add");
  text += std::string("    tl.store(o + r * C + c, old, mask=") + sum.mask + ")\n";
  ASSERT_EQ(runSource(text, target, {array, old.argument("o"), {"n", sum.boundType, sum.bound}},
                      {{"R", sum.rows}, {"C", sum.columns}, {"UNIT", unitOf(type)}}, options),
            "");
  for (size_t i = 0; i < before.size(); ++i)
    ASSERT_EQ(double(old[i]), before[i]) << "before, at " << i;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(double(y[i]), expected[i]) << "at " << i;
}

TEST_P(AtomicSum, OldValuesOfEveryShapeAndMask) {
  for (const Case &sum : cases)
    if (!sum.isShared)
      for (auto [type, shift] : {std::pair("fp16", 0), {"fp16", 1}, {"bf16", 0}})
        expectOldValues(sum, type, shift, GetParam());
}

TEST_P(AtomicSum, OldValuesInMemoryOfTheDevice) {
  SourceOptions options;
  options.deviceMemory = options.smallArrays = true;
  for (const Case &sum : cases)
    if (!sum.isShared)
      for (const char *type : {"fp16", "bf16", "fp32", "i64"})
        expectOldValues(sum, type, 0, GetParam(), options);
}

TEST_P(AtomicSum, EveryShapeAndMask) {
  for (const Case &sum : cases)
    for (auto [type, shift] : {std::pair("fp16", 0), {"fp16", 1}, {"bf16", 0}, {"fp32", 0}})
      expectSums(sum, type, shift, "relaxed", "gpu", GetParam());
}

/// Where the hardware's own operations may be used, as those on AMD's buffers.
TEST_P(AtomicSum, InMemoryOfTheDevice) {
  SourceOptions options;
  options.deviceMemory = true;
  for (const Case &sum : cases) {
    expectSums(sum, "fp32", 0, "relaxed", "gpu", GetParam(), options);
    options.smallArrays = true;
    for (auto [type, shift] : {std::pair("fp16", 0),
                               {"fp16", 1},
                               {"bf16", 0},
                               {"fp32", 1},
                               {"fp64", 0},
                               {"i32", 0},
                               {"i64", 0}})
      expectSums(sum, type, shift, "relaxed", "gpu", GetParam(), options);
    options.smallArrays = false;
  }
}

TEST_P(AtomicSum, EveryOrderAndScopeInMemoryOfTheDevice) {
  SourceOptions options;
  options.deviceMemory = options.smallArrays = true;
  for (const char *semantic : {"relaxed", "acquire", "release", "acq_rel"})
    for (const char *scope : {"cta", "gpu", "sys"})
      for (int sum : {2, 6, 8})
        expectSums(cases[sum], "fp32", 0, semantic, scope, GetParam(), options);
}

TEST_P(AtomicSum, EveryOrderAndScope) {
  for (const char *semantic : {"relaxed", "acquire", "release", "acq_rel"})
    for (const char *scope : {"cta", "gpu", "sys"}) {
      expectSums(cases[2], "fp16", 0, semantic, scope, GetParam());
      // Of which most threads own nothing.
      expectSums(cases[8], "fp32", 0, semantic, scope, GetParam());
    }
}

TEST_P(AtomicSum, WhatIsOrderedBeforeIsSeen) {
  // The last of the programs to add to the counter sees the sums of all.
  const int count = 96;
  for (bool deviceMemory : {false, true}) {
    Array y("fp32", count), total("fp32", 1);
    Buffer<int32_t> arrived(1);
    SourceOptions options;
    options.grid = {5, 1, 1};
    options.deviceMemory = options.smallArrays = deviceMemory;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(y, total, arrived, n):
    i = tl.arange(0, 128)
    tl.atomic_add(y + i, i.to(tl.float32), mask=i < n, sem='relaxed')
    if tl.atomic_add(arrived, 1) == tl.num_programs(0) - 1:
        tl.store(total, tl.sum(tl.load(y + i, mask=i < n, other=0.)))
)",
                        GetParam(),
                        {y.argument("y"),
                         total.argument("total"),
                         {"arrived", "*i32", arrived},
                         {"n", "i32:16", count}},
                        {}, options),
              "");
    EXPECT_EQ(double(total[0]), 5 * count * (count - 1) / 2);
  }
}

KILN_SOURCE_TESTS_ON_ALL(AtomicSum);

} // namespace
} // namespace kiln::testing
