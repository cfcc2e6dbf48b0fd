// From the text of a Python file to its tokens.
#ifndef KILN_COMPILER_SYNTAX_LEXER_H
#define KILN_COMPILER_SYNTAX_LEXER_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Syntax/Token.h"

#include <vector>

namespace kiln {

/// Levels of brackets, replacement fields and blocks that may be open at once; Python's own
/// tokenizer stops at 200 and 100.
constexpr unsigned maxOpenBrackets = 200;
constexpr unsigned maxOpenBlocks = 100;

struct TokenList {
  /// Ends with EndOfFile, before which every Indent has its Dedent and every line its Newline.
  std::vector<Token> tokens;
  /// Text behind a bracket that was never closed (reported): what the parser finds wrong in it
  /// comes from that, and is not worth a second report.
  std::vector<SourceRange> doubtful;
};

/// Splits a whole file. Errors are reported to `diags`; an Error token stands where a token could
/// not be read.
TokenList tokenize(const SourceFile &file, DiagnosticEngine &diags);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_LEXER_H
