#include "codegen/Expression.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>
#include <limits>

namespace kiln::test {
namespace {

std::optional<int64_t> valueOf(llvm::StringRef text, TextError &error) {
  return expression(text).evaluate(
      [](llvm::StringRef name) -> std::optional<int64_t> {
        if (name == "M")
          return 1000;
        if (name == "B")
          return 128;
        if (name == "min64")
          return std::numeric_limits<int64_t>::min();
        if (name == "max64")
          return std::numeric_limits<int64_t>::max();
        return std::nullopt;
      },
      error);
}

int64_t value(llvm::StringRef text) {
  TextError error;
  std::optional<int64_t> result = valueOf(text, error);
  EXPECT_TRUE(result) << text.str() << ": " << error.message;
  return result.value_or(-12345);
}

std::string failure(llvm::StringRef text) {
  TextError error;
  EXPECT_FALSE(valueOf(text, error)) << text.str();
  return error.message;
}

std::string syntaxError(llvm::StringRef text) {
  TextError error;
  EXPECT_FALSE(Expression::parse(text, error)) << text.str();
  return std::to_string(error.begin) + "-" + std::to_string(error.end) + " " + error.message;
}

TEST(Expression, HasPythonsValues) {
  EXPECT_EQ(value("cdiv(M, B)"), 8);
  EXPECT_EQ(value("triton.cdiv(M, B) * 2 + 1"), 17);
  EXPECT_EQ(value("1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 // -2"), -4);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("7 % -2"), -1);
  EXPECT_EQ(value("cdiv(-7, 2)"), -3);
  EXPECT_EQ(value("min(3, 1, 2) + max(3, 9, 2)"), 10);
  EXPECT_EQ(value("next_power_of_2(M)"), 1024);
  EXPECT_EQ(value("next_power_of_2(0)"), 1);
  EXPECT_EQ(value("2 - 3 - 4"), -5);
  EXPECT_EQ(value("M >= 1000 and not M > 1000"), 1);
  EXPECT_EQ(value("M < 5 or M != 1000"), 0);
  EXPECT_EQ(value("(M == 1000) * 3 + (M <= 1)"), 3);
  EXPECT_EQ(value("- -3"), 3);
  EXPECT_EQ(value("min64 % -1"), 0);
  EXPECT_EQ(value("min64 % 3"), 1);
  EXPECT_EQ(value("cdiv(min64, 3)"), -3074457345618258602);
  EXPECT_EQ(value("min64 // 3"), -3074457345618258603);
  EXPECT_EQ(value("M and B"), 128);
  EXPECT_EQ(value("0 and B"), 0);
  EXPECT_EQ(value("M or B"), 1000);
  EXPECT_EQ(value("0 or B or 1"), 128);
  EXPECT_EQ(value("B < 1 or M and 7"), 7);
  // What the left side decides is not evaluated on the right.
  EXPECT_EQ(value("B == 128 or M // (B - 128) > 1"), 1);
  EXPECT_EQ(value("B != 128 and M // (B - 128) > 1"), 0);
}

TEST(Expression, OverflowAndDivisionByZeroAreErrors) {
  EXPECT_EQ(failure("M // 0"), "division by zero");
  EXPECT_EQ(failure("M % 0"), "division by zero");
  EXPECT_EQ(failure("cdiv(M, M - 1000)"), "division by zero");
  EXPECT_EQ(failure("max64 + 1"), "overflow of 64 bits");
  EXPECT_EQ(failure("min64 - 1"), "overflow of 64 bits");
  EXPECT_EQ(failure("max64 * 2"), "overflow of 64 bits");
  EXPECT_EQ(failure("-min64"), "overflow of 64 bits");
  EXPECT_EQ(failure("min64 // -1"), "overflow of 64 bits");
  EXPECT_EQ(failure("next_power_of_2(max64)"), "overflow of 64 bits");
  EXPECT_EQ(failure("N + 1"), "unknown name 'N'");
  EXPECT_EQ(failure("M // 0 or 1"), "division by zero");
  EXPECT_EQ(failure("M > 1 and max64 * 2 > 0"), "overflow of 64 bits");
}

TEST(Expression, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(syntaxError(""), "0-0 expected a number, a name or '(', got the end");
  EXPECT_EQ(syntaxError("M +"), "3-3 expected a number, a name or '(', got the end");
  EXPECT_EQ(syntaxError("M / 2"), "2-3 expected an operator or the end of the expression, got '/'");
  EXPECT_EQ(syntaxError("cdiv(M)"), "0-7 expected 2 operands of cdiv, got 1");
  EXPECT_EQ(syntaxError("ceil(M)"), "0-4 unknown function 'ceil'");
  EXPECT_EQ(syntaxError("(M"), "2-2 expected ')', got the end");
  EXPECT_EQ(syntaxError("1 < 2 < 3"), "6-7 expected one comparison, got '<'");
  EXPECT_EQ(syntaxError("99999999999999999999"),
            "0-20 expected a 64-bit integer, got '99999999999999999999'");
  EXPECT_EQ(syntaxError("META.x"), "0-6 expected an argument or a constant, got 'META.x'");
  EXPECT_EQ(syntaxError("3x").substr(0, 10), "0-2 expect");
  EXPECT_EQ(syntaxError(std::string(1000, '(')).substr(0, 6), "64-65 ");
  EXPECT_EQ(syntaxError(std::string(1000, '-')).substr(0, 6), "64-65 ");
  std::string doubling = "a";
  for (int i = 0; i < 40; ++i)
    doubling = "(" + doubling + " or b) + 1";
  EXPECT_EQ(syntaxError(doubling),
            "0-" + std::to_string(doubling.size()) + " expected a simpler expression");
}

TEST(Expression, NamesAreListedOnce) {
  EXPECT_EQ(expression("cdiv(M, B) * cdiv(N, B)").names(),
            (std::vector<std::string>{"M", "B", "N"}));
}

std::string simplified(llvm::StringRef text) {
  return expression(text)
      .simplify([](llvm::StringRef name) {
        return name == "B" ? std::optional<int64_t>(64) : std::nullopt;
      })
      .text();
}

TEST(Expression, ConstantsAreFolded) {
  EXPECT_EQ(simplified("cdiv(M, B * 2) * cdiv(N, B)"), "cdiv(M, 128) * cdiv(N, 64)");
  EXPECT_EQ(simplified("n >= B * 4"), "n >= 256");
  EXPECT_EQ(simplified("(n + 1) * (B - 65) - (m - 1)"), "(n + 1) * -1 - (m - 1)");
  EXPECT_EQ(simplified("-(n // B) % (m * 2)"), "-(n // 64) % (m * 2)");
  EXPECT_EQ(simplified("not (a and (b or c)) or not d"), "not (a and (b or c)) or not d");
  EXPECT_EQ(simplified("(a < b) == (c > d)"), "(a < b) == (c > d)");
  // A side that decides alone, and one that fails.
  EXPECT_EQ(simplified("B > 64 and n // 0"), "0");
  EXPECT_EQ(simplified("B == 64 and n > 1"), "n > 1");
  EXPECT_EQ(simplified("B or n"), "64");
  EXPECT_EQ(simplified("n > 1 or B > 64"), "n > 1");
  EXPECT_EQ(simplified("n > 1 and B == 64"), "n > 1");
  EXPECT_EQ(simplified("n and B == 64"), "n and 1");
  EXPECT_EQ(simplified("n + B // 0"), "n + 64 // 0");
}

TEST(Expression, ConjunctsStandAlone) {
  std::vector<std::string> texts;
  for (const Expression &one : expression("a < 1 and (b or c) and not (d and e)").conjuncts())
    texts.push_back(one.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"a < 1", "b or c", "not (d and e)"}));
}

TEST(Expression, LongChainsHaveShortC) {
  std::string text = "a";
  for (int i = 0; i < 800; ++i)
    text += " or a";
  std::set<std::string> used;
  auto name = [](llvm::StringRef name) { return name.str(); };
  EXPECT_LT(expression(text).printC(name, "&failed", used).size(), 40000u);
}

TEST(Expression, PrintsAsCheckedC) {
  std::set<std::string> used;
  std::string c =
      expression("cdiv(M, B) * -2")
          .printC([](llvm::StringRef name) { return "args->" + name.str(); }, "&failed", used);
  EXPECT_EQ(c, "checked_mul(ceil_div(args->M, args->B, &failed), checked_sub(0, 2, &failed), "
               "&failed)");
  EXPECT_EQ(used, (std::set<std::string>{"ceil_div", "checked_mul", "checked_sub"}));
  auto name = [](llvm::StringRef name) { return name.str(); };
  EXPECT_EQ(expression("n == 0 or 7 % n == 0").printCTruth(name, "&failed", used),
            "((n == 0) || (floor_mod(7, n, &failed) == 0))");
  EXPECT_EQ(expression("a or b and c < 1").printC(name, "&failed", used),
            "((a != 0) ? a : ((b != 0) ? (int64_t)(c < 1) : 0))");
}

} // namespace
} // namespace kiln::test
