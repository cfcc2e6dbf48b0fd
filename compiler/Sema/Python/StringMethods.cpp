// Methods of Python's strings.

#include "compiler/Sema/Python/PythonOperations.h"
#include "compiler/Sema/Python/StringFormatting.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <climits>

namespace kiln::sema {
namespace {

/// The parts of `self` between separators, at most `limit` cuts; of runs of white space without a
/// separator.
Value splitString(llvm::StringRef self, llvm::StringRef separator, int limit, bool fromEnd) {
  std::vector<Value> parts;
  bool isSpace = separator.empty();
  llvm::StringRef rest = isSpace ? self.trim() : self;
  while (limit-- != 0 && !(isSpace && rest.empty())) {
    llvm::StringRef cut = separator;
    size_t at = fromEnd ? rest.rfind(cut) : rest.find(cut);
    if (isSpace) {
      at = fromEnd ? rest.find_last_of(" \t\n\r\f\v") : rest.find_first_of(" \t\n\r\f\v");
      cut = " ";
    }
    if (at == llvm::StringRef::npos)
      break;
    llvm::StringRef before = rest.take_front(at), after = rest.drop_front(at + cut.size());
    parts.push_back(Value::string(fromEnd ? after : before));
    rest = fromEnd ? before : after;
    if (isSpace)
      rest = rest.trim();
  }
  if (!isSpace || !rest.empty())
    parts.push_back(Value::string(rest));
  if (fromEnd)
    std::reverse(parts.begin(), parts.end());
  return Value::list(parts);
}

/// Whether `self` begins (ends) with `wanted`, a string or a tuple of them.
bool hasAffix(llvm::StringRef self, const Value &wanted, bool atEnd) {
  if (wanted.isSequence())
    return llvm::any_of(wanted.getElements(),
                        [&](const Value &one) { return hasAffix(self, one, atEnd); });
  if (!wanted.isString())
    return false;
  return atEnd ? self.ends_with(wanted.getString()) : self.starts_with(wanted.getString());
}

/// Nothing is found in front of every letter, and at the end. Empty where the text gets too long.
std::optional<std::string> replaceIn(llvm::StringRef self, llvm::StringRef from,
                                     llvm::StringRef to) {
  std::string text;
  while (text.size() <= PythonOperations::longestText) {
    size_t at = self.find(from);
    if (at == llvm::StringRef::npos)
      return text + self.str();
    text += self.take_front(at).str() + to.str();
    self = self.drop_front(at + from.size());
    if (!from.empty())
      continue;
    if (self.empty())
      return text;
    text += self.front();
    self = self.drop_front();
  }
  return std::nullopt;
}

/// Methods that take nothing but text, and strip() and split(), which take None, too.
bool takesText(llvm::StringRef name, size_t index, const Value &value) {
  static constexpr llvm::StringLiteral all[] = {
      "find", "rfind", "index", "count", "replace", "removeprefix", "removesuffix", "partition"};
  if (llvm::is_contained(all, name))
    return value.isString();
  bool isFirst = name.ends_with("strip") || (name.ends_with("split") && index == 0);
  return !isFirst || value.isString() || value.isNone();
}

Value partitionString(llvm::StringRef self, llvm::StringRef separator) {
  size_t at = self.find(separator);
  bool found = at != llvm::StringRef::npos;
  return Value::tuple({Value::string(found ? self.take_front(at) : self),
                       Value::string(found ? separator : ""),
                       Value::string(found ? self.drop_front(at + separator.size()) : "")});
}

/// "Title", "Capitalize", "sWAPCASE" as the method's name says.
Value changeCase(llvm::StringRef self, llvm::StringRef name) {
  std::string text = self.str();
  bool inWord = false;
  for (char &c : text) {
    if (name == "swapcase")
      c = llvm::isUpper(c) ? llvm::toLower(c) : llvm::toUpper(c);
    else
      c = inWord ? llvm::toLower(c) : llvm::toUpper(c);
    inWord = name == "capitalize" || llvm::isAlpha(c);
  }
  return Value::string(text);
}

/// zfill, ljust and rjust.
Value pad(llvm::StringRef self, llvm::StringRef name, Int given, char filler) {
  bool isZeros = name == "zfill";
  Int width = std::min(given, Int(1) << 16);
  size_t missing = Int(self.size()) < width ? size_t(width) - self.size() : 0;
  std::string fill(missing, isZeros ? '0' : filler);
  bool hasSign = isZeros && (self.starts_with("-") || self.starts_with("+"));
  llvm::StringRef sign = self.take_front(hasSign ? 1 : 0), rest = self.drop_front(sign.size());
  return Value::string(name == "ljust" ? self.str() + fill : sign.str() + fill + rest.str());
}

/// isdigit, isalpha, isalnum, isupper and islower.
std::optional<bool> testLetters(llvm::StringRef self, llvm::StringRef name) {
  if (name == "isdigit")
    return !self.empty() && llvm::all_of(self, llvm::isDigit);
  if (name == "isalpha" || name == "isalnum")
    return !self.empty() && llvm::all_of(self, [&](char c) {
      return llvm::isAlpha(c) || (name == "isalnum" && llvm::isDigit(c));
    });
  if (name == "isupper" || name == "islower")
    return self.upper() != self.lower() &&
           self == (name == "isupper" ? self.upper() : self.lower());
  return std::nullopt;
}

/// lower, upper, strip, removeprefix and their like; empty for other methods.
std::optional<Value> changeText(llvm::StringRef self, llvm::StringRef name,
                                llvm::ArrayRef<Value> args, llvm::StringRef first,
                                llvm::StringRef second) {
  llvm::StringRef space = " \t\n\r\f\v", stripped = args.empty() ? space : first;
  if (name == "lower")
    return Value::string(self.lower());
  if (name == "upper")
    return Value::string(self.upper());
  if (name == "strip")
    return Value::string(self.trim(stripped));
  if (name == "lstrip")
    return Value::string(self.ltrim(stripped));
  if (name == "rstrip")
    return Value::string(self.rtrim(stripped));
  if (name == "removeprefix" || name == "removesuffix") {
    (void)(name == "removeprefix" ? self.consume_front(first) : self.consume_back(first));
    return Value::string(self);
  }
  if (name == "title" || name == "capitalize" || name == "swapcase")
    return changeCase(self, name);
  bool pads = name == "zfill" || name == "ljust" || name == "rjust";
  if (pads && args[0].isIntegral() && (args.size() == 1 || second.size() == 1))
    return pad(self, name, args[0].getInt(), args.size() > 1 ? second[0] : ' ');
  return std::nullopt;
}

} // namespace

Value PythonOperations::joinStrings(llvm::StringRef separator, const Value &parts) {
  std::string text;
  std::optional<std::vector<Value>> items = iterate(parts);
  for (auto [index, item] : llvm::enumerate(items.value_or(std::vector<Value>()))) {
    if (item.isOpaque())
      return notKnown(item);
    if (!item.isString())
      return error(DiagKind::SemaOperand, "join", describe(item));
    text += (index ? separator.str() : "") + str(item);
    if (text.size() > longestText)
      return error(DiagKind::SemaPython, "a sequence is too large");
  }
  return items ? Value::string(text) : Value();
}

/// `split(sep=None, maxsplit=-1)` and rsplit.
Value PythonOperations::splitMethod(llvm::StringRef self, llvm::StringRef name,
                                    llvm::ArrayRef<Value> args, const Keywords &keywords) {
  Value separator = args.empty() ? Value::none() : args[0];
  Value limit = args.size() > 1 ? args[1] : Value::integer(-1);
  for (const auto &[keyword, value] : keywords)
    if (keyword == "sep" || keyword == "maxsplit")
      (keyword == "sep" ? separator : limit) = value;
    else
      return Value();
  std::optional<Int> cuts = constantInt(limit, "maxsplit");
  if (!cuts || (!separator.isNone() && !separator.isString()))
    return Value();
  if (separator.isString() && separator.getString().empty())
    return error(DiagKind::SemaPython, "empty separator");
  return splitString(self, separator.isNone() ? "" : separator.getString(),
                     int(std::clamp(*cuts, Int(-1), Int(INT_MAX))), name == "rsplit");
}

Value PythonOperations::stringMethod(llvm::StringRef self, llvm::StringRef name,
                                     llvm::ArrayRef<Value> args, const Keywords &keywords) {
  auto argument = [&](size_t index) {
    return index < args.size() && args[index].isString() ? args[index].getString()
                                                         : llvm::StringRef();
  };
  auto position = [](size_t at) {
    return Value::integer(at == llvm::StringRef::npos ? Int(-1) : Int(at));
  };
  for (auto [index, value] : llvm::enumerate(args))
    if (!takesText(name, index, value))
      return Value();
  if (name == "format")
    return formatFields(*this, code, self, args, keywords);
  if (std::optional<Value> changed = changeText(self, name, args, argument(0), argument(1)))
    return *changed;
  if (std::optional<bool> answer = testLetters(self, name))
    return Value::boolean(*answer);
  if (name == "replace") {
    std::optional<std::string> text = replaceIn(self, argument(0), argument(1));
    return text ? Value::string(*text) : error(DiagKind::SemaPython, "a sequence is too large");
  }
  if (name == "startswith" || name == "endswith")
    return Value::boolean(hasAffix(self, args[0], name == "endswith"));
  if (name == "find")
    return position(self.find(argument(0)));
  if (name == "rfind")
    return position(self.rfind(argument(0)));
  if (name == "index") {
    size_t at = self.find(argument(0));
    return at == llvm::StringRef::npos ? error(DiagKind::SemaPython, "the substring is not there")
                                       : position(at);
  }
  if (name == "count")
    return Value::integer(argument(0).empty() ? Int(self.size()) + 1
                                              : Int(self.count(argument(0))));
  if (name == "split" || name == "rsplit")
    return splitMethod(self, name, args, keywords);
  if (name == "splitlines") {
    self.consume_back("\n");
    return self.empty() ? Value::list({}) : splitString(self, "\n", -1, false);
  }
  if (name == "partition" && !argument(0).empty())
    return partitionString(self, argument(0));
  return name == "join" ? joinStrings(self, args[0]) : Value();
}

} // namespace kiln::sema
