// tl.device_print and tl.device_assert: what a running kernel says.

#include "tests/language/SourceKernel.h"

#include "runtime/kiln.h"
#include <algorithm>
#include <cstdint>
#include <sstream>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.device_print tl.device_assert");

class Debug : public SourceTest {};

/// Collects what kernels print while it lives.
class Printed {
public:
  Printed() {
    kiln_set_print_function(
        [](void *user, const char *line, size_t length) {
          static_cast<std::string *>(user)->append(line, length);
        },
        &text);
  }
  ~Printed() { kiln_set_print_function(nullptr, nullptr); }

  /// The lines in alphabetical order: that of threads is nobody's promise.
  std::vector<std::string> lines() const {
    std::vector<std::string> list;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      list.push_back(line);
    std::sort(list.begin(), list.end());
    return list;
  }

private:
  std::string text;
};

TEST_P(Debug, PrintsEveryElementOnce) {
  Buffer<float> x(16);
  for (int i = 0; i < 16; ++i)
    x[i] = float(i) + 0.5f;
  Printed printed;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p):
    i = tl.arange(0, 16)
    tl.device_print("x", tl.load(p + i))
)",
                      GetParam(), {{"p", "*fp32", x}}),
            "");
  std::vector<std::string> lines = printed.lines();
  ASSERT_EQ(lines.size(), 16u);
  EXPECT_EQ(lines[0], "pid (0, 0, 0) idx ( 0) x: 0.500000");
  EXPECT_EQ(lines[3], "pid (0, 0, 0) idx ( 3) x: 3.500000");
  EXPECT_EQ(lines[15], "pid (0, 0, 0) idx (15) x: 15.500000");
}

TEST_P(Debug, PrintsProgramsScalarsAndSeveralOperands) {
  Printed printed;
  Buffer<float> unused(1);
  SourceOptions options;
  options.grid = {2, 1, 3};
  ASSERT_EQ(
      runSource(R"(
@triton.jit
def kernel(p, n, wide):
    if tl.program_id(2) == 1:
        print("100% of: ", n, wide, 2.5)
    if tl.program_id(0) == 1 and tl.program_id(2) == 2:
        tl.device_print("here")
)",
                GetParam(),
                {{"p", "*fp32", unused}, {"n", "i8", int8_t(-3)}, {"wide", "u64", ~uint64_t(0)}},
                {}, options),
      "");
  std::vector<std::string> expected;
  for (const char *pid : {"pid (0, 0, 1)", "pid (1, 0, 1)"})
    for (const char *rest :
         {" idx () 100% of: (operand 0) -3", " idx () 100% of: (operand 1) 18446744073709551615",
          " idx () 100% of: (operand 2) 2.500000"})
      expected.push_back(std::string(pid) + rest);
  expected.push_back("pid (1, 0, 2) here");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(printed.lines(), expected);
}

TEST_P(Debug, PrintsTypesAsTritonDoes) {
  Buffer<uint16_t> half(1, 0x3e00);
  Buffer<uint8_t> byte(1, 200), small(1, 0x3c);
  Buffer<int16_t> word(1, -2);
  Printed printed;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(h, u, f, w):
    i = tl.arange(0, 1)[:, None] + tl.arange(0, 1)[None, :]
    tl.device_print("a half", tl.load(h + i))
    tl.device_print("b half bits: ", tl.load(h), hex=True)
    tl.device_print("c byte", tl.load(u))
    tl.device_print("d e4m3", tl.load(f))
    tl.device_print("e word bits", tl.load(w), hex=True)
    tl.device_print("f flag", tl.load(w) < 0)
    tl.device_print("g long bits", tl.load(w).to(tl.int64), hex=True)
    tl.device_print("h double", tl.load(h).to(tl.float64))
)",
                      GetParam(),
                      {{"h", "*fp16", half},
                       {"u", "*u8", byte},
                       {"f", "*fp8e4nv", small},
                       {"w", "*i16", word}}),
            "");
  std::vector<std::string> lines = printed.lines();
  std::vector<std::string> expected = {"pid (0, 0, 0) idx () b half bits: 0x3e00",
                                       "pid (0, 0, 0) idx () c byte: 200",
                                       "pid (0, 0, 0) idx () d e4m3: 1.500000",
                                       "pid (0, 0, 0) idx () e word bits: 0xfffe",
                                       "pid (0, 0, 0) idx () f flag: 1",
                                       "pid (0, 0, 0) idx () g long bits: 0xfffffffffffffffe",
                                       "pid (0, 0, 0) idx () h double: 1.500000",
                                       "pid (0, 0, 0) idx (0, 0) a half: 1.500000"};
  EXPECT_EQ(lines, expected);
}

TEST_P(Debug, PrintsInLoopsAndBranches) {
  Buffer<int32_t> x(4);
  for (int i = 0; i < 4; ++i)
    x[i] = i;
  Printed printed;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, n):
    i = tl.arange(0, 4)
    for k in range(n):
        x = tl.load(p + i)
        if k > 0:
            print("x", x * x)
        tl.store(p + i, x + 1)
)",
                      GetParam(), {{"p", "*i32", x}, {"n", "i32", 3}}),
            "");
  std::vector<std::string> expected;
  for (int k = 1; k < 3; ++k)
    for (int i = 0; i < 4; ++i)
      expected.push_back("pid (0, 0, 0) idx (" + std::to_string(i) +
                         ") x: " + std::to_string((i + k) * (i + k)));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(printed.lines(), expected);
}

TEST_P(Debug, PrintsTilesOfAnyExtents) {
  // Each element once, and none of what pads the tile on GPUs; indices as wide as 9 rows need.
  Buffer<int32_t> x(9 * 12);
  for (int i = 0; i < 9 * 12; ++i)
    x[i] = 1000 + i;
  Printed printed;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p):
    x = tl.load(p + tl.arange(0, 9)[:, None] * 12 + tl.arange(0, 12)[None, :])
    tl.device_print("x", x)
)",
                      GetParam(), {{"p", "*i32", x}}),
            "");
  std::vector<std::string> expected;
  for (int r = 0; r < 9; ++r)
    for (int c = 0; c < 12; ++c)
      expected.push_back("pid (0, 0, 0) idx (" + std::to_string(r) + (c < 10 ? ",  " : ", ") +
                         std::to_string(c) + ") x: " + std::to_string(1000 + 12 * r + c));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(printed.lines(), expected);
}

/// Runs p[i] = statement of x[i] and y[i], of a type, with debugging on.
std::string runChecked(const char *target, const std::string &type, const std::string &expression,
                       int64_t a, int64_t b, bool debug = true) {
  Buffer<int64_t> x(16, a), y(16, b), z(16);
  // The last element alone is at fault.
  for (size_t i = 0; i < 15; ++i)
    x[i] = y[i] = 1;
  SourceOptions options;
  options.debug = debug;
  return runSource("@triton.jit\ndef combine(a, b):\n    return a + b\n\n"
                   "@triton.jit\ndef kernel(p, q, r):\n    i = tl.arange(0, 16)\n"
                   "    x = tl.load(p + i).to(tl." +
                       type +
                       ")\n"
                       "    y = tl.load(q + i).to(tl." +
                       type +
                       ")\n"
                       "    tl.store(r + i, (" +
                       expression + ").to(tl.int64))\n",
                   target, {{"p", "*i64", x}, {"q", "*i64", y}, {"r", "*i64", z}}, {}, options);
}

TEST_P(Debug, FindsIntegerOverflow) {
  struct {
    const char *type, *expression;
    int64_t a, b;
    const char *message;
  } overflows[] = {
      {"int32", "x + y", INT32_MAX, 1, "int32 overflow detected for operation add"},
      {"int32", "x - y", INT32_MIN, 1, "int32 overflow detected for operation sub"},
      {"int32", "x * y", 1 << 16, 1 << 15, "int32 overflow detected for operation mul"},
      {"int8", "x + y", 127, 1, "int8 overflow detected for operation add"},
      {"uint8", "x * y", 16, 16, "uint8 overflow detected for operation mul"},
      {"uint32", "x - y", 3, 4, "uint32 overflow detected for operation sub"},
      {"int16", "tl.mul(x, y)", 200, 200, "int16 overflow detected for operation mul"},
      {"int32", "x + 1", INT32_MAX, 0, "int32 overflow detected for operation add"},
  };
  for (auto [type, expression, a, b, message] : overflows) {
    std::string found = runChecked(GetParam(), type, expression, a, b);
    EXPECT_NE(found.find(message), std::string::npos)
        << expression << " of " << type << ": " << found;
    EXPECT_NE(found.find("test.py:"), std::string::npos) << found;
    EXPECT_EQ(runChecked(GetParam(), type, expression, a, b, /*debug=*/false), "");
    EXPECT_EQ(runChecked(GetParam(), type, expression, 5, 4), "") << expression;
  }
  // Not looked at: 64 bits, what says so, and functions of elements.
  EXPECT_EQ(runChecked(GetParam(), "int64", "x + y", INT64_MAX, 1), "");
  EXPECT_EQ(runChecked(GetParam(), "int32", "tl.add(x, y, sanitize_overflow=False)", INT32_MAX, 1),
            "");
  EXPECT_EQ(runChecked(GetParam(), "int32", "tl.reduce(x, 0, combine)", INT32_MAX, 1), "");
}

TEST_P(Debug, AssertionsOnTilesOfAnyExtents) {
  const char *source = R"(
@triton.jit
def kernel(p):
    x = tl.load(p + tl.arange(0, 20))
    tl.device_assert(x > 0, "x must be positive")
)";
  SourceOptions options;
  options.debug = true;
  Buffer<int32_t> x(20, 1);
  EXPECT_EQ(runSource(source, GetParam(), {{"p", "*i32", x}}, {}, options), "");
  x[19] = 0;
  EXPECT_NE(
      runSource(source, GetParam(), {{"p", "*i32", x}}, {}, options).find("x must be positive"),
      std::string::npos);
}

const char *const assertion = R"(
@triton.jit
def kernel(p, q, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    x = tl.load(p + i)
    tl.device_assert(x > 0, "x must be positive", mask=i < n)
    assert n > 2, "n is too small"
    tl.store(q + i, x)
)";

std::string runAssertion(const char *target, int bad, int n, bool debug) {
  Buffer<int32_t> x(192, 1), y(192);
  if (bad >= 0)
    x[bad] = -1;
  SourceOptions options;
  options.grid = {3, 1, 1};
  options.debug = debug;
  return runSource(assertion, target, {{"p", "*i32", x}, {"q", "*i32", y}, {"n", "i32", n}}, {},
                   options);
}

TEST_P(Debug, AssertionsStopTheLaunch) {
  EXPECT_EQ(runAssertion(GetParam(), -1, 192, true), "");
  std::string message = runAssertion(GetParam(), 130, 192, true);
  EXPECT_NE(message.find("x must be positive"), std::string::npos) << message;
  EXPECT_NE(message.find("program (2, 0, 0)"), std::string::npos) << message;
  EXPECT_NE(message.find("test.py:9:"), std::string::npos) << message;
  EXPECT_NE(runAssertion(GetParam(), -1, 2, true).find("n is too small"), std::string::npos);
  // Elements outside of the mask are not looked at.
  EXPECT_EQ(runAssertion(GetParam(), 130, 130, true), "");
}

TEST_P(Debug, AssertionsAreDroppedWithoutDebugging) {
  EXPECT_EQ(runAssertion(GetParam(), 130, 192, false), "");
}

KILN_SOURCE_TESTS(Debug);

} // namespace
} // namespace kiln::testing
