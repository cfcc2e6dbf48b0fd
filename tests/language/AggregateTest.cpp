// Aggregates: classes of @triton.language.core._aggregate, with methods, through control flow.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class Aggregate : public SourceTest {};

const char *const classes = R"(
@tl.core._aggregate
class Sum:
    total: tl.tensor
    weight: tl.constexpr

    @triton.constexpr_function
    def __init__(self, total, weight):
        self.total = total
        self.weight = tl.constexpr(weight)

    @triton.jit
    def add(self, x):
        return Sum(self.total + x, self.weight)

    @triton.jit
    def value(self):
        return self.total * self.weight

@tl.core._aggregate
class Both:
    sum: Sum
    count: tl.tensor

    @triton.constexpr_function
    def __init__(self, sum, count):
        self.sum = sum
        self.count = count
)";

/// Runs `body` with x, 16 floats (0, 1, …), n and i in scope; what it stores to q.
std::vector<float> run(const char *target, const std::string &body, int n) {
  Buffer<float> x(16), y(16);
  for (int i = 0; i < 16; ++i)
    x[i] = float(i);
  std::string kernel = classes + std::string(R"(
@triton.jit
def kernel(p, q, n):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
)") + body;
  EXPECT_EQ(runSource(kernel, target, {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", n}}), "");
  return std::vector<float>(y.data(), y.data() + 16);
}

TEST_P(Aggregate, MethodsGiveNewValues) {
  const char *body = R"(
    s = Sum(x, 4)
    for k in range(n):
        s = s.add(1.0)
    if n > 2:
        s = s.add(10.0)
    tl.store(q + i, s.value())
)";
  for (int n : {0, 2, 3}) {
    std::vector<float> y = run(GetParam(), body, n);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(y[i], 4 * float(i + n + (n > 2 ? 10 : 0))) << n;
  }
}

TEST_P(Aggregate, FieldsThatLoopsAndBranchesChange) {
  const char *body = R"(
    s = Sum(x, 4)
    both = Both(s, 0)
    for k in range(n):
        both.sum.total = both.sum.total + 2.0
        both.count += 1
        if k > 1:
            both.count += 100
    s.total -= 1.0
    tl.store(q + i, both.sum.value() + both.count)
)";
  for (int n : {0, 2, 5}) {
    std::vector<float> y = run(GetParam(), body, n);
    int count = n + (n > 2 ? 100 * (n - 2) : 0);
    for (int i = 0; i < 16; ++i) {
      // `s` and `both.sum` are one object until the loop.
      EXPECT_EQ(y[i], 4 * float(i + 2 * n) + float(count)) << n << " at " << i;
    }
  }
}

TEST_P(Aggregate, CallsGetCopies) {
  const char *body = R"(
    s = Sum(x, 2)
    spoil(s)
    tl.store(q + i, s.value())

@triton.jit
def spoil(s):
    s.total = s.total * 0.0
)";
  std::vector<float> y = run(GetParam(), body, 0);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], 2 * float(i));
}

TEST_P(Aggregate, PythonMakesThem) {
  const char *body = R"(
    s = Pair.twice(x)
    tl.store(q + i, s.first + s.factor * s.second)

@tl.core._aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor
    factor: tl.constexpr

    @staticmethod
    def twice(x):
        return Pair(x, second=x, factor=tl.constexpr(3))
)";
  std::vector<float> y = run(GetParam(), body, 0);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], 4 * float(i));
}

KILN_SOURCE_TESTS(Aggregate);

} // namespace
} // namespace kiln::testing
