// What must hold for every input, valid or not. Shared by the mutation test and the fuzzer.
#ifndef KILN_TESTS_COMPILER_SYNTAX_CHECKPARSE_H
#define KILN_TESTS_COMPILER_SYNTAX_CHECKPARSE_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Lexes, parses, walks and dumps the text, and aborts with a message when
///  * tokens are out of order, or indents and lines are not balanced,
///  * the parser says "error" without a diagnostic, or the reverse,
///  * a node lies outside its parent's range, or the tree is too deep.
void checkParse(llvm::StringRef text);

} // namespace kiln

#endif // KILN_TESTS_COMPILER_SYNTAX_CHECKPARSE_H
