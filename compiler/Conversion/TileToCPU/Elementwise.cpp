// One arith, math or Tile operation on scalars or vectors.
//
// Half precision is computed in f32 and rounded after each operation; integer division is made safe
// for lanes whose result nobody reads; functions go to MathFunctions. Everything else is the same
// operation on a vector type.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "compiler/Expansion/ByteFloats/ByteFloats.h"
#include "compiler/Expansion/FloatToInteger/FloatToInteger.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace kiln::cpu {

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// Quotients of masked-off lanes may be by zero: the divisor becomes 1 there instead of a trap. Up
/// to 32 bits the quotient goes through f64, which holds it exactly and which vectors can divide.
Value KernelEmitter::emitDivision(Operation *op, ArrayRef<Value> operands) {
  VectorBuilder v = vectors();
  Value dividend = operands[0], divisor = operands[1];
  Type element = laneType(dividend.getType());
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op),
       isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  std::optional<int64_t> constant = constantOf(op->getOperand(1));
  Value one = v.integer(1, divisor);
  if (!constant || *constant == 0)
    divisor =
        v.select(v.compare(arith::CmpIPredicate::eq, divisor, v.integer(0, divisor)), one, divisor);
  if (isSigned && (!constant || *constant == -1)) {
    // The one other trap: the least integer by -1.
    Value overflow = v.bitAnd(
        v.compare(arith::CmpIPredicate::eq, divisor, v.integer(-1, divisor)),
        v.compare(arith::CmpIPredicate::eq, dividend,
                  v.integer(int64_t(-1) << (element.getIntOrFloatBitWidth() - 1), dividend)));
    divisor = v.select(overflow, one, divisor);
  }
  unsigned lanes = laneCount(dividend);
  bool useFloat = lanes > 1 && element.getIntOrFloatBitWidth() <= 32 && !constant;
  Value quotient;
  if (!useFloat) {
    OperationState state(loc, op->getName(), {dividend, divisor}, {dividend.getType()});
    return b->create(state)->getResult(0);
  }
  Type real = vectorOf(b->getF64Type(), lanes), type = dividend.getType();
  if (isSigned) {
    Value x = arith::SIToFPOp::create(*b, loc, real, dividend),
          y = arith::SIToFPOp::create(*b, loc, real, divisor);
    quotient = arith::FPToSIOp::create(*b, loc, type, v.div(x, y));
  } else {
    Value x = arith::UIToFPOp::create(*b, loc, real, dividend),
          y = arith::UIToFPOp::create(*b, loc, real, divisor);
    quotient = arith::FPToUIOp::create(*b, loc, type, v.div(x, y));
  }
  return isRemainder ? v.sub(dividend, v.mul(quotient, divisor)) : quotient;
}

/// Conversions from and to half precision, by way of f32.
Value KernelEmitter::emitConversion(Operation *op, Value operand) {
  VectorBuilder v = vectors();
  Type to = lowered(tile::elementTypeOf(op->getResult(0).getType())), f32 = b->getF32Type();
  Type from = tile::elementTypeOf(op->getOperand(0).getType()),
       target = tile::elementTypeOf(op->getResult(0).getType());
  if (tile::isByteFloat(from))
    operand = widenByteFloat(*b, loc, operand, from);
  if (tile::isByteFloat(target))
    return narrowByteFloat(*b, loc, convertElement(operand, f32), target);
  if (tile::isByteFloat(from) && isHalf(to))
    return v.truncateFloat(operand, to);
  if (isa<arith::ExtFOp>(op))
    return v.extendFloat(operand, to);
  if (isa<arith::TruncFOp>(op))
    return v.truncateFloat(operand, to);
  if (isHalf(laneType(operand.getType())))
    operand = v.extendFloat(operand, f32);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return floatToInteger(*b, loc, operand, vectorOf(to, laneCount(operand)),
                          isa<arith::FPToSIOp>(op));
  Type between = isHalf(to) ? f32 : to;
  OperationState state(loc, op->getName(), {operand}, {vectorOf(between, laneCount(operand))},
                       op->getAttrs());
  return v.truncateFloat(b->create(state)->getResult(0), to);
}

SmallVector<Value> KernelEmitter::emitElementwise(Operation *op, ArrayRef<Value> given) {
  if (auto map = dyn_cast<tile::MapOp>(op))
    return emitMap(map, given);
  VectorBuilder v = vectors();
  unsigned lanes = 1;
  for (Value operand : given)
    lanes = std::max(lanes, laneCount(operand));
  SmallVector<Value> operands;
  for (Value operand : given)
    operands.push_back(v.splat(operand, lanes));
  Type result = lowered(tile::elementTypeOf(op->getResult(0).getType()));

  if (isa<tile::HintOp>(op))
    return operands;
  if (isa<tile::BitcastOp>(op))
    return {v.bitcast(operands[0], result)};
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    // A scalar base stays one: gathers address from it.
    Type pointee = cast<tile::PtrType>(tile::elementTypeOf(add.getType())).getPointee();
    Value offset = given[1];
    if (laneType(offset.getType()).getIntOrFloatBitWidth() < 32)
      offset = v.resize(offset, b->getI32Type());
    return {LLVM::GEPOp::create(*b, loc, vectorOf(result, lanes), lowered(pointee), given[0],
                                ValueRange{offset})};
  }
  if (isa<arith::SelectOp>(op))
    return {v.select(given[0], operands[1], operands[2])};
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return {emitDivision(op, operands)};
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
          arith::FPToUIOp, tile::NarrowOp>(op))
    return {emitConversion(op, operands[0])};
  if (isa<arith::BitcastOp>(op))
    return {v.bitcast(operands[0], result)};
  return emitArithmetic(op, operands, lanes);
}

/// An operation of the arith or math dialect; on halves in f32.
SmallVector<Value> KernelEmitter::emitArithmetic(Operation *op, SmallVector<Value> operands,
                                                 unsigned lanes) {
  VectorBuilder v = vectors();
  Type result = lowered(tile::elementTypeOf(op->getResult(0).getType()));
  bool half = false;
  for (Value &operand : operands)
    if (isHalf(laneType(operand.getType()))) {
      operand = v.extendFloat(operand, b->getF32Type());
      half = true;
    }
  if (isMathFunction(op)) {
    Value value = emitMath(v, op, operands, module, options.hasFMA);
    return {half ? v.truncateFloat(value, result) : value};
  }
  if (auto rsqrt = dyn_cast<math::RsqrtOp>(op)) {
    // In f64 nothing but the result is rounded.
    bool isRounded = !bitEnumContainsAll(rsqrt.getFastmath(), arith::FastMathFlags::afn);
    Value x = isRounded ? v.extendFloat(operands[0], b->getF64Type()) : operands[0];
    Value root = math::SqrtOp::create(*b, loc, x);
    return {v.truncateFloat(v.div(v.real(1.0, root), root), result)};
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = lowered(tile::elementTypeOf(type));
    types.push_back(vectorOf(isHalf(element) ? b->getF32Type() : element, lanes));
  }
  if (isa<math::FmaOp>(op) && !options.hasFMA)
    return {v.truncateFloat(emitFused(v, operands, module), result)};
  OperationState state(loc, op->getName(), operands, types, op->getAttrs());
  // Roots are exact here also where they need not be.
  if (isa<math::SqrtOp>(op))
    state.attributes.erase("fastmath");
  if (options.fusesProducts && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    state.attributes.set("fastmath", arith::FastMathFlagsAttr::get(op->getContext(),
                                                                   arith::FastMathFlags::contract));
  SmallVector<Value> results(b->create(state)->getResults());
  if (isHalf(result))
    results[0] = v.truncateFloat(results[0], result);
  return results;
}

SmallVector<Value> KernelEmitter::emitCombiner(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  DenseMap<Value, Value> local;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    local[argument] = value;
  auto lookup = [&](Value value) {
    auto found = local.find(value);
    return found == local.end() ? scalar(value) : found->second;
  };
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      local[constant] = b->clone(op)->getResult(0);
      continue;
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
    for (auto [result, value] : llvm::zip(op.getResults(), emitElementwise(&op, operands)))
      local[result] = value;
  }
  SmallVector<Value> results;
  VectorBuilder v = vectors();
  unsigned lanes = 1;
  for (Value argument : arguments)
    lanes = std::max(lanes, laneCount(argument));
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(v.splat(lookup(value), lanes));
  return results;
}

} // namespace kiln::cpu
