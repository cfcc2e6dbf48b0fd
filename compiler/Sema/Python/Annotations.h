// Annotations of parameters and fields that say how their values are known.
#ifndef KILN_COMPILER_SEMA_PYTHON_ANNOTATIONS_H
#define KILN_COMPILER_SEMA_PYTHON_ANNOTATIONS_H

#include "compiler/Syntax/AST.h"

namespace kiln::sema {

/// `tl.constexpr` or a string that ends so, whatever the name is bound to.
bool isConstexprAnnotation(const ast::Expr &annotation);
/// `tl.const`: a pointer that the kernel does not write through.
bool isConstAnnotation(const ast::Expr &annotation);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_ANNOTATIONS_H
