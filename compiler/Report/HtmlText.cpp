#include "compiler/Report/HtmlText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace kiln {

std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char letter : llvm::json::fixUTF8(text)) {
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      if (static_cast<unsigned char>(letter) < ' ' && letter != '\n' && letter != '\t')
        result += "\xEF\xBF\xBD";
      else
        result += letter;
    }
  }
  return result;
}

std::string asId(llvm::StringRef text) {
  std::string result;
  for (char letter : text)
    result += llvm::isAlnum(letter) ? letter : '-';
  return result;
}

std::string withSeparators(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t place = digits.size(); place > 3;)
    digits.insert(place -= 3, ",");
  return digits;
}

std::string withDigits(double number, unsigned digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", int(digits), number);
  return text;
}

/// "1.23", "12.3", "123"
static std::string threeDigits(double number) {
  return withDigits(number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

std::string withPrefix(double number) {
  if (number < 1000)
    return number == std::floor(number) ? withDigits(number, 0) : threeDigits(number);
  llvm::StringRef prefixes = "kMGTP";
  size_t prefix = 0;
  for (number /= 1000; number >= 999.5 && prefix + 1 < prefixes.size(); ++prefix)
    number /= 1000;
  return threeDigits(number) + " " + prefixes[prefix];
}

std::string duration(double seconds) {
  static constexpr std::pair<double, llvm::StringLiteral> units[] = {
      {1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}};
  for (const auto &[unit, name] : units)
    if (seconds >= unit || unit == 1e-9)
      return threeDigits(seconds / unit) + name.str();
  return "";
}

} // namespace kiln
