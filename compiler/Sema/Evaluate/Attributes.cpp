// Attributes, subscripts and iteration.

#include "compiler/Sema/Tensors/Attributes.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

/// What `.type` is in a kernel; Error, unreported, for what has none.
Value typeOf(const Value &value) {
  if (value.isTensor())
    return Value::type(value.getTensor().type);
  if (value.isNumber() || value.isString() || value.isNone() || value.is(ValueKind::Type))
    return constexprType(value);
  if (!value.is(ValueKind::Tuple) && !value.is(ValueKind::List))
    return Value();
  std::vector<Value> types;
  for (const Value &element : value.getElements())
    types.push_back(typeOf(element));
  if (llvm::any_of(types, [](const Value &type) { return type.isError(); }))
    return Value();
  return tupleType(std::move(types));
}

} // namespace

Value Evaluator::getAttribute(const Value &base, llvm::StringRef name) {
  // A constexpr's value is the value.
  if (name == "value" && (base.isNumber() || base.isString() || base.isNone() ||
                          base.is(ValueKind::Type) || base.is(ValueKind::Function)))
    return base.asConstexpr(false);
  switch (base.getKind()) {
  case ValueKind::Error:
    return Value();
  case ValueKind::Tensor:
    return tensorAttribute(tensors(), base.getTensor(), name);
  case ValueKind::Type:
    return typeAttribute(tensors(), base.getType(), name);
  case ValueKind::BlockPointer:
    return blockPointerAttribute(tensors(), base, name);
  case ValueKind::Descriptor:
    return descriptorAttribute(tensors(), base, name);
  case ValueKind::Opaque:
  case ValueKind::Class:
    return python().getAttribute(base, name);
  case ValueKind::Module:
    return moduleAttribute(base, name);
  case ValueKind::Instance:
    if (base.as<InstanceObject>().cls.is(ValueKind::Class))
      return python().getAttribute(base, name);
    if (const Value *field = base.as<InstanceObject>().find(name))
      return *field;
    return unknownAttribute(*this, base, name);
  case ValueKind::Function:
    return functionAttribute(base, name);
  case ValueKind::Builtin:
    return name == "__name__" ? Value::string(base.as<BuiltinObject>().info->name)
                              : unknownAttribute(*this, base, name);
  default:
    break;
  }
  if (base.is(ValueKind::Tuple)) {
    const auto &tuple = base.as<SequenceObject>();
    for (auto [field, element] : llvm::zip(tuple.fields, tuple.elements))
      if (field == name)
        return element;
  }
  if (tensors().hasPythonMethod(base, name))
    return bindMethod(base, Value::none(), name);
  if (name == "type" && frame()->mode == FunctionMode::Kernel)
    if (Value type = typeOf(base); !type.isError())
      return type;
  if (base.isNumber())
    return numberAttribute(base, name);
  return failed() ? Value() : unknownAttribute(*this, base, name);
}

/// Of a compile-time number.
Value Evaluator::numberAttribute(const Value &base, llvm::StringRef name) {
  if (isPortable())
    return tensors().notPortable("an attribute of " + describe(base), "assign it to a name first");
  if (name == "dtype" || name == "type")
    if (std::optional<DType> type = tensors().numberType(base))
      return Value::type(*type);
  if (name == "shape")
    return Value::tuple({});
  // `x.to(tl.int64)` works as on the scalar that it would become.
  if (tensors().buildsIR() && frame()->mode == FunctionMode::Kernel)
    if (builtins().find(Library::Language, name))
      if (Tensor tensor = tensors().toTensor(base))
        return tensorAttribute(tensors(), tensor, name);
  return failed() ? Value() : unknownAttribute(*this, base, name);
}

/// Names of a module that `name` may be a misspelling of.
static std::vector<llvm::StringRef> namesOf(const ModuleObject &module,
                                            const BuiltinTable &builtins) {
  llvm::StringRef path = module.path;
  if (path == "triton.language" || path == "triton.language.math")
    return builtins.getNames(Library::Language);
  if (path.ends_with("libdevice"))
    return builtins.getNames(Library::Device);
  if (path == "triton")
    return builtins.getNames(Library::Triton);
  if (path == "math")
    return builtins.getNames(Library::Math);
  std::vector<llvm::StringRef> names;
  if (module.state)
    for (const auto &entry : module.state->scope->names)
      names.push_back(entry.first);
  return names;
}

Value Evaluator::moduleAttribute(const Value &base, llvm::StringRef name) {
  // Triton looks into a module for functions alone.
  if (std::optional<Value> value = python().moduleAttribute(base, name))
    return value->is(ValueKind::Function) ? outerName(name, *value) : *value;
  if (failed())
    return Value();
  return errorWithHint(suggestName(name, namesOf(base.as<ModuleObject>(), builtins())),
                       DiagKind::SemaUnknownAttribute, describe(base), name);
}

Value Evaluator::functionAttribute(const Value &base, llvm::StringRef name) {
  const auto &function = base.as<FunctionObject>();
  if (auto found = function.attributes.find(name); found != function.attributes.end())
    return found->second;
  if (name == "fn" || name == "__wrapped__")
    return base;
  return name == "__name__" ? Value::string(function.getName())
                            : unknownAttribute(*this, base, name);
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

Value Evaluator::subscript(const Value &base, const Value &index) {
  switch (base.getKind()) {
  case ValueKind::Tensor:
    return indexTensor(tensors(), base.getTensor(), index);
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Range:
  case ValueKind::String:
    return tensors().subscriptSequence(base, index);
  case ValueKind::Dict:
    for (const auto &[key, value] : base.as<DictObject>().items)
      if (isEqual(key, index).value_or(false))
        return tensors().use(str(key), value);
    return error(DiagKind::SemaPython, "key " + repr(index) + " is not in the dict");
  case ValueKind::Opaque:
    return base;
  case ValueKind::Function:
  case ValueKind::Class:
  case ValueKind::Builtin:
    return base; // kernel[grid], list[int]
  case ValueKind::Module:
    return error(DiagKind::SemaPython, "key " + repr(index) + " is not in the environment");
  case ValueKind::Instance:
    if (base.as<InstanceObject>().cls.is(ValueKind::Class))
      return call(getAttribute(base, "__getitem__"), {index}, {});
    return error(DiagKind::SemaUnsupportedSyntax, "an index of " + describe(base));
  default:
    if (base.isNumber() && isPortable())
      return tensors().notPortable("an index of " + describe(base), "assign it to a name first");
    // `x[None]`, `x[:, None]` of a compile-time number.
    if (base.isNumber() && tensors().buildsIR() && frame()->mode == FunctionMode::Kernel)
      return indexTensor(tensors(), tensors().toTensor(base), index);
    return error(DiagKind::SemaUnsupportedSyntax, "an index of " + describe(base));
  }
}

std::optional<std::vector<Value>> Evaluator::iterateObject(const Value &iterable) {
  return iterable.is(ValueKind::Iterator) ? python().drain(iterable)
                                          : python().iterateObject(iterable);
}

} // namespace kiln::sema
