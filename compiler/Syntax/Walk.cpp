// The children of every kind of node.
#include "compiler/Syntax/Walk.h"

namespace kiln {

using namespace ast;

namespace {
using Visit = llvm::function_ref<void(const Node &)>;

/// Hands the children on, skipping those that are absent.
class Children {
public:
  explicit Children(Visit visit) : visit(visit) {}

  template <typename... Nodes> void add(const Nodes *...nodes) { (addOne(nodes), ...); }
  template <typename T> void addAll(llvm::ArrayRef<const T *> nodes) {
    for (const T *node : nodes)
      addOne(node);
  }
  void addParameters(ParameterList parameters) {
    for (const Parameter &parameter : parameters)
      add(parameter.annotation, parameter.defaultValue);
  }
  void addArguments(ArgumentList arguments) {
    for (const Argument &argument : arguments)
      add(argument.value);
  }
  void addTypeParameters(llvm::ArrayRef<TypeParameter> parameters) {
    for (const TypeParameter &parameter : parameters)
      add(parameter.bound, parameter.defaultValue);
  }

  // One function for each kind of node: a missing one does not compile.
#define KILN_EXPR(NAME) void visitChildren(const NAME &node);
#define KILN_STMT(NAME) void visitChildren(const NAME &node);
#define KILN_PATTERN(NAME) void visitChildren(const NAME &node);
#include "compiler/Syntax/Nodes.def"

private:
  void addOne(const Node *node) {
    if (node)
      visit(*node);
  }
  Visit visit;
};
} // namespace

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Children::visitChildren(const NameExpr &) {}
void Children::visitChildren(const NoneLiteral &) {}
void Children::visitChildren(const BoolLiteral &) {}
void Children::visitChildren(const EllipsisLiteral &) {}
void Children::visitChildren(const IntLiteral &) {}
void Children::visitChildren(const FloatLiteral &) {}
void Children::visitChildren(const ImaginaryLiteral &) {}
void Children::visitChildren(const StringLiteral &) {}
void Children::visitChildren(const BytesLiteral &) {}
void Children::visitChildren(const FormattedString &node) { addAll(node.parts); }
void Children::visitChildren(const FormattedValue &node) { add(node.value, node.formatSpec); }
void Children::visitChildren(const ListExpr &node) { addAll(node.elements); }
void Children::visitChildren(const TupleExpr &node) { addAll(node.elements); }
void Children::visitChildren(const SetExpr &node) { addAll(node.elements); }

void Children::visitChildren(const DictExpr &node) {
  for (const DictItem &item : node.items)
    add(item.key, item.value);
}

void Children::visitChildren(const ComprehensionExpr &node) {
  add(node.element, node.value);
  for (const ComprehensionClause &clause : node.clauses) {
    add(clause.target, clause.iterable);
    addAll(clause.conditions);
  }
}

void Children::visitChildren(const UnaryExpr &node) { add(node.operand); }
void Children::visitChildren(const BinaryExpr &node) { add(node.left, node.right); }
void Children::visitChildren(const BoolExpr &node) { addAll(node.operands); }

void Children::visitChildren(const CompareExpr &node) {
  add(node.left);
  for (const Comparison &comparison : node.comparisons)
    add(comparison.right);
}

void Children::visitChildren(const ConditionalExpr &node) {
  add(node.body, node.test, node.orElse);
}

void Children::visitChildren(const LambdaExpr &node) {
  addParameters(node.parameters);
  add(node.body);
}

void Children::visitChildren(const CallExpr &node) {
  add(node.callee);
  addArguments(node.arguments);
}

void Children::visitChildren(const AttributeExpr &node) { add(node.base); }
void Children::visitChildren(const SubscriptExpr &node) { add(node.base, node.index); }
void Children::visitChildren(const SliceExpr &node) { add(node.lower, node.upper, node.step); }
void Children::visitChildren(const StarredExpr &node) { add(node.value); }
void Children::visitChildren(const NamedExpr &node) { add(node.target, node.value); }
void Children::visitChildren(const YieldExpr &node) { add(node.value); }
void Children::visitChildren(const YieldFromExpr &node) { add(node.value); }
void Children::visitChildren(const AwaitExpr &node) { add(node.value); }

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Children::visitChildren(const FunctionDef &node) {
  addAll(node.decorators);
  addTypeParameters(node.typeParameters);
  addParameters(node.parameters);
  add(node.returns);
  addAll(node.body);
}

void Children::visitChildren(const ClassDef &node) {
  addAll(node.decorators);
  addTypeParameters(node.typeParameters);
  addArguments(node.arguments);
  addAll(node.body);
}

void Children::visitChildren(const ReturnStmt &node) { add(node.value); }
void Children::visitChildren(const DeleteStmt &node) { addAll(node.targets); }

void Children::visitChildren(const AssignStmt &node) {
  addAll(node.targets);
  add(node.value);
}

void Children::visitChildren(const AugAssignStmt &node) { add(node.target, node.value); }

void Children::visitChildren(const AnnAssignStmt &node) {
  add(node.target, node.annotation, node.value);
}

void Children::visitChildren(const ForStmt &node) {
  add(node.target, node.iterable);
  addAll(node.body);
  addAll(node.orElse);
}

void Children::visitChildren(const WhileStmt &node) {
  add(node.test);
  addAll(node.body);
  addAll(node.orElse);
}

void Children::visitChildren(const IfStmt &node) {
  add(node.test);
  addAll(node.body);
  addAll(node.orElse);
}

void Children::visitChildren(const WithStmt &node) {
  for (const WithItem &item : node.items)
    add(item.context, item.target);
  addAll(node.body);
}

void Children::visitChildren(const MatchStmt &node) {
  add(node.subject);
  for (const MatchCase &oneCase : node.cases) {
    add(oneCase.pattern, oneCase.guard);
    addAll(oneCase.body);
  }
}

void Children::visitChildren(const RaiseStmt &node) { add(node.exception, node.cause); }

void Children::visitChildren(const TryStmt &node) {
  addAll(node.body);
  for (const ExceptHandler &handler : node.handlers) {
    add(handler.type);
    addAll(handler.body);
  }
  addAll(node.orElse);
  addAll(node.finalBody);
}

void Children::visitChildren(const AssertStmt &node) { add(node.test, node.message); }
void Children::visitChildren(const ImportStmt &) {}
void Children::visitChildren(const ImportFromStmt &) {}
void Children::visitChildren(const GlobalStmt &) {}
void Children::visitChildren(const NonlocalStmt &) {}

void Children::visitChildren(const TypeAliasStmt &node) {
  addTypeParameters(node.typeParameters);
  add(node.value);
}

void Children::visitChildren(const ExprStmt &node) { add(node.value); }
void Children::visitChildren(const PassStmt &) {}
void Children::visitChildren(const BreakStmt &) {}
void Children::visitChildren(const ContinueStmt &) {}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

void Children::visitChildren(const ValuePattern &node) { add(node.value); }
void Children::visitChildren(const CapturePattern &) {}
void Children::visitChildren(const SequencePattern &node) { addAll(node.elements); }

void Children::visitChildren(const MappingPattern &node) {
  for (auto [key, value] : llvm::zip_equal(node.keys, node.values))
    add(key, value);
}

void Children::visitChildren(const ClassPattern &node) {
  add(node.cls);
  addAll(node.positional);
  addAll(node.keywordPatterns);
}

void Children::visitChildren(const StarPattern &) {}
void Children::visitChildren(const AsPattern &node) { add(node.pattern); }
void Children::visitChildren(const OrPattern &node) { addAll(node.alternatives); }

void forEachChild(const Node &node, llvm::function_ref<void(const Node &)> visit) {
  Children children(visit);
  switch (node.kind) {
#define KILN_EXPR(NAME)                                                                            \
  case NodeKind::NAME:                                                                             \
    return children.visitChildren(llvm::cast<NAME>(node));
#define KILN_STMT(NAME) KILN_EXPR(NAME)
#define KILN_PATTERN(NAME) KILN_EXPR(NAME)
#include "compiler/Syntax/Nodes.def"
  }
}

void walk(const Node &node, llvm::function_ref<bool(const Node &)> visit) {
  if (visit(node))
    forEachChild(node, [&](const Node &child) { walk(child, visit); });
}

} // namespace kiln
