// Block pointers, which Triton 3.8 no longer has and released kernels still use.
//
// A block pointer is a base, shape, strides and offsets, all 64-bit, and a block shape. Nothing of
// it is in the IR: a load or store expands it into a tensor of pointers and a mask. Coordinates are
// multiplied by their stride as vectors, before they are broadcast, so that axis analysis sees
// each dimension alone.

#include "compiler/Sema/MemoryAccess.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace kiln::sema {
namespace {

std::optional<std::vector<Tensor>> readNumbers(Evaluator &evaluator, const Value &list,
                                               llvm::StringRef what, size_t rank) {
  std::vector<Value> elements{list};
  if (list.isSequence())
    elements = list.getElements();
  if (rank && elements.size() != rank)
    return evaluator.fail(DiagKind::SemaShape, what, std::to_string(rank) + " numbers",
                          std::to_string(elements.size()));
  std::vector<Tensor> numbers;
  for (const Value &element : elements) {
    Tensor number = evaluator.toTensor(element);
    if (!number)
      return std::nullopt;
    if (number.isBlock() || !number.dtype().isInt())
      return evaluator.fail(DiagKind::SemaInvalidArgument, what, "integer scalars",
                            number.type.str());
    numbers.push_back(evaluator.cast(number, Scalar::Int64));
  }
  return numbers;
}

/// `vector`, which runs along `axis`, with the rank of the block.
Tensor alongAxis(Evaluator &evaluator, Tensor vector, size_t axis, size_t rank) {
  for (size_t other = 0; other < rank; ++other)
    if (other != axis)
      vector = evaluator.expandDims(vector, unsigned(other));
  return vector;
}

struct BlockAddresses {
  Tensor pointers, mask;
};

/// The places that an access touches along each axis: vectors of int64.
std::vector<Tensor> coordinatesOf(Evaluator &evaluator, const BlockPointerObject &block) {
  std::vector<Tensor> coordinates;
  for (auto [extent, offset] : llvm::zip(block.blockShape, block.offsets)) {
    TensorType rangeType(DType(Scalar::Int32), {extent});
    Tensor range{evaluator.emit<tile::ArangeOp>(evaluator.toMLIR(rangeType), 0u, uint32_t(extent)),
                 rangeType};
    coordinates.push_back(evaluator.add(Value::tensor(offset), Value::tensor(range)));
  }
  return coordinates;
}

/// Pointers to every element at the product of the coordinates, and a mask of those inside the
/// bounds along the axes of `checked`.
std::optional<BlockAddresses> addressesAt(Evaluator &evaluator, const BlockPointerObject &block,
                                          llvm::ArrayRef<Tensor> coordinates,
                                          llvm::ArrayRef<int64_t> checked) {
  if (evaluator.failed())
    return std::nullopt;
  size_t rank = coordinates.size();
  llvm::SmallVector<int64_t, 4> shape;
  for (const Tensor &coordinate : coordinates)
    shape.push_back(coordinate.type.shape.front());
  BlockAddresses result;
  result.pointers = evaluator.splat(block.base, shape);
  for (size_t axis = 0; axis < rank; ++axis) {
    Value coordinate = Value::tensor(coordinates[axis]);
    Tensor offset = evaluator.multiply(coordinate, Value::tensor(block.strides[axis]));
    offset = evaluator.broadcastTo(alongAxis(evaluator, offset, axis, rank), shape);
    result.pointers = evaluator.add(Value::tensor(result.pointers), Value::tensor(offset));
    if (evaluator.failed())
      return std::nullopt;
    if (!llvm::is_contained(checked, int64_t(axis)))
      continue;
    Value low = evaluator.compare(ast::CompareOp::GreaterEqual, coordinate, Value::integer(0));
    Value high =
        evaluator.compare(ast::CompareOp::Less, coordinate, Value::tensor(block.shape[axis]));
    Value inside = evaluator.binary(ast::BinaryOp::BitAnd, low, high);
    if (evaluator.failed())
      return std::nullopt;
    Tensor mask =
        evaluator.broadcastTo(alongAxis(evaluator, inside.getTensor(), axis, rank), shape);
    result.mask = result.mask ? evaluator
                                    .binary(ast::BinaryOp::BitAnd, Value::tensor(result.mask),
                                            Value::tensor(mask))
                                    .getTensor()
                              : mask;
  }
  return result;
}

/// Of the whole block.
std::optional<BlockAddresses> addressesOf(Evaluator &evaluator, const BlockPointerObject &block,
                                          const Value &checkedAxes) {
  llvm::SmallVector<int64_t, 4> checked;
  if (!checkedAxes.isNone()) {
    auto axes = evaluator.constantInts(checkedAxes, "boundary_check");
    if (!axes)
      return std::nullopt;
    checked = *axes;
  }
  size_t rank = block.blockShape.size();
  for (int64_t axis : checked)
    if (axis < 0 || axis >= int64_t(rank))
      return evaluator.fail(DiagKind::SemaInvalidArgument, "boundary_check",
                            "axes from 0 to " + std::to_string(rank - 1), std::to_string(axis));
  return addressesAt(evaluator, block, coordinatesOf(evaluator, block), checked);
}

} // namespace

Value builtinMakeBlockPtr(Evaluator &evaluator, Call &call) {
  auto object = std::make_shared<BlockPointerObject>();
  Tensor base = evaluator.toTensor(call[0]);
  if (!base)
    return Value();
  if (base.isBlock() || !base.dtype().isPointer())
    return evaluator.error(DiagKind::SemaInvalidArgument, "base", "a scalar pointer",
                           base.type.str());
  object->base = base;
  auto blockShape = evaluator.constantShape(call[4], "block_shape");
  if (!blockShape)
    return Value();
  object->blockShape = *blockShape;
  size_t rank = blockShape->size();
  auto shape = readNumbers(evaluator, call[1], "shape", rank);
  auto strides = shape ? readNumbers(evaluator, call[2], "strides", rank) : std::nullopt;
  auto offsets = strides ? readNumbers(evaluator, call[3], "offsets", rank) : std::nullopt;
  auto order = offsets ? evaluator.constantInts(call[5], "order") : std::nullopt;
  if (!order)
    return Value();
  llvm::SmallVector<int64_t, 4> sorted(*order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, int64_t(rank))))
    return evaluator.error(DiagKind::SemaInvalidArgument, "order",
                           "each of the " + std::to_string(rank) +
                               " axes once, the fastest first, as in (1, 0)",
                           repr(call[5]));
  object->shape = *shape;
  object->strides = *strides;
  object->offsets = *offsets;
  return {ValueKind::BlockPointer, object};
}

Value builtinAdvance(Evaluator &evaluator, Call &call) {
  if (!call[0].is(ValueKind::BlockPointer))
    return evaluator.error(DiagKind::SemaInvalidArgument, "tl.advance", "a block pointer",
                           describe(call[0]));
  auto object = std::make_shared<BlockPointerObject>(call[0].as<BlockPointerObject>());
  auto offsets = readNumbers(evaluator, call[1], "offsets", object->offsets.size());
  if (!offsets)
    return Value();
  for (auto [old, delta] : llvm::zip(object->offsets, *offsets))
    old = evaluator.add(Value::tensor(old), Value::tensor(delta));
  return evaluator.failed() ? Value() : Value(ValueKind::BlockPointer, object);
}

Value loadBlock(Evaluator &evaluator, const Call &call, const AccessOptions &options) {
  if (!call[1].isNone() || !call[2].isNone())
    return evaluator.error(DiagKind::SemaInvalidArgument, "tl.load",
                           "boundary_check and padding_option for a block pointer",
                           "mask or other");
  const auto &block = call[0].as<BlockPointerObject>();
  std::optional<std::string> padding = evaluator.constantString(call[4], "padding_option");
  auto addresses = padding ? addressesOf(evaluator, block, call[3]) : std::nullopt;
  if (!addresses)
    return Value();
  Tensor other;
  bool isNan = *padding == "nan";
  DType element = block.base.dtype().getPointee();
  if (!padding->empty() && *padding != "zero" && !isNan)
    return evaluator.error(DiagKind::SemaInvalidArgument, "padding_option", "'zero' or 'nan'",
                           "'" + *padding + "'");
  if (isNan && !element.isFloat())
    return evaluator.error(DiagKind::SemaInvalidArgument, "padding_option", "'zero' for integers",
                           "'nan'");
  if (!padding->empty() && addresses->mask) {
    Value filler = isNan ? Value::real(std::numeric_limits<double>::quiet_NaN()) : Value::real(0);
    other = evaluator.constant(element.isBool() ? DType(Scalar::Int8) : element, filler);
  }
  return emitLoad(evaluator, addresses->pointers, addresses->mask, other, options);
}

Value storeBlock(Evaluator &evaluator, const Call &call, const AccessOptions &options) {
  if (!call[2].isNone())
    return evaluator.error(DiagKind::SemaInvalidArgument, "tl.store",
                           "boundary_check for a block pointer", "mask");
  Tensor value = evaluator.toTensor(call[1]);
  auto addresses =
      value ? addressesOf(evaluator, call[0].as<BlockPointerObject>(), call[3]) : std::nullopt;
  if (!addresses)
    return Value();
  return emitStore(evaluator, addresses->pointers, value, addresses->mask, options);
}

//===----------------------------------------------------------------------===//
// Tensor descriptors: block pointers whose offsets come with each access
//===----------------------------------------------------------------------===//

/// Of a number that readNumbers made 64 bits wide.
static std::optional<int64_t> constantIn(const Tensor &number) {
  mlir::Value value = number.ir;
  if (auto widened = value.getDefiningOp<mlir::arith::ExtSIOp>())
    value = widened.getIn();
  llvm::APInt constant;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// `number`, known to be a multiple of `factor`.
static Tensor asMultipleOf(Evaluator &evaluator, const Tensor &number, int64_t factor) {
  auto list = evaluator.builder.getDenseI64ArrayAttr({factor});
  mlir::DenseI64ArrayAttr none;
  return {evaluator.emit<tile::HintOp>(number.ir.getType(), number.ir, list, none, none),
          number.type};
}

/// What Triton asks of the tensors that descriptors describe: a base and strides of 16 bytes, and
/// elements of the last axis side by side. False after an error.
static bool promiseAlignment(Evaluator &evaluator, BlockPointerObject &object) {
  int64_t bytes = std::max(object.base.dtype().getPointee().getBits() / 8, 1u);
  int64_t factor = std::max<int64_t>(descriptorAlignment / bytes, 1);
  std::optional<int64_t> last = constantIn(object.strides.back());
  if (last != 1) {
    evaluator.errorWithHint("the signature may say so of an argument: 'i32:1'",
                            DiagKind::SemaInvalidArgument, "strides",
                            "1, known at compile time, as the last",
                            last ? std::to_string(*last) : "a number known at run time");
    return false;
  }
  object.base = asMultipleOf(evaluator, object.base, descriptorAlignment);
  for (Tensor &stride : llvm::MutableArrayRef(object.strides).drop_back()) {
    std::optional<int64_t> known = constantIn(stride);
    if (known && *known % factor != 0) {
      evaluator.error(DiagKind::SemaInvalidArgument, "strides", "multiples of 16 bytes",
                      std::to_string(*known) + " elements of " + std::to_string(bytes) + " bytes");
      return false;
    }
    if (!known)
      stride = asMultipleOf(evaluator, stride, factor);
  }
  return true;
}

Value builtinMakeTensorDescriptor(Evaluator &evaluator, Call &call) {
  auto blockShape = evaluator.constantShape(call[3], "block_shape");
  auto padding = blockShape ? evaluator.constantString(call[4], "padding_option") : std::nullopt;
  if (!padding)
    return Value();
  Call parts;
  std::vector<Value> zeros(blockShape->size(), Value::integer(0)), order;
  for (size_t axis = 0; axis < blockShape->size(); ++axis)
    order.push_back(Value::integer(Int(axis)));
  parts.values = {call[0], call[1], call[2], Value::tuple(zeros), call[3], Value::tuple(order)};
  Value pointer = builtinMakeBlockPtr(evaluator, parts);
  if (evaluator.failed())
    return Value();
  auto &object = pointer.as<BlockPointerObject>();
  if (!promiseAlignment(evaluator, object))
    return Value();
  object.isDescriptor = true;
  object.padsWithNan = *padding == "nan" && object.base.dtype().getPointee().isFloat();
  return pointer;
}
Value builtinMakeTensorDescriptor2(Evaluator &evaluator, Call &call) {
  return builtinMakeTensorDescriptor(evaluator, call);
}

/// The block of a descriptor at `offsets`, as a block pointer, and all its axes.
static std::optional<std::pair<Value, Value>> blockAt(Evaluator &evaluator, const Value &descriptor,
                                                      const Value &offsets) {
  if (!descriptor.is(ValueKind::BlockPointer) || !descriptor.as<BlockPointerObject>().isDescriptor)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "desc", "a tensor descriptor",
                          describe(descriptor));
  auto block = std::make_shared<BlockPointerObject>(descriptor.as<BlockPointerObject>());
  auto numbers = readNumbers(evaluator, offsets, "offsets", block->blockShape.size());
  if (!numbers)
    return std::nullopt;
  block->offsets = *numbers;
  std::vector<Value> axes;
  for (size_t axis = 0; axis < numbers->size(); ++axis)
    axes.push_back(Value::integer(Int(axis)));
  return std::make_pair(Value(ValueKind::BlockPointer, block), Value::tuple(axes));
}

static Value loadAt(Evaluator &evaluator, const Value &descriptor, const Value &offsets,
                    const AccessOptions &options) {
  auto block = blockAt(evaluator, descriptor, offsets);
  if (!block)
    return Value();
  bool isNan = descriptor.as<BlockPointerObject>().padsWithNan;
  Call load;
  load.values = {block->first, Value::none(), Value::none(), block->second,
                 Value::string(isNan ? "nan" : "zero")};
  return loadBlock(evaluator, load, options);
}

static Value storeAt(Evaluator &evaluator, const Value &descriptor, const Value &offsets,
                     const Value &value) {
  auto block = blockAt(evaluator, descriptor, offsets);
  if (!block)
    return Value();
  Call store;
  store.values = {block->first, value, Value::none(), block->second};
  return storeBlock(evaluator, store, {});
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

/// Atomic operations on a block; nothing comes back.
static Value atomicAt(Evaluator &evaluator, Call &call, llvm::StringRef operation) {
  auto block = blockAt(evaluator, call[0], call[1]);
  auto addresses =
      block ? addressesOf(evaluator, block->first.as<BlockPointerObject>(), block->second)
            : std::nullopt;
  if (!addresses)
    return Value();
  evaluator.call(Value::builtin(*findBuiltin(Library::Language, operation)),
                 {Value::tensor(addresses->pointers), call[2], Value::tensor(addresses->mask),
                  Value::string("relaxed")},
                 {});
  return evaluator.failed() ? Value() : Value::none();
}
Value builtinDescriptorAtomicAdd(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_add");
}
Value builtinDescriptorAtomicMin(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_min");
}
Value builtinDescriptorAtomicMax(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_max");
}
Value builtinDescriptorAtomicAnd(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_and");
}
Value builtinDescriptorAtomicOr(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_or");
}
Value builtinDescriptorAtomicXor(Evaluator &evaluator, Call &call) {
  return atomicAt(evaluator, call, "atomic_xor");
}

/// Addresses of the rows `rows` of a descriptor whose blocks are one row, from a column on.
static std::optional<BlockAddresses> rowsAt(Evaluator &evaluator, const Value &descriptor,
                                            const Value &rows, const Value &column) {
  auto block = blockAt(evaluator, descriptor, Value::tuple({Value::integer(0), column}));
  if (!block)
    return std::nullopt;
  const auto &object = block->first.as<BlockPointerObject>();
  if (object.blockShape.size() != 2 || object.blockShape.front() != 1)
    return evaluator.fail(DiagKind::SemaShape, "desc", "a descriptor of blocks of one row",
                          shapeToString(object.blockShape));
  Tensor indices = evaluator.toTensor(rows);
  if (!indices)
    return std::nullopt;
  if (indices.type.shape.size() != 1 || !indices.dtype().isInt())
    return evaluator.fail(DiagKind::SemaInvalidArgument, "x_offsets", "a vector of integers",
                          indices.type.str());
  std::vector<Tensor> coordinates = coordinatesOf(evaluator, object);
  coordinates.front() = evaluator.cast(indices, Scalar::Int64);
  return addressesAt(evaluator, object, coordinates, {0, 1});
}

Value builtinDescriptorGather(Evaluator &evaluator, Call &call) {
  auto addresses = rowsAt(evaluator, call[0], call[1], call[2]);
  if (!addresses)
    return Value();
  const auto &object = call[0].as<BlockPointerObject>();
  DType element = object.base.dtype().getPointee();
  Tensor other = evaluator.constant(element.isBool() ? DType(Scalar::Int8) : element,
                                    Value::real(object.padsWithNan ? NAN : 0));
  return emitLoad(evaluator, addresses->pointers, addresses->mask, other, {});
}

Value builtinDescriptorScatter(Evaluator &evaluator, Call &call) {
  auto addresses = rowsAt(evaluator, call[0], call[2], call[3]);
  Tensor value = addresses ? evaluator.toTensor(call[1]) : Tensor();
  return value ? emitStore(evaluator, addresses->pointers, value, addresses->mask, {}) : Value();
}

/// Classes to test against; descriptors are made by make_tensor_descriptor.
Value builtinTensorDescriptorClass(Evaluator &evaluator, Call &) {
  return evaluator.error(DiagKind::SemaUnsupportedBuiltin, "tl.tensor_descriptor");
}
Value builtinTensorDescriptorBase(Evaluator &evaluator, Call &call) {
  return builtinTensorDescriptorClass(evaluator, call);
}

} // namespace kiln::sema
