#include "tests/amdgcn/Disassembler.h"
#include "compiler/Target/TargetInfo.h"
#include "tests/amdgcn/Instruction.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::amdgcn {

struct Disassembler::Parts {
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// What the processor's code is compiled with: the same bits are read otherwise without.
static std::string featuresOf(const std::string &processor) {
  llvm::Expected<TargetInfo> target = parseTarget("hip:" + processor);
  if (!target)
    throw Fault(llvm::toString(target.takeError()));
  return target->llvmFeatures;
}

Disassembler::Disassembler(const std::string &processor) : parts(std::make_unique<Parts>()) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    throw Fault("LLVM has no AMDGPU target: " + error);
  parts->registers.reset(target->createMCRegInfo(triple));
  parts->assembly.reset(target->createMCAsmInfo(*parts->registers, triple, parts->options));
  parts->instructions.reset(target->createMCInstrInfo());
  parts->subtarget.reset(target->createMCSubtargetInfo(triple, processor, featuresOf(processor)));
  parts->context = std::make_unique<llvm::MCContext>(
      triple, parts->assembly.get(), parts->registers.get(), parts->subtarget.get());
  parts->disassembler.reset(target->createMCDisassembler(*parts->subtarget, *parts->context));
  parts->printer.reset(target->createMCInstPrinter(triple, 0, *parts->assembly,
                                                   *parts->instructions, *parts->registers));
  if (!parts->disassembler || !parts->printer)
    throw Fault("LLVM has no disassembler for " + processor);
}

Disassembler::~Disassembler() = default;

std::optional<Disassembler::Line> Disassembler::disassemble(const uint8_t *bytes, uint64_t size,
                                                            uint64_t address) const {
  llvm::MCInst instruction;
  uint64_t length = 0;
  if (parts->disassembler->getInstruction(instruction, length, {bytes, size_t(size)}, address,
                                          llvm::nulls()) == llvm::MCDisassembler::Fail ||
      length == 0)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  parts->printer->printInst(&instruction, address, "", *parts->subtarget, os);
  return Line{text, length};
}

} // namespace kiln::amdgcn
