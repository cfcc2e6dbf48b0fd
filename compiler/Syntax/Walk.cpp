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

  void addExpr(const Expr &expr);
  void addStmt(const Stmt &stmt);
  void addPattern(const Pattern &pattern);

private:
  void addOne(const Node *node) {
    if (node)
      visit(*node);
  }
  Visit visit;
};
} // namespace

void Children::addExpr(const Expr &expr) {
  switch (expr.kind) {
  case NodeKind::FormattedString:
    return addAll(llvm::cast<FormattedString>(expr).parts);
  case NodeKind::FormattedValue: {
    const auto &field = llvm::cast<FormattedValue>(expr);
    return add(field.value, field.formatSpec);
  }
  case NodeKind::ListExpr:
    return addAll(llvm::cast<ListExpr>(expr).elements);
  case NodeKind::TupleExpr:
    return addAll(llvm::cast<TupleExpr>(expr).elements);
  case NodeKind::SetExpr:
    return addAll(llvm::cast<SetExpr>(expr).elements);
  case NodeKind::DictExpr:
    for (const DictItem &item : llvm::cast<DictExpr>(expr).items)
      add(item.key, item.value);
    return;
  case NodeKind::ComprehensionExpr: {
    const auto &comprehension = llvm::cast<ComprehensionExpr>(expr);
    add(comprehension.element, comprehension.value);
    for (const ComprehensionClause &clause : comprehension.clauses) {
      add(clause.target, clause.iterable);
      addAll(clause.conditions);
    }
    return;
  }
  case NodeKind::UnaryExpr:
    return add(llvm::cast<UnaryExpr>(expr).operand);
  case NodeKind::BinaryExpr:
    return add(llvm::cast<BinaryExpr>(expr).left, llvm::cast<BinaryExpr>(expr).right);
  case NodeKind::BoolExpr:
    return addAll(llvm::cast<BoolExpr>(expr).operands);
  case NodeKind::CompareExpr:
    add(llvm::cast<CompareExpr>(expr).left);
    for (const Comparison &comparison : llvm::cast<CompareExpr>(expr).comparisons)
      add(comparison.right);
    return;
  case NodeKind::ConditionalExpr: {
    const auto &conditional = llvm::cast<ConditionalExpr>(expr);
    return add(conditional.body, conditional.test, conditional.orElse);
  }
  case NodeKind::LambdaExpr:
    addParameters(llvm::cast<LambdaExpr>(expr).parameters);
    return add(llvm::cast<LambdaExpr>(expr).body);
  case NodeKind::CallExpr:
    add(llvm::cast<CallExpr>(expr).callee);
    return addArguments(llvm::cast<CallExpr>(expr).arguments);
  case NodeKind::AttributeExpr:
    return add(llvm::cast<AttributeExpr>(expr).base);
  case NodeKind::SubscriptExpr:
    return add(llvm::cast<SubscriptExpr>(expr).base, llvm::cast<SubscriptExpr>(expr).index);
  case NodeKind::SliceExpr: {
    const auto &slice = llvm::cast<SliceExpr>(expr);
    return add(slice.lower, slice.upper, slice.step);
  }
  case NodeKind::StarredExpr:
    return add(llvm::cast<StarredExpr>(expr).value);
  case NodeKind::NamedExpr:
    return add(llvm::cast<NamedExpr>(expr).target, llvm::cast<NamedExpr>(expr).value);
  case NodeKind::YieldExpr:
    return add(llvm::cast<YieldExpr>(expr).value);
  case NodeKind::YieldFromExpr:
    return add(llvm::cast<YieldFromExpr>(expr).value);
  case NodeKind::AwaitExpr:
    return add(llvm::cast<AwaitExpr>(expr).value);
  default: // Names and literals.
    return;
  }
}

void Children::addStmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case NodeKind::FunctionDef: {
    const auto &function = llvm::cast<FunctionDef>(stmt);
    addAll(function.decorators);
    addTypeParameters(function.typeParameters);
    addParameters(function.parameters);
    add(function.returns);
    return addAll(function.body);
  }
  case NodeKind::ClassDef: {
    const auto &cls = llvm::cast<ClassDef>(stmt);
    addAll(cls.decorators);
    addTypeParameters(cls.typeParameters);
    addArguments(cls.arguments);
    return addAll(cls.body);
  }
  case NodeKind::ReturnStmt:
    return add(llvm::cast<ReturnStmt>(stmt).value);
  case NodeKind::DeleteStmt:
    return addAll(llvm::cast<DeleteStmt>(stmt).targets);
  case NodeKind::AssignStmt:
    addAll(llvm::cast<AssignStmt>(stmt).targets);
    return add(llvm::cast<AssignStmt>(stmt).value);
  case NodeKind::AugAssignStmt:
    return add(llvm::cast<AugAssignStmt>(stmt).target, llvm::cast<AugAssignStmt>(stmt).value);
  case NodeKind::AnnAssignStmt: {
    const auto &assign = llvm::cast<AnnAssignStmt>(stmt);
    return add(assign.target, assign.annotation, assign.value);
  }
  case NodeKind::ForStmt: {
    const auto &loop = llvm::cast<ForStmt>(stmt);
    add(loop.target, loop.iterable);
    addAll(loop.body);
    return addAll(loop.orElse);
  }
  case NodeKind::WhileStmt: {
    const auto &loop = llvm::cast<WhileStmt>(stmt);
    add(loop.test);
    addAll(loop.body);
    return addAll(loop.orElse);
  }
  case NodeKind::IfStmt: {
    const auto &branch = llvm::cast<IfStmt>(stmt);
    add(branch.test);
    addAll(branch.body);
    return addAll(branch.orElse);
  }
  case NodeKind::WithStmt:
    for (const WithItem &item : llvm::cast<WithStmt>(stmt).items)
      add(item.context, item.target);
    return addAll(llvm::cast<WithStmt>(stmt).body);
  case NodeKind::MatchStmt:
    add(llvm::cast<MatchStmt>(stmt).subject);
    for (const MatchCase &oneCase : llvm::cast<MatchStmt>(stmt).cases) {
      add(oneCase.pattern);
      add(oneCase.guard);
      addAll(oneCase.body);
    }
    return;
  case NodeKind::RaiseStmt:
    return add(llvm::cast<RaiseStmt>(stmt).exception, llvm::cast<RaiseStmt>(stmt).cause);
  case NodeKind::TryStmt: {
    const auto &tryStmt = llvm::cast<TryStmt>(stmt);
    addAll(tryStmt.body);
    for (const ExceptHandler &handler : tryStmt.handlers) {
      add(handler.type);
      addAll(handler.body);
    }
    addAll(tryStmt.orElse);
    return addAll(tryStmt.finalBody);
  }
  case NodeKind::AssertStmt:
    return add(llvm::cast<AssertStmt>(stmt).test, llvm::cast<AssertStmt>(stmt).message);
  case NodeKind::TypeAliasStmt:
    addTypeParameters(llvm::cast<TypeAliasStmt>(stmt).typeParameters);
    return add(llvm::cast<TypeAliasStmt>(stmt).value);
  case NodeKind::ExprStmt:
    return add(llvm::cast<ExprStmt>(stmt).value);
  default: // Imports, global, nonlocal, pass, break, continue.
    return;
  }
}

void Children::addPattern(const Pattern &pattern) {
  switch (pattern.kind) {
  case NodeKind::ValuePattern:
    return add(llvm::cast<ValuePattern>(pattern).value);
  case NodeKind::SequencePattern:
    return addAll(llvm::cast<SequencePattern>(pattern).elements);
  case NodeKind::MappingPattern: {
    const auto &mapping = llvm::cast<MappingPattern>(pattern);
    for (auto [key, value] : llvm::zip_equal(mapping.keys, mapping.values)) {
      add(key);
      add(value);
    }
    return;
  }
  case NodeKind::ClassPattern: {
    const auto &cls = llvm::cast<ClassPattern>(pattern);
    add(cls.cls);
    addAll(cls.positional);
    return addAll(cls.keywordPatterns);
  }
  case NodeKind::AsPattern:
    return add(llvm::cast<AsPattern>(pattern).pattern);
  case NodeKind::OrPattern:
    return addAll(llvm::cast<OrPattern>(pattern).alternatives);
  default: // Captures and stars.
    return;
  }
}

void forEachChild(const Node &node, llvm::function_ref<void(const Node &)> visit) {
  Children children(visit);
  if (const auto *expr = llvm::dyn_cast<Expr>(&node))
    children.addExpr(*expr);
  else if (const auto *stmt = llvm::dyn_cast<Stmt>(&node))
    children.addStmt(*stmt);
  else
    children.addPattern(llvm::cast<Pattern>(node));
}

void walk(const Node &node, llvm::function_ref<bool(const Node &)> visit) {
  if (visit(node))
    forEachChild(node, [&](const Node &child) { walk(child, visit); });
}

} // namespace kiln
