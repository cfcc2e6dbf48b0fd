// Attributes, subscripts and iteration.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {
namespace {

Value shapeTuple(llvm::ArrayRef<int64_t> shape) {
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::integer(extent));
  return Value::tuple(std::move(extents));
}

Value bindMethod(const Value &self, const Value &function, llvm::StringRef name) {
  auto object = std::make_shared<BoundMethodObject>();
  object->self = self;
  object->function = function;
  object->name = name.str();
  return {ValueKind::BoundMethod, object};
}

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

Value Evaluator::unknownAttribute(const Value &base, llvm::StringRef name) {
  return error(DiagKind::SemaUnknownAttribute, describe(base), name);
}

Value Evaluator::getAttribute(const Value &base, llvm::StringRef name) {
  // A constexpr's value is the value.
  if (name == "value" && (base.isNumber() || base.isString() || base.isNone() ||
                          base.is(ValueKind::Type) || base.is(ValueKind::Function)))
    return base;
  switch (base.getKind()) {
  case ValueKind::Error:
    return Value();
  case ValueKind::Tensor:
    return tensorAttribute(base.getTensor(), name);
  case ValueKind::Type:
    return typeAttribute(base.getType(), name);
  case ValueKind::BlockPointer:
    return blockPointerAttribute(base, name);
  case ValueKind::Descriptor:
    return descriptorAttribute(base, name);
  case ValueKind::Opaque:
  case ValueKind::Class:
    return host->getAttribute(base, name);
  case ValueKind::Module: {
    if (std::optional<Value> value = host->moduleAttribute(base, name))
      return *value;
    if (hasFailed)
      return Value();
    std::vector<llvm::StringRef> candidates;
    const auto &module = base.as<ModuleObject>();
    llvm::StringRef path = module.path;
    if (path == "triton.language" || path == "triton.language.math")
      candidates = getBuiltinNames(Library::Language);
    else if (path.ends_with("libdevice"))
      candidates = getBuiltinNames(Library::Device);
    else if (path == "triton")
      candidates = getBuiltinNames(Library::Triton);
    else if (path == "math")
      candidates = getBuiltinNames(Library::Math);
    else if (module.state)
      for (const auto &entry : module.state->scope->names)
        candidates.push_back(entry.first);
    return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownAttribute,
                         describe(base), name);
  }
  case ValueKind::Instance: {
    const auto &instance = base.as<InstanceObject>();
    if (instance.cls.is(ValueKind::Class))
      return host->getAttribute(base, name);
    if (const Value *field = instance.find(name))
      return *field;
    return unknownAttribute(base, name);
  }
  case ValueKind::Function:
    if (auto found = base.as<FunctionObject>().attributes.find(name);
        found != base.as<FunctionObject>().attributes.end())
      return found->second;
    if (name == "fn" || name == "__wrapped__")
      return base;
    if (name == "__name__")
      return Value::string(base.as<FunctionObject>().getName());
    return unknownAttribute(base, name);
  case ValueKind::Builtin:
    if (name == "__name__")
      return Value::string(base.as<BuiltinObject>().info->name);
    return unknownAttribute(base, name);
  default:
    break;
  }
  if (base.is(ValueKind::Tuple)) {
    const auto &tuple = base.as<SequenceObject>();
    for (auto [field, element] : llvm::zip(tuple.fields, tuple.elements))
      if (field == name)
        return element;
  }
  if (hasPythonMethod(base, name))
    return bindMethod(base, Value::none(), name);
  if (name == "type" && frame->mode == FunctionMode::Kernel)
    if (Value type = typeOf(base); !type.isError())
      return type;
  if (base.isNumber()) {
    if (name == "dtype" || name == "type")
      if (std::optional<DType> type = numberType(base))
        return Value::type(*type);
    if (name == "shape")
      return Value::tuple({});
    // `x.to(tl.int64)` of a compile-time number works as on the scalar that it would become.
    if (buildsIR() && frame->mode == FunctionMode::Kernel)
      if (findBuiltin(Library::Language, name))
        if (Tensor tensor = toTensor(base))
          return tensorAttribute(tensor, name);
  }
  return hasFailed ? Value() : unknownAttribute(base, name);
}

Value Evaluator::tensorAttribute(Tensor tensor, llvm::StringRef name) {
  if (name == "dtype")
    return Value::type(tensor.dtype());
  if (name == "type")
    return Value::type(tensor.type);
  if (name == "shape")
    return shapeTuple(tensor.type.shape);
  if (name == "numel")
    return Value::integer(tensor.type.getNumElements());
  if (name == "ndim")
    return Value::integer(Int(tensor.type.shape.size()));
  Value self = Value::tensor(tensor);
  if (name == "T") {
    if (tensor.type.shape.size() != 2)
      return error(DiagKind::SemaShape, ".T", "a tensor of rank 2", tensor.type.str());
    return Value::tensor(permute(tensor, {1, 0}));
  }
  const BuiltinInfo *info = findBuiltin(Library::Language, name);
  if (info && info->library == Library::Language && info->place == Place::Kernel)
    return bindMethod(self, Value::builtin(*info), name);
  if (info && name == "cdiv")
    return bindMethod(self, Value::builtin(*info), name);
  if (name == "logical_and" || name == "logical_or")
    return bindMethod(self, Value::none(), name);
  std::vector<llvm::StringRef> candidates = getBuiltinNames(Library::Language);
  candidates.insert(candidates.end(), {"shape", "dtype", "type", "numel", "ndim", "T"});
  return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownAttribute,
                       describe(self), name);
}

Value Evaluator::typeAttribute(const TensorType &type, llvm::StringRef name) {
  DType dtype = type.dtype;
  if (name == "element_ty") {
    if (type.isBlock())
      return Value::type(dtype);
    if (dtype.isPointer())
      return Value::type(dtype.getPointee());
    return error(DiagKind::SemaUnknownAttribute, describe(Value::type(type)), name);
  }
  if (name == "scalar" || name == "dtype")
    return Value::type(dtype);
  if (name == "shape")
    return shapeTuple(type.shape);
  if (name == "numel")
    return Value::integer(type.getNumElements());
  if (name == "primitive_bitwidth" || name == "int_bitwidth" || name == "bitwidth")
    return Value::integer(dtype.getBits());
  if (name == "itemsize")
    return Value::integer(dtype.getBits() / 8);
  if (name == "fp_mantissa_width")
    return Value::integer(dtype.getMantissaBits());
  if (name == "name" || name == "__name__")
    return Value::string(dtype.str());
  if (type.answer(name) || name == "get_block_shapes" || name == "to" ||
      name == "get_int_max_value" || name == "get_int_min_value" || name == "with_element_ty")
    return bindMethod(Value::type(type), Value::none(), name);
  return unknownAttribute(Value::type(type), name);
}

Value Evaluator::blockPointerAttribute(const Value &pointer, llvm::StringRef name) {
  const auto &object = pointer.as<BlockPointerObject>();
  if (name == "dtype")
    return Value::type(object.base.dtype());
  // Older versions of Triton: a pointer to a block.
  if (name == "type")
    return Value::type(TensorType(object.base.dtype()));
  if (name == "element_ty")
    return Value::type(object.base.dtype().getPointee());
  if (name == "block_shape")
    return shapeTuple(object.blockShape);
  if (name == "load" || name == "store" || name == "advance")
    return bindMethod(pointer, Value::builtin(*findBuiltin(Library::Language, name)), name);
  return unknownAttribute(pointer, name);
}

Value Evaluator::descriptorAttribute(const Value &descriptor, llvm::StringRef name) {
  const auto &object = descriptor.as<DescriptorObject>();
  auto bind = [&](llvm::StringRef builtin) {
    return bindMethod(descriptor, Value::builtin(*findBuiltin(Library::Language, builtin)), name);
  };
  auto onEachAxis = [&](auto numberOf) {
    std::vector<Value> values;
    for (int64_t axis = 0; axis < object.ir.getType().getRank(); ++axis)
      values.push_back(Value::tensor(numberOf(int32_t(axis))));
    return Value::tuple(std::move(values));
  };
  if (name == "load")
    return bind("load_tensor_descriptor");
  if (name == "store")
    return bind("store_tensor_descriptor");
  if (std::string method = ("_descriptor_" + name).str(); findBuiltin(Library::Language, method))
    return bind(method);
  if (name == "dtype")
    return Value::type(object.pointer.getPointee());
  if (name == "block_type")
    return Value::type(object.blockType());
  if (name == "shape") // Triton's are i32
    return onEachAxis([&](int32_t axis) {
      Tensor extent{builder.createOrFold<tile::DescriptorExtentOp>(loc(), object.ir, axis),
                    Scalar::Int64};
      return cast(extent, Scalar::Int32);
    });
  if (name == "strides")
    return onEachAxis([&](int32_t axis) {
      return Tensor{builder.createOrFold<tile::DescriptorStrideOp>(loc(), object.ir, axis),
                    Scalar::Int64};
    });
  return name == "block_shape" ? shapeTuple(object.blockType().shape)
                               : unknownAttribute(descriptor, name);
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static Value fullSlice() {
  auto object = std::make_shared<SliceObject>();
  object->lower = object->upper = object->step = Value::none();
  return {ValueKind::Slice, object};
}

static bool isFullSlice(const Value &value) {
  if (!value.is(ValueKind::Slice))
    return false;
  const auto &slice = value.as<SliceObject>();
  return slice.lower.isNone() && slice.upper.isNone() && slice.step.isNone();
}

Value Evaluator::indexTensor(Tensor tensor, const Value &index) {
  std::vector<Value> parts{index};
  if (index.isSequence())
    parts = index.getElements();
  // `...` is as many ':' as are left.
  auto isEllipsis = [](const Value &part) { return part.is(ValueKind::Ellipsis); };
  if (auto found = llvm::find_if(parts, isEllipsis); found != parts.end()) {
    size_t named = llvm::count_if(parts, isFullSlice), rank = tensor.type.shape.size();
    found = parts.erase(found);
    parts.insert(found, rank > named ? rank - named : 0, fullSlice());
  }
  unsigned axis = 0;
  for (const Value &part : parts) {
    if (part.isNone() && tensor.isBlock() && axis > tensor.type.shape.size())
      return error(DiagKind::SemaShape, "an index of a tensor",
                   "no more ':' than dimensions before None", tensor.type.str());
    if (part.isNone())
      tensor = expandDims(tensor, tensor.isBlock() ? axis : 0);
    else if (!isFullSlice(part))
      return errorWithHint("one element is tl.sum(tl.where(tl.arange(0, N) == i, x, 0)); several "
                           "are tl.gather, or a load from a pointer",
                           DiagKind::SemaInvalidArgument, "an index of a tensor", "':' or None",
                           describe(part));
    if (!tensor)
      return Value();
    ++axis;
  }
  return Value::tensor(tensor);
}

/// Python's rules for the bounds of a slice.
static void clampSlice(Int size, const SliceObject &slice, Int step, Int &lower, Int &upper) {
  auto bound = [&](const Value &value, Int missing) {
    if (!value.isIntegral())
      return missing;
    Int at = value.getInt();
    if (at < 0)
      at += size;
    Int least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    return at < least ? least : at > most ? most : at;
  };
  lower = bound(slice.lower, step < 0 ? size - 1 : 0);
  upper = bound(slice.upper, step < 0 ? -1 : size);
}

Value Evaluator::subscriptSequence(const Value &base, const Value &index) {
  std::vector<Value> elements;
  if (base.isString())
    for (char c : base.getString())
      elements.push_back(Value::string(llvm::StringRef(&c, 1)));
  else if (std::optional<std::vector<Value>> items = iterate(base))
    elements = *items;
  else
    return Value();
  Int size = Int(elements.size());
  if (index.is(ValueKind::Slice)) {
    const auto &slice = index.as<SliceObject>();
    for (const Value *part : {&slice.lower, &slice.upper, &slice.step})
      if (!part->isNone() && !constantInt(*part, "a slice bound"))
        return Value();
    Int step = slice.step.isNone() ? 1 : slice.step.getInt();
    if (step == 0)
      return error(DiagKind::SemaPython, "slice step cannot be zero");
    Int lower, upper;
    clampSlice(size, slice, step, lower, upper);
    std::vector<Value> result;
    for (Int at = lower; step > 0 ? at < upper : at > upper; at += step)
      result.push_back(elements[size_t(at)]);
    if (base.isString()) {
      std::string text;
      for (const Value &letter : result)
        text += letter.getString();
      return Value::string(text);
    }
    return base.is(ValueKind::List) ? Value::list(result) : Value::tuple(result);
  }
  std::optional<Int> at = constantInt(index, "an index");
  if (!at)
    return Value();
  Int position = *at < 0 ? *at + size : *at;
  if (position < 0 || position >= size)
    return error(DiagKind::SemaPython,
                 "index " + toString(*at) + " is out of range for " + toString(size) + " elements");
  return elements[size_t(position)];
}

Value Evaluator::subscript(const Value &base, const Value &index) {
  switch (base.getKind()) {
  case ValueKind::Tensor:
    return indexTensor(base.getTensor(), index);
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Range:
  case ValueKind::String:
    return subscriptSequence(base, index);
  case ValueKind::Dict:
    for (const auto &[key, value] : base.as<DictObject>().items)
      if (isEqual(key, index).value_or(false))
        return use(str(key), value);
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
    // `x[None]`, `x[:, None]` of a compile-time number.
    if (base.isNumber() && buildsIR() && frame->mode == FunctionMode::Kernel)
      return indexTensor(toTensor(base), index);
    return error(DiagKind::SemaUnsupportedSyntax, "an index of " + describe(base));
  }
}

std::optional<std::vector<Value>> Evaluator::iterate(const Value &iterable) {
  std::vector<Value> items;
  switch (iterable.getKind()) {
  case ValueKind::Error:
    return std::nullopt;
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Set:
    return iterable.getElements();
  case ValueKind::String:
    for (char c : iterable.getString())
      items.push_back(Value::string(llvm::StringRef(&c, 1)));
    return items;
  case ValueKind::Dict:
    for (const auto &item : iterable.as<DictObject>().items)
      items.push_back(item.first);
    return items;
  case ValueKind::Range: {
    const auto &range = iterable.as<RangeObject>();
    for (Int at = range.start; range.step > 0 ? at < range.stop : at > range.stop;
         at += range.step) {
      if (!step())
        return std::nullopt;
      items.push_back(Value::integer(at));
    }
    return items;
  }
  case ValueKind::Opaque:
    notKnown(iterable);
    return std::nullopt;
  case ValueKind::Iterator:
    return host->drain(iterable);
  case ValueKind::Class:
  case ValueKind::Instance:
    return host->iterateObject(iterable);
  default:
    return fail(DiagKind::SemaUnsupportedSyntax, "iterating over " + describe(iterable));
  }
}

} // namespace kiln::sema
