// tl.inline_asm_elementwise: binds registers to tensors and lets PtxTranslator run the program.
//
// An invocation sees `pack` elements of each tensor. They are neighbours in row-major order, which
// Triton leaves open. Elements narrower than 32 bits share a register, the first one lowest.

#include "compiler/Sema/ElementPacks.h"
#include "compiler/Sema/PtxTranslator.h"

namespace kiln::sema {
namespace {

/// Elements that share a register.
unsigned perRegister(const Packing &packing, DType type) {
  return std::min(packing.pack, std::max(32u / type.getBits(), 1u));
}

DType bitsType(DType type) {
  return type.isBool() ? DType(Scalar::UInt8) : getIntType(type.getBits(), false);
}

Tensor shifted(Evaluator &evaluator, ast::BinaryOp op, Tensor bits, unsigned amount) {
  if (amount == 0)
    return bits;
  Value result = evaluator.binary(op, Value::tensor(bits), Value::integer(amount));
  return evaluator.failed() ? Tensor() : result.getTensor();
}

/// The registers that an argument fills, as bits.
bool pack(Evaluator &evaluator, const Packing &packing, Tensor tensor,
          std::vector<Tensor> &registers) {
  DType type = tensor.dtype();
  Tensor bits = type.isPointer() ? evaluator.cast(tensor, Scalar::UInt64)
                : type.isBool()  ? evaluator.cast(tensor, Scalar::UInt8)
                                 : evaluator.bitcast(tensor, bitsType(type));
  std::vector<Tensor> elements;
  if (!bits || !dealOut(evaluator, packing, bits, elements))
    return false;
  unsigned each = perRegister(packing, bits.dtype()), width = bits.dtype().getBits();
  for (size_t i = 0; i < elements.size(); i += each) {
    Tensor word;
    for (unsigned k = 0; k < each; ++k) {
      Tensor part =
          shifted(evaluator, ast::BinaryOp::ShiftLeft,
                  evaluator.cast(elements[i + k], getIntType(width * each, false)), k * width);
      if (part && word) {
        Value both =
            evaluator.binary(ast::BinaryOp::BitOr, Value::tensor(word), Value::tensor(part));
        part = evaluator.failed() ? Tensor() : both.getTensor();
      }
      if (!part)
        return false;
      word = part;
    }
    registers.push_back(word);
  }
  return true;
}

/// A result's elements from its registers, which are taken from the front.
Tensor unpack(Evaluator &evaluator, const Packing &packing, DType type,
              llvm::ArrayRef<Tensor> &registers) {
  DType bits = bitsType(type);
  unsigned each = perRegister(packing, bits), width = bits.getBits();
  std::vector<Tensor> elements;
  for (unsigned i = 0; i < packing.pack; i += each) {
    Tensor word = evaluator.cast(registers.front(), getIntType(width * each, false));
    registers = registers.drop_front();
    for (unsigned k = 0; k < each; ++k) {
      Tensor part = shifted(evaluator, ast::BinaryOp::ShiftRight, word, k * width);
      elements.push_back(evaluator.cast(part, bits));
      if (!elements.back())
        return {};
    }
  }
  Tensor whole = putTogether(evaluator, packing, elements);
  if (!whole)
    return {};
  return type.isBool() ? evaluator.cast(whole, type) : evaluator.bitcast(whole, type);
}

/// "=r,r,h": the width of each register, outputs first; 0 for an immediate. Empty after an error.
std::optional<std::vector<unsigned>> readConstraints(Evaluator &evaluator, llvm::StringRef text,
                                                     size_t outputs) {
  std::vector<unsigned> widths;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (part.empty() || part.starts_with("~"))
      continue;
    bool isOutput = part.consume_front("=");
    part.consume_front("&");
    unsigned bits = part == "r" || part == "f"   ? 32
                    : part == "l" || part == "d" ? 64
                    : part == "h"                ? 16
                    : part == "c"                ? 8
                                                 : 0;
    bool isImmediate = part == "n" && !isOutput;
    if ((!bits && !isImmediate) || isOutput != (widths.size() < outputs))
      return evaluator.fail(DiagKind::SemaInvalidArgument, "constraints",
                            std::to_string(outputs) +
                                " outputs, then inputs, of r, l, h, c, f, d or n",
                            "'" + text.str() + "'");
    widths.push_back(bits);
  }
  return widths;
}

/// Puts the numbers for which the constraint is `n` into the program. False after an error.
bool placeImmediates(Evaluator &evaluator, PtxProgram &program, llvm::ArrayRef<unsigned> widths,
                     size_t outputs, llvm::ArrayRef<Value> args) {
  for (auto [index, bits] : llvm::enumerate(widths)) {
    if (bits != 0)
      continue;
    // Elements of narrow types may share a register, compile-time numbers do not.
    std::optional<Int> number = widths.size() - outputs == args.size()
                                    ? evaluator.constantInt(args[index - outputs], "constraint 'n'")
                                    : evaluator.fail(DiagKind::SemaInvalidArgument, "constraints",
                                                     "one register for each argument beside 'n'",
                                                     std::to_string(widths.size() - outputs));
    if (!number)
      return false;
    for (PtxInstruction &instruction : program.instructions)
      for (PtxOperand &operand : instruction.operands)
        if (operand.kind == PtxOperand::Kind::Argument && operand.value == index) {
          operand.kind = PtxOperand::Kind::Immediate;
          operand.value = uint64_t(*number);
        }
  }
  return true;
}

struct Results {
  std::vector<DType> types;
  bool isTuple = false;
};

std::optional<Results> readResults(Evaluator &evaluator, const Value &dtype) {
  Results results;
  results.isTuple = dtype.isSequence();
  std::vector<Value> types = results.isTuple ? dtype.getElements() : std::vector<Value>{dtype};
  for (const Value &type : types) {
    std::optional<DType> element = evaluator.constantDType(type, "dtype");
    if (!element)
      return std::nullopt;
    if (element->isPointer())
      return evaluator.fail(DiagKind::SemaInvalidArgument, "dtype", "a number's type",
                            element->str());
    results.types.push_back(*element);
  }
  return results;
}

} // namespace

Value builtinInlineAsmElementwise(Evaluator &evaluator, Call &call) {
  std::optional<std::string> text = evaluator.constantString(call[0], "asm");
  std::optional<std::string> constraints =
      text ? evaluator.constantString(call[1], "constraints") : std::nullopt;
  std::optional<Results> results =
      constraints ? readResults(evaluator, call[3]) : std::optional<Results>();
  if (!results)
    return Value();
  std::vector<Tensor> args;
  std::optional<std::vector<Value>> given = evaluator.iterate(call[2]);
  if (!given)
    return Value();
  for (const Value &value : *given) {
    args.push_back(evaluator.toTensor(value));
    if (!args.back())
      return Value();
  }
  std::optional<Packing> packing = arrangePacks(evaluator, call[5], args);
  if (!packing)
    return Value();

  std::vector<Tensor> inputs;
  for (Tensor arg : args)
    if (!pack(evaluator, *packing, arg, inputs))
      return Value();
  size_t outputs = 0;
  for (DType type : results->types)
    outputs += packing->pack / perRegister(*packing, bitsType(type));
  std::optional<std::vector<unsigned>> widths = readConstraints(evaluator, *constraints, outputs);
  if (!widths)
    return Value();
  if (widths->size() != outputs + inputs.size())
    return evaluator.error(DiagKind::SemaInvalidArgument, "constraints",
                           std::to_string(outputs) + " outputs and " +
                               std::to_string(inputs.size()) + " inputs",
                           "'" + *constraints + "'");
  llvm::Expected<PtxProgram> program = parsePtx(*text);
  if (!program)
    return evaluator.error(DiagKind::SemaPtx, llvm::toString(program.takeError()));
  if (!placeImmediates(evaluator, *program, *widths, outputs, *given))
    return Value();
  PtxTranslator translator(evaluator, *program, packing->partShape);
  for (auto [index, bits] : llvm::enumerate(*widths))
    translator.addArgument(bits ? bits : 32, index < outputs ? Tensor() : inputs[index - outputs]);
  if (evaluator.failed() || !translator.run())
    return Value();
  std::vector<Tensor> written;
  for (size_t i = 0; i < outputs; ++i) {
    written.push_back(translator.getArgument(i));
    if (!written.back())
      return Value();
  }
  llvm::ArrayRef<Tensor> rest = written;
  std::vector<Value> values;
  for (DType type : results->types) {
    Tensor value = unpack(evaluator, *packing, type, rest);
    if (!value)
      return Value();
    values.push_back(Value::tensor(value));
  }
  return results->isTuple ? Value::tuple(values) : values.front();
}

} // namespace kiln::sema
