// libdevice's conversions between numbers, whose names say what they do: "float2int_rn" rounds an
// fp32 to nearest.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/DirectedRounding.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

static DType typeNamed(llvm::StringRef name) {
  return llvm::StringSwitch<Scalar>(name)
      .Case("int", Scalar::Int32)
      .Case("uint", Scalar::UInt32)
      .Case("ll", Scalar::Int64)
      .Case("ull", Scalar::UInt64)
      .Case("float", Scalar::FP32)
      .Default(Scalar::FP64);
}

Value builtinConversion(TensorBuilder &build, Call &call) {
  auto [names, mode] = llvm::StringRef(call.info->name).split('_');
  auto [source, result] = names.split('2');
  DType from = typeNamed(source), to = typeNamed(result);
  Tensor x = build.toTensor(call[0]);
  if (x && call[0].isNumber())
    x = build.cast(x, from);
  if (!x)
    return Value();
  if (x.dtype() != from)
    return build.error(DiagKind::SemaInvalidArgument, call.info->name, from.str(), x.type.str());
  if (to.isFloat())
    return directionNamed(mode) ? convertToward(*directionNamed(mode), {&build, x}, to).value()
                                : Value::tensor(build.cast(x, to));
  if (mode == "rn")
    x.ir = build.emit<mlir::math::RoundEvenOp>(x.ir);
  else if (mode == "rd")
    x.ir = build.emit<mlir::math::FloorOp>(x.ir);
  else if (mode == "ru")
    x.ir = build.emit<mlir::math::CeilOp>(x.ir);
  return Value::tensor(build.cast(x, to));
}

} // namespace kiln::sema
