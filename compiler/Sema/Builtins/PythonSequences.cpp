// Python's builtin functions that go through elements: range, min, sum, sorted, zip, map …

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"

#include <algorithm>
#include <cmath>

namespace kiln::sema {
namespace {

/// In Python code what goes through elements does so once, as they are asked for.
std::optional<Value> iteratorOf(Evaluator &evaluator, IteratorObject::Kind kind,
                                llvm::ArrayRef<Value> iterables, const Value &function = Value(),
                                Int start = 0) {
  if (evaluator.unwinding().isDeviceCode())
    return std::nullopt;
  auto object = std::make_shared<IteratorObject>();
  object->kind = kind;
  object->function = function;
  object->next = start;
  for (const Value &iterable : iterables) {
    Value source = evaluator.python().makeIterator(iterable);
    if (evaluator.failed())
      return Value();
    if (source.isOpaque())
      return source;
    object->sources.push_back(source);
  }
  return Value(ValueKind::Iterator, object);
}

bool isLess(TensorBuilder &build, const Value &a, const Value &b) {
  if (build.failed())
    return false;
  Value answer = build.compare(ast::CompareOp::Less, a, b);
  return !build.failed() && build.truth(answer).value_or(false);
}

/// min() and max(): at compile time on known values; with a tensor, Triton's elementwise ones.
Value extremum(TensorBuilder &build, Call &call, bool isMax) {
  std::vector<Value> items = call.rest;
  if (items.size() == 1 && !items.front().isTensor()) {
    std::optional<std::vector<Value>> elements = build.iterate(items.front());
    if (!elements)
      return Value();
    items = *elements;
  }
  // `max(x, axis=0)` in a kernel that imported Triton's names over Python's.
  if (items.size() == 1 && items.front().isTensor())
    return build.callBuiltin(Library::Language, isMax ? "max" : "min", items, call.keywords);
  if (items.empty())
    return build.error(DiagKind::SemaPython,
                       llvm::StringRef(isMax ? "max" : "min") + "() of nothing");
  // Python's answer would depend on the order of the operands.
  if (build.buildsIR() && llvm::none_of(items, [](const Value &item) { return item.isTensor(); }))
    for (const Value &item : items)
      if (item.is(ValueKind::Float) &&
          (std::isnan(item.getReal()) || (item.getReal() == 0 && std::signbit(item.getReal()))))
        return build.error(DiagKind::SemaInvalidArgument, isMax ? "max" : "min",
                           "compile-time numbers other than NaN and -0.0", describe(item));
  Value best = items.front();
  for (const Value &item : llvm::ArrayRef(items).drop_front()) {
    if (best.isTensor() || item.isTensor()) {
      best = Value::tensor(build.minMax(isMax, best, item, false));
    } else if (isMax ? isLess(build, best, item) : isLess(build, item, best))
      best = item;
    if (build.failed())
      return Value();
  }
  return best;
}

} // namespace

Value builtinPyRange(PythonOperations &python, Call &call) {
  auto range = std::make_shared<RangeObject>();
  Int *fields[] = {&range->start, &range->stop, &range->step};
  if (call.rest.empty() || call.rest.size() > 3)
    return python.error(DiagKind::SemaArguments, "range", "takes 1 to 3 arguments");
  for (auto [index, value] : llvm::enumerate(call.rest)) {
    std::optional<Int> number = python.constantInt(value, "a bound of range()");
    if (!number)
      return Value();
    *fields[call.rest.size() == 1 ? 1 : index] = *number;
  }
  if (range->step == 0)
    return python.error(DiagKind::SemaPython, "the step of a range must not be zero");
  return {ValueKind::Range, range};
}

/// min(…, key=…): of equal keys the first.
static Value extremumByKey(Evaluator &evaluator, Call &call, bool isMax) {
  std::vector<Value> items = call.rest;
  if (items.size() == 1) {
    std::optional<std::vector<Value>> elements = evaluator.tensors().iterate(items.front());
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
    if (&item == &items.front() || (isMax ? isLess(evaluator.tensors(), bestKey, key)
                                          : isLess(evaluator.tensors(), key, bestKey))) {
      best = item;
      bestKey = key;
    }
  }
  return best;
}

Value builtinPyMin(Evaluator &evaluator, Call &call) {
  return call[1].isNone() ? extremum(evaluator.tensors(), call, false)
                          : extremumByKey(evaluator, call, false);
}
Value builtinPyMax(Evaluator &evaluator, Call &call) {
  return call[1].isNone() ? extremum(evaluator.tensors(), call, true)
                          : extremumByKey(evaluator, call, true);
}

/// The elements of each iterable. Empty after an error.
static std::optional<std::vector<std::vector<Value>>> iterateAll(PythonOperations &python,
                                                                 llvm::ArrayRef<Value> iterables) {
  std::vector<std::vector<Value>> lists;
  for (const Value &iterable : iterables) {
    std::optional<std::vector<Value>> items = python.iterate(iterable);
    if (!items)
      return std::nullopt;
    lists.push_back(*items);
  }
  return lists;
}

Value builtinPyZip(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> iterator = iteratorOf(evaluator, IteratorObject::Zip, call.rest))
    return *iterator;
  auto lists = iterateAll(evaluator.tensors(), call.rest);
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
  std::optional<Int> start = evaluator.tensors().constantInt(call[1], "start");
  if (!start)
    return Value();
  if (std::optional<Value> iterator =
          iteratorOf(evaluator, IteratorObject::Enumerate, {call[0]}, Value(), *start))
    return *iterator;
  std::optional<std::vector<Value>> items = evaluator.tensors().iterate(call[0]);
  if (!items)
    return Value();
  std::vector<Value> result;
  for (auto [index, item] : llvm::enumerate(*items))
    result.push_back(Value::tuple({Value::integer(*start + Int(index)), item}));
  return Value::list(result);
}

Value builtinPySum(TensorBuilder &build, Call &call) {
  if (call[0].isTensor())
    return build.callBuiltin(Library::Language, "sum", {call[0], call[1]});
  std::optional<std::vector<Value>> items = build.iterate(call[0]);
  Value total = call[1];
  for (const Value &item : items.value_or(std::vector<Value>())) {
    total = build.binary(ast::BinaryOp::Add, total, item);
    if (build.failed())
      return Value();
  }
  return items ? total : Value();
}

static Value allOrAny(PythonOperations &python, Call &call, bool isAll) {
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  for (const Value &item : items.value_or(std::vector<Value>())) {
    std::optional<bool> answer = python.constantBool(item, "an element");
    if (!answer)
      return Value();
    if (*answer != isAll)
      return Value::boolean(!isAll);
  }
  return items ? Value::boolean(isAll) : Value();
}
Value builtinPyAll(PythonOperations &python, Call &call) { return allOrAny(python, call, true); }
Value builtinPyAny(PythonOperations &python, Call &call) { return allOrAny(python, call, false); }

Value builtinPySorted(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.tensors().iterate(call[0]);
  if (!items)
    return Value();
  Value key = Value::none();
  bool reverse = false;
  for (const auto &[name, value] : call.keywords) {
    if (name == "key")
      key = value;
    else if (name == "reverse")
      reverse = evaluator.tensors().truth(value).value_or(false);
    else
      return evaluator.error(DiagKind::SemaArguments, "sorted",
                             "got an unexpected argument '" + name + "'");
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value &item : *items)
    keyed.emplace_back(key.isNone() ? item : evaluator.call(key, {item}, {}), item);
  if (evaluator.failed())
    return Value();
  // Insertion sort: stable, and safe with an order that reports errors.
  for (size_t i = 1; i < keyed.size(); ++i)
    for (size_t j = i; j > 0; --j) {
      bool swap = reverse ? isLess(evaluator.tensors(), keyed[j - 1].first, keyed[j].first)
                          : isLess(evaluator.tensors(), keyed[j].first, keyed[j - 1].first);
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
  std::optional<std::vector<Value>> items = evaluator.tensors().iterate(call[0]);
  if (!items)
    return Value();
  std::reverse(items->begin(), items->end());
  Value list = Value::list(*items);
  return iteratorOf(evaluator, IteratorObject::Items, {}).has_value()
             ? evaluator.python().makeIterator(list)
             : list;
}

Value builtinPyMap(Evaluator &evaluator, Call &call) {
  if (std::optional<Value> iterator =
          iteratorOf(evaluator, IteratorObject::Map, call.rest, call[0]))
    return *iterator;
  auto lists = iterateAll(evaluator.tensors(), call.rest);
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
  std::optional<std::vector<Value>> items = evaluator.tensors().iterate(call[1]);
  std::vector<Value> result;
  for (const Value &item : items.value_or(std::vector<Value>())) {
    Value answer = call[0].isNone() ? item : evaluator.call(call[0], {item}, {});
    std::optional<bool> keep = evaluator.tensors().constantBool(answer, "a filter's answer");
    if (!keep)
      return Value();
    if (*keep)
      result.push_back(item);
  }
  return items ? Value::list(result) : Value();
}

} // namespace kiln::sema
