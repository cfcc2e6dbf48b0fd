// Elements picked by index, and counted by value.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::sema {
namespace {

/// Index tensors of Tile IR are signed and no narrower than they need be.
Tensor gather(TensorBuilder &build, Tensor source, Tensor index, unsigned axis) {
  if (index.dtype().getBits() < 32)
    index = build.cast(index, Scalar::Int32);
  if (!index)
    return {};
  TensorType type = source.type.with(index.type.shape);
  return {build.emit<tile::GatherOp>(build.toMLIR(type), source.ir, index.ir, axis), type};
}

/// Of a 64-bit number the histogram sees the lower half; whether that is all of it that matters.
Tensor hasCounter(TensorBuilder &build, Tensor elements, int64_t bins) {
  Value isLarge =
      build.compare(ast::CompareOp::GreaterEqual, Value::tensor(elements), Value::integer(0));
  Value isSmall =
      build.compare(ast::CompareOp::Less, Value::tensor(elements), Value::integer(bins));
  if (build.failed())
    return {};
  Value both = build.binary(ast::BinaryOp::BitAnd, isLarge, isSmall);
  return build.failed() ? Tensor() : both.getTensor();
}

} // namespace

Value builtinGather(TensorBuilder &build, Call &call) {
  Tensor source = build.toTensor(call[0]);
  Tensor index = source ? build.toTensor(call[1]) : Tensor();
  std::optional<unsigned> axis =
      index ? build.constantAxis(call[2], "axis", source.type.shape.size()) : std::nullopt;
  if (!axis)
    return Value();
  llvm::SmallVector<int64_t, 4> shape(source.type.shape);
  if (index.type.shape.size() == shape.size())
    shape[*axis] = index.type.shape[*axis];
  if (!index.dtype().isInt() || llvm::ArrayRef<int64_t>(index.type.shape) != llvm::ArrayRef(shape))
    return build.error(DiagKind::SemaShape, "tl.gather",
                       "an index of integers of the shape of " + source.type.str() +
                           " except along axis " + std::to_string(*axis),
                       index.type.str());
  Tensor result = gather(build, source, index, *axis);
  return result ? Value::tensor(result) : Value();
}

Value builtinHistogram(TensorBuilder &build, Call &call) {
  Tensor input = build.toTensor(call[0]);
  std::optional<Int> bins = input ? build.constantInt(call[1], "num_bins") : std::nullopt;
  if (!bins)
    return Value();
  if (input.type.shape.size() != 1 || !input.dtype().isInt())
    return build.error(DiagKind::SemaShape, "tl.histogram", "integers of rank 1", input.type.str());
  constexpr Int mostBins = 1 << 16;
  if (*bins < 1 || *bins > mostBins)
    return build.error(DiagKind::SemaInvalidArgument, "num_bins", "1 to " + toString(mostBins),
                       toString(*bins));
  Tensor mask;
  if (!call[2].isNone()) {
    mask = build.broadcastTo(build.toTensor(call[2]), input.type.shape);
    if (!mask)
      return Value();
    if (!mask.dtype().isBool())
      return build.error(DiagKind::SemaShape, "the mask of tl.histogram", "booleans",
                         mask.type.str());
  }
  if (input.dtype().getBits() == 64) {
    Tensor counted = hasCounter(build, input, int64_t(*bins));
    if (!counted)
      return Value();
    Value both =
        !mask ? Value::tensor(counted)
              : build.binary(ast::BinaryOp::BitAnd, Value::tensor(counted), Value::tensor(mask));
    if (build.failed())
      return Value();
    mask = both.getTensor();
  }
  Tensor numbers = build.cast(input, Scalar::Int32);
  if (!numbers)
    return Value();
  TensorType type(DType(Scalar::Int32), {int64_t(*bins)});
  return Value::tensor(
      build.emit<tile::HistogramOp>(build.toMLIR(type), numbers.ir, mask ? mask.ir : mlir::Value()),
      type);
}

} // namespace kiln::sema
