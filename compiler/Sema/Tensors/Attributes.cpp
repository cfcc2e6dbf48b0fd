#include "compiler/Sema/Tensors/Attributes.h"

#include "compiler/Basic/NameSuggestion.h"

namespace kiln::sema {

static Value shapeTuple(llvm::ArrayRef<int64_t> shape) {
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

Value unknownAttribute(const Reporting &reporting, const Value &base, llvm::StringRef name) {
  return reporting.error(DiagKind::SemaUnknownAttribute, describe(base), name);
}

Value tensorAttribute(TensorBuilder &build, Tensor tensor, llvm::StringRef name) {
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
      return build.error(DiagKind::SemaShape, ".T", "a tensor of rank 2", tensor.type.str());
    return Value::tensor(build.permute(tensor, {1, 0}));
  }
  const BuiltinInfo *info = build.builtins().find(Library::Language, name);
  if (info && info->library == Library::Language && info->place == Place::Kernel)
    return bindMethod(self, Value::builtin(*info), name);
  if (info && name == "cdiv")
    return bindMethod(self, Value::builtin(*info), name);
  if (name == "logical_and" || name == "logical_or")
    return bindMethod(self, Value::none(), name);
  std::vector<llvm::StringRef> candidates = build.builtins().getNames(Library::Language);
  candidates.insert(candidates.end(), {"shape", "dtype", "type", "numel", "ndim", "T"});
  return build.errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownAttribute,
                             describe(self), name);
}

Value typeAttribute(TensorBuilder &build, const TensorType &type, llvm::StringRef name) {
  DType dtype = type.dtype;
  if (name == "element_ty") {
    if (type.isBlock())
      return Value::type(dtype);
    if (dtype.isPointer())
      return Value::type(dtype.getPointee());
    return build.error(DiagKind::SemaUnknownAttribute, describe(Value::type(type)), name);
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
  if (name == "fp_mantissa_width" && dtype.isFloat())
    return Value::integer(dtype.getFloatFormat().mantissaBits);
  if (name == "exponent_bias" && dtype.isFloat())
    return Value::integer(dtype.getFloatFormat().bias);
  if (name == "name" || name == "__name__")
    return Value::string(dtype.str());
  if (type.answer(name) || name == "get_block_shapes" || name == "to" ||
      name == "get_int_max_value" || name == "get_int_min_value" || name == "with_element_ty")
    return bindMethod(Value::type(type), Value::none(), name);
  return unknownAttribute(build, Value::type(type), name);
}

Value blockPointerAttribute(TensorBuilder &build, const Value &pointer, llvm::StringRef name) {
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
    return bindMethod(pointer, build.builtins().get(Library::Language, name), name);
  return unknownAttribute(build, pointer, name);
}

Value descriptorAttribute(TensorBuilder &build, const Value &descriptor, llvm::StringRef name) {
  const auto &object = descriptor.as<DescriptorObject>();
  auto bind = [&](llvm::StringRef builtin) {
    return bindMethod(descriptor, build.builtins().get(Library::Language, builtin), name);
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
  if (std::string method = ("_descriptor_" + name).str();
      build.builtins().find(Library::Language, method))
    return bind(method);
  if (name == "dtype")
    return Value::type(object.pointer.getPointee());
  if (name == "block_type")
    return Value::type(object.blockType());
  if (name == "shape") // Triton's are i32
    return onEachAxis([&](int32_t axis) {
      Tensor extent{
          build.getBuilder().createOrFold<tile::DescriptorExtentOp>(build.loc(), object.ir, axis),
          Scalar::Int64};
      return build.cast(extent, Scalar::Int32);
    });
  if (name == "strides")
    return onEachAxis([&](int32_t axis) {
      return Tensor{
          build.getBuilder().createOrFold<tile::DescriptorStrideOp>(build.loc(), object.ir, axis),
          Scalar::Int64};
    });
  return name == "block_shape" ? shapeTuple(object.blockType().shape)
                               : unknownAttribute(build, descriptor, name);
}

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

Value indexTensor(TensorBuilder &build, Tensor tensor, const Value &index) {
  std::vector<Value> parts{index};
  if (index.isSequence())
    parts = index.getElements();
  // `...` is as many ':' as are left.
  auto isEllipsis = [](const Value &part) { return part.is(ValueKind::Ellipsis); };
  if (auto found = llvm::find_if(parts, isEllipsis); found != parts.end()) {
    if (build.isPortable())
      return build.notPortable("'...' in an index of a tensor", "write a ':' for each axis");
    size_t named = llvm::count_if(parts, isFullSlice), rank = tensor.type.shape.size();
    found = parts.erase(found);
    parts.insert(found, rank > named ? rank - named : 0, fullSlice());
  }
  unsigned axis = 0;
  for (const Value &part : parts) {
    if (part.isNone() && tensor.isBlock() && axis > tensor.type.shape.size())
      return build.error(DiagKind::SemaShape, "an index of a tensor",
                         "no more ':' than dimensions before None", tensor.type.str());
    if (part.isNone())
      tensor = build.expandDims(tensor, tensor.isBlock() ? axis : 0);
    else if (!isFullSlice(part))
      return build.errorWithHint(
          "one element is tl.sum(tl.where(tl.arange(0, N) == i, x, 0)); several "
          "are tl.gather, or a load from a pointer",
          DiagKind::SemaInvalidArgument, "unsupported tensor index", "':' or None", describe(part));
    if (!tensor)
      return Value();
    ++axis;
  }
  return Value::tensor(tensor);
}

} // namespace kiln::sema
