// The runner of the other tests here: what it passes, and that it notices what goes wrong.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

class Runner : public SourceTest {
protected:
  bool isEmulated() const { return std::string(GetParam()) != "cpu"; }
};

TEST_P(Runner, PassesScalarsArraysConstantsAndPrograms) {
  const char *source = R"(
@triton.jit
def kernel(p, q, n, a, b, flag, one, BLOCK: tl.constexpr, SCALE: tl.constexpr, NAME: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(p + i, mask=i < n) * a.to(tl.float32) + b.to(tl.float32) + SCALE + one
    if NAME == "negative":
        y = -y
    if flag:
        y += tl.program_id(1) * 100
    tl.store(q + tl.program_id(1) * n + i, y, mask=i < n)
)";
  const int n = 77;
  Buffer<float> x(n + 1), y(2 * n);
  Random random(1);
  for (int i = 0; i < n; ++i)
    x[i + 1] = float(random.next());
  SourceOptions options;
  options.grid = {3, 2, 1};
  options.numWarps = 2;
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*fp32:4", x, 1},
                       {"q", "*fp32", y},
                       {"n", "i32", n},
                       {"a", "fp64", 2.0},
                       {"b", "i8", int8_t(-3)},
                       {"flag", "i1", true},
                       {"one", "i32:1", 1}},
                      {{"BLOCK", 32}, {"SCALE", 0.5}, {"NAME", "negative"}}, options),
            "");
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(y[j * n + i], -(x[i + 1] * 2 - 3 + 0.5f + 1) + 100.f * j) << j << ", " << i;
}

TEST_P(Runner, ReportsErrorsAsAUserSeesThem) {
  std::string errors = runSource("@triton.jit\ndef kernel(p):\n    tl.store(p, tl.nothing(1))\n",
                                 GetParam(), {{"p", "*i32", Buffer<int>(1)}});
  EXPECT_NE(errors.find("test.py:6:"), std::string::npos) << errors;
  EXPECT_NE(errors.find("tl.store(p, tl.nothing(1))"), std::string::npos) << errors;
}

TEST_P(Runner, NoticesWritesBesideAnArray) {
  Buffer<int> x(32);
  std::string errors =
      runSource("@triton.jit\ndef kernel(p):\n    tl.store(p + 1 + tl.arange(0, 32), 7)\n",
                GetParam(), {{"p", "*i32", x}});
  const char *expected =
      isEmulated() ? "store to no registered allocation" : "p: byte 128 of 128 was written";
  EXPECT_NE(errors.find(expected), std::string::npos) << errors;
}

/// Emulated devices check loads; the CPU reads what stands before the array.
TEST_P(Runner, ChecksReads) {
  Buffer<int> x(32), y(32);
  for (int i = 0; i < 32; ++i)
    x[i] = i;
  std::string errors = runSource("@triton.jit\ndef kernel(p, q):\n    i = tl.arange(0, 32)\n    "
                                 "tl.store(q + i, tl.load(p - 1 + i))\n",
                                 GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}});
  if (isEmulated()) {
    EXPECT_NE(errors.find("test.py:7:"), std::string::npos) << errors;
    return;
  }
  EXPECT_EQ(errors, "");
  for (int i = 1; i < 32; ++i)
    EXPECT_EQ(y[i], i - 1);
}

TEST_P(Runner, RunsOneKernelManyTimes) {
  Buffer<double> x(1);
  std::vector<SourceArgument> arguments = {{"p", "*fp64", x}, {"n", "i64", int64_t(1)}};
  SourceKernel kernel("@triton.jit\ndef kernel(p, n):\n    tl.store(p, tl.load(p) + n)\n",
                      GetParam(), arguments);
  for (int64_t i = 0; i < 5; ++i)
    ASSERT_EQ(kernel.run({{"p", "*fp64", x}, {"n", "i64", i}}), "");
  EXPECT_EQ(x[0], 10);
}

KILN_SOURCE_TESTS_ON_ALL(Runner);

} // namespace
} // namespace kiln::testing
