// Reductions and scans.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::sema {
namespace {

/// Combines two sets of scalars; what it returns is one value, or a tuple of them.
using Combiner = llvm::function_ref<Value(llvm::ArrayRef<Value>, llvm::ArrayRef<Value>)>;

/// Fills the region of a reduce or scan over `sources`. False after an error.
bool fillRegion(TensorBuilder &build, mlir::Region &region, llvm::ArrayRef<Tensor> sources,
                Combiner combine) {
  mlir::OpBuilder &builder = build.getBuilder();
  mlir::OpBuilder::InsertionGuard guard(builder);
  llvm::SmallVector<mlir::Type> types;
  for (int side = 0; side < 2; ++side)
    for (const Tensor &source : sources)
      types.push_back(build.toMLIR(TensorType(source.dtype())));
  llvm::SmallVector<mlir::Location> locations(types.size(), build.loc());
  mlir::Block *block = builder.createBlock(&region, {}, types, locations);
  std::vector<Value> left, right;
  for (auto [index, source] : llvm::enumerate(sources)) {
    left.push_back(Value::tensor(block->getArgument(unsigned(index)), TensorType(source.dtype())));
    right.push_back(Value::tensor(block->getArgument(unsigned(index + sources.size())),
                                  TensorType(source.dtype())));
  }
  Value result;
  {
    TensorBuilder::ElementFunction element(build);
    result = combine(left, right);
  }
  if (build.failed())
    return false;
  std::vector<Value> results{result};
  if (result.isSequence())
    results = result.getElements();
  llvm::SmallVector<mlir::Value> yields;
  if (results.size() != sources.size()) {
    build.error(DiagKind::SemaShape, "the combining function",
                std::to_string(sources.size()) + " results", std::to_string(results.size()));
    return false;
  }
  for (auto [value, source] : llvm::zip(results, sources)) {
    Tensor tensor = build.toTensor(value);
    if (!tensor)
      return false;
    if (tensor.type != TensorType(source.dtype())) {
      build.error(DiagKind::SemaShape, "the combining function",
                  "a result of type " + source.dtype().str(), tensor.type.str());
      return false;
    }
    yields.push_back(tensor.ir);
  }
  tile::YieldOp::create(builder, build.loc(), yields);
  return true;
}

struct ReduceOptions {
  Value axis, keepDims;
};

std::optional<std::vector<Tensor>> reduceAlong(TensorBuilder &build, std::vector<Tensor> sources,
                                               unsigned axis, Combiner combine) {
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<int64_t, 4> shape(sources.front().type.shape);
  shape.erase(shape.begin() + axis);
  for (const Tensor &source : sources) {
    operands.push_back(source.ir);
    types.push_back(build.toMLIR(source.type.with(shape)));
  }
  auto op = tile::ReduceOp::create(build.getBuilder(), build.loc(), types, operands, axis);
  if (!fillRegion(build, op.getCombine(), sources, combine))
    return std::nullopt;
  for (auto [index, source] : llvm::enumerate(sources))
    source = {op.getResult(unsigned(index)), source.type.with(shape)};
  return sources;
}

/// All elements at once, in any order. With gaps between padded rows it is cheaper to go one axis
/// after another than to move the elements together.
std::optional<std::vector<Tensor>> reduceAll(TensorBuilder &build, std::vector<Tensor> sources,
                                             Combiner combine) {
  llvm::ArrayRef<int64_t> shape = sources.front().type.shape;
  size_t rank = shape.size();
  bool gaps = llvm::any_of(shape, [](int64_t n) { return !llvm::isPowerOf2_64(uint64_t(n)); });
  std::optional<std::vector<Tensor>> results = std::move(sources);
  if (gaps) {
    for (size_t axis = rank; results && axis-- > 0;)
      results = reduceAlong(build, std::move(*results), unsigned(axis), combine);
    return results;
  }
  if (rank > 1)
    for (Tensor &source : *results)
      source = build.reshape(source, {source.type.getNumElements()}, true);
  return reduceAlong(build, std::move(*results), 0, combine);
}

std::optional<std::vector<Tensor>> reduce(TensorBuilder &build, std::vector<Tensor> sources,
                                          const ReduceOptions &options, Combiner combine) {
  std::optional<bool> keepDims = build.constantBool(options.keepDims, "keep_dims");
  if (!keepDims)
    return std::nullopt;
  for (const Tensor &source : sources)
    if (!source.isBlock())
      return build.fail(DiagKind::SemaShape, "a reduction", "a tensor", source.type.str());
  size_t rank = sources.front().type.shape.size();
  bool all = options.axis.isNone();
  std::optional<unsigned> axis = all ? 0 : build.constantAxis(options.axis, "axis", rank);
  if (!axis)
    return std::nullopt;
  auto results = all ? reduceAll(build, std::move(sources), combine)
                     : reduceAlong(build, std::move(sources), *axis, combine);
  if (!results || !*keepDims)
    return results;
  for (Tensor &result : *results)
    result = all ? build.splat(result, llvm::SmallVector<int64_t, 4>(rank, 1))
                 : build.expandDims(result, *axis);
  return results;
}

Value single(const std::optional<std::vector<Tensor>> &results) {
  return results ? Value::tensor(results->front()) : Value();
}

/// int32 or uint32 for narrower integers; the requested type when there is one.
std::optional<DType> sumType(PythonOperations &python, DType type, const Value &requested) {
  if (!requested.isNone())
    return python.constantDType(requested, "dtype");
  if (type.isInt() && type.getBits() < 32)
    return type.isSigned() ? DType(Scalar::Int32) : DType(Scalar::UInt32);
  return type;
}

Value reduceWith(TensorBuilder &build, Tensor source, const ReduceOptions &options,
                 ast::BinaryOp op) {
  return single(reduce(build, {source}, options,
                       [&](auto left, auto right) { return build.binary(op, left[0], right[0]); }));
}

/// Value and index of the largest (smallest) element. Of equal ones the left-most with `tieLeft`.
Value reduceWithIndices(TensorBuilder &build, Tensor source, bool isMax, bool tieLeft,
                        const ReduceOptions &options) {
  if (!source.isBlock())
    return build.error(DiagKind::SemaShape, "a reduction", "a tensor", source.type.str());
  size_t rank = source.type.shape.size();
  Value axisValue = options.axis.isNone() && rank == 1 ? Value::integer(0) : options.axis;
  std::optional<unsigned> axis = build.constantAxis(axisValue, "axis", rank);
  if (!axis)
    return Value();
  TensorType indexType(DType(Scalar::Int32), {source.type.shape[*axis]});
  Tensor index{
      build.emit<tile::ArangeOp>(build.toMLIR(indexType), 0u, uint32_t(source.type.shape[*axis])),
      indexType};
  for (unsigned other = 0; other < rank; ++other)
    if (other != *axis)
      index = build.expandDims(index, other);
  index = build.broadcastTo(index, source.type.shape);
  auto combine = [&](llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right) -> Value {
    using ast::CompareOp;
    Value better = build.compare(isMax ? CompareOp::Greater : CompareOp::Less, left[0], right[0]);
    if (tieLeft) {
      Value equal = build.compare(CompareOp::Equal, left[0], right[0]);
      Value before = build.compare(CompareOp::Less, left[1], right[1]);
      Value tie = build.binary(ast::BinaryOp::BitAnd, equal, before);
      better = build.binary(ast::BinaryOp::BitOr, better, tie);
    }
    if (build.failed())
      return Value();
    Tensor takeLeft = better.getTensor();
    return Value::tuple(
        {Value::tensor(build.select(takeLeft, left[0].getTensor(), right[0].getTensor())),
         Value::tensor(build.select(takeLeft, left[1].getTensor(), right[1].getTensor()))});
  };
  auto results = reduce(build, {source, index}, {axisValue, options.keepDims}, combine);
  if (!results)
    return Value();
  return Value::tuple({Value::tensor((*results)[0]), Value::tensor((*results)[1])});
}

Value minMaxReduce(TensorBuilder &build, Call &call, bool isMax) {
  Tensor source = build.promoteBF16(build.toTensor(call[0]));
  std::optional<bool> indices =
      source ? build.constantBool(call[2], "return_indices") : std::nullopt;
  std::optional<bool> tieLeft =
      indices ? build.constantBool(call[3], "return_indices_tie_break_left") : std::nullopt;
  if (!tieLeft)
    return Value();
  ReduceOptions options{call[1], call[4]};
  if (*indices)
    return reduceWithIndices(build, source, isMax, *tieLeft, options);
  if (source.dtype().getBits() < 32)
    source = build.cast(source, source.dtype().isFloat() ? Scalar::FP32 : Scalar::Int32);
  return single(reduce(build, {source}, options, [&](auto left, auto right) {
    return Value::tensor(build.minMax(isMax, left[0], right[0], false));
  }));
}

Value argReduce(TensorBuilder &build, Call &call, bool isMax) {
  Tensor source = build.promoteBF16(build.toTensor(call[0]));
  std::optional<bool> tieLeft =
      source ? build.constantBool(call[2], "tie_break_left") : std::nullopt;
  if (!tieLeft)
    return Value();
  Value both = reduceWithIndices(build, source, isMax, *tieLeft, {call[1], call[3]});
  return build.failed() ? Value() : both.getElements()[1];
}

Value scan(TensorBuilder &build, std::vector<Tensor> sources, const Value &axisValue,
           const Value &reverseValue, Combiner combine) {
  std::optional<bool> reverse = build.constantBool(reverseValue, "reverse");
  if (!reverse)
    return Value();
  for (const Tensor &source : sources)
    if (!source.isBlock())
      return build.error(DiagKind::SemaShape, "a scan", "a tensor", source.type.str());
  std::optional<unsigned> axis =
      build.constantAxis(axisValue, "axis", sources.front().type.shape.size());
  if (!axis)
    return Value();
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &source : sources) {
    operands.push_back(source.ir);
    types.push_back(source.ir.getType());
  }
  auto op = tile::ScanOp::create(build.getBuilder(), build.loc(), types, operands, *axis, *reverse);
  if (!fillRegion(build, op.getCombine(), sources, combine))
    return Value();
  std::vector<Value> results;
  for (auto [index, source] : llvm::enumerate(sources))
    results.push_back(Value::tensor(op.getResult(unsigned(index)), source.type));
  return results.size() == 1 ? results.front() : Value::tuple(results);
}

/// The tensors of `tl.reduce(x, …)` or `tl.reduce((x, y), …)`. Empty after an error.
std::optional<std::vector<Tensor>> readSources(TensorBuilder &build, const Value &value) {
  std::vector<Value> elements{value};
  if (value.isSequence())
    elements = value.getElements();
  std::vector<Tensor> sources;
  for (const Value &element : elements) {
    sources.push_back(build.toTensor(element));
    if (build.failed())
      return std::nullopt;
    if (sources.back().type.shape != sources.front().type.shape)
      return build.fail(DiagKind::SemaBroadcast, shapeToString(sources.front().type.shape),
                        shapeToString(sources.back().type.shape));
  }
  return sources;
}

Value callCombiner(Evaluator &evaluator, const Value &function, llvm::ArrayRef<Value> left,
                   llvm::ArrayRef<Value> right) {
  std::vector<Value> args(left.begin(), left.end());
  args.insert(args.end(), right.begin(), right.end());
  return evaluator.call(function, std::move(args), {});
}

} // namespace

Value builtinSum(TensorBuilder &build, Call &call) {
  Tensor source = build.toTensor(call[0]);
  std::optional<DType> type =
      source ? sumType(build, source.dtype(), call[3]) : std::optional<DType>();
  return type ? reduceWith(build, build.cast(source, *type), {call[1], call[2]}, ast::BinaryOp::Add)
              : Value();
}

static Value integerReduce(TensorBuilder &build, Call &call, ast::BinaryOp op) {
  Tensor source = build.toTensor(call[0]);
  if (!source)
    return Value();
  if (!source.dtype().isInt())
    return build.error(DiagKind::SemaInvalidArgument, call.info->name, "integers",
                       source.type.str());
  return reduceWith(build, source, {call[1], call[2]}, op);
}
Value builtinXorSum(TensorBuilder &build, Call &call) {
  return integerReduce(build, call, ast::BinaryOp::BitXor);
}
Value builtinReduceOr(TensorBuilder &build, Call &call) {
  return integerReduce(build, call, ast::BinaryOp::BitOr);
}

Value builtinMax(TensorBuilder &build, Call &call) { return minMaxReduce(build, call, true); }
Value builtinMin(TensorBuilder &build, Call &call) { return minMaxReduce(build, call, false); }
Value builtinArgmax(TensorBuilder &build, Call &call) { return argReduce(build, call, true); }
Value builtinArgmin(TensorBuilder &build, Call &call) { return argReduce(build, call, false); }

Value builtinReduce(Evaluator &evaluator, Call &call) {
  auto sources = readSources(evaluator.tensors(), call[0]);
  if (!sources)
    return Value();
  auto results =
      reduce(evaluator.tensors(), *sources, {call[1], call[3]},
             [&](auto left, auto right) { return callCombiner(evaluator, call[2], left, right); });
  if (!results || !call[0].isSequence())
    return single(results);
  std::vector<Value> values;
  for (const Tensor &result : *results)
    values.push_back(Value::tensor(result));
  return Value::tuple(values);
}

Value builtinAssociativeScan(Evaluator &evaluator, Call &call) {
  auto sources = readSources(evaluator.tensors(), call[0]);
  if (!sources)
    return Value();
  Value result = scan(evaluator.tensors(), *sources, call[1], call[3], [&](auto left, auto right) {
    return callCombiner(evaluator, call[2], left, right);
  });
  bool wrap = call[0].isSequence() && result.isTensor();
  return wrap ? Value::tuple({result}) : result;
}

Value builtinCumsum(TensorBuilder &build, Call &call) {
  Tensor source = build.promoteBF16(build.toTensor(call[0]));
  std::optional<DType> type =
      source ? sumType(build, source.dtype(), call[3]) : std::optional<DType>();
  if (!type)
    return Value();
  source = build.cast(source, *type);
  if (!source)
    return Value();
  return scan(build, {source}, call[1], call[2], [&](auto left, auto right) {
    return build.binary(ast::BinaryOp::Add, left[0], right[0]);
  });
}

Value builtinCumprod(TensorBuilder &build, Call &call) {
  Tensor source = build.promoteBF16(build.toTensor(call[0]));
  if (!source)
    return Value();
  return scan(build, {source}, call[1], call[2], [&](auto left, auto right) {
    return build.binary(ast::BinaryOp::Mul, left[0], right[0]);
  });
}

} // namespace kiln::sema
