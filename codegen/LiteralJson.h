//===- LiteralJson.h - literals as JSON -------------------------*- C++ -*-===//
#ifndef KILN_CODEGEN_LITERALJSON_H
#define KILN_CODEGEN_LITERALJSON_H

#include "codegen/LibraryModel.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// How infinities and NaN are written, which JSON has no numbers for.
enum class NonFinite {
  AsPython, ///< Infinity, which Python's json module and specs take
  AsObject  ///< {"float": "inf"}, for any reader
};

/// As a spec would have it; strings are told from names of types and functions by their kind.
void writeLiteral(llvm::json::OStream &json, const Literal &literal, NonFinite nonFinite);

/// All that was compiled into the variant, by name, as one object on one line.
std::string constantsJson(const VariantModel &variant);

/// Names may come from anywhere, and not be UTF-8; JSON is.
std::string utf8(llvm::StringRef text);

} // namespace kiln

#endif // KILN_CODEGEN_LITERALJSON_H
