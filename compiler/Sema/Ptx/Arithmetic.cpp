// Arithmetic of inline PTX, on whole tensors: add, fma, ex2, shf, prmt and their like.

#include "compiler/Sema/Ptx/Translator.h"

#include "compiler/Sema/Tensors/NarrowFloats.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

namespace math = mlir::math;
using ast::BinaryOp;
using ast::CompareOp;

/// Operations whose operands all have the type of the instruction.
Tensor PtxTranslator::computeTyped(const PtxInstruction &instruction, Type type) {
  std::vector<std::vector<Tensor>> lanes(type.count);
  for (const PtxOperand &operand : llvm::ArrayRef(instruction.operands).drop_front()) {
    if (type.count == 1) {
      // `mad.wide` adds in the wider type.
      bool isWideAddend = instruction.has("wide") && lanes[0].size() == 2;
      DType element = isWideAddend ? getIntType(type.element.getBits() * 2, type.element.isSigned())
                                   : type.element;
      lanes[0].push_back(readAs(operand, element));
      if (!lanes[0].back())
        return {};
      continue;
    }
    Tensor bits = read(operand, type.getBits());
    if (!bits)
      return {};
    for (auto [index, part] : llvm::enumerate(divide(bits, type.count)))
      lanes[index].push_back(build.bitcast(part, type.element));
  }
  std::vector<Tensor> results;
  for (const std::vector<Tensor> &operands : lanes) {
    results.push_back(bitsOf(computeLanes(instruction, type.element, operands)));
    if (!results.back())
      return {};
  }
  return results.size() == 1 ? results.front() : combine(results);
}

Tensor PtxTranslator::computeLanes(const PtxInstruction &instruction, DType type,
                                   llvm::ArrayRef<Tensor> operands) {
  llvm::StringRef base = instruction.base;
  size_t count = operands.size();
  if ((base == "min" || base == "max") && count == 2)
    return minMax(instruction, operands[0], operands[1]);
  if (base == "neg" && count == 1)
    return build.negate(operands[0]);
  if (type.isFloat())
    return computeFloat(instruction, type, operands);
  return computeInt(instruction, type, operands);
}

Tensor PtxTranslator::computeFloat(const PtxInstruction &instruction, DType type,
                                   llvm::ArrayRef<Tensor> operands) {
  llvm::StringRef base = instruction.base;
  Tensor x = operands[0], result;
  if (instruction.has("rs"))
    return refuse(instruction);
  if (std::optional<Direction> direction = directionOf(instruction))
    return computeToward(instruction, *direction, operands);
  if (operands.size() == 1)
    return computeFunction(instruction, type, x);
  if (operands.size() == 2) {
    if (base == "add")
      result = binary(BinaryOp::Add, x, operands[1]);
    else if (base == "sub")
      result = binary(BinaryOp::Sub, x, operands[1]);
    else if (base == "mul")
      result = binary(BinaryOp::Mul, x, operands[1]);
    else if (base == "div")
      result = build.divide(x, operands[1], instruction.has("approx"));
    else if (base == "copysign")
      // PTX takes the sign from the first operand.
      result = {build.emit<math::CopySignOp>(operands[1].ir, x.ir), x.type};
    else
      return refuse(instruction);
  } else if ((base == "fma" || base == "mad") && operands.size() == 3)
    result = {build.emit<math::FmaOp>(x.ir, operands[1].ir, operands[2].ir), x.type};
  else
    return refuse(instruction);
  return result ? saturate(instruction, result, type) : result;
}

/// A number of `type` everywhere.
Tensor PtxTranslator::number(DType type, int value) {
  return build.splat(build.constant(type, Value::integer(value)), shape);
}

/// Saturation to [0, 1] makes NaN 0, as a maximum that ignores NaN does.
Tensor PtxTranslator::saturate(const PtxInstruction &instruction, Tensor result, DType type) {
  if (!instruction.has("sat") && !instruction.has("relu"))
    return result;
  result = build.minMax(true, Value::tensor(result), Value::tensor(number(type, 0)), false);
  if (instruction.has("sat"))
    result = build.minMax(false, Value::tensor(result), Value::tensor(number(type, 1)), false);
  return build.cast(result, type);
}

/// A function of one float. Half types are computed in fp32, and rounded.
Tensor PtxTranslator::computeFunction(const PtxInstruction &instruction, DType type, Tensor x) {
  llvm::StringRef base = instruction.base;
  bool isHalf = type.getBits() == 16;
  if (isHalf)
    x = build.cast(x, Scalar::FP32);
  Accuracy accuracy = instruction.has("approx") ? Accuracy::Fast : Accuracy::Full;
  auto unary = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    return Tensor{build.emit<Op>(x.ir, fastMathFlags(accuracy, x.dtype())), x.type};
  };
  Tensor result;
  if (base == "abs")
    result = unary(std::common_type<math::AbsFOp>());
  else if (base == "ex2")
    result = unary(std::common_type<math::Exp2Op>());
  else if (base == "lg2")
    result = unary(std::common_type<math::Log2Op>());
  else if (base == "sin")
    result = unary(std::common_type<math::SinOp>());
  else if (base == "cos")
    result = unary(std::common_type<math::CosOp>());
  else if (base == "tanh")
    result = unary(std::common_type<math::TanhOp>());
  else if (base == "sqrt")
    result = unary(std::common_type<math::SqrtOp>());
  else if (base == "rsqrt")
    result = unary(std::common_type<math::RsqrtOp>());
  else if (base == "rcp" && !isHalf)
    result = build.divide(number(type, 1), x, !instruction.has("rn"));
  else
    return refuse(instruction);
  return build.cast(result, type);
}

/// The direction of `rz`, `rm` or `rp`.
std::optional<Direction> PtxTranslator::directionOf(const PtxInstruction &instruction) {
  for (llvm::StringRef modifier : {"rz", "rm", "rp"})
    if (instruction.has(modifier))
      return directionNamed(modifier);
  return std::nullopt;
}

Tensor PtxTranslator::computeToward(const PtxInstruction &instruction, Direction direction,
                                    llvm::ArrayRef<Tensor> operands) {
  llvm::StringRef base = instruction.base;
  DType type = operands[0].dtype();
  bool isOther = instruction.has("sat") || !(type.is(Scalar::FP32) || type.is(Scalar::FP64));
  std::vector<Lanes> x;
  for (const Tensor &operand : operands)
    x.push_back({&build, operand});
  size_t count = x.size();
  if (!isOther && base == "add" && count == 2)
    return sumToward(direction, x[0], x[1]).tensor;
  if (!isOther && base == "sub" && count == 2)
    return sumToward(direction, x[0], -x[1]).tensor;
  if (!isOther && base == "mul" && count == 2)
    return productToward(direction, x[0], x[1]).tensor;
  if (!isOther && base == "div" && count == 2)
    return quotientToward(direction, x[0], x[1]).tensor;
  if (!isOther && (base == "fma" || base == "mad") && count == 3)
    return fusedToward(direction, x[0], x[1], x[2]).tensor;
  if (!isOther && base == "sqrt" && count == 1)
    return rootToward(direction, x[0]).tensor;
  if (!isOther && base == "rcp" && count == 1)
    return quotientToward(direction, x[0].number(1), x[0]).tensor;
  return refuse(instruction);
}

/// A function of libdevice.
Tensor PtxTranslator::call(llvm::StringRef name, llvm::ArrayRef<Tensor> operands) {
  std::vector<Value> args;
  for (const Tensor &operand : operands)
    args.push_back(Value::tensor(operand));
  Value result = build.callBuiltin(Library::Device, name, args);
  return build.failed() ? Tensor() : result.getTensor();
}

Tensor PtxTranslator::minMax(const PtxInstruction &instruction, Tensor a, Tensor b) {
  bool isMax = instruction.base == "max";
  auto combineWith = [&](Tensor x, Tensor y) {
    Tensor result = build.minMax(isMax, Value::tensor(x), Value::tensor(y), instruction.has("nan"));
    return build.cast(result, a.dtype());
  };
  if (!instruction.has("xorsign"))
    return combineWith(a, b);
  // The smaller (larger) magnitude, with the product's sign.
  auto magnitude = [&](Tensor x) { return Tensor{build.emit<math::AbsFOp>(x.ir), x.type}; };
  Tensor sign = build.bitcast(binary(BinaryOp::BitXor, bitsOf(a), bitsOf(b)), a.dtype());
  Tensor result = combineWith(magnitude(a), magnitude(b));
  return {build.emit<math::CopySignOp>(result.ir, sign.ir), a.type};
}

Tensor PtxTranslator::computeInt(const PtxInstruction &instruction, DType type,
                                 llvm::ArrayRef<Tensor> operands) {
  llvm::StringRef base = instruction.base;
  size_t count = operands.size();
  if (base == "brev" && count == 1)
    return call("brev", operands);
  if (instruction.has("cc") || instruction.has("sat"))
    return refuse(instruction);
  if ((base == "mul" && count == 2) || (base == "mad" && count == 3))
    return wideProduct(instruction, type, operands);
  if (count == 2) {
    auto op = llvm::StringSwitch<std::optional<BinaryOp>>(base)
                  .Case("add", BinaryOp::Add)
                  .Case("sub", BinaryOp::Sub)
                  .Case("div", BinaryOp::FloorDiv)
                  .Case("rem", BinaryOp::Mod)
                  .Case("and", BinaryOp::BitAnd)
                  .Case("or", BinaryOp::BitOr)
                  .Case("xor", BinaryOp::BitXor)
                  .Default(std::nullopt);
    return op ? binary(*op, operands[0], operands[1]) : refuse(instruction);
  }
  Tensor x = operands[0];
  if (count == 1 && base == "not")
    return build.invert(x);
  if (count == 1 && base == "abs")
    return {build.emit<math::AbsIOp>(x.ir), x.type};
  if (count == 1 && base == "popc")
    return build.cast({build.emit<math::CtPopOp>(x.ir), bitsOf(x).type}, Scalar::UInt32);
  if (count == 1 && base == "clz")
    return build.cast({build.emit<math::CountLeadingZerosOp>(x.ir), bitsOf(x).type},
                      Scalar::UInt32);
  return refuse(instruction);
}

/// mul and mad: `lo`, `hi` or `wide` part of the product.
Tensor PtxTranslator::wideProduct(const PtxInstruction &instruction, DType type,
                                  llvm::ArrayRef<Tensor> operands) {
  bool isWide = instruction.has("wide"), isHigh = instruction.has("hi");
  if ((isWide || isHigh) && type.getBits() == 64)
    return refuse(instruction);
  DType wide = isWide || isHigh ? getIntType(type.getBits() * 2, type.isSigned()) : type;
  Tensor product =
      binary(BinaryOp::Mul, build.cast(operands[0], wide), build.cast(operands[1], wide));
  if (isHigh)
    product = build.cast(binary(BinaryOp::ShiftRight, bitsOf(product), type.getBits()), type);
  return operands.size() == 3 ? binary(BinaryOp::Add, product, operands[2]) : product;
}

/// Shifts by the width or more give zeros (signs): arith leaves them undefined.
Tensor PtxTranslator::shift(const PtxInstruction &instruction, DType type) {
  Tensor x = readAs(instruction.operands[1], type);
  Tensor amount = x ? read(instruction.operands[2], 32) : Tensor();
  if (!amount)
    return {};
  unsigned bits = type.getBits();
  Tensor isLarge = test(CompareOp::GreaterEqual, amount, constantBits(32, bits));
  Tensor most = constantBits(32, bits - 1);
  amount = build.cast(build.select(isLarge, most, amount), getIntType(bits, false));
  Tensor signedAmount{amount.ir, x.type};
  if (instruction.base == "shr" && type.isSigned())
    return binary(BinaryOp::ShiftRight, x, signedAmount);
  Tensor shifted = binary(instruction.base == "shl" ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight,
                          bitsOf(x), amount);
  return build.select(isLarge, constantBits(bits, 0), shifted);
}

/// shf.l gives the upper, shf.r the lower word of {c, b} shifted by the amount.
Tensor PtxTranslator::funnelShift(const PtxInstruction &instruction) {
  Tensor low = read(instruction.operands[1], 32), high = read(instruction.operands[2], 32);
  Tensor amount = low && high ? read(instruction.operands[3], 32) : Tensor();
  if (!amount || !(instruction.has("wrap") || instruction.has("clamp")))
    return amount ? refuse(instruction) : Tensor();
  if (instruction.has("wrap"))
    amount = binary(BinaryOp::BitAnd, amount, 31);
  else
    amount = build.minMax(false, Value::tensor(amount), Value::tensor(constantBits(32, 32)), false);
  Tensor both = combine({low, high});
  amount = build.cast(amount, Scalar::UInt64);
  if (instruction.has("l"))
    return divide(binary(BinaryOp::ShiftLeft, both, amount), 2)[1];
  return divide(binary(BinaryOp::ShiftRight, both, amount), 2)[0];
}

Tensor PtxTranslator::lookUp3(const PtxInstruction &instruction) {
  if (instruction.operands[4].kind != PtxOperand::Kind::Immediate)
    return refuse(instruction);
  Tensor in[3];
  for (unsigned i = 0; i < 3; ++i)
    if (in[i] = read(instruction.operands[i + 1], 32); !in[i])
      return {};
  Tensor result = constantBits(32, 0);
  // One term per line of the truth table.
  for (unsigned line = 0; line < 8; ++line) {
    if (!(instruction.operands[4].value >> line & 1))
      continue;
    Tensor term;
    for (unsigned i = 0; i < 3; ++i) {
      Tensor literal = line >> (2 - i) & 1 ? in[i] : build.invert(in[i]);
      term = term ? binary(BinaryOp::BitAnd, term, literal) : literal;
    }
    result = binary(BinaryOp::BitOr, result, term);
  }
  return result;
}

/// In the default mode.
Tensor PtxTranslator::permuteBytes(const PtxInstruction &instruction) {
  if (instruction.modifiers.size() != 1)
    return refuse(instruction, "needs a mode that is not supported");
  if (instruction.operands[3].kind != PtxOperand::Kind::Immediate)
    return permuteBytesBy(instruction);
  Tensor low = read(instruction.operands[1], 32),
         high = low ? read(instruction.operands[2], 32) : low;
  if (!low || !high)
    return {};
  std::vector<Tensor> bytes = divide(low, 4), more = divide(high, 4), chosen;
  bytes.insert(bytes.end(), more.begin(), more.end());
  for (unsigned i = 0; i < 4; ++i) {
    unsigned selector = instruction.operands[3].value >> (4 * i) & 15;
    Tensor byte = bytes[selector & 7];
    // The upper bit repeats the byte's sign.
    if (selector & 8)
      byte = bitsOf(binary(BinaryOp::ShiftRight, build.bitcast(byte, Scalar::Int8),
                           build.bitcast(constantBits(8, 7), Scalar::Int8)));
    chosen.push_back(byte);
  }
  return combine(chosen);
}

/// The same with a selector that is known at run time.
Tensor PtxTranslator::permuteBytesBy(const PtxInstruction &instruction) {
  Tensor low = read(instruction.operands[1], 32),
         high = low ? read(instruction.operands[2], 32) : low,
         selectors = high ? read(instruction.operands[3], 32) : high;
  if (!selectors)
    return {};
  // An instruction where there is one.
  if (build.getTarget().backend == "cuda") {
    if (!build.broadcastTogether(low, high) || !build.broadcastTogether(low, selectors) ||
        !build.broadcastTogether(high, selectors))
      return {};
    return {build.emit<tile::PermuteBytesOp>(low.ir, high.ir, selectors.ir), selectors.type};
  }
  Tensor both = combine({low, high});
  selectors = build.cast(selectors, Scalar::UInt64);
  std::vector<Tensor> chosen;
  for (unsigned i = 0; i < 4; ++i) {
    Tensor selector = binary(BinaryOp::ShiftRight, selectors, 4 * i);
    Tensor amount = binary(BinaryOp::ShiftLeft, binary(BinaryOp::BitAnd, selector, 7), 3);
    Tensor byte = binary(BinaryOp::BitAnd, binary(BinaryOp::ShiftRight, both, amount), 255);
    // Ones or zeros, by the byte's sign.
    Tensor sign = binary(BinaryOp::Mul, binary(BinaryOp::ShiftRight, byte, 7), 255);
    Tensor isSign =
        test(CompareOp::NotEqual, binary(BinaryOp::BitAnd, selector, 8), constantBits(64, 0));
    if (!isSign)
      return {};
    chosen.push_back(build.cast(build.select(isSign, sign, byte), Scalar::UInt8));
  }
  return combine(chosen);
}

} // namespace kiln::sema
