// Lines, indentation, brackets and simple tokens.
//
// Inside brackets Python ignores line ends, so that one unclosed bracket hides the rest of the
// file. Three kinds of line in brackets tell that one was forgotten: a line that begins with a
// keyword that only statements have (`def`, `return`, …); one that begins with a name where an
// operator or a comma should stand, no further right than the statement; and a header such as
// `if f(x:` whose ':' ends the line inside parentheses. There the innermost bracket is reported,
// all are closed, and lexing goes on with the line. Valid code never has such lines.
#include "compiler/Syntax/LexerState.h"

#include "compiler/Syntax/Characters.h"
#include "compiler/Syntax/Literals.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

namespace kiln {

TokenList tokenize(const SourceFile &file, DiagnosticEngine &diags) {
  return Lexer(file, diags).run();
}

TokenList Lexer::run() {
  result.tokens.reserve(text.size() / 4);
  if (!checkEncoding())
    stop();
  else if (text.starts_with("\xEF\xBB\xBF"))
    pos = 3;
  while (!atEnd()) {
    if (!modes.empty() && modes.back().kind != ModeKind::Field)
      lexFStringText();
    else if (atLineStart && brackets.empty())
      lexIndentation();
    else
      lexToken();
  }
  finish();
  return std::move(result);
}

bool Lexer::checkEncoding() {
  size_t bad = findInvalidUtf8(text);
  if (bad == llvm::StringRef::npos)
    return true;
  uint32_t at = static_cast<uint32_t>(bad);
  std::string byte = "0x" + llvm::toHex(text.substr(bad, 1));
  diags.report(DiagKind::SyntaxNotUtf8, range(at, at + 1), byte);
  return false;
}

/// Gives the rest of the file up.
void Lexer::stop() {
  pos = static_cast<uint32_t>(text.size());
  brackets.clear();
  modes.clear();
}

void Lexer::finish() {
  if (!modes.empty() && modes.back().kind != ModeKind::Field)
    endFStringWithoutQuote();
  if (!brackets.empty())
    recoverFromUnclosedBracket(pos);
  bool needsNewline = !result.tokens.empty() && result.tokens.back().kind != TokenKind::Newline &&
                      result.tokens.back().kind != TokenKind::Dedent;
  if (needsNewline)
    emit(TokenKind::Newline, pos, pos);
  for (; indentations.size() > 1; indentations.pop_back())
    emit(TokenKind::Dedent, pos, pos);
  emit(TokenKind::EndOfFile, pos, pos);
}

void Lexer::skipToLineEnd() {
  pos = static_cast<uint32_t>(std::min(text.find_first_of("\n\r", pos), text.size()));
}

//===----------------------------------------------------------------------===//
// Indentation
//===----------------------------------------------------------------------===//

void Lexer::lexIndentation() {
  Indentation found = {0, 0};
  bool isContinued = false; // A '\' joins lines; the first one's indentation holds.
  for (;; ++pos) {
    char c = peek();
    if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
      isContinued = true;
      pos += peek(1) == '\r' && peek(2) == '\n' ? 2 : 1;
    } else if (c == '\f') {
      found = {0, 0};
    } else if (c != ' ' && c != '\t') {
      break;
    } else if (!isContinued) {
      found.column = c == ' ' ? found.column + 1 : (found.column / 8 + 1) * 8;
      ++found.columnTabsAs1;
    }
  }
  if (peek() == '#')
    skipToLineEnd();
  if (atEnd())
    return;
  if (atNewline()) {
    skipNewline(); // A blank line has no indentation.
    return;
  }
  atLineStart = false;
  applyIndentation(found);
  statementToken = result.tokens.size();
}

void Lexer::applyIndentation(Indentation found) {
  Indentation &current = indentations.back();
  if (found.column == current.column) {
    if (found.columnTabsAs1 != current.columnTabsAs1)
      reportMixedTabs();
    return;
  }
  if (found.column > current.column) {
    if (found.columnTabsAs1 <= current.columnTabsAs1)
      reportMixedTabs();
    if (indentations.size() > maxOpenBlocks) {
      diags.report(DiagKind::SyntaxTooDeep, range(pos, pos), maxOpenBlocks);
      result.doubtful.push_back(range(pos, static_cast<uint32_t>(text.size())));
      stop();
      return;
    }
    indentations.push_back(found);
    emit(TokenKind::Indent, pos, pos);
    return;
  }
  while (found.column < indentations.back().column) {
    if (found.column > indentations[indentations.size() - 2].column) {
      // Between two levels: the inner block goes on at this column.
      diags.report(DiagKind::SyntaxUnmatchedDedent, range(pos, pos + 1));
      indentations.back() = found;
      return;
    }
    indentations.pop_back();
    emit(TokenKind::Dedent, pos, pos);
  }
  if (found.columnTabsAs1 != indentations.back().columnTabsAs1)
    reportMixedTabs();
}

void Lexer::reportMixedTabs() {
  if (!reportedMixedTabs)
    diags.report(DiagKind::SyntaxMixedTabs, range(pos, pos + 1));
  reportedMixedTabs = true;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void Lexer::lexToken() {
  char c = peek();
  if (c == ' ' || c == '\t' || c == '\f') {
    do
      ++pos;
    while (peek() == ' ');
  } else if (c == '#') {
    skipToLineEnd();
  } else if (atNewline()) {
    uint32_t begin = pos;
    skipNewline();
    if (brackets.empty()) {
      emit(TokenKind::Newline, begin, pos);
      atLineStart = true;
    } else if (isHeaderWithUnclosedParen()) {
      recoverFromUnclosedBracket(pos);
    } else {
      isFirstOnLine = true;
    }
  } else if (c == '\\') {
    lexBackslash();
  } else if (uint32_t prefix = getStringPrefixLength();
             peek(prefix) == '"' || peek(prefix) == '\'') {
    lexString(prefix);
  } else if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1)))) {
    lexNumber();
  } else if (isNameStart(decodeCharacter(text.substr(pos)).codePoint)) {
    lexName();
  } else {
    lexPunctuation();
  }
}

void Lexer::lexBackslash() {
  uint32_t begin = pos++;
  if (atNewline()) {
    skipNewline();
    return;
  }
  diags.report(DiagKind::SyntaxCharacterAfterBackslash, range(begin, begin + 1));
  skipToLineEnd();
  emit(TokenKind::Error, begin, pos);
}

/// Whether an ASCII character may stand within a name.
static bool isAsciiName(char c) { return llvm::isAlnum(c) || c == '_'; }

void Lexer::skipName() {
  while (!atEnd()) {
    if (isAsciiName(text[pos])) {
      ++pos;
      continue;
    }
    DecodedCharacter next = decodeCharacter(text.substr(pos));
    if (!isNameContinue(next.codePoint))
      return;
    pos += next.length;
  }
}

static TokenKind getNameKind(llvm::StringRef name) {
  constexpr size_t longest = 8; // nonlocal
  if (name.empty() || name.size() > longest)
    return TokenKind::Name;
  static const llvm::DenseMap<llvm::StringRef, TokenKind> keywords = {
#define KILN_KEYWORD(NAME, SPELLING) {SPELLING, TokenKind::NAME},
#include "compiler/Syntax/Tokens.def"
  };
  // By its first letter, the lengths of keywords, a bit each: few other names have both.
  static const std::array<uint16_t, 256> lengths = [] {
    std::array<uint16_t, 256> lengths = {};
    for (const auto &keyword : keywords)
      lengths[static_cast<uint8_t>(keyword.first.front())] |= 1u << keyword.first.size();
    return lengths;
  }();
  if (!(lengths[static_cast<uint8_t>(name.front())] >> name.size() & 1))
    return TokenKind::Name;
  auto keyword = keywords.find(name);
  return keyword == keywords.end() ? TokenKind::Name : keyword->second;
}

/// Keywords that never stand inside brackets.
static bool isStatementKeyword(TokenKind kind) {
  switch (kind) {
  case TokenKind::Assert:
  case TokenKind::Break:
  case TokenKind::Class:
  case TokenKind::Continue:
  case TokenKind::Def:
  case TokenKind::Del:
  case TokenKind::Elif:
  case TokenKind::Except:
  case TokenKind::Finally:
  case TokenKind::Global:
  case TokenKind::Import:
  case TokenKind::Nonlocal:
  case TokenKind::Pass:
  case TokenKind::Raise:
  case TokenKind::Return:
  case TokenKind::Try:
  case TokenKind::While:
  case TokenKind::With:
    return true;
  default:
    return false;
  }
}

/// Keywords that begin a statement with a block.
static bool isBlockKeyword(TokenKind kind) {
  switch (kind) {
  case TokenKind::Class:
  case TokenKind::Def:
  case TokenKind::Elif:
  case TokenKind::Except:
  case TokenKind::For:
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::With:
    return true;
  default:
    return false;
  }
}

void Lexer::lexName() {
  uint32_t begin = pos;
  skipName();
  TokenKind kind = getNameKind(text.slice(begin, pos));
  bool isStatement = isFirstOnLine && !brackets.empty() &&
                     (isStatementKeyword(kind) ||
                      (kind == TokenKind::Name && modes.empty() && isStatementInBrackets(begin)));
  if (isStatement)
    recoverFromUnclosedBracket(begin);
  else
    emit(kind, begin, pos);
}

/// Tokens that may end an operand.
static bool endsOperand(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::FStringEnd:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::False:
  case TokenKind::Ellipsis:
  case TokenKind::RightParen:
  case TokenKind::RightBracket:
  case TokenKind::RightBrace:
    return true;
  default:
    return false;
  }
}

/// True when the rest of a line is more like a statement than like parameters of a `def`: its
/// brackets are balanced, and no comma or colon ends it.
static bool looksComplete(llvm::StringRef line) {
  int open = 0;
  for (char c : line) {
    open += c == '(' || c == '[' || c == '{';
    open -= c == ')' || c == ']' || c == '}';
    if (open < 0)
      return false;
  }
  line = line.rtrim();
  return open == 0 && !line.ends_with(",") && !line.ends_with(":");
}

/// For a name that begins a line in brackets: true when it more likely begins a statement than
/// lacks a comma before it.
bool Lexer::isStatementInBrackets(uint32_t begin) const {
  if (!endsOperand(result.tokens.back().kind))
    return false;
  llvm::StringRef before = text.take_front(begin);
  llvm::StringRef blanks = before.substr(before.find_last_of("\n\r") + 1);
  uint32_t column = 0;
  for (char c : blanks)
    column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
  if (column <= indentations.back().column)
    return true;
  llvm::StringRef line =
      text.substr(begin).take_until([](char c) { return c == '\n' || c == '\r'; });
  return result.tokens[statementToken].kind == TokenKind::Def && looksComplete(line);
}

void Lexer::lexNumber() {
  uint32_t begin = pos;
  pos += static_cast<uint32_t>(getNumberLength(text.substr(pos)));
  uint32_t end = pos;
  // `1if x else y` is valid, `12abc` is not.
  skipName();
  TokenKind next = getNameKind(text.slice(end, pos));
  bool isOperator = next == TokenKind::And || next == TokenKind::Else || next == TokenKind::For ||
                    next == TokenKind::If || next == TokenKind::In || next == TokenKind::Is ||
                    next == TokenKind::Not || next == TokenKind::Or;
  if (end == pos || isOperator) {
    pos = end;
    emit(TokenKind::Number, begin, end);
    return;
  }
  diags.report(DiagKind::SyntaxInvalidNumber, range(begin, pos), text.slice(begin, pos),
               "a number cannot run into a name");
  emit(TokenKind::Error, begin, pos);
}

void Lexer::lexPunctuation() {
  struct Spelling {
    llvm::StringLiteral text;
    TokenKind kind;
  };
  using Spellings = llvm::SmallVector<Spelling, 4>;
  static const auto byFirst = [] {
    std::array<Spellings, 256> all;
    for (const Spelling &spelling : {
#define KILN_PUNCTUATION(NAME, SPELLING) Spelling{SPELLING, TokenKind::NAME},
#include "compiler/Syntax/Tokens.def"
         })
      all[static_cast<unsigned char>(spelling.text[0])].push_back(spelling);
    return all;
  }();
  llvm::StringRef rest = text.substr(pos);
  char c = rest.front();
  if (isAtFieldLevel() && c == ':') {
    emit(TokenKind::Colon, pos, pos + 1);
    ++pos;
    Mode spec = modes.back();
    spec.kind = ModeKind::FormatSpec;
    modes.push_back(spec);
    return;
  }
  for (const Spelling &spelling : byFirst[static_cast<unsigned char>(c)]) {
    if (!rest.starts_with(spelling.text))
      continue;
    if (c == '(' || c == '[' || c == '{')
      return lexOpenBracket();
    if (c == ')' || c == ']' || c == '}')
      return lexCloseBracket();
    uint32_t begin = pos;
    pos += static_cast<uint32_t>(spelling.text.size());
    return emit(spelling.kind, begin, pos);
  }
  lexUnexpected();
}

void Lexer::lexUnexpected() {
  DecodedCharacter character = decodeCharacter(text.substr(pos));
  uint32_t begin = pos;
  pos += static_cast<uint32_t>(character.length);
  if (character.codePoint == 0) {
    diags.report(DiagKind::SyntaxNulCharacter, range(begin, pos));
    emit(TokenKind::Error, begin, pos);
    return;
  }
  std::string hex = llvm::utohexstr(character.codePoint);
  std::string shown = "U+" + std::string(hex.size() < 4 ? 4 - hex.size() : 0, '0') + hex;
  if (character.codePoint > ' ' && character.codePoint < 0x7F)
    shown = ("'" + text.slice(begin, pos) + "'").str();
  Diagnostic &error = diags.report(DiagKind::SyntaxUnexpectedCharacter, range(begin, pos), shown);
  llvm::StringRef lookalike = findLookalike(character.codePoint);
  if (lookalike == " ")
    error.withHint("write an ordinary space");
  else if (!lookalike.empty())
    error.withHint("write " + lookalike);
  emit(TokenKind::Error, begin, pos);
}

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

static char getCloser(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

static TokenKind getBracketKind(char c) {
  switch (c) {
  case '(':
    return TokenKind::LeftParen;
  case ')':
    return TokenKind::RightParen;
  case '[':
    return TokenKind::LeftBracket;
  case ']':
    return TokenKind::RightBracket;
  case '{':
    return TokenKind::LeftBrace;
  default:
    return TokenKind::RightBrace;
  }
}

/// True inside a replacement field and outside brackets of its expression.
bool Lexer::isAtFieldLevel() const {
  return !modes.empty() && modes.back().kind == ModeKind::Field &&
         brackets.size() == modes.back().numBrackets;
}

/// At the end of a line in parentheses: true when the line is the header of a block and ends with
/// the block's colon. Only the colon of a lambda or of an annotation could stand there otherwise.
bool Lexer::isHeaderWithUnclosedParen() const {
  llvm::ArrayRef<Token> tokens = result.tokens;
  const Bracket &inner = brackets.back();
  if (tokens.back().kind != TokenKind::Colon || inner.open != '(')
    return false;
  TokenKind header = tokens[statementToken].kind;
  if (header == TokenKind::Def && tokens[tokens.size() - 2].kind == TokenKind::Name)
    return false;
  bool hasLambda = llvm::any_of(tokens.drop_front(inner.token),
                                [](const Token &token) { return token.kind == TokenKind::Lambda; });
  return !hasLambda && isBlockKeyword(header);
}

void Lexer::lexOpenBracket() {
  if (brackets.size() >= maxOpenBrackets) {
    diags.report(DiagKind::SyntaxTooDeep, range(pos, pos + 1), maxOpenBrackets);
    result.doubtful.push_back(range(brackets.front().at, static_cast<uint32_t>(text.size())));
    emit(TokenKind::Error, pos, pos + 1);
    stop();
    return;
  }
  brackets.push_back({peek(), pos, /*isField=*/false, result.tokens.size()});
  emit(getBracketKind(peek()), pos, pos + 1);
  ++pos;
}

void Lexer::lexCloseBracket() {
  uint32_t begin = pos++;
  char close = text[begin];
  // A bracket of a replacement field closes nothing outside the field.
  size_t base = modes.empty() ? 0 : modes.back().numBrackets - 1;
  size_t match = brackets.size();
  while (match > base && getCloser(brackets[match - 1].open) != close)
    --match;
  if (match == brackets.size() && match > base) {
    emit(getBracketKind(close), begin, pos);
    closeBrackets(match - 1);
    return;
  }
  if (brackets.size() == base || (match == base && brackets.back().isField)) {
    diags.report(DiagKind::SyntaxUnmatchedBracket, range(begin, pos), text.slice(begin, pos));
    return; // Dropped: the parser goes on as if it were not there.
  }
  Bracket open = brackets.back();
  diags
      .report(DiagKind::SyntaxWrongBracket, range(begin, pos), text.slice(begin, pos),
              llvm::StringRef(&open.open, 1))
      .note(DiagKind::SyntaxOpenedHere, range(open.at, open.at + 1),
            llvm::StringRef(&open.open, 1));
  if (match > base) { // It closes an outer one.
    result.doubtful.push_back(range(brackets[match - 1].at, pos));
    emit(TokenKind::Error, begin, begin);
    emit(getBracketKind(close), begin, pos);
    closeBrackets(match - 1);
  } else { // Take it for the right one.
    emit(getBracketKind(getCloser(open.open)), begin, pos);
    closeBrackets(brackets.size() - 1);
  }
}

/// Keeps `remaining` brackets, and leaves the replacement field whose brace is closed.
void Lexer::closeBrackets(size_t remaining) {
  brackets.truncate(remaining);
  while (!modes.empty() && modes.back().kind != ModeKind::FStringText &&
         modes.back().numBrackets > remaining)
    modes.pop_back();
}

/// Reports the innermost open bracket, closes all, and lexes on from the line of `restart`.
void Lexer::recoverFromUnclosedBracket(uint32_t restart) {
  const Bracket &inner = brackets.back();
  diags.report(DiagKind::SyntaxUnclosedBracket, range(inner.at, inner.at + 1),
               llvm::StringRef(&inner.open, 1));
  uint32_t lineStart = restart;
  while (lineStart > 0 && restart < text.size() && text[lineStart - 1] != '\n' &&
         text[lineStart - 1] != '\r')
    --lineStart;
  result.doubtful.push_back(range(brackets.front().at, lineStart));
  brackets.clear();
  modes.clear();
  pos = lineStart;
  emit(TokenKind::Error, pos, pos);
  emit(TokenKind::Newline, pos, pos);
  atLineStart = true;
}

} // namespace kiln
