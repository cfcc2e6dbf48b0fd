// Joining and splitting along a new last axis of extent 2, made of what Tile has: a select between
// broadcasts, and a reduction of pairs that keeps one element and its position.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {
namespace {

/// 0, 1 along the last axis of `shape`, whose extent there is 2.
Tensor positions(TensorBuilder &build, llvm::ArrayRef<int64_t> shape) {
  TensorType type(DType(Scalar::Int32), {2});
  Tensor range{build.emit<tile::ArangeOp>(build.toMLIR(type), 0u, 2u), type};
  for (size_t i = 1; i < shape.size(); ++i)
    range = build.expandDims(range, 0);
  return build.broadcastTo(range, shape);
}

Tensor join(TensorBuilder &build, Tensor a, Tensor b) {
  if (!build.broadcastTogether(a, b))
    return {};
  if (a.dtype() != b.dtype()) {
    build.errorWithHint("cast one with .to(...)", DiagKind::SemaOperands, "tl.join", a.type.str(),
                        b.type.str());
    return {};
  }
  llvm::SmallVector<int64_t, 4> shape(a.type.shape);
  shape.push_back(2);
  auto widen = [&](Tensor part) {
    if (part.isBlock())
      part = build.expandDims(part, unsigned(part.type.shape.size()));
    return build.broadcastTo(part, shape);
  };
  Tensor index = positions(build, shape);
  Value isFirst = build.compare(ast::CompareOp::Equal, Value::tensor(index), Value::integer(0));
  if (build.failed())
    return {};
  return build.select(isFirst.getTensor(), widen(a), widen(b));
}

/// The elements at position 0 (1) of the last axis. Bytes that are not numbers survive: nothing is
/// computed with them.
Tensor half(TensorBuilder &build, Tensor source, bool first) {
  unsigned axis = unsigned(source.type.shape.size()) - 1;
  Tensor index = positions(build, source.type.shape);
  llvm::SmallVector<int64_t, 4> shape(source.type.shape);
  shape.pop_back();
  mlir::OpBuilder &builder = build.getBuilder();
  mlir::Type element = build.toMLIR(TensorType(source.dtype())), i32 = builder.getI32Type();
  auto op = tile::ReduceOp::create(
      builder, build.loc(),
      mlir::TypeRange{build.toMLIR(source.type.with(shape)), build.toMLIR(index.type.with(shape))},
      mlir::ValueRange{source.ir, index.ir}, axis);
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Location loc = build.loc();
  mlir::Block *block =
      builder.createBlock(&op.getCombine(), {}, {element, i32, element, i32}, {loc, loc, loc, loc});
  auto predicate = first ? mlir::arith::CmpIPredicate::slt : mlir::arith::CmpIPredicate::sgt;
  mlir::Value takeLeft =
      build.emit<mlir::arith::CmpIOp>(predicate, block->getArgument(1), block->getArgument(3));
  mlir::Value value =
      build.emit<mlir::arith::SelectOp>(takeLeft, block->getArgument(0), block->getArgument(2));
  mlir::Value position =
      build.emit<mlir::arith::SelectOp>(takeLeft, block->getArgument(1), block->getArgument(3));
  tile::YieldOp::create(builder, loc, mlir::ValueRange{value, position});
  return {op.getResult(0), source.type.with(shape)};
}

} // namespace

Value builtinJoin(TensorBuilder &build, Call &call) {
  Tensor a = build.toTensor(call[0]), b = a ? build.toTensor(call[1]) : Tensor();
  return b ? Value::tensor(join(build, a, b)) : Value();
}

Value builtinSplit(TensorBuilder &build, Call &call) {
  Tensor source = build.toTensor(call[0]);
  if (!source)
    return Value();
  if (!source.isBlock() || source.type.shape.back() != 2 || source.dtype().isPointer())
    return build.error(DiagKind::SemaShape, "tl.split", "numbers with a last extent of 2",
                       source.type.str());
  return Value::tuple(
      {Value::tensor(half(build, source, true)), Value::tensor(half(build, source, false))});
}

Value builtinInterleave(TensorBuilder &build, Call &call) {
  Value joined = builtinJoin(build, call);
  if (build.failed())
    return Value();
  Tensor tensor = joined.getTensor();
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  if (shape.size() == 1)
    return joined;
  shape.pop_back();
  shape.back() *= 2;
  return Value::tensor(build.reshape(tensor, shape, false));
}

Value builtinCat(TensorBuilder &build, Call &call) {
  Tensor a = build.toTensor(call[0]), b = a ? build.toTensor(call[1]) : Tensor();
  std::optional<Int> axis = b ? build.constantInt(call[3], "dim") : std::nullopt;
  if (!axis)
    return Value();
  Int rank = Int(a.type.shape.size());
  Int at = *axis < 0 ? *axis + rank : *axis;
  if (a.type.shape != b.type.shape || at < 0 || at >= rank)
    return build.error(DiagKind::SemaShape, "tl.cat", "two tensors of one shape and an axis",
                       a.type.str() + " and " + b.type.str());
  Tensor joined = join(build, a, b);
  if (!joined)
    return Value();
  // The new axis moves in front of the one that grows, and merges with it.
  llvm::SmallVector<int64_t, 4> order, shape(a.type.shape);
  for (Int i = 0; i < rank; ++i) {
    if (i == at)
      order.push_back(int64_t(rank));
    order.push_back(int64_t(i));
  }
  shape[size_t(at)] *= 2;
  return Value::tensor(build.reshape(build.permute(joined, order), shape, false));
}

} // namespace kiln::sema
