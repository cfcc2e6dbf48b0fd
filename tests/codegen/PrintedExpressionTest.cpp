// The C form of an expression, its value at build time, its simplified form and its range agree.
#include "codegen/IntegerRange.h"
#include "tests/codegen/PrintedExpressions.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>
#include <limits>

using Function = int64_t (*)(int64_t, int64_t, int64_t, int *);
extern "C" const Function expression_table[];
extern "C" const Function expression_truth_table[];
extern "C" const Function portable_table[];
extern "C" const Function portable_truth_table[];

namespace kiln::test {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

int64_t anyInteger(std::mt19937_64 &random) {
  static const int64_t special[] = {
      0,        1,       -1,         2, 7, 2147483647, 2147483648, 3037000500, int64_t(1) << 62,
      kHighest, kLowest, kLowest + 1};
  if (random() % 2)
    return special[random() % std::size(special)];
  return static_cast<int64_t>(random()) >> (random() % 64);
}

struct Arguments {
  int64_t a, b, c;
  std::optional<int64_t> operator[](llvm::StringRef name) const {
    return name == "a" ? a : name == "b" ? b : c;
  }
};

std::ostream &operator<<(std::ostream &out, const Arguments &arguments) {
  return out << arguments.a << " " << arguments.b << " " << arguments.c;
}

std::optional<int64_t> valueOf(const Expression &expression, const Arguments &arguments) {
  TextError error;
  return expression.evaluate([&](llvm::StringRef name) { return arguments[name]; }, error);
}

/// Calls `check` for many arguments of every expression.
void forEach(int rounds,
             llvm::function_ref<void(const Expression &, size_t, const Arguments &)> check) {
  std::mt19937_64 random(1);
  std::vector<std::string> texts = printedExpressions();
  for (size_t i = 0; i < texts.size() && !testing::Test::HasFatalFailure(); ++i) {
    Expression parsed = expression(texts[i]);
    for (int round = 0; round < rounds; ++round)
      check(parsed, i, {anyInteger(random), anyInteger(random), anyInteger(random)});
  }
}

void compare(const Function *values, const Function *truths) {
  forEach(3000, [&](const Expression &parsed, size_t i, const Arguments &arguments) {
    std::optional<int64_t> expected = valueOf(parsed, arguments);
    int failed = 0, truthFailed = 0;
    int64_t actual = values[i](arguments.a, arguments.b, arguments.c, &failed);
    int64_t truth = truths[i](arguments.a, arguments.b, arguments.c, &truthFailed);
    ASSERT_EQ(failed != 0, !expected) << parsed.text() << ": " << arguments;
    ASSERT_EQ(truthFailed != 0, !expected) << parsed.text() << ": " << arguments;
    if (expected) {
      ASSERT_EQ(actual, *expected) << parsed.text() << ": " << arguments;
      ASSERT_EQ(truth != 0, *expected != 0) << parsed.text() << ": " << arguments;
    }
  });
}

TEST(PrintedExpression, EqualsEvaluation) { compare(expression_table, expression_truth_table); }
TEST(PrintedExpression, EqualsEvaluationWithoutBuiltins) {
  compare(portable_table, portable_truth_table);
}

TEST(PrintedExpression, KeepsItsValueWhenSimplified) {
  forEach(100, [&](const Expression &parsed, size_t, const Arguments &arguments) {
    // With one constant, and read again from the text that it has then.
    Expression simple = parsed.simplify(
        [&](llvm::StringRef name) { return name == "b" ? arguments["b"] : std::nullopt; });
    std::optional<int64_t> expected = valueOf(parsed, arguments);
    ASSERT_EQ(valueOf(simple, arguments), expected) << parsed.text() << ": " << arguments;
    if (simple.text().find(std::to_string(kLowest)) == std::string::npos) {
      ASSERT_EQ(valueOf(expression(simple.text()), arguments), expected)
          << parsed.text() << " as " << simple.text() << ": " << arguments;
    }
    bool isTrue = expected && *expected != 0, allHold = true;
    for (const Expression &conjunct : parsed.conjuncts())
      allHold &= valueOf(conjunct, arguments).value_or(0) != 0;
    ASSERT_EQ(allHold, isTrue) << parsed.text() << ": " << arguments;
  });
}

TEST(PrintedExpression, IsWithinItsRange) {
  std::mt19937_64 random(2);
  forEach(100, [&](const Expression &parsed, size_t, const Arguments &arguments) {
    // Ranges around the arguments, some of them with a remainder.
    NamedRanges ranges;
    for (llvm::StringRef name : {"a", "b", "c"}) {
      int64_t value = *arguments[name], reach = int64_t(random() >> (1 + random() % 63));
      IntegerRange range;
      range.low = value < kLowest + reach ? kLowest : value - reach;
      range.high = value > kHighest - reach ? kHighest : value + reach;
      range.modulus = int64_t(1) << (random() % 5);
      range.remainder = value & (range.modulus - 1);
      ranges[name.str()] = range;
    }
    std::optional<int64_t> value = valueOf(parsed, arguments);
    if (!value)
      return;
    ASSERT_TRUE(rangeOf(parsed, ranges).contains(*value)) << parsed.text() << ": " << arguments;
    if (*value == 0)
      return;
    // The arguments meet the condition, so they are among those that may.
    ASSERT_TRUE(narrow(ranges, {&parsed})) << parsed.text() << ": " << arguments;
    for (auto &[name, range] : ranges)
      ASSERT_FALSE(range.intersect(IntegerRange::ofConstant(*arguments[name])).isEmpty())
          << parsed.text() << ": " << arguments;
  });
}

} // namespace
} // namespace kiln::test
