// Each instruction becomes arith and math operations on whole tensors. Approximations become the
// functions they approximate, and `ftz` is ignored: results differ in the last bits from a GPU's.

#include "compiler/Sema/Ptx/Translator.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

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
  arguments.push_back({bits, value ? build.cast(value, uintOf(bits)) : value});
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
  return build.splat(build.integerConstant(uintOf(bits), Int(value)), shape);
}

Tensor PtxTranslator::bitsOf(Tensor value) {
  if (!value || value.dtype().isBool())
    return value;
  return build.bitcast(value, uintOf(value.dtype().getBits()));
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
    return value ? build.cast(value, uintOf(bits)) : value;
  }
  Register *entry = find(operand);
  std::string name = operand.kind == PtxOperand::Kind::Argument
                         ? "$" + std::to_string(operand.value)
                         : operand.name;
  if (!entry || !entry->value) {
    build.error(DiagKind::SemaPtx,
                "'" + name + (entry ? "' is read before it is written" : "' is not supported"));
    return {};
  }
  return entry->value.dtype() == uintOf(bits) ? entry->value
                                              : build.cast(entry->value, uintOf(bits));
}

Tensor PtxTranslator::readAs(const PtxOperand &operand, DType type) {
  // A decimal or single-precision immediate takes the operand's type.
  if (operand.kind == PtxOperand::Kind::Float64 && type.isFloat()) {
    double number;
    memcpy(&number, &operand.value, sizeof(number));
    return build.splat(build.constant(type, Value::real(number)), shape);
  }
  Tensor bits = read(operand, type.getBits());
  return bits ? build.bitcast(bits, type) : bits;
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
  bits = build.cast(bits, uintOf(entry->bits));
  Tensor condition;
  if (entry->value && !findCondition(instruction, condition))
    return false;
  if (condition)
    bits = build.select(condition, bits, entry->value);
  entry->value = bits;
  return bool(bits);
}

Tensor PtxTranslator::refuse(const PtxInstruction &instruction, const llvm::Twine &why) {
  build.error(DiagKind::SemaPtx, "instruction '" + instruction.text + "' " + why.str());
  return {};
}

Tensor PtxTranslator::binary(BinaryOp op, Tensor a, Tensor b) {
  Value result = build.binary(op, Value::tensor(a), Value::tensor(b));
  return build.failed() ? Tensor() : result.getTensor();
}
Tensor PtxTranslator::binary(BinaryOp op, Tensor a, uint64_t number) {
  return binary(op, a, constantBits(a.dtype().getBits(), number));
}
Tensor PtxTranslator::test(CompareOp op, Tensor a, Tensor b) {
  Value result = build.compare(op, Value::tensor(a), Value::tensor(b));
  return build.failed() ? Tensor() : result.getTensor();
}

/// The first part is the lowest.
Tensor PtxTranslator::combine(llvm::ArrayRef<Tensor> parts) {
  unsigned bits = parts.front().dtype().getBits();
  Tensor result;
  for (auto [index, part] : llvm::enumerate(parts)) {
    Tensor wide = build.cast(part, uintOf(bits * unsigned(parts.size())));
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
        build.cast(i ? binary(BinaryOp::ShiftRight, bits, i * each) : bits, uintOf(each)));
  return parts;
}

//===-- Instructions --===//

bool PtxTranslator::execute(const PtxInstruction &instruction) {
  llvm::StringRef base = instruction.base;
  if (!instruction.label.empty()) {
    reach(instruction.label);
    return !build.failed();
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
  return condition ? build.select(condition, a, b) : Tensor();
}

Tensor PtxTranslator::move(const PtxInstruction &instruction) {
  if (instruction.operands.size() != 2)
    return refuse(instruction);
  return read(instruction.operands[1], typesOf(instruction).back().getBits());
}

} // namespace kiln::sema
