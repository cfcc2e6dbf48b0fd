//===- ExpandSmallFloats.cpp - f16 and bf16 without library calls --------------===//
//
// LLVM turns the conversions that a processor lacks into calls (__truncsfbf2,
// __extendhfsf2 ...) which older libgcc versions do not have, and one call per lane.
// They are rewritten here, in three steps:
//
//   1. arithmetic:   op(a, b)           ->  trunc(op(ext(a), ext(b))) in f32. For + - * /
//                                           and sqrt the second rounding changes nothing,
//                                           since 24 >= 2 * 11 + 2 (Figueroa, 1995).
//   2. conversions:  ext, trunc         ->  integer operations on the bit patterns.
//
//   3. what is left moves values, and is rewritten to i16 (IntegerStorage.cpp) where the
//      processor does not convert the type.
//
// A wider source (f64, integers) is first rounded to f32 *to odd*: the last bit is
// set when anything was lost, so that the rounding that follows sees the truth.
//
// Refused: AVX512-BF16's vcvtneps2bf16, as it flushes subnormals and so would make
// results depend on the machine; five vector operations do the same work exactly. AVX512-FP16's and
// ARM's f16 arithmetic: a product and a sum become one operation there, with one rounding.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/ExpandSmallFloats.h"
#include "compiler/Target/CPU/IntegerStorage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/CodeGen/AtomicExpandUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kiln {

namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

bool isSmallFloat(const Type *type) {
  const Type *scalar = type->getScalarType();
  return scalar->isHalfTy() || scalar->isBFloatTy();
}

/// `scalar`, or a vector of it with as many elements as `shape`.
Type *like(Type *shape, Type *scalar) {
  if (auto *vector = llvm::dyn_cast<llvm::VectorType>(shape))
    return llvm::VectorType::get(scalar, vector->getElementCount());
  return scalar;
}

class Expander {
public:
  Expander(llvm::Module &module, bool convertsF16)
      : convertsF16(convertsF16), builder(module.getContext()) {}

  void run(llvm::Function &function);

private:
  bool hasConvert(Type *type) const { return convertsF16 && type->getScalarType()->isHalfTy(); }
  Type *f32Like(Type *shape) { return like(shape, builder.getFloatTy()); }
  Type *i32Like(Type *shape) { return like(shape, builder.getInt32Ty()); }
  Type *i16Like(Type *shape) { return like(shape, builder.getInt16Ty()); }
  Value *bits32(Value *value) { return builder.CreateBitCast(value, i32Like(value->getType())); }
  Value *float32(Value *bits) { return builder.CreateBitCast(bits, f32Like(bits->getType())); }
  llvm::Constant *i32(Value *shape, uint32_t value) {
    return llvm::ConstantInt::get(i32Like(shape->getType()), value);
  }

  Value *promote(Instruction &instruction);
  Value *promoteIntrinsic(llvm::IntrinsicInst &call);
  Value *signOperation(Instruction &instruction);
  Value *fromInteger(llvm::CastInst &cast);
  Value *convert(Instruction &instruction);

  Value *extendOperand(Value *value);
  Value *extend(Value *value);
  Value *extendF16(Value *value);
  Value *truncate(Value *value, Type *to);
  Value *roundToOdd(Value *f64);
  Value *truncateToBF16(Value *f32);
  Value *truncateToF16(Value *f32);

  bool convertsF16;
  llvm::IRBuilder<> builder;
};

//===----------------------------------------------------------------------===//
// Step 1: arithmetic
//===----------------------------------------------------------------------===//

Value *Expander::extendOperand(Value *value) {
  return isSmallFloat(value->getType()) ? builder.CreateFPExt(value, f32Like(value->getType()))
                                        : value;
}

/// Negation, absolute value and sign copies are exact on the bits, NaNs included.
Value *Expander::signOperation(Instruction &instruction) {
  Type *type = instruction.getType(), *bits = i16Like(type);
  Value *value = builder.CreateBitCast(instruction.getOperand(0), bits);
  Value *sign = llvm::ConstantInt::get(bits, 0x8000), *rest = llvm::ConstantInt::get(bits, 0x7fff);
  Value *result;
  if (instruction.getOpcode() == Instruction::FNeg) {
    result = builder.CreateXor(value, sign);
  } else {
    result = builder.CreateAnd(value, rest);
    if (llvm::cast<llvm::IntrinsicInst>(instruction).getIntrinsicID() ==
        llvm::Intrinsic::copysign) {
      Value *from = builder.CreateBitCast(instruction.getOperand(1), bits);
      result = builder.CreateOr(result, builder.CreateAnd(from, sign));
    }
  }
  return builder.CreateBitCast(result, type);
}

/// The same intrinsic with f32 in place of the small type; null for those that only move data, and
/// for those that look at the bits.
Value *Expander::promoteIntrinsic(llvm::IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::fabs:
  case llvm::Intrinsic::copysign:
    return signOperation(call);
  case llvm::Intrinsic::is_fpclass:
    return nullptr;
  case llvm::Intrinsic::vector_reduce_fadd:
  case llvm::Intrinsic::vector_reduce_fmul:
  case llvm::Intrinsic::vector_reduce_fmax:
  case llvm::Intrinsic::vector_reduce_fmin:
  case llvm::Intrinsic::vector_reduce_fmaximum:
  case llvm::Intrinsic::vector_reduce_fminimum:
    break;
  default:
    // What touches no memory and works lane by lane is arithmetic; the rest moves lanes or data.
    if (!llvm::isTriviallyVectorizable(call.getIntrinsicID()) || call.getType()->isStructTy())
      return nullptr;
  }
  llvm::SmallVector<Type *, 4> overloads;
  if (!llvm::Intrinsic::getIntrinsicSignature(call.getIntrinsicID(), call.getFunctionType(),
                                              overloads))
    return nullptr;
  for (Type *&type : overloads)
    if (isSmallFloat(type))
      type = f32Like(type);
  llvm::SmallVector<Value *, 4> arguments;
  for (Value *argument : call.args())
    arguments.push_back(extendOperand(argument));
  llvm::CallInst *wide = builder.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments);
  if (llvm::isa<llvm::FPMathOperator>(wide) && llvm::isa<llvm::FPMathOperator>(call))
    wide->copyFastMathFlags(&call);
  return wide;
}

/// Exact in f64, or rounded to odd there; 64-bit integers drop eleven bits.
Value *Expander::fromInteger(llvm::CastInst &cast) {
  Value *value = cast.getOperand(0);
  Type *type = value->getType();
  unsigned width = type->getScalarSizeInBits();
  bool isSigned = cast.getOpcode() == Instruction::SIToFP;
  if (width <= 24)
    return builder.CreateCast(cast.getOpcode(), value, f32Like(type));
  if (width > 53) {
    auto constant = [&](uint64_t bits) {
      return llvm::ConstantInt::get(type, llvm::APInt(width, bits));
    };
    Value *lost = builder.CreateAnd(value, constant(0x7ff));
    Value *sticky = builder.CreateShl(
        builder.CreateZExt(builder.CreateICmpNE(lost, constant(0)), type), constant(11));
    Value *odd = builder.CreateOr(builder.CreateXor(value, lost), sticky);
    // Small values keep all their bits: -2^53 <= value < 2^53, as one unsigned comparison.
    Value *shifted = isSigned ? builder.CreateAdd(value, constant(1ull << 53)) : value;
    Value *fits = builder.CreateICmpULT(shifted, constant(isSigned ? 1ull << 54 : 1ull << 53));
    value = builder.CreateSelect(fits, value, odd);
  }
  return builder.CreateCast(cast.getOpcode(), value, like(type, builder.getDoubleTy()));
}

/// The value that replaces an arithmetic instruction on small floats; null when it is none.
Value *Expander::promote(Instruction &instruction) {
  Type *type = instruction.getType();
  Value *wide = nullptr;
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    Type *from = cast->getSrcTy();
    bool fromSmall = isSmallFloat(from);
    if (fromSmall && (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(cast)))
      return builder.CreateCast(cast->getOpcode(), extendOperand(cast->getOperand(0)), type);
    if (!llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) || !isSmallFloat(type) ||
        from->getScalarSizeInBits() > 64)
      return nullptr;
    return builder.CreateFPTrunc(fromInteger(*cast), type);
  }
  auto *operandType = instruction.getNumOperands() ? instruction.getOperand(0)->getType() : type;
  if (!isSmallFloat(type) && !isSmallFloat(operandType))
    return nullptr;
  if (instruction.getOpcode() == Instruction::FNeg)
    return signOperation(instruction);
  if (auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction))
    return builder.CreateFCmpFMF(compare->getPredicate(), extendOperand(compare->getOperand(0)),
                                 extendOperand(compare->getOperand(1)), compare);
  if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
    wide = builder.CreateBinOpFMF(binary->getOpcode(), extendOperand(binary->getOperand(0)),
                                  extendOperand(binary->getOperand(1)), binary);
  else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    wide = promoteIntrinsic(*call);
  if (!wide || wide->getType() == type)
    return wide;
  return builder.CreateFPTrunc(wide, type);
}

//===----------------------------------------------------------------------===//
// Step 2: conversions
//===----------------------------------------------------------------------===//

/// f16's exponent moves to f32's place; infinities and NaNs need the rest of the bias, and
/// subnormals are normalised by subtracting the implicit one that they do not have.
Value *Expander::extendF16(Value *value) {
  Value *half = builder.CreateZExt(builder.CreateBitCast(value, i16Like(value->getType())),
                                   i32Like(value->getType()));
  auto constant = [&](uint32_t bits) { return i32(half, bits); };
  Value *sign = builder.CreateShl(builder.CreateAnd(half, constant(0x8000)), constant(16));
  Value *magnitude = builder.CreateShl(builder.CreateAnd(half, constant(0x7fff)), constant(13));
  Value *normal = builder.CreateAdd(magnitude, constant((127 - 15) << 23));
  Value *special = builder.CreateAdd(magnitude, constant((255 - 31) << 23));
  Value *oneAbove = builder.CreateAdd(magnitude, constant((127 - 15 + 1) << 23));
  Value *subnormal =
      bits32(builder.CreateFSub(float32(oneAbove), float32(constant((127 - 15 + 1) << 23))));
  Value *isSpecial = builder.CreateICmpUGE(magnitude, constant(31 << 23));
  Value *isSubnormal = builder.CreateICmpULT(magnitude, constant(1 << 23));
  Value *result = builder.CreateSelect(isSpecial, special,
                                       builder.CreateSelect(isSubnormal, subnormal, normal));
  return float32(builder.CreateOr(result, sign));
}

/// f32 from a small float.
Value *Expander::extend(Value *value) {
  Type *type = value->getType();
  if (hasConvert(type))
    return builder.CreateFPExt(value, f32Like(type));
  if (type->getScalarType()->isHalfTy())
    return extendF16(value);
  Value *bits = builder.CreateZExt(builder.CreateBitCast(value, i16Like(type)), i32Like(type));
  return float32(builder.CreateShl(bits, i32(bits, 16)));
}

/// f32 from f64: towards zero, then the last bit set if that was inexact. Rounding to nearest
/// happens first, as that is what the processor has, and one unit is taken back where it went
/// outwards.
Value *Expander::roundToOdd(Value *f64) {
  Value *nearest = builder.CreateFPTrunc(f64, f32Like(f64->getType()));
  Value *back = builder.CreateFPExt(nearest, f64->getType());
  Value *inexact = builder.CreateFCmpONE(back, f64);
  Value *outwards = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                          builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, f64));
  Value *bits = bits32(nearest);
  Value *towardsZero = builder.CreateSub(bits, builder.CreateZExt(outwards, bits->getType()));
  return float32(
      builder.CreateOr(towardsZero, builder.CreateZExt(inexact, towardsZero->getType())));
}

/// Adds just under half a unit, and one more when the last kept bit is odd: round to nearest even.
Value *Expander::truncateToBF16(Value *f32) {
  Value *bits = bits32(f32);
  Value *last = builder.CreateAnd(builder.CreateLShr(bits, i32(bits, 16)), i32(bits, 1));
  Value *rounded = builder.CreateAdd(bits, builder.CreateAdd(last, i32(bits, 0x7fff)));
  Value *quiet = builder.CreateOr(bits, i32(bits, 0x00400000));
  Value *isNaN = builder.CreateFCmpUNO(f32, llvm::Constant::getNullValue(f32->getType()));
  Value *result = builder.CreateSelect(isNaN, quiet, rounded);
  return builder.CreateTrunc(builder.CreateLShr(result, i32(bits, 16)), i16Like(f32->getType()));
}

/// Normal results round like bf16's; subnormal ones by adding a number so large that f32's own
/// rounding falls on their last bit.
Value *Expander::truncateToF16(Value *f32) {
  Value *all = bits32(f32);
  auto constant = [&](uint32_t bits) { return i32(all, bits); };
  Value *magnitude = builder.CreateAnd(all, constant(0x7fffffff));
  Value *sign = builder.CreateAnd(builder.CreateLShr(all, constant(16)), constant(0x8000));

  Value *last = builder.CreateAnd(builder.CreateLShr(magnitude, constant(13)), constant(1));
  Value *rounding = builder.CreateAdd(last, constant(0xfffu - ((127u - 15u) << 23)));
  Value *normal = builder.CreateLShr(builder.CreateAdd(magnitude, rounding), constant(13));

  const uint32_t alignment = (127 - 15 + 23 - 10 + 1) << 23;
  Value *aligned = builder.CreateFAdd(float32(magnitude), float32(constant(alignment)));
  Value *subnormal = builder.CreateSub(bits32(aligned), constant(alignment));

  Value *payload = builder.CreateAnd(builder.CreateLShr(magnitude, constant(13)), constant(0x3ff));
  Value *isNaN = builder.CreateICmpUGT(magnitude, constant(0x7f800000));
  Value *special =
      builder.CreateSelect(isNaN, builder.CreateOr(payload, constant(0x7e00)), constant(0x7c00));
  Value *isSubnormal = builder.CreateICmpULT(magnitude, constant((127 - 14) << 23));
  Value *isSpecial = builder.CreateICmpUGE(magnitude, constant((127 + 16) << 23));
  Value *result = builder.CreateSelect(isSpecial, special,
                                       builder.CreateSelect(isSubnormal, subnormal, normal));
  return builder.CreateTrunc(builder.CreateOr(result, sign), i16Like(f32->getType()));
}

Value *Expander::truncate(Value *value, Type *to) {
  if (value->getType()->getScalarType()->isDoubleTy())
    value = roundToOdd(value);
  if (hasConvert(to))
    return builder.CreateFPTrunc(value, to);
  Value *bits = to->getScalarType()->isHalfTy() ? truncateToF16(value) : truncateToBF16(value);
  return builder.CreateBitCast(bits, to);
}

/// The value that replaces a conversion the processor lacks; null for others.
Value *Expander::convert(Instruction &instruction) {
  Type *to = instruction.getType();
  if (llvm::isa<llvm::FPTruncInst>(instruction) && isSmallFloat(to)) {
    Value *from = instruction.getOperand(0);
    bool isF32 = from->getType()->getScalarType()->isFloatTy();
    return hasConvert(to) && isF32 ? nullptr : truncate(from, to);
  }
  if (!llvm::isa<llvm::FPExtInst>(instruction))
    return nullptr;
  Value *from = instruction.getOperand(0);
  bool toF32 = to->getScalarType()->isFloatTy();
  if (!isSmallFloat(from->getType()) || (hasConvert(from->getType()) && toF32))
    return nullptr;
  Value *wide = extend(from);
  return toF32 ? wide : builder.CreateFPExt(wide, to);
}

//===----------------------------------------------------------------------===//

/// Atomic arithmetic becomes a loop around compare-and-exchange, whose arithmetic step 1 then sees.
void expandAtomics(llvm::Function &function) {
  llvm::SmallVector<llvm::AtomicRMWInst *, 4> atomics;
  for (Instruction &instruction : llvm::instructions(function))
    if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      if (atomic->isFloatingPointOperation() && isSmallFloat(atomic->getType()))
        atomics.push_back(atomic);
  auto compareExchange = [](llvm::IRBuilderBase &builder, Value *address, Value *loaded,
                            Value *newValue, llvm::Align align, llvm::AtomicOrdering order,
                            llvm::SyncScope::ID scope, Value *&success, Value *&result,
                            Instruction *) {
    Type *type = loaded->getType(), *bits = builder.getIntNTy(type->getPrimitiveSizeInBits());
    Value *pair = builder.CreateAtomicCmpXchg(
        address, builder.CreateBitCast(loaded, bits), builder.CreateBitCast(newValue, bits), align,
        order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);
    success = builder.CreateExtractValue(pair, 1);
    result = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), type);
  };
  for (llvm::AtomicRMWInst *atomic : atomics)
    llvm::expandAtomicRMWToCmpXchg(atomic, compareExchange);
}

void Expander::run(llvm::Function &function) {
  expandAtomics(function);
  for (auto step : {&Expander::promote, &Expander::convert})
    for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      builder.SetInsertPoint(&instruction);
      if (Value *replacement = (this->*step)(instruction)) {
        instruction.replaceAllUsesWith(replacement);
        instruction.eraseFromParent();
      }
    }
  moveAsIntegers(function, [&](Type *type) { return isSmallFloat(type) && !hasConvert(type); });
}

} // namespace

void expandSmallFloats(llvm::Module &module, bool convertsF16) {
  Expander expander(module, convertsF16);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      expander.run(function);
}

} // namespace kiln
