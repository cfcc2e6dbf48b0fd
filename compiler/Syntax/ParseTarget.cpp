// What may stand left of `=`, after `del`, and after `for`. The parser reads targets as ordinary
// expressions (it cannot know yet) and checks them here.
#include "compiler/Syntax/ParserState.h"

namespace kiln {

using namespace ast;

/// What a user would call an expression that is no target.
static llvm::StringRef describeExpr(const Expr &expr) {
  switch (expr.kind) {
  case NodeKind::NoneLiteral:
    return "None";
  case NodeKind::BoolLiteral:
    return llvm::cast<BoolLiteral>(expr).value ? "True" : "False";
  case NodeKind::EllipsisLiteral:
    return "an ellipsis";
  case NodeKind::IntLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::ImaginaryLiteral:
  case NodeKind::StringLiteral:
  case NodeKind::BytesLiteral:
    return "a literal";
  case NodeKind::FormattedString:
    return "an f-string";
  case NodeKind::CallExpr:
    return "a function call";
  case NodeKind::CompareExpr:
    return "a comparison";
  case NodeKind::ConditionalExpr:
    return "a conditional expression";
  case NodeKind::LambdaExpr:
    return "a lambda";
  case NodeKind::DictExpr:
    return "a dict";
  case NodeKind::SetExpr:
    return "a set";
  case NodeKind::ComprehensionExpr:
    return "a comprehension";
  case NodeKind::StarredExpr:
    return "a starred expression";
  case NodeKind::TupleExpr:
    return "a tuple";
  case NodeKind::ListExpr:
    return "a list";
  case NodeKind::NamedExpr:
    return "a ':=' expression";
  default:
    return "an expression";
  }
}

bool Parser::checkTarget(const Expr *target, TargetUse use) {
  if (llvm::isa<StarredExpr>(target) && use == TargetUse::Assign) {
    error(DiagKind::SyntaxMisplacedStar, target->range)
        .withHint("write '*name,' to unpack into one list");
    return false;
  }
  return checkTargetElement(target, use);
}

bool Parser::checkTargetElement(const Expr *target, TargetUse use) {
  static constexpr llvm::StringLiteral verbs[] = {"assign to", "assign to", "annotate", "delete"};
  switch (target->kind) {
  case NodeKind::NameExpr:
  case NodeKind::AttributeExpr:
  case NodeKind::SubscriptExpr:
    return true;
  case NodeKind::TupleExpr:
    if (use == TargetUse::Assign || use == TargetUse::Delete)
      return checkTargetElements(llvm::cast<TupleExpr>(target)->elements, use);
    break;
  case NodeKind::ListExpr:
    if (use == TargetUse::Assign || use == TargetUse::Delete)
      return checkTargetElements(llvm::cast<ListExpr>(target)->elements, use);
    break;
  case NodeKind::StarredExpr:
    if (use == TargetUse::Assign)
      return checkTarget(llvm::cast<StarredExpr>(target)->value, use);
    break;
  default:
    break;
  }
  error(DiagKind::SyntaxInvalidTarget, target->range, verbs[static_cast<size_t>(use)],
        describeExpr(*target));
  return false;
}

bool Parser::checkTargetElements(ExprList elements, TargetUse use) {
  const Expr *firstStar = nullptr;
  for (const Expr *element : elements) {
    if (llvm::isa<StarredExpr>(element)) {
      if (firstStar) {
        error(DiagKind::SyntaxMultipleStars, element->range).highlight(firstStar->range);
        return false;
      }
      firstStar = element;
    }
    if (!checkTargetElement(element, use))
      return false;
  }
  return true;
}

} // namespace kiln
