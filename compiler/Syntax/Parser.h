// From the text of a Python file to its syntax tree. See docs/syntax.md.
#ifndef KILN_COMPILER_SYNTAX_PARSER_H
#define KILN_COMPILER_SYNTAX_PARSER_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Syntax/AST.h"

#include <memory>

namespace kiln {

/// Parses a whole file. Never fails, throws or recurses without bound: what cannot be parsed is
/// reported to `diags` and left out of the tree (Module::hasErrors()). `file` must outlive the
/// result.
std::unique_ptr<ast::Module> parseModule(const SourceFile &file, DiagnosticEngine &diags);

/// Parses text that is one expression ("cdiv(M, BLOCK_M)" in a spec or a flag). The body of the
/// result is one ExprStmt, or empty after an error.
std::unique_ptr<ast::Module> parseExpression(const SourceFile &file, DiagnosticEngine &diags);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_PARSER_H
