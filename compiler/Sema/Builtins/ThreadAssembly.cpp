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

/// LLVM's list of constraints. Memory is clobbered by all that has effects: what it accesses is not
/// known.
static std::string constraintsOf(const AssemblyCall &call) {
  std::vector<std::string> parts;
  for (const AssemblyRegister &entry : call.registers) {
    parts.push_back(entry.constraint);
    if (entry.letter == 'c')
      parts.back().back() = 'h';
  }
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
