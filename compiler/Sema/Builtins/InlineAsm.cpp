// tl.inline_asm_elementwise: binds registers to tensors and lets PtxTranslator run the program.
// What that cannot express is passed on as it stands where the target can run it
// (ThreadAssembly.h).
//
// An invocation sees `pack` elements of each tensor. They are neighbours in row-major order, which
// Triton leaves open. Elements narrower than 32 bits share a register, the first one lowest.

#include "compiler/Sema/Builtins/ThreadAssembly.h"
#include "compiler/Sema/Ptx/Translator.h"
#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/ElementPacks.h"

namespace kiln::sema {
namespace {

/// Elements that share a register.
unsigned perRegister(const Packing &packing, DType type) {
  return std::min(packing.pack, std::max(32u / type.getBits(), 1u));
}

DType bitsType(DType type) {
  return type.isBool() ? DType(Scalar::UInt8) : getIntType(type.getBits(), false);
}

Tensor shifted(TensorBuilder &build, ast::BinaryOp op, Tensor bits, unsigned amount) {
  if (amount == 0)
    return bits;
  Value result = build.binary(op, Value::tensor(bits), Value::integer(amount));
  return build.failed() ? Tensor() : result.getTensor();
}

/// The registers that an argument fills, as bits.
bool pack(TensorBuilder &build, const Packing &packing, Tensor tensor,
          std::vector<Tensor> &registers) {
  DType type = tensor.dtype();
  Tensor bits = type.isPointer() ? build.cast(tensor, Scalar::UInt64)
                : type.isBool()  ? build.cast(tensor, Scalar::UInt8)
                                 : build.bitcast(tensor, bitsType(type));
  std::vector<Tensor> elements;
  if (!bits || !dealOut(build, packing, bits, elements))
    return false;
  unsigned each = perRegister(packing, bits.dtype()), width = bits.dtype().getBits();
  for (size_t i = 0; i < elements.size(); i += each) {
    Tensor word;
    for (unsigned k = 0; k < each; ++k) {
      Tensor part =
          shifted(build, ast::BinaryOp::ShiftLeft,
                  build.cast(elements[i + k], getIntType(width * each, false)), k * width);
      if (part && word) {
        Value both = build.binary(ast::BinaryOp::BitOr, Value::tensor(word), Value::tensor(part));
        part = build.failed() ? Tensor() : both.getTensor();
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
Tensor unpack(TensorBuilder &build, const Packing &packing, DType type,
              llvm::ArrayRef<Tensor> &registers) {
  DType bits = bitsType(type);
  unsigned each = perRegister(packing, bits), width = bits.getBits();
  std::vector<Tensor> elements;
  for (unsigned i = 0; i < packing.pack; i += each) {
    Tensor word = build.cast(registers.front(), getIntType(width * each, false));
    registers = registers.drop_front();
    for (unsigned k = 0; k < each; ++k) {
      Tensor part = shifted(build, ast::BinaryOp::ShiftRight, word, k * width);
      elements.push_back(build.cast(part, bits));
      if (!elements.back())
        return {};
    }
  }
  Tensor whole = putTogether(build, packing, elements);
  if (!whole)
    return {};
  return type.isBool() ? build.cast(whole, type) : build.bitcast(whole, type);
}

/// `~{name}`, of names that LLVM reads.
bool isClobber(llvm::StringRef part) {
  return part.consume_front("~{") && part.consume_back("}") && !part.empty() &&
         part.find_first_of("{}~") == llvm::StringRef::npos;
}

/// Whether the text begins with an instruction of AMD's. PTX has none of such names.
bool beginsAsAMDs(llvm::StringRef text) {
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>{"s_", "v_", "ds_", "buffer_", "global_", "flat_", "scratch_"},
      [&](llvm::StringRef name) { return text.ltrim().starts_with(name); });
}

/// "=r,r,h,n": a register for each, outputs first, and `~{vcc}`, a clobber. `isOfAMD`: the text's
/// `r` is a scalar register, as wide as what is in it, as LLVM has it. Empty after an error.
std::optional<std::vector<AssemblyRegister>> readConstraints(PythonOperations &python,
                                                             llvm::StringRef text, size_t outputs,
                                                             bool isOfAMD,
                                                             std::vector<std::string> &clobbers) {
  std::vector<AssemblyRegister> registers;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (part.empty())
      continue;
    if (isClobber(part)) {
      clobbers.push_back(part.str());
      continue;
    }
    AssemblyRegister entry;
    entry.constraint = part.str();
    bool isOutput = part.consume_front("=");
    part.consume_front("&");
    entry.letter = part.size() == 1 ? part.front() : '\0';
    if (isOfAMD && entry.letter == 'r')
      entry.letter = entry.constraint.back() = 's';
    // An output's number: the same register, of which PTX's translation knows nothing.
    unsigned tied = 0;
    if (!isOutput && !part.getAsInteger(10, tied) && tied < registers.size() &&
        registers[tied].isOfAMD())
      entry.letter = registers[tied].letter;
    entry.bits = entry.letter == 'r' || part == "f" ? 32
                 : part == "l" || part == "d"       ? 64
                 : part == "h"                      ? 16
                 : part == "c"                      ? 8
                                                    : 0;
    bool isKnown = entry.bits || entry.isOfAMD() || (entry.isImmediate() && !isOutput);
    if (!isKnown || isOutput != (registers.size() < outputs))
      return python.fail(
          DiagKind::SemaInvalidArgument, "constraints",
          std::to_string(outputs) +
              " outputs, then inputs, of r, l, h, c, f, d or n (AMD: v, s, a, an output's "
              "number)",
          "'" + text.str() + "'");
    registers.push_back(std::move(entry));
  }
  return registers;
}

/// The numbers that stand for the registers of constraint `n`, by register; empty after an error.
std::optional<std::map<size_t, Int>> readImmediates(PythonOperations &python,
                                                    llvm::ArrayRef<AssemblyRegister> registers,
                                                    size_t outputs, llvm::ArrayRef<Value> args) {
  std::map<size_t, Int> numbers;
  for (auto [index, entry] : llvm::enumerate(registers)) {
    if (!entry.isImmediate())
      continue;
    // Elements of narrow types may share a register, compile-time numbers do not.
    std::optional<Int> number = registers.size() - outputs == args.size()
                                    ? python.constantInt(args[index - outputs], "constraint 'n'")
                                    : python.fail(DiagKind::SemaInvalidArgument, "constraints",
                                                  "one register for each argument beside 'n'",
                                                  std::to_string(registers.size() - outputs));
    if (!number)
      return std::nullopt;
    numbers[index] = *number;
  }
  return numbers;
}

/// Puts the immediates' numbers into the program.
void placeImmediates(PtxProgram &program, const std::map<size_t, Int> &numbers) {
  for (PtxInstruction &instruction : program.instructions)
    for (PtxOperand &operand : instruction.operands) {
      auto number =
          operand.kind == PtxOperand::Kind::Argument ? numbers.find(operand.value) : numbers.end();
      if (number == numbers.end())
        continue;
      operand.kind = PtxOperand::Kind::Immediate;
      operand.value = uint64_t(number->second);
    }
}

struct Results {
  std::vector<DType> types;
  bool isTuple = false;
};

std::optional<Results> readResults(PythonOperations &python, const Value &dtype) {
  Results results;
  results.isTuple = dtype.isSequence();
  std::vector<Value> types = results.isTuple ? dtype.getElements() : std::vector<Value>{dtype};
  for (const Value &type : types) {
    std::optional<DType> element = python.constantDType(type, "dtype");
    if (!element)
      return std::nullopt;
    if (element->isPointer())
      return python.fail(DiagKind::SemaInvalidArgument, "dtype", "a number's type", element->str());
    results.types.push_back(*element);
  }
  return results;
}

/// What has been built since can be taken back.
class BuildMark {
public:
  explicit BuildMark(mlir::OpBuilder &builder) : builder(builder), last(lastOperation()) {}

  void takeBack() {
    while (mlir::Operation *op = lastOperation()) {
      if (op == last)
        return;
      op->erase();
    }
  }

private:
  mlir::Operation *lastOperation() const {
    mlir::Block::iterator point = builder.getInsertionPoint();
    return point == builder.getInsertionBlock()->begin() ? nullptr : &*std::prev(point);
  }

  mlir::OpBuilder &builder;
  mlir::Operation *last;
};

/// The results as Tile IR that runs everywhere. False after an error.
bool translate(TensorBuilder &build, const AssemblyCall &call, std::vector<Tensor> &results) {
  llvm::Expected<PtxProgram> program = parsePtx(call.text);
  if (!program) {
    build.error(DiagKind::SemaPtx, llvm::toString(program.takeError()));
    return false;
  }
  placeImmediates(*program, call.immediates);
  PtxTranslator translator(build, *program, call.shape);
  for (auto [index, entry] : llvm::enumerate(call.registers))
    translator.addArgument(entry.isImmediate() ? 32 : entry.bits,
                           index < call.numResults() ? Tensor()
                                                     : call.inputs[index - call.numResults()]);
  if (build.failed() || !translator.run())
    return false;
  for (size_t i = 0; i < call.numResults(); ++i) {
    results.push_back(translator.getArgument(i));
    if (!results.back())
      return false;
  }
  return true;
}

/// Translates where the target can run the assembly too, if that is possible; otherwise leaves
/// nothing behind and says why not.
bool tryToTranslate(TensorBuilder &build, const AssemblyCall &call, std::vector<Tensor> &results,
                    std::string &why) {
  BuildMark mark(build.getBuilder());
  if (build.unwinding().attempt([&] { translate(build, call, results); }, &why))
    return true;
  mark.takeBack();
  results.clear();
  return false;
}

/// Translates what can be, and passes the rest on where the target can run it, and then all later
/// assembly with effects too: translated, it would happen once for the program, and its operands
/// may now be each thread's own. False after an error.
bool run(TensorBuilder &build, const AssemblyCall &call, std::vector<Tensor> &results) {
  std::string why;
  if (!canPassOn(build.getTarget(), call)) {
    if (!call.isOfAMD())
      return translate(build, call, results);
    build.error(DiagKind::SemaAssemblyTarget);
    return false;
  }
  if (call.isOfAMD())
    why = "it is AMD's";
  else if (build.hasThreadAssembly() && !call.isPure)
    why = "other assembly of this kernel is";
  else if (tryToTranslate(build, call, results, why))
    return true;
  if (build.failed())
    return false;
  build.warn(DiagKind::SemaAssemblyUnchecked, why);
  build.noteThreadAssembly();
  return passOn(build, call, results);
}

/// Deals arguments out to the registers that the constraints name. False after an error.
bool readRegisters(TensorBuilder &build, const std::string &constraints,
                   llvm::ArrayRef<Value> given, AssemblyCall &assembly) {
  size_t outputs = assembly.numResults();
  bool isOfAMD = build.getTarget().backend == "hip" && beginsAsAMDs(assembly.text);
  auto registers = readConstraints(build, constraints, outputs, isOfAMD, assembly.clobbers);
  if (!registers)
    return false;
  assembly.registers = std::move(*registers);
  if (assembly.registers.size() != outputs + assembly.inputs.size()) {
    build.error(DiagKind::SemaInvalidArgument, "constraints",
                std::to_string(outputs) + " outputs and " + std::to_string(assembly.inputs.size()) +
                    " inputs",
                "'" + constraints + "'");
    return false;
  }
  auto immediates = readImmediates(build, assembly.registers, outputs, given);
  if (immediates)
    assembly.immediates = std::move(*immediates);
  return immediates.has_value();
}

/// Tensors of the declared types, from the registers that the assembly has written.
Value collectResults(TensorBuilder &build, const Packing &packing, const Results &results,
                     llvm::ArrayRef<Tensor> written) {
  std::vector<Value> values;
  for (DType type : results.types) {
    Tensor value = unpack(build, packing, type, written);
    if (!value)
      return Value();
    values.push_back(Value::tensor(value));
  }
  return results.isTuple ? Value::tuple(values) : values.front();
}

} // namespace

Value builtinInlineAsmElementwise(TensorBuilder &build, Call &call) {
  AssemblyCall assembly;
  std::optional<std::string> text = build.constantString(call[0], "asm");
  std::optional<std::string> constraints =
      text ? build.constantString(call[1], "constraints") : std::nullopt;
  std::optional<Results> results =
      constraints ? readResults(build, call[3]) : std::optional<Results>();
  std::optional<bool> isPure = results ? build.constantBool(call[4], "is_pure") : std::nullopt;
  if (!isPure)
    return Value();
  std::vector<Tensor> args;
  std::optional<std::vector<Value>> given = build.iterate(call[2]);
  if (!given)
    return Value();
  for (const Value &value : *given) {
    args.push_back(build.toTensor(value));
    if (!args.back())
      return Value();
  }
  std::optional<Packing> packing = arrangePacks(build, call[5], args);
  if (!packing)
    return Value();

  assembly.text = *text;
  assembly.isPure = *isPure;
  assembly.shape = packing->partShape;
  for (Tensor arg : args)
    if (!pack(build, *packing, arg, assembly.inputs))
      return Value();
  for (DType type : results->types) {
    DType bits = bitsType(type);
    unsigned each = perRegister(*packing, bits);
    assembly.resultBits.insert(assembly.resultBits.end(), packing->pack / each,
                               bits.getBits() * each);
  }
  if (!readRegisters(build, *constraints, *given, assembly))
    return Value();
  std::vector<Tensor> written;
  if (!run(build, assembly, written))
    return Value();
  return collectResults(build, *packing, *results, written);
}

} // namespace kiln::sema
