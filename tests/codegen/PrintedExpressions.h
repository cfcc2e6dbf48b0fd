// Expressions whose C form is compiled and compared with Expression::evaluate; a, b and c are read.
#ifndef KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H
#define KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H

#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace kiln::test {

/// A random expression over a, b and c of at most `depth` levels, with every operator and function.
inline std::string randomExpression(std::mt19937_64 &random, unsigned depth) {
  static const char *const leaves[] = {"a", "b", "c",  "0",          "1",
                                       "2", "7", "16", "1000000007", "9223372036854775807"};
  static const char *const operators[] = {"+",  "-", "*",  "//",  "%",  "==",  "!=", "<",
                                          "<=", ">", ">=", "and", "or", "and", "or"};
  static const char *const functions[] = {"cdiv", "min", "max"};
  if (depth == 0 || random() % 8 == 0)
    return leaves[random() % std::size(leaves)];
  auto operand = [&] { return "(" + randomExpression(random, depth - 1) + ")"; };
  switch (random() % 8) {
  case 0:
    return "not " + operand();
  case 1:
    return "-" + operand();
  case 2: {
    const char *function = functions[random() % std::size(functions)];
    std::string left = operand();
    return std::string(function) + "(" + left + ", " + operand() + ")";
  }
  case 3:
    return random() % 4 ? operand() : "next_power_of_2(" + operand() + ")";
  default: {
    std::string left = operand();
    std::string op = operators[random() % std::size(operators)];
    return left + " " + op + " " + operand();
  }
  }
}

inline std::vector<std::string> printedExpressions() {
  std::vector<std::string> all = {
      "a + b",
      "a - b",
      "a * b",
      "a // b",
      "a % b",
      "-a",
      "not a",
      "a == b",
      "a != b",
      "a < b",
      "a <= b",
      "a > b",
      "a >= b",
      "a and b",
      "a or b",
      "cdiv(a, b)",
      "min(a, b, c)",
      "max(a, b, c)",
      "next_power_of_2(a)",
      "cdiv(a, b) * cdiv(c, b)",
      "(a + b) * (a - c) // (b - c) % 7",
      "(a < b) * c + (a >= b) * -c",
      "9223372036854775807 - a",
      "a + 3000000000",
      "b == 0 or a % b == 0",
      "b and a // b or c",
      "a or b or c or 5",
      "a and b and c",
      "not (a < b or b < c) and a != c",
      "((a or b) and c) or (a and (b or c))",
      "(a < b or c) + (a and b < c)",
  };
  std::mt19937_64 random(5);
  for (int i = 0; i < 400; ++i)
    all.push_back(randomExpression(random, 1 + i % 5));
  return all;
}

} // namespace kiln::test

#endif // KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H
