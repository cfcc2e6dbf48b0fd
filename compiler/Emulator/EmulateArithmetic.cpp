// Arithmetic that only a GPU has an instruction for, as host arithmetic.

#include "compiler/Emulator/ThreadCode.h"
#include "compiler/Expansion/FloatToInteger/FloatToInteger.h"
#include "runtime/emulator/kiln_emu.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

enum class Function { None, Divide, ReciprocalRoot, Reciprocal, Exp2, Log2, Root, Sin, Cos };

/// What an intrinsic of a GPU computes, more or less accurately.
Function functionNamed(StringRef name) {
  return llvm::StringSwitch<Function>(name)
      .Cases({"llvm.nvvm.div.full", "llvm.nvvm.div.full.ftz", "llvm.nvvm.div.approx.f"},
             Function::Divide)
      .Cases({"llvm.nvvm.rsqrt.approx.f", "llvm.nvvm.rsqrt.approx.ftz.f",
              "llvm.nvvm.rsqrt.approx.d", "llvm.amdgcn.rsq", "llvm.amdgcn.rsq.f32"},
             Function::ReciprocalRoot)
      .Cases({"llvm.nvvm.rcp.approx.f", "llvm.nvvm.rcp.approx.ftz.f", "llvm.amdgcn.rcp",
              "llvm.amdgcn.rcp.f32"},
             Function::Reciprocal)
      .Cases({"llvm.nvvm.ex2.approx.f", "llvm.nvvm.ex2.approx.ftz.f", "llvm.nvvm.ex2.approx",
              "llvm.nvvm.ex2.approx.ftz", "llvm.amdgcn.exp2", "llvm.amdgcn.exp2.f32"},
             Function::Exp2)
      .Cases({"llvm.nvvm.lg2.approx.f", "llvm.nvvm.lg2.approx.ftz.f", "llvm.amdgcn.log",
              "llvm.amdgcn.log.f32"},
             Function::Log2)
      .Cases({"llvm.nvvm.sqrt.approx.f", "llvm.amdgcn.sqrt", "llvm.amdgcn.sqrt.f32"},
             Function::Root)
      .Case("llvm.nvvm.sin.approx.f", Function::Sin)
      .Case("llvm.nvvm.cos.approx.f", Function::Cos)
      .Default(Function::None);
}

Value compute(Function function, OpBuilder &b, Location loc, ValueRange x) {
  Type type = x[0].getType();
  auto reciprocal = [&](Value value) {
    Value one = LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, 1.0));
    return Value(LLVM::FDivOp::create(b, loc, one, value));
  };
  switch (function) {
  case Function::Divide:
    return LLVM::FDivOp::create(b, loc, x[0], x[1]);
  case Function::ReciprocalRoot:
    return reciprocal(LLVM::SqrtOp::create(b, loc, x[0]));
  case Function::Reciprocal:
    return reciprocal(x[0]);
  case Function::Exp2:
    return LLVM::Exp2Op::create(b, loc, x[0]);
  case Function::Log2:
    return LLVM::Log2Op::create(b, loc, x[0]);
  case Function::Root:
    return LLVM::SqrtOp::create(b, loc, x[0]);
  case Function::Sin:
    return LLVM::SinOp::create(b, loc, x[0]);
  case Function::Cos:
    return LLVM::CosOp::create(b, loc, x[0]);
  case Function::None:
    break;
  }
  return {};
}

/// PTX ISA, "cvt.rna.tf32.f32" and "cvt.rn.tf32.f32": to nearest at 10 bits of mantissa, ties away
/// from zero or to even. NaN and infinity have nothing to round.
Value roundToTF32(OpBuilder &b, Location loc, Value value, bool tiesToEven) {
  Type word = b.getI32Type();
  auto constant = [&](int32_t bits) {
    return Value(LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(bits)));
  };
  Value bits = LLVM::BitcastOp::create(b, loc, word, value);
  Value half = constant(0x1000);
  if (tiesToEven) {
    Value last = LLVM::LShrOp::create(b, loc, bits, constant(13));
    last = LLVM::AndOp::create(b, loc, last, constant(1));
    half = LLVM::AddOp::create(b, loc, last, constant(0xFFF));
  }
  Value rounded = LLVM::AddOp::create(b, loc, bits, half);
  rounded = LLVM::AndOp::create(b, loc, rounded, constant(int32_t(0xFFFFE000)));
  Value magnitude = LLVM::AndOp::create(b, loc, bits, constant(0x7FFFFFFF));
  Value isFinite =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, magnitude, constant(0x7F800000));
  return LLVM::SelectOp::create(b, loc, isFinite, rounded, bits);
}

/// Two words as one number of 64 bits.
Value joinWords(OpBuilder &b, Location loc, Value low, Value high) {
  Type pair = b.getI64Type();
  Value places = LLVM::ConstantOp::create(b, loc, pair, b.getI64IntegerAttr(32));
  Value upper =
      LLVM::ShlOp::create(b, loc, LLVM::ZExtOp::create(b, loc, pair, high).getResult(), places);
  return LLVM::OrOp::create(b, loc, LLVM::ZExtOp::create(b, loc, pair, low), upper);
}

/// PTX ISA, "prmt", without a mode.
Value permuteBytes(OpBuilder &b, Location loc, ValueRange operands) {
  Type word = b.getI32Type(), pair = b.getI64Type();
  auto constant = [&](Type type, int64_t value) {
    return Value(LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value)));
  };
  auto widened = [&](Value value) { return Value(LLVM::ZExtOp::create(b, loc, pair, value)); };
  Value both = joinWords(b, loc, operands[0], operands[1]);
  Value result = constant(word, 0);
  for (int64_t byte = 0; byte < 4; ++byte) {
    Value selector = LLVM::LShrOp::create(b, loc, operands[2], constant(word, 4 * byte));
    Value number = LLVM::AndOp::create(b, loc, selector, constant(word, 7));
    Value place = widened(LLVM::ShlOp::create(b, loc, number, constant(word, 3)));
    Value chosen = LLVM::TruncOp::create(b, loc, b.getI8Type(),
                                         LLVM::LShrOp::create(b, loc, both, place).getResult());
    Value sign = LLVM::AShrOp::create(b, loc, chosen, constant(b.getI8Type(), 7));
    Value isSign = LLVM::ICmpOp::create(
        b, loc, LLVM::ICmpPredicate::ne,
        LLVM::AndOp::create(b, loc, selector, constant(word, 8)).getResult(), constant(word, 0));
    chosen = LLVM::SelectOp::create(b, loc, isSign, sign, chosen);
    Value wide = LLVM::ZExtOp::create(b, loc, word, chosen);
    result = LLVM::OrOp::create(b, loc, result,
                                LLVM::ShlOp::create(b, loc, wide, constant(word, 8 * byte)));
  }
  return result;
}

/// AMD's V_PERM_B32 ("RDNA3 ISA"), whose selectors here are numbers of bytes, or 12 for zero.
Value selectBytes(OpBuilder &b, Location loc, ValueRange operands) {
  Type word = b.getI32Type(), pair = b.getI64Type();
  APInt selectors;
  if (!matchPattern(operands[2], m_ConstantInt(&selectors)))
    return {};
  Value both = joinWords(b, loc, operands[1], operands[0]);
  Value result = LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(0));
  for (unsigned byte = 0; byte < 4; ++byte) {
    uint64_t number = selectors.extractBitsAsZExtValue(8, 8 * byte);
    if (number == 12)
      continue;
    if (number >= 8)
      return {};
    Value place = LLVM::ConstantOp::create(b, loc, pair, b.getI64IntegerAttr(8 * number));
    Value chosen = LLVM::TruncOp::create(b, loc, b.getI8Type(),
                                         LLVM::LShrOp::create(b, loc, both, place).getResult());
    Value wide = LLVM::ZExtOp::create(b, loc, word, chosen);
    Value target = LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(8 * byte));
    result = LLVM::OrOp::create(b, loc, result, LLVM::ShlOp::create(b, loc, wide, target));
  }
  return result;
}

/// A GPU's integer division never traps, and threads that a mask leaves out divide by anything.
/// What a host would trap on (zero, and the least number by -1) is divided by 1.
bool avoidTrap(Operation *op) {
  bool isSigned = isa<LLVM::SDivOp, LLVM::SRemOp>(op);
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!type || (!isSigned && !isa<LLVM::UDivOp, LLVM::URemOp>(op)))
    return false;
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto constant = [&](const APInt &value) {
    return Value(LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value)));
  };
  auto equal = [&](Value value, const APInt &to) {
    return Value(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, value, constant(to)));
  };
  unsigned bits = type.getWidth();
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Value traps = equal(divisor, APInt::getZero(bits));
  if (isSigned) {
    Value overflows = LLVM::AndOp::create(b, loc, equal(divisor, APInt::getAllOnes(bits)),
                                          equal(dividend, APInt::getSignedMinValue(bits)));
    traps = LLVM::OrOp::create(b, loc, traps, overflows);
  }
  op->setOperand(1, LLVM::SelectOp::create(b, loc, traps, constant(APInt(bits, 1)), divisor));
  return true;
}

Value saturatingCast(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  if (x.getType().getIntOrFloatBitWidth() < 32)
    x = LLVM::FPExtOp::create(b, loc, b.getF32Type(), x);
  return floatToInteger(b, loc, x, op->getResult(0).getType(), isa<LLVM::FPToSIOp>(op));
}

/// V_MED3_F32, of numbers.
Value middleOf(OpBuilder &b, Location loc, ValueRange three) {
  Value low = LLVM::MinNumOp::create(b, loc, three[0], three[1]),
        high = LLVM::MaxNumOp::create(b, loc, three[0], three[1]);
  return LLVM::MaxNumOp::create(b, loc, low, LLVM::MinNumOp::create(b, loc, high, three[2]));
}

bool widensScaledE5M2(Operation *op) {
  return isa<ROCDL::CvtScaleF32PkF16Bf8Op, ROCDL::CvtScaleF32PkBf16Bf8Op,
             ROCDL::CvtScaleF32PkF32Bf8Op>(op);
}
bool widensScaledE2M1(Operation *op) {
  return isa<ROCDL::CvtScaleF32PkF16Fp4Op, ROCDL::CvtScaleF32PkBf16Fp4Op,
             ROCDL::CvtScaleF32PkF32Fp4Op>(op);
}
/// An AMD GPU's conversion of half a word, or a byte, to two floats, times a power of two.
bool widensScaledPair(Operation *op) {
  return widensScaledE5M2(op) || widensScaledE2M1(op) ||
         isa<ROCDL::CvtScaleF32PkF16Fp8Op, ROCDL::CvtScaleF32PkBf16Fp8Op,
             ROCDL::CvtScaleF32PkF32Fp8Op>(op);
}
/// The same without.
bool widensPair(Operation *op) { return isa<ROCDL::CvtPkF32Fp8Op, ROCDL::CvtPkF32Bf8Op>(op); }

bool isOfUpperHalf(Operation *op) {
  auto half = op->getAttrOfType<BoolAttr>("wordSel");
  return (half ? half : op->getAttrOfType<BoolAttr>("srcLoHiSel")).getValue();
}

/// The power of two of an f32 number's exponent; of the largest one NaN.
Value powerOfExponent(OpBuilder &b, Location loc, Value scale, const ThreadCode &code) {
  Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), scale);
  bits = LLVM::AndOp::create(b, loc, bits, code.i32(b, loc, 0x7f800000));
  auto chosen = [&](uint32_t exponent, uint32_t power) {
    Value is =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, bits, code.i32(b, loc, exponent));
    bits = LLVM::SelectOp::create(b, loc, is, code.i32(b, loc, power), bits);
  };
  chosen(0, 0x00400000);
  chosen(0x7f800000, 0x7fc00000);
  return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
}

/// f32 has every number times every power of two: it is rounded once, to f16 or bf16.
Value convertScaledPair(OpBuilder &b, Operation *op, ThreadCode &code) {
  Location loc = op->getLoc();
  bool isE2M1 = widensScaledE2M1(op);
  unsigned shift =
      isE2M1 ? 8 * op->getAttrOfType<IntegerAttr>("srcSelIndex").getInt() : 16 * isOfUpperHalf(op);
  Value codes = LLVM::LShrOp::create(b, loc, op->getOperand(0), code.i32(b, loc, shift));
  Value type = code.i32(b, loc,
                        isE2M1                 ? KILN_EMU_E2M1
                        : widensScaledE5M2(op) ? KILN_EMU_E5M2
                                               : KILN_EMU_E4M3);
  Value power = powerOfExponent(b, loc, op->getOperand(1), code);
  Value pair = LLVM::BitcastOp::create(b, loc, VectorType::get(2, b.getF32Type()),
                                       code.call(b, op, "kiln_emu_widen_scaled", b.getI64Type(),
                                                 {codes, type, power}, /*hasPlace=*/false));
  auto result = cast<VectorType>(op->getResult(0).getType());
  return result.getElementType().isF32() ? pair : LLVM::FPTruncOp::create(b, loc, result, pair);
}

/// An AMD GPU's conversion between half a word and two floats. Gfx942 has AMD's own formats.
Value convertPair(OpBuilder &b, Operation *op, ThreadCode &code) {
  Location loc = op->getLoc();
  bool isFnuz = code.target().matrix.mfmaGeneration == 3;
  bool isE5M2 = isa<ROCDL::CvtPkBf8F32Op, ROCDL::CvtPkF32Bf8Op>(op);
  Value type = code.i32(b, loc,
                        isE5M2   ? isFnuz ? KILN_EMU_E5M2FNUZ : KILN_EMU_E5M2
                        : isFnuz ? KILN_EMU_E4M3FNUZ
                                 : KILN_EMU_E4M3);
  if (widensPair(op)) {
    Value word = op->getOperand(0);
    if (isOfUpperHalf(op))
      word = LLVM::LShrOp::create(b, loc, word, code.i32(b, loc, 16));
    return LLVM::BitcastOp::create(
        b, loc, op->getResult(0).getType(),
        code.call(b, op, "kiln_emu_widen_pair", b.getI64Type(), {word, type}, /*hasPlace=*/false));
  }
  Value codes = code.call(b, op, "kiln_emu_narrow_pair", b.getI16Type(),
                          {op->getOperand(0), op->getOperand(1), type}, /*hasPlace=*/false);
  return LLVM::ZExtOp::create(b, loc, b.getI32Type(), codes);
}

} // namespace

FailureOr<bool> emulateArithmetic(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  Value result;
  if (op->getNumResults() == 1 && avoidTrap(op))
    return true;
  if (isa<LLVM::FPToSIOp, LLVM::FPToUIOp>(op)) {
    result = saturatingCast(b, op);
  } else if (auto convert = dyn_cast<NVVM::ConvertFloatToTF32Op>(op)) {
    bool tiesToEven = convert.getRnd() == NVVM::FPRoundingMode::RN;
    if (!tiesToEven && convert.getRnd() != NVVM::FPRoundingMode::RNA)
      return false;
    result = roundToTF32(b, op->getLoc(), convert.getSrc(), tiesToEven);
  } else if (auto convert = dyn_cast<NVVM::ConvertF32x2ToF8x2Op>(op)) {
    if (!op->getResult(0).getType().isInteger(16) || convert.getRelu())
      return false;
    Value isE5M2 = code.i32(b, op->getLoc(), isa<Float8E5M2Type>(convert.getDstTy()));
    result = code.call(b, op, "kiln_emu_narrow_floats", b.getI16Type(),
                       {convert.getB(), convert.getA(), isE5M2}, /*hasPlace=*/false);
  } else if (widensScaledPair(op)) {
    result = convertScaledPair(b, op, code);
  } else if (widensPair(op) ||
             (isa<ROCDL::CvtPkFp8F32Op, ROCDL::CvtPkBf8F32Op>(op) && !isOfUpperHalf(op))) {
    result = convertPair(b, op, code);
  } else if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    if (call.getIntrin() == "llvm.amdgcn.dispatch.ptr")
      result = code.field(b, op->getLoc(), ThreadField::DispatchPacket);
    else if (call.getIntrin() == "llvm.nvvm.prmt")
      result = permuteBytes(b, op->getLoc(), call.getArgs());
    else if (call.getIntrin() == "llvm.amdgcn.fmed3")
      result = middleOf(b, op->getLoc(), call.getArgs());
    else if (call.getIntrin() == "llvm.amdgcn.perm")
      result = selectBytes(b, op->getLoc(), call.getArgs());
    else if (call.getIntrin() == "llvm.nvvm.e4m3x2.to.f16x2.rn")
      result = LLVM::BitcastOp::create(b, op->getLoc(), op->getResult(0).getType(),
                                       code.call(b, op, "kiln_emu_widen_floats", b.getI32Type(),
                                                 call.getArgs(), /*hasPlace=*/false));
    else if (Function function = functionNamed(call.getIntrin()); function != Function::None)
      result = compute(function, b, op->getLoc(), call.getArgs());
  }
  if (!result)
    return false;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

} // namespace kiln
