// Each instruction becomes arith and math operations on whole tensors. Approximations become the
// functions they approximate, and `ftz` is ignored: results differ in the last bits from a GPU's.

#include "compiler/Sema/PtxTranslator.h"

#include "compiler/Sema/NarrowFloats.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

namespace arith = mlir::arith;
namespace math = mlir::math;
using ast::BinaryOp;
using ast::CompareOp;

static DType uintOf(unsigned bits) {
  return bits == 1 ? DType(Scalar::Int1) : getIntType(bits, false);
}

//===-- Registers --===//

std::optional<PtxTranslator::Type> PtxTranslator::parseType(llvm::StringRef text) {
  Type type;
  if (text == "pred")
    return Type{DType(Scalar::Int1), 1};
  if (text.consume_back("x2"))
    type.count = 2;
  unsigned bits;
  auto scalar = llvm::StringSwitch<std::optional<Scalar>>(text)
                    .Case("f16", Scalar::FP16)
                    .Case("bf16", Scalar::BF16)
                    .Case("f32", Scalar::FP32)
                    .Case("f64", Scalar::FP64)
                    .Case("e4m3", Scalar::FP8E4NV)
                    .Case("e5m2", Scalar::FP8E5)
                    .Default(std::nullopt);
  if (scalar) {
    type.element = *scalar;
    return type;
  }
  bool isSigned = text.starts_with("s");
  if (type.count == 1 && (isSigned || text.starts_with("u") || text.starts_with("b")) &&
      !text.drop_front().getAsInteger(10, bits) &&
      (bits == 8 || bits == 16 || bits == 32 || bits == 64)) {
    type.element = getIntType(bits, isSigned);
    return type;
  }
  return std::nullopt;
}

llvm::SmallVector<PtxTranslator::Type, 2>
PtxTranslator::typesOf(const PtxInstruction &instruction) {
  llvm::SmallVector<Type, 2> types;
  for (const std::string &modifier : instruction.modifiers)
    if (std::optional<Type> type = parseType(modifier))
      types.push_back(*type);
  return types;
}

void PtxTranslator::addArgument(unsigned bits, Tensor value) {
  arguments.push_back({bits, value ? evaluator.cast(value, uintOf(bits)) : value});
}

PtxTranslator::Register *PtxTranslator::find(const PtxOperand &operand) {
  if (operand.kind == PtxOperand::Kind::Argument)
    return operand.value < arguments.size() ? &arguments[operand.value] : nullptr;
  if (operand.kind != PtxOperand::Kind::Register)
    return nullptr;
  auto declared = program.registers.find(operand.name);
  std::optional<Type> type =
      declared == program.registers.end() ? std::nullopt : parseType(declared->second);
  if (!type)
    return nullptr;
  Register &entry = registers[operand.name];
  entry.bits = type->getBits();
  return &entry;
}

Tensor PtxTranslator::constantBits(unsigned bits, uint64_t value) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  return evaluator.splat(evaluator.integerConstant(uintOf(bits), Int(value)), shape);
}

Tensor PtxTranslator::bitsOf(Tensor value) {
  if (!value || value.dtype().isBool())
    return value;
  return evaluator.bitcast(value, uintOf(value.dtype().getBits()));
}

Tensor PtxTranslator::read(const PtxOperand &operand, unsigned bits) {
  switch (operand.kind) {
  case PtxOperand::Kind::Immediate:
  case PtxOperand::Kind::Float32:
    return constantBits(bits, operand.value);
  case PtxOperand::Kind::Float64: {
    double number;
    memcpy(&number, &operand.value, sizeof(number));
    float narrow = float(number);
    uint32_t word;
    memcpy(&word, &narrow, sizeof(word));
    return constantBits(bits, bits == 64 ? operand.value : word);
  }
  case PtxOperand::Kind::Vector: {
    std::vector<Tensor> parts;
    for (const PtxOperand &element : operand.elements) {
      parts.push_back(read(element, bits / unsigned(operand.elements.size())));
      if (!parts.back())
        return {};
    }
    return combine(parts);
  }
  default:
    break;
  }
  if (operand.kind == PtxOperand::Kind::Register && !program.registers.count(operand.name) &&
      llvm::StringRef(operand.name).starts_with("%")) {
    Tensor value = readSpecial(operand.name);
    return value ? evaluator.cast(value, uintOf(bits)) : value;
  }
  Register *entry = find(operand);
  std::string name = operand.kind == PtxOperand::Kind::Argument
                         ? "$" + std::to_string(operand.value)
                         : operand.name;
  if (!entry || !entry->value) {
    evaluator.error(DiagKind::SemaPtx,
                    "'" + name + (entry ? "' is read before it is written" : "' is not supported"));
    return {};
  }
  return entry->value.dtype() == uintOf(bits) ? entry->value
                                              : evaluator.cast(entry->value, uintOf(bits));
}

Tensor PtxTranslator::readAs(const PtxOperand &operand, DType type) {
  // A decimal or single-precision immediate takes the operand's type.
  if (operand.kind == PtxOperand::Kind::Float64 && type.isFloat()) {
    double number;
    memcpy(&number, &operand.value, sizeof(number));
    return evaluator.splat(evaluator.constant(type, Value::real(number)), shape);
  }
  Tensor bits = read(operand, type.getBits());
  return bits ? evaluator.bitcast(bits, type) : bits;
}

Tensor PtxTranslator::getArgument(size_t index) {
  PtxOperand operand;
  operand.kind = PtxOperand::Kind::Argument;
  operand.value = index;
  if (!arguments[index].value && isEffect)
    return constantBits(arguments[index].bits, 0);
  return read(operand, arguments[index].bits);
}

bool PtxTranslator::write(const PtxInstruction &instruction, const PtxOperand &target,
                          Tensor bits) {
  if (!bits)
    return false;
  if (target.kind == PtxOperand::Kind::Vector) {
    std::vector<Tensor> parts = divide(bits, unsigned(target.elements.size()));
    for (auto [element, part] : llvm::zip(target.elements, parts))
      if (!write(instruction, element, part))
        return false;
    return true;
  }
  // `_` takes what nobody wants.
  if (target.kind == PtxOperand::Kind::Register && target.name == "_")
    return true;
  Register *entry = find(target);
  if (!entry) {
    refuse(instruction, "writes something that is not a declared register");
    return false;
  }
  bits = evaluator.cast(bits, uintOf(entry->bits));
  Tensor condition;
  if (entry->value && !findCondition(instruction, condition))
    return false;
  if (condition)
    bits = evaluator.select(condition, bits, entry->value);
  entry->value = bits;
  return bool(bits);
}

Tensor PtxTranslator::refuse(const PtxInstruction &instruction, const llvm::Twine &why) {
  evaluator.error(DiagKind::SemaPtx, "instruction '" + instruction.text + "' " + why.str());
  return {};
}

Tensor PtxTranslator::binary(BinaryOp op, Tensor a, Tensor b) {
  Value result = evaluator.binary(op, Value::tensor(a), Value::tensor(b));
  return evaluator.failed() ? Tensor() : result.getTensor();
}
Tensor PtxTranslator::binary(BinaryOp op, Tensor a, uint64_t number) {
  return binary(op, a, constantBits(a.dtype().getBits(), number));
}
Tensor PtxTranslator::test(CompareOp op, Tensor a, Tensor b) {
  Value result = evaluator.compare(op, Value::tensor(a), Value::tensor(b));
  return evaluator.failed() ? Tensor() : result.getTensor();
}

/// The first part is the lowest.
Tensor PtxTranslator::combine(llvm::ArrayRef<Tensor> parts) {
  unsigned bits = parts.front().dtype().getBits();
  Tensor result;
  for (auto [index, part] : llvm::enumerate(parts)) {
    Tensor wide = evaluator.cast(part, uintOf(bits * unsigned(parts.size())));
    if (index)
      wide = binary(BinaryOp::ShiftLeft, wide, index * bits);
    result = index ? binary(BinaryOp::BitOr, result, wide) : wide;
  }
  return result;
}

std::vector<Tensor> PtxTranslator::divide(Tensor bits, unsigned count) {
  unsigned each = bits.dtype().getBits() / count;
  std::vector<Tensor> parts;
  for (unsigned i = 0; i < count; ++i)
    parts.push_back(
        evaluator.cast(i ? binary(BinaryOp::ShiftRight, bits, i * each) : bits, uintOf(each)));
  return parts;
}

//===-- Instructions --===//

bool PtxTranslator::run() { return runRange(0, program.instructions.size()); }

bool PtxTranslator::runRange(size_t first, size_t last) {
  for (size_t at = first; at < last; ++at) {
    size_t back = findBranchBack(at);
    if (back >= last)
      return bool(refuse(program.instructions[back], "between two loops is not supported"));
    if (back ? !loop(at, back) : !execute(program.instructions[at]))
      return false;
    at = back ? back : at;
  }
  return true;
}

bool PtxTranslator::execute(const PtxInstruction &instruction) {
  llvm::StringRef base = instruction.base;
  if (!instruction.label.empty()) {
    reach(instruction.label);
    return !evaluator.failed();
  }
  if (base == "bra")
    return branch(instruction);
  if (std::optional<bool> done = executeEffect(instruction)) {
    isEffect = true;
    return *done;
  }
  for (const PtxOperand &operand : instruction.operands)
    if (operand.kind == PtxOperand::Kind::Memory)
      return bool(refuse(instruction));
  if (instruction.operands.size() < 2) {
    refuse(instruction);
    return false;
  }
  Tensor result = compute(instruction);
  return result && write(instruction, instruction.operands.front(), bitsOf(result));
}

Tensor PtxTranslator::compute(const PtxInstruction &instruction) {
  llvm::SmallVector<Type, 2> types = typesOf(instruction);
  if (types.empty())
    return refuse(instruction);
  llvm::StringRef base = instruction.base;
  // An address in global memory is the same in the generic space.
  if (base == "mov" || (base == "cvta" && instruction.has("global")))
    return move(instruction);
  if (base == "cvt")
    return convert(instruction);
  if (base == "setp")
    return compare(instruction);
  size_t operands = instruction.operands.size();
  if (base == "selp")
    return operands == 4 ? choose(instruction) : refuse(instruction);
  if (base == "lop3")
    return operands == 5 ? lookUp3(instruction) : refuse(instruction);
  if (base == "prmt")
    return operands == 4 && typesOf(instruction).size() == 1 ? permuteBytes(instruction)
                                                             : refuse(instruction);
  if (base == "shf")
    return operands == 4 ? funnelShift(instruction) : refuse(instruction);
  if ((base == "shl" || base == "shr") && operands == 3)
    return shift(instruction, types.back().element);
  return computeTyped(instruction, types.back());
}

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
      lanes[index].push_back(evaluator.bitcast(part, type.element));
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
    return evaluator.negate(operands[0]);
  if (type.isFloat())
    return computeFloat(instruction, type, operands);
  return computeInt(instruction, type, operands);
}

Tensor PtxTranslator::computeFloat(const PtxInstruction &instruction, DType type,
                                   llvm::ArrayRef<Tensor> operands) {
  llvm::StringRef base = instruction.base;
  Tensor x = operands[0], result;
  auto number = [&](int value) {
    return evaluator.splat(evaluator.constant(type, Value::integer(value)), shape);
  };
  auto unary = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    return Tensor{evaluator.emit<Op>(x.ir), x.type};
  };
  if (instruction.has("rs"))
    return refuse(instruction);
  if (std::optional<Direction> direction = directionOf(instruction))
    return computeToward(instruction, *direction, operands);
  if (operands.size() == 1) {
    // Half types are computed in fp32, and rounded.
    bool isHalf = type.getBits() == 16;
    if (isHalf)
      x = evaluator.cast(x, Scalar::FP32);
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
      result = evaluator.divide(number(1), x, !instruction.has("rn"));
    else
      return refuse(instruction);
    return evaluator.cast(result, type);
  }
  if (operands.size() == 2) {
    if (base == "add")
      result = binary(BinaryOp::Add, x, operands[1]);
    else if (base == "sub")
      result = binary(BinaryOp::Sub, x, operands[1]);
    else if (base == "mul")
      result = binary(BinaryOp::Mul, x, operands[1]);
    else if (base == "div")
      result = evaluator.divide(x, operands[1], instruction.has("approx"));
    else if (base == "copysign")
      // PTX takes the sign from the first operand.
      result = {evaluator.emit<math::CopySignOp>(operands[1].ir, x.ir), x.type};
    else
      return refuse(instruction);
  } else if ((base == "fma" || base == "mad") && operands.size() == 3)
    result = {evaluator.emit<math::FmaOp>(x.ir, operands[1].ir, operands[2].ir), x.type};
  else
    return refuse(instruction);
  // Saturation to [0, 1] makes NaN 0, as a maximum that ignores NaN does.
  if (result && (instruction.has("sat") || instruction.has("relu"))) {
    result = evaluator.minMax(true, Value::tensor(result), Value::tensor(number(0)), false);
    if (instruction.has("sat"))
      result = evaluator.minMax(false, Value::tensor(result), Value::tensor(number(1)), false);
    result = evaluator.cast(result, type);
  }
  return result;
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
    x.push_back({&evaluator, operand});
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
  Value result = evaluator.call(Value::builtin(*findBuiltin(Library::Device, name)), args, {});
  return evaluator.failed() ? Tensor() : result.getTensor();
}

Tensor PtxTranslator::minMax(const PtxInstruction &instruction, Tensor a, Tensor b) {
  bool isMax = instruction.base == "max";
  auto combineWith = [&](Tensor x, Tensor y) {
    Tensor result =
        evaluator.minMax(isMax, Value::tensor(x), Value::tensor(y), instruction.has("nan"));
    return evaluator.cast(result, a.dtype());
  };
  if (!instruction.has("xorsign"))
    return combineWith(a, b);
  // The smaller (larger) magnitude, with the product's sign.
  auto magnitude = [&](Tensor x) { return Tensor{evaluator.emit<math::AbsFOp>(x.ir), x.type}; };
  Tensor sign = evaluator.bitcast(binary(BinaryOp::BitXor, bitsOf(a), bitsOf(b)), a.dtype());
  Tensor result = combineWith(magnitude(a), magnitude(b));
  return {evaluator.emit<math::CopySignOp>(result.ir, sign.ir), a.type};
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
    return evaluator.invert(x);
  if (count == 1 && base == "abs")
    return {evaluator.emit<math::AbsIOp>(x.ir), x.type};
  if (count == 1 && base == "popc")
    return evaluator.cast({evaluator.emit<math::CtPopOp>(x.ir), bitsOf(x).type}, Scalar::UInt32);
  if (count == 1 && base == "clz")
    return evaluator.cast({evaluator.emit<math::CountLeadingZerosOp>(x.ir), bitsOf(x).type},
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
      binary(BinaryOp::Mul, evaluator.cast(operands[0], wide), evaluator.cast(operands[1], wide));
  if (isHigh)
    product = evaluator.cast(binary(BinaryOp::ShiftRight, bitsOf(product), type.getBits()), type);
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
  amount = evaluator.cast(evaluator.select(isLarge, most, amount), uintOf(bits));
  Tensor signedAmount{amount.ir, x.type};
  if (instruction.base == "shr" && type.isSigned())
    return binary(BinaryOp::ShiftRight, x, signedAmount);
  Tensor shifted = binary(instruction.base == "shl" ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight,
                          bitsOf(x), amount);
  return evaluator.select(isLarge, constantBits(bits, 0), shifted);
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
    amount =
        evaluator.minMax(false, Value::tensor(amount), Value::tensor(constantBits(32, 32)), false);
  Tensor both = combine({low, high});
  amount = evaluator.cast(amount, Scalar::UInt64);
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
      Tensor literal = line >> (2 - i) & 1 ? in[i] : evaluator.invert(in[i]);
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
      byte = bitsOf(binary(BinaryOp::ShiftRight, evaluator.bitcast(byte, Scalar::Int8),
                           evaluator.bitcast(constantBits(8, 7), Scalar::Int8)));
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
  Tensor both = combine({low, high});
  selectors = evaluator.cast(selectors, Scalar::UInt64);
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
    chosen.push_back(evaluator.cast(evaluator.select(isSign, sign, byte), Scalar::UInt8));
  }
  return combine(chosen);
}

Tensor PtxTranslator::compare(const PtxInstruction &instruction) {
  if (instruction.operands.size() != 3 || instruction.modifiers.size() < 2)
    return refuse(instruction);
  llvm::StringRef name = instruction.modifiers.front();
  auto op = llvm::StringSwitch<std::optional<CompareOp>>(name)
                .Case("eq", CompareOp::Equal)
                .Cases({"ne", "neu"}, CompareOp::NotEqual)
                .Cases({"lt", "lo"}, CompareOp::Less)
                .Cases({"le", "ls"}, CompareOp::LessEqual)
                .Cases({"gt", "hi"}, CompareOp::Greater)
                .Cases({"ge", "hs"}, CompareOp::GreaterEqual)
                .Default(std::nullopt);
  Type type = typesOf(instruction).back();
  if (!op || type.count != 1)
    return refuse(instruction);
  Tensor a = readAs(instruction.operands[1], type.element);
  Tensor b = a ? readAs(instruction.operands[2], type.element) : a;
  if (!a || !b)
    return {};
  Tensor result = test(*op, a, b);
  // Of floats, `ne` is false for NaN.
  if (result && name == "ne" && type.element.isFloat())
    result = binary(
        BinaryOp::BitAnd, result,
        binary(BinaryOp::BitAnd, test(CompareOp::Equal, a, a), test(CompareOp::Equal, b, b)));
  return result;
}

Tensor PtxTranslator::choose(const PtxInstruction &instruction) {
  unsigned bits = typesOf(instruction).back().getBits();
  Tensor a = read(instruction.operands[1], bits), b = a ? read(instruction.operands[2], bits) : a;
  Tensor condition = a && b ? read(instruction.operands[3], 1) : Tensor();
  return condition ? evaluator.select(condition, a, b) : Tensor();
}

Tensor PtxTranslator::move(const PtxInstruction &instruction) {
  if (instruction.operands.size() != 2)
    return refuse(instruction);
  return read(instruction.operands[1], typesOf(instruction).back().getBits());
}

//===-- Conversions --===//

/// What `rni`, `rzi`, `rmi` and `rpi` ask for; empty without one of them.
std::optional<Tensor> PtxTranslator::roundToWhole(const PtxInstruction &instruction, Tensor x) {
  auto round = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    return Tensor{evaluator.emit<Op>(x.ir), x.type};
  };
  if (instruction.has("rni"))
    return round(std::common_type<math::RoundEvenOp>());
  if (instruction.has("rzi"))
    return round(std::common_type<math::TruncOp>());
  if (instruction.has("rmi"))
    return round(std::common_type<math::FloorOp>());
  if (instruction.has("rpi"))
    return round(std::common_type<math::CeilOp>());
  return std::nullopt;
}

/// Two powers of two as their exponents, the first source in the upper byte: up to the next one,
/// with `satfinite` at most 2^127. NaN is 255.
Tensor PtxTranslator::convertToScales(const PtxInstruction &instruction) {
  if (!instruction.has("rp") || instruction.operands.size() != 3 || typesOf(instruction).empty() ||
      !typesOf(instruction)[0].element.is(Scalar::FP32))
    return refuse(instruction);
  std::vector<Tensor> codes;
  for (unsigned source : {2u, 1u}) {
    Tensor x = read(instruction.operands[source], 32);
    if (!x)
      return {};
    Tensor exponent =
        binary(BinaryOp::BitAnd, binary(BinaryOp::ShiftRight, x, 23), constantBits(32, 255));
    Tensor rest = binary(BinaryOp::BitAnd, x, 0x7fffff);
    Tensor isNaN = binary(BinaryOp::BitAnd, test(CompareOp::Equal, exponent, constantBits(32, 255)),
                          test(CompareOp::NotEqual, rest, constantBits(32, 0)));
    // Of denormal numbers, the half of the smallest normal one is the smallest scale.
    Tensor isDenormal = test(CompareOp::Equal, exponent, constantBits(32, 0));
    Tensor limit = evaluator.select(isDenormal, constantBits(32, 0x400000), constantBits(32, 0));
    Tensor isUp = test(CompareOp::Greater, rest, limit);
    Tensor code = binary(BinaryOp::Add, exponent, evaluator.cast(isUp, Scalar::UInt32));
    if (instruction.has("satfinite"))
      code =
          evaluator.minMax(false, Value::tensor(code), Value::tensor(constantBits(32, 254)), false);
    code = evaluator.select(isNaN, constantBits(32, 255), code);
    codes.push_back(evaluator.cast(code, Scalar::UInt8));
  }
  return combine(codes);
}

Tensor PtxTranslator::convertElement(const PtxInstruction &instruction, Tensor value, DType to) {
  DType from = value.dtype();
  if (from.isFloat() && to.isInt()) {
    Tensor wide = from.getBits() < 32 ? evaluator.cast(value, Scalar::FP32) : value;
    if (std::optional<Tensor> whole = roundToWhole(instruction, wide))
      wide = *whole;
    // Out of range, the nearest integer; NaN is 0.
    auto limit = [&](double value) {
      return evaluator.splat(evaluator.constant(wide.dtype(), Value::real(value)), shape);
    };
    auto whole = [&](Int value) {
      return evaluator.splat(evaluator.integerConstant(to, value), shape);
    };
    Tensor result = evaluator.cast(wide, to);
    result = evaluator.select(test(CompareOp::GreaterEqual, wide, limit(double(to.getMax()) + 1)),
                              whole(to.getMax()), result);
    result = evaluator.select(test(CompareOp::Less, wide, limit(double(to.getMin()))),
                              whole(to.getMin()), result);
    return evaluator.select(test(CompareOp::NotEqual, wide, wide), whole(0), result);
  }
  if (from.isFloat() && to.isFloat()) {
    if (instruction.has("satfinite"))
      value = clampToFinite(evaluator, value, to);
    if (instruction.has("relu"))
      value = evaluator.cast(
          evaluator.minMax(
              true, Value::tensor(value),
              Value::tensor(evaluator.splat(evaluator.constant(from, Value::integer(0)), shape)),
              false),
          from);
    if (std::optional<Tensor> whole = roundToWhole(instruction, value))
      value = *whole;
    std::optional<Direction> direction = directionOf(instruction);
    if (direction && from.is(Scalar::FP64) && to.is(Scalar::FP32))
      return convertToward(*direction, {&evaluator, value}, to).tensor;
    if (direction && *direction != Direction::TowardZero)
      return refuse(instruction);
    bool towardZero = instruction.has("rz") && to.getBits() < from.getBits();
    return evaluator.cast(value, to, towardZero ? Rounding::TowardZero : Rounding::Default);
  }
  std::optional<Direction> direction = directionOf(instruction);
  if (direction && to.isFloat() && from.isInt() && to.getBits() >= 32)
    return convertToward(*direction, {&evaluator, value}, to).tensor;
  return direction ? refuse(instruction) : evaluator.cast(value, to);
}

Tensor PtxTranslator::convert(const PtxInstruction &instruction) {
  if (instruction.has("ue8m0x2"))
    return convertToScales(instruction);
  for (llvm::StringRef rounding : {"rs", "rna", "sat", "scaled"})
    if (instruction.has(rounding))
      return refuse(instruction);
  // e2m1x2: two 4-bit floats in a byte.
  bool isNarrowTarget = instruction.has("e2m1x2");
  llvm::SmallVector<Type, 2> types = typesOf(instruction);
  llvm::ArrayRef<PtxOperand> sources = llvm::ArrayRef(instruction.operands).drop_front();
  if (isNarrowTarget && types.size() == 1 && types[0].count == 2 && sources.size() == 1) {
    std::vector<Tensor> halves;
    Tensor byte = read(sources[0], 8);
    if (!byte)
      return {};
    for (Tensor code : unpackNibbles(evaluator, byte))
      halves.push_back(bitsOf(decodeE2M1(evaluator, code, types[0].element)));
    return combine(halves);
  }
  if (isNarrowTarget && types.size() == 1 && types[0].count == 1 && sources.size() == 2) {
    Tensor high = readAs(sources[0], types[0].element), low = readAs(sources[1], types[0].element);
    if (!high || !low || !types[0].element.isFloat())
      return evaluator.failed() ? Tensor() : refuse(instruction);
    Tensor upper = binary(BinaryOp::ShiftLeft, encodeE2M1(evaluator, high), 4);
    return binary(BinaryOp::BitOr, upper, encodeE2M1(evaluator, low));
  }
  if (isNarrowTarget || types.size() != 2)
    return refuse(instruction);
  Type to = types[0], from = types[1];
  std::vector<Tensor> parts;
  if (to.count == 2 && from.count == 1 && sources.size() == 2) {
    // The first source becomes the upper half.
    for (const PtxOperand *source : {&sources[1], &sources[0]})
      parts.push_back(readAs(*source, from.element));
  } else if (to.count == from.count && sources.size() == 1) {
    Tensor bits = read(sources[0], from.getBits());
    if (!bits)
      return {};
    for (Tensor part : divide(bits, from.count))
      parts.push_back(evaluator.bitcast(part, from.element));
  } else
    return refuse(instruction);
  for (Tensor &part : parts) {
    if (!part)
      return {};
    part = bitsOf(convertElement(instruction, part, to.element));
    if (!part)
      return {};
  }
  return parts.size() == 1 ? parts.front() : combine(parts);
}

} // namespace kiln::sema
