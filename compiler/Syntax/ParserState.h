// The parser's class, private to its source files (Parser.cpp and Parse*.cpp).
//
// Recursive descent; binary operators climb by precedence. A function that meets an error reports
// it and returns null, and so do its callers up to the statement, which skips to its end
// (Parser::recover). Compound statements with a bad header still parse their blocks, so that the
// errors in them are found and their `else` has a home.
#ifndef KILN_COMPILER_SYNTAX_PARSERSTATE_H
#define KILN_COMPILER_SYNTAX_PARSERSTATE_H

#include "compiler/Syntax/AST.h"
#include "compiler/Syntax/Lexer.h"
#include "compiler/Syntax/Walk.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace kiln {

class Parser {
public:
  /// Levels of expressions inside expressions. Bounds the stack, as brackets alone do not
  /// (`not not …`, `lambda: lambda: …`).
  static constexpr unsigned maxNesting = 400;

  Parser(ast::Module &module, TokenList tokens, DiagnosticEngine &diags)
      : module(module), file(module.getFile()), tokens(std::move(tokens.tokens)),
        doubtful(std::move(tokens.doubtful)), diags(diags) {}

  void parseFile();
  void parseLoneExpression();

private:
  using Stmts = llvm::SmallVector<const ast::Stmt *, 16>;
  using Exprs = llvm::SmallVector<const ast::Expr *, 8>;

  // Tokens.
  const Token &current() const { return tokens[index]; }
  TokenKind kindAt(size_t ahead) const {
    return tokens[std::min(index + ahead, tokens.size() - 1)].kind;
  }
  bool at(TokenKind kind) const { return current().kind == kind; }
  bool atName(llvm::StringRef name) const { return at(TokenKind::Name) && getText() == name; }
  Token consume();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind);
  bool expectCloser(TokenKind kind);
  bool startsExpression() const;
  /// True when the tokens before the current one are `kind`, and it follows without a blank.
  bool follows(TokenKind kind) const;

  // Text and ranges.
  llvm::StringRef getText(const Token &token) const {
    return file.getContents().slice(token.begin, token.end);
  }
  llvm::StringRef getText() const { return getText(current()); }
  SourceRange range(uint32_t begin, uint32_t end) const { return {file.getId(), begin, end}; }
  SourceRange rangeOf(const Token &token) const { return range(token.begin, token.end); }
  SourceRange rangeFrom(uint32_t begin) const { return range(begin, previousEnd); }
  ast::Identifier getIdentifier(const Token &token) const {
    return {getText(token), rangeOf(token)};
  }
  std::string describeCurrent() const;

  // Nodes.
  template <typename T> T *make(SourceRange nodeRange) { return module.create<T>(nodeRange); }
  /// Sets the depth of a complete node. Null, with an error, when the tree gets too deep.
  template <typename T> T *finish(T *node) {
    unsigned depth = 0;
    forEachChild(*node,
                 [&](const ast::Node &child) { depth = std::max<unsigned>(depth, child.depth); });
    node->depth = static_cast<uint16_t>(depth + 1);
    return checkDepth(node->depth, node->range) ? node : nullptr;
  }
  bool checkDepth(unsigned depth, SourceRange where);
  template <typename T, unsigned N> llvm::ArrayRef<T> copy(const llvm::SmallVector<T, N> &values) {
    return module.copy(llvm::ArrayRef<T>(values));
  }

  // Errors.
  template <typename... Args>
  Diagnostic &error(DiagKind kind, SourceRange where, const Args &...args) {
    module.setErrors();
    return (isSilent(where) ? ignored : diags).report(kind, where, args...);
  }
  bool isSilent(SourceRange where) const;
  void reportExpectedExpression();
  void reportEndOfStatement(const ast::Stmt *before);
  void skipLine();
  void recover();

  /// Counts a level of recursion; check isTooDeep() right after.
  class Nesting {
  public:
    explicit Nesting(Parser &parser) : parser(parser) { ++parser.nesting; }
    ~Nesting() { --parser.nesting; }
    Nesting(const Nesting &) = delete;
    bool isTooDeep() const;

  private:
    Parser &parser;
  };

  // Expressions (ParseExpr.cpp).
  ast::Expr *parseExpression();
  ast::Expr *parseNamedExpression();
  ast::Expr *parseStarredOrNamed();
  ast::Expr *parseStarExpressions();
  ast::Expr *parseYieldOrStarExpressions();
  ast::Expr *parseYield();
  ast::Expr *parseLambda();
  ast::Expr *parseOr();
  ast::Expr *parseAnd();
  ast::Expr *parseBoolChain(TokenKind op, ast::Expr *(Parser::*parseOperand)());
  ast::Expr *parseNot();
  ast::Expr *parseComparison();
  std::optional<ast::CompareOp> acceptCompareOp();
  ast::Expr *parseBinary(unsigned minPrecedence);
  ast::Expr *parseUnary();
  ast::Expr *parsePower();
  ast::Expr *parsePrimary();
  ast::Expr *parseAttribute(ast::Expr *base);
  ast::Expr *parseCall(ast::Expr *callee);
  ast::Expr *parseSubscript(ast::Expr *base);
  ast::Expr *parseSubscriptElement();
  ast::Expr *parseSlice(uint32_t begin, ast::Expr *lower);
  bool parseArguments(llvm::SmallVectorImpl<ast::Argument> &arguments);
  /// What stood before in an argument list.
  struct ArgumentOrder {
    llvm::StringMap<SourceRange> keywords;
    bool hadDoubleStar = false;
  };
  bool parseArgument(llvm::SmallVectorImpl<ast::Argument> &arguments, ArgumentOrder &order);
  bool checkArgument(const ast::Argument &argument, ArgumentOrder &order);
  ast::Expr *parseStarred();

  // Parameters (ParseParameters.cpp).
  bool parseParameters(TokenKind close, bool isLambda,
                       llvm::SmallVectorImpl<ast::Parameter> &parameters);
  bool parseParameter(bool isLambda, ast::Parameter &parameter);
  bool checkParameters(llvm::ArrayRef<ast::Parameter> parameters);

  // Atoms, displays and comprehensions (ParseAtom.cpp).
  ast::Expr *parseAtom();
  ast::Expr *parseName();
  ast::Expr *parseNumber();
  ast::Expr *parseParenthesized();
  ast::Expr *parseListDisplay();
  ast::Expr *parseBraces();
  ast::Expr *parseSetRest(uint32_t begin, ast::Expr *first);
  ast::Expr *parseDictRest(uint32_t begin, ast::DictItem first);
  bool parseDictItem(ast::DictItem &item);
  bool parseElementsRest(TokenKind close, Exprs &elements);
  bool atComprehension() const;
  ast::Expr *parseComprehension(ast::ComprehensionForm form, uint32_t begin, ast::Expr *element,
                                ast::Expr *value, TokenKind close);
  bool parseComprehensionClause(ast::ComprehensionClause &clause);
  ast::Expr *parseTargetList();

  // Strings (ParseString.cpp).
  struct StringBuilder;
  ast::Expr *parseStrings();
  bool parsePlainString(StringBuilder &builder);
  bool parseFString(StringBuilder &builder);
  bool parseFStringParts(StringBuilder &builder, TokenKind end, bool isRaw);
  bool parseReplacementField(StringBuilder &builder, bool isRaw);
  const ast::FormattedString *parseFormatSpec(bool isRaw);
  bool decode(StringBuilder &builder, const Token &token, llvm::StringRef body, bool isRaw,
              bool isBytes);

  // Statements (ParseStmt.cpp).
  void parseStatement(Stmts &out);
  void parseSimpleLine(Stmts &out);
  ast::Stmt *parseSimple();
  ast::Stmt *parseExpressionStatement();
  ast::Stmt *parseAssignment(uint32_t begin, ast::Expr *first);
  ast::Stmt *parseAugmented(uint32_t begin, ast::Expr *target, ast::BinaryOp op);
  ast::Stmt *parseAnnotated(uint32_t begin, ast::Expr *target);
  ast::Stmt *parseReturn();
  ast::Stmt *parseRaise();
  ast::Stmt *parseDelete();
  ast::Stmt *parseAssert();
  ast::Stmt *parseImport();
  ast::Stmt *parseImportFrom();
  bool parseDottedName(ast::Identifier &name);
  bool parseAlias(ast::Identifier &alias);
  bool parseImportedNames(llvm::SmallVectorImpl<ast::ImportedName> &names);
  bool parseIdentifierList(llvm::SmallVectorImpl<ast::Identifier> &names);
  template <typename T> ast::Stmt *parseScopeStatement();
  template <typename T> ast::Stmt *parseKeywordStatement();
  ast::Stmt *parseTypeAlias();
  bool parseIdentifier(ast::Identifier &name);

  // What may be assigned to (ParseTarget.cpp).
  enum class TargetUse { Assign, Augment, Annotate, Delete };
  bool checkTarget(const ast::Expr *target, TargetUse use);
  bool checkTargetElement(const ast::Expr *target, TargetUse use);
  bool checkTargetElements(ast::ExprList elements, TargetUse use);

  // Compound statements (ParseCompound.cpp).
  ast::Stmt *parseCompound();
  bool atCompound() const;
  bool parseBlock(bool isHeaderGood, llvm::StringRef header, ast::Block &out);
  void parseIndentedStatements(Stmts &out);
  /// Where a statement ends that ends with `last`, or with `before` when that is empty.
  static uint32_t getBlockEnd(ast::Block before, ast::Block last);
  bool parseElse(ast::Block &out);
  ast::Stmt *parseIf();
  ast::Stmt *parseWhile();
  ast::Stmt *parseFor(uint32_t begin, bool isAsync);
  ast::Stmt *parseWith(uint32_t begin, bool isAsync);
  bool parseWithItems(llvm::SmallVectorImpl<ast::WithItem> &items);
  bool parseWithItem(llvm::SmallVectorImpl<ast::WithItem> &items);
  bool parseParenthesizedWithItems(llvm::SmallVectorImpl<ast::WithItem> &items);
  ast::Stmt *parseTry();
  bool parseHandler(llvm::SmallVectorImpl<ast::ExceptHandler> &handlers, ast::TryStmt &tryStmt);
  bool parseHandlerHeader(ast::ExceptHandler &handler, ast::TryStmt &tryStmt, bool isFirst);
  ast::Stmt *parseDecorated();
  ast::Stmt *parseAsync(uint32_t begin, ast::ExprList decorators);
  ast::Stmt *parseFunction(uint32_t begin, ast::ExprList decorators, bool isAsync);
  bool parseFunctionHeader(ast::FunctionDef &function);
  ast::Stmt *parseClass(uint32_t begin, ast::ExprList decorators);
  bool parseClassHeader(ast::ClassDef &cls);
  bool parseTypeParameters(llvm::ArrayRef<ast::TypeParameter> &out);

  // Match statements (ParsePattern.cpp).
  bool atMatch() const;
  ast::Stmt *parseMatch();
  ast::Expr *parseSubject();
  bool parseCase(llvm::SmallVectorImpl<ast::MatchCase> &cases);
  ast::Pattern *parseOpenPattern();
  ast::Pattern *parseAsPattern();
  ast::Pattern *parseOrPattern();
  ast::Pattern *parseClosedPattern();
  ast::Pattern *parseStarPattern();
  ast::Pattern *parseNamePattern();
  ast::Pattern *parseClassPattern(ast::Expr *cls, uint32_t begin);
  ast::Pattern *parseSequencePattern(TokenKind close);
  ast::Pattern *parseMappingPattern();
  ast::Pattern *parseValuePattern();

  ast::Module &module;
  const SourceFile &file;
  std::vector<Token> tokens;
  std::vector<SourceRange> doubtful;
  DiagnosticEngine &diags;
  DiagnosticEngine ignored{/*errorLimit=*/0};
  size_t index = 0;
  uint32_t previousEnd = 0;
  unsigned nesting = 0;
  bool isSpeculating = false;
};

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_PARSERSTATE_H
