// Builtins that move elements.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {
namespace {

/// `f(x, 16, 32)` and `f(x, (16, 32))` mean the same.
Value oneList(const std::vector<Value> &rest) {
  if (rest.size() == 1 && rest.front().isSequence())
    return rest.front();
  return Value::tuple(rest);
}

Value reshapeTo(TensorBuilder &build, Call &call, bool anyOrder) {
  Tensor tensor = build.toTensor(call[0]);
  auto shape = tensor ? build.constantShape(oneList(call.rest), "shape") : std::nullopt;
  return shape ? Value::tensor(build.reshape(tensor, *shape, anyOrder)) : Value();
}

Value permuteBy(TensorBuilder &build, Tensor tensor, const Value &order) {
  auto axes = build.constantInts(order, "dims");
  return axes ? Value::tensor(build.permute(tensor, *axes)) : Value();
}

} // namespace

Value builtinBroadcast(TensorBuilder &build, Call &call) {
  Tensor a = build.toTensor(call[0]), b = build.toTensor(call[1]);
  if (!build.broadcastTogether(a, b))
    return Value();
  return Value::tuple({Value::tensor(a), Value::tensor(b)});
}

Value builtinBroadcastTo(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  auto shape = tensor ? build.constantShape(oneList(call.rest), "shape") : std::nullopt;
  return shape ? Value::tensor(build.broadcastTo(tensor, *shape)) : Value();
}

Value builtinExpandDims(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::vector<Value> axes{call[1]};
  if (call[1].isSequence())
    axes = call[1].getElements();
  size_t rank = tensor.type.shape.size() + axes.size();
  llvm::SmallVector<int64_t> sorted;
  for (const Value &value : axes) {
    std::optional<unsigned> axis = build.constantAxis(value, "axis", rank);
    if (!axis)
      return Value();
    sorted.push_back(int64_t(*axis));
  }
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return build.error(DiagKind::SemaInvalidArgument, "axis", "different axes",
                       "duplicate axes, normalized axes = " + shapeToString(sorted));
  for (int64_t axis : sorted)
    tensor = build.expandDims(tensor, unsigned(axis));
  return Value::tensor(tensor);
}

Value builtinReshape(TensorBuilder &build, Call &call) {
  std::optional<bool> anyOrder = build.constantBool(call[2], "can_reorder");
  return anyOrder ? reshapeTo(build, call, *anyOrder) : Value();
}
Value builtinView(TensorBuilder &build, Call &call) {
  return reshapeTo(build, call, /*anyOrder=*/true);
}
Value builtinRavel(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  std::optional<bool> anyOrder = tensor ? build.constantBool(call[1], "can_reorder") : std::nullopt;
  return anyOrder ? Value::tensor(build.reshape(tensor, {tensor.type.getNumElements()}, *anyOrder))
                  : Value();
}
Value builtinItem(TensorBuilder &build, Call &call) {
  return Value::tensor(build.unsplat(build.toTensor(call[0])));
}

Value builtinTrans(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  if (!call.rest.empty() && !call.rest.front().isNone())
    return permuteBy(build, tensor, oneList(call.rest));
  size_t rank = tensor.type.shape.size();
  if (rank < 2)
    return build.error(DiagKind::SemaShape, "tl.trans", "a tensor of rank 2 or more",
                       tensor.type.str());
  llvm::SmallVector<int64_t, 4> order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = int64_t(i);
  std::swap(order[rank - 1], order[rank - 2]);
  return Value::tensor(build.permute(tensor, order));
}
Value builtinPermute(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  return tensor ? permuteBy(build, tensor, oneList(call.rest)) : Value();
}

Value builtinSqueeze(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::optional<unsigned> axis = build.constantAxis(call[1], "axis", tensor.type.shape.size());
  if (!axis)
    return Value();
  llvm::SmallVector<int64_t, 4> shape(tensor.type.shape);
  if (shape[*axis] != 1)
    return build.error(DiagKind::SemaShape, "tl.squeeze", "an axis of extent 1", tensor.type.str());
  shape.erase(shape.begin() + *axis);
  return Value::tensor(build.reshape(tensor, shape, false));
}
Value builtinUnsqueeze(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  if (!tensor)
    return Value();
  std::optional<unsigned> axis = build.constantAxis(call[1], "axis", tensor.type.shape.size() + 1);
  return axis ? Value::tensor(build.expandDims(tensor, *axis)) : Value();
}

} // namespace kiln::sema
