// Match statements. No kernel has one, but host code beside kernels does, and `match` is an
// ordinary name elsewhere.
#include "compiler/Syntax/ParserState.h"

namespace kiln {

using namespace ast;

/// `match` opens a statement when its line ends with ':' and the next one is an indented `case`;
/// no other statement looks so.
bool Parser::atMatch() const {
  if (!atName("match"))
    return false;
  size_t end = index + 1;
  while (tokens[end].kind != TokenKind::Newline && tokens[end].kind != TokenKind::EndOfFile)
    ++end;
  return end > index + 2 && end + 2 < tokens.size() && tokens[end - 1].kind == TokenKind::Colon &&
         tokens[end + 1].kind == TokenKind::Indent && getText(tokens[end + 2]) == "case";
}

/// 'match' subject ':' NEWLINE INDENT case+ DEDENT
Stmt *Parser::parseMatch() {
  uint32_t begin = consume().begin;
  auto *stmt = make<MatchStmt>(rangeFrom(begin));
  stmt->subject = parseSubject();
  if (!stmt->subject || !expect(TokenKind::Colon)) {
    recover();
    return nullptr;
  }
  consume();
  consume();
  llvm::SmallVector<MatchCase, 4> cases;
  bool isGood = true;
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndOfFile)) {
    if (atName("case")) {
      isGood &= parseCase(cases);
      continue;
    }
    error(DiagKind::SyntaxExpectedToken, rangeOf(current()), "'case'", describeCurrent());
    isGood = false;
    recover();
  }
  accept(TokenKind::Dedent);
  if (!isGood)
    return nullptr;
  stmt->cases = copy(cases);
  stmt->range = range(begin, cases.back().range.end);
  return finish(stmt);
}

/// Like star_expressions, but a lone subject may be a named expression.
Expr *Parser::parseSubject() {
  bool isNamed = at(TokenKind::Name) && kindAt(1) == TokenKind::ColonEqual;
  return isNamed ? parseNamedExpression() : parseStarExpressions();
}

/// 'case' patterns ['if' guard] block
bool Parser::parseCase(llvm::SmallVectorImpl<MatchCase> &cases) {
  MatchCase &oneCase = cases.emplace_back();
  uint32_t begin = consume().begin;
  oneCase.pattern = parseOpenPattern();
  bool isHeaderGood = oneCase.pattern;
  if (isHeaderGood && accept(TokenKind::If))
    isHeaderGood = (oneCase.guard = parseNamedExpression());
  bool isGood = parseBlock(isHeaderGood, "the pattern", oneCase.body);
  oneCase.range = range(begin, getBlockEnd(oneCase.body, {}));
  return isGood;
}

/// patterns: pattern [',' …], which is a sequence without brackets
Pattern *Parser::parseOpenPattern() {
  uint32_t begin = current().begin;
  Pattern *first = parseAsPattern();
  bool isSequence = first && (at(TokenKind::Comma) || llvm::isa<StarPattern>(first));
  if (!isSequence)
    return first;
  llvm::SmallVector<const Pattern *, 4> elements = {first};
  while (accept(TokenKind::Comma) && !at(TokenKind::Colon) && !at(TokenKind::If)) {
    Pattern *element = parseAsPattern();
    if (!element)
      return nullptr;
    elements.push_back(element);
  }
  auto *node = make<SequencePattern>(rangeFrom(begin));
  node->elements = copy(elements);
  return finish(node);
}

/// '*' NAME | or_pattern ['as' NAME]
Pattern *Parser::parseAsPattern() {
  Nesting level(*this);
  if (level.isTooDeep())
    return nullptr;
  if (at(TokenKind::Star))
    return parseStarPattern();
  uint32_t begin = current().begin;
  Pattern *pattern = parseOrPattern();
  if (!pattern || !accept(TokenKind::As))
    return pattern;
  Identifier name;
  if (!parseIdentifier(name))
    return nullptr;
  auto *node = make<AsPattern>(rangeFrom(begin));
  node->pattern = pattern;
  node->name = name;
  return finish(node);
}

static llvm::StringRef getCaptureName(llvm::StringRef name) { return name == "_" ? "" : name; }

Pattern *Parser::parseStarPattern() {
  uint32_t begin = consume().begin;
  Identifier name;
  if (!parseIdentifier(name))
    return nullptr;
  auto *node = make<StarPattern>(rangeFrom(begin));
  node->name = getCaptureName(name.name);
  return node;
}

/// closed_pattern ('|' closed_pattern)*
Pattern *Parser::parseOrPattern() {
  uint32_t begin = current().begin;
  Pattern *first = parseClosedPattern();
  if (!first || !at(TokenKind::Pipe))
    return first;
  llvm::SmallVector<const Pattern *, 4> alternatives = {first};
  while (accept(TokenKind::Pipe)) {
    Pattern *alternative = parseClosedPattern();
    if (!alternative)
      return nullptr;
    alternatives.push_back(alternative);
  }
  auto *node = make<OrPattern>(rangeFrom(begin));
  node->alternatives = copy(alternatives);
  return finish(node);
}

Pattern *Parser::parseClosedPattern() {
  switch (current().kind) {
  case TokenKind::Name:
    return parseNamePattern();
  case TokenKind::LeftParen:
    return parseSequencePattern(TokenKind::RightParen);
  case TokenKind::LeftBracket:
    return parseSequencePattern(TokenKind::RightBracket);
  case TokenKind::LeftBrace:
    return parseMappingPattern();
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::Minus:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::False:
    return parseValuePattern();
  default:
    error(DiagKind::SyntaxInvalidPattern, rangeOf(current()));
    return nullptr;
  }
}

/// A literal, a negative number, or a sum of a real and an imaginary number.
Pattern *Parser::parseValuePattern() {
  constexpr unsigned sumPrecedence = 5;
  uint32_t begin = current().begin;
  Expr *value = parseBinary(sumPrecedence);
  if (!value)
    return nullptr;
  auto *node = make<ValuePattern>(rangeFrom(begin));
  node->value = value;
  return finish(node);
}

/// NAME | NAME ('.' NAME)+ | name_or_attr '(' patterns ')'
Pattern *Parser::parseNamePattern() {
  uint32_t begin = current().begin;
  Expr *expr = parseName();
  while (expr && at(TokenKind::Dot))
    expr = parseAttribute(expr);
  if (!expr)
    return nullptr;
  if (at(TokenKind::LeftParen))
    return parseClassPattern(expr, begin);
  if (const auto *name = llvm::dyn_cast<NameExpr>(expr)) {
    auto *node = make<CapturePattern>(rangeFrom(begin));
    node->name = getCaptureName(name->name);
    return node;
  }
  auto *node = make<ValuePattern>(rangeFrom(begin));
  node->value = expr;
  return finish(node);
}

/// '(' [pattern (',' pattern)*] [',' NAME '=' pattern …] [','] ')'
Pattern *Parser::parseClassPattern(Expr *cls, uint32_t begin) {
  consume();
  llvm::SmallVector<const Pattern *, 4> positional, keywordPatterns;
  llvm::SmallVector<Identifier, 4> keywords;
  while (!at(TokenKind::RightParen)) {
    bool isKeyword = at(TokenKind::Name) && kindAt(1) == TokenKind::Equal;
    if (isKeyword) {
      keywords.push_back(getIdentifier(consume()));
      consume();
    } else if (!keywords.empty()) {
      error(DiagKind::SyntaxArgumentOrder, rangeOf(current()), "a keyword argument");
      return nullptr;
    }
    Pattern *pattern = parseAsPattern();
    if (!pattern)
      return nullptr;
    (isKeyword ? keywordPatterns : positional).push_back(pattern);
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!expectCloser(TokenKind::RightParen))
    return nullptr;
  auto *node = make<ClassPattern>(rangeFrom(begin));
  node->cls = cls;
  node->positional = copy(positional);
  node->keywords = copy(keywords);
  node->keywordPatterns = copy(keywordPatterns);
  return finish(node);
}

/// A list or tuple of patterns, or one pattern in parentheses.
Pattern *Parser::parseSequencePattern(TokenKind close) {
  uint32_t begin = consume().begin;
  llvm::SmallVector<const Pattern *, 4> elements;
  bool hasComma = false;
  while (!at(close)) {
    Pattern *element = parseAsPattern();
    if (!element)
      return nullptr;
    elements.push_back(element);
    if (!accept(TokenKind::Comma))
      break;
    hasComma = true;
  }
  if (!expectCloser(close))
    return nullptr;
  bool isGroup = close == TokenKind::RightParen && elements.size() == 1 && !hasComma &&
                 !llvm::isa<StarPattern>(elements.front());
  if (isGroup)
    return const_cast<Pattern *>(elements.front());
  auto *node = make<SequencePattern>(rangeFrom(begin));
  node->elements = copy(elements);
  return finish(node);
}

/// '{' [key ':' pattern, …] ['**' NAME] '}'
Pattern *Parser::parseMappingPattern() {
  uint32_t begin = consume().begin;
  auto *node = make<MappingPattern>(rangeFrom(begin));
  Exprs keys;
  llvm::SmallVector<const Pattern *, 4> values;
  while (!at(TokenKind::RightBrace)) {
    if (accept(TokenKind::StarStar)) {
      if (!parseIdentifier(node->rest))
        return nullptr;
    } else {
      constexpr unsigned sumPrecedence = 5;
      Expr *key = parseBinary(sumPrecedence);
      Pattern *value = key && expect(TokenKind::Colon) ? parseAsPattern() : nullptr;
      if (!value)
        return nullptr;
      keys.push_back(key);
      values.push_back(value);
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!expectCloser(TokenKind::RightBrace))
    return nullptr;
  node->keys = copy(keys);
  node->values = copy(values);
  node->range = rangeFrom(begin);
  return finish(node);
}

} // namespace kiln
