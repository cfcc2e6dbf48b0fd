// Which operations of `math` a target cannot select, and by what they are replaced.
//
// f16 and bf16 are computed in f32. f32 and f64 use MathBuilder. What LLVM selects on all targets
// (absolute values, roots, rounding, fma, counting bits) stays.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Conversion/TileGPUToLLVM/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Selectable as they are in f32 and f64 (and, with `small` set, in f16 and bf16).
bool isNative(Operation *op, bool small) {
  if (isa<math::AbsFOp, math::CopySignOp>(op))
    return true;
  if (isa<math::FmaOp>(op))
    return !op->getResult(0).getType().isBF16();
  return !small && isa<math::SqrtOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
                       math::RoundEvenOp>(op);
}

/// The replacement in f32 or f64; null where there is none.
Value expand(Operation *op, const MathBuilder &m, const ScalarBuilder &s, ValueRange x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return m.exp(x[0]); })
      .Case([&](math::Exp2Op) { return m.exp2(x[0]); })
      .Case([&](math::ExpM1Op) { return m.expm1(x[0]); })
      .Case([&](math::LogOp) { return m.log(x[0]); })
      .Case([&](math::Log2Op) { return m.log2(x[0]); })
      .Case([&](math::Log10Op) { return m.log10(x[0]); })
      .Case([&](math::Log1pOp) { return m.log1p(x[0]); })
      .Case([&](math::RsqrtOp) { return m.rsqrt(x[0]); })
      .Case([&](math::CbrtOp) { return m.cbrt(x[0]); })
      .Case([&](math::PowFOp) { return m.pow(x[0], x[1]); })
      .Case(
          [&](math::FPowIOp) { return m.pow(x[0], s.make<arith::SIToFPOp>(x[0].getType(), x[1])); })
      .Case([&](math::SinOp) { return m.sin(x[0]); })
      .Case([&](math::CosOp) { return m.cos(x[0]); })
      .Case([&](math::TanOp) { return m.tan(x[0]); })
      .Case([&](math::SinhOp) { return m.sinh(x[0]); })
      .Case([&](math::CoshOp) { return m.cosh(x[0]); })
      .Case([&](math::TanhOp) { return m.tanh(x[0]); })
      .Case([&](math::AsinhOp) { return m.asinh(x[0]); })
      .Case([&](math::AcoshOp) { return m.acosh(x[0]); })
      .Case([&](math::AtanhOp) { return m.atanh(x[0]); })
      .Case([&](math::AtanOp) { return m.atan(x[0]); })
      .Case([&](math::Atan2Op) { return m.atan2(x[0], x[1]); })
      .Case([&](math::AsinOp) { return m.asin(x[0]); })
      .Case([&](math::AcosOp) { return m.acos(x[0]); })
      .Case([&](math::ErfOp) { return m.erf(x[0]); })
      .Case([&](math::ErfcOp) { return m.erfc(x[0]); })
      .Default([](Operation *) { return Value(); });
}

/// The replacement in f32 where the operation permits an approximation (`afn`) and there is one.
Value expandFast(Operation *op, const MathBuilder &m, ValueRange x) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!flags || !x[0].getType().isF32() ||
      !bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn))
    return {};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::SqrtOp) { return m.fastSqrt(x[0]); })
      .Case([&](math::RsqrtOp) { return m.fastRsqrt(x[0]); })
      .Case([&](math::LogOp) { return m.fastLog(x[0]); })
      .Case([&](math::Log2Op) { return m.fastLog2(x[0]); })
      .Case([&](math::Log10Op) { return m.fastLog10(x[0]); })
      .Case([&](math::SinOp) { return m.fastSin(x[0]); })
      .Case([&](math::CosOp) { return m.fastCos(x[0]); })
      .Case([&](math::TanOp) { return m.fastTan(x[0]); })
      .Case([&](math::TanhOp) { return m.fastTanh(x[0]); })
      .Case([&](math::PowFOp) { return m.fastPow(x[0], x[1]); })
      .Default([](Operation *) { return Value(); });
}

LogicalResult expandOperation(Operation *op, const TargetLowering &device) {
  Type type = op->getResult(0).getType();
  bool small = type.isF16() || type.isBF16();
  if (!isa<FloatType>(type))
    return success();
  OpBuilder b(op);
  ScalarBuilder s(b, op->getLoc());
  if (Value fast = expandFast(op, MathBuilder(s, device, type), op->getOperands())) {
    op->getResult(0).replaceAllUsesWith(fast);
    op->erase();
    return success();
  }
  if (isNative(op, small))
    return success();
  Type wide = small ? b.getF32Type() : type;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand.getType() == type && small ? s.make<arith::ExtFOp>(wide, operand)
                                                          : operand);
  Value result;
  if (small && (isNative(op, false) || isa<math::FmaOp>(op))) {
    OperationState state(op->getLoc(), op->getName(), operands, wide, op->getAttrs());
    result = b.create(state)->getResult(0);
  } else {
    MathBuilder m(s, device, wide);
    result = expand(op, m, s, operands);
  }
  if (!result)
    return op->emitError() << "'" << op->getName() << "' of " << type << " is not supported on "
                           << device.target().name << " yet";
  op->getResult(0).replaceAllUsesWith(small ? s.make<arith::TruncFOp>(type, result) : result);
  op->erase();
  return success();
}

/// Divisions that need not be correctly rounded, where the target has an instruction for it: of any
/// divisor (`arcp`), or of one that is not too large (`afn`).
void expandDivision(arith::DivFOp op, const TargetLowering &device) {
  if (!op.getType().isF32())
    return;
  OpBuilder b(op);
  Value quick;
  if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
    quick =
        LLVM::FDivOp::create(b, op.getLoc(), op.getLhs(), op.getRhs(), LLVM::FastmathFlags::afn);
  else if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::arcp))
    quick = device.divideApproximately(b, op.getLoc(), op.getLhs(), op.getRhs());
  if (quick) {
    op.replaceAllUsesWith(quick);
    op.erase();
  }
}

/// LLVM's own are x - trunc(x / y) * y. Small floats' are exact in f32.
void expandRemainder(arith::RemFOp op, const TargetLowering &device) {
  Type type = op.getType();
  bool small = type.isF16() || type.isBF16();
  OpBuilder b(op);
  ScalarBuilder s(b, op.getLoc());
  Type wide = small ? b.getF32Type() : type;
  auto widened = [&](Value x) { return small ? s.make<arith::ExtFOp>(wide, x) : x; };
  Value result = MathBuilder(s, device, wide).remainder(widened(op.getLhs()), widened(op.getRhs()));
  op.replaceAllUsesWith(small ? s.make<arith::TruncFOp>(type, result) : result);
  op.erase();
}

} // namespace

LogicalResult expandMath(ModuleOp module, const TargetLowering &device) {
  SmallVector<Operation *> functions;
  SmallVector<arith::DivFOp> divisions;
  SmallVector<arith::RemFOp> remainders;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()))
      functions.push_back(op);
    else if (auto division = dyn_cast<arith::DivFOp>(op))
      divisions.push_back(division);
    else if (auto remainder = dyn_cast<arith::RemFOp>(op))
      remainders.push_back(remainder);
  });
  for (Operation *op : functions)
    if (failed(expandOperation(op, device)))
      return failure();
  for (arith::DivFOp division : divisions)
    expandDivision(division, device);
  for (arith::RemFOp remainder : remainders)
    expandRemainder(remainder, device);
  return success();
}

} // namespace kiln
