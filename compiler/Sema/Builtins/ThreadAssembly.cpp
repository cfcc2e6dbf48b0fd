#include "compiler/Sema/Builtins/ThreadAssembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::sema {

bool AssemblyCall::isOfAMD() const {
  return llvm::any_of(registers, [](const AssemblyRegister &entry) { return entry.isOfAMD(); });
}

bool canPassOn(const TargetAnswers &target, const AssemblyCall &call) {
  return target.takesAssembly && target.backend == (call.isOfAMD() ? "hip" : "cuda");
}

/// The type that a register's value has in assembly. Narrow ones are widened: there are no
/// registers of 8 bits, nor AMD's below 32.
static DType typeIn(const AssemblyRegister &entry, unsigned valueBits) {
  if (entry.letter == 'f')
    return Scalar::FP32;
  if (entry.letter == 'd')
    return Scalar::FP64;
  return getIntType(entry.isOfAMD() ? std::max(valueBits, 32u) : std::max(entry.bits, 16u), false);
}

static Tensor asRegister(TensorBuilder &build, const AssemblyRegister &entry, Tensor bits) {
  DType type = typeIn(entry, bits.dtype().getBits());
  Tensor wide = build.cast(bits, getIntType(type.getBits(), false));
  return wide && type.isFloat() ? build.bitcast(wide, type) : wide;
}

/// Takes what is behind a `$` of LLVM's assembly from the front of `text`. False where it is
/// nothing that LLVM knows, at which it would end the process.
static bool takeReference(llvm::StringRef &text, size_t operands, bool &isInAlternatives) {
  if (text.consume_front("$") || text.consume_front("|"))
    return true;
  if (text.starts_with("(") || text.starts_with(")")) {
    bool isNested = isInAlternatives && text.front() == '(';
    isInAlternatives = text.front() == '(';
    text = text.drop_front();
    return !isNested;
  }
  bool hasBraces = text.consume_front("{");
  if (hasBraces && text.consume_front(":"))
    return text.consume_front("uid}") || text.consume_front("comment}") ||
           text.consume_front("private}");
  uint64_t number = 0;
  if (text.consumeInteger(10, number) || number >= operands)
    return false;
  if (hasBraces && text.consume_front(":"))
    text = text.drop_front(text.empty() ? 0 : 1);
  return !hasBraces || text.consume_front("}");
}

/// The first `$` of the text, and what is behind it, that is none of `$$`, alternatives
/// (`$(a$|b$)`), a register's number (`$0`, `${0}`, `${0:x}`) and `${:uid}`; empty: there is none.
static llvm::StringRef wrongReference(llvm::StringRef text, size_t operands) {
  bool isInAlternatives = false;
  for (size_t at = text.find('$'); at != llvm::StringRef::npos; at = text.find('$')) {
    llvm::StringRef reference = text.drop_front(at);
    text = reference.drop_front();
    if (!takeReference(text, operands, isInAlternatives))
      return reference.take_until([](char c) { return llvm::isSpace(c) || c == ',' || c == ';'; });
  }
  return {};
}

/// LLVM's list of constraints. Memory is clobbered by all that has effects: what it accesses is not
/// known.
static std::string constraintsOf(const AssemblyCall &call) {
  std::vector<std::string> parts;
  for (const AssemblyRegister &entry : call.registers) {
    parts.push_back(entry.constraint);
    if (entry.letter == 'c')
      parts.back().back() = 'h';
  }
  // PTX has no registers of its own that the text could name.
  if (call.isOfAMD())
    parts.insert(parts.end(), call.clobbers.begin(), call.clobbers.end());
  if (!call.isPure)
    parts.push_back("~{memory}");
  return llvm::join(parts, ",");
}

bool passOn(TensorBuilder &build, const AssemblyCall &call, std::vector<Tensor> &results) {
  for (int64_t extent : call.shape)
    if (!llvm::isPowerOf2_64(uint64_t(extent))) {
      build.error(DiagKind::SemaInvalidArgument, "args",
                  "extents that are powers of two for assembly that is not translated",
                  std::to_string(extent));
      return false;
    }
  if (llvm::StringRef wrong = wrongReference(call.text, call.registers.size()); !wrong.empty()) {
    build.error(DiagKind::SemaInvalidArgument, "asm",
                "behind each $ the number of one of " + std::to_string(call.registers.size()) +
                    " registers, or another $",
                "'" + wrong.str() + "'");
    return false;
  }
  size_t count = call.numResults();
  llvm::SmallVector<mlir::Value> sources;
  for (auto [index, input] : llvm::enumerate(call.inputs)) {
    auto number = call.immediates.find(count + index);
    Tensor source = number != call.immediates.end()
                        ? build.integerConstant(Scalar::Int32, number->second)
                        : asRegister(build, call.registers[count + index], input);
    if (!source)
      return false;
    sources.push_back(source.ir);
  }
  llvm::SmallVector<TensorType> types;
  llvm::SmallVector<mlir::Type> irTypes;
  for (auto [entry, bits] : llvm::zip(call.registers, call.resultBits)) {
    types.push_back(TensorType{typeIn(entry, bits), call.shape});
    irTypes.push_back(build.toMLIR(types.back()));
  }
  auto assembly = tile::AssemblyOp::create(build.getBuilder(), build.loc(), irTypes, call.text,
                                           constraintsOf(call), sources, call.isPure);
  for (auto [type, value] : llvm::zip_equal(types, assembly.getResults())) {
    Tensor bits{value, type};
    if (type.dtype.isFloat())
      bits = build.bitcast(bits, getIntType(type.dtype.getBits(), false));
    results.push_back(bits);
  }
  return !build.failed();
}

} // namespace kiln::sema
