// Iterators: what goes through the elements of something once, one at a time.

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {

Value HostInterpreter::makeIterator(const Value &given) {
  Value iterable = known(given);
  if (iterable.is(ValueKind::Iterator) || iterable.isOpaque())
    return iterable;
  if (std::optional<Value> own = special(iterable, "__iter__", {}))
    return *own;
  auto object = std::make_shared<IteratorObject>();
  if (iterable.is(ValueKind::List)) {
    object->kind = IteratorObject::List;
    object->sources = {iterable};
  } else if (iterable.is(ValueKind::Class) && iterable.as<ClassObject>().isEnum) {
    object->items = iterable.as<ClassObject>().enumerators;
  } else {
    std::optional<std::vector<Value>> items = core->tensors().iterate(iterable);
    if (!items)
      return Value();
    object->items = std::move(*items);
  }
  return {ValueKind::Iterator, object};
}

/// `iterator.__next__()` of an instance.
std::optional<Value> HostInterpreter::nextOfObject(const Value &iterator) {
  std::optional<Value> item = special(iterator, "__next__", {});
  if (!core->failed() && !item)
    raise("TypeError", describe(iterator) + " is not an iterator");
  bool isEnd = core->failed() && !core->unwinding().mustUnwind() && isException() &&
               raised.is(ValueKind::Instance) &&
               raised.as<InstanceObject>().typeName == "StopIteration";
  if (isEnd)
    takeException();
  return core->failed() || isEnd ? std::nullopt : item;
}

/// One element of each source, or what a function makes of them.
std::optional<Value> HostInterpreter::nextRow(IteratorObject &object) {
  std::vector<Value> row;
  for (const Value &source : object.sources) {
    std::optional<Value> item = next(source);
    if (!item)
      return std::nullopt;
    row.push_back(*item);
  }
  if (object.kind == IteratorObject::Zip)
    return row.empty() ? std::nullopt : std::optional(Value::tuple(row));
  Value result = settle(call(object.function, row, {}));
  return core->failed() ? std::nullopt : std::optional(result);
}

/// The next element that the function keeps.
std::optional<Value> HostInterpreter::nextKept(IteratorObject &object) {
  while (true) {
    std::optional<Value> item =
        core->unwinding().step() ? next(object.sources.front()) : std::nullopt;
    if (!item)
      return std::nullopt;
    Value answer = object.function.isNone() ? *item : settle(call(object.function, {*item}, {}));
    Value why;
    std::optional<bool> keep = core->failed() ? std::nullopt : truth(answer, &why);
    if (!keep && !core->failed())
      core->notKnown(why);
    if (!keep)
      return std::nullopt;
    if (*keep)
      return item;
  }
}

/// A generator runs to its end when its first element is asked for. Empty at the end, too.
std::optional<Value> HostInterpreter::nextElement(IteratorObject &object) {
  auto following = [&](const std::vector<Value> &elements) {
    return size_t(object.next) < elements.size()
               ? std::optional(known(elements[size_t(object.next++)]))
               : std::nullopt;
  };
  switch (object.kind) {
  case IteratorObject::Generator:
    if (object.run) {
      auto run = std::exchange(object.run, nullptr);
      run(object.items);
      if (core->failed())
        return std::nullopt;
    }
    [[fallthrough]];
  case IteratorObject::Items:
    return following(object.items);
  case IteratorObject::List:
    if (object.sources.front().getObject()->lost) {
      core->notKnown(known(object.sources.front()));
      return std::nullopt;
    }
    return following(object.sources.front().getElements());
  case IteratorObject::Zip:
  case IteratorObject::Map:
    return nextRow(object);
  case IteratorObject::Filter:
    return nextKept(object);
  case IteratorObject::Enumerate: {
    std::optional<Value> item = next(object.sources.front());
    return item ? std::optional(Value::tuple({Value::integer(object.next++), *item}))
                : std::nullopt;
  }
  }
  llvm_unreachable("closed enumeration");
}

std::optional<Value> HostInterpreter::next(const Value &iterator) {
  if (!iterator.is(ValueKind::Iterator))
    return nextOfObject(iterator);
  auto &object = iterator.as<IteratorObject>();
  willChange(iterator);
  if (object.isDone)
    return std::nullopt;
  std::optional<Value> element = nextElement(object);
  if (!element && !core->failed())
    object.isDone = true;
  return element;
}

std::optional<std::vector<Value>> HostInterpreter::drain(const Value &given) {
  Value iterator = settle(makeIterator(given));
  if (core->failed())
    return std::nullopt;
  if (iterator.isOpaque()) {
    core->notKnown(iterator);
    return std::nullopt;
  }
  std::vector<Value> items;
  while (core->unwinding().step()) {
    std::optional<Value> item = next(iterator);
    if (!item)
      break;
    items.push_back(*item);
  }
  return core->failed() ? std::nullopt : std::optional(items);
}

std::optional<std::vector<Value>> HostInterpreter::iterateObject(const Value &object) {
  bool isEnum = object.is(ValueKind::Class) && object.as<ClassObject>().isEnum;
  bool hasIterator = object.is(ValueKind::Instance) &&
                     object.as<InstanceObject>().cls.is(ValueKind::Class) &&
                     object.as<InstanceObject>().cls.as<ClassObject>().find("__iter__");
  if (isEnum || hasIterator)
    return drain(object);
  return core->fail(DiagKind::SemaOperand, "iteration", describe(object));
}

std::optional<std::vector<Value>> HostInterpreter::iterate(const Value &iterable) {
  return drain(iterable);
}

} // namespace kiln::sema
