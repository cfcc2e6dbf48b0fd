// How elementwise float builtins read their operands and make their operation.
#ifndef KILN_COMPILER_SEMA_TENSORS_FLOATFUNCTIONS_H
#define KILN_COMPILER_SEMA_TENSORS_FLOATFUNCTIONS_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

/// The argument as a tensor of fp32 or fp64; a compile-time integer counts as a float. `half` types
/// are accepted too with `acceptHalf`.
Tensor floatOperand(TensorBuilder &build, llvm::StringRef function, const Value &value,
                    bool acceptHalf = false);

/// Whether a target may use an instruction that approximates the function: in fp32.
enum class Accuracy : uint8_t { Full, Fast };
inline mlir::arith::FastMathFlags fastMathFlags(Accuracy accuracy, DType type) {
  bool isFast = accuracy == Accuracy::Fast && type.is(Scalar::FP32);
  return isFast ? mlir::arith::FastMathFlags::afn : mlir::arith::FastMathFlags::none;
}

template <typename Op>
Value floatFunction(TensorBuilder &build, Call &call, Accuracy accuracy = Accuracy::Full) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  return x ? Value::tensor(build.emit<Op>(x.ir, fastMathFlags(accuracy, x.dtype())), x.type)
           : Value();
}

/// Two operands, promoted and broadcast.
std::optional<std::pair<Tensor, Tensor>> floatOperands(TensorBuilder &build, const Call &call);

template <typename Op>
Value floatFunction2(TensorBuilder &build, Call &call, Accuracy accuracy = Accuracy::Full) {
  auto both = floatOperands(build, call);
  if (!both)
    return Value();
  auto [x, y] = *both;
  return Value::tensor(build.emit<Op>(x.ir, y.ir, fastMathFlags(accuracy, x.dtype())), x.type);
}

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_FLOATFUNCTIONS_H
