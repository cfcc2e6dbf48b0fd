// Compile-time Python: what module-level expressions evaluate to.

#include "compiler/Sema/Sema.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

/// Evaluates `expression` after `prelude`, as the default of a kernel's parameter, and prints it as
/// Python would; or the tag of the error.
std::string evaluate(const std::string &expression, const std::string &prelude = "") {
  SourceManager sources;
  DiagnosticEngine diags;
  ModuleLoader loader(sources);
  std::string text = "import math\nimport triton\nimport triton.language as tl\n" + prelude +
                     "\n@triton.autotune(configs=[triton.Config({'X': " + expression +
                     "})], key=[])\n@triton.jit\ndef kernel(X: tl.constexpr):\n    pass\n";
  const LoadedModule *module = loader.loadText(sources.add("test.py", text), diags);
  auto list = evaluateAutotune(loader, *module, "kernel", {}, {}, diags);
  if (!list)
    return diags.getDiagnostics().empty() ? "no message"
                                          : getDiagTag(diags.getDiagnostics().front().kind);
  return list->configs.front().constants.front().second.str();
}

TEST(CompileTime, IntegerArithmeticIsPythons) {
  EXPECT_EQ(evaluate("-7 // 2"), "-4");
  EXPECT_EQ(evaluate("-7 % 3"), "2");
  EXPECT_EQ(evaluate("7 / 2"), "3.5");
  EXPECT_EQ(evaluate("2 ** 40"), "1099511627776");
  EXPECT_EQ(evaluate("2 ** -1"), "0.5");
  EXPECT_EQ(evaluate("(1 << 70) >> 68"), "4");
  EXPECT_EQ(evaluate("~5 & 0xFF"), "250");
  EXPECT_EQ(evaluate("True + True"), "2");
  EXPECT_EQ(evaluate("1 << 200"), "sema-python");
  EXPECT_EQ(evaluate("1 // 0"), "sema-python");
}

TEST(CompileTime, FloatsPrintAsPythonPrintsThem) {
  EXPECT_EQ(evaluate("0.1"), "0.1");
  EXPECT_EQ(evaluate("1e-05"), "1e-05");
  EXPECT_EQ(evaluate("3.0"), "3.0");
  EXPECT_EQ(evaluate("float('-inf')"), "-inf");
  EXPECT_EQ(evaluate("5.5 // 2"), "2.0");
}

TEST(CompileTime, ComparisonsAndLogic) {
  EXPECT_EQ(evaluate("1 < 2 < 3"), "True");
  EXPECT_EQ(evaluate("1 < 2 > 3"), "False");
  EXPECT_EQ(evaluate("None or 'x'"), "'x'");
  EXPECT_EQ(evaluate("0 and undefined"), "0");
  EXPECT_EQ(evaluate("not []"), "True");
  EXPECT_EQ(evaluate("tl.float16 == tl.float16"), "True");
  EXPECT_EQ(evaluate("3 in (1, 2, 3) and 'b' not in 'xyz'"), "True");
  EXPECT_EQ(evaluate("(1, 2) < (1, 3)"), "True");
  EXPECT_EQ(evaluate("'a' < 1"), "sema-operands");
}

TEST(CompileTime, Sequences) {
  EXPECT_EQ(evaluate("(1, 2, 3)[-1]"), "3");
  EXPECT_EQ(evaluate("[0, 1, 2, 3, 4][1:4:2]"), "(1, 3)");
  EXPECT_EQ(evaluate("(1, 2, 3)[::-1]"), "(3, 2, 1)");
  EXPECT_EQ(evaluate("[1] * 3 + [2]"), "(1, 1, 1, 2)");
  EXPECT_EQ(evaluate("(1, *range(2, 4))"), "(1, 2, 3)");
  EXPECT_EQ(evaluate("(1,)"), "(1,)");
  EXPECT_EQ(evaluate("(1, 2)[5]"), "sema-python");
}

TEST(CompileTime, ComprehensionsAndBuiltins) {
  EXPECT_EQ(evaluate("[x * y for x in (1, 2) for y in (3, 4) if x != y]"), "(3, 4, 6, 8)");
  EXPECT_EQ(evaluate("sum(x for x in range(5))"), "10");
  EXPECT_EQ(evaluate("{k: v for k, v in zip('ab', (1, 2))}['b']"), "2");
  EXPECT_EQ(evaluate("sorted([3, 1, 2], reverse=True)"), "(3, 2, 1)");
  EXPECT_EQ(evaluate("max(2, 7, 5) - min([4, 9])"), "3");
  EXPECT_EQ(evaluate("list(map(lambda x: x + 1, (1, 2)))"), "(2, 3)");
  EXPECT_EQ(evaluate("[i for i, c in enumerate('abc') if c != 'b']"), "(0, 2)");
  EXPECT_EQ(evaluate("isinstance(3, int) and not isinstance('x', (int, float))"), "True");
  EXPECT_EQ(evaluate("getattr(tl, 'no_such', 4)"), "4");
}

TEST(CompileTime, Strings) {
  EXPECT_EQ(evaluate("f'{16:x}_{\"a\"!r}_{1.5:.2f}'"), "'10_'a'_1.50'");
  EXPECT_EQ(evaluate("'a,b'.split(',')"), "('a', 'b')");
  EXPECT_EQ(evaluate("'-'.join(['x', 'y']).upper()"), "'X-Y'");
  EXPECT_EQ(evaluate("tl.dtype(f'uint{8}')"), "uint8");
}

TEST(CompileTime, FunctionsRunAsPython) {
  const char *prelude = "def collatz(n, steps=0):\n"
                        "    while n != 1:\n"
                        "        n = n // 2 if n % 2 == 0 else 3 * n + 1\n"
                        "        steps += 1\n"
                        "        if steps > 1000:\n"
                        "            break\n"
                        "    return steps\n"
                        "def table(*names, **values):\n"
                        "    result = {}\n"
                        "    for i, name in enumerate(names):\n"
                        "        if name == 'skip':\n"
                        "            continue\n"
                        "        result[name] = i\n"
                        "    result.update(values)\n"
                        "    try:\n"
                        "        result['bad'] = 1 // 0\n"
                        "    except ZeroDivisionError:\n"
                        "        result['bad'] = -1\n"
                        "    return [v for _, v in sorted(result.items())]\n";
  EXPECT_EQ(evaluate("collatz(6)", prelude), "8");
  EXPECT_EQ(evaluate("table('a', 'skip', 'c', z=9)", prelude), "(0, -1, 2, 9)");
}

TEST(CompileTime, TritonAndMath) {
  EXPECT_EQ(evaluate("triton.cdiv(10, 4) + triton.next_power_of_2(5)"), "11");
  EXPECT_EQ(evaluate("math.ceil(math.log2(9))"), "4");
  EXPECT_EQ(evaluate("math.sqrt(-1)"), "sema-python");
  EXPECT_EQ(evaluate("tl.float8e5.primitive_bitwidth"), "8");
  EXPECT_EQ(evaluate("tl.uint8.is_int_unsigned()"), "True");
}

TEST(CompileTime, UnknownModulesAreOnlyErrorsWhenUsed) {
  EXPECT_EQ(evaluate("1 if torch else 2", "import torch\nsize = torch.cuda.device_count()"), "1");
  EXPECT_EQ(evaluate("size + 1", "import torch\nsize = torch.cuda.device_count()"),
            "sema-not-evaluated");
}

TEST(CompileTime, DeepInputIsBounded) {
  EXPECT_EQ(evaluate("f(0)", "def f(x):\n    return f(x + 1)"), "sema-recursion");
  EXPECT_EQ(evaluate("f()", "def f():\n    while True:\n        pass"), "sema-budget");
}

} // namespace
} // namespace kiln
