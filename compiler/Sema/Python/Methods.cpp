// Methods of Python's lists, sets, dicts, tuples and numbers, and of dtypes.

#include "compiler/Sema/Python/MethodTable.h"
#include "compiler/Sema/Python/PythonOperations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>

namespace kiln::sema {
namespace {

/// As containers compare: what is the same object is equal.
bool isElement(const Value &element, const Value &value) {
  return element.sharesObject(value) || isEqual(element, value).value_or(false);
}

/// Where `value` stands in the elements.
auto findElement(std::vector<Value> &elements, const Value &value) {
  return llvm::find_if(elements, [&](const Value &element) { return isElement(element, value); });
}

/// Methods that make one set of several, or change one so.
Value setMethod(PythonOperations &python, const Value &self, llvm::StringRef name,
                llvm::ArrayRef<Value> args) {
  std::vector<Value> &elements = self.getElements();
  if (name == "clear")
    return elements.clear(), Value::none();
  if (name == "copy")
    return {ValueKind::Set, std::make_shared<SequenceObject>(self.as<SequenceObject>())};
  if (name == "add" || name == "discard" || name == "remove") {
    auto at = findElement(elements, args[0]);
    if (name == "remove" && at == elements.end())
      return python.error(DiagKind::SemaPython, "key " + repr(args[0]) + " is not in the dict");
    if (name == "add" && at == elements.end())
      elements.push_back(args[0]);
    else if (name != "add" && at != elements.end())
      elements.erase(at);
    return Value::none();
  }
  Value result(ValueKind::Set, std::make_shared<SequenceObject>(self.as<SequenceObject>()));
  bool isTest = name == "issubset" || name == "issuperset";
  for (const Value &arg : args) {
    Value other = python.callBuiltin(Library::Python, "set", {arg});
    if (other.isOpaque())
      return python.notKnown(other);
    if (python.failed())
      return Value();
    if (isTest)
      return python.pythonCompare(name == "issubset" ? ast::CompareOp::LessEqual
                                                     : ast::CompareOp::GreaterEqual,
                                  self, other);
    ast::BinaryOp op = name == "union" || name == "update" ? ast::BinaryOp::BitOr
                       : name.starts_with("intersection") || name == "isdisjoint"
                           ? ast::BinaryOp::BitAnd
                       : name.starts_with("symmetric") ? ast::BinaryOp::BitXor
                                                       : ast::BinaryOp::Sub;
    result = python.pythonBinary(op, result, other);
    if (python.failed())
      return Value();
  }
  if (name == "isdisjoint")
    return Value::boolean(result.getElements().empty());
  if (!name.ends_with("update"))
    return result;
  elements = result.getElements();
  return Value::none();
}

/// `list.insert(place, value)`, `list.pop(place)`.
Value listPlaceMethod(PythonOperations &python, std::vector<Value> &elements, bool inserts,
                      llvm::ArrayRef<Value> args) {
  Value place = args.empty() ? Value::integer(-1) : args[0];
  std::optional<Int> given = python.constantInt(place, "an index");
  if (!given)
    return Value();
  Int size = Int(elements.size()), at = *given < 0 ? *given + size : *given;
  if (inserts) {
    elements.insert(elements.begin() + std::clamp(at, Int(0), size), args[1]);
    return Value::none();
  }
  if (at < 0 || at >= size)
    return python.error(DiagKind::SemaPython, "pop from a list of " + toString(size) +
                                                  " elements at " + toString(*given));
  Value taken = elements[size_t(at)];
  elements.erase(elements.begin() + at);
  return taken;
}

/// `list.index(value, start, stop)`.
Value findIndex(PythonOperations &python, llvm::ArrayRef<Value> elements,
                llvm::ArrayRef<Value> args) {
  Int size = Int(elements.size()), bounds[] = {0, size};
  for (size_t i = 1; i < args.size(); ++i) {
    std::optional<Int> given = python.constantInt(args[i], "an index");
    if (!given)
      return Value();
    bounds[i - 1] = std::clamp(*given < 0 ? *given + size : *given, Int(0), size);
  }
  for (Int at = bounds[0]; at < bounds[1]; ++at)
    if (isElement(elements[size_t(at)], args[0]))
      return Value::integer(at);
  return python.error(DiagKind::SemaPython, "the value is not in the list");
}

Value extendList(PythonOperations &python, std::vector<Value> &elements, const Value &iterable) {
  std::optional<std::vector<Value>> items = python.iterate(iterable);
  if (items && elements.size() + items->size() > PythonOperations::longestSequence)
    return python.error(DiagKind::SemaPython, "a sequence is too large");
  if (!items)
    return Value();
  elements.insert(elements.end(), items->begin(), items->end());
  return Value::none();
}

/// `list.sort(…)`, `list.reverse()`: the list becomes what the builtin gives.
Value replaceElements(PythonOperations &python, const Value &self, llvm::StringRef builtin,
                      const Keywords &keywords) {
  Value changed = python.callBuiltin(Library::Python, builtin, {self}, keywords);
  std::optional<std::vector<Value>> items =
      python.failed() ? std::nullopt : python.iterate(changed);
  if (!items)
    return Value();
  self.getElements() = std::move(*items);
  return Value::none();
}

Value listMethod(PythonOperations &python, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Value> args, const Keywords &keywords) {
  if (self.is(ValueKind::Set))
    return setMethod(python, self, name, args);
  std::vector<Value> &elements = self.getElements();
  if (name == "index")
    return findIndex(python, elements, args);
  if (name == "count")
    return Value::integer(Int(llvm::count_if(
        elements, [&](const Value &element) { return isElement(element, args[0]); })));
  if (name == "copy")
    return Value::list(elements);
  if (name == "clear")
    return elements.clear(), Value::none();
  if (name == "append") {
    elements.push_back(args[0]);
    return Value::none();
  }
  if (name == "extend")
    return extendList(python, elements, args[0]);
  if (name == "remove") {
    auto at = findElement(elements, args[0]);
    if (at == elements.end())
      return python.error(DiagKind::SemaPython, "the value is not in the list");
    elements.erase(at);
    return Value::none();
  }
  if (name == "insert" || name == "pop")
    return listPlaceMethod(python, elements, name == "insert", args);
  if (name == "sort" || name == "reverse")
    return replaceElements(python, self, name == "sort" ? "sorted" : "reversed", keywords);
  return Value();
}

Value dictMethod(PythonOperations &python, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Value> args, const Keywords &keywords) {
  auto &items = self.as<DictObject>().items;
  std::vector<Value> result;
  if (name == "clear")
    return items.clear(), Value::none();
  if (name == "popitem") {
    if (items.empty())
      return python.error(DiagKind::SemaPython, "key 'last' is not in the dict");
    Value last = Value::tuple({items.back().first, items.back().second});
    items.pop_back();
    return last;
  }
  if (name == "get" || name == "pop" || name == "setdefault") {
    for (auto at = items.begin(); at != items.end(); ++at)
      if (isEqual(at->first, args[0]).value_or(false)) {
        Value value = at->second;
        if (name == "pop")
          items.erase(at);
        return value;
      }
    if (name == "pop" && args.size() == 1)
      return python.error(DiagKind::SemaPython, "key " + repr(args[0]) + " is not in the dict");
    Value missing = args.size() > 1 ? args[1] : Value::none();
    if (name == "setdefault")
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
      Value given = python.callBuiltin(Library::Python, "dict", {args[0]});
      if (given.isOpaque())
        return python.notKnown(given);
      if (python.failed())
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
Value recordMethod(PythonOperations &python, const Value &self, llvm::StringRef name,
                   llvm::ArrayRef<Value> args, const Keywords &keywords) {
  const auto &record = self.as<SequenceObject>();
  auto copy = std::make_shared<SequenceObject>(record);
  if (name == "_make") {
    std::optional<std::vector<Value>> items;
    if (args.size() == 1)
      items = python.iterate(args[0]);
    if (!items || items->size() != record.fields.size())
      return Value();
    copy->elements = std::move(*items);
    return {ValueKind::Tuple, copy};
  }
  for (const auto &[keyword, value] : keywords) {
    auto at = llvm::find(record.fields, keyword);
    if (name == "_asdict" || at == record.fields.end())
      return Value();
    copy->elements[size_t(at - record.fields.begin())] = value;
  }
  if (!args.empty())
    return Value();
  if (name == "_replace")
    return {ValueKind::Tuple, copy};
  auto dict = std::make_shared<DictObject>();
  for (auto [field, element] : llvm::zip(record.fields, copy->elements))
    dict->items.emplace_back(Value::string(field), element);
  return {ValueKind::Dict, dict};
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

} // namespace

bool PythonOperations::hasPythonMethod(const Value &self, llvm::StringRef name) {
  return findMethod(self, name) || (self.isIntegral() && name == "bit_length") ||
         (self.is(ValueKind::Float) && name == "is_integer");
}

Value PythonOperations::pythonMethod(const Value &self, llvm::StringRef name,
                                     std::vector<Value> &args, Keywords &keywords) {
  const Method *method = findMethod(self, name);
  if (method && (args.size() < method->least || args.size() > method->most ||
                 (!keywords.empty() && !method->takesKeywords())))
    return error(DiagKind::SemaArguments, name, "got arguments that it does not take");
  Value result;
  if (self.isString())
    result = stringMethod(self.getString(), name, args, keywords);
  else if (self.isSequence() && name.starts_with("_"))
    result = recordMethod(*this, self, name, args, keywords);
  else if (self.isSequence())
    result = listMethod(*this, self, name, args, keywords);
  else if (self.is(ValueKind::Dict))
    result = dictMethod(*this, self, name, args, keywords);
  else if (self.is(ValueKind::Type)) {
    // `tl.float32.to(...)` does not exist, and neither does a call on a block's dtype.
    result = typeMethod(self.getType(), name, args);
  } else if (self.isIntegral() && name == "bit_length") {
    Int bits = 0;
    for (Int rest = self.getInt() < 0 ? -self.getInt() : self.getInt(); rest; rest >>= 1)
      ++bits;
    result = Value::integer(bits);
  } else if (self.is(ValueKind::Float) && name == "is_integer")
    result = Value::boolean(std::floor(self.getReal()) == self.getReal());
  if (result.isError() && !failed())
    return error(DiagKind::SemaArguments, name, "got arguments that it does not take");
  return result;
}

} // namespace kiln::sema
