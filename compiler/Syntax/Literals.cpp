// Number and string literals, by the rules of Python's language reference (sections 2.4 and 2.5 of
// "Lexical analysis").
#include "compiler/Syntax/Literals.h"

#include "compiler/Syntax/Characters.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Unicode.h"

#include <optional>

namespace kiln {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isDigitOrUnderscore(char c) { return llvm::isDigit(c) || c == '_'; }

/// 16, 8 or 2 for a literal with a prefix, else 10.
static unsigned getRadix(llvm::StringRef text) {
  if (text.size() < 2 || text[0] != '0')
    return 10;
  switch (llvm::toLower(text[1])) {
  case 'x':
    return 16;
  case 'o':
    return 8;
  case 'b':
    return 2;
  default:
    return 10;
  }
}

size_t getNumberLength(llvm::StringRef text) {
  if (unsigned radix = getRadix(text); radix != 10) {
    auto isDigit = [&](char c) {
      return radix == 16 ? c == '_' || llvm::isHexDigit(c) : isDigitOrUnderscore(c);
    };
    return 2 + text.drop_front(2).take_while(isDigit).size();
  }
  llvm::StringRef rest = text.drop_while(isDigitOrUnderscore);
  if (rest.consume_front("."))
    rest = rest.drop_while(isDigitOrUnderscore);
  if (rest.starts_with_insensitive("e")) {
    llvm::StringRef exponent = rest.drop_front();
    if (exponent.starts_with("+") || exponent.starts_with("-"))
      exponent = exponent.drop_front();
    if (!exponent.empty() && llvm::isDigit(exponent.front()))
      rest = exponent.drop_while(isDigitOrUnderscore);
  }
  if (rest.starts_with_insensitive("j"))
    rest = rest.drop_front();
  return text.size() - rest.size();
}

/// Underscores may stand between digits only, and after a radix prefix.
static bool hasMisplacedUnderscore(llvm::StringRef literal) {
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '_')
      continue;
    bool isAfterPrefix = i == 2 && getRadix(literal) != 10;
    bool isAfterDigit = i > 0 && llvm::isHexDigit(literal[i - 1]);
    bool isBeforeDigit = i + 1 < literal.size() && llvm::isHexDigit(literal[i + 1]);
    if (!isBeforeDigit || !(isAfterDigit || isAfterPrefix))
      return true;
  }
  return false;
}

static NumberValue evaluateInteger(const std::string &digits, unsigned radix) {
  if (digits.empty())
    return InvalidNumber{"digits are missing"};
  bool isZero = llvm::all_of(digits, [](char c) { return c == '0'; });
  if (radix == 10 && digits.front() == '0' && !isZero)
    return InvalidNumber{"write an octal number with the prefix 0o"};
  llvm::APInt value;
  if (llvm::StringRef(digits).getAsInteger(radix, value))
    return InvalidNumber{"digits of base " + std::to_string(radix) + " end at " +
                         std::to_string(radix - 1)};
  return value;
}

static double evaluateFloat(const std::string &digits) {
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  auto status = value.convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return 0;
  }
  return value.convertToDouble();
}

NumberValue evaluateNumber(llvm::StringRef literal) {
  if (hasMisplacedUnderscore(literal))
    return InvalidNumber{"underscores stand between digits only"};
  std::string digits = literal.str();
  llvm::erase(digits, '_');
  if (digits.size() > maxNumberDigits)
    return InvalidNumber{"a number has at most " + std::to_string(maxNumberDigits) + " digits"};
  unsigned radix = getRadix(digits);
  if (radix != 10)
    return evaluateInteger(digits.substr(2), radix);
  if (llvm::toLower(digits.back()) == 'j') {
    digits.pop_back();
    return ImaginaryValue{evaluateFloat(digits)};
  }
  if (digits.find_first_of(".eE") != std::string::npos)
    return FloatValue{evaluateFloat(digits)};
  return evaluateInteger(digits, 10);
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

StringParts splitString(llvm::StringRef token) {
  StringParts parts;
  size_t prefixLength = token.find_first_of("'\"");
  llvm::StringRef prefix = token.take_front(prefixLength);
  parts.isRaw = prefix.contains_insensitive('r');
  parts.isBytes = prefix.contains_insensitive('b');
  llvm::StringRef rest = token.drop_front(prefixLength);
  bool isTriple = rest.starts_with("'''") || rest.starts_with("\"\"\"");
  size_t quotes = isTriple && rest.size() >= 6 ? 3 : 1;
  parts.body = rest.drop_front(quotes).drop_back(quotes);
  return parts;
}

namespace {
/// Resolves the escapes of one literal.
class EscapeDecoder {
public:
  EscapeDecoder(llvm::StringRef body, bool isBytes, std::string &out)
      : body(body), isBytes(isBytes), out(out) {}

  InvalidEscape run(bool isRaw);

private:
  void decodeEscape();
  void decodeOctal();
  void decodeHex(size_t numDigits);
  void decodeName();
  void append(uint32_t value) {
    if (isBytes)
      out += static_cast<char>(value);
    else
      appendUtf8(out, value);
  }
  void fail(size_t length, llvm::StringRef reason) {
    if (error.reason.empty())
      error = {pos, std::min(length, body.size() - pos), reason.str()};
  }

  llvm::StringRef body;
  bool isBytes;
  std::string &out;
  size_t pos = 0; // Of the backslash while an escape is decoded.
  InvalidEscape error = {0, 0, ""};
};
} // namespace

InvalidEscape EscapeDecoder::run(bool isRaw) {
  while (pos < body.size()) {
    char c = body[pos];
    if (c == '\r') {
      out += '\n';
      pos += body.substr(pos).starts_with("\r\n") ? 2 : 1;
    } else if (c == '\\' && !isRaw && pos + 1 < body.size()) {
      decodeEscape();
    } else {
      size_t begin = pos++;
      while (pos < body.size() && body[pos] != '\r' && body[pos] != '\\')
        ++pos;
      out.append(body.data() + begin, pos - begin);
    }
  }
  return error;
}

void EscapeDecoder::decodeEscape() {
  // Each letter is followed by what it stands for.
  static constexpr llvm::StringLiteral simple = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
  char c = body[pos + 1];
  for (size_t i = 0; i < simple.size(); i += 2) {
    if (simple[i] != c)
      continue;
    out += simple[i + 1];
    pos += 2;
    return;
  }
  if (c == '\n' || c == '\r')
    pos += body.substr(pos + 1).starts_with("\r\n") ? 3 : 2;
  else if (c >= '0' && c <= '7')
    decodeOctal();
  else if (c == 'x')
    decodeHex(2);
  else if (c == 'u' && !isBytes)
    decodeHex(4);
  else if (c == 'U' && !isBytes)
    decodeHex(8);
  else if (c == 'N' && !isBytes)
    decodeName();
  else
    out += body[pos++]; // Not an escape; the backslash stays.
}

void EscapeDecoder::decodeOctal() {
  uint32_t value = 0;
  size_t end = pos + 1;
  for (; end < body.size() && end < pos + 4 && body[end] >= '0' && body[end] <= '7'; ++end)
    value = value * 8 + static_cast<uint32_t>(body[end] - '0');
  append(isBytes ? value & 0xFF : value);
  pos = end;
}

void EscapeDecoder::decodeHex(size_t numDigits) {
  llvm::StringRef digits = body.substr(pos + 2, numDigits);
  uint32_t value = 0;
  if (digits.size() < numDigits || digits.getAsInteger(16, value) ||
      !llvm::all_of(digits, llvm::isHexDigit))
    fail(2 + digits.size(), "it needs " + std::to_string(numDigits) + " hexadecimal digits");
  else if (value > 0x10FFFF)
    fail(2 + numDigits, "the largest character is \\U0010ffff");
  else
    append(value);
  pos += 2 + digits.size();
}

void EscapeDecoder::decodeName() {
  llvm::StringRef rest = body.substr(pos + 2);
  size_t close = rest.starts_with("{") ? rest.find('}') : llvm::StringRef::npos;
  if (close == llvm::StringRef::npos) {
    fail(2, "write \\N{name of the character}");
    pos += 2;
    return;
  }
  llvm::StringRef name = rest.slice(1, close);
  std::optional<char32_t> value = llvm::sys::unicode::nameToCodepointStrict(name.upper());
  if (value)
    append(static_cast<uint32_t>(*value));
  else
    fail(3 + close, "there is no character of that name");
  pos += 3 + close;
}

InvalidEscape decodeStringBody(llvm::StringRef body, bool isRaw, bool isBytes, std::string &out) {
  return EscapeDecoder(body, isBytes, out).run(isRaw);
}

} // namespace kiln
