#include "compiler/Sema/Python/Annotations.h"

namespace kiln::sema {

/// Whether an annotation is the `name` of some module, quoted or not, with or without brackets.
static bool isAnnotation(const ast::Expr &annotation, llvm::StringRef wanted) {
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&annotation))
    return name->name == wanted;
  if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(&annotation))
    return attribute->attribute.name == wanted;
  if (const auto *text = llvm::dyn_cast<ast::StringLiteral>(&annotation))
    return text->value.ends_with(wanted);
  if (const auto *subscript = llvm::dyn_cast<ast::SubscriptExpr>(&annotation))
    return isAnnotation(*subscript->base, wanted);
  return false;
}

bool isConstexprAnnotation(const ast::Expr &annotation) {
  return isAnnotation(annotation, "constexpr");
}
bool isConstAnnotation(const ast::Expr &annotation) { return isAnnotation(annotation, "const"); }

} // namespace kiln::sema
