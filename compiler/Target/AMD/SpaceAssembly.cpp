// AMD's GPUs leave it to programs that some instructions are apart (the ISA guides' "Manually
// Inserted Wait States"; of RDNA LLVM's GCNHazardRecognizer knows more): a matrix instruction of
// CDNA and what reads its result, a vector instruction that writes a scalar register and an access
// to memory that has its address there, an exponential and its use. LLVM puts what is missing
// between instructions, but assembly is text to it, which it takes for nothing that reads or
// writes. So a kernel's own assembly is kept from what shares registers with it as far as any two
// instructions have to be apart. Assembly of Kiln's has no results, and waits itself.

#include "compiler/Target/AMD/SpaceAssembly.h"

#include "compiler/Target/AMD/MachinePass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineInstrBundle.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

/// Behind a matrix instruction of 16 passes of CDNA 4, more than which nothing takes; behind a
/// vector instruction that writes a scalar register, until an access to memory reads it; and behind
/// one that writes a vector register, until another reads it in other lanes.
constexpr unsigned most = 20, untilScalar = 5, untilVector = 2;

bool isAssembly(const llvm::MachineInstr &op) {
  bool hasResult = op.isInlineAsm() && llvm::any_of(op.operands(), [](auto &operand) {
                     return operand.isReg() && operand.isDef() && !operand.isImplicit();
                   });
  return hasResult && *op.getOperand(llvm::InlineAsm::MIOp_AsmString).getSymbolName();
}

/// Behind all that changes the order of instructions.
class Spacing {
public:
  static constexpr llvm::StringLiteral name = "Kiln: wait states around assembly";
  explicit Spacing(llvm::MachineFunction &function)
      : function(function), instructions(*function.getSubtarget().getInstrInfo()),
        registers(*function.getSubtarget().getRegisterInfo()),
        isRdna(!function.getSubtarget().getCPU().starts_with("gfx9")) {
    for (unsigned code = 0; code != instructions.getNumOpcodes(); ++code)
      if (instructions.getName(code) == "S_WAITCNT_DEPCTR")
        waitForVectors = code;
  }

  bool run() {
    auto hasAssembly = [](const llvm::MachineBasicBlock &block) {
      return llvm::any_of(block, isAssembly);
    };
    bool changed = false;
    if (llvm::any_of(function, hasAssembly))
      for (llvm::MachineBasicBlock &block : function)
        changed |= space(block);
    return changed;
  }

private:
  bool space(llvm::MachineBasicBlock &block) {
    bool changed = false;
    for (llvm::MachineInstr &op : llvm::make_early_inc_range(block.instrs())) {
      unsigned missing = isNone(op) ? 0 : missingInFrontOf(op);
      if (missing)
        wait(op, missing);
      changed |= missing != 0;
    }
    return changed;
  }

  /// The head of a bundle, or what becomes no instruction, as what says how to schedule.
  bool isNone(const llvm::MachineInstr &op) const {
    return op.isMetaInstruction() || op.isBundle() ||
           (!op.isInlineAsm() && instructions.getInstSizeInBytes(op) == 0);
  }

  /// Behind `earlier`, until `op` may begin.
  unsigned needed(const llvm::MachineInstr &earlier, const llvm::MachineInstr &op) const {
    if (!isAssembly(earlier) && !isAssembly(op))
      return 0;
    // Scalar instructions wait for vector ones, and these for scalar ones.
    if (isScalar(earlier) || isScalar(op))
      return 0;
    bool isProduct =
        isAssembly(earlier) ? textOf(earlier).contains("mfma") : nameOf(earlier).contains("MFMA");
    // Products and stores go on to read what they were given.
    bool readsLater = isProduct || earlier.mayStore();
    unsigned states = 0;
    for (const llvm::MachineOperand &a : earlier.operands())
      for (const llvm::MachineOperand &b : op.operands())
        if (shareRegister(a, b, readsLater))
          states = std::max(states, isProduct || isRdna    ? most
                                    : isVector(b.getReg()) ? untilVector
                                                           : untilScalar);
    return states;
  }

  /// Wait states between what an operation shares registers with and it.
  unsigned missingInFrontOf(const llvm::MachineInstr &op) const {
    Search search(op);
    llvm::MachineBasicBlock::const_reverse_instr_iterator from = op.getReverseIterator();
    look(search, std::next(from), *op.getParent(), 0);
    return search.missing;
  }

  struct Search {
    explicit Search(const llvm::MachineInstr &op) : op(op) {}
    const llvm::MachineInstr &op;
    /// The fewest states between a block's end and the operation, of the ways that were looked at.
    llvm::DenseMap<const llvm::MachineBasicBlock *, unsigned> nearest;
    unsigned missing = 0;
  };

  void look(Search &search, llvm::MachineBasicBlock::const_reverse_instr_iterator from,
            const llvm::MachineBasicBlock &block, unsigned passed) const {
    for (const llvm::MachineInstr &earlier : llvm::make_range(from, block.instr_rend())) {
      if (passed >= most || waitsForVectors(earlier))
        return;
      if (isNone(earlier))
        continue;
      if (unsigned apart = needed(earlier, search.op); apart > passed)
        search.missing = std::max(search.missing, apart - passed);
      passed += statesOf(earlier);
    }
    for (const llvm::MachineBasicBlock *before : block.predecessors()) {
      auto [known, isNew] = search.nearest.try_emplace(before, passed);
      if (!isNew && known->second <= passed)
        continue;
      known->second = passed;
      look(search, before->instr_rbegin(), *before, passed);
    }
  }

  /// For all that this pass waits for. LLVM's own may be for one of them.
  bool waitsForVectors(const llvm::MachineInstr &op) const {
    return waitForVectors && op.getOpcode() == waitForVectors &&
           (op.getOperand(0).getImm() & fieldsOfVectors) == 0;
  }

  unsigned statesOf(const llvm::MachineInstr &op) const {
    if (op.isInlineAsm()) // which may be nothing
      return 0;
    return nameOf(op) == "S_NOP" ? op.getOperand(0).getImm() + 1 : 1;
  }

  bool shareRegister(const llvm::MachineOperand &earlier, const llvm::MachineOperand &later,
                     bool readsLater) const {
    return earlier.isReg() && later.isReg() && earlier.getReg() && later.getReg() &&
           (earlier.isDef() || (readsLater && later.isDef())) &&
           registers.regsOverlap(earlier.getReg(), later.getReg());
  }
  bool isVector(llvm::Register physical) const {
    llvm::StringRef name = registers.getName(physical.asMCReg());
    return name.starts_with("VGPR") || name.starts_with("AGPR");
  }

  void wait(llvm::MachineInstr &op, unsigned states) const {
    llvm::MachineBasicBlock::iterator place(getBundleStart(op.getIterator()));
    if (!isRdna) {
      instructions.insertNoops(*op.getParent(), place, states);
      return;
    }
    BuildMI(*op.getParent(), place, op.getDebugLoc(), instructions.get(waitForVectors))
        .addImm(allFields & ~fieldsOfVectors);
  }

  llvm::StringRef nameOf(const llvm::MachineInstr &op) const {
    return instructions.getName(op.getOpcode());
  }
  static llvm::StringRef textOf(const llvm::MachineInstr &assembly) {
    return assembly.getOperand(llvm::InlineAsm::MIOp_AsmString).getSymbolName();
  }
  bool isScalar(const llvm::MachineInstr &op) const { return nameOf(op).starts_with("S_"); }

  /// Of S_WAITCNT_DEPCTR (RDNA 4: S_WAIT_ALU), each a number of what may be in flight: va_vdst,
  /// va_sdst, va_ssrc, va_vcc and sa_sdst, which are results of vector instructions and scalar
  /// registers that these read or write; and with hold_cnt and vm_vsrc.
  static constexpr unsigned fieldsOfVectors = 0xff03, allFields = 0xff9f;

  llvm::MachineFunction &function;
  const llvm::TargetInstrInfo &instructions;
  const llvm::TargetRegisterInfo &registers;
  const bool isRdna;
  unsigned waitForVectors = 0;
};

} // namespace

void spaceAssembly() {
  static const llvm::RegisterTargetPassConfigCallback callback(
      [](llvm::TargetMachine &machine, llvm::PassManagerBase &, llvm::TargetPassConfig *passes) {
        if (machine.getTargetTriple().isAMDGCN())
          passes->insertPass(&llvm::PostRAHazardRecognizerID, new MachinePass<Spacing>());
      });
}

} // namespace kiln
