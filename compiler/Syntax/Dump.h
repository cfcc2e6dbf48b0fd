// The syntax tree as text: golden tests, and --emit=ast.
#ifndef KILN_COMPILER_SYNTAX_DUMP_H
#define KILN_COMPILER_SYNTAX_DUMP_H

#include "compiler/Syntax/AST.h"

namespace llvm {
class raw_ostream;
}

namespace kiln {

/// Prints one line per statement and nested lines for blocks, expressions as S-expressions:
///   (assign x (+ a 1))
/// The text depends on the tree alone, so that it can be compared.
void dump(const ast::Module &module, llvm::raw_ostream &out);
void dump(const ast::Stmt &stmt, llvm::raw_ostream &out);
void dump(const ast::Expr &expr, llvm::raw_ostream &out);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_DUMP_H
