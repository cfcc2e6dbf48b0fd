// The C form of an expression and its value at build time are the same function.
#include "tests/codegen/PrintedExpressions.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using Function = int64_t (*)(int64_t, int64_t, int64_t, int *);
extern "C" const Function expression_table[];
extern "C" const Function portable_table[];

namespace kiln::test {
namespace {

int64_t anyInteger(std::mt19937_64 &random) {
  static const int64_t special[] = {0,
                                    1,
                                    -1,
                                    2,
                                    7,
                                    64,
                                    1000,
                                    3037000500,
                                    int64_t(1) << 62,
                                    std::numeric_limits<int64_t>::max(),
                                    std::numeric_limits<int64_t>::min(),
                                    std::numeric_limits<int64_t>::min() + 1};
  if (random() % 2)
    return special[random() % std::size(special)];
  return static_cast<int64_t>(random()) >> (random() % 64);
}

void compare(const Function *table) {
  std::mt19937_64 random(1);
  for (size_t i = 0; i < std::size(kPrintedExpressions); ++i) {
    Expression parsed = expression(kPrintedExpressions[i]);
    for (int round = 0; round < 20000; ++round) {
      int64_t a = anyInteger(random), b = anyInteger(random), c = anyInteger(random);
      TextError error;
      std::optional<int64_t> expected = parsed.evaluate(
          [&](llvm::StringRef name) -> std::optional<int64_t> {
            return name == "a" ? a : name == "b" ? b : c;
          },
          error);
      int failed = 0;
      int64_t actual = table[i](a, b, c, &failed);
      ASSERT_EQ(failed != 0, !expected)
          << kPrintedExpressions[i] << " " << a << " " << b << " " << c;
      if (expected) {
        ASSERT_EQ(actual, *expected) << kPrintedExpressions[i] << " " << a << " " << b << " " << c;
      }
    }
  }
}

TEST(PrintedExpression, EqualsEvaluation) { compare(expression_table); }
TEST(PrintedExpression, EqualsEvaluationWithoutBuiltins) { compare(portable_table); }

} // namespace
} // namespace kiln::test
