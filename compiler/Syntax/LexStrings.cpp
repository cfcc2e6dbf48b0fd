// Strings and f-strings. A plain string is one token, prefix and quotes included. An f-string is
// FStringStart, then FStringMiddle and replacement fields in turn, then FStringEnd; a field is
// `{`, ordinary tokens, perhaps `!` and a name, perhaps `:` and again text and fields, and `}`.
#include "compiler/Syntax/LexerState.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace kiln {

/// Length of a string prefix at the current position; 0 when there is none. The caller looks
/// whether a quote follows.
static bool isInStringPrefix(char c) {
  char lower = static_cast<char>(c | 0x20);
  return lower == 'r' || lower == 'b' || lower == 'u' || lower == 'f';
}

uint32_t Lexer::getStringPrefixLength() const {
  uint32_t length = 0;
  while (length < 2 && isInStringPrefix(peek(length)))
    ++length;
  if (length == 0 || (peek(length) != '"' && peek(length) != '\''))
    return 0; // nearly every token
  bool isPrefix = llvm::StringSwitch<bool>(text.substr(pos, length))
                      .CasesLower({"r", "b", "u", "f", "rb", "br", "rf", "fr"}, true)
                      .Default(false);
  return isPrefix ? length : 0;
}

bool Lexer::atQuote(char quote, bool isTriple) const {
  return peek() == quote && (!isTriple || (peek(1) == quote && peek(2) == quote));
}

void Lexer::lexString(uint32_t prefixLength) {
  uint32_t begin = pos;
  llvm::StringRef prefix = text.substr(pos, prefixLength);
  bool isRaw = prefix.contains_insensitive('r');
  pos += prefixLength;
  char quote = peek();
  bool isTriple = peek(1) == quote && peek(2) == quote;
  pos += isTriple ? 3 : 1;
  if (prefix.contains_insensitive('f')) {
    modes.push_back({ModeKind::FStringText, begin, quote, isTriple, isRaw, brackets.size()});
    emit(TokenKind::FStringStart, begin, pos);
    return;
  }
  while (!atEnd() && !atQuote(quote, isTriple) && (isTriple || !atNewline())) {
    if (peek() == '\\') {
      ++pos;
      if (atEnd())
        break;
      if (atNewline()) {
        skipNewline();
        continue;
      }
    }
    ++pos;
  }
  if (!atEnd() && atQuote(quote, isTriple)) {
    pos += isTriple ? 3 : 1;
    emit(TokenKind::String, begin, pos);
    return;
  }
  if (endFieldAtQuote(begin))
    return;
  reportUnterminated(begin, quote, isTriple);
  emit(TokenKind::Error, begin, pos);
  forgetBracketsClosedIn(text.slice(begin + 1, pos));
}

void Lexer::reportUnterminated(uint32_t begin, char quote, bool isTriple) {
  if (isTriple) {
    uint32_t opening = begin;
    while (text[opening] != quote)
      ++opening;
    diags.report(DiagKind::SyntaxUnterminatedTripleString, range(begin, opening + 3),
                 std::string(3, quote));
    return;
  }
  diags.report(DiagKind::SyntaxUnterminatedString, range(begin, pos), llvm::StringRef(&quote, 1));
}

/// The closing brackets in the text that an unterminated string swallowed were meant as such.
void Lexer::forgetBracketsClosedIn(llvm::StringRef swallowed) {
  unsigned opened = 0;
  size_t remaining = brackets.size();
  size_t base = modes.empty() ? 0 : modes.back().numBrackets;
  for (char c : swallowed) {
    if (c == '(' || c == '[' || c == '{')
      ++opened;
    else if (c != ')' && c != ']' && c != '}')
      continue;
    else if (opened > 0)
      --opened;
    else if (remaining > base)
      --remaining;
  }
  closeBrackets(remaining);
}

/// In f"{x" the second quote is the f-string's, not the start of a string that is never closed:
/// when so, reports the brace and ends the f-string. `begin` is where the string started.
bool Lexer::endFieldAtQuote(uint32_t begin) {
  if (modes.empty() || modes.back().isTriple || text[begin] != modes.back().quote)
    return false;
  Mode field = modes.back();
  Bracket brace = brackets[field.numBrackets - 1];
  diags.report(DiagKind::SyntaxUnclosedBracket, range(brace.at, brace.at + 1), "{");
  result.doubtful.push_back(range(field.start, begin + 1));
  emit(TokenKind::Error, begin, begin);
  while (modes.back().kind != ModeKind::FStringText) // Also out of format specs around it.
    closeBrackets(modes.back().numBrackets - 1);
  pos = begin + 1;
  emit(TokenKind::FStringEnd, begin, pos);
  modes.pop_back();
  return true;
}

//===----------------------------------------------------------------------===//
// F-strings
//===----------------------------------------------------------------------===//

/// Reads text up to the next field, the end of the f-string, or the end of a format spec.
void Lexer::lexFStringText() {
  Mode mode = modes.back();
  uint32_t begin = pos;
  auto flush = [&] {
    if (begin != pos)
      emit(TokenKind::FStringMiddle, begin, pos);
  };
  while (true) {
    if (atEnd() || (!mode.isTriple && atNewline())) {
      flush();
      endFStringWithoutQuote();
      return;
    }
    if (atQuote(mode.quote, mode.isTriple)) {
      flush();
      if (mode.kind == ModeKind::FormatSpec) {
        // Field and spec are not closed: report the brace, and go on as if they were.
        Bracket brace = brackets[mode.numBrackets - 1];
        diags.report(DiagKind::SyntaxUnclosedBracket, range(brace.at, brace.at + 1), "{");
        emit(TokenKind::Error, pos, pos);
        closeBrackets(mode.numBrackets - 1);
        return;
      }
      uint32_t quotes = pos;
      pos += mode.isTriple ? 3 : 1;
      emit(TokenKind::FStringEnd, quotes, pos);
      modes.pop_back();
      return;
    }
    if (peek() == '\\') {
      skipFStringEscape(mode);
    } else if (peek() == '{' || peek() == '}') {
      size_t numModes = modes.size(), numBrackets = brackets.size();
      lexFStringBrace(mode, begin);
      if (modes.size() != numModes || brackets.size() != numBrackets || atEnd())
        return;
    } else {
      ++pos;
    }
  }
}

/// A brace in text: doubled, stray, the start of a field, or the end of a format spec. `begin` is
/// where text not yet emitted starts.
void Lexer::lexFStringBrace(Mode mode, uint32_t &begin) {
  bool isSpec = mode.kind == ModeKind::FormatSpec;
  if (!isSpec && peek(1) == peek()) {
    emit(TokenKind::FStringMiddle, begin, pos + 1);
    pos += 2;
    begin = pos;
    return;
  }
  if (!isSpec && peek() == '}') {
    diags.report(DiagKind::SyntaxSingleBrace, range(pos, pos + 1));
    ++pos;
    return;
  }
  if (begin != pos)
    emit(TokenKind::FStringMiddle, begin, pos);
  begin = pos;
  if (peek() == '}') {
    modes.pop_back(); // The field's own mode reads the brace.
    return;
  }
  size_t numBefore = brackets.size();
  lexOpenBracket();
  if (brackets.size() <= numBefore) // Too deep.
    return;
  brackets.back().isField = true;
  mode.kind = ModeKind::Field;
  mode.numBrackets = brackets.size();
  modes.push_back(mode);
}

/// Steps over a backslash and what it escapes. It never escapes a brace, but \N{name} has braces
/// of its own.
void Lexer::skipFStringEscape(const Mode &mode) {
  ++pos;
  if (atEnd() || peek() == '{' || peek() == '}')
    return;
  if (atNewline()) {
    skipNewline();
    return;
  }
  bool isNamed = !mode.isRaw && peek() == 'N' && peek(1) == '{';
  ++pos;
  if (!isNamed)
    return;
  size_t length = text.substr(pos).find_first_of("}\"'\n\r");
  if (length != llvm::StringRef::npos && text[pos + length] == '}')
    pos += static_cast<uint32_t>(length + 1);
}

/// The line or the file ends inside the text of an f-string: reports it and leaves it, with the
/// fields around its format spec.
void Lexer::endFStringWithoutQuote() {
  Mode mode = modes.back();
  reportUnterminated(mode.start, mode.quote, mode.isTriple);
  emit(TokenKind::Error, pos, pos);
  while (modes.back().kind != ModeKind::FStringText)
    closeBrackets(modes.back().numBrackets - 1);
  modes.pop_back();
  forgetBracketsClosedIn(text.slice(mode.start + 1, pos));
}

} // namespace kiln
