// Names and spellings of tokens, generated from Tokens.def.
#include "compiler/Syntax/Token.h"

namespace kiln {

llvm::StringRef getTokenName(TokenKind kind) {
  static constexpr llvm::StringLiteral names[] = {
#define KILN_TOKEN(NAME, DESCRIPTION) #NAME,
#define KILN_KEYWORD(NAME, SPELLING) #NAME,
#define KILN_PUNCTUATION(NAME, SPELLING) #NAME,
#include "compiler/Syntax/Tokens.def"
  };
  return names[static_cast<size_t>(kind)];
}

std::string describeToken(TokenKind kind) {
  static constexpr llvm::StringLiteral descriptions[] = {
#define KILN_TOKEN(NAME, DESCRIPTION) DESCRIPTION,
#define KILN_KEYWORD(NAME, SPELLING) "'" SPELLING "'",
#define KILN_PUNCTUATION(NAME, SPELLING) "'" SPELLING "'",
#include "compiler/Syntax/Tokens.def"
  };
  return descriptions[static_cast<size_t>(kind)].str();
}

bool isKeyword(TokenKind kind) { return kind >= TokenKind::False && kind <= TokenKind::Yield; }

} // namespace kiln
