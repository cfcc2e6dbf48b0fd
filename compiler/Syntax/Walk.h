// Visiting the children of a node.
#ifndef KILN_COMPILER_SYNTAX_WALK_H
#define KILN_COMPILER_SYNTAX_WALK_H

#include "compiler/Syntax/AST.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// Calls `visit` for each direct child node, in source order (a conditional expression's body
/// comes before its test; decorators before defaults and annotations before the body). Nested
/// functions and lambdas are children like any other: whoever looks for names of one scope stops
/// there.
void forEachChild(const ast::Node &node, llvm::function_ref<void(const ast::Node &)> visit);

/// Calls `visit` for the node and, where it returns true, for everything below, parents first.
void walk(const ast::Node &node, llvm::function_ref<bool(const ast::Node &)> visit);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_WALK_H
