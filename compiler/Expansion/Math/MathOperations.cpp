// Which formula an operation of `math` is.

#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

MathPrimitives::~MathPrimitives() = default;

Value MathBuilder::function(Operation *op, ValueRange x) const {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return exp(x[0]); })
      .Case([&](math::Exp2Op) { return exp2(x[0]); })
      .Case([&](math::ExpM1Op) { return expm1(x[0]); })
      .Case([&](math::LogOp) { return log(x[0]); })
      .Case([&](math::Log2Op) { return log2(x[0]); })
      .Case([&](math::Log10Op) { return log10(x[0]); })
      .Case([&](math::Log1pOp) { return log1p(x[0]); })
      .Case([&](math::RsqrtOp) { return rsqrt(x[0]); })
      .Case([&](math::CbrtOp) { return cbrt(x[0]); })
      .Case([&](math::RoundOp) { return roundAway(x[0]); })
      .Case([&](math::PowFOp) { return pow(x[0], x[1]); })
      .Case([&](math::FPowIOp) { return pow(x[0], b.make<arith::SIToFPOp>(type, x[1])); })
      .Case([&](math::SinOp) { return sin(x[0]); })
      .Case([&](math::CosOp) { return cos(x[0]); })
      .Case([&](math::TanOp) { return tan(x[0]); })
      .Case([&](math::SinhOp) { return sinh(x[0]); })
      .Case([&](math::CoshOp) { return cosh(x[0]); })
      .Case([&](math::TanhOp) { return tanh(x[0]); })
      .Case([&](math::AsinhOp) { return asinh(x[0]); })
      .Case([&](math::AcoshOp) { return acosh(x[0]); })
      .Case([&](math::AtanhOp) { return atanh(x[0]); })
      .Case([&](math::AtanOp) { return atan(x[0]); })
      .Case([&](math::Atan2Op) { return atan2(x[0], x[1]); })
      .Case([&](math::AsinOp) { return asin(x[0]); })
      .Case([&](math::AcosOp) { return acos(x[0]); })
      .Case([&](math::ErfOp) { return erf(x[0]); })
      .Case([&](math::ErfcOp) { return erfc(x[0]); })
      .Default([](Operation *) { return Value(); });
}

} // namespace kiln
