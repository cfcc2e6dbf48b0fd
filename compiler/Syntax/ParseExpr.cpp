// Expressions, from the loosest operator to calls and subscripts. The grammar is that of Python's
// language reference, whose rules stand above the functions.
//
// Each function notes where it begins before it parses an operand: the range of `(a) + b` starts
// at the parenthesis, that of its left operand behind it.
#include "compiler/Syntax/ParserState.h"

namespace kiln {

using namespace ast;

/// expression: lambda | disjunction ['if' disjunction 'else' expression]
Expr *Parser::parseExpression() {
  Nesting level(*this);
  if (level.isTooDeep())
    return nullptr;
  if (at(TokenKind::Lambda))
    return parseLambda();
  uint32_t begin = current().begin;
  Expr *body = parseOr();
  if (!body || !accept(TokenKind::If))
    return body;
  Expr *test = parseOr();
  if (!test || !expect(TokenKind::Else))
    return nullptr;
  Expr *orElse = parseExpression();
  if (!orElse)
    return nullptr;
  auto *node = make<ConditionalExpr>(rangeFrom(begin));
  node->test = test;
  node->body = body;
  node->orElse = orElse;
  return finish(node);
}

/// named_expression: [NAME ':='] expression
Expr *Parser::parseNamedExpression() {
  if (!at(TokenKind::Name) || kindAt(1) != TokenKind::ColonEqual)
    return parseExpression();
  uint32_t begin = current().begin;
  auto *target = llvm::cast<NameExpr>(parseName());
  consume();
  Expr *value = parseExpression();
  if (!value)
    return nullptr;
  auto *node = make<NamedExpr>(rangeFrom(begin));
  node->target = target;
  node->value = value;
  return finish(node);
}

/// '*' bitwise_or
Expr *Parser::parseStarred() {
  uint32_t begin = consume().begin;
  Expr *value = parseBinary(1);
  if (!value)
    return nullptr;
  auto *node = make<StarredExpr>(rangeFrom(begin));
  node->value = value;
  return finish(node);
}

/// star_named_expression: '*' bitwise_or | named_expression
Expr *Parser::parseStarredOrNamed() {
  return at(TokenKind::Star) ? parseStarred() : parseNamedExpression();
}

/// star_expressions: star_expression (',' star_expression)* [',']
Expr *Parser::parseStarExpressions() {
  auto parseElement = [&] { return at(TokenKind::Star) ? parseStarred() : parseExpression(); };
  uint32_t begin = current().begin;
  Expr *first = parseElement();
  if (!first || !at(TokenKind::Comma))
    return first;
  Exprs elements = {first};
  while (accept(TokenKind::Comma) &&
         (at(TokenKind::Star) || at(TokenKind::Not) || at(TokenKind::Await) ||
          at(TokenKind::Plus) || at(TokenKind::Minus) || at(TokenKind::Ellipsis) ||
          startsExpression())) {
    Expr *element = parseElement();
    if (!element)
      return nullptr;
    elements.push_back(element);
  }
  auto *node = make<TupleExpr>(rangeFrom(begin));
  node->elements = copy(elements);
  return finish(node);
}

Expr *Parser::parseYieldOrStarExpressions() {
  return at(TokenKind::Yield) ? parseYield() : parseStarExpressions();
}

/// yield_expr: 'yield' 'from' expression | 'yield' [star_expressions]
Expr *Parser::parseYield() {
  uint32_t begin = consume().begin;
  if (accept(TokenKind::From)) {
    Expr *value = parseExpression();
    if (!value)
      return nullptr;
    auto *node = make<YieldFromExpr>(rangeFrom(begin));
    node->value = value;
    return finish(node);
  }
  Expr *value = nullptr;
  bool hasValue = !at(TokenKind::Newline) && !at(TokenKind::RightParen) &&
                  !at(TokenKind::RightBrace) && !at(TokenKind::Equal) &&
                  !at(TokenKind::Semicolon) && !at(TokenKind::EndOfFile);
  if (hasValue && !(value = parseStarExpressions()))
    return nullptr;
  auto *node = make<YieldExpr>(rangeFrom(begin));
  node->value = value;
  return finish(node);
}

/// lambdef: 'lambda' [parameters] ':' expression
Expr *Parser::parseLambda() {
  uint32_t begin = consume().begin;
  llvm::SmallVector<Parameter, 8> parameters;
  if (!parseParameters(TokenKind::Colon, /*isLambda=*/true, parameters) ||
      !expect(TokenKind::Colon))
    return nullptr;
  Expr *body = parseExpression();
  if (!body)
    return nullptr;
  auto *node = make<LambdaExpr>(rangeFrom(begin));
  node->parameters = copy(parameters);
  node->body = body;
  return finish(node);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Expr *Parser::parseOr() { return parseBoolChain(TokenKind::Or, &Parser::parseAnd); }

Expr *Parser::parseAnd() { return parseBoolChain(TokenKind::And, &Parser::parseNot); }

Expr *Parser::parseBoolChain(TokenKind op, Expr *(Parser::*parseOperand)()) {
  uint32_t begin = current().begin;
  Expr *first = (this->*parseOperand)();
  if (!first || !at(op))
    return first;
  SourceRange opRange = rangeOf(current());
  Exprs operands = {first};
  while (accept(op)) {
    Expr *operand = (this->*parseOperand)();
    if (!operand)
      return nullptr;
    operands.push_back(operand);
  }
  auto *node = make<BoolExpr>(rangeFrom(begin));
  node->isAnd = op == TokenKind::And;
  node->opRange = opRange;
  node->operands = copy(operands);
  return finish(node);
}

/// inversion: 'not' inversion | comparison
Expr *Parser::parseNot() {
  if (!at(TokenKind::Not))
    return parseComparison();
  Nesting level(*this);
  if (level.isTooDeep())
    return nullptr;
  Token op = consume();
  Expr *operand = parseNot();
  if (!operand)
    return nullptr;
  auto *node = make<UnaryExpr>(rangeFrom(op.begin));
  node->op = UnaryOp::Not;
  node->opRange = rangeOf(op);
  node->operand = operand;
  return finish(node);
}

/// comparison: bitwise_or (compare_op bitwise_or)*
Expr *Parser::parseComparison() {
  uint32_t begin = current().begin;
  Expr *left = parseBinary(1);
  if (!left)
    return nullptr;
  llvm::SmallVector<Comparison, 4> comparisons;
  while (true) {
    uint32_t opBegin = current().begin;
    std::optional<CompareOp> op = acceptCompareOp();
    if (!op)
      break;
    SourceRange opRange = rangeFrom(opBegin);
    Expr *right = parseBinary(1);
    if (!right)
      return nullptr;
    comparisons.push_back({*op, opRange, right});
  }
  if (comparisons.empty())
    return left;
  auto *node = make<CompareExpr>(rangeFrom(begin));
  node->left = left;
  node->comparisons = copy(comparisons);
  return finish(node);
}

std::optional<CompareOp> Parser::acceptCompareOp() {
  auto take = [&](CompareOp op) {
    consume();
    return op;
  };
  switch (current().kind) {
  case TokenKind::EqualEqual:
    return take(CompareOp::Equal);
  case TokenKind::NotEqual:
    return take(CompareOp::NotEqual);
  case TokenKind::Less:
    return take(CompareOp::Less);
  case TokenKind::LessEqual:
    return take(CompareOp::LessEqual);
  case TokenKind::Greater:
    return take(CompareOp::Greater);
  case TokenKind::GreaterEqual:
    return take(CompareOp::GreaterEqual);
  case TokenKind::In:
    return take(CompareOp::In);
  case TokenKind::Is:
    consume();
    return accept(TokenKind::Not) ? CompareOp::IsNot : CompareOp::Is;
  case TokenKind::Not:
    if (kindAt(1) != TokenKind::In)
      return std::nullopt;
    consume();
    return take(CompareOp::NotIn);
  default:
    return std::nullopt;
  }
}

namespace {
struct BinaryOpInfo {
  BinaryOp op;
  unsigned precedence; // 0: not a left-associative binary operator.
};
} // namespace

static BinaryOpInfo getBinaryOp(TokenKind kind) {
  switch (kind) {
#define KILN_BINARY_OP(NAME, SPELLING, TOKEN, PRECEDENCE)                                          \
  case TokenKind::TOKEN:                                                                           \
    return {BinaryOp::NAME, BinaryOp::NAME == BinaryOp::Pow ? 0 : (PRECEDENCE)};
#include "compiler/Syntax/Operators.def"
  default:
    return {BinaryOp::Add, 0};
  }
}

/// bitwise_or and all tighter operators down to `*`, by precedence climbing.
Expr *Parser::parseBinary(unsigned minPrecedence) {
  uint32_t begin = current().begin;
  Expr *left = parseUnary();
  while (left) {
    BinaryOpInfo info = getBinaryOp(current().kind);
    if (info.precedence < minPrecedence || info.precedence == 0)
      return left;
    Token op = consume();
    Expr *right = parseBinary(info.precedence + 1);
    if (!right)
      return nullptr;
    auto *node = make<BinaryExpr>(rangeFrom(begin));
    node->op = info.op;
    node->opRange = rangeOf(op);
    node->left = left;
    node->right = right;
    left = finish(node);
  }
  return nullptr;
}

/// factor: ('+' | '-' | '~') factor | power
Expr *Parser::parseUnary() {
  UnaryOp op;
  if (at(TokenKind::Minus))
    op = UnaryOp::Minus;
  else if (at(TokenKind::Plus))
    op = UnaryOp::Plus;
  else if (at(TokenKind::Tilde))
    op = UnaryOp::Invert;
  else
    return parsePower();
  Nesting level(*this);
  if (level.isTooDeep())
    return nullptr;
  Token token = consume();
  Expr *operand = parseUnary();
  if (!operand)
    return nullptr;
  auto *node = make<UnaryExpr>(rangeFrom(token.begin));
  node->op = op;
  node->opRange = rangeOf(token);
  node->operand = operand;
  return finish(node);
}

/// power: ['await'] primary ['**' factor]
Expr *Parser::parsePower() {
  uint32_t begin = current().begin;
  bool isAwait = accept(TokenKind::Await);
  Expr *base = parsePrimary();
  if (base && isAwait) {
    auto *node = make<AwaitExpr>(rangeFrom(begin));
    node->value = base;
    base = finish(node);
  }
  if (!base || !at(TokenKind::StarStar))
    return base;
  Nesting level(*this);
  if (level.isTooDeep())
    return nullptr;
  Token op = consume();
  Expr *exponent = parseUnary();
  if (!exponent)
    return nullptr;
  auto *node = make<BinaryExpr>(rangeFrom(begin));
  node->op = BinaryOp::Pow;
  node->opRange = rangeOf(op);
  node->left = base;
  node->right = exponent;
  return finish(node);
}

//===----------------------------------------------------------------------===//
// Primaries
//===----------------------------------------------------------------------===//

/// primary: atom ('.' NAME | '(' [arguments] ')' | '[' slices ']')*
Expr *Parser::parsePrimary() {
  uint32_t begin = current().begin;
  Expr *expr = parseAtom();
  while (expr) {
    Expr *next = nullptr;
    if (at(TokenKind::Dot))
      next = parseAttribute(expr);
    else if (at(TokenKind::LeftParen))
      next = parseCall(expr);
    else if (at(TokenKind::LeftBracket))
      next = parseSubscript(expr);
    else
      return expr;
    if (next)
      next->range.begin = begin; // A parenthesised base starts before its own range.
    expr = next;
  }
  return nullptr;
}

Expr *Parser::parseAttribute(Expr *base) {
  consume();
  Identifier attribute;
  if (!parseIdentifier(attribute))
    return nullptr;
  auto *node = make<AttributeExpr>(rangeFrom(base->range.begin));
  node->base = base;
  node->attribute = attribute;
  return finish(node);
}

Expr *Parser::parseCall(Expr *callee) {
  uint32_t open = current().begin;
  llvm::SmallVector<Argument, 8> arguments;
  if (!parseArguments(arguments))
    return nullptr;
  auto *node = make<CallExpr>(rangeFrom(callee->range.begin));
  node->callee = callee;
  node->arguments = copy(arguments);
  node->parens = rangeFrom(open);
  return finish(node);
}

/// '(' [argument (',' argument)* [',']] ')'
bool Parser::parseArguments(llvm::SmallVectorImpl<Argument> &arguments) {
  uint32_t open = consume().begin;
  ArgumentOrder order;
  while (!at(TokenKind::RightParen)) {
    if (!parseArgument(arguments, order))
      return false;
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!atComprehension())
    return expectCloser(TokenKind::RightParen);
  Argument &argument = arguments.back();
  if (arguments.size() != 1 || argument.kind != ArgumentKind::Positional) {
    error(DiagKind::SyntaxBareGenerator, argument.range);
    return false;
  }
  auto *element = const_cast<Expr *>(argument.value);
  argument.value = parseComprehension(ComprehensionForm::Generator, open, element, nullptr,
                                      TokenKind::RightParen);
  argument.range = rangeFrom(open);
  return argument.value;
}

/// argument: '*' expression | '**' expression | NAME '=' expression | named_expression
bool Parser::parseArgument(llvm::SmallVectorImpl<Argument> &arguments, ArgumentOrder &order) {
  Argument argument;
  uint32_t begin = current().begin;
  Expr *value = nullptr;
  if (accept(TokenKind::Star)) {
    argument.kind = ArgumentKind::Star;
    value = parseExpression();
  } else if (accept(TokenKind::StarStar)) {
    argument.kind = ArgumentKind::DoubleStar;
    value = parseExpression();
  } else if (at(TokenKind::Name) && kindAt(1) == TokenKind::Equal) {
    argument.kind = ArgumentKind::Keyword;
    argument.name = getIdentifier(consume());
    consume();
    value = parseExpression();
  } else {
    value = parseNamedExpression();
  }
  if (!value)
    return false;
  argument.value = value;
  argument.range = rangeFrom(begin);
  arguments.push_back(argument);
  return checkArgument(argument, order);
}

/// Positional arguments come before keywords, and nothing but keywords after `**`.
bool Parser::checkArgument(const Argument &argument, ArgumentOrder &order) {
  switch (argument.kind) {
  case ArgumentKind::Positional:
  case ArgumentKind::Star:
    if (order.hadDoubleStar) {
      error(DiagKind::SyntaxArgumentOrder, argument.range, "'**' unpacking");
      return false;
    }
    if (argument.kind == ArgumentKind::Positional && !order.keywords.empty()) {
      error(DiagKind::SyntaxArgumentOrder, argument.range, "a keyword argument");
      return false;
    }
    return true;
  case ArgumentKind::Keyword: {
    auto [earlier, isNew] = order.keywords.try_emplace(argument.name.name, argument.name.range);
    if (!isNew)
      error(DiagKind::SyntaxRepeatedKeyword, argument.name.range, argument.name.name)
          .highlight(earlier->second);
    return isNew;
  }
  case ArgumentKind::DoubleStar:
    order.hadDoubleStar = true;
    return true;
  }
  return true;
}

/// slices: slice (',' slice)* [',']
Expr *Parser::parseSubscript(Expr *base) {
  uint32_t open = consume().begin;
  uint32_t begin = current().begin;
  Exprs elements;
  bool isTuple = false;
  do {
    if (isTuple && at(TokenKind::RightBracket))
      break;
    Expr *element = parseSubscriptElement();
    if (!element)
      return nullptr;
    elements.push_back(element);
    isTuple |= at(TokenKind::Comma) || llvm::isa<StarredExpr>(element);
  } while (accept(TokenKind::Comma));
  const Expr *index = elements.front();
  if (isTuple) {
    auto *tuple = make<TupleExpr>(rangeFrom(begin));
    tuple->elements = copy(elements);
    index = finish(tuple);
  }
  if (!index || !expectCloser(TokenKind::RightBracket))
    return nullptr;
  auto *node = make<SubscriptExpr>(rangeFrom(base->range.begin));
  node->base = base;
  node->index = index;
  node->brackets = rangeFrom(open);
  return finish(node);
}

Expr *Parser::parseSubscriptElement() {
  uint32_t begin = current().begin;
  if (at(TokenKind::Colon))
    return parseSlice(begin, nullptr);
  Expr *first = parseStarredOrNamed();
  return first && at(TokenKind::Colon) ? parseSlice(begin, first) : first;
}

/// slice: [expression] ':' [expression] [':' [expression]]
Expr *Parser::parseSlice(uint32_t begin, Expr *lower) {
  consume();
  auto atPartEnd = [&] {
    return at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RightBracket);
  };
  Expr *upper = nullptr, *step = nullptr;
  if (!atPartEnd() && !(upper = parseExpression()))
    return nullptr;
  if (accept(TokenKind::Colon) && !atPartEnd() && !(step = parseExpression()))
    return nullptr;
  auto *node = make<SliceExpr>(rangeFrom(begin));
  node->lower = lower;
  node->upper = upper;
  node->step = step;
  return finish(node);
}

} // namespace kiln
