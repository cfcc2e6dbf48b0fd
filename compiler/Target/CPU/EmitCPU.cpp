//===- EmitCPU.cpp - LLVM IR to a host object ----------------------------------===//

#include "compiler/Target/CPU/EmitCPU.h"
#include "compiler/Target/CPU/ConstantMasks.h"
#include "compiler/Target/CPU/ExpandSmallFloats.h"
#include "compiler/Target/CPU/HostObjectReader.h"
#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/HugeFunctions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {

bool isHostLibraryFunction(llvm::StringRef symbol) {
  static const llvm::StringSet<> memory = {"memcpy", "memmove", "memset"};
  static const llvm::StringSet<> math = {
      "acos",  "acosh",     "asin",      "asinh",  "atan",      "atan2", "atanh",  "cbrt",
      "ceil",  "copysign",  "cos",       "cosh",   "erf",       "erfc",  "exp",    "exp10",
      "exp2",  "expm1",     "fabs",      "floor",  "fma",       "fmax",  "fmin",   "fmod",
      "frexp", "hypot",     "ldexp",     "lgamma", "log",       "log10", "log1p",  "log2",
      "modf",  "nearbyint", "nextafter", "pow",    "remainder", "rint",  "round",  "roundeven",
      "sin",   "sincos",    "sinh",      "sqrt",   "tan",       "tanh",  "tgamma", "trunc"};
  if (memory.contains(symbol) || math.contains(symbol))
    return true;
  return symbol.consume_back("f") && math.contains(symbol);
}

/// What the function is allowed to use, and how: no unwinding tables (nothing throws), and vectors
/// as wide as the target's, which LLVM else halves on AVX-512.
static void annotateFunctions(llvm::Module &module, const TargetInfo &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setDoesNotThrow();
    function.removeFnAttr(llvm::Attribute::UWTable);
    function.addFnAttr("target-cpu", target.llvmCPU);
    if (!target.llvmFeatures.empty())
      function.addFnAttr("target-features", target.llvmFeatures);
    function.addFnAttr("prefer-vector-width", std::to_string(target.maxVectorBits));
    function.addFnAttr("frame-pointer", "none");
  }
}

/// The C library's and libm's functions, the runtime's for kernels, and the emulator's for what it
/// runs.
static bool isProvided(llvm::StringRef symbol, const TargetInfo &target) {
  return isHostLibraryFunction(symbol) || symbol.starts_with("kiln_device_") ||
         (target.emulated && symbol.starts_with("kiln_emu_"));
}

/// LLVM itself adds calls while selecting instructions; those have no place in the source.
static llvm::Error checkUndefinedSymbols(llvm::StringRef object, const TargetInfo &target) {
  auto info = readHostObject(object);
  if (!info)
    return info.takeError();
  for (const std::string &symbol : info->undefined)
    if (!isProvided(symbol, target))
      return targetError("the code for ", target.name, " needs the function '", symbol,
                         "', which the C library and libm do not promise");
  return llvm::Error::success();
}

llvm::Expected<DeviceBinary> emitCPU(llvm::Module &module, const KernelFacts &facts,
                                     const TargetInfo &target, const EmitOptions &options) {
  DiagnosticCapture diagnostics(module);
  auto machine = createMachine(target, options);
  if (!machine)
    return machine.takeError();
  auto kernel = prepareModule(module, facts, **machine, options);
  if (!kernel)
    return kernel.takeError();
  annotateFunctions(module, target);
  // Before, so that the pipeline sees the real operations; after, for those it folded back.
  expandSmallFloats(module, target.convertF16);
  optimizeModule(module, **machine, target, options);
  expandSmallFloats(module, target.convertF16);
  splitConstantMasks(module);
  if (llvm::Error error = checkExternalCalls(
          module, [&](llvm::StringRef name) { return isProvided(name, target); }, target.name))
    return std::move(error);

  cutBlocksOfCalls(module);
  DeviceBinary binary = describeBinary(module, facts, target, BinaryFormat::HostObject, options);
  auto object = generateObject(module, **machine, options, diagnostics, binary);
  if (!object)
    return object.takeError();
  if (llvm::Error error = checkUndefinedSymbols(*object, target))
    return std::move(error);
  binary.bytes.assign(object->begin(), object->end());
  return binary;
}

} // namespace kiln
