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

static Value convert(TensorBuilder &build, Call &call) {
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

#define KILN_CONVERSION(ID)                                                                        \
  Value builtin##ID(TensorBuilder &build, Call &call) { return convert(build, call); }
KILN_CONVERSION(FloatToIntRn)
KILN_CONVERSION(FloatToIntRz)
KILN_CONVERSION(FloatToIntRd)
KILN_CONVERSION(FloatToIntRu)
KILN_CONVERSION(FloatToUintRn)
KILN_CONVERSION(FloatToUintRz)
KILN_CONVERSION(FloatToUintRd)
KILN_CONVERSION(FloatToUintRu)
KILN_CONVERSION(FloatToLlRn)
KILN_CONVERSION(FloatToLlRz)
KILN_CONVERSION(FloatToLlRd)
KILN_CONVERSION(FloatToLlRu)
KILN_CONVERSION(FloatToUllRn)
KILN_CONVERSION(FloatToUllRz)
KILN_CONVERSION(FloatToUllRd)
KILN_CONVERSION(FloatToUllRu)
KILN_CONVERSION(DoubleToIntRn)
KILN_CONVERSION(DoubleToIntRz)
KILN_CONVERSION(DoubleToIntRd)
KILN_CONVERSION(DoubleToIntRu)
KILN_CONVERSION(DoubleToUintRn)
KILN_CONVERSION(DoubleToUintRz)
KILN_CONVERSION(DoubleToUintRd)
KILN_CONVERSION(DoubleToUintRu)
KILN_CONVERSION(DoubleToLlRn)
KILN_CONVERSION(DoubleToLlRz)
KILN_CONVERSION(DoubleToLlRd)
KILN_CONVERSION(DoubleToLlRu)
KILN_CONVERSION(DoubleToUllRn)
KILN_CONVERSION(DoubleToUllRz)
KILN_CONVERSION(DoubleToUllRd)
KILN_CONVERSION(DoubleToUllRu)
KILN_CONVERSION(IntToFloatRn)
KILN_CONVERSION(IntToDoubleRn)
KILN_CONVERSION(UintToFloatRn)
KILN_CONVERSION(UintToDoubleRn)
KILN_CONVERSION(LlToFloatRn)
KILN_CONVERSION(LlToDoubleRn)
KILN_CONVERSION(UllToFloatRn)
KILN_CONVERSION(UllToDoubleRn)
KILN_CONVERSION(DoubleToFloatRn)
KILN_CONVERSION(DoubleToFloatRz)
KILN_CONVERSION(DoubleToFloatRd)
KILN_CONVERSION(DoubleToFloatRu)
KILN_CONVERSION(IntToFloatRz)
KILN_CONVERSION(IntToFloatRd)
KILN_CONVERSION(IntToFloatRu)
KILN_CONVERSION(UintToFloatRz)
KILN_CONVERSION(UintToFloatRd)
KILN_CONVERSION(UintToFloatRu)
KILN_CONVERSION(LlToFloatRz)
KILN_CONVERSION(LlToFloatRd)
KILN_CONVERSION(LlToFloatRu)
KILN_CONVERSION(UllToFloatRz)
KILN_CONVERSION(UllToFloatRd)
KILN_CONVERSION(UllToFloatRu)
KILN_CONVERSION(LlToDoubleRz)
KILN_CONVERSION(LlToDoubleRd)
KILN_CONVERSION(LlToDoubleRu)
KILN_CONVERSION(UllToDoubleRz)
KILN_CONVERSION(UllToDoubleRd)
KILN_CONVERSION(UllToDoubleRu)
#undef KILN_CONVERSION

} // namespace kiln::sema
