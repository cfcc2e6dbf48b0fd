// Tokens: names, indentation, brackets, f-strings, and what replaces them after errors.
#include "compiler/Syntax/Lexer.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

/// "Name Equal Number Newline EndOfFile"
std::string lex(llvm::StringRef text, unsigned numErrors = 0) {
  SourceManager sources;
  DiagnosticEngine diags;
  TokenList list = tokenize(sources.add("t.py", text), diags);
  EXPECT_EQ(diags.getNumErrors(), numErrors) << text.str();
  return llvm::join(
      llvm::map_range(list.tokens, [](const Token &token) { return getTokenName(token.kind); }),
      " ");
}

TEST(Lexer, EndsEveryLine) {
  EXPECT_EQ(lex(""), "EndOfFile");
  EXPECT_EQ(lex("\n  \n# only a comment"), "EndOfFile");
  EXPECT_EQ(lex("a"), "Name Newline EndOfFile");
  EXPECT_EQ(lex("a\n"), "Name Newline EndOfFile");
  EXPECT_EQ(lex("a\r\nb\rc"), "Name Newline Name Newline Name Newline EndOfFile");
}

TEST(Lexer, BalancesBlocks) {
  EXPECT_EQ(lex("a\n b\n  c\nd"), "Name Newline Indent Name Newline Indent Name Newline Dedent "
                                  "Dedent Name Newline EndOfFile");
  EXPECT_EQ(lex("a\n b"), "Name Newline Indent Name Newline Dedent EndOfFile");
  EXPECT_EQ(lex("a\n\n # comment\nb"), "Name Newline Name Newline EndOfFile");
}

TEST(Lexer, CountsTabsAsEightColumnsButWantsConsistency) {
  EXPECT_EQ(lex("a\n\tb\n\tc"), "Name Newline Indent Name Newline Name Newline Dedent EndOfFile");
  lex("a\n\tb\n        c", 1);
  lex("a\n        b\n\tc\n\td\n", 1);
  EXPECT_EQ(lex("  \f  \fa"), "Name Newline EndOfFile") << "a form feed restarts the line";
}

TEST(Lexer, IgnoresLinesInBracketsAndAfterBackslashes) {
  EXPECT_EQ(lex("(a,\n  b)\n"), "LeftParen Name Comma Name RightParen Newline EndOfFile");
  EXPECT_EQ(lex("a = \\\n  b"), "Name Equal Name Newline EndOfFile");
  EXPECT_EQ(lex("a \\\r\n b"), "Name Name Newline EndOfFile");
}

TEST(Lexer, TakesTheLongestOperator) {
  EXPECT_EQ(lex("a**=b//c>>=d"),
            "Name StarStarEqual Name SlashSlash Name GreaterGreaterEqual Name Newline EndOfFile");
  EXPECT_EQ(lex("... .. -> := !="), "Ellipsis Dot Dot Arrow ColonEqual NotEqual Newline EndOfFile");
}

TEST(Lexer, KnowsHardKeywordsOnly) {
  EXPECT_EQ(lex("is isnt match case type print"), "Is Name Name Name Name Name Newline EndOfFile");
}

TEST(Lexer, SeparatesNumbersFromKeywords) {
  EXPECT_EQ(lex("1if x else 2"), "Number If Name Else Number Newline EndOfFile");
  EXPECT_EQ(lex("0xfor y"), "Number Or Name Newline EndOfFile") << "0xf, then or";
  EXPECT_EQ(lex("1..real"), "Number Dot Name Newline EndOfFile");
  EXPECT_EQ(lex("1x", 1), "Error Newline EndOfFile");
}

TEST(Lexer, SplitsFStrings) {
  EXPECT_EQ(lex("f'a{b}c'"), "FStringStart FStringMiddle LeftBrace Name RightBrace FStringMiddle "
                             "FStringEnd Newline EndOfFile");
  EXPECT_EQ(lex("f'{{}}'"),
            "FStringStart FStringMiddle FStringMiddle FStringEnd Newline EndOfFile");
  EXPECT_EQ(lex("f'{a:>{b}}'"),
            "FStringStart LeftBrace Name Colon FStringMiddle LeftBrace Name RightBrace RightBrace "
            "FStringEnd Newline EndOfFile");
  EXPECT_EQ(lex("f'{a[1:2]!r}'"),
            "FStringStart LeftBrace Name LeftBracket Number Colon Number RightBracket Exclaim Name "
            "RightBrace FStringEnd Newline EndOfFile");
  EXPECT_EQ(lex("f'{f'{x}'}'"), "FStringStart LeftBrace FStringStart LeftBrace Name RightBrace "
                                "FStringEnd RightBrace FStringEnd Newline EndOfFile");
}

TEST(Lexer, KnowsStringPrefixes) {
  EXPECT_EQ(lex("r'' bR'' u'' Rb'' B''"), "String String String String String Newline EndOfFile");
  EXPECT_EQ(lex("bu''"), "Name String Newline EndOfFile");
  EXPECT_EQ(lex("rF'' fr''"), "FStringStart FStringEnd FStringStart FStringEnd Newline EndOfFile");
}

TEST(Lexer, ClosesBracketsBeforeAStatementKeyword) {
  EXPECT_EQ(lex("f(a,\nreturn b\n", 1), "Name LeftParen Name Comma Error Newline Return Name "
                                        "Newline EndOfFile");
  EXPECT_EQ(lex("(a\n  if b else c)"),
            "LeftParen Name If Name Else Name RightParen Newline EndOfFile");
}

TEST(Lexer, DropsAStrayClosingBracket) {
  EXPECT_EQ(lex("a)\nb", 1), "Name Newline Name Newline EndOfFile");
}

TEST(Lexer, StopsAtTheLimits) {
  EXPECT_EQ(lex(std::string(maxOpenBrackets, '(') + std::string(maxOpenBrackets, ')')).size(),
            lex(std::string(maxOpenBrackets, '[') + std::string(maxOpenBrackets, ']')).size() -
                4 * maxOpenBrackets);
  lex(std::string(maxOpenBrackets + 1, '('), 1);
}

} // namespace
} // namespace kiln
