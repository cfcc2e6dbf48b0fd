//===- CodeGeneration.cpp - What all targets do with an LLVM module ----------===//

#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/HugeFunctions.h"
#include "compiler/Target/PassGate.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

namespace kiln {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {

class ForwardingHandler : public llvm::DiagnosticHandler {
public:
  explicit ForwardingHandler(DiagnosticCapture &capture) : capture(capture) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    capture.handle(info);
    return true;
  }

private:
  DiagnosticCapture &capture;
};

/// The diagnostics that carry a source place have no kind in common to cast to.
const llvm::DiagnosticInfoWithLocationBase *locationOf(const llvm::DiagnosticInfo &info) {
  if (auto *unsupported = llvm::dyn_cast<llvm::DiagnosticInfoUnsupported>(&info))
    return unsupported;
  return llvm::dyn_cast<llvm::DiagnosticInfoResourceLimit>(&info);
}

/// The module's list of what assembly is from: each {path, line, column}. Calls have their number
/// in it, from 1 on, as LLVM's "srcloc", which it passes on with what is wrong with them.
constexpr llvm::StringLiteral assemblyPlaces = "kiln.assembly";

std::string pathOf(const llvm::DILocation &place) {
  llvm::SmallString<128> path;
  if (!llvm::sys::path::is_absolute(place.getFilename()))
    path = place.getDirectory();
  llvm::sys::path::append(path, place.getFilename());
  return path.str().str();
}

} // namespace

void placeAssembly(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  auto constant = [&](uint64_t value) {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value));
  };
  llvm::DenseMap<const llvm::DILocation *, uint64_t> numbers;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      auto *text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      const llvm::DILocation *place = instruction.getDebugLoc().get();
      if (!text || text->getAsmString().empty() || !place)
        continue;
      uint64_t &number = numbers[place];
      if (!number) {
        number = numbers.size();
        module.getOrInsertNamedMetadata(assemblyPlaces)
            ->addOperand(llvm::MDNode::get(context, {llvm::MDString::get(context, pathOf(*place)),
                                                     constant(place->getLine()),
                                                     constant(place->getColumn())}));
      }
      call->setMetadata("srcloc", llvm::MDNode::get(context, constant(number)));
    }
}

DiagnosticCapture::DiagnosticCapture(const llvm::Module &module)
    : module(module), previous(module.getContext().getDiagnosticHandler()) {
  module.getContext().setDiagnosticHandler(std::make_unique<ForwardingHandler>(*this));
}

DiagnosticCapture::~DiagnosticCapture() {
  module.getContext().setDiagnosticHandler(std::move(previous));
}

DiagnosticCapture::Entry DiagnosticCapture::entryOf(const llvm::DiagnosticInfo &info) const {
  Entry entry;
  uint64_t number = 0;
  if (auto *source = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
    entry.message = source->getSMDiag().getMessage().str();
    llvm::StringRef text = source->getSMDiag().getLineContents().trim();
    if (source->isInlineAsmDiag() && !text.empty())
      entry.message += (": '" + text + "'").str();
    number = source->getLocCookie();
  } else if (auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info)) {
    entry.message = assembly->getMsgStr().str();
    number = assembly->getLocCookie();
  } else {
    llvm::raw_string_ostream os(entry.message);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
  }
  if (const auto *place = locationOf(info); place && place->isLocationAvailable()) {
    llvm::StringRef path;
    place->getLocation(path, entry.line, entry.column);
    entry.path = path.str();
  }
  const llvm::NamedMDNode *places = module.getNamedMetadata(assemblyPlaces);
  if (number && places && number <= places->getNumOperands()) {
    const llvm::MDNode &place = *places->getOperand(unsigned(number - 1));
    auto numberAt = [&](unsigned index) {
      return unsigned(
          llvm::mdconst::extract<llvm::ConstantInt>(place.getOperand(index))->getZExtValue());
    };
    entry.path = llvm::cast<llvm::MDString>(place.getOperand(0))->getString().str();
    entry.line = numberAt(1);
    entry.column = numberAt(2);
  }
  return entry;
}

void DiagnosticCapture::handle(const llvm::DiagnosticInfo &info) {
  if (info.getSeverity() != llvm::DS_Error && info.getSeverity() != llvm::DS_Warning)
    return;
  Entry entry = entryOf(info);
  // The assembler says it again for another kind of file.
  if (llvm::is_contained(errors, entry))
    return;
  // Copies to AMD's shared memory are text that writes m0, and say so: LLVM sets it in front of
  // each of its own uses, and warns that it does not save it.
  bool isOfCopies = entry.message == "inline asm clobber list contains reserved registers: m0";
  if (info.getSeverity() == llvm::DS_Error)
    errors.push_back(std::move(entry));
  else if (!isOfCopies)
    warnings.push_back(std::move(entry.message));
}

llvm::Error DiagnosticCapture::takeErrors() {
  if (errors.empty())
    return llvm::Error::success();
  std::string text;
  for (const Entry &entry : errors)
    text += (text.empty() ? "" : "\n") + entry.message;
  Entry first = std::move(errors.front());
  errors.clear();
  return llvm::make_error<TargetError>(std::move(text), std::move(first.path), first.line,
                                       first.column);
}

//===----------------------------------------------------------------------===//
// Machines and modules
//===----------------------------------------------------------------------===//

/// Only the back ends that targets name; the whole of LLVM's list would be wasted start-up time.
static void initializeBackEnds() {
  static std::once_flag once;
  std::call_once(once, [] {
#define KILN_LLVM_TARGET(NAME)                                                                     \
  LLVMInitialize##NAME##TargetInfo();                                                              \
  LLVMInitialize##NAME##Target();                                                                  \
  LLVMInitialize##NAME##TargetMC();                                                                \
  LLVMInitialize##NAME##AsmPrinter();
    KILN_LLVM_TARGET(NVPTX)
    KILN_LLVM_TARGET(AMDGPU)
    KILN_LLVM_TARGET(X86)
    KILN_LLVM_TARGET(AArch64)
#undef KILN_LLVM_TARGET
    LLVMInitializeAMDGPUDisassembler(); // for what HSACOs hold
    // For inline assembly; PTX has no parser and needs none.
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64AsmParser();
  });
}

static llvm::CodeGenOptLevel codeGenLevel(unsigned optLevel) {
  return llvm::CodeGenOpt::getLevel(std::min(optLevel, 3u)).value();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const TargetInfo &target,
                                                                   const EmitOptions &options) {
  initializeBackEnds();
  llvm::Triple triple(target.llvmTriple);
  std::string error;
  const llvm::Target *backEnd = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backEnd)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion =
      options.fusesProducts ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  targetOptions.FunctionSections = targetOptions.DataSections = target.backend == Backend::CPU;
  return std::unique_ptr<llvm::TargetMachine>(backEnd->createTargetMachine(
      triple, target.llvmCPU, target.llvmFeatures, targetOptions, llvm::Reloc::PIC_, std::nullopt,
      codeGenLevel(options.optLevel)));
}

llvm::Expected<llvm::Function *> prepareModule(llvm::Module &module, const KernelFacts &facts,
                                               const llvm::TargetMachine &machine,
                                               const EmitOptions &options) {
  llvm::Function *kernel = module.getFunction(facts.symbol);
  if (!kernel || kernel->isDeclaration())
    return targetError("the module does not define the kernel '", facts.symbol, "'");
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  // Both names end in the binary: they must not depend on where and how the module was made.
  module.setModuleIdentifier(facts.symbol);
  module.setSourceFileName(facts.symbol);
  for (llvm::GlobalObject &object : module.global_objects())
    if (&object != kernel && !object.isDeclaration() && !object.hasAppendingLinkage() &&
        !object.getName().starts_with("llvm."))
      object.setLinkage(llvm::GlobalValue::InternalLinkage);
  kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  kernel->setVisibility(llvm::GlobalValue::DefaultVisibility);
  kernel->setDSOLocal(true);
  remapDebugPaths(module, options);

  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (llvm::verifyModule(module, &os))
    return targetError("invalid LLVM IR for '", facts.symbol, "': ", problem);
  return kernel;
}

llvm::Expected<unsigned> countInstructions(const llvm::Module &module) {
  // ptxas takes minutes above it; of AMD nearly as many values may have places in a thread's memory
  // of 128 KiB.
  constexpr unsigned most = 50'000;
  unsigned instructions = 0;
  for (const llvm::Function &function : module)
    instructions += function.getInstructionCount();
  if (instructions > most)
    return targetError("each thread has ", instructions, " instructions, the limit is ", most,
                       "; use more warps or smaller tiles");
  return instructions;
}

llvm::Expected<llvm::SmallString<0>>
generateCode(const llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind) {
  // The code generator changes the module; another file kind may be wanted of it.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, kind))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "LLVM cannot write this kind of file for %s",
                                   machine.getTargetTriple().str().c_str());
  PassGate gate(*copy, machine.getTargetCPU());
  passes.run(*copy);
  return bytes;
}

llvm::Error checkExternalCalls(const llvm::Module &module,
                               llvm::function_ref<bool(llvm::StringRef)> isProvided,
                               llvm::StringRef targetName) {
  for (const llvm::Function &caller : module)
    for (const llvm::Instruction &instruction : llvm::instructions(caller)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->isDeclaration() || callee->isIntrinsic() ||
          isProvided(callee->getName()))
        continue;
      std::string message =
          ("call to '" + callee->getName() + "', which " + targetName + " does not have").str();
      if (const llvm::DILocation *place = call->getDebugLoc().get())
        return llvm::make_error<TargetError>(std::move(message), place->getFilename().str(),
                                             place->getLine(), place->getColumn());
      return llvm::make_error<TargetError>(std::move(message));
    }
  return llvm::Error::success();
}

std::string printModule(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

DeviceBinary describeBinary(const llvm::Module &module, const KernelFacts &facts,
                            const TargetInfo &target, BinaryFormat format,
                            const EmitOptions &options) {
  DeviceBinary binary;
  binary.target = target.name;
  binary.symbol = facts.symbol;
  binary.launch = facts.launch;
  binary.format = format;
  if (options.captureLLVM)
    binary.llvmIR = printModule(module);
  options.stageDone("llvmir");
  return binary;
}

llvm::Expected<llvm::SmallString<0>>
generateObject(const llvm::Module &module, llvm::TargetMachine &machine, const EmitOptions &options,
               DiagnosticCapture &diagnostics, DeviceBinary &binary) {
  if (options.captureAssembly) {
    auto text = generateCode(module, machine, llvm::CodeGenFileType::AssemblyFile);
    if (!text)
      return text.takeError();
    binary.assembly = text->str().str();
  }
  auto object = generateCode(module, machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  options.stageDone("obj");
  if (llvm::Error error = diagnostics.takeErrors())
    return std::move(error);
  binary.warnings = std::move(diagnostics.warnings);
  return object;
}

} // namespace kiln
