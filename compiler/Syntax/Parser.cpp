// The parser's entry, its view of the tokens, and its errors.
#include "compiler/Syntax/Parser.h"

#include "compiler/Syntax/ParserState.h"

#include <algorithm>

namespace kiln {

using namespace ast;

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// Lexes and parses with engines of their own, and reports what they found in source order.
static std::unique_ptr<Module> parseWith(const SourceFile &file, DiagnosticEngine &diags,
                                         void (Parser::*parse)()) {
  auto module = std::make_unique<Module>(file);
  DiagnosticEngine lexing, parsing;
  TokenList tokens = tokenize(file, lexing);
  if (lexing.hasErrors())
    module->setErrors();
  Parser parser(*module, std::move(tokens), parsing);
  (parser.*parse)();

  std::vector<const Diagnostic *> found;
  for (const DiagnosticEngine *engine : {&lexing, &parsing})
    for (const Diagnostic &diagnostic : engine->getDiagnostics())
      found.push_back(&diagnostic);
  llvm::sort(found, [](const Diagnostic *a, const Diagnostic *b) {
    return std::pair(a->place.range.begin, a->kind) < std::pair(b->place.range.begin, b->kind);
  });
  for (const Diagnostic *diagnostic : found)
    diags.add(*diagnostic);
  return module;
}

std::unique_ptr<Module> parseModule(const SourceFile &file, DiagnosticEngine &diags) {
  return parseWith(file, diags, &Parser::parseFile);
}

std::unique_ptr<Module> parseExpression(const SourceFile &file, DiagnosticEngine &diags) {
  return parseWith(file, diags, &Parser::parseLoneExpression);
}

void Parser::parseFile() {
  Stmts body;
  while (!at(TokenKind::EndOfFile) && !diags.isFull())
    parseStatement(body);
  module.setBody(copy(body));
}

void Parser::parseLoneExpression() {
  uint32_t begin = current().begin;
  if (at(TokenKind::Indent)) // Blanks before the expression mean nothing here.
    consume();
  Expr *value = parseStarExpressions();
  if (!value)
    return;
  auto *stmt = make<ExprStmt>(rangeFrom(begin));
  stmt->value = value;
  accept(TokenKind::Newline);
  accept(TokenKind::Dedent);
  if (!at(TokenKind::EndOfFile))
    return reportEndOfStatement(nullptr);
  Stmts body = {finish(stmt)};
  if (body.front())
    module.setBody(copy(body));
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Token Parser::consume() {
  Token token = current();
  previousEnd = token.end;
  if (token.kind != TokenKind::EndOfFile)
    ++index;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  consume();
  return true;
}

bool Parser::expect(TokenKind kind) {
  if (accept(kind))
    return true;
  if (kind == TokenKind::Name && isKeyword(current().kind))
    error(DiagKind::SyntaxKeywordAsName, rangeOf(current()), getText());
  else
    error(DiagKind::SyntaxExpectedToken, rangeOf(current()), describeToken(kind),
          describeCurrent());
  return false;
}

bool Parser::startsExpression() const {
  switch (current().kind) {
  case TokenKind::Name:
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::False:
  case TokenKind::Lambda:
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
  case TokenKind::LeftBrace:
  case TokenKind::Tilde:
    return true;
  default:
    return false;
  }
}

/// Like expect(), for what closes a list of expressions: says what is likely missing.
bool Parser::expectCloser(TokenKind kind) {
  if (accept(kind))
    return true;
  SourceRange where = rangeOf(current());
  if (at(TokenKind::Equal))
    error(DiagKind::SyntaxAssignInExpression, where);
  else if (startsExpression())
    error(DiagKind::SyntaxMissingComma, where, describeCurrent());
  else
    error(DiagKind::SyntaxExpectedToken, where, describeToken(kind), describeCurrent());
  return false;
}

std::string Parser::describeCurrent() const {
  constexpr size_t longestShown = 40;
  switch (current().kind) {
  case TokenKind::Name:
  case TokenKind::Number:
    if (getText().size() <= longestShown)
      return ("'" + getText() + "'").str();
    [[fallthrough]];
  default:
    return describeToken(current().kind);
  }
}

bool Parser::follows(TokenKind kind) const {
  return index > 0 && tokens[index - 1].kind == kind && tokens[index - 1].end == current().begin;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// An error that only repeats what the lexer has said, or that nobody asked for.
bool Parser::isSilent(SourceRange where) const {
  if (isSpeculating || at(TokenKind::Error))
    return true;
  return llvm::any_of(doubtful, [&](SourceRange range) {
    return where.begin >= range.begin && where.begin <= range.end;
  });
}

bool Parser::checkDepth(unsigned depth, SourceRange where) {
  if (depth <= maxTreeDepth)
    return true;
  error(DiagKind::SyntaxTooDeep, range(where.begin, where.begin + 1), maxTreeDepth);
  return false;
}

bool Parser::Nesting::isTooDeep() const {
  if (parser.nesting <= maxNesting)
    return false;
  parser.error(DiagKind::SyntaxTooDeep, parser.rangeOf(parser.current()), maxNesting);
  return true;
}

/// Operators of other languages, seen as the token before and the current one.
static llvm::StringRef findForeignOperator(TokenKind before, TokenKind now,
                                           llvm::StringRef &replacement) {
  struct Foreign {
    TokenKind first, second;
    llvm::StringLiteral spelling, replacement;
  };
  static constexpr Foreign table[] = {
      {TokenKind::Ampersand, TokenKind::Ampersand, "&&", "and"},
      {TokenKind::Pipe, TokenKind::Pipe, "||", "or"},
      {TokenKind::Less, TokenKind::Greater, "<>", "!="},
      {TokenKind::EqualEqual, TokenKind::Equal, "===", "=="},
      {TokenKind::NotEqual, TokenKind::Equal, "!==", "!="},
      {TokenKind::Equal, TokenKind::Greater, "=>", ">="},
      {TokenKind::Equal, TokenKind::Less, "=<", "<="},
  };
  for (const Foreign &foreign : table) {
    if (foreign.first != before || foreign.second != now)
      continue;
    replacement = foreign.replacement;
    return foreign.spelling;
  }
  return "";
}

void Parser::reportExpectedExpression() {
  SourceRange where = rangeOf(current());
  Token before = index > 0 ? tokens[index - 1] : Token();
  llvm::StringRef replacement;
  if (index > 0 && before.end == current().begin) {
    llvm::StringRef foreign = findForeignOperator(before.kind, current().kind, replacement);
    if (!foreign.empty()) {
      error(DiagKind::SyntaxForeignOperator, range(before.begin, current().end), foreign,
            replacement);
      return;
    }
  }
  bool isIncrement = index > 1 && tokens[index - 2].kind == before.kind &&
                     tokens[index - 2].end == before.begin &&
                     (before.kind == TokenKind::Plus || before.kind == TokenKind::Minus);
  if (isIncrement) {
    uint32_t begin = tokens[index - 2].begin;
    error(DiagKind::SyntaxIncrement, range(begin, before.end),
          file.getContents().slice(begin, before.end), getText(before));
    return;
  }
  if (at(TokenKind::Exclaim)) {
    error(DiagKind::SyntaxForeignOperator, where, "!", "not");
    return;
  }
  error(DiagKind::SyntaxExpectedExpression, where, describeCurrent());
}

/// Skips to the end of the line, and past it.
void Parser::skipLine() {
  while (!at(TokenKind::Newline) && !at(TokenKind::EndOfFile) && !at(TokenKind::Dedent) &&
         !at(TokenKind::Indent))
    consume();
  accept(TokenKind::Newline);
}

/// Leaves a statement with an error. A block below it is parsed for its own errors.
void Parser::recover() {
  skipLine();
  if (at(TokenKind::Indent)) {
    Stmts discarded;
    parseIndentedStatements(discarded);
  }
}

} // namespace kiln
