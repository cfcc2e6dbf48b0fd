// Methods of Python's strings, lists, dicts and numbers, and of dtypes; f-strings.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/StringFormatting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>

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

Value replaceIn(llvm::StringRef self, llvm::StringRef from, llvm::StringRef to) {
  std::string text = self.str();
  if (!from.empty())
    for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to.str());
  return Value::string(text);
}

Value partitionString(llvm::StringRef self, llvm::StringRef separator) {
  size_t at = self.find(separator);
  bool found = at != llvm::StringRef::npos;
  return Value::tuple({Value::string(found ? self.take_front(at) : self),
                       Value::string(found ? separator : ""),
                       Value::string(found ? self.drop_front(at + separator.size()) : "")});
}

Value stringMethod(Evaluator &evaluator, llvm::StringRef self, llvm::StringRef name,
                   llvm::ArrayRef<Value> args, const Keywords &keywords) {
  auto argument = [&](size_t index) {
    return index < args.size() && args[index].isString() ? args[index].getString()
                                                         : llvm::StringRef();
  };
  auto position = [](size_t at) {
    return Value::integer(at == llvm::StringRef::npos ? Int(-1) : Int(at));
  };
  llvm::StringRef space = " \t\n\r\f\v", stripped = args.empty() ? space : argument(0);
  if (name == "format")
    return formatFields(evaluator, self, args, keywords);
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
  if ((name == "startswith" || name == "endswith") && !args.empty())
    return Value::boolean(hasAffix(self, args[0], name == "endswith"));
  if (name == "removeprefix" || name == "removesuffix") {
    (void)(name == "removeprefix" ? self.consume_front(argument(0))
                                  : self.consume_back(argument(0)));
    return Value::string(self);
  }
  if (name == "find")
    return position(self.find(argument(0)));
  if (name == "rfind")
    return position(self.rfind(argument(0)));
  if (name == "count")
    return Value::integer(argument(0).empty() ? Int(0) : Int(self.count(argument(0))));
  if (name == "isdigit")
    return Value::boolean(!self.empty() && llvm::all_of(self, llvm::isDigit));
  if (name == "replace" && args.size() == 2)
    return replaceIn(self, argument(0), argument(1));
  if (name == "split" || name == "rsplit") {
    int limit = args.size() > 1 && args[1].isIntegral() ? int(args[1].getInt()) : -1;
    for (const auto &[keyword, value] : keywords)
      if (keyword == "maxsplit" && value.isIntegral())
        limit = int(value.getInt());
    return splitString(self, argument(0), limit, name == "rsplit");
  }
  if (name == "splitlines") {
    self.consume_back("\n");
    return self.empty() ? Value::list({}) : splitString(self, "\n", -1, false);
  }
  if (name == "partition" && !argument(0).empty())
    return partitionString(self, argument(0));
  if (name == "join" && args.size() == 1) {
    std::string text;
    std::optional<std::vector<Value>> items = evaluator.iterate(args[0]);
    for (auto [index, item] : llvm::enumerate(items.value_or(std::vector<Value>()))) {
      if (item.isOpaque())
        return evaluator.notKnown(item);
      if (!item.isString())
        return evaluator.error(DiagKind::SemaOperand, "join", describe(item));
      text += (index ? self.str() : "") + str(item);
    }
    return items ? Value::string(text) : Value();
  }
  if (name == "title" || name == "capitalize" || name == "swapcase") {
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
  if (name == "index") {
    size_t at = self.find(argument(0));
    return at == llvm::StringRef::npos
               ? evaluator.error(DiagKind::SemaPython, "the substring is not there")
               : position(at);
  }
  if ((name == "zfill" || name == "ljust" || name == "rjust") && !args.empty() &&
      args[0].isIntegral()) {
    Int width = std::min(args[0].getInt(), Int(1) << 16);
    size_t missing = Int(self.size()) < width ? size_t(width) - self.size() : 0;
    std::string fill(missing, name == "zfill" ? '0' : args.size() > 1 ? argument(1)[0] : ' ');
    bool hasSign = name == "zfill" && (self.starts_with("-") || self.starts_with("+"));
    llvm::StringRef sign = self.take_front(hasSign ? 1 : 0), rest = self.drop_front(sign.size());
    return Value::string(name == "ljust" ? self.str() + fill : sign.str() + fill + rest.str());
  }
  if (name == "isalpha" || name == "isalnum")
    return Value::boolean(!self.empty() && llvm::all_of(self, [&](char c) {
      return llvm::isAlpha(c) || (name == "isalnum" && llvm::isDigit(c));
    }));
  if (name == "isupper" || name == "islower")
    return Value::boolean(self.upper() != self.lower() &&
                          self == (name == "isupper" ? self.upper() : self.lower()));
  return Value();
}

/// Where `value` stands in the elements.
auto findElement(std::vector<Value> &elements, const Value &value) {
  return llvm::find_if(elements, [&](const Value &element) {
    return element.sharesObject(value) || isEqual(element, value).value_or(false);
  });
}

/// Methods that make one set of several, or change one so.
Value setMethod(Evaluator &evaluator, const Value &self, llvm::StringRef name,
                llvm::ArrayRef<Value> args) {
  std::vector<Value> &elements = self.getElements();
  if (name == "clear")
    return elements.clear(), Value::none();
  if (name == "copy")
    return {ValueKind::Set, std::make_shared<SequenceObject>(self.as<SequenceObject>())};
  if ((name == "add" || name == "discard" || name == "remove") && args.size() == 1) {
    auto at = findElement(elements, args[0]);
    if (name == "remove" && at == elements.end())
      return evaluator.error(DiagKind::SemaPython, "key " + repr(args[0]) + " is not in the dict");
    if (name == "add" && at == elements.end())
      elements.push_back(args[0]);
    else if (name != "add" && at != elements.end())
      elements.erase(at);
    return Value::none();
  }
  Value result(ValueKind::Set, std::make_shared<SequenceObject>(self.as<SequenceObject>()));
  bool isTest = name.starts_with("is");
  for (const Value &arg : args) {
    Value other = evaluator.call(Value::builtin(*findBuiltin(Library::Python, "set")), {arg}, {});
    if (evaluator.failed())
      return Value();
    if (name == "isdisjoint")
      return Value::boolean(
          evaluator.binary(ast::BinaryOp::BitAnd, self, other).getElements().empty());
    if (isTest)
      return evaluator.compare(name == "issubset" ? ast::CompareOp::LessEqual
                                                  : ast::CompareOp::GreaterEqual,
                               self, other);
    ast::BinaryOp op = name == "union" || name == "update" ? ast::BinaryOp::BitOr
                       : name.starts_with("intersection")  ? ast::BinaryOp::BitAnd
                       : name.starts_with("symmetric")     ? ast::BinaryOp::BitXor
                                                           : ast::BinaryOp::Sub;
    result = evaluator.binary(op, result, other);
  }
  if (!name.ends_with("update"))
    return result;
  elements = result.getElements();
  return Value::none();
}

Value listMethod(Evaluator &evaluator, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Value> args, const Keywords &keywords) {
  if (self.is(ValueKind::Set))
    return setMethod(evaluator, self, name, args);
  std::vector<Value> &elements = self.getElements();
  if (name == "index" && !args.empty()) {
    auto at = findElement(elements, args[0]);
    return at == elements.end()
               ? evaluator.error(DiagKind::SemaPython, "the value is not in the list")
               : Value::integer(Int(at - elements.begin()));
  }
  if (name == "count")
    return Value::integer(Int(llvm::count_if(elements, [&](const Value &element) {
      return !args.empty() && isEqual(element, args[0]).value_or(false);
    })));
  if (name == "copy")
    return Value::list(elements);
  if (name == "clear")
    return elements.clear(), Value::none();
  if (name == "append" && args.size() == 1) {
    elements.push_back(args[0]);
    return Value::none();
  }
  if (name == "extend" && args.size() == 1) {
    std::optional<std::vector<Value>> items = evaluator.iterate(args[0]);
    constexpr size_t longest = 1 << 20;
    if (items && elements.size() + items->size() > longest)
      return evaluator.error(DiagKind::SemaPython, "a sequence is too large");
    if (items)
      elements.insert(elements.end(), items->begin(), items->end());
    return Value::none();
  }
  if (name == "remove" && args.size() == 1) {
    auto at = findElement(elements, args[0]);
    if (at == elements.end())
      return evaluator.error(DiagKind::SemaPython, "the value is not in the list");
    elements.erase(at);
    return Value::none();
  }
  if ((name == "insert" && args.size() == 2) || name == "pop") {
    Value place = args.empty() ? Value::integer(-1) : args[0];
    std::optional<Int> given = evaluator.constantInt(place, "an index");
    if (!given)
      return Value();
    Int size = Int(elements.size()), at = *given < 0 ? *given + size : *given;
    if (name == "insert") {
      elements.insert(elements.begin() + std::clamp(at, Int(0), size), args[1]);
      return Value::none();
    }
    if (at < 0 || at >= size)
      return evaluator.error(DiagKind::SemaPython, "pop from a list of " + toString(size) +
                                                       " elements at " + toString(*given));
    Value taken = elements[size_t(at)];
    elements.erase(elements.begin() + at);
    return taken;
  }
  if (name == "sort" || name == "reverse") {
    Value sorted = evaluator.call(
        Value::builtin(*findBuiltin(Library::Python, name == "sort" ? "sorted" : "reversed")),
        {self}, keywords);
    std::optional<std::vector<Value>> items =
        evaluator.failed() ? std::nullopt : evaluator.iterate(sorted);
    if (items)
      elements = std::move(*items);
    return Value::none();
  }
  return Value();
}

Value dictMethod(Evaluator &evaluator, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Value> args, const Keywords &keywords) {
  auto &items = self.as<DictObject>().items;
  std::vector<Value> result;
  if (name == "clear")
    return items.clear(), Value::none();
  if (name == "popitem") {
    if (items.empty())
      return evaluator.error(DiagKind::SemaPython, "key 'last' is not in the dict");
    Value last = Value::tuple({items.back().first, items.back().second});
    items.pop_back();
    return last;
  }
  if (name == "get" || name == "pop" || name == "setdefault") {
    for (auto at = items.begin(); at != items.end(); ++at)
      if (!args.empty() && isEqual(at->first, args[0]).value_or(false)) {
        Value value = at->second;
        if (name == "pop")
          items.erase(at);
        return value;
      }
    if (name == "pop" && args.size() == 1)
      return evaluator.error(DiagKind::SemaPython, "key " + repr(args[0]) + " is not in the dict");
    Value missing = args.size() > 1 ? args[1] : Value::none();
    if (name == "setdefault" && !args.empty())
      items.emplace_back(args[0], missing);
    return missing;
  }
  if (name == "update") {
    auto set = [&](const Value &key, const Value &value) {
      for (auto &item : items)
        if (isEqual(item.first, key).value_or(false)) {
          item.second = value;
          return;
        }
      items.emplace_back(key, value);
    };
    if (!args.empty()) {
      Value given =
          evaluator.call(Value::builtin(*findBuiltin(Library::Python, "dict")), {args[0]}, {});
      if (evaluator.failed())
        return Value();
      for (const auto &[key, value] : given.as<DictObject>().items)
        set(key, value);
    }
    for (const auto &[key, value] : keywords)
      set(Value::string(key), value);
    return Value::none();
  }
  for (const auto &[key, value] : items)
    result.push_back(name == "keys" ? key : name == "values" ? value : Value::tuple({key, value}));
  if (name == "copy") {
    auto copy = std::make_shared<DictObject>();
    copy->items = items;
    return {ValueKind::Dict, copy};
  }
  return Value::list(result);
}

/// Methods of named tuples.
Value recordMethod(const Value &self, llvm::StringRef name, const Keywords &keywords) {
  const auto &record = self.as<SequenceObject>();
  auto copy = std::make_shared<SequenceObject>(record);
  auto dict = std::make_shared<DictObject>();
  for (auto [field, element] : llvm::zip(record.fields, copy->elements)) {
    for (const auto &[keyword, value] : keywords)
      if (keyword == field)
        element = value;
    dict->items.emplace_back(Value::string(field), element);
  }
  return name == "_asdict" ? Value(ValueKind::Dict, dict) : Value(ValueKind::Tuple, copy);
}

Value typeMethod(const TensorType &type, llvm::StringRef name, llvm::ArrayRef<Value> args) {
  DType dtype = type.dtype;
  if (name == "get_block_shapes") {
    std::vector<Value> extents;
    for (int64_t extent : type.shape)
      extents.push_back(Value::integer(extent));
    return Value::tuple(extents);
  }
  if (name == "get_int_max_value")
    return Value::integer(dtype.getMax());
  if (name == "get_int_min_value")
    return Value::integer(dtype.getMin());
  if (name == "with_element_ty" && args.size() == 1 && args[0].is(ValueKind::Type))
    return Value::type(type.with(args[0].getType().dtype));
  return Value::boolean(type.answer(name).value_or(false));
}

constexpr llvm::StringLiteral stringMethods[] = {
    "lower",        "upper",        "strip",   "lstrip",  "rstrip",  "startswith", "endswith",
    "removeprefix", "removesuffix", "find",    "rfind",   "replace", "split",      "rsplit",
    "splitlines",   "join",         "count",   "isdigit", "format",  "partition",  "title",
    "capitalize",   "index",        "zfill",   "ljust",   "rjust",   "isalpha",    "isalnum",
    "isupper",      "islower",      "swapcase"};
constexpr llvm::StringLiteral listMethods[] = {"append", "extend", "pop",  "index",
                                               "count",  "copy",   "sort", "reverse",
                                               "insert", "remove", "clear"};
constexpr llvm::StringLiteral setMethods[] = {"add",
                                              "discard",
                                              "remove",
                                              "clear",
                                              "copy",
                                              "update",
                                              "union",
                                              "intersection",
                                              "difference",
                                              "symmetric_difference",
                                              "intersection_update",
                                              "difference_update",
                                              "issubset",
                                              "issuperset",
                                              "isdisjoint"};
constexpr llvm::StringLiteral dictMethods[] = {"get", "items", "keys",       "values",  "update",
                                               "pop", "copy",  "setdefault", "popitem", "clear"};

} // namespace

bool Evaluator::hasPythonMethod(const Value &self, llvm::StringRef name) {
  if (self.isString())
    return llvm::is_contained(stringMethods, name);
  if (self.is(ValueKind::List))
    return llvm::is_contained(listMethods, name);
  if (self.is(ValueKind::Set))
    return llvm::is_contained(setMethods, name);
  if (self.is(ValueKind::Tuple))
    return name == "index" || name == "count";
  if (self.is(ValueKind::Dict))
    return llvm::is_contained(dictMethods, name);
  return (self.isIntegral() && name == "bit_length") ||
         (self.is(ValueKind::Float) && name == "is_integer");
}

Value Evaluator::pythonMethod(const Value &self, llvm::StringRef name, std::vector<Value> &args,
                              Keywords &keywords) {
  Value result;
  if (self.isString())
    result = stringMethod(*this, self.getString(), name, args, keywords);
  else if (self.isSequence() && name.starts_with("_"))
    result = recordMethod(self, name, keywords);
  else if (self.isSequence())
    result = listMethod(*this, self, name, args, keywords);
  else if (self.is(ValueKind::Dict))
    result = dictMethod(*this, self, name, args, keywords);
  else if (self.is(ValueKind::Type)) {
    // `tl.float32.to(...)` does not exist, and neither does a call on a block's dtype.
    result = typeMethod(self.getType(), name, args);
  } else if (self.isTensor() && args.size() == 1) {
    Tensor other = toTensor(args[0]);
    result = other ? combineLogical(name == "logical_and", self, Value::tensor(other)) : Value();
  } else if (self.isIntegral() && name == "bit_length") {
    Int bits = 0;
    for (Int rest = self.getInt() < 0 ? -self.getInt() : self.getInt(); rest; rest >>= 1)
      ++bits;
    result = Value::integer(bits);
  } else if (self.is(ValueKind::Float) && name == "is_integer")
    result = Value::boolean(std::floor(self.getReal()) == self.getReal());
  if (result.isError() && !hasFailed)
    return error(DiagKind::SemaArguments, name, "got arguments that it does not take");
  return result;
}

Value Evaluator::formatString(const ast::FormattedString &expr) {
  std::string text;
  for (const ast::Expr *part : expr.parts) {
    if (const auto *literal = llvm::dyn_cast<ast::StringLiteral>(part)) {
      text += literal->value;
      continue;
    }
    const auto &field = *llvm::cast<ast::FormattedValue>(part);
    Value value = evaluate(*field.value);
    if (hasFailed)
      return Value();
    std::string spec;
    if (field.formatSpec) {
      Value evaluated = formatString(*field.formatSpec);
      if (hasFailed)
        return Value();
      spec = evaluated.getString().str();
    }
    if (field.conversion && !value.isTensor())
      value = Value::string(field.conversion == 's' ? str(value) : repr(value));
    std::optional<std::string> formatted = formatValue(*this, value, spec);
    if (!formatted)
      return Value();
    text += *formatted;
  }
  return Value::string(text);
}

} // namespace kiln::sema
