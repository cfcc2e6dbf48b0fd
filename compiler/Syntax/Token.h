// Tokens of Python source.
#ifndef KILN_COMPILER_SYNTAX_TOKEN_H
#define KILN_COMPILER_SYNTAX_TOKEN_H

#include "compiler/Basic/SourceManager.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

enum class TokenKind : uint8_t {
#define KILN_TOKEN(NAME, DESCRIPTION) NAME,
#define KILN_KEYWORD(NAME, SPELLING) NAME,
#define KILN_PUNCTUATION(NAME, SPELLING) NAME,
#include "compiler/Syntax/Tokens.def"
};

/// A token is its kind and the bytes [begin, end) of its file. Newline, Indent, Dedent, EndOfFile
/// and Error may be empty. A doubled brace in an f-string ends an FStringMiddle: its range has the
/// first brace only.
struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// "LeftParen", for tests.
llvm::StringRef getTokenName(TokenKind kind);
/// "'('" or "a name", for messages.
std::string describeToken(TokenKind kind);
bool isKeyword(TokenKind kind);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_TOKEN_H
