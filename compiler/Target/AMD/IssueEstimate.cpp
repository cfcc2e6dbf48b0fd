// Between two orders of the same instructions the wait for memory decides, and how much of it is
// left beside other work no count of instructions or waits says. RDNA's waves issue in order, and
// so this walks along the code once, as llvm-mca does. Other waves, which hide some of a wave's
// wait, are as many in what is compared.

#include "compiler/Target/AMD/IssueEstimate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

class InOrderWave {
public:
  explicit InOrderWave(const llvm::TargetMachine &machine)
      : instructions(*machine.getMCInstrInfo()), registers(*machine.getMCRegisterInfo()),
        processor(*machine.getMCSubtargetInfo()) {}

  void run(llvm::ArrayRef<llvm::MCInst> code) {
    for (const llvm::MCInst &one : code)
      issue(one);
  }

  uint64_t now() const { return cycle; }

private:
  void issue(const llvm::MCInst &one) {
    const llvm::MCInstrDesc &description = instructions.get(one.getOpcode());
    llvm::SmallVector<llvm::MCRegister> read(description.implicit_uses()),
        written(description.implicit_defs());
    for (auto [number, operand] : llvm::enumerate(one))
      if (operand.isReg() && operand.getReg())
        (number < description.getNumDefs() ? written : read).push_back(operand.getReg());
    for (llvm::MCRegister each : read)
      for (llvm::MCRegUnit unit : registers.regunits(each))
        cycle = std::max(cycle, ready.lookup(unsigned(unit)));
    unsigned latency = latencyOf(one);
    for (llvm::MCRegister each : written)
      for (llvm::MCRegUnit unit : registers.regunits(each))
        ready[unsigned(unit)] = cycle + latency;
    ++cycle;
  }

  unsigned latencyOf(const llvm::MCInst &one) const {
    const llvm::MCSchedModel &model = processor.getSchedModel();
    unsigned number = instructions.get(one.getOpcode()).getSchedClass();
    while (number && model.getSchedClassDesc(number)->isVariant())
      number =
          processor.resolveVariantSchedClass(number, &one, &instructions, model.getProcessorID());
    int latency =
        number ? model.computeInstrLatency(processor, *model.getSchedClassDesc(number)) : 1;
    return std::max(latency, 1);
  }

  const llvm::MCInstrInfo &instructions;
  const llvm::MCRegisterInfo &registers;
  const llvm::MCSubtargetInfo &processor;
  llvm::DenseMap<unsigned, uint64_t> ready; ///< from when on a part of a register is there
  uint64_t cycle = 0;
};

/// Of a vector instruction of RDNA.
unsigned busyCyclesOf(llvm::StringRef name, bool isRdna4) {
  bool isProduct = name.starts_with("V_WMMA") || name.starts_with("V_SWMMAC");
  if (!isProduct)
    return 1;
  // 16 x 16 x 16, or twice as deep.
  unsigned cycles = name.contains("16X16X32") ? 64 : 32;
  bool isOfBytes = name.contains("IU8") || name.contains("FP8") || name.contains("BF8");
  return isRdna4 ? cycles / (isOfBytes ? 4 : 2) : cycles;
}

uint64_t busyCyclesOf(llvm::ArrayRef<llvm::MCInst> code, const llvm::TargetMachine &machine) {
  llvm::StringRef processor = machine.getTargetCPU();
  bool isRdna4 = processor.starts_with("gfx12");
  if (!isRdna4 && !processor.starts_with("gfx11"))
    return 0;
  uint64_t cycles = 0;
  for (const llvm::MCInst &one : code) {
    llvm::StringRef name = machine.getMCInstrInfo()->getName(one.getOpcode());
    if (name.starts_with("V_"))
      cycles += busyCyclesOf(name, isRdna4);
  }
  return cycles;
}

uint32_t countSpills(llvm::ArrayRef<llvm::MCInst> code, const llvm::TargetMachine &machine) {
  return llvm::count_if(code, [&](const llvm::MCInst &one) {
    return machine.getMCInstrInfo()->getName(one.getOpcode()).starts_with("SCRATCH_");
  });
}

} // namespace

IssueEstimate estimateIssue(const MachineCode &code, const llvm::TargetMachine &machine) {
  llvm::ArrayRef<llvm::MCInst> all = code.instructions;
  IssueEstimate estimate;
  for (llvm::ArrayRef<ListedInstruction> loop : innermostLoopsOf(code.listing)) {
    bool multiplies = llvm::any_of(
        loop, [](const ListedInstruction &one) { return one.kind == ListedKind::Matrix; });
    if (!multiplies)
      continue;
    InOrderWave wave(machine);
    llvm::ArrayRef<llvm::MCInst> body = all.slice(loop.data() - code.listing.data(), loop.size());
    wave.run(body);
    uint64_t first = wave.now();
    wave.run(body);
    estimate.cycles += wave.now() - first;
    estimate.busy += busyCyclesOf(body, machine);
    estimate.spills += countSpills(body, machine);
  }
  if (estimate.cycles)
    return estimate;
  InOrderWave wave(machine);
  wave.run(all);
  return {wave.now(), busyCyclesOf(all, machine), countSpills(all, machine)};
}

} // namespace kiln
