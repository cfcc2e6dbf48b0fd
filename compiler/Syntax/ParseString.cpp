// String literals: adjacent ones joined, escapes resolved, f-string fields parsed.
#include "compiler/Syntax/Literals.h"
#include "compiler/Syntax/ParserState.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln {

using namespace ast;

/// Parts gathered so far. Literal text grows in `text` until a field ends it.
struct Parser::StringBuilder {
  std::string text;
  uint32_t textBegin = 0;
  uint32_t textEnd = 0;
  Exprs parts;
  bool hasFormatted = false;
  bool hasBytes = false;
  bool hasPlain = false;

  void noteText(const Token &token) {
    if (text.empty())
      textBegin = token.begin;
    textEnd = token.end;
  }
  void flush(Parser &parser) {
    if (text.empty())
      return;
    auto *literal = parser.make<StringLiteral>(parser.range(textBegin, textEnd));
    literal->value = parser.module.copy(llvm::StringRef(text));
    parts.push_back(literal);
    text.clear();
  }
};

Expr *Parser::parseStrings() {
  uint32_t begin = current().begin;
  StringBuilder builder;
  while (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    bool isGood = at(TokenKind::String) ? parsePlainString(builder) : parseFString(builder);
    if (!isGood)
      return nullptr;
  }
  if (builder.hasBytes && (builder.hasPlain || builder.hasFormatted)) {
    error(DiagKind::SyntaxMixedBytes, rangeFrom(begin));
    return nullptr;
  }
  if (builder.hasFormatted) {
    builder.flush(*this);
    auto *node = make<FormattedString>(rangeFrom(begin));
    node->parts = copy(builder.parts);
    return finish(node);
  }
  llvm::StringRef value = module.copy(llvm::StringRef(builder.text));
  if (builder.hasBytes) {
    auto *node = make<BytesLiteral>(rangeFrom(begin));
    node->value = value;
    return node;
  }
  auto *node = make<StringLiteral>(rangeFrom(begin));
  node->value = value;
  return node;
}

bool Parser::decode(StringBuilder &builder, const Token &token, llvm::StringRef body, bool isRaw,
                    bool isBytes) {
  builder.noteText(token);
  InvalidEscape bad = decodeStringBody(body, isRaw, isBytes, builder.text);
  if (bad.reason.empty())
    return true;
  uint32_t at = static_cast<uint32_t>(body.data() - file.getContents().data() + bad.offset);
  error(DiagKind::SyntaxInvalidEscape, range(at, at + static_cast<uint32_t>(bad.length)),
        body.substr(bad.offset, bad.length), bad.reason);
  return false;
}

bool Parser::parsePlainString(StringBuilder &builder) {
  Token token = consume();
  StringParts parts = splitString(getText(token));
  (parts.isBytes ? builder.hasBytes : builder.hasPlain) = true;
  size_t nonAscii = parts.isBytes ? parts.body.find_if([](char c) { return (c & 0x80) != 0; })
                                  : llvm::StringRef::npos;
  if (nonAscii != llvm::StringRef::npos) {
    auto at = static_cast<uint32_t>(parts.body.data() - file.getContents().data() + nonAscii);
    error(DiagKind::SyntaxNonAsciiBytes, range(at, at + 1));
    return false;
  }
  return decode(builder, token, parts.body, parts.isRaw, parts.isBytes);
}

bool Parser::parseFString(StringBuilder &builder) {
  builder.hasFormatted = true;
  llvm::StringRef prefix = getText(consume());
  return parseFStringParts(builder, TokenKind::FStringEnd, prefix.contains_insensitive('r')) &&
         expect(TokenKind::FStringEnd);
}

/// Reads text and fields up to `end`, which stays.
bool Parser::parseFStringParts(StringBuilder &builder, TokenKind end, bool isRaw) {
  while (!at(end)) {
    if (at(TokenKind::FStringMiddle)) {
      Token token = consume();
      if (!decode(builder, token, getText(token), isRaw, /*isBytes=*/false))
        return false;
    } else if (at(TokenKind::LeftBrace)) {
      if (!parseReplacementField(builder, isRaw))
        return false;
    } else {
      return expect(end);
    }
  }
  return true;
}

/// '{' expressions ['='] ['!' conversion] [':' format_spec] '}'
bool Parser::parseReplacementField(StringBuilder &builder, bool isRaw) {
  Nesting level(*this);
  if (level.isTooDeep())
    return false;
  Token open = consume();
  bool isEmpty = at(TokenKind::RightBrace) || at(TokenKind::Colon) || at(TokenKind::Exclaim);
  if (isEmpty) {
    error(DiagKind::SyntaxEmptyReplacement, range(open.begin, current().end));
    return false;
  }
  Expr *value = parseYieldOrStarExpressions();
  if (!value)
    return false;
  char conversion = 0;
  bool isDebug = accept(TokenKind::Equal);
  if (isDebug) {
    // `{x = }` shows its own text, up to the next token.
    Token shown = {TokenKind::FStringMiddle, open.end, current().begin};
    builder.noteText(shown);
    builder.text += getText(shown);
  }
  if (accept(TokenKind::Exclaim)) {
    llvm::StringRef name = getText();
    bool isKnown = at(TokenKind::Name) && (name == "r" || name == "s" || name == "a");
    if (!isKnown) {
      error(DiagKind::SyntaxInvalidConversion, rangeOf(current()));
      return false;
    }
    conversion = name.front();
    consume();
  }
  const FormattedString *spec = nullptr;
  if (accept(TokenKind::Colon) && !(spec = parseFormatSpec(isRaw)))
    return false;
  if (!expectCloser(TokenKind::RightBrace))
    return false;
  if (isDebug && !conversion && !spec)
    conversion = 'r';
  builder.flush(*this);
  auto *field = make<FormattedValue>(rangeFrom(open.begin));
  field->value = value;
  field->conversion = conversion;
  field->formatSpec = spec;
  builder.parts.push_back(finish(field));
  return builder.parts.back();
}

/// Text and nested fields up to the '}' of the field, which stays.
const FormattedString *Parser::parseFormatSpec(bool isRaw) {
  uint32_t begin = current().begin;
  StringBuilder builder;
  if (!parseFStringParts(builder, TokenKind::RightBrace, isRaw))
    return nullptr;
  builder.flush(*this);
  auto *node = make<FormattedString>(range(begin, current().begin));
  node->parts = copy(builder.parts);
  return finish(node);
}

} // namespace kiln
