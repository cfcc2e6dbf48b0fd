// `while` loops that count, which are made loops over ranges: of all forms of conditions and steps,
// of no iteration, one and several, with the counter used in the body and behind the loop.

#include "tests/language/Numbers.h"
#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class CountedLoop : public SourceTest {};
class CountedProductLoop : public SourceTest {};

struct Numbers {
  int64_t start, end, other;
};

struct Form {
  /// Of i, end and other.
  const char *condition;
  bool (*holds)(int64_t i, Numbers n);
  const char *step;
  int64_t by;
};

const Form forms[] = {
    {"i < end", [](int64_t i, Numbers n) { return i < n.end; }, "i += 3", 3},
    {"end > i", [](int64_t i, Numbers n) { return i < n.end; }, "i = 1 + i", 1},
    {"i <= end", [](int64_t i, Numbers n) { return i <= n.end; }, "i += 3", 3},
    {"i > end", [](int64_t i, Numbers n) { return i > n.end; }, "i -= 2", -2},
    {"i >= end", [](int64_t i, Numbers n) { return i >= n.end; }, "i += -2", -2},
    {"i >= other and i < end", [](int64_t i, Numbers n) { return i >= n.other && i < n.end; },
     "i += 4", 4},
    {"(i < end) & (i <= other)", [](int64_t i, Numbers n) { return i < n.end && i <= n.other; },
     "i += 1", 1},
    {"(i > end) & (i >= other) & (i < 9)",
     [](int64_t i, Numbers n) { return i > n.end && i >= n.other && i < 9; }, "i -= 1", -1},
    {"(other > 0) & (i < end)", [](int64_t i, Numbers n) { return n.other > 0 && i < n.end; },
     "i += 2", 2},
    {"i + 4 <= end", [](int64_t i, Numbers n) { return i + 4 <= n.end; }, "i += 4", 4},
    {"i - 1 > end", [](int64_t i, Numbers n) { return i - 1 > n.end; }, "i -= 3", -3},
    {"i + other < end", [](int64_t i, Numbers n) { return i + n.other < n.end; }, "i += 2", 2},
    {"i < end", [](int64_t i, Numbers n) { return i < n.end; }, "i += tl.num_programs(0) * 4", 4},
    {"i > end", [](int64_t i, Numbers n) { return i > n.end; }, "i -= tl.num_programs(0)", -1},
    {"i < end", [](int64_t i, Numbers n) { return i < n.end; }, "i += five", 5},
    // Steps of unknown sign: what is no loop over a range.
    {"i < end", [](int64_t i, Numbers n) { return i < n.end; }, "i += end * 0 + 5", 5},
    {"i != end", [](int64_t i, Numbers n) { return i < n.end; }, "i = tl.minimum(i, end - 1) + 1",
     1},
};

struct Types {
  const char *counter, *end;
  bool hasSign = true;
};

std::string sourceOf(const Form &form, Types types) {
  return std::string(R"(
@triton.jit
def kernel(out, x, start, end, other, five):
    tl.assume(five > 0)
    i = start
    count = 0
    sum = 0
    while )") +
         form.condition + R"(:
        count += 1
        sum = sum * 3 + tl.load(x + (i & 15)) + i.to(tl.int32)
        )" +
         form.step + R"(
    tl.store(out, count)
    tl.store(out + 1, sum)
    tl.store(out + 2, i)
)";
}

/// As C++ has it: count, sum, the counter in the end.
std::array<int64_t, 3> expectedOf(const Form &form, Numbers n, const Buffer<int32_t> &x) {
  int64_t count = 0, i = n.start;
  uint32_t sum = 0;
  bool runs = std::string(form.condition) != "i != end" || n.start < n.end;
  for (; runs && form.holds(i, n); ++count) {
    sum = sum * 3 + uint32_t(x[i & 15]) + uint32_t(i);
    i += form.by;
  }
  return {count, int32_t(sum), i};
}

TEST_P(CountedLoop, OfAllForms) {
  constexpr int32_t most = INT32_MAX;
  Buffer<int32_t> x(16);
  for (int i = 0; i < 16; ++i)
    x[i] = i * i + 1;
  for (Types types : {Types{"i32", "i32"}, {"i64", "i32"}, {"i32", "i64"}, {"u32", "u32", false}})
    for (const Form &form : forms) {
      Buffer<int64_t> out(3);
      bool isWide = types.end == std::string("i64");
      auto arguments = [&](Numbers n) {
        auto number = [](const char *name, const std::string &type, int64_t value) {
          return type == "i64" ? SourceArgument(name, type, value)
                               : SourceArgument(name, type, int32_t(value));
        };
        return std::vector<SourceArgument>{{"out", "*i64", out},
                                           {"x", "*i32", x},
                                           number("start", types.counter, n.start),
                                           number("end", types.end, n.end),
                                           number("other", types.end, n.other),
                                           number("five", types.counter, 5)};
      };
      // The counter would become wider than it was, or go below zero.
      if ((std::string(form.step).find("end") != std::string::npos && isWide) ||
          (!types.hasSign && std::string(form.step) == "i += -2"))
        continue;
      SourceKernel kernel(sourceOf(form, types), GetParam(), arguments({}), {}, {});
      ASSERT_EQ(kernel.errors(), "") << form.condition << " " << form.step;
      for (Numbers n : {Numbers{0, 0, 0},
                        {5, 5, 5},
                        {0, 1, 1},
                        {1, 0, 0},
                        {0, 7, 3},
                        {7, 0, 2},
                        {3, 11, 0},
                        {2, 11, 40},
                        {20, 9, 1},
                        {8, 1, 12},
                        {4, 8, 5},
                        {most - 8, most - 4, most},
                        {most - 4, most - 20, 1},
                        {-5, 5, -6},
                        {6, -4, -9},
                        {-7, -20, -9}}) {
        if (!types.hasSign && (n.start < 1 || n.end < 6 || n.other < 0))
          continue;
        if (n.end > most - 10 && (form.by > 4 || std::string(form.condition) == "i + other < end"))
          continue;
        if (std::string(form.condition) == "i != end" && n.start > n.end)
          continue;
        ASSERT_EQ(kernel.run(arguments(n), {1, 1, 1}), "");
        std::array<int64_t, 3> expected = expectedOf(form, n, x);
        for (int i = 0; i < 3; ++i)
          EXPECT_EQ(out[i], expected[i])
              << form.condition << ", " << form.step << ", " << types.counter << " and "
              << types.end << ": " << n.start << " " << n.end << " " << n.other << ", result " << i;
      }
    }
}

const char *const product = R"(
@triton.jit
def kernel(a, b, c, n, first, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    sum = tl.zeros((M, N), tl.float32)
    if DOWN:
        i = first + (n - first + K - 1) // K * K
        while i > first:
            i -= K
            x = tl.load(a + m[:, None] * n + (i + k)[None, :], mask=(i + k)[None, :] < n, other=0.0)
            y = tl.load(b + (i + k)[:, None] * N + j[None, :], mask=(i + k)[:, None] < n, other=0.0)
            sum += tl.dot(x, y)
    else:
        i = first
        pa = a + m[:, None] * n + (i + k)[None, :]
        pb = b + (i + k)[:, None] * N + j[None, :]
        while i < n:
            x = tl.load(pa, mask=k[None, :] < n - i, other=0.0)
            y = tl.load(pb, mask=k[:, None] < n - i, other=0.0)
            sum += tl.dot(x, y)
            pa += K
            pb += K * N
            i += K
    tl.store(c + m[:, None] * N + j[None, :], sum)
    tl.store(c + M * N, (i - first).to(tl.float32))
)";

TEST_P(CountedProductLoop, OfAnyLength) {
  constexpr int m = 32, n = 32, k = 32, most = 7 * k;
  for (const char *type : {"i32", "i64"})
    for (bool down : {false, true}) {
      Buffer<uint16_t> a(m * most), b(most * n);
      Buffer<float> c(m * n + 1);
      auto number = [&](const char *name, int value) {
        return type == std::string("i64") ? SourceArgument(name, type, int64_t(value))
                                          : SourceArgument(name, type, int32_t(value));
      };
      auto arguments = [&](int length, int first) {
        return std::vector<SourceArgument>{{"a", "*fp16", a},
                                           {"b", "*fp16", b},
                                           {"c", "*fp32", c},
                                           number("n", length),
                                           number("first", first)};
      };
      SourceKernel kernel(product, GetParam(), arguments(0, 0),
                          {{"M", m}, {"N", n}, {"K", k}, {"DOWN", down}}, {});
      ASSERT_EQ(kernel.errors(), "");
      // Small whole numbers, as fp16 has them: 0, 1, 2, 3.
      const uint16_t numbers[] = {0, 0x3c00, 0x4000, 0x4200};
      Random random(7);
      std::vector<int> x(m * most), y(most * n);
      for (auto [ints, halves] : {std::pair(&x, &a), std::pair(&y, &b)})
        for (size_t i = 0; i < ints->size(); ++i)
          (*halves)[i] = numbers[(*ints)[i] = int(random.below(4))];
      for (auto [length, first] : {std::pair(0, 0),
                                   {1, 0},
                                   {k, 0},
                                   {k + 1, 0},
                                   {3 * k, 0},
                                   {7 * k - 5, 0},
                                   {2 * k, 2 * k},
                                   {3 * k, k},
                                   {5 * k, 2 * k}}) {
        ASSERT_EQ(kernel.run(arguments(length, first), {1, 1, 1}), "");
        for (int r = 0; r < m; ++r)
          for (int s = 0; s < n; ++s) {
            int sum = 0;
            for (int i = first; i < length; ++i)
              sum += x[r * length + i] * y[i * n + s];
            ASSERT_EQ(c[r * n + s], float(sum)) << type << (down ? " down " : " ") << first
                                                << " to " << length << " at " << r << ", " << s;
          }
        int moved = down ? 0 : (length - first + k - 1) / k * k;
        EXPECT_EQ(c[m * n], float(moved));
      }
    }
}

const char *const shares = R"(
@triton.jit
def kernel(x, y, m, n, N, C: tl.constexpr, W: tl.constexpr, FORM: tl.constexpr):
    pid = tl.program_id(0)
    total = m * n
    programs = C if FORM == "constant" else tl.num_programs(0)
    full = total // programs
    rest = total % programs
    at = pid * full + tl.minimum(pid, rest)
    last = (pid + 1) * full + tl.minimum(pid + 1, rest)
    if FORM == "range":
        for i in range(at, last):
            j = (i % n * W + tl.arange(0, W)) % N
            tl.store(y + i * W + tl.arange(0, W), tl.load(x + j) + i)
    else:
        while at < last:
            end = tl.minimum(at + n - at % n, last)
            for i in range(at, end):
                j = (i % n * W + tl.arange(0, W)) % N
                tl.store(y + i * W + tl.arange(0, W), tl.load(x + j) + i)
            at = end
)";

/// As stream-K's programs do; where sizes are negative none has anything.
TEST_P(CountedLoop, OfPrograms) {
  constexpr int width = 16, length = 48, programs = 5, most = 40;
  for (const char *form : {"constant", "programs", "range"}) {
    Buffer<int32_t> x(length);
    for (int i = 0; i < length; ++i)
      x[i] = 1000 * i;
    for (auto [m, n] :
         {std::pair(0, 4), {1, 1}, {1, 4}, {3, 4}, {5, 5}, {8, 5}, {-3, 4}, {3, -4}}) {
      Buffer<int32_t> y(most * width);
      SourceOptions options;
      options.grid = {programs, 1, 1};
      ASSERT_EQ(runSource(shares, GetParam(),
                          {{"x", "*i32:16", x},
                           {"y", "*i32:16", y},
                           {"m", "i32", m},
                           {"n", "i32", n},
                           {"N", "i32:16", length}},
                          {{"C", programs}, {"W", width}, {"FORM", form}}, options),
                "");
      for (int i = 0; i < most; ++i)
        for (int k = 0; k < width; ++k)
          ASSERT_EQ(y[i * width + k], i < m * n ? 1000 * ((i % n * width + k) % length) + i : 0)
              << form << " " << m << " " << n << " " << i;
    }
  }
}

KILN_SOURCE_TESTS(CountedLoop);
KILN_SOURCE_TESTS_ON_ALL(CountedProductLoop);

} // namespace
} // namespace kiln::testing
