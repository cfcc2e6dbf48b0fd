// Calls of functions of the source: how arguments meet parameters, what comes back, and what may be
// passed.

#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

using Ints = std::vector<int32_t>;

class Call : public SourceTest {};

TEST_P(Call, BindsArgumentsAsPythonDoes) {
  Ints out = outputsOf<int32_t>(R"(
DEFAULT = tl.constexpr(4)

@triton.jit
def f(a, b=2, *, c=DEFAULT, D: tl.constexpr = 1):
    return a * 1000 + b * 100 + c * 10 + D

@triton.jit
def head(*values):
    return values[0] * 10 + len(values)

@triton.jit
def options(x, **named):
    return x + named['y'] * named['z']

@triton.jit
def kernel(out, n):
    tl.store(out, f(n))
    tl.store(out + 1, f(n, 3))
    tl.store(out + 2, f(b=n, a=1, c=n))
    tl.store(out + 3, f(n, D=7))
    values: tl.constexpr = (1, 0)
    tl.store(out + 4, f(*values, c=0))
    tl.store(out + 5, head(n, 2, 3))
    tl.store(out + 6, head(*(n, n + 1)))
    tl.store(out + 7, options(n, y=2, z=n))
    named: tl.constexpr = {'a': 9, 'c': 8}
    tl.store(out + 8, f(**named))
)",
                                GetParam(), "i32", 9, {{"n", "i32", 5}});
  EXPECT_EQ(out, (Ints{5241, 5341, 1551, 5247, 1001, 53, 52, 15, 9281}));
}

TEST_P(Call, ReturnsEarlyAndLate) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0

@triton.jit
def nested(x, y):
    if x > 0:
        if y > 0:
            return x + y
        else:
            return x - y
    if y > 5:
        x = -x
    else:
        return y
    return x * y

@triton.jit
def nothing(p, x):
    if x > 2:
        return
    tl.store(p, x)

@triton.jit
def chosen(x, KIND: tl.constexpr):
    if KIND == 'twice':
        return x * 2
    if KIND == 'same':
        return x
    return undefined_name

@triton.jit
def kernel(out, n):
    i = tl.program_id(0) - 2
    p = out + (i + 2) * 6
    tl.store(p, sign(i))
    tl.store(p + 1, nested(i, 3))
    tl.store(p + 2, nested(i, -3))
    tl.store(p + 3, nested(i, 6))
    nothing(p + 4, i + n)
    tl.store(p + 5, chosen(chosen(i, 'twice'), 'same'))
)",
                                GetParam(), "i32", 30, {{"n", "i32", 1}}, {}, {{5, 1, 1}});
  auto nested = [](int x, int y) {
    if (x > 0)
      return y > 0 ? x + y : x - y;
    return y > 5 ? -x * y : y;
  };
  for (int program = 0; program < 5; ++program) {
    int i = program - 2;
    const int32_t *p = out.data() + program * 6;
    EXPECT_EQ(p[0], i > 0 ? 1 : i < 0 ? -1 : 0);
    EXPECT_EQ(p[1], nested(i, 3));
    EXPECT_EQ(p[2], nested(i, -3));
    EXPECT_EQ(p[3], nested(i, 6));
    EXPECT_EQ(p[4], i + 1 > 2 ? 0 : i + 1);
    EXPECT_EQ(p[5], 2 * i);
  }
}

TEST_P(Call, OfFunctionsThatArePassed) {
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def add(a, b):
    return a + b

@triton.jit
def mul(a, b):
    return a * b

@triton.jit(noinline=True)
def outlined(p, x):
    tl.store(p, x)
    return x + 1

@triton.jit
def fold(x, n, FNS: tl.constexpr):
    for k in tl.static_range(len(FNS)):
        x = FNS[k](x, n)
    return x

@triton.jit
def halves(x):
    if x.shape[0] == 1:
        return x
    else:
        left, right = x.reshape((x.shape[0] // 2, 2)).split()
        return halves(left) + halves(right)

class Functions:
    @staticmethod
    @triton.jit
    def add(a, b):
        return a - b

@triton.jit
def kernel(out, n):
    tl.store(out, fold(n, 3, [add, mul, add]))
    tl.store(out + 1, Functions.add(n, 1))
    tl.store(out + 2, outlined(out + 3, outlined(out + 4, n)))
    tl.store(out + 5 + tl.arange(0, 1), halves(tl.arange(0, 16)))
    increase = lambda x: x + n
    tl.store(out + 6, increase(increase(1)))
    acc = 0
    for i in range(4):
        acc = add(acc, i)
    tl.store(out + 7, acc)
)",
                                GetParam(), "i32", 8, {{"n", "i32", 5}});
  EXPECT_EQ(out, (Ints{27, 4, 7, 6, 5, 120, 11, 6}));
}

TEST_P(Call, ReportsTheChainOfCalls) {
  std::string errors = runSource(R"(
@triton.jit
def inner(x):
    return x + tl.arange(0, 3, 5)

@triton.jit
def outer(x):
    return inner(x)

@triton.jit
def kernel(n):
    outer(n)
)",
                                 GetParam(), {{"n", "i32", 1}});
  for (const char *part : {"test.py:", "arange", "in a call of 'inner' from here",
                           "in a call of 'outer' from here", "    outer(n)"})
    EXPECT_NE(errors.find(part), std::string::npos) << part << " in " << errors;
}

TEST_P(Call, RefusesWrongArguments) {
  auto expectError = [&](const std::string &call, const std::string &message) {
    std::string errors =
        runSource(R"(
@triton.jit
def f(a, b=2, *, c=3):
    return a

@triton.jit
def differs(x):
    if x > 0:
        return 1
    else:
        return 1.5

@triton.jit
def forever(x):
    return forever(x)

@triton.must_use_result
@triton.jit
def square(x):
    return x * x

@triton.jit
def kernel(n, p):
    )" + call + "\n",
                  GetParam(), {{"n", "i32", 4}, {"p", "*i32", Buffer<int32_t>(4)}});
    EXPECT_NE(errors.find(message), std::string::npos) << call << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("f()", "needs a value for 'a'");
  expectError("f(1, 2, 3)", "takes 2 arguments, got 3");
  expectError("f(1, a=2)", "got two values for 'a'");
  expectError("f(1, d=2)", "has no parameter 'd'");
  expectError("differs(n)", "return type mismatch: 'differs' returns ");
  expectError("forever(n)", "nested too deeply");
  expectError("square(n)", "the result of square is not used");
  expectError("b = tl.make_block_ptr(p, (8,), (1,), (0,), (4,), (0,))\n    tl.advance(b, (4,))",
              "the result of tl.advance is not used");
  expectError("tl.zeros((4,), tl.int32, nothing=1)", "has no parameter 'nothing'");
  expectError("tl.load()", "needs a value for 'pointer'");
  expectError("tl.nothing(n)", "no attribute 'nothing'");
  expectError("tl.load(n)", "a pointer");
  expectError("tl.load(p, other=0)", "a mask beside it");
  expectError("tl.load(p, mask=n)", "booleans");
  expectError("tl.load(p, cache_modifier='.xx')", "cache_modifier");
  expectError("tl.store(p, 1, eviction_policy='soon')", "eviction_policy");
  expectError("tl.store(p, tl.arange(0, 4))", "a scalar");
}

KILN_SOURCE_TESTS(Call);

} // namespace
} // namespace kiln::testing
