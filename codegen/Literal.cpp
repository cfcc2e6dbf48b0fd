//===- Literal.cpp - reading the literals of a signature ------------------===//
#include "codegen/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;

namespace kiln {

/// [+-] digits with a point or an exponent, as Python writes a float; no hexadecimal, no "inf".
static std::optional<double> parseFloat(StringRef text) {
  StringRef digits = text;
  if (!digits.consume_front("-"))
    digits.consume_front("+");
  if (digits.empty() || text.size() > 64 ||
      digits.find_first_not_of("0123456789.eE+-") != StringRef::npos ||
      digits.find_first_of("0123456789") == StringRef::npos ||
      digits.find_first_of(".eE") == StringRef::npos || digits[0] == 'e' || digits[0] == 'E')
    return std::nullopt;
  std::string owned = text.str();
  char *end = nullptr;
  double value = std::strtod(owned.c_str(), &end);
  return end == owned.c_str() + owned.size() ? std::optional<double>(value) : std::nullopt;
}

std::optional<Literal> parseLiteral(StringRef text) {
  text = text.trim();
  if (text == "True" || text == "False")
    return Literal::ofBool(text == "True");
  if (text == "None")
    return Literal::none();
  int64_t integer = 0;
  bool hasPlus = text.starts_with("+") && !text.starts_with("+-");
  if (!text.drop_front(hasPlus).getAsInteger(10, integer))
    return Literal::ofInt(integer);
  if (std::optional<double> real = parseFloat(text))
    return Literal::ofFloat(*real);
  bool isQuoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  if (isQuoted)
    return Literal::ofString(text.drop_front().drop_back().str());
  return std::nullopt;
}

} // namespace kiln
