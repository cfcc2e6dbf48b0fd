// Elementary functions by a GPU's instructions.

#include "compiler/Conversion/TileGPUToLLVM/DeviceMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

static constexpr double ln2 = 0.693147180559945309417, log10of2 = 0.301029995663981195214;

/// LLVM's permission to use an instruction that approximates the function.
static constexpr auto approximate = LLVM::FastmathFlags::afn;

Value DeviceMath::exp2(VectorBuilder &b, Value x) const {
  Value quick = device.exp2(b.builder, b.loc, x);
  return quick ? quick : Value(LLVM::Exp2Op::create(b.builder, b.loc, x));
}

Value DeviceMath::log2(VectorBuilder &b, Value x) const {
  Value quick = device.log2(b.builder, b.loc, x);
  return quick ? quick : Value(LLVM::Log2Op::create(b.builder, b.loc, x, approximate));
}

Value DeviceMath::divide(VectorBuilder &b, Value x, Value y) const {
  return LLVM::FDivOp::create(b.builder, b.loc, x, y, approximate);
}

Value DeviceMath::reciprocal(VectorBuilder &b, Value x) const {
  return device.reciprocal(b.builder, b.loc, x);
}

Value DeviceMath::reciprocalSqrt(VectorBuilder &b, Value x) const {
  return device.reciprocalSqrt(b.builder, b.loc, x);
}

Value DeviceMath::fastFunction(VectorBuilder &b, Operation *op) const {
  Value x = op->getOperand(0);
  auto times = [&](Value value, double factor) {
    return b.make<arith::MulFOp>(value, b.real(factor, value));
  };
  auto sine = [&] { return LLVM::SinOp::create(b.builder, b.loc, x, approximate); };
  auto cosine = [&] { return LLVM::CosOp::create(b.builder, b.loc, x, approximate); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::SqrtOp) { return LLVM::SqrtOp::create(b.builder, b.loc, x, approximate); })
      .Case([&](math::RsqrtOp) { return reciprocalSqrt(b, x); })
      .Case([&](math::LogOp) { return times(log2(b, x), ln2); })
      .Case([&](math::Log2Op) { return log2(b, x); })
      .Case([&](math::Log10Op) { return times(log2(b, x), log10of2); })
      .Case([&](math::SinOp) { return sine(); })
      .Case([&](math::CosOp) { return cosine(); })
      .Case([&](math::TanOp) {
        Value numerator = sine();
        return divide(b, numerator, cosine());
      })
      .Case([&](math::TanhOp) { return device.tanh(b.builder, b.loc, x); })
      .Case([&](math::PowFOp) {
        return exp2(b, b.make<arith::MulFOp>(op->getOperand(1), log2(b, x)));
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace kiln
