// The syntax tree of one Python module.
//
// Nodes are plain structs in the arena of their Module. The parser fills them; everyone else sees
// them through const pointers, so threads and variants share one tree. Arrays and texts of a node
// live in the same arena or in the source file (identifiers), which must outlive the Module. No
// node has a destructor that does anything.
//
// The shapes follow Python's own `ast` module, with these differences: literals are one class per
// type, all comprehensions are one class, a `**mapping` in a dict display is an item without a
// key, call arguments are one list in source order, and an `elif` is an IfStmt marked as such that
// is alone in `orElse`.
//
// No tree is deeper than maxTreeDepth: recursive walks need no guard of their own.
//
// Refused: a visitor base class. `switch (node->kind)` over the kinds of Nodes.def, or
// llvm::TypeSwitch, says the same with less machinery.
#ifndef KILN_COMPILER_SYNTAX_AST_H
#define KILN_COMPILER_SYNTAX_AST_H

#include "compiler/Basic/SourceManager.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace kiln::ast {

/// Largest number of nodes on a path from the module to a leaf.
inline constexpr unsigned maxTreeDepth = 1000;

enum class NodeKind : uint8_t {
#define KILN_EXPR(NAME) NAME,
#define KILN_STMT(NAME) NAME,
#define KILN_PATTERN(NAME) NAME,
#include "compiler/Syntax/Nodes.def"
};

/// "BinaryExpr".
llvm::StringRef getNodeKindName(NodeKind kind);

enum class UnaryOp : uint8_t {
#define KILN_UNARY_OP(NAME, SPELLING) NAME,
#include "compiler/Syntax/Operators.def"
};
enum class BinaryOp : uint8_t {
#define KILN_BINARY_OP(NAME, SPELLING, TOKEN, PRECEDENCE) NAME,
#include "compiler/Syntax/Operators.def"
};
enum class CompareOp : uint8_t {
#define KILN_COMPARE_OP(NAME, SPELLING) NAME,
#include "compiler/Syntax/Operators.def"
};

/// As written in source: "**", "is not".
llvm::StringRef getSpelling(UnaryOp op);
llvm::StringRef getSpelling(BinaryOp op);
llvm::StringRef getSpelling(CompareOp op);

/// Common part of all nodes. `range` covers the node's text without enclosing parentheses (a
/// parenthesised tuple or generator includes its own).
struct Node {
  const NodeKind kind;
  /// Nodes on the longest path below and including this one.
  uint16_t depth = 1;
  SourceRange range;

protected:
  explicit Node(NodeKind kind) : kind(kind) {}
};

struct Expr : Node {
  /// True when the expression stands in parentheses of its own, as in `(a)`.
  bool parenthesized = false;
  static bool classof(const Node *node) { return node->kind <= NodeKind::AwaitExpr; }

protected:
  using Node::Node;
};

struct Stmt : Node {
  static bool classof(const Node *node) {
    return node->kind > NodeKind::AwaitExpr && node->kind <= NodeKind::ContinueStmt;
  }

protected:
  using Node::Node;
};

struct Pattern : Node {
  static bool classof(const Node *node) { return node->kind > NodeKind::ContinueStmt; }

protected:
  using Node::Node;
};

using ExprList = llvm::ArrayRef<const Expr *>;
using Block = llvm::ArrayRef<const Stmt *>;

/// Gives a node class its kind and its classof().
template <typename Base, NodeKind theKind> struct NodeOf : Base {
  NodeOf() : Base(theKind) {}
  static bool classof(const Node *node) { return node->kind == theKind; }
};

/// A name with its place: an attribute, a keyword, an imported name.
struct Identifier {
  llvm::StringRef name;
  SourceRange range;
  bool empty() const { return name.empty(); }
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// `x`, read, bound or deleted as its place says.
struct NameExpr : NodeOf<Expr, NodeKind::NameExpr> {
  llvm::StringRef name;
};

struct NoneLiteral : NodeOf<Expr, NodeKind::NoneLiteral> {};

struct BoolLiteral : NodeOf<Expr, NodeKind::BoolLiteral> {
  bool value = false;
};

struct EllipsisLiteral : NodeOf<Expr, NodeKind::EllipsisLiteral> {};

/// A non-negative integer of any size.
struct IntLiteral : NodeOf<Expr, NodeKind::IntLiteral> {
  /// The magnitude, least significant word first, without leading zero words (zero is one word).
  llvm::ArrayRef<uint64_t> words;

  /// The value when it fits.
  std::optional<uint64_t> getUInt64() const {
    return words.size() == 1 ? std::optional(words.front()) : std::nullopt;
  }
  /// The value, in as many whole words as it has.
  llvm::APInt getValue() const {
    return llvm::APInt(static_cast<unsigned>(words.size() * 64), words);
  }
};

struct FloatLiteral : NodeOf<Expr, NodeKind::FloatLiteral> {
  double value = 0;
};

/// `2j`.
struct ImaginaryLiteral : NodeOf<Expr, NodeKind::ImaginaryLiteral> {
  double value = 0;
};

/// One or more adjacent string literals without replacement fields, escapes resolved.
struct StringLiteral : NodeOf<Expr, NodeKind::StringLiteral> {
  /// UTF-8; a lone surrogate escape is its three-byte form.
  llvm::StringRef value;
};

struct BytesLiteral : NodeOf<Expr, NodeKind::BytesLiteral> {
  llvm::StringRef value;
};

/// An f-string, with the plain literals beside it. Parts are StringLiteral (never empty, never
/// two in a row) and FormattedValue.
struct FormattedString : NodeOf<Expr, NodeKind::FormattedString> {
  ExprList parts;
};

/// `{value!conversion:spec}`. The text of `{value=}` is a literal part of its own before this one.
struct FormattedValue : NodeOf<Expr, NodeKind::FormattedValue> {
  const Expr *value = nullptr;
  /// 'r', 's' or 'a'; 0 for none.
  char conversion = 0;
  /// Null when there is none.
  const FormattedString *formatSpec = nullptr;
};

struct ListExpr : NodeOf<Expr, NodeKind::ListExpr> {
  ExprList elements;
};

/// `a, b`, `(a, b)`, `()`; also the index of `x[i, j]`, where elements may be slices.
struct TupleExpr : NodeOf<Expr, NodeKind::TupleExpr> {
  ExprList elements;
};

struct SetExpr : NodeOf<Expr, NodeKind::SetExpr> {
  ExprList elements;
};

struct DictItem {
  /// Null for `**value`.
  const Expr *key = nullptr;
  const Expr *value = nullptr;
};

struct DictExpr : NodeOf<Expr, NodeKind::DictExpr> {
  llvm::ArrayRef<DictItem> items;
};

/// `for target in iterable if condition…` of a comprehension.
struct ComprehensionClause {
  const Expr *target = nullptr;
  const Expr *iterable = nullptr;
  ExprList conditions;
  bool isAsync = false;
  SourceRange range;
};

enum class ComprehensionForm : uint8_t { List, Set, Dict, Generator };

struct ComprehensionExpr : NodeOf<Expr, NodeKind::ComprehensionExpr> {
  ComprehensionForm form = ComprehensionForm::List;
  /// The element, or the key of a dict comprehension.
  const Expr *element = nullptr;
  /// The value of a dict comprehension, else null.
  const Expr *value = nullptr;
  /// At least one, outermost first.
  llvm::ArrayRef<ComprehensionClause> clauses;
};

struct UnaryExpr : NodeOf<Expr, NodeKind::UnaryExpr> {
  UnaryOp op = UnaryOp::Plus;
  SourceRange opRange;
  const Expr *operand = nullptr;
};

struct BinaryExpr : NodeOf<Expr, NodeKind::BinaryExpr> {
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

/// `a and b and c` or `a or b`: two or more operands of one operator.
struct BoolExpr : NodeOf<Expr, NodeKind::BoolExpr> {
  bool isAnd = false;
  /// The first operator.
  SourceRange opRange;
  ExprList operands;
};

/// One step of a comparison chain.
struct Comparison {
  CompareOp op = CompareOp::Equal;
  SourceRange opRange;
  const Expr *right = nullptr;
};

/// `left op right op right…`.
struct CompareExpr : NodeOf<Expr, NodeKind::CompareExpr> {
  const Expr *left = nullptr;
  /// At least one.
  llvm::ArrayRef<Comparison> comparisons;
};

/// `body if test else orElse`.
struct ConditionalExpr : NodeOf<Expr, NodeKind::ConditionalExpr> {
  const Expr *test = nullptr;
  const Expr *body = nullptr;
  const Expr *orElse = nullptr;
};

enum class ParameterKind : uint8_t {
  PositionalOnly, // before `/`
  Normal,         // by position or keyword
  VarArgs,        // *args
  KeywordOnly,    // after `*` or `*args`
  VarKeywords,    // **kwargs
};

struct Parameter {
  ParameterKind kind = ParameterKind::Normal;
  Identifier name;
  /// Null when absent.
  const Expr *annotation = nullptr;
  /// Null when absent.
  const Expr *defaultValue = nullptr;
  /// The name with its annotation and default.
  SourceRange range;
};

using ParameterList = llvm::ArrayRef<Parameter>;

struct LambdaExpr : NodeOf<Expr, NodeKind::LambdaExpr> {
  ParameterList parameters;
  const Expr *body = nullptr;
};

enum class ArgumentKind : uint8_t { Positional, Keyword, Star, DoubleStar };

/// One argument of a call or of a class's base list.
struct Argument {
  ArgumentKind kind = ArgumentKind::Positional;
  /// The keyword; empty for other kinds.
  Identifier name;
  const Expr *value = nullptr;
  /// All of it, with `name=` or the stars.
  SourceRange range;
};

using ArgumentList = llvm::ArrayRef<Argument>;

struct CallExpr : NodeOf<Expr, NodeKind::CallExpr> {
  const Expr *callee = nullptr;
  /// In source order. A lone generator argument is Positional.
  ArgumentList arguments;
  /// From `(` to `)`.
  SourceRange parens;
};

struct AttributeExpr : NodeOf<Expr, NodeKind::AttributeExpr> {
  const Expr *base = nullptr;
  Identifier attribute;
};

struct SubscriptExpr : NodeOf<Expr, NodeKind::SubscriptExpr> {
  const Expr *base = nullptr;
  /// An expression, a SliceExpr, or a TupleExpr whose elements may be slices.
  const Expr *index = nullptr;
  /// From `[` to `]`.
  SourceRange brackets;
};

/// `lower:upper:step`; only in a subscript. Each part may be null.
struct SliceExpr : NodeOf<Expr, NodeKind::SliceExpr> {
  const Expr *lower = nullptr;
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
};

/// `*value` in a display, a target, a subscript, or a return. In calls, see Argument.
struct StarredExpr : NodeOf<Expr, NodeKind::StarredExpr> {
  const Expr *value = nullptr;
};

/// `target := value`.
struct NamedExpr : NodeOf<Expr, NodeKind::NamedExpr> {
  const NameExpr *target = nullptr;
  const Expr *value = nullptr;
};

struct YieldExpr : NodeOf<Expr, NodeKind::YieldExpr> {
  /// Null when absent.
  const Expr *value = nullptr;
};

struct YieldFromExpr : NodeOf<Expr, NodeKind::YieldFromExpr> {
  const Expr *value = nullptr;
};

struct AwaitExpr : NodeOf<Expr, NodeKind::AwaitExpr> {
  const Expr *value = nullptr;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A type parameter of `def f[T: bound = default]`, `[*Ts]` or `[**P]`.
struct TypeParameter {
  Identifier name;
  /// 0, 1 or 2.
  uint8_t stars = 0;
  const Expr *bound = nullptr;
  const Expr *defaultValue = nullptr;
};

struct FunctionDef : NodeOf<Stmt, NodeKind::FunctionDef> {
  Identifier name;
  /// Outermost first; each without its `@`.
  ExprList decorators;
  llvm::ArrayRef<TypeParameter> typeParameters;
  ParameterList parameters;
  /// Null when absent.
  const Expr *returns = nullptr;
  Block body;
  bool isAsync = false;
  /// `def name(parameters) -> returns:` without the decorators; `range` includes both and the body.
  SourceRange signatureRange;
};

struct ClassDef : NodeOf<Stmt, NodeKind::ClassDef> {
  Identifier name;
  ExprList decorators;
  llvm::ArrayRef<TypeParameter> typeParameters;
  /// Bases and keywords.
  ArgumentList arguments;
  Block body;
};

struct ReturnStmt : NodeOf<Stmt, NodeKind::ReturnStmt> {
  /// Null when absent.
  const Expr *value = nullptr;
};

struct DeleteStmt : NodeOf<Stmt, NodeKind::DeleteStmt> {
  ExprList targets;
};

/// `a = b, c = value`: targets left to right, all assigned the one value.
struct AssignStmt : NodeOf<Stmt, NodeKind::AssignStmt> {
  /// At least one.
  ExprList targets;
  const Expr *value = nullptr;
};

/// `target op= value`.
struct AugAssignStmt : NodeOf<Stmt, NodeKind::AugAssignStmt> {
  const Expr *target = nullptr;
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  const Expr *value = nullptr;
};

/// `target: annotation = value`.
struct AnnAssignStmt : NodeOf<Stmt, NodeKind::AnnAssignStmt> {
  /// A NameExpr (`simple` in Python's terms when not parenthesised), attribute or subscript.
  const Expr *target = nullptr;
  const Expr *annotation = nullptr;
  /// Null when absent.
  const Expr *value = nullptr;
};

struct ForStmt : NodeOf<Stmt, NodeKind::ForStmt> {
  const Expr *target = nullptr;
  const Expr *iterable = nullptr;
  Block body;
  Block orElse;
  bool isAsync = false;
};

struct WhileStmt : NodeOf<Stmt, NodeKind::WhileStmt> {
  const Expr *test = nullptr;
  Block body;
  Block orElse;
};

struct IfStmt : NodeOf<Stmt, NodeKind::IfStmt> {
  const Expr *test = nullptr;
  Block body;
  /// Empty when absent; for `elif`, one IfStmt with isElif.
  Block orElse;
  bool isElif = false;
};

struct WithItem {
  const Expr *context = nullptr;
  /// Null when there is no `as`.
  const Expr *target = nullptr;
};

struct WithStmt : NodeOf<Stmt, NodeKind::WithStmt> {
  llvm::ArrayRef<WithItem> items;
  Block body;
  bool isAsync = false;
};

struct MatchCase {
  const Pattern *pattern = nullptr;
  /// Null when absent.
  const Expr *guard = nullptr;
  Block body;
  SourceRange range;
};

struct MatchStmt : NodeOf<Stmt, NodeKind::MatchStmt> {
  const Expr *subject = nullptr;
  llvm::ArrayRef<MatchCase> cases;
};

struct RaiseStmt : NodeOf<Stmt, NodeKind::RaiseStmt> {
  /// Null for a bare `raise`.
  const Expr *exception = nullptr;
  /// Null when there is no `from`.
  const Expr *cause = nullptr;
};

struct ExceptHandler {
  /// Null for a bare `except:`.
  const Expr *type = nullptr;
  /// Empty when there is no `as`.
  Identifier name;
  Block body;
  SourceRange range;
};

struct TryStmt : NodeOf<Stmt, NodeKind::TryStmt> {
  Block body;
  llvm::ArrayRef<ExceptHandler> handlers;
  Block orElse;
  Block finalBody;
  /// `except*`.
  bool isStar = false;
};

struct AssertStmt : NodeOf<Stmt, NodeKind::AssertStmt> {
  const Expr *test = nullptr;
  /// Null when absent.
  const Expr *message = nullptr;
};

/// `module as alias`, or `name as alias` of a from-import.
struct ImportedName {
  /// "a.b.c" for a module (blanks around the dots removed), "*" for a star import.
  Identifier name;
  /// Empty when absent.
  Identifier alias;
};

struct ImportStmt : NodeOf<Stmt, NodeKind::ImportStmt> {
  llvm::ArrayRef<ImportedName> names;
};

struct ImportFromStmt : NodeOf<Stmt, NodeKind::ImportFromStmt> {
  /// "a.b"; empty in `from . import x`.
  Identifier module;
  /// Leading dots: 0 is absolute, 1 the package of this file.
  unsigned level = 0;
  llvm::ArrayRef<ImportedName> names;
  bool isStar() const { return names.size() == 1 && names.front().name.name == "*"; }
};

struct GlobalStmt : NodeOf<Stmt, NodeKind::GlobalStmt> {
  llvm::ArrayRef<Identifier> names;
};

struct NonlocalStmt : NodeOf<Stmt, NodeKind::NonlocalStmt> {
  llvm::ArrayRef<Identifier> names;
};

/// `type Name[T] = value`.
struct TypeAliasStmt : NodeOf<Stmt, NodeKind::TypeAliasStmt> {
  Identifier name;
  llvm::ArrayRef<TypeParameter> typeParameters;
  const Expr *value = nullptr;
};

struct ExprStmt : NodeOf<Stmt, NodeKind::ExprStmt> {
  const Expr *value = nullptr;
};

struct PassStmt : NodeOf<Stmt, NodeKind::PassStmt> {};
struct BreakStmt : NodeOf<Stmt, NodeKind::BreakStmt> {};
struct ContinueStmt : NodeOf<Stmt, NodeKind::ContinueStmt> {};

//===----------------------------------------------------------------------===//
// Patterns of `case`
//===----------------------------------------------------------------------===//

using PatternList = llvm::ArrayRef<const Pattern *>;

/// A literal, `a.b`, or `-1`, `1+2j`.
struct ValuePattern : NodeOf<Pattern, NodeKind::ValuePattern> {
  const Expr *value = nullptr;
};

/// `x`, or `_` with an empty name.
struct CapturePattern : NodeOf<Pattern, NodeKind::CapturePattern> {
  llvm::StringRef name;
};

struct SequencePattern : NodeOf<Pattern, NodeKind::SequencePattern> {
  PatternList elements;
};

struct MappingPattern : NodeOf<Pattern, NodeKind::MappingPattern> {
  ExprList keys;
  /// As many as keys.
  PatternList values;
  /// The name of `**rest`; empty when absent.
  Identifier rest;
};

struct ClassPattern : NodeOf<Pattern, NodeKind::ClassPattern> {
  const Expr *cls = nullptr;
  PatternList positional;
  llvm::ArrayRef<Identifier> keywords;
  /// As many as keywords.
  PatternList keywordPatterns;
};

/// `*rest` in a sequence; `*_` has an empty name.
struct StarPattern : NodeOf<Pattern, NodeKind::StarPattern> {
  llvm::StringRef name;
};

struct AsPattern : NodeOf<Pattern, NodeKind::AsPattern> {
  const Pattern *pattern = nullptr;
  Identifier name;
};

struct OrPattern : NodeOf<Pattern, NodeKind::OrPattern> {
  PatternList alternatives;
};

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

/// A parsed file: its statements, and the arena that holds them.
class Module {
public:
  explicit Module(const SourceFile &file) : file(file) {}
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const SourceFile &getFile() const { return file; }
  /// The statements that parsed; those with errors are left out.
  Block getBody() const { return body; }
  /// True when the parser reported an error in this file.
  bool hasErrors() const { return errors; }

  // For the parser.
  template <typename T> T *create(SourceRange range) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    T *node = new (arena.Allocate<T>()) T();
    node->range = range;
    return node;
  }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> values) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return values.copy(arena);
  }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }
  void setBody(Block block) { body = block; }
  void setErrors(bool value = true) { errors = value; }

private:
  const SourceFile &file;
  llvm::BumpPtrAllocator arena;
  Block body;
  bool errors = false;
};

} // namespace kiln::ast

#endif // KILN_COMPILER_SYNTAX_AST_H
