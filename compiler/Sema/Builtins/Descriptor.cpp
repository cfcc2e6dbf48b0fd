// Tensor descriptors: operations of the Tile dialect, which targets with hardware for them keep and
// others expand (Dialect/Tile/Transforms/ExpandDescriptors.h). Extents, strides and offsets are
// 64-bit in the IR, whatever integers they were.

#include "compiler/Sema/Builtins/MemoryAccess.h"

#include "mlir/IR/Matchers.h"

namespace kiln::sema {
namespace {

using tile::AtomicKind;
using tile::DescriptorType;

/// Of a number that readIndices made 64 bits wide.
std::optional<int64_t> constantIn(const Tensor &number) {
  mlir::Value value = number.ir;
  if (auto widened = value.getDefiningOp<mlir::arith::ExtSIOp>())
    value = widened.getIn();
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

llvm::SmallVector<mlir::Value> irOf(llvm::ArrayRef<Tensor> numbers) {
  return llvm::map_to_vector(numbers, [](const Tensor &number) { return number.ir; });
}

/// The type of descriptors of blocks of `shape`, of what `base` points to. Null after an error.
DescriptorType descriptorType(Evaluator &evaluator, const Tensor &base,
                              llvm::ArrayRef<int64_t> shape, llvm::StringRef padding) {
  auto refuse = [&](llvm::StringRef what, const llvm::Twine &wanted, const llvm::Twine &given) {
    evaluator.error(DiagKind::SemaInvalidArgument, what, wanted.str(), given.str());
    return DescriptorType();
  };
  if (base.isBlock() || !base.dtype().isPointer())
    return refuse("base", "a scalar pointer", base.type.str());
  DType pointee = base.dtype().getPointee();
  if (pointee.isPointer())
    return refuse("base", "a pointer to numbers", base.type.str());
  if (shape.empty() || shape.size() > 5)
    return refuse("block_shape", "1 to 5 axes", llvm::Twine(shape.size()));
  auto block = llvm::cast_if_present<mlir::RankedTensorType>(
      evaluator.toMLIR(TensorType(memoryType(pointee), shape)));
  if (!block)
    return {};
  if (padding != "zero" && padding != "nan")
    return refuse("padding_option", "'zero' or 'nan'", "'" + padding + "'");
  bool isNan = padding == "nan";
  if (isNan && !llvm::isa<mlir::FloatType>(block.getElementType()))
    return refuse("padding_option", "'zero' for " + pointee.str(), "'nan'");
  return DescriptorType::get(evaluator.context, shape, block.getElementType(),
                             isNan ? tile::Padding::NaN : tile::Padding::Zero);
}

/// What is known of the strides keeps what descriptors promise. False after an error.
bool checkStrides(Evaluator &evaluator, llvm::ArrayRef<Tensor> strides, DescriptorType type) {
  std::optional<int64_t> last = constantIn(strides.back());
  if (last != 1) {
    evaluator.errorWithHint("the signature may say so of an argument: 'i32:1'",
                            DiagKind::SemaInvalidArgument, "strides",
                            "1, known at compile time, as the last",
                            last ? std::to_string(*last) : "a number known at run time");
    return false;
  }
  for (const Tensor &stride : strides.drop_back()) {
    std::optional<int64_t> known = constantIn(stride);
    if (!known || *known % type.getStrideFactor() == 0)
      continue;
    evaluator.error(DiagKind::SemaInvalidArgument, "strides", "multiples of 16 bytes",
                    std::to_string(*known) + " elements of " +
                        std::to_string(type.getElementBytes()) + " bytes");
    return false;
  }
  return true;
}

/// Null after an error.
const DescriptorObject *readDescriptor(Evaluator &evaluator, const Value &value) {
  if (value.is(ValueKind::Descriptor))
    return &value.as<DescriptorObject>();
  evaluator.error(DiagKind::SemaInvalidArgument, "desc", "a tensor descriptor", describe(value));
  return nullptr;
}

/// A descriptor and the coordinates of a block.
struct Place {
  const DescriptorObject *descriptor;
  llvm::SmallVector<mlir::Value> offsets;
};

std::optional<Place> readPlace(Evaluator &evaluator, const Value &value, const Value &offsets) {
  const DescriptorObject *descriptor = readDescriptor(evaluator, value);
  if (!descriptor)
    return std::nullopt;
  auto numbers =
      readIndices(evaluator, offsets, "offsets", size_t(descriptor->ir.getType().getRank()));
  if (!numbers || evaluator.failed())
    return std::nullopt;
  return Place{descriptor, irOf(*numbers)};
}

/// What was loaded, of the descriptor's element type and `shape`.
Value fromMemory(Evaluator &evaluator, mlir::Value loaded, const DescriptorObject &descriptor,
                 llvm::ArrayRef<int64_t> shape) {
  DType element = descriptor.pointer.getPointee();
  Tensor result{loaded, TensorType(memoryType(element), shape)};
  return Value::tensor(element.isBool() ? evaluator.cast(result, element) : result);
}

/// `value` as it stands in memory, of `shape`. Null after an error.
Tensor toMemory(Evaluator &evaluator, const Value &value, const DescriptorObject &descriptor,
                llvm::ArrayRef<int64_t> shape) {
  if (!checkWritable(evaluator, TensorType(descriptor.pointer)))
    return {};
  Tensor tensor = evaluator.toTensor(value);
  if (tensor)
    tensor = evaluator.broadcastTo(tensor, shape);
  DType element = descriptor.pointer.getPointee();
  if (tensor)
    tensor = evaluator.cast(tensor, element);
  return tensor ? evaluator.cast(tensor, memoryType(element)) : Tensor();
}

Value loadAt(Evaluator &evaluator, const Value &descriptor, const Value &offsets,
             const AccessOptions &options) {
  auto place = readPlace(evaluator, descriptor, offsets);
  if (!place)
    return Value();
  DescriptorType type = place->descriptor->ir.getType();
  auto loaded = evaluator.emit<tile::DescriptorLoadOp>(
      type.getBlockType(), place->descriptor->ir, place->offsets, options.cache, options.evict);
  return fromMemory(evaluator, loaded, *place->descriptor, type.getShape());
}

Value storeAt(Evaluator &evaluator, const Value &descriptor, const Value &offsets,
              const Value &value) {
  auto place = readPlace(evaluator, descriptor, offsets);
  if (!place)
    return Value();
  Tensor stored =
      toMemory(evaluator, value, *place->descriptor, place->descriptor->ir.getType().getShape());
  if (!stored)
    return Value();
  tile::DescriptorStoreOp::create(evaluator.builder, evaluator.loc(), place->descriptor->ir,
                                  place->offsets, stored.ir);
  return Value::none();
}

/// Which operation an atomic method is, by the elements' type.
struct ReduceKinds {
  AtomicKind onSigned, onUnsigned;
  std::optional<AtomicKind> onFloat;
  bool takesHalf = false;
};

/// Nothing comes back.
Value reduceAt(Evaluator &evaluator, Call &call, llvm::StringRef name, const ReduceKinds &kinds) {
  auto place = readPlace(evaluator, call[0], call[1]);
  if (!place)
    return Value();
  DType element = place->descriptor->pointer.getPointee();
  bool isHalf = element.is(Scalar::FP16) || element.is(Scalar::BF16);
  if (element.getBits() < 32 && !(isHalf && kinds.takesHalf))
    return evaluator.error(DiagKind::SemaInvalidArgument, name,
                           "elements of 32 or 64 bits (or halves, to add or compare)",
                           element.str());
  if (element.isFloat() && !kinds.onFloat)
    return evaluator.error(DiagKind::SemaInvalidArgument, name, "integers", element.str());
  Tensor value =
      toMemory(evaluator, call[2], *place->descriptor, place->descriptor->ir.getType().getShape());
  if (!value)
    return Value();
  AtomicKind kind = element.isFloat()      ? *kinds.onFloat
                    : element.isUnsigned() ? kinds.onUnsigned
                                           : kinds.onSigned;
  tile::DescriptorReduceOp::create(evaluator.builder, evaluator.loc(), kind, place->descriptor->ir,
                                   place->offsets, value.ir);
  return Value::none();
}

/// Rows of a descriptor whose blocks are one row, from a column on.
struct Rows {
  const DescriptorObject *descriptor;
  mlir::Value rows, column;
  llvm::SmallVector<int64_t, 2> shape;
};

std::optional<Rows> readRows(Evaluator &evaluator, const Value &value, const Value &rows,
                             const Value &column) {
  const DescriptorObject *descriptor = readDescriptor(evaluator, value);
  if (!descriptor)
    return std::nullopt;
  llvm::ArrayRef<int64_t> block = descriptor->ir.getType().getShape();
  if (block.size() != 2 || block.front() != 1)
    return evaluator.fail(DiagKind::SemaShape, "desc", "a descriptor of blocks of one row",
                          shapeToString(block));
  Tensor indices = evaluator.toTensor(rows);
  if (!indices)
    return std::nullopt;
  if (indices.type.shape.size() != 1 || !indices.dtype().isInt())
    return evaluator.fail(DiagKind::SemaInvalidArgument, "x_offsets", "a vector of integers",
                          indices.type.str());
  auto first = readIndices(evaluator, column, "y_offset", 1);
  if (!first)
    return std::nullopt;
  llvm::SmallVector<int64_t, 2> shape{indices.type.shape.front(), block.back()};
  indices = evaluator.cast(indices, Scalar::Int64);
  if (!indices || !evaluator.toMLIR(TensorType(descriptor->pointer.getPointee(), shape)))
    return std::nullopt;
  return Rows{descriptor, indices.ir, first->front().ir, shape};
}

} // namespace

Value builtinMakeTensorDescriptor(Evaluator &evaluator, Call &call) {
  Tensor base = evaluator.toTensor(call[0]);
  auto blockShape = base ? evaluator.constantShape(call[3], "block_shape") : std::nullopt;
  auto padding = blockShape ? evaluator.constantString(call[4], "padding_option") : std::nullopt;
  if (!padding)
    return Value();
  DescriptorType type = descriptorType(evaluator, base, *blockShape, *padding);
  auto extents = type ? readIndices(evaluator, call[1], "shape", blockShape->size()) : std::nullopt;
  auto strides =
      extents ? readIndices(evaluator, call[2], "strides", blockShape->size()) : std::nullopt;
  if (!strides || !checkStrides(evaluator, *strides, type))
    return Value();
  auto object = std::make_shared<DescriptorObject>();
  object->pointer = base.dtype();
  object->ir =
      tile::MakeDescriptorOp::create(evaluator.builder, evaluator.loc(), type, base.ir,
                                     irOf(*extents), irOf(llvm::ArrayRef(*strides).drop_back()));
  return {ValueKind::Descriptor, object};
}
Value builtinMakeTensorDescriptor2(Evaluator &evaluator, Call &call) {
  return builtinMakeTensorDescriptor(evaluator, call);
}

Value builtinLoadTensorDescriptor(Evaluator &evaluator, Call &call) {
  auto options = readAccessOptions(evaluator, call[2], call[3], /*isStore=*/false);
  return options ? loadAt(evaluator, call[0], call[1], *options) : Value();
}
Value builtinStoreTensorDescriptor(Evaluator &evaluator, Call &call) {
  return storeAt(evaluator, call[0], call[1], call[2]);
}
Value builtinOldDescriptorLoad(Evaluator &evaluator, Call &call) {
  return loadAt(evaluator, call[0], call[1], {});
}
Value builtinOldDescriptorStore(Evaluator &evaluator, Call &call) {
  return storeAt(evaluator, call[0], call[2], call[1]);
}

Value builtinDescriptorAtomicAdd(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_add",
                  {AtomicKind::Add, AtomicKind::Add, AtomicKind::FAdd, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicMin(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_min",
                  {AtomicKind::SMin, AtomicKind::UMin, AtomicKind::FMin, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicMax(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_max",
                  {AtomicKind::SMax, AtomicKind::UMax, AtomicKind::FMax, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicAnd(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_and", {AtomicKind::And, AtomicKind::And, std::nullopt});
}
Value builtinDescriptorAtomicOr(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_or", {AtomicKind::Or, AtomicKind::Or, std::nullopt});
}
Value builtinDescriptorAtomicXor(Evaluator &evaluator, Call &call) {
  return reduceAt(evaluator, call, "atomic_xor", {AtomicKind::Xor, AtomicKind::Xor, std::nullopt});
}

Value builtinDescriptorGather(Evaluator &evaluator, Call &call) {
  auto place = readRows(evaluator, call[0], call[1], call[2]);
  if (!place)
    return Value();
  mlir::Type element = place->descriptor->ir.getType().getElementType();
  auto loaded =
      evaluator.emit<tile::DescriptorGatherOp>(mlir::RankedTensorType::get(place->shape, element),
                                               place->descriptor->ir, place->rows, place->column);
  return fromMemory(evaluator, loaded, *place->descriptor, place->shape);
}

Value builtinDescriptorScatter(Evaluator &evaluator, Call &call) {
  auto place = readRows(evaluator, call[0], call[2], call[3]);
  Tensor value = place ? toMemory(evaluator, call[1], *place->descriptor, place->shape) : Tensor();
  if (!value)
    return Value();
  tile::DescriptorScatterOp::create(evaluator.builder, evaluator.loc(), place->descriptor->ir,
                                    place->rows, place->column, value.ir);
  return Value::none();
}

/// Classes to test against; descriptors are made by make_tensor_descriptor.
Value builtinTensorDescriptorClass(Evaluator &evaluator, Call &) {
  return evaluator.error(DiagKind::SemaUnsupportedBuiltin, "tl.tensor_descriptor");
}
Value builtinTensorDescriptorBase(Evaluator &evaluator, Call &call) {
  return builtinTensorDescriptorClass(evaluator, call);
}

} // namespace kiln::sema
