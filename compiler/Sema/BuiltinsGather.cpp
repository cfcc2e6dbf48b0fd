// Elements picked by index, and counted by value.

#include "compiler/Sema/Evaluator.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::sema {
namespace {

Tensor arange(Evaluator &evaluator, int64_t count) {
  TensorType type(DType(Scalar::Int32), {count});
  return {evaluator.emit<tile::ArangeOp>(evaluator.toMLIR(type), 0u, uint32_t(count)), type};
}

/// Index tensors of Tile IR are signed and no narrower than they need be.
Tensor gather(Evaluator &evaluator, Tensor source, Tensor index, unsigned axis) {
  if (index.dtype().getBits() < 32)
    index = evaluator.cast(index, Scalar::Int32);
  if (!index)
    return {};
  TensorType type = source.type.with(index.type.shape);
  return {evaluator.emit<tile::GatherOp>(evaluator.toMLIR(type), source.ir, index.ir, axis), type};
}

/// int32 [bins]: how many of the elements (rank 1) equal each bin's number, where `mask` holds.
Tensor countEach(Evaluator &evaluator, Tensor elements, Tensor mask, int64_t bins) {
  Tensor numbers = evaluator.expandDims(arange(evaluator, bins), 0);
  Value equal =
      evaluator.compare(ast::CompareOp::Equal, Value::tensor(evaluator.expandDims(elements, 1)),
                        Value::tensor(numbers));
  if (!evaluator.failed() && mask)
    equal = evaluator.binary(ast::BinaryOp::BitAnd, equal,
                             Value::tensor(evaluator.expandDims(mask, 1)));
  if (evaluator.failed())
    return {};
  Call call;
  call.info = findBuiltin(Library::Language, "sum");
  call.values = {Value::tensor(evaluator.cast(equal.getTensor(), Scalar::Int32)), Value::integer(0),
                 Value::boolean(false), Value::none()};
  Value counts = builtinSum(evaluator, call);
  return evaluator.failed() ? Tensor() : counts.getTensor();
}

/// A loop over parts of the elements that bounds how many comparisons stand side by side.
Tensor countInParts(Evaluator &evaluator, Tensor elements, Tensor mask, int64_t bins,
                    int64_t part) {
  mlir::OpBuilder &builder = evaluator.builder;
  DType int32(Scalar::Int32);
  auto number = [&](int64_t value) { return evaluator.constant(int32, Value::integer(value)).ir; };
  Tensor none = evaluator.splat(evaluator.constant(int32, Value::integer(0)), {bins});
  auto loop = mlir::scf::ForOp::create(builder, evaluator.loc(), number(0),
                                       number(elements.type.getNumElements()), number(part),
                                       mlir::ValueRange{none.ir});
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value places =
      evaluator.binary(ast::BinaryOp::Add, Value::tensor(loop.getInductionVar(), TensorType(int32)),
                       Value::tensor(arange(evaluator, part)));
  if (evaluator.failed())
    return {};
  Tensor someElements = gather(evaluator, elements, places.getTensor(), 0);
  Tensor someMask = mask ? gather(evaluator, mask, places.getTensor(), 0) : Tensor();
  // The last part may reach beyond the elements.
  int64_t count = elements.type.getNumElements();
  if (count % part != 0) {
    Value inside = evaluator.compare(ast::CompareOp::Less, places, Value::integer(count));
    if (someMask && !evaluator.failed())
      inside = evaluator.binary(ast::BinaryOp::BitAnd, Value::tensor(someMask), inside);
    if (evaluator.failed())
      return {};
    someMask = inside.getTensor();
  }
  Tensor counts = countEach(evaluator, someElements, someMask, bins);
  if (!counts)
    return {};
  mlir::Value sum = evaluator.emit<mlir::arith::AddIOp>(loop.getRegionIterArg(0), counts.ir);
  mlir::scf::YieldOp::create(builder, evaluator.loc(), mlir::ValueRange{sum});
  return {loop.getResult(0), none.type};
}

} // namespace

Value builtinGather(Evaluator &evaluator, Call &call) {
  Tensor source = evaluator.toTensor(call[0]);
  Tensor index = source ? evaluator.toTensor(call[1]) : Tensor();
  std::optional<unsigned> axis =
      index ? evaluator.constantAxis(call[2], "axis", source.type.shape.size()) : std::nullopt;
  if (!axis)
    return Value();
  llvm::SmallVector<int64_t, 4> shape(source.type.shape);
  if (index.type.shape.size() == shape.size())
    shape[*axis] = index.type.shape[*axis];
  if (!index.dtype().isInt() || llvm::ArrayRef<int64_t>(index.type.shape) != llvm::ArrayRef(shape))
    return evaluator.error(DiagKind::SemaShape, "tl.gather",
                           "an index of integers of the shape of " + source.type.str() +
                               " except along axis " + std::to_string(*axis),
                           index.type.str());
  Tensor result = gather(evaluator, source, index, *axis);
  return result ? Value::tensor(result) : Value();
}

Value builtinHistogram(Evaluator &evaluator, Call &call) {
  Tensor input = evaluator.toTensor(call[0]);
  std::optional<Int> bins = input ? evaluator.constantInt(call[1], "num_bins") : std::nullopt;
  if (!bins)
    return Value();
  if (input.type.shape.size() != 1 || !input.dtype().isInt())
    return evaluator.error(DiagKind::SemaShape, "tl.histogram", "integers of rank 1",
                           input.type.str());
  constexpr Int mostBins = 1 << 16;
  if (*bins < 1 || *bins > mostBins)
    return evaluator.error(DiagKind::SemaInvalidArgument, "num_bins", "1 to " + toString(mostBins),
                           toString(*bins));
  Tensor mask;
  if (!call[2].isNone()) {
    mask = evaluator.broadcastTo(evaluator.toTensor(call[2]), input.type.shape);
    if (!mask)
      return Value();
    if (!mask.dtype().isBool())
      return evaluator.error(DiagKind::SemaShape, "the mask of tl.histogram", "booleans",
                             mask.type.str());
  }
  constexpr int64_t comparisons = 8192;
  int64_t count = int64_t(*bins);
  auto part = int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(1, comparisons / count))));
  Tensor result = input.type.getNumElements() <= part
                      ? countEach(evaluator, input, mask, count)
                      : countInParts(evaluator, input, mask, count, part);
  return result ? Value::tensor(result) : Value();
}

} // namespace kiln::sema
