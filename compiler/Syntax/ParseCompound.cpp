// Statements that hold blocks. Each function parses its header, then its blocks even when the
// header was bad, and gives null when any of them was.
#include "compiler/Syntax/ParserState.h"

namespace kiln {

using namespace ast;

bool Parser::atCompound() const {
  switch (current().kind) {
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::For:
  case TokenKind::With:
  case TokenKind::Try:
  case TokenKind::Def:
  case TokenKind::Class:
  case TokenKind::At:
  case TokenKind::Async:
    return true;
  default:
    return atMatch();
  }
}

Stmt *Parser::parseCompound() {
  uint32_t begin = current().begin;
  switch (current().kind) {
  case TokenKind::If:
    return parseIf();
  case TokenKind::While:
    return parseWhile();
  case TokenKind::For:
    return parseFor(begin, /*isAsync=*/false);
  case TokenKind::With:
    return parseWith(begin, /*isAsync=*/false);
  case TokenKind::Try:
    return parseTry();
  case TokenKind::Def:
    return parseFunction(begin, {}, /*isAsync=*/false);
  case TokenKind::Class:
    return parseClass(begin, {});
  case TokenKind::At:
    return parseDecorated();
  case TokenKind::Async:
    return parseAsync(begin, {});
  default:
    return parseMatch();
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// ':' (simple_line | NEWLINE INDENT statement+ DEDENT). `header` names what the colon follows.
/// False when there is no block or the header was bad; then all of it has been skipped.
bool Parser::parseBlock(bool isHeaderGood, llvm::StringRef header, Block &out) {
  if (isHeaderGood && !accept(TokenKind::Colon)) {
    if (at(TokenKind::Newline))
      error(DiagKind::SyntaxMissingColon, range(previousEnd, previousEnd), header);
    else if (at(TokenKind::Equal))
      error(DiagKind::SyntaxAssignInExpression, rangeOf(current()));
    else
      error(DiagKind::SyntaxExpectedToken, rangeOf(current()), "':'", describeCurrent());
    isHeaderGood = false;
  }
  if (!isHeaderGood) {
    recover();
    return false;
  }
  Stmts body;
  if (!accept(TokenKind::Newline)) {
    parseSimpleLine(body);
  } else if (at(TokenKind::Indent)) {
    parseIndentedStatements(body);
  } else {
    error(DiagKind::SyntaxExpectedBlock, rangeOf(current()), header);
    return false;
  }
  out = copy(body);
  return !body.empty(); // Empty when all its statements had errors.
}

void Parser::parseIndentedStatements(Stmts &out) {
  consume();
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndOfFile)) {
    if (diags.isFull()) { // Nothing more will be shown: leave quickly, but at the right place.
      consume();
      continue;
    }
    parseStatement(out);
  }
  accept(TokenKind::Dedent);
}

uint32_t Parser::getBlockEnd(Block before, Block last) {
  if (!last.empty())
    return last.back()->range.end;
  return before.empty() ? 0 : before.back()->range.end;
}

/// ['else' block]
bool Parser::parseElse(Block &out) {
  return !accept(TokenKind::Else) || parseBlock(true, "'else'", out);
}

//===----------------------------------------------------------------------===//
// if, while, for, with
//===----------------------------------------------------------------------===//

/// 'if' test block ('elif' test block)* ['else' block]. The chain is read in a loop and folded
/// from its end, so that a long one does not recurse.
Stmt *Parser::parseIf() {
  llvm::SmallVector<IfStmt *, 4> chain;
  bool isGood = true;
  Block orElse;
  while (true) {
    uint32_t begin = consume().begin;
    Expr *test = parseNamedExpression();
    Block body;
    isGood &= parseBlock(test, "the condition", body);
    IfStmt *stmt = chain.emplace_back(make<IfStmt>(rangeFrom(begin)));
    stmt->test = test;
    stmt->body = body;
    stmt->isElif = chain.size() > 1;
    if (at(TokenKind::Elif))
      continue;
    if (at(TokenKind::Else) && kindAt(1) == TokenKind::If) {
      consume();
      error(DiagKind::SyntaxElseIf, rangeOf(current()));
      isGood = false;
      continue;
    }
    isGood &= parseElse(orElse);
    break;
  }
  if (!isGood)
    return nullptr;
  uint32_t end = getBlockEnd(chain.back()->body, orElse);
  for (IfStmt *stmt : llvm::reverse(chain)) {
    stmt->range.end = end;
    stmt->orElse = orElse;
    if (!finish(stmt))
      return nullptr;
    orElse = module.copy(llvm::ArrayRef<const Stmt *>(stmt));
  }
  return chain.front();
}

Stmt *Parser::parseWhile() {
  uint32_t begin = consume().begin;
  Expr *test = parseNamedExpression();
  Block body, orElse;
  bool isGood = parseBlock(test, "the condition", body);
  isGood &= parseElse(orElse);
  if (!isGood)
    return nullptr;
  auto *stmt = make<WhileStmt>(range(begin, getBlockEnd(body, orElse)));
  stmt->test = test;
  stmt->body = body;
  stmt->orElse = orElse;
  return finish(stmt);
}

/// 'for' targets 'in' star_expressions block ['else' block]
Stmt *Parser::parseFor(uint32_t begin, bool isAsync) {
  consume();
  Expr *iterable = nullptr;
  Expr *target = parseTargetList();
  if (target && expect(TokenKind::In))
    iterable = parseStarExpressions();
  Block body, orElse;
  bool isGood = parseBlock(iterable, "the 'for' clause", body);
  isGood &= parseElse(orElse);
  if (!isGood)
    return nullptr;
  auto *stmt = make<ForStmt>(range(begin, getBlockEnd(body, orElse)));
  stmt->target = target;
  stmt->iterable = iterable;
  stmt->body = body;
  stmt->orElse = orElse;
  stmt->isAsync = isAsync;
  return finish(stmt);
}

Stmt *Parser::parseWith(uint32_t begin, bool isAsync) {
  consume();
  llvm::SmallVector<WithItem, 2> items;
  bool isHeaderGood = parseWithItems(items);
  Block body;
  if (!parseBlock(isHeaderGood, "the 'with' clause", body))
    return nullptr;
  auto *stmt = make<WithStmt>(range(begin, getBlockEnd(body, {})));
  stmt->items = copy(items);
  stmt->body = body;
  stmt->isAsync = isAsync;
  return finish(stmt);
}

/// with_item (',' with_item)* or the same in parentheses. Only trying tells the parentheses of
/// the list from those of a first expression.
bool Parser::parseWithItems(llvm::SmallVectorImpl<WithItem> &items) {
  if (at(TokenKind::LeftParen)) {
    size_t start = index;
    uint32_t startEnd = previousEnd;
    bool hadErrors = module.hasErrors();
    isSpeculating = true;
    bool isList = parseParenthesizedWithItems(items) && at(TokenKind::Colon);
    isSpeculating = false;
    if (isList)
      return true;
    index = start;
    previousEnd = startEnd;
    module.setErrors(hadErrors);
    items.clear();
  }
  do {
    if (!parseWithItem(items))
      return false;
  } while (accept(TokenKind::Comma));
  return true;
}

bool Parser::parseParenthesizedWithItems(llvm::SmallVectorImpl<WithItem> &items) {
  consume();
  do {
    if (!items.empty() && at(TokenKind::RightParen))
      break;
    if (!parseWithItem(items))
      return false;
  } while (accept(TokenKind::Comma));
  return accept(TokenKind::RightParen);
}

/// expression ['as' target]
bool Parser::parseWithItem(llvm::SmallVectorImpl<WithItem> &items) {
  WithItem &item = items.emplace_back();
  item.context = parseExpression();
  if (!item.context || !accept(TokenKind::As))
    return item.context;
  Expr *target = at(TokenKind::Star) ? parseStarred() : parsePrimary();
  item.target = target;
  return target && checkTarget(target, TargetUse::Assign);
}

//===----------------------------------------------------------------------===//
// try
//===----------------------------------------------------------------------===//

Stmt *Parser::parseTry() {
  Token keyword = consume();
  auto *stmt = make<TryStmt>(rangeOf(keyword));
  bool isGood = parseBlock(true, "'try'", stmt->body);
  llvm::SmallVector<ExceptHandler, 4> handlers;
  while (at(TokenKind::Except))
    isGood &= parseHandler(handlers, *stmt);
  if (!handlers.empty())
    isGood &= parseElse(stmt->orElse);
  bool hasFinally = accept(TokenKind::Finally);
  if (hasFinally)
    isGood &= parseBlock(true, "'finally'", stmt->finalBody);
  if (!isGood)
    return nullptr;
  if (handlers.empty() && !hasFinally) {
    error(DiagKind::SyntaxTryWithoutHandler, rangeOf(keyword));
    return nullptr;
  }
  stmt->handlers = copy(handlers);
  stmt->range.end = getBlockEnd(handlers.empty() ? stmt->body : handlers.back().body, stmt->orElse);
  if (hasFinally)
    stmt->range.end = getBlockEnd(stmt->finalBody, {});
  return finish(stmt);
}

bool Parser::parseHandler(llvm::SmallVectorImpl<ExceptHandler> &handlers, TryStmt &tryStmt) {
  uint32_t begin = consume().begin;
  bool isAfterBare = !handlers.empty() && !handlers.back().type;
  ExceptHandler &handler = handlers.emplace_back();
  if (isAfterBare)
    error(DiagKind::SyntaxExceptOrder, rangeFrom(begin), "a bare 'except:' must be the last");
  bool isHeaderGood = parseHandlerHeader(handler, tryStmt, handlers.size() == 1) && !isAfterBare;
  bool isGood = parseBlock(isHeaderGood, "'except'", handler.body);
  handler.range = range(begin, getBlockEnd(handler.body, {}));
  return isGood;
}

/// ['*'] [expression ['as' NAME]]
bool Parser::parseHandlerHeader(ExceptHandler &handler, TryStmt &tryStmt, bool isFirst) {
  bool isStar = accept(TokenKind::Star);
  if (isFirst)
    tryStmt.isStar = isStar;
  if (isStar != tryStmt.isStar) {
    error(DiagKind::SyntaxExceptOrder, rangeOf(current()),
          "'except' and 'except*' cannot be mixed");
    return false;
  }
  if (at(TokenKind::Colon) && !isStar)
    return true;
  handler.type = parseExpression();
  if (!handler.type)
    return false;
  if (at(TokenKind::Comma)) {
    error(DiagKind::SyntaxParenthesizedExcept, rangeOf(current()));
    return false;
  }
  return parseAlias(handler.name);
}

//===----------------------------------------------------------------------===//
// Functions and classes
//===----------------------------------------------------------------------===//

/// ('@' named_expression NEWLINE)+ (function | class)
Stmt *Parser::parseDecorated() {
  uint32_t begin = current().begin;
  Exprs decorators;
  bool isGood = true;
  while (accept(TokenKind::At)) {
    Expr *decorator = parseNamedExpression();
    isGood &= decorator && (at(TokenKind::Newline) || expect(TokenKind::Newline));
    if (decorator)
      decorators.push_back(decorator);
    skipLine();
  }
  Stmt *stmt = nullptr;
  if (at(TokenKind::Def))
    stmt = parseFunction(begin, copy(decorators), /*isAsync=*/false);
  else if (at(TokenKind::Class))
    stmt = parseClass(begin, copy(decorators));
  else if (at(TokenKind::Async) && kindAt(1) == TokenKind::Def)
    stmt = parseAsync(begin, copy(decorators));
  else if (isGood)
    error(DiagKind::SyntaxDecoratorTarget, rangeOf(current()));
  return isGood ? stmt : nullptr;
}

/// 'async' (function | for | with)
Stmt *Parser::parseAsync(uint32_t begin, ExprList decorators) {
  consume();
  if (at(TokenKind::Def))
    return parseFunction(begin, decorators, /*isAsync=*/true);
  if (at(TokenKind::For))
    return parseFor(begin, /*isAsync=*/true);
  if (at(TokenKind::With))
    return parseWith(begin, /*isAsync=*/true);
  error(DiagKind::SyntaxExpectedToken, rangeOf(current()), "'def', 'for' or 'with'",
        describeCurrent());
  recover();
  return nullptr;
}

Stmt *Parser::parseFunction(uint32_t begin, ExprList decorators, bool isAsync) {
  auto *function = make<FunctionDef>(rangeOf(current()));
  bool isHeaderGood = parseFunctionHeader(*function);
  if (!parseBlock(isHeaderGood, "the function's signature", function->body))
    return nullptr;
  function->range = range(begin, getBlockEnd(function->body, {}));
  function->decorators = decorators;
  function->isAsync = isAsync;
  return finish(function);
}

/// 'def' NAME [type_params] '(' parameters ')' ['->' expression]
bool Parser::parseFunctionHeader(FunctionDef &function) {
  uint32_t begin = consume().begin;
  llvm::SmallVector<Parameter, 16> parameters;
  if (!parseIdentifier(function.name) || !parseTypeParameters(function.typeParameters) ||
      !expect(TokenKind::LeftParen) ||
      !parseParameters(TokenKind::RightParen, /*isLambda=*/false, parameters) ||
      !expectCloser(TokenKind::RightParen))
    return false;
  function.parameters = copy(parameters);
  if (accept(TokenKind::Arrow) && !(function.returns = parseExpression()))
    return false;
  function.signatureRange = rangeFrom(begin);
  return true;
}

Stmt *Parser::parseClass(uint32_t begin, ExprList decorators) {
  auto *cls = make<ClassDef>(rangeOf(current()));
  bool isHeaderGood = parseClassHeader(*cls);
  if (!parseBlock(isHeaderGood, "the class's name", cls->body))
    return nullptr;
  cls->range = range(begin, getBlockEnd(cls->body, {}));
  cls->decorators = decorators;
  return finish(cls);
}

/// 'class' NAME [type_params] ['(' arguments ')']
bool Parser::parseClassHeader(ClassDef &cls) {
  consume();
  llvm::SmallVector<Argument, 4> arguments;
  if (!parseIdentifier(cls.name) || !parseTypeParameters(cls.typeParameters))
    return false;
  if (at(TokenKind::LeftParen) && !parseArguments(arguments))
    return false;
  cls.arguments = copy(arguments);
  return true;
}

/// ['[' (['*' | '**'] NAME [':' bound] ['=' default]) … ']']
bool Parser::parseTypeParameters(llvm::ArrayRef<TypeParameter> &out) {
  if (!accept(TokenKind::LeftBracket))
    return true;
  llvm::SmallVector<TypeParameter, 2> parameters;
  do {
    if (!parameters.empty() && at(TokenKind::RightBracket))
      break;
    TypeParameter &parameter = parameters.emplace_back();
    if (accept(TokenKind::Star))
      parameter.stars = 1;
    else if (accept(TokenKind::StarStar))
      parameter.stars = 2;
    if (!parseIdentifier(parameter.name))
      return false;
    if (accept(TokenKind::Colon) && !(parameter.bound = parseExpression()))
      return false;
    if (accept(TokenKind::Equal) &&
        !(parameter.defaultValue = at(TokenKind::Star) ? parseStarred() : parseExpression()))
      return false;
  } while (accept(TokenKind::Comma));
  out = copy(parameters);
  return expectCloser(TokenKind::RightBracket);
}

} // namespace kiln
