// Expressions whose C form is compiled and compared with Expression::evaluate; a, b and c are read.
#ifndef KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H
#define KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H

inline constexpr const char *kPrintedExpressions[] = {
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
};

#endif // KILN_TESTS_CODEGEN_PRINTEDEXPRESSIONS_H
