#include "compiler/Basic/Literal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>

using namespace llvm;

namespace kiln {

Literal Literal::ofBool(bool value) {
  Literal literal;
  literal.kind = Kind::Bool;
  literal.boolean = value;
  return literal;
}

Literal Literal::ofInt(int64_t value) {
  Literal literal;
  literal.kind = Kind::Int;
  literal.integer = value;
  return literal;
}

Literal Literal::ofFloat(double value) {
  Literal literal;
  literal.kind = Kind::Float;
  literal.real = value;
  return literal;
}

Literal Literal::ofString(std::string value) {
  Literal literal;
  literal.kind = Kind::String;
  literal.text = std::move(value);
  return literal;
}

Literal Literal::ofDType(std::string name) {
  Literal literal;
  literal.kind = Kind::DType;
  literal.text = std::move(name);
  return literal;
}

Literal Literal::ofFunction(std::string name) {
  Literal literal;
  literal.kind = Kind::Function;
  literal.text = std::move(name);
  return literal;
}

Literal Literal::ofTuple(std::vector<Literal> values) {
  Literal literal;
  literal.kind = Kind::Tuple;
  literal.elements = std::move(values);
  return literal;
}

std::optional<int64_t> Literal::asInteger() const {
  if (kind == Kind::Int)
    return integer;
  if (kind == Kind::Bool)
    return boolean ? 1 : 0;
  return std::nullopt;
}

bool Literal::operator==(const Literal &other) const {
  if (kind != other.kind)
    return false;
  switch (kind) {
  case Kind::None:
    return true;
  case Kind::Bool:
    return boolean == other.boolean;
  case Kind::Int:
    return integer == other.integer;
  case Kind::Float:
    return real == other.real || (std::isnan(real) && std::isnan(other.real));
  case Kind::String:
  case Kind::DType:
  case Kind::Function:
    return text == other.text;
  case Kind::Tuple:
    return elements == other.elements;
  }
  return false;
}

/// The shortest decimal that reads back as `value`, with a '.' or an exponent.
static std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value)
      break;
  }
  StringRef text(buffer);
  return text.find_first_of(".e") == StringRef::npos ? (text + ".0").str() : text.str();
}

std::string Literal::str() const {
  switch (kind) {
  case Kind::None:
    return "None";
  case Kind::Bool:
    return boolean ? "True" : "False";
  case Kind::Int:
    return std::to_string(integer);
  case Kind::Float:
    return floatText(real);
  case Kind::String: {
    std::string out = "'";
    raw_string_ostream stream(out);
    printEscapedString(text, stream);
    return out + "'";
  }
  case Kind::DType:
  case Kind::Function:
    return text;
  case Kind::Tuple: {
    std::string out = "(";
    for (size_t i = 0; i < elements.size(); ++i)
      out += (i ? ", " : "") + elements[i].str();
    return out + (elements.size() == 1 ? ",)" : ")");
  }
  }
  return "";
}

} // namespace kiln
