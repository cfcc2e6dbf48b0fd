// The values of number and string literals.
#ifndef KILN_COMPILER_SYNTAX_LITERALS_H
#define KILN_COMPILER_SYNTAX_LITERALS_H

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <variant>

namespace kiln {

/// Bytes of the number at the start of `text`, which begins with a digit or with '.' and a digit.
/// What follows may still make it invalid.
size_t getNumberLength(llvm::StringRef text);

/// Digits that a number may have: conversion takes quadratic time. Python's limit for int().
constexpr size_t maxNumberDigits = 4300;

struct FloatValue {
  double value;
};
struct ImaginaryValue {
  double value;
};
struct InvalidNumber {
  std::string reason;
};
using NumberValue = std::variant<llvm::APInt, FloatValue, ImaginaryValue, InvalidNumber>;

/// The value of a literal, by Python's rules for underscores, leading zeros and prefixes. A float
/// too large is infinite.
NumberValue evaluateNumber(llvm::StringRef literal);

/// A string token taken apart.
struct StringParts {
  bool isRaw = false;
  bool isBytes = false;
  llvm::StringRef body; // Between the quotes.
};
StringParts splitString(llvm::StringRef token);

/// An escape sequence that cannot be resolved.
struct InvalidEscape {
  size_t offset; // In the body.
  size_t length;
  std::string reason; // Empty for no error.
};

/// Appends the value of `body` to `out`: escapes resolved unless raw, line ends as '\n'. An
/// unknown escape such as '\d' stays as it is, as in Python. Text with an error is appended as
/// far as it goes.
InvalidEscape decodeStringBody(llvm::StringRef body, bool isRaw, bool isBytes, std::string &out);

} // namespace kiln

#endif // KILN_COMPILER_SYNTAX_LITERALS_H
