// Which names a block of statements can bind.
#ifndef KILN_COMPILER_SEMA_PYTHON_ASSIGNEDNAMES_H
#define KILN_COMPILER_SEMA_PYTHON_ASSIGNEDNAMES_H

#include "compiler/Syntax/AST.h"

#include "llvm/ADT/StringSet.h"

namespace kiln::sema {

/// Adds every name that a statement of `block`, at any depth but not inside nested functions, can
/// bind. Branches that turn out dead count too. `x := v` counts where it is a statement's own
/// expression or a condition.
void findAssignedNames(ast::Block block, llvm::StringSet<> &names);

/// The last statement in `block` that can bind `name`; an invalid range if there is none.
SourceRange findLastAssignment(ast::Block block, llvm::StringRef name);

/// Calls `visit` with every name in a target of an assignment.
void visitTargetNames(const ast::Expr &target, llvm::function_ref<void(llvm::StringRef)> visit);

/// Calls `visit` with every name that one node binds, not with those that nodes inside of it do.
void visitBoundNames(const ast::Node &node, llvm::function_ref<void(llvm::StringRef)> visit);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_ASSIGNEDNAMES_H
