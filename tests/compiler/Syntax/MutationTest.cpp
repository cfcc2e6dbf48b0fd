// A small fuzzer that runs everywhere and always the same: valid files with random damage must
// neither crash nor hang the parser, and must keep the invariants of checkParse().
#include "tests/compiler/Syntax/CheckParse.h"
#include "tests/compiler/Syntax/GoldenFile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace kiln {
namespace {

/// Damages one text after another.
class Mutator {
public:
  explicit Mutator(std::vector<std::string> seeds) : seeds(std::move(seeds)) {}

  std::string next() {
    std::string text = seeds[pick(seeds.size())];
    for (size_t i = 0, n = 1 + pick(4); i < n; ++i)
      damage(text);
    return text;
  }

private:
  size_t pick(size_t bound) { return bound == 0 ? 0 : random() % bound; }

  void damage(std::string &text) {
    static const char *const pieces[] = {
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "\"\"\"",
        "f\"",
        "f'''{",
        ":",
        ":=",
        ",",
        "\n",
        "\r",
        "\t",
        "\\",
        "\\\n",
        "\n    ",
        "\f",
        "#",
        "=",
        "==",
        "**",
        "@",
        ";",
        "...",
        ".",
        "!",
        "->",
        "~",
        "0x",
        "1e",
        "lambda ",
        "def ",
        "if ",
        "else",
        "for ",
        "in ",
        "not ",
        "with (",
        "async ",
        "match x:\n case ",
        "yield ",
        "await ",
        "\xC3\xA9",
        "\xFF",
        "\xE2\x80\x9C",
        "except*",
        "\\N{",
        "{{",
        "}}",
        "*",
    };
    size_t at = pick(text.size() + 1);
    size_t length = std::min(pick(12), text.size() - at);
    switch (pick(6)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(pick(256)));
      break;
    case 3: { // The start of one file, the end of another.
      const std::string &other = seeds[pick(seeds.size())];
      text = text.substr(0, at) + other.substr(pick(other.size() + 1));
      break;
    }
    default:
      text.insert(at, pieces[pick(std::size(pieces))]);
      break;
    }
  }

  std::vector<std::string> seeds;
  std::minstd_rand random{1};
};

TEST(Mutation, DamagedFilesAreSurvived) {
  std::vector<std::string> seeds;
  for (const GoldenInput &input : listGoldenInputs())
    seeds.push_back(input.text);
  ASSERT_GE(seeds.size(), 10u);
  Mutator mutator(std::move(seeds));
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  constexpr int numInputs = 20000;
  for (int i = 0; i < numInputs; ++i) {
    std::string text = mutator.next();
    SCOPED_TRACE(i);
    checkParse(text);
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "too slow; the last input was\n"
                                                          << text;
  }
}

/// Texts that hurt a parser whose time or stack grows badly.
TEST(Mutation, LongAndDeepFilesAreSurvived) {
  auto repeat = [](llvm::StringRef piece, size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i)
      text += piece;
    return text;
  };
  constexpr size_t many = 20000;
  for (llvm::StringRef piece : {"(",
                                "[",
                                "{",
                                "f(",
                                "a[",
                                "- ",
                                "not ",
                                "lambda: ",
                                "a if b else ",
                                "2**",
                                "a + ",
                                "a.b.",
                                "f'{",
                                "f'{x:{",
                                "if x:\n ",
                                "else ",
                                "@",
                                "await ",
                                "*",
                                "a, ",
                                "a = ",
                                "1 < ",
                                "a and ",
                                "'s' ",
                                "x: ",
                                "elif x:\n pass\n",
                                "def f(",
                                "class A(",
                                "for x in ",
                                "with (",
                                "(yield ",
                                "\\\n",
                                "{1:",
                                "match x:\n case (",
                                "0",
                                "a;",
                                "#\n",
                                "f(a=1, ",
                                "]",
                                "...",
                                "''' "})
    checkParse(repeat(piece, many));
  std::string blocks;
  for (size_t i = 0; i < 300; ++i)
    blocks += std::string(i, ' ') + "if x:\n";
  checkParse(blocks + std::string(300, ' ') + "pass\n");
  checkParse("if x:\n pass\n" + repeat("elif x:\n pass\n", many));
  checkParse("f(" + [&] {
    std::string arguments;
    for (size_t i = 0; i < many; ++i)
      arguments += "a" + std::to_string(i) + "=1, ";
    return arguments;
  }() + ")\n");
}

} // namespace
} // namespace kiln
