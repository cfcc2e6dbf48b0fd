#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

Tensor floatOperand(TensorBuilder &build, llvm::StringRef function, const Value &value,
                    bool acceptHalf) {
  if (value.isIntegral())
    return build.constant(Scalar::FP32, value);
  Tensor tensor = build.toTensor(value);
  if (!tensor)
    return {};
  DType type = tensor.dtype();
  bool half = type.is(Scalar::FP16) || type.is(Scalar::BF16);
  if (type.is(Scalar::FP32) || type.is(Scalar::FP64) || (acceptHalf && half))
    return tensor;
  build.error(DiagKind::SemaFloatOnly, function, acceptHalf ? "a float" : "fp32 or fp64",
              tensor.type.str());
  return {};
}

std::optional<std::pair<Tensor, Tensor>> floatOperands(TensorBuilder &build, const Call &call) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  Tensor y = x ? floatOperand(build, call.info->name, call[1]) : Tensor();
  if (!y)
    return std::nullopt;
  // A number takes the other's type.
  Value left = call[0].isNumber() ? call[0] : Value::tensor(x);
  Value right = call[1].isNumber() ? call[1] : Value::tensor(y);
  if (left.isNumber() && right.isNumber())
    left = Value::tensor(x);
  return build.operands(call.info->name, left, right, {});
}

} // namespace kiln::sema
