// How diagnostics are printed, limited, merged and written as JSON.
#include "compiler/Basic/Diagnostics.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

class DiagnosticsTest : public testing::Test {
protected:
  SourceRange find(const SourceFile &file, llvm::StringRef text) {
    size_t at = file.getContents().find(text);
    return {file.getId(), static_cast<uint32_t>(at), static_cast<uint32_t>(at + text.size())};
  }
  std::string print(const DiagnosticEngine &engine) {
    std::string text;
    llvm::raw_string_ostream out(text);
    engine.print(out, sources);
    return text;
  }

  SourceManager sources;
  DiagnosticEngine diags;
};

TEST_F(DiagnosticsTest, PrintsPlaceLineCaretAndHint) {
  const SourceFile &file = sources.add("k.py", "a = 1\nprint a\n");
  diags.report(DiagKind::SyntaxPython2Statement, find(file, "print"), "print");
  EXPECT_EQ(print(diags), "k.py:2:1: error: 'print' is not a statement in Python 3 "
                          "[syntax-python2-statement]\n"
                          "  print a\n"
                          "  ^~~~~\n"
                          "hint: write print(...)\n");
}

TEST_F(DiagnosticsTest, PrintsNotesWithTheirOwnPlaces) {
  const SourceFile &file = sources.add("k.py", "f(\n]\n");
  diags.report(DiagKind::SyntaxWrongBracket, find(file, "]"), "]", "(")
      .note(DiagKind::SyntaxOpenedHere, find(file, "("), "(");
  EXPECT_EQ(print(diags), "k.py:2:1: error: ']' does not close '(' [syntax-wrong-bracket]\n"
                          "  ]\n"
                          "  ^\n"
                          "k.py:1:2: note: '(' was opened here\n"
                          "  f(\n"
                          "   ^\n");
}

TEST_F(DiagnosticsTest, UnderlinesHighlightsOnTheSameLine) {
  const SourceFile &file = sources.add("k.py", "left + right");
  diags.report(DiagKind::DriverPassError, find(file, "+"), "cannot add")
      .highlight(find(file, "left"))
      .highlight(find(file, "right"));
  EXPECT_EQ(print(diags), "k.py:1:6: error: cannot add [driver-pass-error]\n"
                          "  left + right\n"
                          "  ~~~~ ^ ~~~~~\n");
}

TEST_F(DiagnosticsTest, AlignsTabsAndWideCharacters) {
  const SourceFile &file = sources.add("k.py", "\tx = '数据' + y");
  diags.report(DiagKind::DriverPassError, find(file, "y"), "e");
  EXPECT_EQ(print(diags), "k.py:1:17: error: e [driver-pass-error]\n"
                          "  \tx = '数据' + y\n"
                          "  \t             ^\n");
}

TEST_F(DiagnosticsTest, MarksTheFirstLineOfALongRangeAndTheEndOfTheFile) {
  const SourceFile &file = sources.add("k.py", "ab\ncd");
  diags.report(DiagKind::DriverPassWarning, SourceRange(file.getId(), 1, 5), "w");
  diags.report(DiagKind::DriverPassWarning, SourceRange(file.getId(), 5, 5), "w");
  EXPECT_EQ(print(diags), "k.py:1:2: warning: w [driver-pass-warning]\n"
                          "  ab\n"
                          "   ^\n"
                          "k.py:2:3: warning: w [driver-pass-warning]\n"
                          "  cd\n"
                          "    ^\n");
}

TEST_F(DiagnosticsTest, ShowsTheSurroundingsInALongLine) {
  std::string text = std::string(300, 'a') + "é!" + std::string(300, 'b');
  const SourceFile &file = sources.add("k.py", text);
  diags.report(DiagKind::DriverPassError, find(file, "!"), "e");
  EXPECT_EQ(print(diags), "k.py:1:303: error: e [driver-pass-error]\n"
                          "  ..." +
                              std::string(58, 'a') + "é!" + std::string(79, 'b') + "...\n" +
                              std::string(64, ' ') + "^\n");
}

TEST_F(DiagnosticsTest, ShowsNoControlCharacters) {
  const SourceFile &file = sources.add("k.py", "a\x1b\xff z");
  diags.report(DiagKind::DriverPassError, find(file, "z"), "e");
  EXPECT_EQ(print(diags), "k.py:1:5: error: e [driver-pass-error]\n"
                          "  a?? z\n"
                          "      ^\n");
}

TEST_F(DiagnosticsTest, PrintsANamedPlaceOrNone) {
  diags.report(DiagKind::SyntaxParameterOrder, "spec.json: kernels[0].grid", "empty");
  diags.report(DiagKind::SyntaxParameterOrder, DiagPlace(), "no spec").withHint("name one");
  EXPECT_EQ(print(diags), "spec.json: kernels[0].grid: error: empty [syntax-parameter-order]\n"
                          "error: no spec [syntax-parameter-order]\n"
                          "hint: name one\n");
}

TEST_F(DiagnosticsTest, KeepsAsManyErrorsAsAllowed) {
  DiagnosticEngine two(2);
  for (int i = 0; i < 5; ++i)
    two.report(DiagKind::SyntaxParameterOrder, "s", i).withHint("a dropped error takes hints, too");
  EXPECT_TRUE(two.isFull());
  EXPECT_EQ(two.getNumErrors(), 5u);
  EXPECT_EQ(two.getDiagnostics().size(), 2u);
  EXPECT_NE(print(two).find("error: 3 more errors not shown\n"), std::string::npos);
}

TEST_F(DiagnosticsTest, WarningsAreNoErrors) {
  diags.report(DiagKind::DriverPassWarning, DiagPlace(), "w");
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_EQ(diags.getDiagnostics().size(), 1u);
}

TEST_F(DiagnosticsTest, MergesWithoutRepeating) {
  const SourceFile &file = sources.add("k.py", "abc");
  DiagnosticEngine first, second;
  for (DiagnosticEngine *engine : {&first, &second})
    engine->report(DiagKind::DriverPassError, find(file, "b"), "same in every variant");
  second.report(DiagKind::DriverPassError, find(file, "b"), "only in one");
  diags.merge(std::move(first));
  diags.merge(std::move(second));
  EXPECT_EQ(diags.getNumErrors(), 2u);
  EXPECT_EQ(diags.getDiagnostics().back().message, "only in one");
}

TEST_F(DiagnosticsTest, WritesJson) {
  const SourceFile &file = sources.add("k.py", "f(\n]\n");
  diags.report(DiagKind::SyntaxWrongBracket, find(file, "]"), "]", "(")
      .note(DiagKind::SyntaxOpenedHere, find(file, "("), "(")
      .withHint("\xff is not text");
  std::string text = llvm::formatv("{0}", llvm::json::Value(diags.toJson(sources)));
  EXPECT_EQ(text, "[{\"column\":1,\"endColumn\":2,\"endLine\":2,\"file\":\"k.py\","
                  "\"hint\":\"\xEF\xBF\xBD is not text\",\"kind\":\"syntax-wrong-bracket\","
                  "\"line\":2,\"message\":\"']' does not close '('\",\"notes\":[{\"column\":2,"
                  "\"endColumn\":3,\"endLine\":1,\"file\":\"k.py\",\"kind\":\"syntax-opened-here\","
                  "\"line\":1,\"message\":\"'(' was opened here\",\"severity\":\"note\"}],"
                  "\"severity\":\"error\"}]");
}

TEST_F(DiagnosticsTest, FillsSlotsAndLeavesOtherBraces) {
  EXPECT_EQ(formatDiag("{1} {0} {x} {} }{", {"a", 7}), "7 a {x} {} }{");
  EXPECT_EQ(getDiagTag(DiagKind::SyntaxNotUtf8), "syntax-not-utf8");
}

} // namespace
} // namespace kiln
