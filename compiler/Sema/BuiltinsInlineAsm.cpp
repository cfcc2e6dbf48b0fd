// tl.inline_asm_elementwise: binds registers to tensors and lets PtxTranslator run the program.
//
// An invocation sees `pack` elements of each tensor. They are neighbours in row-major order, which
// Triton leaves open. Elements narrower than 32 bits share a register, the first one lowest.

#include "compiler/Sema/PtxTranslator.h"

namespace kiln::sema {
namespace {

struct Packing {
  unsigned pack = 1;
  llvm::SmallVector<int64_t, 4> shape;
  /// Of one register: with pack > 1, [elements / pack].
  llvm::SmallVector<int64_t, 4> registerShape;

  unsigned perRegister(DType type) const {
    return std::min(pack, std::max(32u / type.getBits(), 1u));
  }
};

DType bitsType(DType type) {
  return type.isBool() ? DType(Scalar::UInt8) : getIntType(type.getBits(), false);
}

Tensor callLanguage(Evaluator &evaluator, llvm::StringRef name, std::vector<Value> args,
                    unsigned result = 0) {
  Value value =
      evaluator.call(Value::builtin(*findBuiltin(Library::Language, name)), std::move(args), {});
  if (evaluator.failed())
    return {};
  return (value.is(ValueKind::Tuple) ? value.getElements()[result] : value).getTensor();
}

/// The elements at each position of a pack, from [n, pack].
bool spread(Evaluator &evaluator, Tensor tensor, unsigned pack, std::vector<Tensor> &parts) {
  int64_t rows = tensor.type.shape[0];
  if (pack == 1) {
    parts.push_back(evaluator.reshape(tensor, {rows}, false));
    return bool(parts.back());
  }
  // The first half of the pack, then the second.
  Tensor pairs =
      evaluator.permute(evaluator.reshape(tensor, {rows, 2, int64_t(pack / 2)}, false), {0, 2, 1});
  for (unsigned half : {0u, 1u}) {
    Tensor part = callLanguage(evaluator, "split", {Value::tensor(pairs)}, half);
    if (!part || !spread(evaluator, part, pack / 2, parts))
      return false;
  }
  return true;
}

/// The reverse: [n, parts].
Tensor gather(Evaluator &evaluator, llvm::ArrayRef<Tensor> parts) {
  int64_t rows = parts.front().type.shape[0];
  if (parts.size() == 1)
    return evaluator.reshape(parts.front(), {rows, 1}, false);
  size_t middle = parts.size() / 2;
  Tensor first = gather(evaluator, parts.take_front(middle));
  Tensor second = first ? gather(evaluator, parts.drop_front(middle)) : first;
  if (!second)
    return {};
  Tensor joined = callLanguage(evaluator, "join", {Value::tensor(first), Value::tensor(second)});
  if (!joined)
    return {};
  return evaluator.reshape(evaluator.permute(joined, {0, 2, 1}), {rows, int64_t(parts.size())},
                           false);
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
  std::vector<Tensor> elements{bits};
  if (packing.pack > 1) {
    elements.clear();
    Tensor rows = evaluator.reshape(bits, {packing.registerShape[0], int64_t(packing.pack)}, false);
    if (!rows || !spread(evaluator, rows, packing.pack, elements))
      return false;
  }
  unsigned each = packing.perRegister(bits.dtype()), width = bits.dtype().getBits();
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
  unsigned each = packing.perRegister(bits), width = bits.getBits();
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
  Tensor whole = elements.front();
  if (packing.pack > 1) {
    whole = gather(evaluator, elements);
    whole = whole ? evaluator.reshape(whole, packing.shape, false) : whole;
  }
  if (!whole)
    return {};
  return type.isBool() ? evaluator.cast(whole, type) : evaluator.bitcast(whole, type);
}

/// "=r,r,h": the width of each register, outputs first. Empty after an error.
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
    if (!bits || isOutput != (widths.size() < outputs))
      return evaluator.fail(DiagKind::SemaInvalidArgument, "constraints",
                            std::to_string(outputs) +
                                " outputs, then inputs, of r, l, h, c, f or d",
                            "'" + text.str() + "'");
    widths.push_back(bits);
  }
  return widths;
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

/// Brings the arguments to one shape and works out how they share registers.
std::optional<Packing> arrange(Evaluator &evaluator, const Value &pack, std::vector<Tensor> &args) {
  Packing packing;
  std::optional<Int> given = evaluator.constantInt(pack, "pack");
  if (!given)
    return std::nullopt;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < args.size(); ++i)
      if (!evaluator.broadcastTogether(args[0], args[i]))
        return std::nullopt;
  if (!args.empty())
    packing.shape = args[0].type.shape;
  int64_t elements = 1;
  for (int64_t extent : packing.shape)
    elements *= extent;
  if (*given < 1 || *given > 64 || (*given & (*given - 1)) || elements % int64_t(*given))
    return evaluator.fail(DiagKind::SemaInvalidArgument, "pack",
                          "a power of two that divides the " + std::to_string(elements) +
                              " elements",
                          toString(*given));
  packing.pack = unsigned(*given);
  packing.registerShape = packing.shape;
  if (packing.pack > 1)
    packing.registerShape = {elements / int64_t(packing.pack)};
  return packing;
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
  std::optional<Packing> packing = arrange(evaluator, call[5], args);
  if (!packing)
    return Value();

  std::vector<Tensor> inputs;
  for (Tensor arg : args)
    if (!pack(evaluator, *packing, arg, inputs))
      return Value();
  size_t outputs = 0;
  for (DType type : results->types)
    outputs += packing->pack / packing->perRegister(bitsType(type));
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
  PtxTranslator translator(evaluator, *program, packing->registerShape);
  for (auto [index, bits] : llvm::enumerate(*widths))
    translator.addArgument(bits, index < outputs ? Tensor() : inputs[index - outputs]);
  if (evaluator.failed() || !translator.run())
    return Value();
  // A program that only synchronizes leaves its result unwritten.
  bool isEffect = llvm::all_of(program->instructions, [](const PtxInstruction &instruction) {
    return instruction.operands.size() < 2;
  });
  if (isEffect)
    return Value::none();
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
