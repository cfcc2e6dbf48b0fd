// The reader survives damage: random edits of a good spec never crash it, and it either returns a
// spec or reports an error. SpecFuzzer.cpp does the same under libFuzzer, without an end.
#include "tests/codegen/SpecText.h"
#include <gtest/gtest.h>
#include <random>

namespace kiln::test {
namespace {

const char *const kPieces[] = {"{",
                               "}",
                               "[",
                               "]",
                               ",",
                               ":",
                               "\"",
                               "\\",
                               "\\u",
                               "null",
                               "true",
                               "-1",
                               "1e9",
                               "9999999999999999999",
                               "\"signature\"",
                               "\"*fp16:16\"",
                               "\"i32:1\"",
                               "\"grid\"",
                               "cdiv(",
                               ")",
                               "//",
                               "%",
                               "\xff",
                               "\xc3\xa9",
                               "\"configs\"",
                               "\"source\"",
                               "{\"dtype\": \"fp16\"}",
                               "tensordesc<fp16>["};

std::string mutate(std::string text, std::mt19937 &random) {
  for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
    size_t at = random() % (text.size() + 1), length = random() % 8;
    switch (random() % 4) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, kPieces[random() % std::size(kPieces)]);
      break;
    case 2:
      text.insert(at, text.substr(random() % (text.size() + 1), 40));
      break;
    case 3:
      if (at < text.size())
        text[at] = static_cast<char>(random());
      break;
    }
  }
  return text;
}

TEST(SpecMutation, NeverCrashesAndAlwaysAnswers) {
  const std::string good =
      kernelSpec(R"("signature": {"x": "*fp16:16", "n": "i32:1", "k": [1, "i8"],
    "d": {"dtype": "fp16"}, "f": 1.5}, "configs": [{"B": 128, "num_warps": 4}, {"B": 64}],
    "grid": ["cdiv(n, B) * min(n, 2) // 3", 1], "dispatch": {"key": ["n"], "tuning": "t.json",
      "shapes": [{"n": [1, 2]}, {"n": 5}], "arguments": {"k_1": "n * 2"}, "regret": 0.5,
      "arrays": {"x": {"size": ["n", 4], "low": 0, "high": "n"}}},
    "constants": {"C": null})");
  ASSERT_TRUE(test::read(good).spec) << test::read(good).printed;
  std::mt19937 random(7);
  unsigned numGood = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = mutate(good, random);
    ReadSpec read = test::read(text);
    EXPECT_NE(read.spec.has_value(), read.hasErrors) << text;
    numGood += read.spec.has_value();
  }
  // The edits are small enough to reach behind the syntax.
  EXPECT_GT(numGood, 100u);
}

} // namespace
} // namespace kiln::test
