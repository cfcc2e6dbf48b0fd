// Statements of one line.
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Syntax/ParserState.h"

namespace kiln {

using namespace ast;

void Parser::parseStatement(Stmts &out) {
  if (accept(TokenKind::Newline)) // After an error of the lexer.
    return;
  if (at(TokenKind::Indent)) {
    error(DiagKind::SyntaxUnexpectedIndent, rangeOf(current()));
    parseIndentedStatements(out);
    return;
  }
  if (at(TokenKind::Dedent)) {
    consume();
    return;
  }
  if (!atCompound())
    return parseSimpleLine(out);
  if (Stmt *stmt = parseCompound())
    out.push_back(stmt);
}

/// simple_stmt (';' simple_stmt)* [';'] NEWLINE
void Parser::parseSimpleLine(Stmts &out) {
  do {
    if (at(TokenKind::Newline)) // After the last ';'.
      break;
    Stmt *stmt = nullptr;
    if (atCompound()) {
      std::string what = ("'" + getText() + "'").str();
      error(DiagKind::SyntaxCompoundOnLine, rangeOf(current()), what);
    } else {
      stmt = parseSimple();
    }
    if (!stmt)
      return recover();
    if (!at(TokenKind::Semicolon) && !at(TokenKind::Newline)) {
      reportEndOfStatement(stmt);
      return recover();
    }
    out.push_back(stmt);
  } while (accept(TokenKind::Semicolon));
  accept(TokenKind::Newline);
}

/// Something follows a complete statement on its line; `before` may be null.
void Parser::reportEndOfStatement(const Stmt *before) {
  const auto *exprStmt = llvm::dyn_cast_or_null<ExprStmt>(before);
  const auto *name = exprStmt ? llvm::dyn_cast<NameExpr>(exprStmt->value) : nullptr;
  bool isPython2 = name && (name->name == "print" || name->name == "exec");
  if (isPython2 && startsExpression()) {
    error(DiagKind::SyntaxPython2Statement, name->range, name->name);
    return;
  }
  Diagnostic &report = error(DiagKind::SyntaxEndOfStatement, rangeOf(current()), describeCurrent());
  if (name && (startsExpression() || isKeyword(current().kind))) {
    static constexpr llvm::StringRef starters[] = {
        "assert", "async", "class", "def",    "del",   "for",    "from",  "global",
        "if",     "elif",  "else",  "import", "raise", "return", "while", "with"};
    std::string suggestion = suggestName(name->name, starters);
    if (!suggestion.empty())
      report.withHint(suggestion).highlight(name->range);
  } else if (at(TokenKind::ColonEqual)) {
    report.withHint("write '=' to assign, or parentheses around a ':=' expression");
  }
}

Stmt *Parser::parseSimple() {
  switch (current().kind) {
  case TokenKind::Pass:
    return parseKeywordStatement<PassStmt>();
  case TokenKind::Break:
    return parseKeywordStatement<BreakStmt>();
  case TokenKind::Continue:
    return parseKeywordStatement<ContinueStmt>();
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Raise:
    return parseRaise();
  case TokenKind::Del:
    return parseDelete();
  case TokenKind::Assert:
    return parseAssert();
  case TokenKind::Import:
    return parseImport();
  case TokenKind::From:
    return parseImportFrom();
  case TokenKind::Global:
    return parseScopeStatement<GlobalStmt>();
  case TokenKind::Nonlocal:
    return parseScopeStatement<NonlocalStmt>();
  case TokenKind::Elif:
  case TokenKind::Else:
  case TokenKind::Except:
  case TokenKind::Finally:
    error(DiagKind::SyntaxExpectedStatement, rangeOf(current()), describeCurrent());
    return nullptr;
  default:
    if (atName("type") && kindAt(1) == TokenKind::Name)
      return parseTypeAlias();
    return parseExpressionStatement();
  }
}

template <typename T> Stmt *Parser::parseKeywordStatement() { return make<T>(rangeOf(consume())); }

//===----------------------------------------------------------------------===//
// Expressions and assignments
//===----------------------------------------------------------------------===//

Stmt *Parser::parseExpressionStatement() {
  uint32_t begin = current().begin;
  Expr *first = parseYieldOrStarExpressions();
  if (!first)
    return nullptr;
  switch (current().kind) {
  case TokenKind::Equal:
    return parseAssignment(begin, first);
  case TokenKind::Colon:
    return parseAnnotated(begin, first);
#define KILN_AUGMENTED(NAME, SPELLING, OP)                                                         \
  case TokenKind::NAME:                                                                            \
    return parseAugmented(begin, first, BinaryOp::OP);
#include "compiler/Syntax/Tokens.def"
  default:
    break;
  }
  auto *stmt = make<ExprStmt>(rangeFrom(begin));
  stmt->value = first;
  return finish(stmt);
}

/// (targets '=')+ value
Stmt *Parser::parseAssignment(uint32_t begin, Expr *first) {
  Exprs values = {first};
  while (accept(TokenKind::Equal)) {
    Expr *next = parseYieldOrStarExpressions();
    if (!next)
      return nullptr;
    values.push_back(next);
  }
  auto *stmt = make<AssignStmt>(rangeFrom(begin));
  stmt->value = values.pop_back_val();
  for (const Expr *target : values)
    if (!checkTarget(target, TargetUse::Assign))
      return nullptr;
  stmt->targets = copy(values);
  return finish(stmt);
}

Stmt *Parser::parseAugmented(uint32_t begin, Expr *target, BinaryOp op) {
  Token token = consume();
  if (!checkTarget(target, TargetUse::Augment))
    return nullptr;
  Expr *value = parseYieldOrStarExpressions();
  if (!value)
    return nullptr;
  auto *stmt = make<AugAssignStmt>(rangeFrom(begin));
  stmt->target = target;
  stmt->op = op;
  stmt->opRange = rangeOf(token);
  stmt->value = value;
  return finish(stmt);
}

/// target ':' expression ['=' value]
Stmt *Parser::parseAnnotated(uint32_t begin, Expr *target) {
  if (kindAt(1) == TokenKind::Newline) {
    // `els:`, `try x:` and the like: no annotation was meant.
    auto *stmt = make<ExprStmt>(rangeFrom(begin));
    stmt->value = target;
    reportEndOfStatement(stmt);
    return nullptr;
  }
  if (!checkTarget(target, TargetUse::Annotate))
    return nullptr;
  consume();
  Expr *annotation = parseExpression();
  if (!annotation)
    return nullptr;
  Expr *value = nullptr;
  if (accept(TokenKind::Equal) && !(value = parseYieldOrStarExpressions()))
    return nullptr;
  auto *stmt = make<AnnAssignStmt>(rangeFrom(begin));
  stmt->target = target;
  stmt->annotation = annotation;
  stmt->value = value;
  return finish(stmt);
}

//===----------------------------------------------------------------------===//
// Keyword statements
//===----------------------------------------------------------------------===//

Stmt *Parser::parseReturn() {
  uint32_t begin = consume().begin;
  Expr *value = nullptr;
  bool hasValue = !at(TokenKind::Newline) && !at(TokenKind::Semicolon);
  if (hasValue && !(value = parseStarExpressions()))
    return nullptr;
  auto *stmt = make<ReturnStmt>(rangeFrom(begin));
  stmt->value = value;
  return finish(stmt);
}

/// 'raise' [expression ['from' expression]]
Stmt *Parser::parseRaise() {
  uint32_t begin = consume().begin;
  Expr *exception = nullptr, *cause = nullptr;
  if (!at(TokenKind::Newline) && !at(TokenKind::Semicolon)) {
    exception = parseExpression();
    if (!exception || (accept(TokenKind::From) && !(cause = parseExpression())))
      return nullptr;
  }
  auto *stmt = make<RaiseStmt>(rangeFrom(begin));
  stmt->exception = exception;
  stmt->cause = cause;
  return finish(stmt);
}

Stmt *Parser::parseDelete() {
  uint32_t begin = consume().begin;
  Exprs targets;
  do {
    if (!targets.empty() && (at(TokenKind::Newline) || at(TokenKind::Semicolon)))
      break;
    Expr *target = parsePrimary();
    if (!target || !checkTarget(target, TargetUse::Delete))
      return nullptr;
    targets.push_back(target);
  } while (accept(TokenKind::Comma));
  auto *stmt = make<DeleteStmt>(rangeFrom(begin));
  stmt->targets = copy(targets);
  return finish(stmt);
}

Stmt *Parser::parseAssert() {
  uint32_t begin = consume().begin;
  Expr *test = parseExpression();
  Expr *message = nullptr;
  if (!test || (accept(TokenKind::Comma) && !(message = parseExpression())))
    return nullptr;
  auto *stmt = make<AssertStmt>(rangeFrom(begin));
  stmt->test = test;
  stmt->message = message;
  return finish(stmt);
}

bool Parser::parseIdentifier(Identifier &name) {
  Token token = current();
  if (!expect(TokenKind::Name))
    return false;
  name = getIdentifier(token);
  return true;
}

bool Parser::parseIdentifierList(llvm::SmallVectorImpl<Identifier> &names) {
  do {
    if (!parseIdentifier(names.emplace_back()))
      return false;
  } while (accept(TokenKind::Comma));
  return true;
}

template <typename T> Stmt *Parser::parseScopeStatement() {
  uint32_t begin = consume().begin;
  llvm::SmallVector<Identifier, 4> names;
  if (!parseIdentifierList(names))
    return nullptr;
  auto *stmt = make<T>(rangeFrom(begin));
  stmt->names = copy(names);
  return stmt;
}

/// 'type' NAME [type_params] '=' expression
Stmt *Parser::parseTypeAlias() {
  uint32_t begin = consume().begin;
  Identifier name;
  llvm::ArrayRef<TypeParameter> typeParameters;
  if (!parseIdentifier(name) || !parseTypeParameters(typeParameters) || !expect(TokenKind::Equal))
    return nullptr;
  Expr *value = parseExpression();
  if (!value)
    return nullptr;
  auto *stmt = make<TypeAliasStmt>(rangeFrom(begin));
  stmt->name = name;
  stmt->typeParameters = typeParameters;
  stmt->value = value;
  return finish(stmt);
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

/// NAME ('.' NAME)*
bool Parser::parseDottedName(Identifier &name) {
  if (!parseIdentifier(name))
    return false;
  uint32_t begin = name.range.begin;
  std::string joined = name.name.str();
  bool isDotted = false;
  while (accept(TokenKind::Dot)) {
    Identifier part;
    if (!parseIdentifier(part))
      return false;
    joined += "." + part.name.str();
    isDotted = true;
  }
  if (isDotted)
    name = {module.copy(llvm::StringRef(joined)), rangeFrom(begin)};
  return true;
}

bool Parser::parseAlias(Identifier &alias) {
  return !accept(TokenKind::As) || parseIdentifier(alias);
}

/// 'import' dotted_name ['as' NAME] (',' …)*
Stmt *Parser::parseImport() {
  uint32_t begin = consume().begin;
  llvm::SmallVector<ImportedName, 4> names;
  do {
    ImportedName &name = names.emplace_back();
    if (!parseDottedName(name.name) || !parseAlias(name.alias))
      return nullptr;
  } while (accept(TokenKind::Comma));
  auto *stmt = make<ImportStmt>(rangeFrom(begin));
  stmt->names = copy(names);
  return stmt;
}

/// 'from' ('.' | '...')* [dotted_name] 'import' ('*' | names | '(' names [','] ')')
Stmt *Parser::parseImportFrom() {
  uint32_t begin = consume().begin;
  unsigned level = 0;
  while (at(TokenKind::Dot) || at(TokenKind::Ellipsis))
    level += consume().kind == TokenKind::Dot ? 1 : 3;
  Identifier moduleName;
  bool isRelativeOnly = level > 0 && at(TokenKind::Import);
  if (!isRelativeOnly && !parseDottedName(moduleName))
    return nullptr;
  if (!expect(TokenKind::Import))
    return nullptr;
  llvm::SmallVector<ImportedName, 8> names;
  if (at(TokenKind::Star))
    names.push_back({getIdentifier(consume()), {}});
  else if (!parseImportedNames(names))
    return nullptr;
  auto *stmt = make<ImportFromStmt>(rangeFrom(begin));
  stmt->module = moduleName;
  stmt->level = level;
  stmt->names = copy(names);
  return stmt;
}

bool Parser::parseImportedNames(llvm::SmallVectorImpl<ImportedName> &names) {
  bool isInParens = accept(TokenKind::LeftParen);
  do {
    if (isInParens && !names.empty() && at(TokenKind::RightParen))
      break;
    ImportedName &name = names.emplace_back();
    if (!parseIdentifier(name.name) || !parseAlias(name.alias))
      return false;
  } while (accept(TokenKind::Comma));
  return !isInParens || expectCloser(TokenKind::RightParen);
}

} // namespace kiln
