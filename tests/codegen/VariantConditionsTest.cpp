#include "codegen/VariantConditions.h"
#include "codegen/IntegerRange.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using Texts = std::vector<std::string>;

EntryModel kernel() {
  return entry("kernel",
               {{"x", "*fp32"}, {"n", "i32"}, {"m", "i32"}, {"small", "u8"}, {"u", "u64"}});
}

VariantModel needing(const EntryModel &kernel, const Texts &conditions) {
  VariantModel one = variant({{"BLOCK", 64}, {"STEP", 0}});
  for (const std::string &condition : conditions)
    addCondition(expression(condition), kernel, one);
  return one;
}

/// What a variant with these conditions relies on.
Texts needs(const Texts &conditions) {
  EntryModel entry = kernel();
  return needTexts(entry, needing(entry, conditions));
}

Texts contradiction(const Texts &conditions) {
  EntryModel entry = kernel();
  return contradictionOf(entry, needing(entry, conditions));
}

std::string mistake(llvm::StringRef grid, const Texts &conditions = {}, int64_t limit = 65535) {
  EntryModel entry = kernel();
  entry.grid = {expression(grid)};
  return gridMistake(entry, needing(entry, conditions), 0, limit);
}

Texts sizes(llvm::StringRef grid) {
  EntryModel entry = kernel();
  entry.grid = {expression(grid)};
  Texts names;
  for (unsigned argument : sizeArguments(entry))
    names.push_back(entry.arguments[argument].name);
  return names;
}

TEST(VariantConditions, SimpleOnesAreFacts) {
  EXPECT_EQ(needs({"n <= BLOCK * 4 and n > BLOCK", "256 < m", "n % 16 == 0"}),
            (Texts{"n <= 256", "n >= 65", "m >= 257", "n divisible by 16"}));
  EXPECT_EQ(needing(kernel(), {"n % 16 == 0", "m == 3"}).conditions.size(), 0u);
  // What constants decide needs no check.
  EXPECT_EQ(needs({"BLOCK == 64", "BLOCK > 64 or n < 5"}), (Texts{"n <= 4"}));
}

TEST(VariantConditions, OthersAreExpressions) {
  EXPECT_EQ(needs({"n % 12 == 0", "n * m < BLOCK or n == m", "not n % 2"}),
            (Texts{"n % 12 == 0", "n * m < 64 or n == m", "not n % 2"}));
  EXPECT_EQ(needs({"u > 9223372036854775807"}), (Texts{"u > 9223372036854775807"}));
}

TEST(VariantConditions, ContradictionsAreFound) {
  EXPECT_EQ(contradiction({"n > 8", "m > 1", "n < 4"}), (Texts{"n >= 9", "n <= 3"}));
  EXPECT_EQ(contradiction({"n < 4 and n > 8"}).size(), 2u);
  EXPECT_EQ(contradiction({"BLOCK > 64"}), (Texts{"0"}));
  EXPECT_EQ(contradiction({"n * 2 > 100", "n // 3 < 10"}), (Texts{"n * 2 > 100", "n // 3 < 10"}));
  EXPECT_EQ(contradiction({"n % 16 == 0", "n % 8 == 4"}).size(), 2u);
  EXPECT_EQ(contradiction({"n % 6 == 1", "n % 4 == 2"}).size(), 2u);
  EXPECT_EQ(contradiction({"n % 16 == 0", "n > 16", "n < 32"}).size(), 3u);
  EXPECT_EQ(contradiction({"small > 255"}).size(), 1u);
  EXPECT_EQ(contradiction({"n > m", "m > n"}).size(), 0u); // true, but of two arguments
  EXPECT_EQ(contradiction({"n > m + 5", "m > 10", "n < 12"}).size(), 3u);
  EXPECT_EQ(contradiction({"n < 3 or n > 7", "n == 5"}).size(), 2u);
  EXPECT_EQ(contradiction({"not (n < 3 or n > 7)", "n == 8"}).size(), 2u);
  EXPECT_EQ(contradiction({"n // STEP > 1"}).size(), 1u);
  EXPECT_EQ(contradiction({"cdiv(n, BLOCK) == 2", "n <= BLOCK"}).size(), 2u);
  EXPECT_EQ(contradiction({"max(n, m) < 4", "n > 3"}).size(), 2u);
}

TEST(VariantConditions, WhatACallMayMeetIsNone) {
  for (const Texts &conditions : {Texts{"n > 3", "n < 5"}, Texts{"n % 16 == 0", "n > 15", "n < 17"},
                                  Texts{"u > 5", "small == 0"}, Texts{"n < 3 or n > 7", "n == 8"},
                                  Texts{"n % 6 == 1", "n % 4 == 3"}, Texts{"n * m == 12"},
                                  Texts{"n // m == 3 and n % m == 1"}, Texts{"n != 0", "n >= 0"},
                                  Texts{"n or m"}, Texts{"next_power_of_2(n) == 64", "n < 40"}})
    EXPECT_EQ(contradiction(conditions), Texts()) << conditions.front();
}

TEST(VariantConditions, IntricateOnesTakeNoTime) {
  std::string nested = "n == 0", chain = "n == 0";
  for (int i = 0; i < 30; ++i)
    nested = "((" + nested + ") or m == " + std::to_string(i) + ") and n < m";
  for (int i = 1; i < 300; ++i)
    chain += " or n == " + std::to_string(i);
  EXPECT_EQ(contradiction({nested, "m > 100"}), Texts());
  EXPECT_EQ(contradiction({chain, "n < m", "m == 0"}), Texts());
}

TEST(VariantConditions, AGridThatNoCallCanHaveIsFound) {
  EXPECT_EQ(mistake("-1"), "'-1' is negative in every call");
  EXPECT_EQ(mistake("n // 0"),
            "'n // 0' divides by zero or leaves the range of 64 bits in every call");
  EXPECT_EQ(mistake("cdiv(n, STEP)"),
            "'cdiv(n, 0)' divides by zero or leaves the range of 64 bits in every call");
  EXPECT_EQ(mistake("-max(n, 1)"), "'-max(n, 1)' is negative in every call");
  EXPECT_EQ(
      mistake("n * 9223372036854775807", {"n > 1"}),
      "'n * 9223372036854775807' divides by zero or leaves the range of 64 bits in every call");
  EXPECT_EQ(mistake("70000"),
            "'70000' is more than 65535, the limit of every target, in every call");
  EXPECT_EQ(mistake("cdiv(n, BLOCK)", {"n < 0 - BLOCK"}),
            "'cdiv(n, 64)' is negative in every call");
  for (const char *grid :
       {"n", "cdiv(n, BLOCK)", "0", "n - m", "n // m", "u", "65535", "n % m", "not n"})
    EXPECT_EQ(mistake(grid), "") << grid;
}

TEST(VariantConditions, SizesAreWhatTheGridIsProportionalTo) {
  EXPECT_EQ(sizes("n"), (Texts{"n"}));
  EXPECT_EQ(sizes("cdiv(n, BLOCK) * m"), (Texts{"n", "m"}));
  EXPECT_EQ(sizes("min(n // 4, m)"), (Texts{"n", "m"}));
  // These are right for values below zero, too.
  for (const char *grid :
       {"max(n, 1)", "n - m", "n * -1", "n // -4", "n + m", "n < m", "n // m", "u"})
    EXPECT_EQ(sizes(grid), Texts()) << grid;
}

TEST(IntegerRange, RemaindersIntersect) {
  IntegerRange six, four;
  six.modulus = 6, six.remainder = 5;
  four.modulus = 4, four.remainder = 3;
  IntegerRange both = six.intersect(four);
  EXPECT_EQ(both.modulus, 12);
  EXPECT_EQ(both.remainder, 11);
  four.remainder = 2;
  EXPECT_TRUE(six.intersect(four).isEmpty());
  IntegerRange prime, other;
  prime.modulus = 4611686018427387847, prime.remainder = 3;
  other.modulus = 4611686018427387817, other.remainder = 4; // no product of 64 bits
  EXPECT_FALSE(prime.intersect(other).isEmpty());
  EXPECT_EQ(six.join(four).modulus, 1);
}

} // namespace
} // namespace kiln::test
