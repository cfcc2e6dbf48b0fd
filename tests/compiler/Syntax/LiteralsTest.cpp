// Values of numbers and strings, by Python's rules.
#include "compiler/Syntax/Literals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln {
namespace {

std::string decode(llvm::StringRef body, bool isRaw = false, bool isBytes = false) {
  std::string out;
  InvalidEscape bad = decodeStringBody(body, isRaw, isBytes, out);
  EXPECT_EQ(bad.reason, "") << body.str();
  return out;
}

TEST(Literals, IntegersOfAnyBaseAndSize) {
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("0")).getZExtValue(), 0u);
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("1_000")).getZExtValue(), 1000u);
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("0x_ff")).getZExtValue(), 255u);
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("0b101")).getZExtValue(), 5u);
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("18446744073709551616")).getActiveBits(), 65u);
  EXPECT_EQ(std::get<llvm::APInt>(evaluateNumber("00")).getZExtValue(), 0u);
}

TEST(Literals, FloatsRoundToNearest) {
  EXPECT_EQ(std::get<FloatValue>(evaluateNumber("0.1")).value, 0.1);
  EXPECT_EQ(std::get<FloatValue>(evaluateNumber("1_0.0_1e-1")).value, 1.001);
  EXPECT_EQ(std::get<FloatValue>(evaluateNumber("09.5")).value, 9.5);
  EXPECT_TRUE(std::isinf(std::get<FloatValue>(evaluateNumber("1e999999999999")).value));
  EXPECT_EQ(std::get<FloatValue>(evaluateNumber("1e-999999999999")).value, 0);
  EXPECT_EQ(std::get<ImaginaryValue>(evaluateNumber("07j")).value, 7);
}

TEST(Literals, RefusesWhatPythonRefuses) {
  for (llvm::StringRef text : {"01", "1_", "1__0", "0x", "0b2", "0o8", "1_.5", "1._5"})
    EXPECT_TRUE(std::holds_alternative<InvalidNumber>(evaluateNumber(text))) << text.str();
  std::string limit(maxNumberDigits, '9');
  EXPECT_FALSE(std::holds_alternative<InvalidNumber>(evaluateNumber(limit)));
  EXPECT_TRUE(std::holds_alternative<InvalidNumber>(evaluateNumber(limit + "9")));
}

TEST(Literals, NumbersEndWhereTheyShould) {
  EXPECT_EQ(getNumberLength("1.5e3+2"), 5u);
  EXPECT_EQ(getNumberLength("1else"), 1u);
  EXPECT_EQ(getNumberLength("0xfg"), 3u);
  EXPECT_EQ(getNumberLength("3jx"), 2u);
}

TEST(Literals, ResolvesEscapes) {
  EXPECT_EQ(decode("a\\nb\\t\\\\\\'\\\""), "a\nb\t\\'\"");
  EXPECT_EQ(decode("\\x41\\101\\u00e9\\U0001F600"), "AA\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(decode("\\N{BULLET}\\N{bullet}"), "\xE2\x80\xA2\xE2\x80\xA2");
  EXPECT_EQ(decode("a\\\nb\\\r\nc"), "abc") << "escaped line ends vanish";
  EXPECT_EQ(decode("\\d\\ "), "\\d\\ ") << "unknown escapes stay";
  EXPECT_EQ(decode(llvm::StringRef("\\0", 2)), std::string(1, '\0'));
  EXPECT_EQ(decode("\\ud800"), "\xED\xA0\x80");
}

TEST(Literals, RawAndBytesDifferFromText) {
  EXPECT_EQ(decode("\\n\\x", /*isRaw=*/true), "\\n\\x");
  EXPECT_EQ(decode("\\xff\\377\\u00e9", false, /*isBytes=*/true), "\xFF\xFF\\u00e9");
}

TEST(Literals, LineEndsBecomeNewlines) { EXPECT_EQ(decode("a\r\nb\rc\n"), "a\nb\nc\n"); }

TEST(Literals, TakesStringsApart) {
  StringParts parts = splitString("Rb'''x'''");
  EXPECT_TRUE(parts.isRaw && parts.isBytes);
  EXPECT_EQ(parts.body, "x");
  EXPECT_EQ(splitString("''").body, "");
  EXPECT_EQ(splitString("''''''").body, "");
  EXPECT_EQ(splitString("'\"'").body, "\"");
}

} // namespace
} // namespace kiln
