//===- CNames.h - names in generated C --------------------------*- C++ -*-===//
#ifndef KILN_CODEGEN_CNAMES_H
#define KILN_CODEGEN_CNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace kiln {

/// [A-Za-z_][A-Za-z0-9_]*
bool isIdentifier(llvm::StringRef name);

/// An identifier of at most 200 characters, so that files can have its name.
bool isCIdentifier(llvm::StringRef name);

/// Why a well-formed name cannot be used at file scope ("a keyword of C"), or "" when it can:
/// keywords of C and C++, names that both reserve (leading underscore and capital, two
/// underscores), names of the standard headers that a generated header includes, and Kiln's own.
std::string reservedBecause(llvm::StringRef name);

/// The name of a parameter or a field: `name`, with an underscore added where C or C++ reserves
/// it or the generated function itself uses it (`stream`, `grid_x`, `plan`, `index`).
std::string parameterCName(llvm::StringRef name);

/// Every file-scope name that the entry point `entry` defines, in the header and in the source.
std::vector<std::string> entryCNames(llvm::StringRef entry);
/// The same for the library as a whole.
std::vector<std::string> libraryCNames(llvm::StringRef library);

/// A target's or config's text as part of an identifier: "cuda:sm_90a" -> "cuda_sm_90a".
std::string mangle(llvm::StringRef text);

} // namespace kiln

#endif // KILN_CODEGEN_CNAMES_H
