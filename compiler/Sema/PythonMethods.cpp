// Methods of Python's strings, lists, dicts and numbers, and of dtypes; f-strings.

#include "compiler/Sema/Evaluator.h"
#include "compiler/Sema/StringFormatting.h"

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
  if (name == "join") {
    std::string text;
    std::optional<std::vector<Value>> items = evaluator.iterate(args.empty() ? Value() : args[0]);
    for (auto [index, item] : llvm::enumerate(items.value_or(std::vector<Value>())))
      text += (index ? self.str() : "") + str(item);
    return Value::string(text);
  }
  return Value();
}

Value listMethod(Evaluator &evaluator, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Value> args) {
  std::vector<Value> &elements = self.getElements();
  auto find = [&] {
    return llvm::find_if(elements, [&](const Value &element) {
      return !args.empty() && isEqual(element, args[0]).value_or(false);
    });
  };
  if (name == "index") {
    auto at = find();
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
  if ((name == "append" || name == "add") && args.size() == 1) {
    if (!self.is(ValueKind::Set) || find() == elements.end())
      elements.push_back(args[0]);
    return Value::none();
  }
  if (name == "extend" && args.size() == 1) {
    if (std::optional<std::vector<Value>> items = evaluator.iterate(args[0]))
      elements.insert(elements.end(), items->begin(), items->end());
    return Value::none();
  }
  if (name == "pop" && !elements.empty()) {
    Value last = elements.back();
    elements.pop_back();
    return last;
  }
  if (name == "sort" || name == "reverse") {
    Value sorted = evaluator.call(
        Value::builtin(*findBuiltin(Library::Python, name == "sort" ? "sorted" : "reversed")),
        {self}, {});
    if (!sorted.isError())
      elements = sorted.getElements();
    return Value::none();
  }
  return Value();
}

Value dictMethod(const Value &self, llvm::StringRef name, llvm::ArrayRef<Value> args,
                 const Keywords &keywords) {
  auto &items = self.as<DictObject>().items;
  std::vector<Value> result;
  if (name == "get" || name == "pop" || name == "setdefault") {
    for (auto at = items.begin(); at != items.end(); ++at)
      if (!args.empty() && isEqual(at->first, args[0]).value_or(false)) {
        Value value = at->second;
        if (name == "pop")
          items.erase(at);
        return value;
      }
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
    if (!args.empty() && args[0].is(ValueKind::Dict))
      for (const auto &[key, value] : args[0].as<DictObject>().items)
        set(key, value);
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
    "lower",        "upper",        "strip", "lstrip",  "rstrip",  "startswith", "endswith",
    "removeprefix", "removesuffix", "find",  "rfind",   "replace", "split",      "rsplit",
    "splitlines",   "join",         "count", "isdigit", "format",  "partition"};
constexpr llvm::StringLiteral listMethods[] = {"append", "extend", "pop",     "index", "count",
                                               "copy",   "sort",   "reverse", "add"};
constexpr llvm::StringLiteral dictMethods[] = {"get",    "items", "keys", "values",
                                               "update", "pop",   "copy", "setdefault"};

} // namespace

bool Evaluator::hasPythonMethod(const Value &self, llvm::StringRef name) {
  if (self.isString())
    return llvm::is_contained(stringMethods, name);
  if (self.is(ValueKind::List) || self.is(ValueKind::Set))
    return llvm::is_contained(listMethods, name);
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
  else if (self.isSequence())
    result = listMethod(*this, self, name, args);
  else if (self.is(ValueKind::Dict))
    result = dictMethod(self, name, args, keywords);
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
  if (result.isError())
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
