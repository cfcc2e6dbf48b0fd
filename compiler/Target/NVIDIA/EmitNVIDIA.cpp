//===- EmitNVIDIA.cpp - LLVM IR to PTX and cubin ------------------------------===//
//
// Shared-memory pointers stay 64 bits wide in PTX. The 32-bit form is a global
// command-line option of LLVM (nvptx-short-ptr), which a library must not set, and
// brings nothing: ptxas narrows the arithmetic itself (a kernel of sixteen swizzled
// 16-byte loads in a loop has the same 247 instructions and 78 registers either way).
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVIDIA/EmitNVIDIA.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/FieldsToHalves.h"
#include "compiler/Target/HalfWordAtomics.h"
#include "compiler/Target/KeepRoundings.h"
#include "compiler/Target/NVIDIA/Assemble.h"
#include "compiler/Target/NVIDIA/CodePairs.h"
#include "compiler/Target/NVIDIA/ConstantOffsets.h"
#include "compiler/Target/NVIDIA/IntegersToHalves.h"
#include "compiler/Target/NVIDIA/OperationOrder.h"
#include "compiler/Target/NVIDIA/PtxListing.h"
#include "compiler/Target/NVIDIA/RemovePtxText.h"
#include "compiler/Target/NVIDIA/RoundInPairs.h"
#include "compiler/Target/NVIDIA/ShuffleChains.h"
#include "compiler/Target/NextCounts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace kiln {

/// PTX ISA, "Performance-Tuning Directives": the block's exact size lets ptxas give each thread its
/// full share of registers.
static void annotateKernel(llvm::Function &kernel, const KernelFacts &facts) {
  const LaunchFacts &launch = facts.launch;
  kernel.setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel.addFnAttr("nvvm.reqntid", std::to_string(launch.threadsPerBlock) + ",1,1");
  if (facts.minOccupancy)
    kernel.addFnAttr("nvvm.minctasm", std::to_string(facts.minOccupancy));
  if (facts.maxRegisters)
    kernel.addFnAttr("nvvm.maxnreg", std::to_string(facts.maxRegisters));
  const auto &cluster = launch.clusterDims;
  if (cluster[0] * cluster[1] * cluster[2] > 1)
    kernel.addFnAttr("nvvm.cluster_dim", std::to_string(cluster[0]) + "," +
                                             std::to_string(cluster[1]) + "," +
                                             std::to_string(cluster[2]));
}

/// PTX ISA, "griddepcontrol": nothing that the earlier kernel writes may be read before it. As
/// assembly, because LLVM's intrinsic claims to touch no memory.
static void waitForEarlierKernel(llvm::Function &kernel) {
  llvm::IRBuilder<> builder(&*kernel.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), false);
  builder.CreateCall(
      llvm::InlineAsm::get(type, "griddepcontrol.wait;", "~{memory}", /*hasSideEffects=*/true));
}

/// Line directives only: any other kind of debug information makes LLVM write ".target …, debug",
/// for which ptxas turns its optimiser off.
static void useLineDirectives(llvm::Module &module) {
  auto *units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units)
    return;
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  for (unsigned i = 0, e = units->getNumOperands(); i != e; ++i) {
    auto *old = llvm::cast<llvm::DICompileUnit>(units->getOperand(i));
    auto *unit = llvm::DICompileUnit::getDistinct(
        module.getContext(), old->getSourceLanguage(), old->getFile(), old->getProducer(),
        old->isOptimized(), old->getFlags(), old->getRuntimeVersion(), /*SplitDebugFilename=*/"",
        llvm::DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
        false, false, llvm::DICompileUnit::DebugNameTableKind::None, false, "", "");
    units->setOperand(i, unit);
    for (llvm::DISubprogram *subprogram : finder.subprograms())
      if (subprogram->getUnit() == old)
        subprogram->replaceUnit(unit);
  }
}

static bool isDeviceLibraryFunction(llvm::StringRef name) { return name.starts_with("__nv_"); }

/// Functions that the driver provides to every kernel (CUDA's "system calls").
static bool isDriverFunction(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"vprintf", "__assertfail", "malloc", "free"}, true)
      .Default(false);
}

static llvm::Error linkDeviceLibrary(llvm::Module &module, llvm::StringRef path) {
  bool needed = llvm::any_of(module.functions(), [](const llvm::Function &function) {
    return function.isDeclaration() && isDeviceLibraryFunction(function.getName());
  });
  if (!needed || path.empty())
    return llvm::Error::success();
  auto file = readRegularFile(path, /*maxBytes=*/uint64_t(1) << 30);
  if (!file)
    return targetError("cannot read libdevice '", path, "': ", file.getError().message());
  llvm::SMDiagnostic problem;
  auto library = llvm::parseIR(**file, problem, module.getContext());
  if (!library)
    return targetError("cannot read libdevice '", path, "': ", problem.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  auto hide = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.count(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded, hide))
    return targetError("cannot link libdevice '", path, "'");
  return llvm::Error::success();
}

/// What ptxas does not do by itself. Returns what computeNearUses() does.
static std::unique_ptr<llvm::Module> rewriteForAssembler(llvm::Module &module, unsigned optLevel) {
  convertBytesInPairs(module);
  for (llvm::Function &function : module)
    convertFieldsInPairs(function, {/*subtractsBF16=*/true});
  convertThroughF32(module);
  roundInPairs(module);
  keepCodesInPairs(module);
  multiplyParts(module);
  compareDifferences(module);
  hideHalfWords(module, "l");
  if (!optLevel)
    return nullptr;
  shortenShuffleChains(module);
  compareNextCounts(module);
  return computeNearUses(module);
}

/// The cubin of `binary.ptx`, and what ptxas reports of it. `asWritten`, if there is one, is the
/// module as it was before instructions moved: its code is kept where it runs better.
static llvm::Error assemble(DeviceBinary &binary, llvm::Module *asWritten,
                            llvm::TargetMachine &machine, const KernelFacts &facts,
                            const TargetInfo &target, const EmitOptions &options,
                            const std::function<void()> &meanwhile) {
  Assembler assembler(facts, target, options);
  auto text = assembler.assemble(std::move(binary.ptx), meanwhile);
  if (!text)
    return text.takeError();
  if (asWritten && isShortOfRegisters(*text, binary.launch, target)) {
    auto other = generateCode(*asWritten, machine, llvm::CodeGenFileType::AssemblyFile);
    if (other)
      assembler.takeIfBetter(other->str().str(), *text);
    else
      llvm::consumeError(other.takeError());
  }
  options.stageDone("cubin");
  PtxasResult &result = text->result;
  binary.ptx = text->assembled();
  binary.registerLimit = text->registerLimit;
  binary.mainLoop = findMainLoop(listPtx(binary.ptx));
  binary.bytes = std::move(result.cubin);
  removePtxText(binary.bytes);
  binary.resources = result.report.resources;
  if (result.level != std::min(options.optLevel, 3u))
    binary.ptxasLevel = result.level;
  llvm::append_range(binary.warnings, result.report.warnings);
  llvm::append_range(binary.warnings, result.report.serialized);
  return llvm::Error::success();
}

llvm::Expected<DeviceBinary> emitNVIDIA(llvm::Module &module, const KernelFacts &facts,
                                        const TargetInfo &target, const EmitOptions &options,
                                        const std::function<void()> &whileAssembling) {
  DiagnosticCapture diagnostics(module);
  auto machine = createMachine(target, options);
  if (!machine)
    return machine.takeError();
  auto kernel = prepareModule(module, facts, **machine, options);
  if (!kernel)
    return kernel.takeError();
  annotateKernel(**kernel, facts);
  useLineDirectives(module);
  if (!module.getModuleFlag("nvvm-reflect-ftz"))
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  if (llvm::Error error = linkDeviceLibrary(module, options.libdevicePath))
    return std::move(error);

  optimizeModule(module, **machine, target, options);
  keepRoundings(**kernel, "f", "d");
  if (facts.launch.waitsForEarlier)
    waitForEarlierKernel(**kernel);
  std::unique_ptr<llvm::Module> asWritten = rewriteForAssembler(module, options.optLevel);
  if (llvm::Error error = checkExternalCalls(module, isDriverFunction, target.name))
    return std::move(error);
  if (auto instructions = countInstructions(module); !instructions)
    return instructions.takeError();
  bool isText = target.ptxOnly || options.cudaEmit == CudaEmit::PTX;
  DeviceBinary binary = describeBinary(module, facts, target,
                                       isText ? BinaryFormat::PTX : BinaryFormat::Cubin, options);
  auto text = generateCode(module, **machine, llvm::CodeGenFileType::AssemblyFile);
  if (!text)
    return text.takeError();
  options.stageDone("ptx");
  if (llvm::Error error = diagnostics.takeErrors())
    return std::move(error);
  binary.ptx = text->str().str();
  binary.warnings = std::move(diagnostics.warnings);

  if (isText) {
    binary.mainLoop = findMainLoop(listPtx(binary.ptx));
    binary.bytes.assign(binary.ptx.begin(), binary.ptx.end());
    binary.bytes.push_back('\0');
  } else if (llvm::Error error = assemble(binary, asWritten.get(), **machine, facts, target,
                                          options, whileAssembling)) {
    return std::move(error);
  }
  if (options.captureAssembly)
    binary.assembly = binary.ptx;
  if (!options.capturePTX && options.cudaEmit != CudaEmit::Both)
    binary.ptx.clear();
  return binary;
}

} // namespace kiln
