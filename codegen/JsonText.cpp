//===- JsonText.cpp - JSON that remembers where it stood ------------------===//
#include "codegen/JsonText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace llvm;

namespace kiln {

const JsonMember *JsonValue::find(StringRef key) const {
  for (const JsonMember &member : members)
    if (member.key == key)
      return &member;
  return nullptr;
}

std::string JsonValue::describe() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Bool:
    return boolean ? "true" : "false";
  case Kind::Integer:
    return "integer " + std::to_string(integer);
  case Kind::Real:
    return formatv("number {0}", real).str();
  case Kind::String:
    return "string " + (text.size() > 40 ? jsonQuote(text.substr(0, 40)) + "..." : jsonQuote(text));
  case Kind::Array:
    return elements.empty() ? "an empty list" : "a list";
  case Kind::Object:
    return "an object";
  }
  return "";
}

namespace {

constexpr unsigned kMaxDepth = 64;

class JsonParser {
public:
  JsonParser(StringRef text, std::vector<JsonError> &errors) : text(text), errors(errors) {}

  std::optional<JsonValue> parse() {
    JsonValue root;
    text.starts_with("\xEF\xBB\xBF") ? void(at = 3) : void();
    if (!parseValue(root, 0))
      return std::nullopt;
    skipSpace();
    if (at < text.size()) {
      fail(at, at + 1, "expected the end of the file");
      return std::nullopt;
    }
    return root;
  }

private:
  StringRef text;
  std::vector<JsonError> &errors;
  size_t at = 0;

  void skipSpace() {
    while (at < text.size() && StringRef(" \t\r\n").contains(text[at]))
      ++at;
  }

  char peek() const { return at < text.size() ? text[at] : '\0'; }

  bool consume(StringRef token) {
    if (!text.substr(at).starts_with(token))
      return false;
    at += token.size();
    return true;
  }

  bool fail(size_t begin, size_t end, std::string message,
            JsonError::Kind kind = JsonError::Kind::Syntax) {
    JsonError error;
    error.kind = kind;
    error.begin = std::min(begin, text.size());
    error.end = std::min(std::max(begin, end), text.size());
    error.message = std::move(message);
    errors.push_back(std::move(error));
    return false;
  }

  bool expected(StringRef what) {
    std::string got = at >= text.size()   ? "the end of the file"
                      : isPrint(text[at]) ? "'" + std::string(1, text[at]) + "'"
                                          : formatv("byte {0:x}", uint8_t(text[at])).str();
    return fail(at, at + 1, formatv("expected {0}, got {1}", what, got).str());
  }

  bool parseValue(JsonValue &value, unsigned depth) {
    skipSpace();
    value.begin = at;
    if (depth > kMaxDepth)
      return fail(at, at + 1, std::to_string(kMaxDepth), JsonError::Kind::TooDeep);
    bool good = parseBody(value, depth);
    value.end = at;
    return good;
  }

  bool parseBody(JsonValue &value, unsigned depth) {
    char c = peek();
    if (c == '{')
      return parseObject(value, depth);
    if (c == '[')
      return parseArray(value, depth);
    if (c == '"') {
      value.kind = JsonValue::Kind::String;
      return parseString(value.text);
    }
    if (parseWord(value))
      return true;
    if (c == '-' || isDigit(c))
      return parseNumber(value);
    return expected("a JSON value");
  }

  bool parseWord(JsonValue &value) {
    if (consume("true") || consume("false")) {
      value.kind = JsonValue::Kind::Bool;
      value.boolean = text[at - 2] == 'u';
      return true;
    }
    if (consume("null"))
      return true;
    double infinity = std::numeric_limits<double>::infinity();
    double real = consume("NaN")         ? std::numeric_limits<double>::quiet_NaN()
                  : consume("Infinity")  ? infinity
                  : consume("-Infinity") ? -infinity
                                         : 0;
    if (real == 0)
      return false;
    value.kind = JsonValue::Kind::Real;
    value.real = real;
    return true;
  }

  bool parseNumber(JsonValue &value) {
    size_t begin = at;
    consume("-");
    bool hasLeadingZero = peek() == '0';
    size_t digits = at;
    while (isDigit(peek()))
      ++at;
    if (at == digits || (hasLeadingZero && at - digits > 1))
      return fail(begin, at, "expected a number without leading zeros");
    bool isReal = false;
    if (consume(".")) {
      isReal = true;
      if (!isDigit(peek()))
        return expected("a digit after the point");
      while (isDigit(peek()))
        ++at;
    }
    if (peek() == 'e' || peek() == 'E') {
      isReal = true;
      ++at;
      if (peek() == '+' || peek() == '-')
        ++at;
      if (!isDigit(peek()))
        return expected("a digit in the exponent");
      while (isDigit(peek()))
        ++at;
    }
    StringRef spelling = text.slice(begin, at);
    if (!isReal) {
      value.kind = JsonValue::Kind::Integer;
      if (spelling.getAsInteger(10, value.integer))
        return fail(begin, at, "a 64-bit signed integer", JsonError::Kind::BadNumber);
      return true;
    }
    value.kind = JsonValue::Kind::Real;
    value.real = std::strtod(spelling.str().c_str(), nullptr);
    if (std::isinf(value.real))
      return fail(begin, at, "a 64-bit float", JsonError::Kind::BadNumber);
    return true;
  }

  bool parseString(std::string &out) {
    size_t begin = at++;
    while (true) {
      if (at >= text.size())
        return fail(begin, begin + 1, "expected a closing quote");
      unsigned char c = static_cast<unsigned char>(text[at]);
      if (c == '"') {
        ++at;
        return true;
      }
      if (c < 0x20)
        return fail(at, at + 1, "expected no control character inside a string");
      if (c == '\\') {
        if (!parseEscape(out))
          return false;
      } else if (!copyCharacter(out)) {
        return false;
      }
    }
  }

  /// One UTF-8 character, checked.
  bool copyCharacter(std::string &out) {
    const auto *source = reinterpret_cast<const UTF8 *>(text.data()) + at;
    unsigned bytes = getNumBytesForUTF8(*source);
    const auto *end = reinterpret_cast<const UTF8 *>(text.data()) + text.size();
    if (!isLegalUTF8Sequence(source, end))
      return fail(at, at + 1, "UTF-8", JsonError::Kind::BadEncoding);
    out.append(text.data() + at, bytes);
    at += bytes;
    return true;
  }

  bool parseEscape(std::string &out) {
    size_t begin = at++;
    char c = peek();
    size_t known = StringRef("\"\\/bfnrt").find(c);
    if (at < text.size() && known != StringRef::npos) {
      out += "\"\\/\b\f\n\r\t"[known];
      ++at;
      return true;
    }
    uint32_t code = 0, low = 0;
    if (c != 'u' || !parseHex(code))
      return fail(begin, at + 1, "expected a JSON escape");
    if (code >= 0xD800 && code < 0xDC00 && peek() == '\\') {
      ++at;
      if (peek() != 'u' || !parseHex(low) || low < 0xDC00 || low > 0xDFFF)
        return fail(begin, at, "expected the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000)
      return fail(begin, at, "expected the second half of a surrogate pair");
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
    char *end = buffer;
    ConvertCodePointToUTF8(code, end);
    out.append(buffer, end);
    return true;
  }

  bool parseHex(uint32_t &code) {
    StringRef digits = text.substr(at + 1, 4);
    if (digits.size() < 4 || !llvm::all_of(digits, isHexDigit) || digits.getAsInteger(16, code))
      return false;
    at += 5;
    return true;
  }

  bool parseArray(JsonValue &value, unsigned depth) {
    value.kind = JsonValue::Kind::Array;
    ++at;
    skipSpace();
    if (consume("]"))
      return true;
    while (true) {
      value.elements.emplace_back();
      if (!parseValue(value.elements.back(), depth + 1))
        return false;
      skipSpace();
      if (consume("]"))
        return true;
      if (!consume(","))
        return expected("',' or ']'");
    }
  }

  bool parseObject(JsonValue &value, unsigned depth) {
    value.kind = JsonValue::Kind::Object;
    StringMap<size_t> known;
    ++at;
    skipSpace();
    if (consume("}"))
      return true;
    while (true) {
      skipSpace();
      JsonMember member;
      member.keyBegin = at;
      if (peek() != '"')
        return expected("a key in quotes");
      if (!parseString(member.key))
        return false;
      member.keyEnd = at;
      skipSpace();
      if (!consume(":"))
        return expected("':'");
      if (!parseValue(member.value, depth + 1))
        return false;
      addMember(value, known, std::move(member));
      skipSpace();
      if (consume("}"))
        return true;
      if (!consume(","))
        return expected("',' or '}'");
    }
  }

  void addMember(JsonValue &object, StringMap<size_t> &known, JsonMember member) {
    auto [entry, isNew] = known.try_emplace(member.key, object.members.size());
    if (isNew) {
      object.members.push_back(std::move(member));
      return;
    }
    const JsonMember &first = object.members[entry->second];
    fail(member.keyBegin, member.keyEnd, member.key, JsonError::Kind::DuplicateKey);
    errors.back().firstBegin = first.keyBegin;
    errors.back().firstEnd = first.keyEnd;
  }
};

} // namespace

std::optional<JsonValue> parseJson(StringRef text, std::vector<JsonError> &errors) {
  return JsonParser(text, errors).parse();
}

size_t offsetInJsonString(StringRef json, const JsonValue &string, size_t index) {
  size_t at = string.begin + 1, decoded = 0, last = string.end ? string.end - 1 : 0;
  while (decoded < index && at < last) {
    if (json[at] != '\\') {
      ++at;
      ++decoded;
      continue;
    }
    bool isUnicode = json[at + 1] == 'u';
    uint32_t code = 0;
    if (isUnicode)
      json.substr(at + 2, 4).getAsInteger(16, code);
    bool isPair = code >= 0xD800 && code < 0xDC00;
    at += isPair ? 12 : isUnicode ? 6 : 2;
    decoded += !isUnicode || code < 0x80 ? 1 : isPair ? 4 : code < 0x800 ? 2 : 3;
  }
  return std::min(at, last);
}

std::string jsonQuote(StringRef text) {
  std::string out = "\"";
  while (!text.empty()) {
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += formatv("\\u{0:x-4}", unsigned(c)).str();
    } else {
      out += char(c);
    }
    text = text.drop_front();
  }
  return out + "\"";
}

} // namespace kiln
