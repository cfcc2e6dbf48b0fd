// Values known at compile time, as specs and command lines write them and Sema takes them.

#ifndef KILN_COMPILER_BASIC_LITERAL_H
#define KILN_COMPILER_BASIC_LITERAL_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// A compile-time value of a signature, a config or a definition.
struct Literal {
  enum class Kind : uint8_t { None, Bool, Int, Float, String, DType, Function, Tuple };
  Kind kind = Kind::None;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  /// A string's text, a dtype ("fp16", "*fp16"), or a function's name.
  std::string text;
  std::vector<Literal> elements;

  static Literal none() { return {}; }
  static Literal ofBool(bool value);
  static Literal ofInt(int64_t value);
  static Literal ofFloat(double value);
  static Literal ofString(std::string value);
  static Literal ofDType(std::string name);
  static Literal ofFunction(std::string name);
  static Literal ofTuple(std::vector<Literal> values);

  /// The value of an int or bool, for expressions over constants.
  std::optional<int64_t> asInteger() const;
  /// As Python would print it: `'relu'`, `(1, 2)`, `fp16`. One line, printable ASCII.
  std::string str() const;
  bool operator==(const Literal &other) const;
  bool operator!=(const Literal &other) const { return !(*this == other); }
};

} // namespace kiln

#endif // KILN_COMPILER_BASIC_LITERAL_H
