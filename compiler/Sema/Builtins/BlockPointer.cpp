// Block pointers, which Triton 3.8 no longer has and released kernels still use.
//
// A block pointer is a base, shape, strides and offsets, all 64-bit, and a block shape. Nothing of
// it is in the IR: a load or store expands it into a tensor of pointers and a mask.

#include "compiler/Dialect/Tile/BlockAddresses.h"
#include "compiler/Sema/Builtins/MemoryAccess.h"
#include "compiler/Sema/Table/Handlers.h"

namespace kiln::sema {

std::optional<std::vector<Tensor>> readIndices(TensorBuilder &build, const Value &list,
                                               llvm::StringRef what, size_t count) {
  std::vector<Value> elements{list};
  if (list.isSequence())
    elements = list.getElements();
  if (elements.size() != count)
    return build.fail(DiagKind::SemaShape, what, std::to_string(count) + " numbers",
                      std::to_string(elements.size()));
  std::vector<Tensor> numbers;
  for (const Value &element : elements) {
    Tensor number = build.toTensor(element);
    if (!number)
      return std::nullopt;
    if (number.isBlock() || !number.dtype().isInt())
      return build.fail(DiagKind::SemaInvalidArgument, what, "integer scalars", number.type.str());
    numbers.push_back(build.cast(number, Scalar::Int64));
  }
  return numbers;
}

namespace {

struct BlockAddresses {
  Tensor pointers, mask;
};

/// Pointers to every element of the block, and a mask of those inside the bounds along the axes of
/// `checkedAxes`.
std::optional<BlockAddresses> addressesOf(TensorBuilder &build, const BlockPointerObject &block,
                                          const Value &checkedAxes) {
  llvm::SmallVector<int64_t, 4> checked;
  if (!checkedAxes.isNone()) {
    auto axes = build.constantInts(checkedAxes, "boundary_check");
    if (!axes)
      return std::nullopt;
    checked = *axes;
  }
  size_t rank = block.blockShape.size();
  for (int64_t axis : checked)
    if (axis < 0 || axis >= int64_t(rank))
      return build.fail(DiagKind::SemaInvalidArgument, "boundary_check",
                        "axes from 0 to " + std::to_string(rank - 1), std::to_string(axis));
  BlockAddresses result;
  result.pointers.type = TensorType(block.base.dtype(), block.blockShape);
  if (!build.toMLIR(result.pointers.type))
    return std::nullopt;
  mlir::OpBuilder &builder = build.getBuilder();
  mlir::Location loc = build.loc();
  llvm::SmallVector<tile::BlockAxis> axes;
  for (size_t axis = 0; axis < rank; ++axis) {
    mlir::Value coordinates =
        tile::coordinatesFrom(builder, loc, block.offsets[axis].ir, block.blockShape[axis]);
    bool isChecked = llvm::is_contained(checked, int64_t(axis));
    axes.push_back(
        {coordinates, block.strides[axis].ir, isChecked ? block.shape[axis].ir : mlir::Value()});
  }
  tile::BlockAddresses addresses = tile::blockAddresses(builder, loc, block.base.ir, axes);
  result.pointers.ir = addresses.pointers;
  result.mask = {addresses.mask, TensorType(Scalar::Int1, block.blockShape)};
  return result;
}

} // namespace

Value builtinMakeBlockPtr(TensorBuilder &build, Call &call) {
  auto object = std::make_shared<BlockPointerObject>();
  Tensor base = build.toTensor(call[0]);
  if (!base)
    return Value();
  if (base.isBlock() || !base.dtype().isPointer())
    return build.error(DiagKind::SemaInvalidArgument, "base", "a scalar pointer", base.type.str());
  object->base = base;
  auto blockShape = build.constantShape(call[4], "block_shape");
  if (!blockShape)
    return Value();
  object->blockShape = *blockShape;
  size_t rank = blockShape->size();
  auto shape = readIndices(build, call[1], "shape", rank);
  auto strides = shape ? readIndices(build, call[2], "strides", rank) : std::nullopt;
  auto offsets = strides ? readIndices(build, call[3], "offsets", rank) : std::nullopt;
  auto order = offsets ? build.constantInts(call[5], "order") : std::nullopt;
  if (!order)
    return Value();
  llvm::SmallVector<int64_t, 4> sorted(*order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, int64_t(rank))))
    return build.error(DiagKind::SemaInvalidArgument, "order",
                       "each of the " + std::to_string(rank) +
                           " axes once, the fastest first, as in (1, 0)",
                       repr(call[5]));
  object->shape = *shape;
  object->strides = *strides;
  object->offsets = *offsets;
  return {ValueKind::BlockPointer, object};
}

Value builtinAdvance(TensorBuilder &build, Call &call) {
  if (!call[0].is(ValueKind::BlockPointer))
    return build.error(DiagKind::SemaInvalidArgument, "tl.advance", "a block pointer",
                       describe(call[0]));
  auto object = std::make_shared<BlockPointerObject>(call[0].as<BlockPointerObject>());
  auto offsets = readIndices(build, call[1], "offsets", object->offsets.size());
  if (!offsets)
    return Value();
  for (auto [old, delta] : llvm::zip(object->offsets, *offsets))
    old = build.add(Value::tensor(old), Value::tensor(delta));
  return build.failed() ? Value() : Value(ValueKind::BlockPointer, object);
}

Value loadBlock(TensorBuilder &build, const Call &call, const AccessOptions &options) {
  if (!call[1].isNone() || !call[2].isNone())
    return build.error(DiagKind::SemaInvalidArgument, "tl.load",
                       "boundary_check and padding_option for a block pointer", "mask or other");
  const auto &block = call[0].as<BlockPointerObject>();
  std::optional<std::string> padding = build.constantString(call[4], "padding_option");
  auto addresses = padding ? addressesOf(build, block, call[3]) : std::nullopt;
  if (!addresses)
    return Value();
  Tensor other;
  bool isNan = *padding == "nan";
  DType element = block.base.dtype().getPointee();
  if (!padding->empty() && *padding != "zero" && !isNan)
    return build.error(DiagKind::SemaInvalidArgument, "padding_option", "'zero' or 'nan'",
                       "'" + *padding + "'");
  if (isNan && !element.isFloat())
    return build.error(DiagKind::SemaInvalidArgument, "padding_option", "'zero' for integers",
                       "'nan'");
  if (!padding->empty() && addresses->mask) {
    Value filler = isNan ? Value::real(std::numeric_limits<double>::quiet_NaN()) : Value::real(0);
    other = build.constant(element.isBool() ? DType(Scalar::Int8) : element, filler);
  }
  return emitLoad(build, addresses->pointers, addresses->mask, other, options);
}

Value storeBlock(TensorBuilder &build, const Call &call, const AccessOptions &options) {
  if (!call[2].isNone())
    return build.error(DiagKind::SemaInvalidArgument, "tl.store",
                       "boundary_check for a block pointer", "mask");
  Tensor value = build.toTensor(call[1]);
  auto addresses =
      value ? addressesOf(build, call[0].as<BlockPointerObject>(), call[3]) : std::nullopt;
  if (!addresses)
    return Value();
  return emitStore(build, addresses->pointers, value, addresses->mask, options);
}

} // namespace kiln::sema
