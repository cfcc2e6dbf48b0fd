// Which characters may stand in a name, and what a stray one was probably meant to be.
#ifndef KILN_COMPILER_SYNTAX_CHARACTERS_H
#define KILN_COMPILER_SYNTAX_CHARACTERS_H

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>

namespace kiln {

/// The character at the start of `text`, which is valid UTF-8 and not empty, and its bytes.
struct DecodedCharacter {
  uint32_t codePoint;
  size_t length;
};
DecodedCharacter decodeCharacter(llvm::StringRef text);

/// Offset of the first byte that is not valid UTF-8, or npos.
size_t findInvalidUtf8(llvm::StringRef text);

/// Appends the UTF-8 form; surrogates get three bytes like any other value of their size.
void appendUtf8(std::string &out, uint32_t codePoint);

/// Letters, marks and digits. Approximates Unicode's XID classes by refusing the blocks of
/// punctuation, symbols, blanks and private use: full tables would only reject names that nobody
/// writes.
bool isNameStart(uint32_t codePoint);
bool isNameContinue(uint32_t codePoint);

/// The ASCII text that looks like this character ("'" for a curly quote), or empty.
llvm::StringRef findLookalike(uint32_t codePoint);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_CHARACTERS_H
