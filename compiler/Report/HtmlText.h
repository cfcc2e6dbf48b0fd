// Pieces of a page: text that is safe in it, and numbers that people read.

#ifndef KILN_COMPILER_REPORT_HTMLTEXT_H
#define KILN_COMPILER_REPORT_HTMLTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// As text or an attribute's value, in HTML and XML. What is no UTF-8, or no character in XML,
/// becomes U+FFFD.
std::string escaped(llvm::StringRef text);

/// A name for ids and classes: letters, digits and dashes.
std::string asId(llvm::StringRef text);

/// "12,345"
std::string withSeparators(uint64_t number);
/// "1.25"
std::string withDigits(double number, unsigned digits);
/// Three digits and a prefix of the SI: "1.23 G".
std::string withPrefix(double number);
/// "1.23 µs"
std::string duration(double seconds);

} // namespace kiln

#endif
