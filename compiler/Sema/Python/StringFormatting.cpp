// Python's formatting of text: f-strings, str.format and the % operator.
//
// Kernels format more than messages: the text of inline assembly is often a template, so what is
// not understood is an error, never text that is left as it was.

#include "compiler/Sema/Python/StringFormatting.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kiln::sema {
namespace {

struct FormatSpec {
  char fill = ' ', align = 0, sign = '-', grouping = 0, type = 0;
  bool alternate = false;
  unsigned width = 0;
  std::optional<unsigned> precision;
};

constexpr unsigned maxWidth = 1000;

bool isAlignment(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::optional<FormatSpec> parseSpec(llvm::StringRef text) {
  FormatSpec spec;
  if (text.size() >= 2 && isAlignment(text[1])) {
    spec.fill = text[0];
    spec.align = text[1];
    text = text.drop_front(2);
  } else if (!text.empty() && isAlignment(text[0])) {
    spec.align = text[0];
    text = text.drop_front();
  }
  if (!text.empty() && llvm::StringRef("+- ").contains(text[0])) {
    spec.sign = text[0];
    text = text.drop_front();
  }
  spec.alternate = text.consume_front("#");
  if (text.starts_with("0")) {
    text = text.drop_front();
    if (!spec.align) {
      spec.fill = '0';
      spec.align = '=';
    }
  }
  text.consumeInteger(10, spec.width);
  if (!text.empty() && (text[0] == ',' || text[0] == '_')) {
    spec.grouping = text[0];
    text = text.drop_front();
  }
  if (text.consume_front(".")) {
    unsigned digits = 0;
    if (text.consumeInteger(10, digits))
      return std::nullopt;
    spec.precision = digits;
  }
  if (!text.empty()) {
    spec.type = text[0];
    text = text.drop_front();
  }
  if (!text.empty() || spec.width > maxWidth || spec.precision.value_or(0) > maxWidth)
    return std::nullopt;
  return spec;
}

/// Digits of a magnitude in base 2, 8, 10 or 16, in groups where wanted.
std::string digitsOf(unsigned __int128 magnitude, unsigned base, const FormatSpec &spec) {
  std::string digits;
  unsigned group = base == 10 ? 3 : 4, count = 0;
  do {
    if (spec.grouping && count && count % group == 0)
      digits += spec.grouping;
    digits += llvm::hexdigit(unsigned(magnitude % base), spec.type != 'X');
    magnitude /= base;
    ++count;
  } while (magnitude);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<std::string> integerDigits(Int value, const FormatSpec &spec, std::string &prefix) {
  unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  unsigned base = 10;
  switch (spec.type) {
  case 0:
  case 'd':
  case 'n':
    break;
  case 'x':
  case 'X':
    base = 16;
    break;
  case 'o':
    base = 8;
    break;
  case 'b':
    base = 2;
    break;
  default:
    return std::nullopt;
  }
  if (spec.alternate && base != 10)
    prefix = std::string("0") + spec.type;
  return digitsOf(magnitude, base, spec);
}

std::optional<std::string> realDigits(double magnitude, const FormatSpec &spec) {
  bool percent = spec.type == '%';
  char type = percent ? 'f' : spec.type;
  if (!type) {
    if (!spec.precision)
      return repr(Value::real(magnitude));
    type = 'g';
  }
  if (!llvm::StringRef("fFeEgG").contains(type) || spec.grouping)
    return std::nullopt;
  char pattern[] = {'%', '.', '*', type, 0};
  std::string buffer(maxWidth + 400, '\0');
  int length = snprintf(buffer.data(), buffer.size(), pattern, int(spec.precision.value_or(6)),
                        percent ? magnitude * 100 : magnitude);
  buffer.resize(size_t(length));
  // Without a type a number of the kind 4e0 keeps its point.
  if (!spec.type && llvm::StringRef(buffer).find_first_of(".en") == llvm::StringRef::npos)
    buffer += ".0";
  return percent ? buffer + "%" : buffer;
}

/// `text` behind `sign`, filled up to the width.
std::string padded(llvm::StringRef sign, llvm::StringRef text, const FormatSpec &spec,
                   char defaultAlign) {
  size_t length = sign.size() + text.size();
  size_t missing = spec.width > length ? spec.width - length : 0;
  char align = spec.align ? spec.align : defaultAlign;
  auto filled = [&](size_t count) { return std::string(count, spec.fill); };
  switch (align) {
  case '<':
    return (sign + text + filled(missing)).str();
  case '^':
    return (filled(missing / 2) + sign + text + filled(missing - missing / 2)).str();
  case '=':
    return (sign + filled(missing) + text).str();
  default:
    return (filled(missing) + sign + text).str();
  }
}

std::optional<std::string> formatNumber(const Value &value, const FormatSpec &spec) {
  bool isReal = value.is(ValueKind::Float) || llvm::StringRef("fFeEgG%").contains(spec.type);
  if (!spec.type)
    isReal = value.is(ValueKind::Float);
  bool negative = isReal ? std::signbit(value.getReal()) : value.getInt() < 0;
  std::string prefix = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  std::string radix;
  std::optional<std::string> digits = isReal ? realDigits(std::fabs(value.getReal()), spec)
                                             : integerDigits(value.getInt(), spec, radix);
  if (!digits)
    return std::nullopt;
  return padded(prefix + radix, *digits, spec, '>');
}

/// One field of str.format: `name.attribute[index]`, where the name is a number, a keyword or
/// empty.
class FieldFormatter {
public:
  FieldFormatter(PythonOperations &python, CodeRunner &code, llvm::ArrayRef<Value> args,
                 const Keywords &keywords)
      : python(python), code(code), args(args), keywords(keywords) {}

  std::optional<std::string> format(llvm::StringRef text);

private:
  std::optional<std::string> formatField(llvm::StringRef field);
  std::optional<Value> find(llvm::StringRef path);
  std::nullopt_t fail(const llvm::Twine &message) {
    return python.fail(DiagKind::SemaPython, message.str());
  }

  PythonOperations &python;
  CodeRunner &code;
  llvm::ArrayRef<Value> args;
  const Keywords &keywords;
  size_t next = 0;
  bool isInSpec = false;
};

std::optional<Value> FieldFormatter::find(llvm::StringRef path) {
  llvm::StringRef head = path.take_until([](char c) { return c == '.' || c == '['; });
  llvm::StringRef rest = path.drop_front(head.size());
  Value value;
  size_t index = next;
  if (head.empty() || !head.getAsInteger(10, index)) {
    next += head.empty();
    if (index >= args.size())
      return fail("format() has no argument " + llvm::Twine(index));
    value = args[index];
  } else {
    auto named =
        llvm::find_if(keywords, [&](const auto &keyword) { return keyword.first == head; });
    if (named == keywords.end())
      return fail("format() has no argument '" + head + "'");
    value = named->second;
  }
  while (!rest.empty() && !python.failed()) {
    if (rest.consume_front(".")) {
      llvm::StringRef name = rest.take_until([](char c) { return c == '.' || c == '['; });
      rest = rest.drop_front(name.size());
      value = code.getAttribute(value, name);
      continue;
    }
    llvm::StringRef key = rest.drop_front().split(']').first;
    rest = rest.drop_front(std::min(rest.size(), key.size() + 2));
    int64_t number = 0;
    bool isNumber = !key.getAsInteger(10, number);
    value = code.subscript(value, isNumber ? Value::integer(number) : Value::string(key));
  }
  return python.failed() ? std::nullopt : std::optional(value);
}

std::optional<std::string> FieldFormatter::formatField(llvm::StringRef field) {
  auto [target, spec] = field.split(':');
  auto [path, conversion] = target.split('!');
  std::optional<Value> value = find(path);
  if (!value)
    return std::nullopt;
  // As in Python, a specification has fields, and theirs have none.
  if (isInSpec && spec.contains('{'))
    return fail("format() meets fields in a field's specification, twice");
  isInSpec = true;
  std::optional<std::string> given = format(spec);
  isInSpec = false;
  if (!given)
    return std::nullopt;
  if (!conversion.empty() && conversion != "r" && conversion != "s")
    return fail("format() does not know the conversion '!" + conversion + "'");
  if (!conversion.empty())
    *value = Value::string(conversion == "r" ? repr(*value) : str(*value));
  return formatValue(python, *value, *given);
}

std::optional<std::string> FieldFormatter::format(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.consume_front("{{")) {
      result += '{';
      continue;
    }
    if (text.consume_front("}}")) {
      result += '}';
      continue;
    }
    if (text.front() == '}')
      return fail("format() meets a single '}'");
    if (text.front() != '{') {
      llvm::StringRef plain = text.take_until([](char c) { return c == '{' || c == '}'; });
      result += plain;
      text = text.drop_front(plain.size());
      continue;
    }
    size_t depth = 0, end = 0;
    do {
      depth += text[end] == '{';
      depth -= text[end] == '}';
      ++end;
    } while (depth && end < text.size());
    if (depth)
      return fail("format() meets a single '{'");
    std::optional<std::string> field = formatField(text.slice(1, end - 1));
    if (!field)
      return std::nullopt;
    result += *field;
    text = text.drop_front(end);
  }
  return result;
}

} // namespace

std::optional<std::string> formatValue(const Reporting &python, const Value &value,
                                       llvm::StringRef spec) {
  if (value.isTensor())
    return python.fail(DiagKind::SemaNotConstant, "a value in formatted text", describe(value));
  if (spec.empty())
    return str(value);
  std::optional<FormatSpec> parsed = parseSpec(spec);
  std::optional<std::string> result;
  if (parsed && value.isNumber() && parsed->type != 's')
    result = formatNumber(value, *parsed);
  else if (parsed && (!parsed->type || parsed->type == 's')) {
    std::string text = str(value);
    result = padded("", llvm::StringRef(text).take_front(parsed->precision.value_or(text.size())),
                    *parsed, '<');
  }
  if (!result)
    python.error(DiagKind::SemaPython, "'" + spec.str() + "' is no format of " + describe(value));
  return result;
}

Value formatFields(PythonOperations &python, CodeRunner &code, llvm::StringRef text,
                   llvm::ArrayRef<Value> args, const Keywords &keywords) {
  std::optional<std::string> result = FieldFormatter(python, code, args, keywords).format(text);
  return result ? Value::string(*result) : Value();
}

/// A conversion of the % operator as a specification: `%-08.3f` is `<8.3f`.
static std::string specOf(llvm::StringRef flags, llvm::StringRef size, char type) {
  std::string spec;
  bool isText = type == 's' || type == 'r';
  if (flags.contains('-'))
    spec += '<';
  else if (isText)
    spec += '>';
  spec += flags.contains('+') ? "+" : flags.contains(' ') ? " " : "";
  spec += flags.contains('#') ? "#" : "";
  spec += flags.contains('0') && !flags.contains('-') && !isText ? "0" : "";
  spec += size;
  return spec + (type == 'i' || type == 'u' ? 'd' : isText ? 's' : type);
}

Value formatPercent(PythonOperations &python, CodeRunner &code, llvm::StringRef text,
                    const Value &values) {
  llvm::SmallVector<Value> args{values};
  if (values.is(ValueKind::Tuple))
    args.assign(values.getElements().begin(), values.getElements().end());
  std::string result;
  size_t next = 0;
  while (!text.empty()) {
    llvm::StringRef plain = text.take_until([](char c) { return c == '%'; });
    result += plain;
    text = text.drop_front(plain.size());
    if (!text.consume_front("%"))
      break;
    if (text.consume_front("%")) {
      result += '%';
      continue;
    }
    std::optional<Value> value;
    if (text.consume_front("(")) {
      llvm::StringRef key = text.take_until([](char c) { return c == ')'; });
      text = text.drop_front(std::min(text.size(), key.size() + 1));
      value = code.subscript(values, Value::string(key));
      if (python.failed())
        return Value();
    }
    auto take = [&](llvm::StringRef characters) {
      llvm::StringRef taken = text.take_while([&](char c) { return characters.contains(c); });
      text = text.drop_front(taken.size());
      return taken;
    };
    llvm::StringRef flags = take("-+ #0"), size = take("0123456789.");
    if (text.empty() || !llvm::StringRef("diuxXofFeEgGsr").contains(text.front()))
      return python.error(DiagKind::SemaPython, "'%' is not followed by a conversion");
    char type = text.front();
    text = text.drop_front();
    if (!value && next >= args.size())
      return python.error(DiagKind::SemaPython, "too few values for the text before '%'");
    if (!value)
      value = args[next++];
    if (type == 'r')
      value = Value::string(repr(*value));
    if (value->is(ValueKind::Float) && llvm::StringRef("diu").contains(type)) {
      std::optional<Int> whole = python.wholeNumber(value->getReal());
      if (!whole)
        return Value();
      value = Value::integer(*whole);
    }
    std::optional<std::string> field = formatValue(python, *value, specOf(flags, size, type));
    if (!field)
      return Value();
    result += *field;
  }
  if (values.is(ValueKind::Tuple) && next < args.size())
    return python.error(DiagKind::SemaPython, "too many values for the text before '%'");
  return Value::string(result);
}

} // namespace kiln::sema
