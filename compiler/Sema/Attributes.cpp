// Attributes, subscripts and iteration.

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Evaluator.h"

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

/// `is_fp16()`, `is_int_signed()` …; empty for another name.
std::optional<bool> typePredicate(const TensorType &type, llvm::StringRef name) {
  DType dtype = type.dtype;
  if (name == "is_block")
    return type.isBlock();
  if (name == "is_ptr")
    return dtype.isPointer() && !type.isBlock();
  if (name == "is_const" || name == "is_void")
    return false;
  if (name == "is_floating" || name == "is_standard_floating")
    return dtype.isFloat() && (name == "is_floating" || dtype.getBits() > 8);
  if (name == "is_int")
    return dtype.isInt();
  if (name == "is_int_signed")
    return dtype.isSigned();
  if (name == "is_int_unsigned")
    return dtype.isUnsigned();
  if (name == "is_bool")
    return dtype.isBool();
  if (name == "is_fp8")
    return dtype.isFP8();
  if (name.consume_front("is_"))
    if (std::optional<DType> wanted = parseDType(name))
      return dtype == *wanted;
  return std::nullopt;
}

} // namespace

Value Evaluator::unknownAttribute(const Value &base, llvm::StringRef name) {
  return error(DiagKind::SemaUnknownAttribute, describe(base), name);
}

Value Evaluator::getAttribute(const Value &base, llvm::StringRef name) {
  switch (base.getKind()) {
  case ValueKind::Error:
    return Value();
  case ValueKind::Tensor:
    return tensorAttribute(base.getTensor(), name);
  case ValueKind::Type:
    return typeAttribute(base.getType(), name);
  case ValueKind::BlockPointer:
    return blockPointerAttribute(base, name);
  case ValueKind::Opaque:
    return Value::opaque(base.as<OpaqueObject>().path + "." + name);
  case ValueKind::Module: {
    if (std::optional<Value> value = moduleAttribute(base, name))
      return *value;
    if (hasFailed)
      return Value();
    std::vector<llvm::StringRef> candidates;
    const auto &module = base.as<ModuleObject>();
    if (module.path == "triton.language")
      candidates = getBuiltinNames(Library::Language);
    else if (module.state)
      for (const auto &entry : module.state->bindings)
        candidates.push_back(entry.first);
    return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownAttribute,
                         describe(base), name);
  }
  case ValueKind::Class:
    return classAttribute(base, name);
  case ValueKind::Instance: {
    const auto &instance = base.as<InstanceObject>();
    if (const Value *field = instance.find(name))
      return *field;
    if (instance.cls.is(ValueKind::Class)) {
      Value member = classAttribute(instance.cls, name);
      return member.is(ValueKind::Function) ? bindMethod(base, member, name) : member;
    }
    return unknownAttribute(base, name);
  }
  case ValueKind::Function:
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
  // A constexpr's value is the value.
  if (name == "value" && (base.isNumber() || base.isString() || base.isNone()))
    return base;
  if (base.is(ValueKind::Tuple)) {
    const auto &tuple = base.as<SequenceObject>();
    for (auto [field, element] : llvm::zip(tuple.fields, tuple.elements))
      if (field == name)
        return element;
  }
  if (hasPythonMethod(base, name))
    return bindMethod(base, Value::none(), name);
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
  return errorWithHint(suggestName(name, getBuiltinNames(Library::Language)),
                       DiagKind::SemaUnknownAttribute, describe(self), name);
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
  if (typePredicate(type, name) || name == "get_block_shapes" || name == "to" ||
      name == "get_int_max_value" || name == "get_int_min_value" || name == "with_element_ty")
    return bindMethod(Value::type(type), Value::none(), name);
  return unknownAttribute(Value::type(type), name);
}

Value Evaluator::blockPointerAttribute(const Value &pointer, llvm::StringRef name) {
  const auto &object = pointer.as<BlockPointerObject>();
  DType pointee = object.base.dtype().getPointee();
  if (object.isDescriptor) {
    auto bind = [&](llvm::StringRef builtin) {
      return bindMethod(pointer, Value::builtin(*findBuiltin(Library::Language, builtin)), name);
    };
    auto numbers = [](const std::vector<Tensor> &tensors) {
      std::vector<Value> values;
      for (const Tensor &tensor : tensors)
        values.push_back(Value::tensor(tensor));
      return Value::tuple(std::move(values));
    };
    if (name == "load")
      return bind("load_tensor_descriptor");
    if (name == "store")
      return bind("store_tensor_descriptor");
    if (name == "dtype")
      return Value::type(pointee);
    if (name == "block_type")
      return Value::type(TensorType(pointee, object.blockShape));
    if (name == "shape")
      return numbers(object.shape);
    if (name == "strides")
      return numbers(object.strides);
    return name == "block_shape" ? shapeTuple(object.blockShape) : unknownAttribute(pointer, name);
  }
  if (name == "dtype")
    return Value::type(object.base.dtype());
  // Older versions of Triton: a pointer to a block.
  if (name == "type")
    return Value::type(TensorType(object.base.dtype()));
  if (name == "element_ty")
    return Value::type(pointee);
  if (name == "block_shape")
    return shapeTuple(object.blockShape);
  if (name == "load" || name == "store" || name == "advance")
    return bindMethod(pointer, Value::builtin(*findBuiltin(Library::Language, name)), name);
  return unknownAttribute(pointer, name);
}

Value Evaluator::classAttribute(const Value &cls, llvm::StringRef name) {
  const auto &object = cls.as<ClassObject>();
  if (name == "__name__")
    return Value::string(object.definition->name.name);
  for (const ast::Stmt *stmt : object.definition->body) {
    if (const auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt)) {
      if (function->name.name == name)
        return makeFunction(*function, *object.module);
      continue;
    }
    const ast::Expr *target = nullptr, *value = nullptr;
    if (const auto *assignment = llvm::dyn_cast<ast::AssignStmt>(stmt)) {
      target = assignment->targets.front();
      value = assignment->value;
    } else if (const auto *annotated = llvm::dyn_cast<ast::AnnAssignStmt>(stmt)) {
      target = annotated->target;
      value = annotated->value;
    }
    const auto *bound = llvm::dyn_cast_or_null<ast::NameExpr>(target);
    if (bound && value && bound->name == name)
      return statementValue(*object.module, *stmt, *value);
  }
  for (const ast::Argument &base : object.definition->arguments) {
    if (base.kind != ast::ArgumentKind::Positional)
      continue;
    Frame moduleFrame;
    moduleFrame.module = object.module;
    moduleFrame.name = object.definition->name.name;
    FrameGuard guard(*this, moduleFrame);
    Value parent = evaluate(*base.value);
    if (hasFailed)
      return Value();
    if (parent.is(ValueKind::Class))
      return classAttribute(parent, name);
  }
  return unknownAttribute(cls, name);
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static bool isFullSlice(const Value &value) {
  if (value.is(ValueKind::Ellipsis))
    return true;
  if (!value.is(ValueKind::Slice))
    return false;
  const auto &slice = value.as<SliceObject>();
  return slice.lower.isNone() && slice.upper.isNone() && slice.step.isNone();
}

Value Evaluator::indexTensor(Tensor tensor, const Value &index) {
  std::vector<Value> parts{index};
  if (index.isSequence())
    parts = index.getElements();
  unsigned axis = 0;
  for (const Value &part : parts) {
    if (part.isNone())
      tensor = expandDims(tensor, axis);
    else if (!isFullSlice(part))
      return error(DiagKind::SemaInvalidArgument, "an index of a tensor", "':' or None",
                   describe(part));
    else if (axis >= tensor.type.shape.size())
      return error(DiagKind::SemaShape, "an index of a tensor", "no more ':' than dimensions",
                   tensor.type.str());
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
    return fail(DiagKind::SemaNotEvaluated, repr(iterable));
  default:
    return fail(DiagKind::SemaUnsupportedSyntax, "iterating over " + describe(iterable));
  }
}

} // namespace kiln::sema
