// Operators of the source: on tensors when one takes part, else Python's.

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

using IPredicate = mlir::arith::CmpIPredicate;

Value TensorBuilder::binary(ast::BinaryOp op, const Value &left, const Value &right) {
  return left.isTensor() || right.isTensor() ? tensorBinary(op, left, right)
                                             : pythonBinary(op, left, right);
}

Value TensorBuilder::compare(ast::CompareOp op, const Value &left, const Value &right) {
  using ast::CompareOp;
  bool isOfObjects = op == CompareOp::Is || op == CompareOp::IsNot || op == CompareOp::In ||
                     op == CompareOp::NotIn;
  return !isOfObjects && (left.isTensor() || right.isTensor()) ? tensorCompare(op, left, right)
                                                               : pythonCompare(op, left, right);
}

Value TensorBuilder::unary(ast::UnaryOp op, const Value &operand) {
  if (!operand.isTensor())
    return pythonUnary(op, operand);
  Tensor tensor = operand.getTensor();
  switch (op) {
  case ast::UnaryOp::Plus:
    return operand;
  case ast::UnaryOp::Minus:
    return Value::tensor(negate(tensor));
  case ast::UnaryOp::Invert:
    return Value::tensor(invert(tensor));
  case ast::UnaryOp::Not:
    if (isPortable() && !tensor.dtype().isBool() && !tensor.dtype().isPointer())
      return notPortable("'not' of " + tensor.type.str(), "compare with 0");
    return Value::tensor(logicalNot(tensor));
  }
  llvm_unreachable("closed enumeration");
}

Value TensorBuilder::combineLogical(bool isAnd, const Value &left, const Value &right) {
  Tensor a = toCondition(left.getTensor());
  Tensor b = a ? toCondition(right.getTensor()) : Tensor();
  if (!a || !b)
    return Value();
  return binary(isAnd ? ast::BinaryOp::BitAnd : ast::BinaryOp::BitOr, Value::tensor(a),
                Value::tensor(b));
}

void TensorBuilder::emitAssertion(Tensor condition, llvm::StringRef message) {
  if (condition)
    tile::AssertOp::create(builder, loc(), condition.ir, builder.getStringAttr(message));
}

/// In 64 bits, where nothing overflows, against the range of the type (Triton's sanitize_overflow).
void TensorBuilder::assertInRange(ast::BinaryOp op, Tensor a, Tensor b) {
  DType type = a.dtype();
  Tensor x = cast(a, Scalar::Int64), y = cast(b, Scalar::Int64);
  mlir::Value wide = op == ast::BinaryOp::Add   ? emit<mlir::arith::AddIOp>(x.ir, y.ir)
                     : op == ast::BinaryOp::Sub ? emit<mlir::arith::SubIOp>(x.ir, y.ir)
                                                : emit<mlir::arith::MulIOp>(x.ir, y.ir);
  auto limit = [&](Int value) {
    return splat(integerConstant(Scalar::Int64, value), x.type.shape).ir;
  };
  mlir::Value isBelow = emit<mlir::arith::CmpIOp>(IPredicate::sle, wide, limit(type.getMax()));
  mlir::Value isAbove = emit<mlir::arith::CmpIOp>(IPredicate::sge, wide, limit(type.getMin()));
  llvm::StringRef name = op == ast::BinaryOp::Add   ? "add"
                         : op == ast::BinaryOp::Sub ? "sub"
                                                    : "mul";
  emitAssertion({emit<mlir::arith::AndIOp>(isBelow, isAbove), x.type.with(DType(Scalar::Int1))},
                type.str() + " overflow detected for operation " + name.str());
}

Value TensorBuilder::checkedBinary(ast::BinaryOp op, const Value &left, const Value &right) {
  Value result = binary(op, left, right);
  using ast::BinaryOp;
  bool canOverflow = op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul;
  if (!canOverflow || failed() || !result.isTensor() || !checksAssertions())
    return result;
  DType type = result.getTensor().dtype();
  if (!type.isInt() || type.isBool() || type.getBits() >= 64)
    return result;
  if (auto both = operands(ast::getSpelling(op), left, right, {}))
    assertInRange(op, both->first, both->second);
  return failed() ? Value() : result;
}

} // namespace kiln::sema
