// Conditionals and loops at run time: what they merge and carry, how bounds count, and what is
// refused.

#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

using Ints = std::vector<int32_t>;
KILN_COVERS("tl.condition");

class ControlFlow : public SourceTest {};

TEST_P(ControlFlow, ConditionalsMergeWhatTheyAssign) {
  Ints out = outputsOf<int32_t>(
      R"(
@triton.jit
def kernel(p, out, n):
    i = tl.program_id(0)
    x = tl.load(p + i)
    block = tl.arange(0, 4)
    if x > 10:
        y = x * 2
        block += x
    elif x > 5:
        y = 0
    else:
        if x > 2:
            y = -1
        else:
            y = -2
            block = tl.zeros((4,), tl.int32)
    sign = 1 if x > n else -1
    q = out + i * 8
    tl.store(q, y)
    tl.store(q + 1, sign)
    tl.store(q + 2, (x if x > 5 else y) + (10 if n > 100 else 20))
    both = x > 2 and x < 20
    tl.store(q + 3, both)
    if not both or n == x:
        tl.store(q + 3, 7)
    tl.store(q + 4 + tl.arange(0, 4), block)
)",
      GetParam(), "i32", 40, {{"p", "*i32", Buffer<int32_t>({30, 7, 4, 2, 12})}, {"n", "i32", 4}},
      {}, {{5, 1, 1}});
  const int values[] = {30, 7, 4, 2, 12};
  for (int program = 0; program < 5; ++program) {
    int x = values[program], n = 4;
    const int32_t *q = out.data() + program * 8;
    int y = x > 10 ? 2 * x : x > 5 ? 0 : x > 2 ? -1 : -2;
    bool both = x > 2 && x < 20;
    EXPECT_EQ(q[0], y);
    EXPECT_EQ(q[1], x > n ? 1 : -1);
    EXPECT_EQ(q[2], (x > 5 ? x : y) + 20);
    EXPECT_EQ(q[3], !both || n == x ? 7 : both);
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(q[4 + k], x > 10 ? k + x : x <= 2 ? 0 : k);
  }
}

// A rank of at most 16 has one block of 32, or none.
TEST_P(ControlFlow, LoopsThatRunOnceAtMost) {
  for (int rank : {-3, 0, 1, 16, 40}) {
    Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(out, n):
    rank = tl.minimum(n, 16)
    sum = tl.full((32,), 7, tl.int32)
    last = -1
    for k in range(tl.cdiv(rank, 32)):
        i = k * 32 + tl.arange(0, 32)
        sum += tl.where(i < rank, i + 1, 0)
        last = k
    tl.store(out + tl.arange(0, 32), sum)
    tl.store(out + 32, last)
)",
                                  GetParam(), "i32", 33, {{"n", "i32", rank}});
    int kept = std::min(rank, 16);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 7 + (i < kept ? i + 1 : 0));
    EXPECT_EQ(out[32], kept > 0 ? 0 : -1);
  }
}

TEST_P(ControlFlow, LoadsStandUnderTheirCondition) {
  // The pointer is not to be read where the condition is false: the emulator checks reads.
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(p, out, n):
    far = p + n * 100000
    x = tl.load(far) if n == 0 else -1
    tl.store(out, x)
    if n == 0:
        tl.store(far, 1)
    mask = n == 0
    tl.store(out + 1, tl.load(far, mask=mask, other=5))
    tl.store(far, 1, mask=mask)
    i = tl.arange(0, 4)
    tl.store(out + 2 + i, tl.load(p + i + n * 2, mask=i + n * 2 < 4, other=9))
    k = n
    while k < 3 and tl.load(p + k) > 0:
        k += 1
    tl.store(out + 6, k)
)",
                                GetParam(), "i32", 7,
                                {{"p", "*i32", Buffer<int32_t>({1, 2, 3, 4})}, {"n", "i32", 1}});
  EXPECT_EQ(out, (Ints{-1, 5, 3, 4, 9, 9, 3}));
}

TEST_P(ControlFlow, RangesCountAsPythons) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(out, n, START: tl.constexpr, STOP: tl.constexpr, STEP: tl.constexpr):
    # At run time, at compile time, unrolled, and from names that are not known.
    zero = n - n
    count = 0
    last = 100
    for i in range(START + zero, STOP, STEP):
        count += 1
        last = i
    tl.store(out, count)
    tl.store(out + 1, last)
    sum = 0
    for i in range(START, STOP, STEP):
        sum += i * i
    tl.store(out + 2, sum)
    sum = 0
    for i in tl.static_range(START, STOP, STEP):
        K: tl.constexpr = i + 1
        sum += i * K
    tl.store(out + 3, sum)
    sum = 0
    for i in tl.range(START, STOP + zero, STEP, num_stages=1):
        sum += i
        i += 50
    tl.store(out + 4, sum)
)",
                                GetParam(), "i32", 5, {{"n", "i32", 3}},
                                {{"START", 2}, {"STOP", 11}, {"STEP", 3}});
  EXPECT_EQ(out, (Ints{3, 8, 4 + 25 + 64, 6 + 30 + 72, 15}));
  const std::string source = R"(
@triton.jit
def kernel(out, start, stop, STEP: tl.constexpr):
    count = 0
    last = 100
    sum = 0
    for i in range(start, stop, STEP):
        count += 1
        last = i
        sum = sum * 3 + i
    tl.store(out, count)
    tl.store(out + 1, last)
    tl.store(out + 2, sum)
)";
  struct Bounds {
    int start, stop, step;
  };
  for (Bounds b : {Bounds{0, 0, 1},
                   {5, 5, 1},
                   {5, 3, 1},
                   {0, 7, 3},
                   {-5, 5, 4},
                   {7, 0, -1},
                   {7, 0, -3},
                   {3, -4, -2},
                   {0, 3, -1},
                   {-3, -3, -1}}) {
    int count = 0, last = 100, sum = 0;
    for (int i = b.start; b.step > 0 ? i < b.stop : i > b.stop; i += b.step) {
      ++count;
      last = i;
      sum = sum * 3 + i;
    }
    Ints got = outputsOf<int32_t>(source, GetParam(), "i32", 3,
                                  {{"start", "i32", b.start}, {"stop", "i32", b.stop}},
                                  {{"STEP", b.step}});
    EXPECT_EQ(got, (Ints{count, last, sum})) << b.start << " " << b.stop << " " << b.step;
  }
}

TEST_P(ControlFlow, LoopVariablesAreAsWideAsTheirBounds) {
  std::vector<int64_t> out = outputsOf<int64_t>(
      R"(
@triton.jit
def kernel(out, wide, narrow):
    place = out
    for i in range(wide, wide + 3):
        tl.static_assert(i.dtype == tl.int64)
        tl.store(place, i * 2)
        place += 1
    for i in range(narrow, 2**33, 2**32):
        tl.static_assert(i.dtype == tl.int64)
        tl.store(place, i)
        place += 1
    for i in range(narrow, narrow + 2):
        tl.static_assert(i.dtype == tl.int32)
        tl.store(place, i)
        place += 1
    for i in range(3):
        tl.static_assert(i.dtype == tl.int32)
    total = narrow.to(tl.int64)
    for i in range(wide - 2, narrow, -2**32):
        total += i
    tl.store(place, total)
)",
      GetParam(), "i64", 8, {{"wide", "i64", int64_t(1) << 33}, {"narrow", "i32", 1}});
  int64_t base = int64_t(1) << 33;
  EXPECT_EQ(out, (std::vector<int64_t>{2 * base, 2 * base + 2, 2 * base + 4, 1, base / 2 + 1, 1, 2,
                                       1 + (base - 2) + (base / 2 - 2)}));
}

TEST_P(ControlFlow, WhileAndNestedLoops) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(out, n):
    x = n
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out, steps)
    total = 0
    i = 0
    while tl.condition(i < n, disable_licm=True):
        j = i
        while j > 0:
            total += j
            j -= 1
        for k in range(i):
            for m in range(k):
                total += k * m
        i += 1
    tl.store(out + 1, total)
    while False:
        undefined_name()
    a = 0
    b = 1
    for i in range(n):
        a, b = b, a + b
    tl.store(out + 2, a)
    found = -1
    for i in range(n):
        if i * i > n:
            if found < 0:
                found = i
    tl.store(out + 3, found)
    keep = tl.arange(0, 4)
    for i in range(n):
        temporary = keep * 2
        if i < 3:
            keep = temporary + 1
    tl.store(out + 4 + tl.arange(0, 4), keep)
)",
                                GetParam(), "i32", 8, {{"n", "i32", 7}});
  int total = 0;
  for (int i = 0; i < 7; ++i) {
    total += i * (i + 1) / 2;
    for (int k = 0; k < i; ++k)
      total += k * (k * (k - 1) / 2);
  }
  EXPECT_EQ(out, (Ints{16, total, 13, 3, 7, 15, 23, 31}));
}

TEST_P(ControlFlow, OptionsOfLoopsDoNotChangeTheirMeaning) {
  Ints expected;
  for (const char *options :
       {"", ", num_stages=1", ", num_stages=4", ", loop_unroll_factor=3", ", flatten=True",
        ", warp_specialize=True", ", disallow_acc_multi_buffer=True", ", disable_licm=True",
        ", num_stages=None, loop_unroll_factor=None", ", num_stages=STAGES"}) {
    Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(p, out, n, STAGES: tl.constexpr):
    i = tl.arange(0, 16)
    acc = tl.zeros((16,), tl.int32)
    for row in tl.range(0, n)" + std::string(options) +
                                      R"():
        x = tl.load(p + row * 16 + i)
        for column in tl.range(1, 3)" +
                                      options + R"():
            acc = acc * column + x
    tl.store(out + i, acc)
)",
                                  GetParam(), "i32", 16,
                                  {{"p", "*i32",
                                    [] {
                                      std::vector<int32_t> values(80);
                                      Random random(4);
                                      for (int32_t &value : values)
                                        value = int32_t(random.below(1000));
                                      return Buffer<int32_t>(values);
                                    }()},
                                   {"n", "i32", 5}},
                                  {{"STAGES", 2}});
    if (expected.empty())
      expected = out;
    EXPECT_EQ(out, expected) << options;
  }
  EXPECT_NE(expected, Ints(16));
}

TEST_P(ControlFlow, ProgramsThatReturnEarly) {
  // Partial returns among atomics and stores: only the last program writes the total.
  Buffer<int32_t> semaphore(1);
  Ints out =
      outputsOf<int32_t>(R"(
@triton.jit
def kernel(semaphore, out, n, TOTAL: tl.constexpr):
    if TOTAL == 1:
        undefined_name()
        return
    i = tl.program_id(0)
    if i >= n:
        return
    tl.store(out + 1 + i, i * i)
    before = tl.atomic_add(semaphore, 1)
    if before + 1 != TOTAL:
        return
    tl.store(out, before)
)",
                         GetParam(), "i32", 6, {{"semaphore", "*i32", semaphore}, {"n", "i32", 4}},
                         {{"TOTAL", 4}}, {{5, 1, 1}});
  EXPECT_EQ(out, (Ints{3, 0, 1, 4, 9, 0}));
}

TEST_P(ControlFlow, RefusesWhatDoesNotMerge) {
  auto expectError = [&](const std::string &body, const std::string &message) {
    std::string errors = runSource("@triton.jit\ndef kernel(n, p):\n    " + body + "\n", GetParam(),
                                   {{"n", "i32", 4}, {"p", "*i32", Buffer<int32_t>(4)}});
    EXPECT_NE(errors.find(message), std::string::npos) << body << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("if n > 1:\n        x = 1\n    else:\n        x = 1.0\n    y = x + 1", "'x'");
  expectError("if n > 1:\n        x = 1\n    y = x + 1", "'x'");
  expectError("if n > 1:\n        x = tl.arange(0, 4)\n    else:\n        x = 1\n    y = x", "'x'");
  expectError("x = 1 if n > 1 else 1.5", "inconsistent types");
  expectError("x = 0\n    for i in range(n):\n        x = x + 1.5", "'x' changes in the loop");
  expectError("x = 0\n    for i in range(n):\n        x = tl.arange(0, 4)",
              "'x' changes in the loop");
  expectError("x = tl.zeros((4,), tl.float16)\n    while n > 1:\n        x = x.to(tl.float32)",
              "'x' changes in the loop");
  expectError("for i in range(n):\n        y = i\n    x = y", "'y'");
  expectError("for i in range(n):\n        return", "cannot return from inside a loop");
  expectError("while n > 1:\n        if n > 2:\n            return",
              "cannot return from inside a loop");
  expectError("for i in range(n):\n        break", "'break' is not supported");
  expectError("while n > 1:\n        continue", "'continue' is not supported");
  expectError("for i in range(1.5):\n        pass", "loop bound");
  expectError("for i in range(0, n, 0):\n        pass", "step");
  expectError("for i in range(tl.arange(0, 4)):\n        pass", "loop bound");
  expectError("if tl.arange(0, 4) > 2:\n        pass", "a condition must be a scalar");
  expectError("while tl.arange(0, 4) > 2:\n        pass", "a condition must be a scalar");
  expectError("x = 1\n    del x\n    y = x", "'x'");
}

KILN_SOURCE_TESTS(ControlFlow);

} // namespace
} // namespace kiln::testing
