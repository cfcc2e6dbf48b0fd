#include "codegen/JsonText.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

std::vector<JsonError> errorsOf(llvm::StringRef text) {
  std::vector<JsonError> errors;
  parseJson(text, errors);
  return errors;
}

TEST(JsonText, ValuesKnowTheirPlace) {
  std::vector<JsonError> errors;
  llvm::StringRef text = R"( {"a": [1, -2.5e1, "x\u00e9\n"], "b": {"c": null, "d": true}} )";
  auto root = parseJson(text, errors);
  ASSERT_TRUE(root && errors.empty());
  const JsonMember *a = root->find("a");
  EXPECT_EQ(text.slice(a->keyBegin, a->keyEnd), "\"a\"");
  EXPECT_EQ(a->value.elements[0].integer, 1);
  EXPECT_EQ(a->value.elements[1].real, -25.0);
  EXPECT_EQ(text.slice(a->value.elements[1].begin, a->value.elements[1].end), "-2.5e1");
  EXPECT_EQ(a->value.elements[2].text, "x\xC3\xA9\n");
  EXPECT_TRUE(root->find("b")->value.find("d")->value.boolean);
}

TEST(JsonText, PlacesInsideStringsSeeThroughEscapes) {
  std::vector<JsonError> errors;
  llvm::StringRef text = R"("a\u00e9\n\ud83d\ude00z")";
  auto root = parseJson(text, errors);
  ASSERT_TRUE(root);
  EXPECT_EQ(offsetInJsonString(text, *root, 0), 1u);
  EXPECT_EQ(offsetInJsonString(text, *root, 1), 2u);
  EXPECT_EQ(offsetInJsonString(text, *root, 3), 8u);  // after the two bytes of U+00E9
  EXPECT_EQ(offsetInJsonString(text, *root, 4), 10u); // after the newline
  EXPECT_EQ(offsetInJsonString(text, *root, 8), 22u); // after the four bytes of the pair
  EXPECT_EQ(offsetInJsonString(text, *root, 99), text.size() - 1);
}

TEST(JsonText, RefusesWhatJsonRefuses) {
  for (const char *text :
       {"",    "{",     "[1,]",      "{\"a\" 1}", "{a: 1}",   "01",          "1.",
        "1e",  "-",     "tru",       "\"a",       "\"\\x\"",  "\"\\ud800\"", "\"\t\"",
        "1 2", "[1 2]", "\"\\u12\"", "nul",       "{\"a\":}", "'a'"}) {
    auto errors = errorsOf(text);
    ASSERT_EQ(errors.size(), 1u) << text;
    EXPECT_EQ(int(errors[0].kind), int(JsonError::Kind::Syntax)) << text;
  }
}

TEST(JsonText, NumbersAreExactOrErrors) {
  EXPECT_TRUE(errorsOf("9223372036854775807").empty());
  EXPECT_TRUE(errorsOf("-9223372036854775808").empty());
  EXPECT_EQ(int(errorsOf("9223372036854775808").at(0).kind), int(JsonError::Kind::BadNumber));
  EXPECT_EQ(int(errorsOf("1e999").at(0).kind), int(JsonError::Kind::BadNumber));
  EXPECT_EQ(int(errorsOf(std::string(100000, '9')).at(0).kind), int(JsonError::Kind::BadNumber));
  EXPECT_TRUE(errorsOf("[NaN, Infinity, -Infinity]").empty());
}

TEST(JsonText, ADepthBombIsAnError) {
  EXPECT_EQ(int(errorsOf(std::string(1000000, '[')).at(0).kind), int(JsonError::Kind::TooDeep));
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(int(errorsOf(objects).at(0).kind), int(JsonError::Kind::TooDeep));
}

TEST(JsonText, DuplicateKeysAreReportedWithBothPlaces) {
  auto errors = errorsOf(R"({"a": 1, "b": 2, "a": 3})");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(int(errors[0].kind), int(JsonError::Kind::DuplicateKey));
  EXPECT_EQ(errors[0].begin, 17u);
  EXPECT_EQ(errors[0].firstBegin, 1u);
}

TEST(JsonText, InvalidUtf8IsAnError) {
  for (const char *text : {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xf8\x88\x80\x80\x80\""})
    EXPECT_EQ(int(errorsOf(text).at(0).kind), int(JsonError::Kind::BadEncoding));
}

TEST(JsonText, QuoteReadsBack) {
  std::string text = "a\"b\\c\n\t\x01 \xC3\xA9";
  std::vector<JsonError> errors;
  std::string quoted = jsonQuote(text);
  auto root = parseJson(quoted, errors);
  ASSERT_TRUE(root) << quoted;
  EXPECT_EQ(root->text, text);
}

} // namespace
} // namespace kiln
