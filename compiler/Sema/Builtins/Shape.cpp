// Builtins that move elements.

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

/// `f(x, 16, 32)` and `f(x, (16, 32))` mean the same.
Value oneList(const std::vector<Value> &rest) {
  if (rest.size() == 1 && rest.front().isSequence())
    return rest.front();
  return Value::tuple(rest);
}

Value reshapeTo(Evaluator &evaluator, Call &call, bool anyOrder) {
  Tensor tensor = evaluator.toTensor(call[0]);
  auto shape = tensor ? evaluator.constantShape(oneList(call.rest), "shape") : std::nullopt;
  return shape ? Value::tensor(evaluator.reshape(tensor, *shape, anyOrder)) : Value();
}

Value permuteBy(Evaluator &evaluator, Tensor tensor, const Value &order) {
  auto axes = evaluator.constantInts(order, "dims");
  return axes ? Value::tensor(evaluator.permute(tensor, *axes)) : Value();
}

} // namespace

Value builtinBroadcast(Evaluator &evaluator, Call &call) {
  Tensor a = evaluator.toTensor(call[0]), b = evaluator.toTensor(call[1]);
  if (!evaluator.broadcastTogether(a, b))
    return Value();
  return Value::tuple({Value::tensor(a), Value::tensor(b)});
}

Value builtinBroadcastTo(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  auto shape = tensor ? evaluator.constantShape(oneList(call.rest), "shape") : std::nullopt;
  return shape ? Value::tensor(evaluator.broadcastTo(tensor, *shape)) : Value();
}

Value builtinExpandDims(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::vector<Value> axes{call[1]};
  if (call[1].isSequence())
    axes = call[1].getElements();
  size_t rank = tensor.type.shape.size() + axes.size();
  llvm::SmallVector<unsigned> sorted;
  for (const Value &value : axes) {
    std::optional<unsigned> axis = evaluator.constantAxis(value, "axis", rank);
    if (!axis)
      return Value();
    sorted.push_back(*axis);
  }
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return evaluator.error(DiagKind::SemaInvalidArgument, "axis", "different axes", repr(call[1]));
  for (unsigned axis : sorted)
    tensor = evaluator.expandDims(tensor, axis);
  return Value::tensor(tensor);
}

Value builtinReshape(Evaluator &evaluator, Call &call) {
  std::optional<bool> anyOrder = evaluator.constantBool(call[2], "can_reorder");
  return anyOrder ? reshapeTo(evaluator, call, *anyOrder) : Value();
}
Value builtinView(Evaluator &evaluator, Call &call) {
  return reshapeTo(evaluator, call, /*anyOrder=*/true);
}
Value builtinRavel(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  std::optional<bool> anyOrder =
      tensor ? evaluator.constantBool(call[1], "can_reorder") : std::nullopt;
  return anyOrder
             ? Value::tensor(evaluator.reshape(tensor, {tensor.type.getNumElements()}, *anyOrder))
             : Value();
}
Value builtinItem(Evaluator &evaluator, Call &call) {
  return Value::tensor(evaluator.unsplat(evaluator.toTensor(call[0])));
}

Value builtinTrans(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  if (!tensor)
    return Value();
  if (!call.rest.empty() && !call.rest.front().isNone())
    return permuteBy(evaluator, tensor, oneList(call.rest));
  size_t rank = tensor.type.shape.size();
  if (rank < 2)
    return evaluator.error(DiagKind::SemaShape, "tl.trans", "a tensor of rank 2 or more",
                           tensor.type.str());
  llvm::SmallVector<int64_t, 4> order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = int64_t(i);
  std::swap(order[rank - 1], order[rank - 2]);
  return Value::tensor(evaluator.permute(tensor, order));
}
Value builtinPermute(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  return tensor ? permuteBy(evaluator, tensor, oneList(call.rest)) : Value();
}

Value builtinSqueeze(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::optional<unsigned> axis = evaluator.constantAxis(call[1], "axis", tensor.type.shape.size());
  if (!axis)
    return Value();
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  if (shape[*axis] != 1)
    return evaluator.error(DiagKind::SemaShape, "tl.squeeze", "an axis of extent 1",
                           tensor.type.str());
  shape.erase(shape.begin() + *axis);
  return Value::tensor(evaluator.reshape(tensor, shape, false));
}
Value builtinUnsqueeze(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::optional<unsigned> axis =
      evaluator.constantAxis(call[1], "axis", tensor.type.shape.size() + 1);
  return axis ? Value::tensor(evaluator.expandDims(tensor, *axis)) : Value();
}

} // namespace kiln::sema
