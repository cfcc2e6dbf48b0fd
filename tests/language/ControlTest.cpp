// Loops, facts, assertions, questions about types and the target.

#include "tests/language/Numbers.h"

namespace kiln::testing {
namespace {

KILN_COVERS("tl.range tl.static_range tl.multiple_of tl.max_contiguous tl.max_constancy tl.assume "
            "tl.debug_barrier tl.static_assert tl.static_print tl.device_assert tl.swizzle2d "
            "tl.constexpr tl.constexpr_type tl.dtype tl.pointer_type tl.block_type tl.tensor "
            "tl.get_int_dtype tl._log2 tl._is_power_of_two tl._unwrap_if_constexpr tl.tuple "
            "tl.num_warps tl.num_threads "
            "tl.gdc_wait tl.gdc_launch_dependents tl.target_info.current_target "
            "tl.target_info.is_cuda tl.target_info.is_hip tl.target_info.is_hip_cdna3 "
            "tl.target_info.is_hip_cdna4 tl.target_info.cuda_capability_geq "
            "tl.target_info.get_current_target");

class Control : public SourceTest {
protected:
  std::string target() const { return GetParam(); }
};

TEST_P(Control, Loops) {
  // Each loop's trips and the sum of its variable, for run-time bounds.
  const char *loops[] = {
      "range(n)",
      "tl.range(n)",
      "tl.range(0, n, 1, num_stages=2)",
      "tl.range(low, n)",
      "tl.range(low, n, 3)",
      "range(n, low, -2)",
      "tl.range(n, low, -3, loop_unroll_factor=2, disallow_acc_multi_buffer=True)",
      "tl.range(low, n, 2, flatten=True, warp_specialize=False, disable_licm=True)",
      "range(n, low)",
      "tl.static_range(7)",
      "tl.static_range(2, 20, 5)",
      "tl.static_range(10, 0, -4)",
      "tl.range(4, 10, 2)"};
  auto expected = [](int from, int to, int step) {
    int trips = 0, sum = 0;
    for (int i = from; step > 0 ? i < to : i > to; i += step) {
      ++trips;
      sum += i;
    }
    return std::pair(trips, sum);
  };
  for (auto [low, n] : {std::pair(2, 11), {0, 0}, {-5, 8}, {3, 4}}) {
    const std::pair<int, int> results[] = {
        expected(0, n, 1),   expected(0, n, 1),    expected(0, n, 1),    expected(low, n, 1),
        expected(low, n, 3), expected(n, low, -2), expected(n, low, -3), expected(low, n, 2),
        expected(n, low, 1), expected(0, 7, 1),    expected(2, 20, 5),   expected(10, 0, -4),
        expected(4, 10, 2)};
    std::string source = "@triton.jit\ndef kernel(q, low, n):\n";
    int count = 0;
    for (const char *loop : loops) {
      std::string at = std::to_string(2 * count++);
      source += "    trips = 0\n    sum = tl.zeros([4], tl.int32)\n    for i in " +
                std::string(loop) + ":\n        trips += 1\n        sum += i\n    tl.store(q + " +
                at + ", trips)\n    tl.store(q + " + at + " + 1, tl.max(sum, 0))\n";
    }
    Buffer<int32_t> y(2 * count);
    ASSERT_EQ(
        runSource(source, GetParam(), {{"q", "*i32", y}, {"low", "i32", low}, {"n", "i32", n}}),
        "");
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(y[2 * i], results[i].first) << loops[i] << " from " << low << " to " << n;
      EXPECT_EQ(y[2 * i + 1], results[i].second) << loops[i] << " from " << low << " to " << n;
    }
  }
}

TEST_P(Control, FactsChangeNothingThatIsTrue) {
  const int n = 80;
  Array x = mixedArray("fp32", n, 1), y("fp32", n);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, n, N: tl.constexpr):
    tl.assume(n > 0)
    tl.assume(n % 16 == 0)
    tl.assume(True)
    tl.multiple_of(n, 16)
    start = tl.multiple_of(tl.program_id(0) * N, N)
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, N), N), N)
    same = tl.max_constancy(i // 16, 16)
    x = tl.load(p + i, mask=i < n)
    tl.debug_barrier()
    tl.store(q + i, tl.where(same >= 0, x, 0.0), mask=i < n)
)",
                      GetParam(), {x.argument("p"), y.argument("q"), {"n", "i32:16", n}},
                      {{"N", 32}}, {{3, 1, 1}}),
            "");
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(y.bits(i), x.bits(i));
}

TEST_P(Control, AssertionsThatHold) {
  Buffer<int32_t> y(16);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(q, n):
    i = tl.arange(0, 16)
    tl.static_assert(i.shape[0] == 16, "the extent")
    tl.static_print("the shape is", i.shape)
    tl.device_assert(i < n)
    tl.device_assert(n > 3, "a message")
    tl.device_assert(i > 3, "only some count", mask=i > 4)
    tl.store(q + i, i + n)
)",
                      GetParam(), {{"q", "*i32", y}, {"n", "i32", 16}}),
            "");
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], i + 16);
  std::string errors = runSource(
      "@triton.jit\ndef kernel(q):\n    tl.static_assert(tl.arange(0, 4).shape[0] == 8, 'eight')\n",
      GetParam(), {{"q", "*i32", y}});
  EXPECT_NE(errors.find("eight"), std::string::npos) << errors;
}

TEST_P(Control, Swizzle) {
  // Groups of 3 rows of a 7 x 5 grid; the last one has a single row.
  Buffer<int32_t> y(2 * 35);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(q, rows, columns):
    i, j = tl.program_id(0), tl.program_id(1)
    r, c = tl.swizzle2d(i, j, rows, columns, 3)
    tl.store(q + 2 * (i * columns + j), r)
    tl.store(q + 2 * (i * columns + j) + 1, c)
)",
                      GetParam(), {{"q", "*i32", y}, {"rows", "i32", 7}, {"columns", "i32", 5}}, {},
                      {{7, 5, 1}}),
            "");
  for (int linear = 0; linear < 35; ++linear) {
    int group = linear / 15, height = std::min(7 - group * 3, 3), within = linear % 15;
    EXPECT_EQ(y[2 * linear], group * 3 + within % height) << linear;
    EXPECT_EQ(y[2 * linear + 1], within / height) << linear;
  }
}

TEST_P(Control, QuestionsAboutTypes) {
  Buffer<int32_t> y(8);
  Buffer<float> x({1.5f, -2.5f, 3.5f, 4.5f});
  ASSERT_EQ(runSource(R"(
SIZE = tl.constexpr(4)

@triton.jit
def kernel(p, q):
    tl.static_assert(tl.dtype('fp16') == tl.float16)
    tl.static_assert(tl.pointer_type(tl.float32) == p.dtype)
    tl.static_assert(p.dtype.element_ty == tl.float32)
    tl.static_assert(tl.block_type(tl.int32, [SIZE]).shape[0] == 4)
    tl.static_assert(tl.get_int_dtype(16, False) == tl.uint16)
    tl.static_assert(tl.get_int_dtype(bitwidth=64, signed=True) == tl.int64)
    tl.static_assert(tl.standard._log2(64) == 6)
    tl.static_assert(tl.standard._is_power_of_two(64) and not tl.standard._is_power_of_two(65))
    tl.static_assert(tl.core._unwrap_if_constexpr(tl.constexpr(3)) == 3)
    tl.static_assert(tl.constexpr_type(7) == tl.constexpr_type(7))
    i = tl.arange(0, SIZE)
    x = tl.load(p + i)
    tl.static_assert(isinstance(x, tl.tensor))
    a, b = tl.tuple((x + 1, x * 2))
    tl.store(q + i, tl.tensor(x, tl.int32))
    tl.store(q + 4 + i, (a + b).to(tl.int32))
)",
                      GetParam(), {{"p", "*fp32", x}, {"q", "*i32", y}}),
            "");
  const uint32_t bits[] = {0x3fc00000, 0xc0200000, 0x40600000, 0x40900000};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(uint32_t(y[i]), bits[i]);
    EXPECT_EQ(y[4 + i], int(x[i] + 1 + x[i] * 2));
  }
}

TEST_P(Control, QuestionsAboutTheTarget) {
  Buffer<int32_t> y(8);
  SourceOptions options;
  options.numWarps = 2;
  ASSERT_EQ(runSource(R"(
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait
from triton.language.extra.cuda import num_threads, num_warps
from triton.language.target_info import (cuda_capability_geq, current_target, is_cuda, is_hip,
                                         is_hip_cdna3, is_hip_cdna4)
import triton.runtime

def backend():
    return triton.runtime.driver.active.get_current_target().backend

@triton.jit
def kernel(q):
    gdc_wait()
    tl.store(q, is_cuda())
    tl.store(q + 1, is_hip())
    tl.store(q + 2, is_hip_cdna3())
    tl.store(q + 3, is_hip_cdna4())
    tl.store(q + 4, num_warps())
    tl.store(q + 5, num_threads())
    tl.store(q + 6, cuda_capability_geq(9) + 2 * cuda_capability_geq(10, 0))
    name: tl.constexpr = current_target().backend
    same: tl.constexpr = name == backend()
    tl.store(q + 7, same)
    gdc_launch_dependents()
)",
                      GetParam(), {{"q", "*i32", y}}, {}, options),
            "");
  bool cuda = target() == "emu:sm_90a", hip = target() == "emu:gfx942";
  EXPECT_EQ(y[0], cuda);
  EXPECT_EQ(y[1], hip);
  EXPECT_EQ(y[2], hip);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 2);
  EXPECT_EQ(y[5], cuda ? 64 : hip ? 128 : 2);
  EXPECT_EQ(y[6], cuda);
  EXPECT_EQ(y[7], 1);
}

KILN_SOURCE_TESTS(Control);

} // namespace
} // namespace kiln::testing
