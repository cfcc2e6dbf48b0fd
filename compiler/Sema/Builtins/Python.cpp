// Python's builtin functions.

#include "compiler/Sema/Host/Interpreter.h"

#include <algorithm>
#include <cmath>

namespace kiln::sema {
namespace {

/// In Python code what goes through elements does so once, as they are asked for.
std::optional<Value> iteratorOf(Evaluator &evaluator, IteratorObject::Kind kind,
                                llvm::ArrayRef<Value> iterables, const Value &function = Value(),
                                Int start = 0) {
  if (evaluator.frame && evaluator.frame->mode == FunctionMode::Kernel)
    return std::nullopt;
  auto object = std::make_shared<IteratorObject>();
  object->kind = kind;
  object->function = function;
  object->next = start;
  for (const Value &iterable : iterables) {
    Value source = evaluator.host->makeIterator(iterable);
    if (evaluator.failed())
      return Value();
    if (source.isOpaque())
      return source;
    object->sources.push_back(source);
  }
  return Value(ValueKind::Iterator, object);
}

bool isLess(Evaluator &evaluator, const Value &a, const Value &b) {
  if (evaluator.failed())
    return false;
  Value answer = evaluator.compare(ast::CompareOp::Less, a, b);
  return !evaluator.failed() && evaluator.truth(answer).value_or(false);
}

/// min() and max(): at compile time on known values; with a tensor, Triton's elementwise ones.
Value extremum(Evaluator &evaluator, Call &call, bool isMax) {
  std::vector<Value> items = call.rest;
  if (items.size() == 1 && !items.front().isTensor()) {
    std::optional<std::vector<Value>> elements = evaluator.iterate(items.front());
    if (!elements)
      return Value();
    items = *elements;
  }
  // `max(x, axis=0)` in a kernel that imported Triton's names over Python's.
  if (items.size() == 1 && items.front().isTensor())
    return evaluator.call(Value::builtin(*findBuiltin(Library::Language, isMax ? "max" : "min")),
                          items, call.keywords);
  if (items.empty())
    return evaluator.error(DiagKind::SemaPython,
                           llvm::StringRef(isMax ? "max" : "min") + "() of nothing");
  // Python's answer would depend on the order of the operands.
  if (evaluator.buildsIR() &&
      llvm::none_of(items, [](const Value &item) { return item.isTensor(); }))
    for (const Value &item : items)
      if (item.is(ValueKind::Float) &&
          (std::isnan(item.getReal()) || (item.getReal() == 0 && std::signbit(item.getReal()))))
        return evaluator.error(DiagKind::SemaInvalidArgument, isMax ? "max" : "min",
                               "compile-time numbers other than NaN and -0.0", describe(item));
  Value best = items.front();
  for (const Value &item : llvm::ArrayRef(items).drop_front()) {
    if (best.isTensor() || item.isTensor()) {
      best = Value::tensor(evaluator.minMax(isMax, best, item, false));
    } else if (isMax ? isLess(evaluator, best, item) : isLess(evaluator, item, best))
      best = item;
    if (evaluator.failed())
      return Value();
  }
  return best;
}

Value makeSet(std::vector<Value> items) {
  auto set = std::make_shared<SequenceObject>();
  for (Value &item : items)
    if (llvm::none_of(set->elements,
                      [&](const Value &old) { return isEqual(old, item).value_or(false); }))
      set->elements.push_back(item);
  return {ValueKind::Set, set};
}

bool isInstance(const Value &value, const Value &cls) {
  if (cls.isSequence())
    return llvm::any_of(cls.getElements(),
                        [&](const Value &one) { return isInstance(value, one); });
  if (cls.is(ValueKind::Class)) {
    const Value *own = value.is(ValueKind::Instance) ? &value.as<InstanceObject>().cls
                       : value.is(ValueKind::Tuple)  ? &value.as<SequenceObject>().cls
                                                     : nullptr;
    return own && own->is(ValueKind::Class) &&
           own->as<ClassObject>().derivesFrom(cls.as<ClassObject>());
  }
  if (!cls.is(ValueKind::Builtin))
    return false;
  const BuiltinInfo &info = *cls.as<BuiltinObject>().info;
  llvm::StringRef name = info.name;
  if (info.library == Library::Language) {
    if (name == "tensor")
      return value.isTensor();
    if (name.starts_with("tensor_descriptor"))
      return value.is(ValueKind::Descriptor);
    if (name == "constexpr")
      return value.isNumber() || value.isString() || value.isNone();
    if (name == "tuple")
      return value.is(ValueKind::Tuple) || value.is(ValueKind::List);
    if (name == "constexpr_type" || name == "tuple_type")
      return value.is(ValueKind::Instance) && value.as<InstanceObject>().typeName == name;
    if (name == "pointer_type")
      return value.is(ValueKind::Type) && value.getType().dtype.isPointer();
    if (name == "block_type")
      return value.is(ValueKind::Type) && value.getType().isBlock();
    return name == "dtype" && value.is(ValueKind::Type);
  }
  if (name == "int")
    return value.isIntegral();
  if (name == "object")
    return true;
  if (name == "type")
    return value.is(ValueKind::Class) ||
           (value.is(ValueKind::Builtin) &&
            value.as<BuiltinObject>().info->library == Library::Python);
  if (name == "set" || name == "frozenset")
    return value.is(ValueKind::Set) && value.as<SequenceObject>().isFrozen == (name == "frozenset");
  if (value.is(ValueKind::Instance) && value.as<InstanceObject>().cls.is(ValueKind::Class)) {
    const auto &own = value.as<InstanceObject>().cls.as<ClassObject>();
    const Value *content = value.as<InstanceObject>().find("_value_");
    return own.isEnum && !own.isPlainEnum && content && isInstance(*content, cls);
  }
  return name == getKindName(value.getKind());
}

} // namespace

Value builtinPyRange(Evaluator &evaluator, Call &call) {
  auto range = std::make_shared<RangeObject>();
  Int *fields[] = {&range->start, &range->stop, &range->step};
  if (call.rest.empty() || call.rest.size() > 3)
    return evaluator.error(DiagKind::SemaArguments, "range", "takes 1 to 3 arguments");
  for (auto [index, value] : llvm::enumerate(call.rest)) {
    std::optional<Int> number = evaluator.constantInt(value, "a bound of range()");
    if (!number)
      return Value();
    *fields[call.rest.size() == 1 ? 1 : index] = *number;
  }
  if (range->step == 0)
    return evaluator.error(DiagKind::SemaPython, "the step of a range must not be zero");
  return {ValueKind::Range, range};
}

/// min(…, key=…): of equal keys the first.
static Value extremumByKey(Evaluator &evaluator, Call &call, bool isMax) {
  std::vector<Value> items = call.rest;
  if (items.size() == 1) {
    std::optional<std::vector<Value>> elements = evaluator.iterate(items.front());
    if (!elements)
      return Value();
    items = *elements;
  }
  if (items.empty())
    return evaluator.error(DiagKind::SemaPython,
                           llvm::StringRef(isMax ? "max" : "min") + "() of nothing");
  Value best, bestKey;
  for (const Value &item : items) {
    Value key = evaluator.call(call[1], {item}, {});
    if (evaluator.failed())
      return Value();
    if (&item == &items.front() ||
        (isMax ? isLess(evaluator, bestKey, key) : isLess(evaluator, key, bestKey))) {
      best = item;
      bestKey = key;
    }
  }
  return best;
}

Value builtinPyMin(Evaluator &evaluator, Call &call) {
  return call[1].isNone() ? extremum(evaluator, call, false)
                          : extremumByKey(evaluator, call, false);
}
Value builtinPyMax(Evaluator &evaluator, Call &call) {
  return call[1].isNone() ? extremum(evaluator, call, true) : extremumByKey(evaluator, call, true);
}

Value builtinPyAbs(Evaluator &evaluator, Call &call) {
  if (call[0].isTensor())
    return evaluator.call(Value::builtin(*findBuiltin(Library::Language, "abs")), {call[0]}, {});
  if (call[0].isIntegral())
    return Value::integer(call[0].getInt() < 0 ? -call[0].getInt() : call[0].getInt());
  if (call[0].isNumber())
    return Value::real(std::fabs(call[0].getReal()));
  return evaluator.error(DiagKind::SemaOperand, "abs", describe(call[0]));
}

Value builtinPyLen(Evaluator &evaluator, Call &call) {
  if (call[0].isTensor())
    return evaluator.error(DiagKind::SemaOperand, "len", describe(call[0]));
  if (call[0].isString())
    return Value::integer(Int(call[0].getString().size()));
  if (call[0].is(ValueKind::Iterator) || call[0].isNumber() || call[0].isNone())
    return evaluator.error(DiagKind::SemaOperand, "len", describe(call[0]));
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  return items ? Value::integer(Int(items->size())) : Value();
}

Value builtinPyInt(Evaluator &evaluator, Call &call) {
  const Value &value = call[0];
  if (value.isIntegral())
    return Value::integer(value.getInt());
  if (value.isNumber() && std::isfinite(value.getReal()) && std::fabs(value.getReal()) < 1e37)
    return Value::integer(Int(value.getReal()));
  if (value.isString()) {
    int64_t number;
    if (!value.getString().trim().getAsInteger(unsigned(call[1].getInt()), number))
      return Value::integer(number);
  }
  if (value.isTensor())
    return evaluator.error(DiagKind::SemaNotConstant, "the argument of int()", describe(value));
  return evaluator.error(DiagKind::SemaInvalidArgument, "int", "a number", describe(value));
}

Value builtinPyFloat(Evaluator &evaluator, Call &call) {
  const Value &value = call[0];
  if (value.isNumber())
    return Value::real(value.getReal());
  if (value.isString()) {
    double number;
    std::string text = value.getString().trim().lower();
    llvm::StringRef digits = llvm::StringRef(text).ltrim('+');
    bool negative = digits.consume_front("-");
    if (digits == "inf" || digits == "infinity")
      return Value::real(negative ? -INFINITY : INFINITY);
    if (digits == "nan")
      return Value::real(NAN);
    if (!digits.getAsDouble(number))
      return Value::real(negative ? -number : number);
  }
  if (value.isTensor())
    return evaluator.error(DiagKind::SemaNotConstant, "the argument of float()", describe(value));
  return evaluator.error(DiagKind::SemaInvalidArgument, "float", "a number", describe(value));
}

Value builtinPyBool(Evaluator &evaluator, Call &call) {
  std::optional<bool> answer = evaluator.constantBool(call[0], "the argument of bool()");
  return answer ? Value::boolean(*answer) : Value();
}
Value builtinPyStr(Evaluator &, Call &call) { return Value::string(str(call[0])); }
Value builtinPyRepr(Evaluator &, Call &call) { return Value::string(repr(call[0])); }

/// In a kernel print() is Triton's device_print; on the host nothing is printed while compiling.

Value builtinPyIsinstance(Evaluator &, Call &call) {
  return Value::boolean(isInstance(call[0], call[1]));
}
Value builtinPyCallable(Evaluator &, Call &call) {
  ValueKind kind = call[0].getKind();
  return Value::boolean(kind == ValueKind::Function || kind == ValueKind::Builtin ||
                        kind == ValueKind::BoundMethod || kind == ValueKind::Class);
}

/// As the code at hand would see it: device code has tensors, Python has objects of its own.
static Value attributeOf(Evaluator &evaluator, const Value &base, llvm::StringRef name) {
  return evaluator.frame->mode == FunctionMode::Kernel ? evaluator.getAttribute(base, name)
                                                       : evaluator.host->getAttribute(base, name);
}

Value builtinPyGetattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name = evaluator.constantString(call[1], "an attribute's name");
  if (!name)
    return Value();
  if (call.rest.empty())
    return attributeOf(evaluator, call[0], *name);
  Value value;
  if (evaluator.attempt([&] { value = attributeOf(evaluator, call[0], *name); }))
    return value;
  return call.rest.front();
}

Value builtinPyHasattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name = evaluator.constantString(call[1], "an attribute's name");
  if (!name)
    return Value();
  Value value;
  bool isThere = evaluator.attempt([&] { value = attributeOf(evaluator, call[0], *name); });
  // What a package that Kiln knows is said to have, it has; an object's unknown base may have more.
  return isThere && value.isOpaque() && call[0].is(ValueKind::Instance) ? value
                                                                        : Value::boolean(isThere);
}

/// The elements of each iterable. Empty after an error.
static std::optional<std::vector<std::vector<Value>>> iterateAll(Evaluator &evaluator,
                                                                 llvm::ArrayRef<Value> iterables) {
  std::vector<std::vector<Value>> lists;
  for (const Value &iterable : iterables) {
    std::optional<std::vector<Value>> items = evaluator.iterate(iterable);
    if (!items)
      return std::nullopt;
    lists.push_back(*items);
  }
  return lists;
}

Value builtinPyZip(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> iterator = iteratorOf(evaluator, IteratorObject::Zip, call.rest))
    return *iterator;
  auto lists = iterateAll(evaluator, call.rest);
  if (!lists)
    return Value();
  std::vector<Value> result;
  for (size_t i = 0; !lists->empty(); ++i) {
    std::vector<Value> row;
    for (const std::vector<Value> &list : *lists)
      if (i < list.size())
        row.push_back(list[i]);
    if (row.size() < lists->size())
      break;
    result.push_back(Value::tuple(row));
  }
  return Value::list(result);
}

Value builtinPyEnumerate(Evaluator &evaluator, Call &call) {
  std::optional<Int> start = evaluator.constantInt(call[1], "start");
  if (!start)
    return Value();
  if (std::optional<Value> iterator =
          iteratorOf(evaluator, IteratorObject::Enumerate, {call[0]}, Value(), *start))
    return *iterator;
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  if (!items)
    return Value();
  std::vector<Value> result;
  for (auto [index, item] : llvm::enumerate(*items))
    result.push_back(Value::tuple({Value::integer(*start + Int(index)), item}));
  return Value::list(result);
}

Value builtinPySum(Evaluator &evaluator, Call &call) {
  if (call[0].isTensor())
    return evaluator.call(Value::builtin(*findBuiltin(Library::Language, "sum")),
                          {call[0], call[1]}, {});
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  Value total = call[1];
  for (const Value &item : items.value_or(std::vector<Value>())) {
    total = evaluator.binary(ast::BinaryOp::Add, total, item);
    if (evaluator.failed())
      return Value();
  }
  return items ? total : Value();
}

static Value allOrAny(Evaluator &evaluator, Call &call, bool isAll) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  for (const Value &item : items.value_or(std::vector<Value>())) {
    std::optional<bool> answer = evaluator.constantBool(item, "an element");
    if (!answer)
      return Value();
    if (*answer != isAll)
      return Value::boolean(!isAll);
  }
  return items ? Value::boolean(isAll) : Value();
}
Value builtinPyAll(Evaluator &evaluator, Call &call) { return allOrAny(evaluator, call, true); }
Value builtinPyAny(Evaluator &evaluator, Call &call) { return allOrAny(evaluator, call, false); }

Value builtinPySorted(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  if (!items)
    return Value();
  Value key = Value::none();
  bool reverse = false;
  for (const auto &[name, value] : call.keywords) {
    if (name == "key")
      key = value;
    else if (name == "reverse")
      reverse = evaluator.truth(value).value_or(false);
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value &item : *items)
    keyed.emplace_back(key.isNone() ? item : evaluator.call(key, {item}, {}), item);
  if (evaluator.failed())
    return Value();
  // Insertion sort: stable, and safe with an order that reports errors.
  for (size_t i = 1; i < keyed.size(); ++i)
    for (size_t j = i; j > 0; --j) {
      bool swap = reverse ? isLess(evaluator, keyed[j - 1].first, keyed[j].first)
                          : isLess(evaluator, keyed[j].first, keyed[j - 1].first);
      if (!swap)
        break;
      std::swap(keyed[j], keyed[j - 1]);
    }
  std::vector<Value> result;
  for (auto &entry : keyed)
    result.push_back(entry.second);
  return evaluator.failed() ? Value() : Value::list(result);
}

Value builtinPyReversed(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  if (!items)
    return Value();
  std::reverse(items->begin(), items->end());
  Value list = Value::list(*items);
  return iteratorOf(evaluator, IteratorObject::Items, {}).has_value()
             ? evaluator.host->makeIterator(list)
             : list;
}

Value builtinPyIter(Evaluator &evaluator, Call &call) {
  return evaluator.host->makeIterator(call[0]);
}
Value builtinPyNext(Evaluator &evaluator, Call &call) {
  std::optional<Value> item = evaluator.host->next(call[0]);
  if (evaluator.failed() || item)
    return evaluator.failed() ? Value() : *item;
  return call.rest.empty() ? evaluator.host->raise("StopIteration", "") : call.rest.front();
}
Value builtinPySuper(Evaluator &evaluator, Call &call) {
  return evaluator.host->makeSuper(call.rest);
}
Value builtinPySetattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name = evaluator.constantString(call[1], "an attribute's name");
  if (name)
    evaluator.host->setAttribute(call[0], *name, call[2]);
  return Value::none();
}
Value builtinPyIssubclass(Evaluator &evaluator, Call &call) {
  return Value::boolean(evaluator.host->isSubclass(call[0], call[1]));
}
Value builtinPyChr(Evaluator &evaluator, Call &call) {
  std::optional<Int> code = evaluator.constantInt(call[0], "chr");
  if (!code || *code < 0 || *code > 127)
    return code ? evaluator.error(DiagKind::SemaUnsupportedSyntax, "chr() beyond ASCII") : Value();
  return Value::string(std::string(1, char(*code)));
}
Value builtinPyOrd(Evaluator &evaluator, Call &call) {
  if (!call[0].isString() || call[0].getString().size() != 1)
    return evaluator.error(DiagKind::SemaOperand, "ord", describe(call[0]));
  return Value::integer(static_cast<unsigned char>(call[0].getString()[0]));
}
Value builtinPyHex(Evaluator &evaluator, Call &call) {
  std::optional<Int> number = evaluator.constantInt(call[0], "hex");
  if (!number)
    return Value();
  std::string digits;
  for (Int rest = *number < 0 ? -*number : *number; rest || digits.empty(); rest /= 16)
    digits.insert(digits.begin(), "0123456789abcdef"[int(rest % 16)]);
  return Value::string((*number < 0 ? "-0x" : "0x") + digits);
}

Value builtinPyTuple(Evaluator &evaluator, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  return items ? Value::tuple(*items) : Value();
}
Value builtinPyList(Evaluator &evaluator, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  return items ? Value::list(*items) : Value();
}
Value builtinPySet(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  bool isPaid = items && evaluator.step(items->size() * items->size() / searchedPerStep);
  return isPaid ? makeSet(*items) : Value();
}
Value builtinPyFrozenset(Evaluator &evaluator, Call &call) {
  Value set = builtinPySet(evaluator, call);
  if (!evaluator.failed())
    set.as<SequenceObject>().isFrozen = true;
  return set;
}

Value builtinPyDict(Evaluator &evaluator, Call &call) {
  auto dict = std::make_shared<DictObject>();
  auto set = [&](const Value &key, const Value &value) {
    auto at = llvm::find_if(
        dict->items, [&](const auto &item) { return isEqual(item.first, key).value_or(false); });
    if (at != dict->items.end())
      at->second = value;
    else
      dict->items.emplace_back(key, value);
  };
  if (call[0].is(ValueKind::Dict))
    dict->items = call[0].as<DictObject>().items;
  else if (std::optional<std::vector<Value>> pairs = evaluator.iterate(call[0])) {
    for (const Value &pair : *pairs) {
      std::optional<std::vector<Value>> parts = evaluator.iterate(pair);
      if (!parts || parts->size() != 2)
        return evaluator.error(DiagKind::SemaPython, "dict() needs pairs");
      set((*parts)[0], (*parts)[1]);
    }
  } else
    return Value();
  for (const auto &[name, value] : call.keywords)
    set(Value::string(name), value);
  return {ValueKind::Dict, dict};
}

Value builtinPyMap(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> iterator =
          iteratorOf(evaluator, IteratorObject::Map, call.rest, call[0]))
    return *iterator;
  auto lists = iterateAll(evaluator, call.rest);
  std::vector<Value> result;
  for (size_t i = 0; lists && !lists->empty(); ++i) {
    std::vector<Value> args;
    for (const std::vector<Value> &list : *lists)
      if (i < list.size())
        args.push_back(list[i]);
    if (args.size() < lists->size())
      break;
    result.push_back(evaluator.call(call[0], args, {}));
    if (evaluator.failed())
      return Value();
  }
  return lists ? Value::list(result) : Value();
}

Value builtinPyFilter(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> iterator =
          iteratorOf(evaluator, IteratorObject::Filter, {call[1]}, call[0]))
    return *iterator;
  std::optional<std::vector<Value>> items = evaluator.iterate(call[1]);
  std::vector<Value> result;
  for (const Value &item : items.value_or(std::vector<Value>())) {
    Value answer = call[0].isNone() ? item : evaluator.call(call[0], {item}, {});
    std::optional<bool> keep = evaluator.constantBool(answer, "a filter's answer");
    if (!keep)
      return Value();
    if (*keep)
      result.push_back(item);
  }
  return items ? Value::list(result) : Value();
}

Value builtinPyType(Evaluator &, Call &call) {
  if (call[0].is(ValueKind::Instance) && !call[0].as<InstanceObject>().cls.isNone())
    return call[0].as<InstanceObject>().cls;
  if (call[0].is(ValueKind::Tuple) && call[0].as<SequenceObject>().cls.is(ValueKind::Class))
    return call[0].as<SequenceObject>().cls;
  if (const BuiltinInfo *info = findBuiltin(Library::Python, getKindName(call[0].getKind())))
    return Value::builtin(*info);
  return Value::opaque("type(" + describe(call[0]) + ")");
}

/// "0b101", "-0b11"
Value builtinPyBin(Evaluator &evaluator, Call &call) {
  std::optional<Int> number = evaluator.constantInt(call[0], "bin");
  if (!number)
    return Value();
  std::string digits;
  for (Int rest = *number < 0 ? -*number : *number; rest || digits.empty(); rest /= 2)
    digits.insert(digits.begin(), rest % 2 ? '1' : '0');
  return Value::string((*number < 0 ? "-0b" : "0b") + digits);
}

Value builtinPyRound(Evaluator &evaluator, Call &call) {
  if (!call[0].isNumber())
    return evaluator.error(DiagKind::SemaOperand, "round", describe(call[0]));
  if (call[1].isNone())
    return Value::integer(Int(std::nearbyint(call[0].getReal())));
  double scale = std::pow(10.0, call[1].getReal());
  return Value::real(std::nearbyint(call[0].getReal() * scale) / scale);
}

Value builtinPyPow(Evaluator &evaluator, Call &call) {
  return evaluator.binary(ast::BinaryOp::Pow, call[0], call[1]);
}
Value builtinPyDivmod(Evaluator &evaluator, Call &call) {
  Value quotient = evaluator.binary(ast::BinaryOp::FloorDiv, call[0], call[1]);
  Value rest =
      evaluator.failed() ? Value() : evaluator.binary(ast::BinaryOp::Mod, call[0], call[1]);
  return evaluator.failed() ? Value() : Value::tuple({quotient, rest});
}

Value builtinPySlice(Evaluator &, Call &call) {
  auto slice = std::make_shared<SliceObject>();
  auto at = [&](size_t index) {
    return index < call.rest.size() ? call.rest[index] : Value::none();
  };
  bool single = call.rest.size() == 1;
  slice->lower = single ? Value::none() : at(0);
  slice->upper = single ? at(0) : at(1);
  slice->step = at(2);
  return {ValueKind::Slice, slice};
}

/// What a class body makes of a function.
static Value descriptor(llvm::StringRef kind, const Value &function) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = kind.str();
  object->set("fget", function);
  return {ValueKind::Instance, object};
}
Value builtinPyStaticmethod(Evaluator &, Call &call) { return descriptor("staticmethod", call[0]); }
Value builtinPyClassmethod(Evaluator &, Call &call) { return descriptor("classmethod", call[0]); }
Value builtinPyProperty(Evaluator &, Call &call) { return descriptor("property", call[0]); }
Value builtinPyObject(Evaluator &, Call &) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = "object";
  return {ValueKind::Instance, object};
}

} // namespace kiln::sema
