#include "compiler/Sema/Python/AssignedNames.h"

#include "compiler/Syntax/Walk.h"

namespace kiln::sema {

void visitTargetNames(const ast::Expr &target, llvm::function_ref<void(llvm::StringRef)> visit) {
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&target))
    visit(name->name);
  ast::ExprList elements;
  if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(&target))
    elements = tuple->elements;
  else if (const auto *list = llvm::dyn_cast<ast::ListExpr>(&target))
    elements = list->elements;
  else if (const auto *starred = llvm::dyn_cast<ast::StarredExpr>(&target))
    visitTargetNames(*starred->value, visit);
  for (const ast::Expr *element : elements)
    visitTargetNames(*element, visit);
}

namespace {

struct Finder {
  llvm::StringSet<> &names;

  /// An assignment to a field changes what the name of the whole stands for.
  void add(const ast::Expr *target) {
    while (const auto *attribute = llvm::dyn_cast_or_null<ast::AttributeExpr>(target))
      target = attribute->base;
    if (target)
      visitTargetNames(*target, [&](llvm::StringRef name) { names.insert(name); });
  }

  /// Hints such as `tl.multiple_of(x, 16)` as a statement rebind their first argument.
  void addExpression(const ast::Expr *expr) {
    if (const auto *named = llvm::dyn_cast_or_null<ast::NamedExpr>(expr))
      add(named->target);
    const auto *call = llvm::dyn_cast_or_null<ast::CallExpr>(expr);
    if (call && !call->arguments.empty() && llvm::isa<ast::AttributeExpr>(call->callee))
      if (const auto *attribute = llvm::cast<ast::AttributeExpr>(call->callee);
          attribute->attribute.name == "multiple_of" ||
          attribute->attribute.name.starts_with("max_con"))
        add(call->arguments.front().value);
  }

  void visit(ast::Block block) {
    for (const ast::Stmt *stmt : block)
      visit(*stmt);
  }

  void visit(const ast::Stmt &stmt) {
    using ast::NodeKind;
    switch (stmt.kind) {
    case NodeKind::AssignStmt:
      for (const ast::Expr *target : llvm::cast<ast::AssignStmt>(stmt).targets)
        add(target);
      addExpression(llvm::cast<ast::AssignStmt>(stmt).value);
      break;
    case NodeKind::AugAssignStmt:
      add(llvm::cast<ast::AugAssignStmt>(stmt).target);
      break;
    case NodeKind::AnnAssignStmt:
      add(llvm::cast<ast::AnnAssignStmt>(stmt).target);
      break;
    case NodeKind::ExprStmt:
      addExpression(llvm::cast<ast::ExprStmt>(stmt).value);
      break;
    case NodeKind::ForStmt: {
      const auto &loop = llvm::cast<ast::ForStmt>(stmt);
      add(loop.target);
      visit(loop.body);
      visit(loop.orElse);
      break;
    }
    case NodeKind::WhileStmt:
      visit(llvm::cast<ast::WhileStmt>(stmt).body);
      visit(llvm::cast<ast::WhileStmt>(stmt).orElse);
      break;
    case NodeKind::IfStmt:
      addExpression(llvm::cast<ast::IfStmt>(stmt).test);
      visit(llvm::cast<ast::IfStmt>(stmt).body);
      visit(llvm::cast<ast::IfStmt>(stmt).orElse);
      break;
    case NodeKind::WithStmt:
      for (const ast::WithItem &item : llvm::cast<ast::WithStmt>(stmt).items)
        add(item.target);
      visit(llvm::cast<ast::WithStmt>(stmt).body);
      break;
    default:
      break;
    }
  }
};

} // namespace

void findAssignedNames(ast::Block block, llvm::StringSet<> &names) { Finder{names}.visit(block); }

SourceRange findLastAssignment(ast::Block block, llvm::StringRef name) {
  SourceRange last;
  for (const ast::Stmt *stmt : block)
    walk(*stmt, [&](const ast::Node &node) {
      if (llvm::isa<ast::AssignStmt, ast::AugAssignStmt, ast::AnnAssignStmt>(node)) {
        llvm::StringSet<> names;
        Finder{names}.visit(llvm::cast<ast::Stmt>(node));
        if (names.contains(name))
          last = node.range;
      }
      return true;
    });
  return last;
}

void visitBoundNames(const ast::Node &node, llvm::function_ref<void(llvm::StringRef)> visit) {
  using ast::NodeKind;
  switch (node.kind) {
  case NodeKind::AssignStmt:
    for (const ast::Expr *target : llvm::cast<ast::AssignStmt>(node).targets)
      visitTargetNames(*target, visit);
    break;
  case NodeKind::AugAssignStmt:
    visitTargetNames(*llvm::cast<ast::AugAssignStmt>(node).target, visit);
    break;
  case NodeKind::AnnAssignStmt:
    if (llvm::cast<ast::AnnAssignStmt>(node).value)
      visitTargetNames(*llvm::cast<ast::AnnAssignStmt>(node).target, visit);
    break;
  case NodeKind::NamedExpr:
    visitTargetNames(*llvm::cast<ast::NamedExpr>(node).target, visit);
    break;
  case NodeKind::ForStmt:
    visitTargetNames(*llvm::cast<ast::ForStmt>(node).target, visit);
    break;
  case NodeKind::WithStmt:
    for (const ast::WithItem &item : llvm::cast<ast::WithStmt>(node).items)
      if (item.target)
        visitTargetNames(*item.target, visit);
    break;
  case NodeKind::ImportStmt:
    for (const ast::ImportedName &name : llvm::cast<ast::ImportStmt>(node).names)
      visit(name.alias.empty() ? name.name.name.split('.').first : name.alias.name);
    break;
  case NodeKind::ImportFromStmt:
    for (const ast::ImportedName &name : llvm::cast<ast::ImportFromStmt>(node).names)
      if (name.name.name != "*")
        visit(name.alias.empty() ? name.name.name : name.alias.name);
    break;
  case NodeKind::FunctionDef:
    visit(llvm::cast<ast::FunctionDef>(node).name.name);
    break;
  case NodeKind::ClassDef:
    visit(llvm::cast<ast::ClassDef>(node).name.name);
    break;
  default:
    break;
  }
}

} // namespace kiln::sema
