// Binary operators and comparisons on tensors, with Triton's rules of type promotion.
//
// Source of the rules: Triton 3.8's language semantics. A Python number takes part with the
// tensor's type unless it is of a higher kind (bool < int < float); two tensors promote as C does,
// signedness included; half types promote to fp32 for division.

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {
namespace {

int kindRank(DType type) { return type.isBool() ? 0 : type.isInt() ? 1 : 2; }

using FPredicate = mlir::arith::CmpFPredicate;
using IPredicate = mlir::arith::CmpIPredicate;

FPredicate floatPredicate(ast::CompareOp op) {
  switch (op) {
  case ast::CompareOp::Less:
    return FPredicate::OLT;
  case ast::CompareOp::LessEqual:
    return FPredicate::OLE;
  case ast::CompareOp::Greater:
    return FPredicate::OGT;
  case ast::CompareOp::GreaterEqual:
    return FPredicate::OGE;
  case ast::CompareOp::NotEqual:
    return FPredicate::UNE;
  default:
    return FPredicate::OEQ;
  }
}

IPredicate intPredicate(ast::CompareOp op, bool isSigned) {
  switch (op) {
  case ast::CompareOp::Less:
    return isSigned ? IPredicate::slt : IPredicate::ult;
  case ast::CompareOp::LessEqual:
    return isSigned ? IPredicate::sle : IPredicate::ule;
  case ast::CompareOp::Greater:
    return isSigned ? IPredicate::sgt : IPredicate::ugt;
  case ast::CompareOp::GreaterEqual:
    return isSigned ? IPredicate::sge : IPredicate::uge;
  case ast::CompareOp::NotEqual:
    return IPredicate::ne;
  default:
    return IPredicate::eq;
  }
}

} // namespace

DType promoteInts(DType a, DType b) {
  if (a.isUnsigned() == b.isUnsigned())
    return a.getBits() > b.getBits() ? a : b;
  if (a.isUnsigned())
    return a.getBits() >= b.getBits() ? a : b;
  return b.getBits() >= a.getBits() ? b : a;
}

std::optional<DType> TensorBuilder::computationType(llvm::StringRef op, DType a, bool aIsNumber,
                                                    DType b, bool bIsNumber, bool division) {
  auto isHalf = [](DType type) { return type.is(Scalar::FP16) || type.is(Scalar::BF16); };
  // Nothing computes in a format that MLIR lacks.
  for (DType *type : {&a, &b})
    if (type->is(Scalar::FP8E4B15))
      *type = Scalar::FP16;
  if (aIsNumber != bIsNumber) {
    DType number = aIsNumber ? a : b, tensor = aIsNumber ? b : a;
    if (kindRank(number) <= kindRank(tensor))
      return division && isHalf(tensor) ? DType(Scalar::FP32) : tensor;
  }
  for (Scalar wide : {Scalar::FP64, Scalar::FP32})
    if (a.is(wide) || b.is(wide))
      return DType(wide);
  if (a.is(Scalar::FP16) || b.is(Scalar::FP16))
    return DType(division ? Scalar::FP32 : Scalar::FP16);
  if (a.is(Scalar::BF16) && b.is(Scalar::BF16))
    return DType(division ? Scalar::FP32 : Scalar::BF16);
  if (a.is(Scalar::BF16) || b.is(Scalar::BF16))
    return DType(Scalar::FP32);
  if (a.isFP8() && b.isFP8())
    return a == b ? a : DType(Scalar::FP16);
  if (!a.isInt() || !b.isInt())
    return fail(DiagKind::SemaOperands, op, a.str(), b.str());
  if (division && a.isUnsigned() != b.isUnsigned())
    return fail(DiagKind::SemaSignedness, op, a.str(), b.str());
  return promoteInts(a, b);
}

std::optional<std::pair<Tensor, Tensor>> TensorBuilder::operands(llvm::StringRef op,
                                                                 const Value &left,
                                                                 const Value &right,
                                                                 OperandRules rules) {
  bool leftNumber = left.isNumber(), rightNumber = right.isNumber();
  for (const Value *value : {&left, &right})
    if (!value->isTensor() && !value->isNumber()) {
      if (value->isOpaque())
        return notKnown(*value), std::nullopt;
      return fail(DiagKind::SemaOperands, op, describe(left), describe(right));
    }
  std::optional<DType> typeA = leftNumber ? numberType(left) : left.getTensor().dtype();
  std::optional<DType> typeB = rightNumber ? numberType(right) : right.getTensor().dtype();
  if (!typeA || !typeB)
    return fail(DiagKind::SemaNumberRange, repr(typeA ? right : left), "uint64");
  auto badPointer = [&](DType pointer, DType other, bool allowed) {
    return pointer.isPointer() &&
           (!allowed || (other.isPointer() && other != pointer) || other.isFloat());
  };
  if (badPointer(*typeA, *typeB, rules.leftPointer) ||
      badPointer(*typeB, *typeA, rules.rightPointer)) {
    errorWithHint(typeA->isFloat() || typeB->isFloat() ? "an offset is an integer: .to(tl.int32)"
                                                       : "",
                  DiagKind::SemaOperands, op, describe(left), describe(right));
    return std::nullopt;
  }

  Tensor a, b;
  if (rules.arithmetic && !typeA->isPointer() && !typeB->isPointer()) {
    std::optional<DType> type =
        computationType(op, *typeA, leftNumber, *typeB, rightNumber, rules.division);
    if (!type)
      return std::nullopt;
    for (const Value *value : {&left, &right})
      if (value->isIntegral() && type->isInt() && !value->isTensor() &&
          (value->getInt() < type->getMin() || value->getInt() > type->getMax()))
        return fail(DiagKind::SemaNumberRange, repr(*value), type->str());
    a = leftNumber ? constant(*type, left) : cast(left.getTensor(), *type);
    b = rightNumber ? constant(*type, right) : cast(right.getTensor(), *type);
  } else {
    a = toTensor(left);
    b = toTensor(right);
  }
  if (!broadcastTogether(a, b))
    return std::nullopt;
  return std::make_pair(a, b);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value TensorBuilder::tensorBinary(ast::BinaryOp op, const Value &left, const Value &right) {
  using ast::BinaryOp;
  switch (op) {
  case BinaryOp::Add:
    return Value::tensor(add(left, right));
  case BinaryOp::Sub:
    return Value::tensor(subtract(left, right));
  case BinaryOp::Mul:
    return Value::tensor(multiply(left, right));
  case BinaryOp::Div:
    return trueDivide(left, right);
  case BinaryOp::FloorDiv:
    return floorDivide(left, right);
  case BinaryOp::Mod:
    return modulo(left, right);
  case BinaryOp::BitAnd:
  case BinaryOp::BitOr:
  case BinaryOp::BitXor:
  case BinaryOp::ShiftLeft:
  case BinaryOp::ShiftRight:
    return bitwise(op, left, right);
  default:
    return errorWithHint(op == BinaryOp::MatMul ? "matrices are multiplied by tl.dot(a, b)" : "",
                         DiagKind::SemaOperands, ast::getSpelling(op), describe(left),
                         describe(right));
  }
}

/// The offset counts as signed: an unsigned one is widened first so that it stays positive.
Tensor TensorBuilder::addPointer(Tensor pointer, Tensor offset) {
  if (offset.dtype().isUnsigned() && offset.dtype().getBits() < 64)
    offset = cast(offset, Scalar::Int64);
  return {emit<tile::AddPtrOp>(pointer.ir, offset.ir), pointer.type};
}

Tensor TensorBuilder::add(const Value &left, const Value &right) {
  OperandRules rules;
  rules.leftPointer = rules.rightPointer = true;
  auto both = operands("+", left, right, rules);
  if (!both)
    return {};
  auto [a, b] = *both;
  if (a.dtype().isPointer() && b.dtype().isPointer()) {
    error(DiagKind::SemaOperands, "+", a.type.str(), b.type.str());
    return {};
  }
  if (a.dtype().isPointer())
    return addPointer(a, b);
  if (b.dtype().isPointer())
    return addPointer(b, a);
  if (a.dtype().isFloat())
    return {emit<mlir::arith::AddFOp>(a.ir, b.ir), a.type};
  return {emit<mlir::arith::AddIOp>(a.ir, b.ir), a.type};
}

Tensor TensorBuilder::subtract(const Value &left, const Value &right) {
  OperandRules rules;
  rules.leftPointer = true;
  auto both = operands("-", left, right, rules);
  if (!both)
    return {};
  auto [a, b] = *both;
  if (a.dtype().isPointer()) {
    if (b.dtype().isUnsigned())
      b = cast(b, Scalar::Int64);
    return addPointer(a, negate(b));
  }
  if (a.dtype().isFloat())
    return {emit<mlir::arith::SubFOp>(a.ir, b.ir), a.type};
  return {emit<mlir::arith::SubIOp>(a.ir, b.ir), a.type};
}

Tensor TensorBuilder::multiply(const Value &left, const Value &right) {
  auto both = operands("*", left, right, {});
  if (!both)
    return {};
  auto [a, b] = *both;
  if (a.dtype().isFloat())
    return {emit<mlir::arith::MulFOp>(a.ir, b.ir), a.type};
  return {emit<mlir::arith::MulIOp>(a.ir, b.ir), a.type};
}

/// `approximate` allows multiplying by a reciprocal in fp32, as Triton's `/` does on GPUs.
Tensor TensorBuilder::divide(Tensor a, Tensor b, bool approximate) {
  auto flags = mlir::arith::FastMathFlags::none;
  if (approximate && a.dtype().is(Scalar::FP32))
    flags = mlir::arith::FastMathFlags::arcp;
  return {emit<mlir::arith::DivFOp>(a.ir, b.ir, flags), a.type};
}

Value TensorBuilder::trueDivide(const Value &left, const Value &right) {
  OperandRules rules;
  rules.division = true;
  auto both = operands("/", left, right, rules);
  if (!both)
    return Value();
  auto [a, b] = *both;
  if (a.dtype().isInt()) {
    a = cast(a, Scalar::FP32);
    b = cast(b, Scalar::FP32);
  }
  return a && b ? Value::tensor(divide(a, b, /*approximate=*/true)) : Value();
}

Value TensorBuilder::floorDivide(const Value &left, const Value &right) {
  OperandRules rules;
  rules.division = true;
  auto both = operands("//", left, right, rules);
  if (!both)
    return Value();
  auto [a, b] = *both;
  if (!a.dtype().isInt())
    return error(DiagKind::SemaOperands, "//", a.type.str(), b.type.str());
  // Truncating, unlike Python's.
  if (a.dtype().isSigned())
    return Value::tensor(emit<mlir::arith::DivSIOp>(a.ir, b.ir), a.type);
  return Value::tensor(emit<mlir::arith::DivUIOp>(a.ir, b.ir), a.type);
}

Value TensorBuilder::modulo(const Value &left, const Value &right) {
  OperandRules rules;
  rules.division = true;
  auto both = operands("%", left, right, rules);
  if (!both)
    return Value();
  auto [a, b] = *both;
  if (a.dtype().isFloat())
    return Value::tensor(emit<mlir::arith::RemFOp>(a.ir, b.ir), a.type);
  if (a.dtype().isSigned())
    return Value::tensor(emit<mlir::arith::RemSIOp>(a.ir, b.ir), a.type);
  return Value::tensor(emit<mlir::arith::RemUIOp>(a.ir, b.ir), a.type);
}

Value TensorBuilder::bitwise(ast::BinaryOp op, const Value &left, const Value &right) {
  using ast::BinaryOp;
  auto both = operands(ast::getSpelling(op), left, right, {});
  if (!both)
    return Value();
  auto [a, b] = *both;
  if (!a.dtype().isInt() || !b.dtype().isInt())
    return errorWithHint("the bits of a float: x.to(tl.int32, bitcast=True)",
                         DiagKind::SemaOperands, ast::getSpelling(op), describe(left),
                         describe(right));
  mlir::Value result;
  switch (op) {
  case BinaryOp::BitAnd:
    result = emit<mlir::arith::AndIOp>(a.ir, b.ir);
    break;
  case BinaryOp::BitOr:
    result = emit<mlir::arith::OrIOp>(a.ir, b.ir);
    break;
  case BinaryOp::BitXor:
    result = emit<mlir::arith::XOrIOp>(a.ir, b.ir);
    break;
  case BinaryOp::ShiftLeft:
    result = emit<mlir::arith::ShLIOp>(a.ir, b.ir);
    break;
  default: {
    // The kind of shift follows the operand that is a tensor in the source, the left one first.
    DType own = left.isTensor() ? left.getTensor().dtype() : right.getTensor().dtype();
    if (own.isSigned())
      result = emit<mlir::arith::ShRSIOp>(a.ir, b.ir);
    else
      result = emit<mlir::arith::ShRUIOp>(a.ir, b.ir);
    break;
  }
  }
  return Value::tensor(result, a.type);
}

Value TensorBuilder::tensorCompare(ast::CompareOp op, const Value &left, const Value &right) {
  // A tensor is never equal to None, a string or a dtype.
  bool equality = op == ast::CompareOp::Equal || op == ast::CompareOp::NotEqual;
  for (const Value *value : {&left, &right})
    if (equality && (value->isNone() || value->isString() || value->is(ValueKind::Type)))
      return Value::boolean(op == ast::CompareOp::NotEqual);
  // Unlike in arithmetic, a number counts as a tensor of its own type here.
  Value a = left, b = right;
  for (Value *value : {&a, &b})
    if (value->isNumber())
      *value = Value::tensor(toTensor(*value));
  if (failed())
    return Value();
  // Pointers compare as addresses.
  auto isPointer = [](const Value &value) {
    return value.isTensor() && value.getTensor().dtype().isPointer();
  };
  if (isPointer(a) || isPointer(b)) {
    if (!a.isTensor() || !b.isTensor())
      return error(DiagKind::SemaOperands, ast::getSpelling(op), describe(left), describe(right));
    a = Value::tensor(cast(a.getTensor(), Scalar::Int64));
    b = Value::tensor(cast(b.getTensor(), Scalar::Int64));
  }
  auto both = operands(ast::getSpelling(op), a, b, {});
  if (!both)
    return Value();
  auto [x, y] = *both;
  TensorType type = x.type.with(DType(Scalar::Int1));
  if (x.dtype().isFloat())
    return Value::tensor(emit<mlir::arith::CmpFOp>(floatPredicate(op), x.ir, y.ir), type);
  return Value::tensor(
      emit<mlir::arith::CmpIOp>(intPredicate(op, x.dtype().isSigned()), x.ir, y.ir), type);
}

Tensor TensorBuilder::minMax(bool isMax, const Value &left, const Value &right, bool propagateNan) {
  Tensor x = promoteBF16(toTensor(left)), y = promoteBF16(toTensor(right));
  if (!x || !y)
    return {};
  auto both = operands(isMax ? "maximum" : "minimum", Value::tensor(x), Value::tensor(y), {});
  if (!both)
    return {};
  auto [a, b] = *both;
  mlir::Value result;
  if (a.dtype().isFloat()) {
    if (propagateNan)
      result = isMax ? emit<mlir::arith::MaximumFOp>(a.ir, b.ir)
                     : emit<mlir::arith::MinimumFOp>(a.ir, b.ir);
    else
      result = isMax ? emit<mlir::arith::MaxNumFOp>(a.ir, b.ir)
                     : emit<mlir::arith::MinNumFOp>(a.ir, b.ir);
  } else if (a.dtype().isSigned())
    result =
        isMax ? emit<mlir::arith::MaxSIOp>(a.ir, b.ir) : emit<mlir::arith::MinSIOp>(a.ir, b.ir);
  else
    result =
        isMax ? emit<mlir::arith::MaxUIOp>(a.ir, b.ir) : emit<mlir::arith::MinUIOp>(a.ir, b.ir);
  return {result, a.type};
}

} // namespace kiln::sema
