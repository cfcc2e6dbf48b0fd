// Going on after an error, so that one run reports every independent mistake of a kernel.
//
// An error unwinds to the statement that it stands in. What that statement would have bound is
// unknown from there on: those names hold an Error value, and whoever reads one unwinds to its own
// statement in turn, without a message. So nothing that follows from a mistake is reported, and no
// operation need know of values that are not there. Branches merge, loops carry and functions
// return such values like any other; the IR of a kernel with errors is thrown away, so it need not
// be valid.
//
// Only device code is resumed. In code that runs at compile time an error ends the evaluation of
// what asked for it, as an exception would.
//
// Refused: an error value that every operation passes on. A hundred handlers would have to look for
// it, and one that forgot would report nonsense.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/AssignedNames.h"
#include "compiler/Syntax/Walk.h"

namespace kiln::sema {
namespace {

bool opensScope(const ast::Node &node) {
  using ast::NodeKind;
  return node.kind == NodeKind::FunctionDef || node.kind == NodeKind::LambdaExpr ||
         node.kind == NodeKind::ClassDef;
}

/// The `x` of `x.field[i]`, "" when it does not begin with a name.
llvm::StringRef rootName(const ast::Expr *expr) {
  while (true) {
    if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(expr))
      expr = attribute->base;
    else if (const auto *subscript = llvm::dyn_cast<ast::SubscriptExpr>(expr))
      expr = subscript->base;
    else
      break;
  }
  const auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
  return name ? name->name : llvm::StringRef();
}

/// Makes unknown what a failed statement binds or changes: the names in its targets, objects whose
/// fields or elements it assigns to, and lists and dicts whose methods it calls.
struct Poisoner {
  Environment &names;

  void bind(llvm::StringRef name) { names[name] = Value(); }

  /// The object that `expr` begins with, if a name holds one.
  void change(const ast::Expr *expr, bool mayBeInstance) {
    auto found = names.find(rootName(expr));
    if (found == names.end())
      return;
    Value &value = found->second;
    if (value.isSequence() || value.is(ValueKind::Dict) ||
        (mayBeInstance && value.is(ValueKind::Instance)))
      value = Value();
  }

  void bindTarget(const ast::Expr *target) {
    if (!target)
      return;
    visitTargetNames(*target, [&](llvm::StringRef name) { bind(name); });
    if (llvm::isa<ast::AttributeExpr, ast::SubscriptExpr>(target))
      change(target, /*mayBeInstance=*/true);
  }

  void bindTargets(ast::ExprList targets) {
    for (const ast::Expr *target : targets)
      bindTarget(target);
  }

  template <typename Import> void bindImports(const Import &import) {
    for (const ast::ImportedName &imported : import.names)
      bind(imported.alias.empty() ? imported.name.name.split('.').first : imported.alias.name);
  }

  void visit(const ast::Node &node) {
    using ast::NodeKind;
    switch (node.kind) {
    case NodeKind::AssignStmt:
      return bindTargets(llvm::cast<ast::AssignStmt>(node).targets);
    case NodeKind::AugAssignStmt:
      return bindTarget(llvm::cast<ast::AugAssignStmt>(node).target);
    case NodeKind::AnnAssignStmt:
      return bindTarget(llvm::cast<ast::AnnAssignStmt>(node).target);
    case NodeKind::NamedExpr:
      return bindTarget(llvm::cast<ast::NamedExpr>(node).target);
    case NodeKind::ForStmt:
      return bindTarget(llvm::cast<ast::ForStmt>(node).target);
    case NodeKind::WithStmt:
      for (const ast::WithItem &item : llvm::cast<ast::WithStmt>(node).items)
        bindTarget(item.target);
      return;
    case NodeKind::ImportStmt:
      return bindImports(llvm::cast<ast::ImportStmt>(node));
    case NodeKind::ImportFromStmt:
      return bindImports(llvm::cast<ast::ImportFromStmt>(node));
    case NodeKind::FunctionDef:
      return bind(llvm::cast<ast::FunctionDef>(node).name.name);
    case NodeKind::CallExpr:
      // Methods of the source's classes work on copies.
      if (const ast::Expr *callee = llvm::cast<ast::CallExpr>(node).callee;
          llvm::isa<ast::AttributeExpr>(callee))
        change(callee, /*mayBeInstance=*/false);
      return;
    default:
      return;
    }
  }
};

bool hasReturn(const ast::Stmt &stmt) {
  bool found = false;
  walk(stmt, [&](const ast::Node &node) {
    found = found || node.kind == ast::NodeKind::ReturnStmt;
    return !opensScope(node);
  });
  return found;
}

} // namespace

Flow Evaluator::resumeAfter(const ast::Stmt &stmt) {
  bool leaves = unwinding().mustLeaveFunction();
  if (!unwinding().resume())
    return Flow::Failed;
  if (leaves || (stmt.kind == ast::NodeKind::ReturnStmt && !frame()->runTimeLoops)) {
    frame()->returnValue = Value();
    return Flow::Returned;
  }
  Poisoner poisoner{frame()->names};
  walk(stmt, [&](const ast::Node &node) {
    poisoner.visit(node);
    return !opensScope(node);
  });
  // Whether it would have returned, and what, is unknown.
  frame()->mayHaveReturned |= hasReturn(stmt);
  return Flow::Normal;
}

} // namespace kiln::sema
