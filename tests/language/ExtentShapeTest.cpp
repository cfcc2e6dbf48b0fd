// What moves elements of tiles whose extents are not powers of two: reshapes, joins, permutations.
// GatherTest and SortTest have such extents too.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class ExtentShape : public SourceTest {};

Buffer<int32_t> counting(int count) {
  Buffer<int32_t> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = 1 + i;
  return values;
}

/// Runs a kernel `kernel(p, q)` on the numbers from 1 on; gives what it stores.
std::vector<int> results(const char *target, const std::string &body, int inputs, int outputs) {
  Buffer<int32_t> p = counting(inputs), q(outputs);
  EXPECT_EQ(runSource("@triton.jit\ndef kernel(p, q):\n" + body, target,
                      {{"p", "*i32", p}, {"q", "*i32", q}}),
            "")
      << body;
  return std::vector<int>(q.data(), q.data() + outputs);
}

std::vector<int> numbersTo(int count) {
  std::vector<int> numbers;
  for (int i = 1; i <= count; ++i)
    numbers.push_back(i);
  return numbers;
}

TEST_P(ExtentShape, Reshapes) {
  // Row-major order whatever the shapes: with and without gaps between rows.
  struct {
    const char *from, *to;
    int count;
  } cases[] = {
      {"[48]", "[6, 8]", 48},       {"[48]", "[8, 6]", 48},         {"[6, 8]", "[48]", 48},
      {"[8, 6]", "[48]", 48},       {"[8, 6]", "[6, 8]", 48},       {"[3, 5, 7]", "[7, 15]", 105},
      {"[15, 16]", "[3, 80]", 240}, {"[3, 1, 4]", "[3, 4, 1]", 12}, {"[5, 32]", "[5, 4, 8]", 160},
      {"[96]", "[2, 3, 16]", 96},   {"[1, 100]", "[100, 1]", 100},  {"[9]", "[3, 3]", 9},
      {"[12, 20]", "[240]", 240},   {"[2, 2, 3]", "[1, 12]", 12}};
  for (const auto &c : cases)
    EXPECT_EQ(results(GetParam(),
                      "    x = tl.load(p + tl.arange(0, " + std::to_string(c.count) + "))\n" +
                          "    y = x.reshape(" + c.from + ") + 0\n" + "    z = y.reshape(" + c.to +
                          ") * 1\n" + "    tl.store(q + tl.arange(0, " + std::to_string(c.count) +
                          "), z.reshape([" + std::to_string(c.count) + "]))\n",
                      c.count, c.count),
              numbersTo(c.count))
        << c.from << " to " << c.to;
}

TEST_P(ExtentShape, ReshapeOfEveryKindOfElement) {
  const char *source = R"(
@triton.jit
def kernel(p, h, f, q):
    r = tl.arange(0, 5)[:, None] * 6 + tl.arange(0, 6)[None, :]
    i = tl.arange(0, 30)
    flags = (tl.load(p + r) % 3 == 0).reshape([30])
    at = (p + r).reshape([30])
    halves = tl.load(h + r).reshape([30])
    tl.store(q + i, tl.where(flags, tl.load(at), -1))
    tl.store(f + i, halves)
)";
  Buffer<int32_t> p = counting(30), q(30);
  Buffer<uint16_t> h(30), f(30);
  for (int i = 0; i < 30; ++i)
    h[i] = uint16_t(0x3c00 + i);
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*i32", p}, {"h", "*fp16", h}, {"f", "*fp16", f}, {"q", "*i32", q}}),
            "");
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(q[i], (i + 1) % 3 == 0 ? i + 1 : -1);
    EXPECT_EQ(f[i], h[i]);
  }
}

TEST_P(ExtentShape, JoinSplitInterleaveCat) {
  std::string load = "    i = tl.arange(0, 24)\n"
                     "    x = tl.load(p + i)\n"
                     "    y = tl.load(p + 24 + i)\n";
  std::vector<int> woven, doubled = numbersTo(48);
  for (int i = 1; i <= 24; ++i)
    woven.insert(woven.end(), {i, i + 24});
  EXPECT_EQ(results(GetParam(), load + "    tl.store(q + tl.arange(0, 48), tl.interleave(x, y))\n",
                    48, 48),
            woven);
  EXPECT_EQ(results(GetParam(),
                    load + "    tl.store(q + tl.arange(0, 48), tl.cat(x, y, "
                           "can_reorder=False))\n",
                    48, 48),
            doubled);
  EXPECT_EQ(results(GetParam(),
                    load + "    a, b = tl.split(tl.join(x, y))\n"
                           "    tl.store(q + i, a)\n    tl.store(q + 24 + i, b)\n",
                    48, 48),
            doubled);
  EXPECT_EQ(
      results(GetParam(),
              "    i = tl.arange(0, 3)[:, None] * 7 + tl.arange(0, 7)[None, :]\n"
              "    x = tl.load(p + i)\n"
              "    y = tl.cat(x, x + 100, can_reorder=False, dim=0)\n"
              "    tl.store(q + tl.arange(0, 6)[:, None] * 7 + tl.arange(0, 7)[None, :], y)\n",
              21, 42),
      [] {
        std::vector<int> both = numbersTo(21);
        for (int i = 1; i <= 21; ++i)
          both.push_back(i + 100);
        return both;
      }());
  Buffer<int32_t> p(3), q(1);
  std::string errors = runSource("@triton.jit\n"
                                 "def kernel(p, q):\n"
                                 "    a, b = tl.split(tl.load(p + tl.arange(0, 3)))\n",
                                 GetParam(), {{"p", "*i32", p}, {"q", "*i32", q}});
  EXPECT_NE(errors.find("a last extent of 2"), std::string::npos) << errors;
}

TEST_P(ExtentShape, PermutedAxes) {
  std::vector<int> expected;
  for (int c = 0; c < 7; ++c)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 5; ++b)
        expected.push_back(1 + (a * 5 + b) * 7 + c);
  EXPECT_EQ(results(GetParam(),
                    "    a, b, c = tl.arange(0, 3), tl.arange(0, 5), tl.arange(0, 7)\n"
                    "    x = tl.load(p + (a[:, None, None] * 5 + b[None, :, None]) * 7 + "
                    "c[None, None, :])\n"
                    "    y = tl.permute(x, (2, 0, 1)).reshape([105])\n"
                    "    tl.store(q + tl.arange(0, 105), y)\n",
                    105, 105),
            expected);
}

TEST_P(ExtentShape, WhatNeedsHalvesIsAnError) {
  Buffer<float> p(24);
  std::string errors = runSource("@triton.jit\n"
                                 "def kernel(p):\n"
                                 "    x = tl.load(p + tl.arange(0, 24))\n"
                                 "    tl.store(p + tl.arange(0, 24), tl.bitonic_merge(x))\n",
                                 GetParam(), {{"p", "*fp32", p}});
  EXPECT_NE(errors.find("tl.bitonic_merge: expected a power of two as last extent"),
            std::string::npos)
      << errors;
}

KILN_SOURCE_TESTS(ExtentShape);

} // namespace
} // namespace kiln::testing
