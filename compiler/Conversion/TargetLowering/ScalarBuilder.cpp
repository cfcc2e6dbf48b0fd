// Scalar arithmetic in `arith`, written shortly.

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

using namespace mlir;

namespace kiln {

unsigned scalarBits(Type type) {
  return isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

Value ScalarBuilder::integer(Type type, int64_t value) const {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value ScalarBuilder::real(Type type, double value) const {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value ScalarBuilder::zero(Type type) const {
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::ZeroOp::create(b, loc, type);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
}

/// A small constant's value.
static std::optional<int64_t> constantOf(Value value) {
  IntegerAttr attr;
  if (auto op = value.getDefiningOp<arith::ConstantOp>())
    attr = dyn_cast<IntegerAttr>(op.getValue());
  return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
}

Value ScalarBuilder::add(Value l, Value r) const {
  std::optional<int64_t> left = constantOf(l), right = constantOf(r);
  if (left && right)
    return integer(l.getType(), *left + *right);
  if (left == 0)
    return r;
  if (right == 0)
    return l;
  return arith::AddIOp::create(b, loc, l, r, arith::IntegerOverflowFlags::nsw);
}

Value ScalarBuilder::mul(Value l, int64_t r) const {
  if (auto left = constantOf(l))
    return integer(l.getType(), *left * r);
  if (r == 1)
    return l;
  return arith::MulIOp::create(b, loc, l, integer(l.getType(), r),
                               arith::IntegerOverflowFlags::nsw);
}

Value ScalarBuilder::bitAnd(Value l, int64_t r) const {
  return make<arith::AndIOp>(l, integer(l.getType(), r));
}

Value ScalarBuilder::shiftLeft(Value l, unsigned r) const {
  return r ? make<arith::ShLIOp>(l, integer(l.getType(), r)) : l;
}

Value ScalarBuilder::shiftRight(Value l, unsigned r) const {
  return r ? make<arith::ShRUIOp>(l, integer(l.getType(), r)) : l;
}

Value ScalarBuilder::joinBytes(Value low, Value high) const {
  Type both = b.getI16Type();
  return bitOr(make<arith::ExtUIOp>(both, low), shiftLeft(make<arith::ExtUIOp>(both, high), 8));
}

Value ScalarBuilder::equal(Value l, int64_t r) const {
  return compare(arith::CmpIPredicate::eq, l, integer(l.getType(), r));
}

Value ScalarBuilder::bitcast(Value value, Type type) const {
  if (value.getType() == type)
    return value;
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(b, loc, type, value);
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return LLVM::PtrToIntOp::create(b, loc, type, value);
  return LLVM::BitcastOp::create(b, loc, type, value);
}

Value ScalarBuilder::byteOffset(Value base, Value bytes) const {
  if (auto offset = constantOf(bytes)) {
    if (*offset == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(*offset))});
  }
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}

Value ScalarBuilder::pack(ValueRange elements) const {
  if (elements.size() == 1)
    return elements[0];
  auto type = VectorType::get(elements.size(), elements[0].getType());
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (auto [index, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(b, loc, vector, element,
                                           LLVM::ConstantOp::create(b, loc, b.getI32Type(), index));
  return vector;
}

SmallVector<Value> ScalarBuilder::unpack(Value value) const {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {value};
  SmallVector<Value> elements;
  for (int64_t index = 0; index < type.getNumElements(); ++index)
    elements.push_back(LLVM::ExtractElementOp::create(
        b, loc, value, LLVM::ConstantOp::create(b, loc, b.getI32Type(), index)));
  return elements;
}

} // namespace kiln
