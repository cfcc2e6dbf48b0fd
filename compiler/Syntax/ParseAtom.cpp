// Names, numbers, everything in brackets, and comprehensions.
#include "compiler/Syntax/Literals.h"
#include "compiler/Syntax/ParserState.h"

#include <variant>

namespace kiln {

using namespace ast;

Expr *Parser::parseAtom() {
  Token token = current();
  switch (token.kind) {
  case TokenKind::Name:
    return parseName();
  case TokenKind::Number:
    return parseNumber();
  case TokenKind::String:
  case TokenKind::FStringStart:
    return parseStrings();
  case TokenKind::LeftParen:
    return parseParenthesized();
  case TokenKind::LeftBracket:
    return parseListDisplay();
  case TokenKind::LeftBrace:
    return parseBraces();
  case TokenKind::None:
    consume();
    return make<NoneLiteral>(rangeOf(token));
  case TokenKind::Ellipsis:
    consume();
    return make<EllipsisLiteral>(rangeOf(token));
  case TokenKind::True:
  case TokenKind::False: {
    consume();
    auto *node = make<BoolLiteral>(rangeOf(token));
    node->value = token.kind == TokenKind::True;
    return node;
  }
  default:
    reportExpectedExpression();
    return nullptr;
  }
}

Expr *Parser::parseName() {
  Token token = consume();
  auto *node = make<NameExpr>(rangeOf(token));
  node->name = getText(token);
  return node;
}

Expr *Parser::parseNumber() {
  Token token = consume();
  NumberValue number = evaluateNumber(getText(token));
  if (auto *value = std::get_if<llvm::APInt>(&number)) {
    auto *node = make<IntLiteral>(rangeOf(token));
    size_t numWords = std::max<size_t>(1, (value->getActiveBits() + 63) / 64);
    node->words = module.copy(llvm::ArrayRef(value->getRawData(), numWords));
    return node;
  }
  if (auto *value = std::get_if<FloatValue>(&number)) {
    auto *node = make<FloatLiteral>(rangeOf(token));
    node->value = value->value;
    return node;
  }
  if (auto *value = std::get_if<ImaginaryValue>(&number)) {
    auto *node = make<ImaginaryLiteral>(rangeOf(token));
    node->value = value->value;
    return node;
  }
  constexpr size_t longestShown = 40;
  std::string shown = getText(token).take_front(longestShown).str();
  if (getText(token).size() > longestShown)
    shown += "...";
  error(DiagKind::SyntaxInvalidNumber, rangeOf(token), shown,
        std::get<InvalidNumber>(number).reason);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

/// Reads ", element, …" up to and including `close`.
bool Parser::parseElementsRest(TokenKind close, Exprs &elements) {
  while (accept(TokenKind::Comma)) {
    if (at(close))
      break;
    Expr *element = parseStarredOrNamed();
    if (!element)
      return false;
    elements.push_back(element);
  }
  if (atComprehension()) {
    error(DiagKind::SyntaxBareGenerator, elements.back()->range);
    return false;
  }
  return expectCloser(close);
}

/// '(' ')' | '(' yield_expr ')' | '(' named_expression ')' | a tuple | a generator
Expr *Parser::parseParenthesized() {
  uint32_t begin = consume().begin;
  Exprs elements;
  bool isTuple = at(TokenKind::RightParen);
  if (isTuple) {
    consume();
  } else {
    Expr *first = at(TokenKind::Yield) ? parseYield() : parseStarredOrNamed();
    if (!first)
      return nullptr;
    if (atComprehension())
      return parseComprehension(ComprehensionForm::Generator, begin, first, nullptr,
                                TokenKind::RightParen);
    isTuple = at(TokenKind::Comma);
    elements.push_back(first);
    if (!parseElementsRest(TokenKind::RightParen, elements))
      return nullptr;
    if (!isTuple) {
      if (llvm::isa<StarredExpr>(first)) {
        error(DiagKind::SyntaxMisplacedStar, first->range);
        return nullptr;
      }
      first->parenthesized = true;
      return first;
    }
  }
  auto *node = make<TupleExpr>(rangeFrom(begin));
  node->elements = copy(elements);
  node->parenthesized = true;
  return finish(node);
}

Expr *Parser::parseListDisplay() {
  uint32_t begin = consume().begin;
  Exprs elements;
  if (!accept(TokenKind::RightBracket)) {
    Expr *first = parseStarredOrNamed();
    if (!first)
      return nullptr;
    if (atComprehension())
      return parseComprehension(ComprehensionForm::List, begin, first, nullptr,
                                TokenKind::RightBracket);
    elements.push_back(first);
    if (!parseElementsRest(TokenKind::RightBracket, elements))
      return nullptr;
  }
  auto *node = make<ListExpr>(rangeFrom(begin));
  node->elements = copy(elements);
  return finish(node);
}

/// A dict or a set: what follows the first element tells.
Expr *Parser::parseBraces() {
  uint32_t begin = consume().begin;
  if (accept(TokenKind::RightBrace))
    return make<DictExpr>(rangeFrom(begin));
  if (at(TokenKind::StarStar)) {
    DictItem item;
    return parseDictItem(item) ? parseDictRest(begin, item) : nullptr;
  }
  Expr *first = parseStarredOrNamed();
  if (!first)
    return nullptr;
  bool isDict = at(TokenKind::Colon) && !llvm::isa<StarredExpr>(first);
  if (!isDict)
    return parseSetRest(begin, first);
  consume();
  Expr *value = parseExpression();
  if (!value)
    return nullptr;
  if (atComprehension())
    return parseComprehension(ComprehensionForm::Dict, begin, first, value, TokenKind::RightBrace);
  return parseDictRest(begin, {first, value});
}

Expr *Parser::parseSetRest(uint32_t begin, Expr *first) {
  if (atComprehension())
    return parseComprehension(ComprehensionForm::Set, begin, first, nullptr, TokenKind::RightBrace);
  Exprs elements = {first};
  if (!parseElementsRest(TokenKind::RightBrace, elements))
    return nullptr;
  auto *node = make<SetExpr>(rangeFrom(begin));
  node->elements = copy(elements);
  return finish(node);
}

Expr *Parser::parseDictRest(uint32_t begin, DictItem first) {
  llvm::SmallVector<DictItem, 8> items = {first};
  while (accept(TokenKind::Comma)) {
    if (at(TokenKind::RightBrace))
      break;
    DictItem item;
    if (!parseDictItem(item))
      return nullptr;
    items.push_back(item);
  }
  if (!expectCloser(TokenKind::RightBrace))
    return nullptr;
  auto *node = make<DictExpr>(rangeFrom(begin));
  node->items = copy(items);
  return finish(node);
}

/// '**' bitwise_or | expression ':' expression
bool Parser::parseDictItem(DictItem &item) {
  if (accept(TokenKind::StarStar)) {
    item.value = parseBinary(1);
    return item.value;
  }
  item.key = parseExpression();
  if (!item.key || !expect(TokenKind::Colon))
    return false;
  item.value = parseExpression();
  return item.value;
}

//===----------------------------------------------------------------------===//
// Comprehensions
//===----------------------------------------------------------------------===//

bool Parser::atComprehension() const {
  return at(TokenKind::For) || (at(TokenKind::Async) && kindAt(1) == TokenKind::For);
}

/// The clauses, and the closing bracket.
Expr *Parser::parseComprehension(ComprehensionForm form, uint32_t begin, Expr *element, Expr *value,
                                 TokenKind close) {
  if (llvm::isa<StarredExpr>(element)) {
    error(DiagKind::SyntaxMisplacedStar, element->range);
    return nullptr;
  }
  llvm::SmallVector<ComprehensionClause, 2> clauses;
  while (atComprehension()) {
    clauses.emplace_back();
    if (!parseComprehensionClause(clauses.back()))
      return nullptr;
  }
  if (form == ComprehensionForm::Generator && at(TokenKind::Comma)) {
    error(DiagKind::SyntaxBareGenerator, rangeFrom(element->range.begin));
    return nullptr;
  }
  if (!expectCloser(close))
    return nullptr;
  auto *node = make<ComprehensionExpr>(rangeFrom(begin));
  node->form = form;
  node->element = element;
  node->value = value;
  node->clauses = copy(clauses);
  return finish(node);
}

/// ['async'] 'for' targets 'in' disjunction ('if' disjunction)*
bool Parser::parseComprehensionClause(ComprehensionClause &clause) {
  uint32_t begin = current().begin;
  clause.isAsync = accept(TokenKind::Async);
  consume();
  clause.target = parseTargetList();
  if (!clause.target || !expect(TokenKind::In))
    return false;
  clause.iterable = parseOr();
  if (!clause.iterable)
    return false;
  Exprs conditions;
  while (accept(TokenKind::If)) {
    Expr *condition = parseOr();
    if (!condition)
      return false;
    conditions.push_back(condition);
  }
  clause.conditions = copy(conditions);
  clause.range = rangeFrom(begin);
  return true;
}

/// What stands between `for` and `in`: like star_expressions, but `in` is no operator in it.
Expr *Parser::parseTargetList() {
  auto parseElement = [&] { return at(TokenKind::Star) ? parseStarred() : parseBinary(1); };
  uint32_t begin = current().begin;
  Expr *target = parseElement();
  if (target && at(TokenKind::Comma)) {
    Exprs elements = {target};
    while (accept(TokenKind::Comma) && !at(TokenKind::In)) {
      Expr *element = parseElement();
      if (!element)
        return nullptr;
      elements.push_back(element);
    }
    auto *tuple = make<TupleExpr>(rangeFrom(begin));
    tuple->elements = copy(elements);
    target = finish(tuple);
  }
  return target && checkTarget(target, TargetUse::Assign) ? target : nullptr;
}

} // namespace kiln
