// Sorting and reversing, made of what Tile has.
//
// Both exchange elements whose places differ in one bit. A reshape to [outer, 2, inner] makes that
// bit an axis of extent 2; the xor of a pair's bits, xor one of them, is the other one. So data
// move by reductions of two neighbours (a shuffle or a renaming of registers on a GPU, a short
// vector loop on the CPU), and no operation of its own is needed.
//
// The network is Triton's bitonic one, comparison for comparison: among equal elements, zeros of
// either sign and NaN it leaves what Triton leaves.

#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::sema {
namespace {

/// Which way a merge orders its blocks: all up, all down, or alternating.
enum class Order { Ascending, Descending, Alternating };

Tensor binary(TensorBuilder &build, ast::BinaryOp op, Tensor a, Tensor b) {
  if (build.failed())
    return {};
  Value result = build.binary(op, Value::tensor(a), Value::tensor(b));
  return build.failed() ? Tensor() : result.getTensor();
}

/// [outer, 2, inner], the middle axis being bit log2(inner) of an element's place.
Tensor splitAtBit(TensorBuilder &build, Tensor tensor, int64_t inner) {
  int64_t outer = tensor.type.getNumElements() / (2 * inner);
  return build.reshape(tensor, {outer, 2, inner}, /*anyOrder=*/false);
}

/// Each element's neighbour along axis 1 of [outer, 2, inner].
Tensor partners(TensorBuilder &build, Tensor tensor) {
  DType type = tensor.dtype();
  Tensor bits = build.bitcast(tensor, getIntType(type.getBits(), /*isSigned=*/true));
  if (!bits)
    return {};
  Call call;
  call.info = getBuiltinTable().find(Library::Language, "xor_sum");
  call.values = {Value::tensor(bits), Value::integer(1), Value::boolean(true)};
  Value pair = builtinXorSum(build, call);
  if (build.failed())
    return {};
  return build.bitcast(binary(build, ast::BinaryOp::BitXor, bits, pair.getTensor()), type);
}

/// int1: bit `bit` of the index along `axis` of a tensor of rank 3 with this extent there.
Tensor indexBit(TensorBuilder &build, unsigned axis, int64_t extent, unsigned bit) {
  TensorType type(DType(Scalar::Int32), {extent});
  Tensor index{build.emit<tile::ArangeOp>(build.toMLIR(type), 0u, uint32_t(extent)), type};
  Value masked =
      build.binary(ast::BinaryOp::BitAnd, Value::tensor(index), Value::integer(Int(1) << bit));
  if (build.failed())
    return {};
  Value isSet = build.compare(ast::CompareOp::NotEqual, masked, Value::integer(0));
  if (build.failed())
    return {};
  Tensor flag = isSet.getTensor();
  for (unsigned other = 0; other < 3; ++other)
    if (other != axis)
      flag = build.expandDims(flag, other);
  return flag;
}

/// Orders the pairs of elements `distance` apart, in blocks of 2^stage.
Tensor compareAndSwap(TensorBuilder &build, Tensor tensor, unsigned stage, unsigned distanceBit,
                      Order order) {
  Tensor own = splitAtBit(build, tensor, int64_t(1) << distanceBit);
  Tensor other = partners(build, own);
  if (!other)
    return {};
  Value greater = build.compare(ast::CompareOp::Greater, Value::tensor(own), Value::tensor(other));
  Tensor down = indexBit(build, 1, 2, 0);
  if (build.failed())
    return {};
  if (order == Order::Descending)
    greater = build.compare(ast::CompareOp::Equal, greater, Value::boolean(false));
  else if (order == Order::Alternating)
    down = binary(build, ast::BinaryOp::BitXor, down,
                  indexBit(build, 0, own.type.shape[0], stage - distanceBit - 1));
  if (build.failed())
    return {};
  Tensor swap = binary(build, ast::BinaryOp::BitXor, greater.getTensor(), down);
  return swap ? build.select(swap, other, own) : Tensor();
}

/// Sorts blocks of 2^stage elements whose halves are sorted in opposite directions.
Tensor merge(TensorBuilder &build, Tensor tensor, unsigned stage, Order order) {
  for (unsigned bit = stage; tensor && bit-- > 0;)
    tensor = compareAndSwap(build, tensor, stage, bit, order);
  return tensor;
}

/// The greater (smaller) halves of pairs of blocks of 2^stage.
Tensor keepBetter(TensorBuilder &build, Tensor tensor, unsigned stage, bool greater) {
  Call call;
  call.info = getBuiltinTable().find(Library::Language, greater ? "max" : "min");
  call.values = {Value::tensor(splitAtBit(build, tensor, int64_t(1) << stage)), Value::integer(1),
                 Value::boolean(false), Value::boolean(true), Value::boolean(false)};
  Value kept = greater ? builtinMax(build, call) : builtinMin(build, call);
  return build.failed() ? Tensor() : kept.getTensor();
}

/// Elements of `source` along an axis of it, by an index (int32) of rank 1.
Tensor pick(TensorBuilder &build, Tensor source, unsigned axis, Tensor index) {
  llvm::SmallVector<int64_t, 4> shape(source.type.shape);
  shape[axis] = index.type.shape[0];
  for (unsigned other = 0; other < shape.size(); ++other)
    if (other != axis)
      index = build.expandDims(index, other);
  index = build.broadcastTo(index, shape);
  if (!index)
    return {};
  TensorType type = source.type.with(shape);
  return {build.emit<tile::GatherOp>(build.toMLIR(type), source.ir, index.ir, axis), type};
}

Tensor range(TensorBuilder &build, int64_t count) {
  TensorType type(DType(Scalar::Int32), {count});
  return {build.emit<tile::ArangeOp>(build.toMLIR(type), 0u, uint32_t(count)), type};
}

/// The greatest or the smallest value.
Tensor extreme(TensorBuilder &build, DType type, bool greatest) {
  if (!type.isFloat())
    return build.constant(type, Value::integer(greatest ? type.getMax() : type.getMin()));
  auto real = llvm::cast<mlir::FloatType>(build.toMLIR(TensorType(type)));
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  llvm::APFloat value = llvm::APFloat::semanticsHasInf(semantics)
                            ? llvm::APFloat::getInf(semantics, !greatest)
                            : llvm::APFloat::getLargest(semantics, !greatest);
  return {build.emit<mlir::arith::ConstantOp>(build.getBuilder().getFloatAttr(real, value)), type};
}

/// The last axis made `extent` long, by elements that come last in the order.
Tensor extend(TensorBuilder &build, Tensor tensor, int64_t extent, bool descending) {
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  int64_t last = shape.back() - 1;
  shape.back() = extent;
  Value places = Value::tensor(range(build, extent));
  Tensor index = build.minMax(/*isMax=*/false, places, Value::integer(last), false);
  Value isFiller = build.compare(ast::CompareOp::Greater, places, Value::integer(last));
  if (build.failed())
    return {};
  Tensor filler = build.splat(extreme(build, tensor.dtype(), !descending), shape);
  Tensor picked = pick(build, tensor, unsigned(shape.size() - 1), index);
  return picked ? build.select(isFiller.getTensor(), filler, picked) : Tensor();
}

/// The last extent, whose axis `dim` must name.
std::optional<int64_t> sortedExtent(PythonOperations &python, llvm::StringRef name, Tensor tensor,
                                    const Value &dim) {
  if (!tensor.isBlock() || tensor.dtype().isPointer())
    return python.fail(DiagKind::SemaShape, name, "a tensor of numbers", tensor.type.str());
  Int rank = Int(tensor.type.shape.size());
  std::optional<Int> axis = dim.isNone() ? rank - 1 : python.constantInt(dim, "dim");
  if (!axis)
    return std::nullopt;
  if (*axis != -1 && *axis != rank - 1)
    return python.fail(DiagKind::SemaInvalidArgument, "dim", "the last axis, " + toString(rank - 1),
                       toString(*axis));
  return tensor.type.shape.back();
}

/// Sorts along the last axis and keeps the first `count` elements.
Value sort(TensorBuilder &build, Tensor tensor, int64_t count, bool descending) {
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  unsigned bits = llvm::Log2_64_Ceil(uint64_t(shape.back())),
           kept = llvm::Log2_64_Ceil(uint64_t(count));
  if (shape.back() != int64_t(1) << bits)
    tensor = extend(build, tensor, int64_t(1) << bits, descending);
  shape.back() = int64_t(1) << kept;
  Order last = descending ? Order::Descending : Order::Ascending;
  auto orderOf = [&](unsigned stage) { return stage < bits ? Order::Alternating : last; };
  for (unsigned stage = 1; tensor && stage <= kept; ++stage)
    tensor = merge(build, tensor, stage, orderOf(stage));
  for (unsigned stage = kept + 1; tensor && stage <= bits; ++stage) {
    tensor = keepBetter(build, tensor, kept, descending);
    tensor = merge(build, tensor, kept, orderOf(stage));
  }
  tensor = build.reshape(tensor, shape, false);
  if (tensor && count != shape.back())
    tensor = pick(build, tensor, unsigned(shape.size() - 1), range(build, count));
  return tensor ? Value::tensor(tensor) : Value();
}

} // namespace

Value builtinSort(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  auto extent = tensor ? sortedExtent(build, "tl.sort", tensor, call[1]) : std::nullopt;
  auto descending = extent ? build.constantBool(call[2], "descending") : std::nullopt;
  return descending ? sort(build, tensor, *extent, *descending) : Value();
}

Value builtinTopk(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  auto extent = tensor ? sortedExtent(build, "tl.topk", tensor, call[2]) : std::nullopt;
  auto descending = extent ? build.constantBool(call[3], "descending") : std::nullopt;
  auto count = descending ? build.constantInt(call[1], "k") : std::nullopt;
  if (!count)
    return Value();
  if (*count < 1 || *count > *extent)
    return build.error(DiagKind::SemaInvalidArgument, "k", "1 to " + toString(*extent),
                       toString(*count));
  return sort(build, tensor, int64_t(*count), *descending);
}

Value builtinBitonicMerge(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  auto extent = tensor ? sortedExtent(build, "tl.bitonic_merge", tensor, call[1]) : std::nullopt;
  auto descending = extent ? build.constantBool(call[2], "descending") : std::nullopt;
  if (!descending)
    return Value();
  // Two halves of one length each.
  if (!llvm::isPowerOf2_64(uint64_t(*extent)))
    return build.error(DiagKind::SemaShape, "tl.bitonic_merge", "a power of two as last extent",
                       tensor.type.str());
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  tensor = merge(build, tensor, llvm::Log2_64(uint64_t(*extent)),
                 *descending ? Order::Descending : Order::Ascending);
  return tensor ? Value::tensor(build.reshape(tensor, shape, false)) : Value();
}

/// Reversing an axis of a power of two flips every bit of the index along it.
Value builtinFlip(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  Value dim = call[1].isNone() ? Value::integer(-1) : call[1];
  std::optional<unsigned> axis = build.constantAxis(dim, "dim", shape.size());
  if (!axis)
    return Value();
  int64_t extent = shape[*axis], inner = 1;
  if (tensor.dtype().isPointer())
    return build.error(DiagKind::SemaShape, "tl.flip", "numbers", tensor.type.str());
  if (!llvm::isPowerOf2_64(uint64_t(extent))) {
    Tensor index =
        binary(build, ast::BinaryOp::Sub, build.constant(Scalar::Int32, Value::integer(extent - 1)),
               range(build, extent));
    Tensor flipped = index ? pick(build, tensor, *axis, index) : Tensor();
    return flipped ? Value::tensor(flipped) : Value();
  }
  for (size_t i = *axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  for (int64_t distance = 1; tensor && distance < extent; distance *= 2)
    tensor = partners(build, splitAtBit(build, tensor, inner * distance));
  return tensor ? Value::tensor(build.reshape(tensor, shape, false)) : Value();
}

} // namespace kiln::sema
