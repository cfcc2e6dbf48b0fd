// The lexer's class, private to its source files (Lexer.cpp, LexStrings.cpp).
#ifndef KILN_COMPILER_SYNTAX_LEXERSTATE_H
#define KILN_COMPILER_SYNTAX_LEXERSTATE_H

#include "compiler/Syntax/Lexer.h"

#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// One pass over the text. F-strings make it stateful: inside one, text and replacement fields
/// alternate, and a field holds ordinary tokens, nested f-strings among them (PEP 701). That
/// state is an explicit stack, so nothing recurses.
class Lexer {
public:
  Lexer(const SourceFile &file, DiagnosticEngine &diags)
      : file(file), text(file.getContents()), diags(diags) {}

  TokenList run();

private:
  struct Indentation {
    uint32_t column;        // With tab stops every 8 columns, as Python counts.
    uint32_t columnTabsAs1; // Disagreement with `column` means that tabs and spaces are mixed.
  };
  struct Bracket {
    char open;
    uint32_t at;
    bool isField; // The brace of a replacement field.
    size_t token; // Its index.
  };
  enum class ModeKind { FStringText, Field, FormatSpec };
  struct Mode {
    ModeKind kind;
    uint32_t start; // Of the f-string.
    char quote;
    bool isTriple;
    bool isRaw;
    size_t numBrackets; // Open ones, the field's own included.
  };

  // Characters.
  char peek(uint32_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : 0; }
  bool atEnd() const { return pos >= text.size(); }
  bool atNewline() const { return !atEnd() && (peek() == '\n' || peek() == '\r'); }
  void skipNewline() { pos += peek() == '\r' && peek(1) == '\n' ? 2 : 1; }
  void skipToLineEnd();
  void skipName();

  // Results.
  SourceRange range(uint32_t begin, uint32_t end) const { return {file.getId(), begin, end}; }
  void emit(TokenKind kind, uint32_t begin, uint32_t end) {
    result.tokens.push_back({kind, begin, end});
    isFirstOnLine = false;
  }
  void stop();

  // Lines and tokens (Lexer.cpp).
  bool checkEncoding();
  void lexIndentation();
  void applyIndentation(Indentation found);
  void reportMixedTabs();
  void lexToken();
  void lexBackslash();
  void lexName();
  void lexNumber();
  void lexPunctuation();
  void lexOpenBracket();
  void lexCloseBracket();
  void lexUnexpected();
  bool isAtFieldLevel() const;
  bool isHeaderWithUnclosedParen() const;
  bool isStatementInBrackets(uint32_t begin) const;
  void closeBrackets(size_t remaining);
  void recoverFromUnclosedBracket(uint32_t restart);
  void finish();

  // Strings (LexStrings.cpp).
  uint32_t getStringPrefixLength() const;
  void lexString(uint32_t prefixLength);
  bool atQuote(char quote, bool isTriple) const;
  void reportUnterminated(uint32_t begin, char quote, bool isTriple);
  void forgetBracketsClosedIn(llvm::StringRef swallowed);
  void lexFStringText();
  void lexFStringBrace(Mode mode, uint32_t &begin);
  void skipFStringEscape(const Mode &mode);
  void endFStringWithoutQuote();
  bool endFieldAtQuote(uint32_t begin);

  const SourceFile &file;
  llvm::StringRef text;
  DiagnosticEngine &diags;
  TokenList result;
  uint32_t pos = 0;
  size_t statementToken = 0;  // Index of the first token of the logical line.
  bool atLineStart = true;    // Outside brackets: indentation counts here.
  bool isFirstOnLine = false; // Inside brackets: no token yet on this line.
  bool reportedMixedTabs = false;
  llvm::SmallVector<Indentation, 16> indentations = {{0, 0}};
  llvm::SmallVector<Bracket, 16> brackets;
  llvm::SmallVector<Mode, 4> modes;
};

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_LEXERSTATE_H
