// Tensor descriptors: operations of the Tile dialect, which targets with hardware for them keep and
// others expand (Dialect/Tile/Transforms/ExpandDescriptors.h). Extents, strides and offsets are
// 64-bit in the IR, whatever integers they were.

#include "compiler/Sema/Builtins/MemoryAccess.h"
#include "compiler/Sema/Table/Handlers.h"

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
DescriptorType descriptorType(TensorBuilder &build, const Tensor &base,
                              llvm::ArrayRef<int64_t> shape, llvm::StringRef padding) {
  auto refuse = [&](llvm::StringRef what, const llvm::Twine &wanted, const llvm::Twine &given) {
    build.error(DiagKind::SemaInvalidArgument, what, wanted.str(), given.str());
    return DescriptorType();
  };
  if (base.isBlock() || !base.dtype().isPointer())
    return refuse("base", "a scalar pointer", base.type.str());
  DType pointee = base.dtype().getPointee();
  if (pointee.isPointer())
    return refuse("base", "a pointer to numbers", base.type.str());
  if (shape.empty() || shape.size() > 5)
    return refuse("block_shape", "1 to 5 axes", llvm::Twine(shape.size()));
  if (!build.checkPortableBlock(TensorType(pointee, shape)))
    return {};
  auto block = llvm::cast_if_present<mlir::RankedTensorType>(
      build.toMLIR(TensorType(memoryType(pointee), shape)));
  if (!block)
    return {};
  if (padding != "zero" && padding != "nan")
    return refuse("padding_option", "'zero' or 'nan'", "'" + padding + "'");
  bool isNan = padding == "nan";
  if (isNan && !llvm::isa<mlir::FloatType>(block.getElementType()))
    return refuse("padding_option", "'zero' for " + pointee.str(), "'nan'");
  return DescriptorType::get(build.getContext(), shape, block.getElementType(),
                             isNan ? tile::Padding::NaN : tile::Padding::Zero);
}

/// What is known of the strides keeps what descriptors promise. False after an error.
bool checkStrides(PythonOperations &python, llvm::ArrayRef<Tensor> strides, DescriptorType type) {
  std::optional<int64_t> last = constantIn(strides.back());
  if (last != 1) {
    python.errorWithHint("the signature may say so of an argument: 'i32:1'",
                         DiagKind::SemaInvalidArgument, "strides",
                         "1, known at compile time, as the last",
                         last ? std::to_string(*last) : "a number known at run time");
    return false;
  }
  for (const Tensor &stride : strides.drop_back()) {
    std::optional<int64_t> known = constantIn(stride);
    if (!known || *known % type.getStrideFactor() == 0)
      continue;
    python.error(DiagKind::SemaInvalidArgument, "strides", "multiples of 16 bytes",
                 std::to_string(*known) + " elements of " + std::to_string(type.getElementBytes()) +
                     " bytes");
    return false;
  }
  return true;
}

/// Null after an error.
const DescriptorObject *readDescriptor(PythonOperations &python, const Value &value) {
  if (value.is(ValueKind::Descriptor))
    return &value.as<DescriptorObject>();
  python.error(DiagKind::SemaInvalidArgument, "desc", "a tensor descriptor", describe(value));
  return nullptr;
}

/// A descriptor and the coordinates of a block.
struct Place {
  const DescriptorObject *descriptor;
  llvm::SmallVector<mlir::Value> offsets;
};

std::optional<Place> readPlace(TensorBuilder &build, const Value &value, const Value &offsets) {
  const DescriptorObject *descriptor = readDescriptor(build, value);
  if (!descriptor)
    return std::nullopt;
  auto numbers = readIndices(build, offsets, "offsets", size_t(descriptor->ir.getType().getRank()));
  if (!numbers || build.failed())
    return std::nullopt;
  return Place{descriptor, irOf(*numbers)};
}

/// What was loaded, of the descriptor's element type and `shape`.
Value fromMemory(TensorBuilder &build, mlir::Value loaded, const DescriptorObject &descriptor,
                 llvm::ArrayRef<int64_t> shape) {
  DType element = descriptor.pointer.getPointee();
  Tensor result{loaded, TensorType(memoryType(element), shape)};
  return Value::tensor(element.isBool() ? build.cast(result, element) : result);
}

/// `value` as it stands in memory, of `shape`. Null after an error.
Tensor toMemory(TensorBuilder &build, const Value &value, const DescriptorObject &descriptor,
                llvm::ArrayRef<int64_t> shape) {
  if (!checkWritable(build, TensorType(descriptor.pointer)))
    return {};
  Tensor tensor = build.toTensor(value);
  if (tensor)
    tensor = build.broadcastTo(tensor, shape);
  DType element = descriptor.pointer.getPointee();
  if (tensor)
    tensor = build.cast(tensor, element);
  return tensor ? build.cast(tensor, memoryType(element)) : Tensor();
}

Value loadAt(TensorBuilder &build, const Value &descriptor, const Value &offsets,
             const AccessOptions &options) {
  auto place = readPlace(build, descriptor, offsets);
  if (!place)
    return Value();
  DescriptorType type = place->descriptor->ir.getType();
  auto loaded = build.emit<tile::DescriptorLoadOp>(type.getBlockType(), place->descriptor->ir,
                                                   place->offsets, options.cache, options.evict);
  return fromMemory(build, loaded, *place->descriptor, type.getShape());
}

Value storeAt(TensorBuilder &build, const Value &descriptor, const Value &offsets,
              const Value &value) {
  auto place = readPlace(build, descriptor, offsets);
  if (!place)
    return Value();
  Tensor stored =
      toMemory(build, value, *place->descriptor, place->descriptor->ir.getType().getShape());
  if (!stored)
    return Value();
  tile::DescriptorStoreOp::create(build.getBuilder(), build.loc(), place->descriptor->ir,
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
Value reduceAt(TensorBuilder &build, Call &call, llvm::StringRef name, const ReduceKinds &kinds) {
  auto place = readPlace(build, call[0], call[1]);
  if (!place)
    return Value();
  DType element = place->descriptor->pointer.getPointee();
  bool isHalf = element.is(Scalar::FP16) || element.is(Scalar::BF16);
  if (element.getBits() < 32 && !(isHalf && kinds.takesHalf))
    return build.error(DiagKind::SemaInvalidArgument, name,
                       "elements of 32 or 64 bits (or halves, to add or compare)", element.str());
  if (element.isFloat() && !kinds.onFloat)
    return build.error(DiagKind::SemaInvalidArgument, name, "integers", element.str());
  if (!build.checkPortableReduction(name, element))
    return Value();
  Tensor value =
      toMemory(build, call[2], *place->descriptor, place->descriptor->ir.getType().getShape());
  if (!value)
    return Value();
  AtomicKind kind = element.isFloat()      ? *kinds.onFloat
                    : element.isUnsigned() ? kinds.onUnsigned
                                           : kinds.onSigned;
  tile::DescriptorReduceOp::create(build.getBuilder(), build.loc(), kind, place->descriptor->ir,
                                   place->offsets, value.ir);
  return Value::none();
}

/// Rows of a descriptor whose blocks are one row, from a column on.
struct Rows {
  const DescriptorObject *descriptor;
  mlir::Value rows, column;
  llvm::SmallVector<int64_t, 2> shape;
};

std::optional<Rows> readRows(TensorBuilder &build, const Value &value, const Value &rows,
                             const Value &column) {
  const DescriptorObject *descriptor = readDescriptor(build, value);
  if (!descriptor)
    return std::nullopt;
  llvm::ArrayRef<int64_t> block = descriptor->ir.getType().getShape();
  if (block.size() != 2 || block.front() != 1)
    return build.fail(DiagKind::SemaShape, "desc", "a descriptor of blocks of one row",
                      shapeToString(block));
  Tensor indices = build.toTensor(rows);
  if (!indices)
    return std::nullopt;
  if (indices.type.shape.size() != 1 || !indices.dtype().isInt())
    return build.fail(DiagKind::SemaInvalidArgument, "x_offsets", "a vector of integers",
                      indices.type.str());
  if (!build.checkPortableRows(indices.type, TensorType(descriptor->pointer.getPointee(), block)))
    return std::nullopt;
  auto first = readIndices(build, column, "y_offset", 1);
  if (!first)
    return std::nullopt;
  llvm::SmallVector<int64_t, 2> shape{indices.type.shape.front(), block.back()};
  indices = build.cast(indices, Scalar::Int64);
  if (!indices || !build.toMLIR(TensorType(descriptor->pointer.getPointee(), shape)))
    return std::nullopt;
  return Rows{descriptor, indices.ir, first->front().ir, shape};
}

} // namespace

Value builtinMakeTensorDescriptor(TensorBuilder &build, Call &call) {
  Tensor base = build.toTensor(call[0]);
  auto blockShape = base ? build.constantShape(call[3], "block_shape") : std::nullopt;
  auto padding = blockShape ? build.constantString(call[4], "padding_option") : std::nullopt;
  if (!padding)
    return Value();
  DescriptorType type = descriptorType(build, base, *blockShape, *padding);
  auto extents = type ? readIndices(build, call[1], "shape", blockShape->size()) : std::nullopt;
  auto strides =
      extents ? readIndices(build, call[2], "strides", blockShape->size()) : std::nullopt;
  if (!strides || !checkStrides(build, *strides, type))
    return Value();
  auto object = std::make_shared<DescriptorObject>();
  object->pointer = base.dtype();
  object->ir =
      tile::MakeDescriptorOp::create(build.getBuilder(), build.loc(), type, base.ir, irOf(*extents),
                                     irOf(llvm::ArrayRef(*strides).drop_back()));
  return {ValueKind::Descriptor, object};
}

Value builtinLoadTensorDescriptor(TensorBuilder &build, Call &call) {
  auto options = readAccessOptions(build, call[2], call[3], /*isStore=*/false);
  return options ? loadAt(build, call[0], call[1], *options) : Value();
}
Value builtinStoreTensorDescriptor(TensorBuilder &build, Call &call) {
  return storeAt(build, call[0], call[1], call[2]);
}
Value builtinOldDescriptorLoad(TensorBuilder &build, Call &call) {
  return loadAt(build, call[0], call[1], {});
}
Value builtinOldDescriptorStore(TensorBuilder &build, Call &call) {
  return storeAt(build, call[0], call[2], call[1]);
}

Value builtinDescriptorAtomicAdd(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_add",
                  {AtomicKind::Add, AtomicKind::Add, AtomicKind::FAdd, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicMin(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_min",
                  {AtomicKind::SMin, AtomicKind::UMin, AtomicKind::FMin, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicMax(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_max",
                  {AtomicKind::SMax, AtomicKind::UMax, AtomicKind::FMax, /*takesHalf=*/true});
}
Value builtinDescriptorAtomicAnd(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_and", {AtomicKind::And, AtomicKind::And, std::nullopt});
}
Value builtinDescriptorAtomicOr(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_or", {AtomicKind::Or, AtomicKind::Or, std::nullopt});
}
Value builtinDescriptorAtomicXor(TensorBuilder &build, Call &call) {
  return reduceAt(build, call, "atomic_xor", {AtomicKind::Xor, AtomicKind::Xor, std::nullopt});
}

Value builtinDescriptorGather(TensorBuilder &build, Call &call) {
  auto place = readRows(build, call[0], call[1], call[2]);
  if (!place)
    return Value();
  mlir::Type element = place->descriptor->ir.getType().getElementType();
  auto loaded =
      build.emit<tile::DescriptorGatherOp>(mlir::RankedTensorType::get(place->shape, element),
                                           place->descriptor->ir, place->rows, place->column);
  return fromMemory(build, loaded, *place->descriptor, place->shape);
}

Value builtinDescriptorScatter(TensorBuilder &build, Call &call) {
  auto place = readRows(build, call[0], call[2], call[3]);
  Tensor value = place ? toMemory(build, call[1], *place->descriptor, place->shape) : Tensor();
  if (!value)
    return Value();
  tile::DescriptorScatterOp::create(build.getBuilder(), build.loc(), place->descriptor->ir,
                                    place->rows, place->column, value.ir);
  return Value::none();
}

/// Classes to test against; descriptors are made by make_tensor_descriptor.
Value builtinTensorDescriptorClass(TensorBuilder &build, Call &) {
  return build.error(DiagKind::SemaUnsupportedBuiltin, "tl.tensor_descriptor");
}

} // namespace kiln::sema
