//===- JsonText.h - JSON that remembers where it stood ----------*- C++ -*-===//
//
// A spec's errors name a path *and* a line and column, so every value and key keeps the byte range
// that it came from. nlohmann::json gives positions for syntax errors only and silently takes the
// last of two equal keys; this reader is the hundred-odd lines that a located tree needs instead.
//
// RFC 8259, with the NaN, Infinity and -Infinity that Python's json module writes. Integers are
// 64-bit signed: a larger one is an error, never a rounded float. Nesting is bounded, so no input
// can exhaust the stack.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_JSONTEXT_H
#define KILN_CODEGEN_JSONTEXT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { Null, Bool, Integer, Real, String, Array, Object };
  Kind kind = Kind::Null;
  /// Byte range in the text, quotes and brackets included.
  size_t begin = 0, end = 0;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<JsonValue> elements;
  std::vector<JsonMember> members;

  bool is(Kind wanted) const { return kind == wanted; }
  const JsonMember *find(llvm::StringRef key) const;
  /// The kind and, for small values, the value: `string "x"`, `integer 3`, `an object`.
  std::string describe() const;
};

struct JsonMember {
  std::string key;
  size_t keyBegin = 0, keyEnd = 0;
  JsonValue value;
};

struct JsonError {
  enum class Kind : uint8_t { Syntax, DuplicateKey, TooDeep, BadNumber, BadEncoding };
  Kind kind = Kind::Syntax;
  size_t begin = 0, end = 0;
  /// What was expected, or the duplicate key.
  std::string message;
  /// For a duplicate key, where the first one stands.
  size_t firstBegin = 0, firstEnd = 0;
};

/// Parses the whole text. Empty when an error leaves no tree; duplicate keys are reported and the
/// first one kept. At most one syntax error is reported, the others can be several.
std::optional<JsonValue> parseJson(llvm::StringRef text, std::vector<JsonError> &errors);

/// The byte offset in the JSON text of byte `index` of a string's decoded contents.
size_t offsetInJsonString(llvm::StringRef json, const JsonValue &string, size_t index);

/// `text` as a JSON string with quotes; bytes outside printable ASCII become \u escapes.
std::string jsonQuote(llvm::StringRef text);

} // namespace kiln

#endif // KILN_CODEGEN_JSONTEXT_H
