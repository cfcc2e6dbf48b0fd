// Arithmetic on scalars and vectors alike: see the header.

#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {

Type vectorOf(Type element, unsigned lanes) {
  return lanes > 1 ? VectorType::get({lanes}, element) : element;
}
Type laneType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getElementType() : type;
}
unsigned laneCount(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}
unsigned laneCount(Value value) { return laneCount(value.getType()); }

static constexpr auto contract = arith::FastMathFlags::contract;

Value VectorBuilder::splat(Value scalar, unsigned lanes) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  auto type = cast<VectorType>(vectorOf(scalar.getType(), lanes));
  if (auto op = scalar.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, op.getValue()));
  Value poison = LLVM::PoisonOp::create(builder, loc, type);
  Value zero = constant(0, builder.getI32Type());
  Value one = LLVM::InsertElementOp::create(builder, loc, poison, scalar, zero);
  return shuffle(one, poison, SmallVector<int32_t>(lanes, 0));
}

Value VectorBuilder::constant(int64_t value, Type type) {
  Attribute attribute;
  Type element = laneType(type);
  if (isa<FloatType>(element))
    attribute = builder.getFloatAttr(element, value);
  else
    attribute = builder.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
}

Value VectorBuilder::integer(int64_t value, Value like) { return constant(value, like.getType()); }

Value VectorBuilder::real(double value, Type type) {
  TypedAttr attribute = builder.getFloatAttr(laneType(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(builder, loc, attribute);
}
Value VectorBuilder::real(double value, Value like) { return real(value, like.getType()); }

Value VectorBuilder::iota(Type element, unsigned lanes, int64_t step) {
  SmallVector<APInt> values;
  for (unsigned lane = 0; lane != lanes; ++lane)
    values.push_back(
        APInt(element.getIntOrFloatBitWidth(), int64_t(lane) * step, true, /*implicitTrunc=*/true));
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(VectorType::get({lanes}, element), values));
}

void VectorBuilder::match(Value &a, Value &b) {
  unsigned lanes = std::max(laneCount(a), laneCount(b));
  a = splat(a, lanes);
  b = splat(b, lanes);
}

Value VectorBuilder::add(Value a, Value b) {
  match(a, b);
  if (isa<FloatType>(laneType(a.getType())))
    return arith::AddFOp::create(builder, loc, a, b, contract);
  return make<arith::AddIOp>(a, b);
}

Value VectorBuilder::sub(Value a, Value b) {
  match(a, b);
  if (isa<FloatType>(laneType(a.getType())))
    return arith::SubFOp::create(builder, loc, a, b, contract);
  return make<arith::SubIOp>(a, b);
}

Value VectorBuilder::mul(Value a, Value b) {
  match(a, b);
  if (isa<FloatType>(laneType(a.getType())))
    return arith::MulFOp::create(builder, loc, a, b, contract);
  return make<arith::MulIOp>(a, b);
}

Value VectorBuilder::div(Value a, Value b) {
  match(a, b);
  return arith::DivFOp::create(builder, loc, a, b);
}

Value VectorBuilder::select(Value condition, Value a, Value b) {
  match(a, b);
  if (laneCount(condition) != laneCount(a)) {
    unsigned lanes = std::max(laneCount(condition), laneCount(a));
    a = splat(a, lanes);
    b = splat(b, lanes);
  }
  return make<arith::SelectOp>(condition, a, b);
}

Value VectorBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  match(a, b);
  return make<arith::CmpIOp>(predicate, a, b);
}
Value VectorBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  match(a, b);
  return make<arith::CmpFOp>(predicate, a, b);
}
Value VectorBuilder::less(Value a, Value b) {
  return isa<FloatType>(laneType(a.getType())) ? compare(arith::CmpFPredicate::OLT, a, b)
                                               : compare(arith::CmpIPredicate::slt, a, b);
}

Value VectorBuilder::anyOf(Value condition) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  return LLVM::vector_reduce_or::create(builder, loc, builder.getI1Type(), condition);
}

Value VectorBuilder::bitAnd(Value a, Value b) {
  match(a, b);
  return make<arith::AndIOp>(a, b);
}
Value VectorBuilder::bitOr(Value a, Value b) {
  match(a, b);
  return make<arith::OrIOp>(a, b);
}
Value VectorBuilder::shiftLeft(Value a, int64_t bits) {
  return make<arith::ShLIOp>(a, integer(bits, a));
}
Value VectorBuilder::shiftRight(Value a, int64_t bits, bool arithmetic) {
  if (arithmetic)
    return make<arith::ShRSIOp>(a, integer(bits, a));
  return make<arith::ShRUIOp>(a, integer(bits, a));
}
Value VectorBuilder::quotient(Value a, int64_t divisor) {
  if (llvm::isPowerOf2_64(uint64_t(divisor)))
    return shiftRight(a, llvm::Log2_64(uint64_t(divisor)), false);
  return arith::DivUIOp::create(builder, loc, a, integer(divisor, a));
}
Value VectorBuilder::remainder(Value a, int64_t divisor) {
  if (llvm::isPowerOf2_64(uint64_t(divisor)))
    return bitAnd(a, integer(divisor - 1, a));
  return arith::RemUIOp::create(builder, loc, a, integer(divisor, a));
}

Value VectorBuilder::bitcast(Value a, Type element) {
  if (laneType(a.getType()) == element)
    return a;
  Type type = vectorOf(element, laneCount(a));
  if (isa<LLVM::LLVMPointerType>(element))
    return LLVM::IntToPtrOp::create(builder, loc, type, a);
  if (isa<LLVM::LLVMPointerType>(laneType(a.getType())))
    return LLVM::PtrToIntOp::create(builder, loc, type, a);
  return make<arith::BitcastOp>(type, a);
}

Value VectorBuilder::resize(Value a, Type element) {
  unsigned from = laneType(a.getType()).getIntOrFloatBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  Type type = vectorOf(element, laneCount(a));
  if (from < to)
    return arith::ExtSIOp::create(builder, loc, type, a);
  if (from > to)
    return arith::TruncIOp::create(builder, loc, type, a);
  return a;
}

Value VectorBuilder::zeroExtend(Value a, Type element) {
  return make<arith::ExtUIOp>(vectorOf(element, laneCount(a)), a);
}

Value VectorBuilder::extendFloat(Value a, Type element) {
  if (laneType(a.getType()) == element)
    return a;
  unsigned lanes = laneCount(a);
  // bf16 is the upper half of an f32: a shift, where LLVM would call a library function on some
  // processors.
  if (laneType(a.getType()).isBF16()) {
    Type i32 = builder.getI32Type();
    Value bits = zeroExtend(bitcast(a, builder.getI16Type()), i32);
    Value wide = bitcast(shiftLeft(bits, 16), builder.getF32Type());
    return extendFloat(wide, element);
  }
  return make<arith::ExtFOp>(vectorOf(element, lanes), a);
}

Value VectorBuilder::truncateFloat(Value a, Type element) {
  if (laneType(a.getType()) == element)
    return a;
  unsigned lanes = laneCount(a);
  // From f64 by way of f32: directly it is a library call.
  if (laneType(a.getType()).isF64() && !element.isF32())
    return truncateFloat(truncateFloat(a, builder.getF32Type()), element);
  if (!element.isBF16())
    return arith::TruncFOp::create(builder, loc, vectorOf(element, lanes), a);
  // Round to nearest even on the bits; a NaN stays a (quiet) NaN.
  Type i32 = builder.getI32Type();
  Value bits = bitcast(a, i32);
  Value odd = bitAnd(shiftRight(bits, 16, false), integer(1, bits));
  Value rounded = add(bits, add(odd, integer(0x7fff, bits)));
  Value quiet = bitOr(bits, integer(0x400000, bits));
  Value isNaN = compare(arith::CmpFPredicate::UNO, a, a);
  Value upper = shiftRight(select(isNaN, quiet, rounded), 16, false);
  upper = arith::TruncIOp::create(builder, loc, vectorOf(builder.getI16Type(), lanes), upper);
  return bitcast(upper, element);
}

Value VectorBuilder::extract(Value vector, Value lane) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  return LLVM::ExtractElementOp::create(builder, loc, vector, lane);
}
Value VectorBuilder::extract(Value vector, unsigned lane) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  return extract(vector, constant(lane, builder.getI32Type()));
}
Value VectorBuilder::insert(Value vector, Value scalar, Value lane) {
  return LLVM::InsertElementOp::create(builder, loc, vector, scalar, lane);
}

Value VectorBuilder::shuffle(Value a, Value b, ArrayRef<int32_t> lanes) {
  if (lanes.size() == 1)
    return extract(a, unsigned(lanes.front()));
  return LLVM::ShuffleVectorOp::create(builder, loc, a, b, lanes);
}

} // namespace kiln
