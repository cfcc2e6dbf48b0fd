// LLVM's JIT linker, for objects, and for modules that become objects here.

#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::testing {

static void initializeTarget() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
}

std::unique_ptr<llvm::TargetMachine> hostMachine(llvm::StringRef processor) {
  initializeTarget();
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!processor.empty()) {
    builder.setCPU(processor.str());
    builder.getFeatures() = llvm::SubtargetFeatures();
  }
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return llvm::cantFail(builder.createTargetMachine());
}

struct LoadedObject::Linker {
  std::unique_ptr<llvm::orc::LLJIT> jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
};

LoadedObject::LoadedObject(const DeviceBinary &binary) {
  load(llvm::StringRef(binary.bytes.data(), binary.bytes.size()), binary.symbol);
}

LoadedObject::LoadedObject(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::StringRef symbol) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] bool isUnable =
      machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  assert(!isUnable && "the host has no object files");
  passes.run(module);
  load(bytes, symbol);
}

LoadedObject::LoadedObject(LoadedObject &&) noexcept = default;
LoadedObject::~LoadedObject() = default;

void LoadedObject::load(llvm::StringRef bytes, llvm::StringRef symbol) {
  initializeTarget();
  linker = std::make_unique<Linker>();
  llvm::cantFail(linker->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes)));
  kernel = llvm::cantFail(linker->jit->lookup(symbol)).toPtr<Kernel>();
}

} // namespace kiln::testing
