// Python's builtin functions of one value: numbers, text, containers, attributes and classes.

#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"

#include <algorithm>
#include <cmath>

namespace kiln::sema {
namespace {

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

Value builtinPyAbs(PythonOperations &python, Call &call) {
  if (call[0].isTensor())
    return python.callBuiltin(Library::Language, "abs", {call[0]});
  if (call[0].isIntegral())
    return Value::integer(call[0].getInt() < 0 ? -call[0].getInt() : call[0].getInt());
  if (call[0].isNumber())
    return Value::real(std::fabs(call[0].getReal()));
  return python.error(DiagKind::SemaOperand, "abs", describe(call[0]));
}

Value builtinPyLen(PythonOperations &python, Call &call) {
  if (call[0].isTensor())
    return python.error(DiagKind::SemaOperand, "len", describe(call[0]));
  if (call[0].isString())
    return Value::integer(Int(call[0].getString().size()));
  if (call[0].is(ValueKind::Iterator) || call[0].isNumber() || call[0].isNone())
    return python.error(DiagKind::SemaOperand, "len", describe(call[0]));
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  return items ? Value::integer(Int(items->size())) : Value();
}

Value builtinPyInt(PythonOperations &python, Call &call) {
  const Value &value = call[0];
  if (value.isIntegral())
    return Value::integer(value.getInt());
  if (value.isNumber()) {
    std::optional<Int> whole = python.wholeNumber(value.getReal());
    return whole ? Value::integer(*whole) : Value();
  }
  if (value.isString()) {
    std::optional<Int> base = python.constantInt(call[1], "the base of int()");
    if (!base)
      return Value();
    if (*base < 0 || *base == 1 || *base > 36)
      return python.error(DiagKind::SemaInvalidArgument, "the base of int()", "0 or 2 to 36",
                          toString(*base));
    int64_t number;
    if (!value.getString().trim().getAsInteger(unsigned(*base), number))
      return Value::integer(number);
  }
  if (value.isTensor())
    return python.error(DiagKind::SemaNotConstant, "the argument of int()", describe(value));
  return python.error(DiagKind::SemaInvalidArgument, "int", "a number", describe(value));
}

Value builtinPyFloat(PythonOperations &python, Call &call) {
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
    return python.error(DiagKind::SemaNotConstant, "the argument of float()", describe(value));
  return python.error(DiagKind::SemaInvalidArgument, "float", "a number", describe(value));
}

Value builtinPyBool(PythonOperations &python, Call &call) {
  std::optional<bool> answer = python.constantBool(call[0], "the argument of bool()");
  return answer ? Value::boolean(*answer) : Value();
}
Value builtinPyStr(PythonOperations &, Call &call) { return Value::string(str(call[0])); }
Value builtinPyRepr(PythonOperations &, Call &call) { return Value::string(repr(call[0])); }

/// In a kernel print() is Triton's device_print; on the host nothing is printed while compiling.

Value builtinPyIsinstance(PythonOperations &, Call &call) {
  return Value::boolean(isInstance(call[0], call[1]));
}
Value builtinPyCallable(PythonOperations &, Call &call) {
  ValueKind kind = call[0].getKind();
  return Value::boolean(kind == ValueKind::Function || kind == ValueKind::Builtin ||
                        kind == ValueKind::BoundMethod || kind == ValueKind::Class);
}

/// As the code at hand would see it: device code has tensors, Python has objects of its own.
static Value attributeOf(Evaluator &evaluator, const Value &base, llvm::StringRef name) {
  return evaluator.unwinding().isDeviceCode() ? evaluator.getAttribute(base, name)
                                              : evaluator.python().getAttribute(base, name);
}

Value builtinPyGetattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name =
      evaluator.tensors().constantString(call[1], "an attribute's name");
  if (!name)
    return Value();
  if (call.rest.empty())
    return attributeOf(evaluator, call[0], *name);
  Value value;
  if (evaluator.unwinding().attempt([&] { value = attributeOf(evaluator, call[0], *name); }))
    return value;
  return call.rest.front();
}

Value builtinPyHasattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name =
      evaluator.tensors().constantString(call[1], "an attribute's name");
  if (!name)
    return Value();
  if (call[0].is(ValueKind::Module) &&
      ModuleScope::isOfOtherVendor(call[0].as<ModuleObject>().path + "." + *name))
    return Value::boolean(false);
  Value value;
  bool isThere =
      evaluator.unwinding().attempt([&] { value = attributeOf(evaluator, call[0], *name); });
  // What a package that Kiln knows is said to have, it has; an object's unknown base may have more.
  return isThere && value.isOpaque() && call[0].is(ValueKind::Instance) ? value
                                                                        : Value::boolean(isThere);
}

Value builtinPyIter(Evaluator &evaluator, Call &call) {
  return evaluator.python().makeIterator(call[0]);
}
Value builtinPyNext(Evaluator &evaluator, Call &call) {
  std::optional<Value> item = evaluator.python().next(call[0]);
  if (evaluator.failed() || item)
    return evaluator.failed() ? Value() : *item;
  return call.rest.empty() ? evaluator.python().raise("StopIteration", "") : call.rest.front();
}
Value builtinPySuper(Evaluator &evaluator, Call &call) {
  return evaluator.python().makeSuper(call.rest);
}
Value builtinPySetattr(Evaluator &evaluator, Call &call) {
  std::optional<std::string> name =
      evaluator.tensors().constantString(call[1], "an attribute's name");
  if (name)
    evaluator.python().setAttribute(call[0], *name, call[2]);
  return Value::none();
}
Value builtinPyIssubclass(Evaluator &evaluator, Call &call) {
  return Value::boolean(evaluator.python().isSubclass(call[0], call[1]));
}
Value builtinPyChr(PythonOperations &python, Call &call) {
  std::optional<Int> code = python.constantInt(call[0], "chr");
  if (!code || *code < 0 || *code > 127)
    return code ? python.error(DiagKind::SemaUnsupportedSyntax, "chr() beyond ASCII") : Value();
  return Value::string(std::string(1, char(*code)));
}
Value builtinPyOrd(PythonOperations &python, Call &call) {
  if (!call[0].isString() || call[0].getString().size() != 1)
    return python.error(DiagKind::SemaOperand, "ord", describe(call[0]));
  return Value::integer(static_cast<unsigned char>(call[0].getString()[0]));
}
Value builtinPyHex(PythonOperations &python, Call &call) {
  std::optional<Int> number = python.constantInt(call[0], "hex");
  if (!number)
    return Value();
  std::string digits;
  for (Int rest = *number < 0 ? -*number : *number; rest || digits.empty(); rest /= 16)
    digits.insert(digits.begin(), "0123456789abcdef"[int(rest % 16)]);
  return Value::string((*number < 0 ? "-0x" : "0x") + digits);
}

Value builtinPyTuple(PythonOperations &python, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  return items ? Value::tuple(*items) : Value();
}
Value builtinPyList(PythonOperations &python, Call &call) {
  if (call[0].isOpaque())
    return call[0];
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  return items ? Value::list(*items) : Value();
}
Value builtinPySet(PythonOperations &python, Call &call) {
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  bool isPaid = items && python.unwinding().step(items->size() * items->size() / searchedPerStep);
  return isPaid ? makeSet(*items) : Value();
}
Value builtinPyFrozenset(PythonOperations &python, Call &call) {
  Value set = builtinPySet(python, call);
  if (!python.failed())
    set.as<SequenceObject>().isFrozen = true;
  return set;
}

Value builtinPyDict(PythonOperations &python, Call &call) {
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
  else if (std::optional<std::vector<Value>> pairs = python.iterate(call[0])) {
    for (const Value &pair : *pairs) {
      std::optional<std::vector<Value>> parts = python.iterate(pair);
      if (!parts || parts->size() != 2)
        return python.error(DiagKind::SemaPython, "dict() needs pairs");
      set((*parts)[0], (*parts)[1]);
    }
  } else
    return Value();
  for (const auto &[name, value] : call.keywords)
    set(Value::string(name), value);
  return {ValueKind::Dict, dict};
}

Value builtinPyType(PythonOperations &, Call &call) {
  if (call[0].is(ValueKind::Instance) && !call[0].as<InstanceObject>().cls.isNone())
    return call[0].as<InstanceObject>().cls;
  if (call[0].is(ValueKind::Tuple) && call[0].as<SequenceObject>().cls.is(ValueKind::Class))
    return call[0].as<SequenceObject>().cls;
  if (const BuiltinInfo *info =
          getBuiltinTable().find(Library::Python, getKindName(call[0].getKind())))
    return Value::builtin(*info);
  return Value::opaque("type(" + describe(call[0]) + ")");
}

/// "0b101", "-0b11"
Value builtinPyBin(PythonOperations &python, Call &call) {
  std::optional<Int> number = python.constantInt(call[0], "bin");
  if (!number)
    return Value();
  std::string digits;
  for (Int rest = *number < 0 ? -*number : *number; rest || digits.empty(); rest /= 2)
    digits.insert(digits.begin(), rest % 2 ? '1' : '0');
  return Value::string((*number < 0 ? "-0b" : "0b") + digits);
}

Value builtinPyRound(PythonOperations &python, Call &call) {
  if (!call[0].isNumber())
    return python.error(DiagKind::SemaOperand, "round", describe(call[0]));
  auto whole = [&](double value) {
    std::optional<Int> integer = python.wholeNumber(value);
    return integer ? Value::integer(*integer) : Value();
  };
  bool isIntegral = call[0].isIntegral();
  if (call[1].isNone())
    return isIntegral ? Value::integer(call[0].getInt()) : whole(std::nearbyint(call[0].getReal()));
  std::optional<Int> digits = python.constantInt(call[1], "the digits of round()");
  if (!digits)
    return Value();
  if (isIntegral && *digits >= 0)
    return Value::integer(call[0].getInt());
  double scale = std::pow(10.0, double(*digits)), scaled = call[0].getReal() * scale;
  double rounded = scale == 0              ? 0
                   : std::isfinite(scaled) ? std::nearbyint(scaled) / scale
                                           : call[0].getReal();
  return isIntegral ? whole(rounded) : Value::real(rounded);
}

Value builtinPyPow(TensorBuilder &build, Call &call) {
  return build.binary(ast::BinaryOp::Pow, call[0], call[1]);
}
Value builtinPyDivmod(TensorBuilder &build, Call &call) {
  Value quotient = build.binary(ast::BinaryOp::FloorDiv, call[0], call[1]);
  Value rest = build.failed() ? Value() : build.binary(ast::BinaryOp::Mod, call[0], call[1]);
  return build.failed() ? Value() : Value::tuple({quotient, rest});
}

Value builtinPySlice(PythonOperations &, Call &call) {
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
Value builtinPyStaticmethod(PythonOperations &, Call &call) {
  return descriptor("staticmethod", call[0]);
}
Value builtinPyClassmethod(PythonOperations &, Call &call) {
  return descriptor("classmethod", call[0]);
}
Value builtinPyProperty(PythonOperations &, Call &call) { return descriptor("property", call[0]); }
Value builtinPyObject(PythonOperations &, Call &) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = "object";
  return {ValueKind::Instance, object};
}

} // namespace kiln::sema
