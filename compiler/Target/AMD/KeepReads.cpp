// LLVM sinks what is computed in a block to the branch that alone needs it (MachineSink), a load
// too, if no store stands behind it in its block. Up to LLVM 22 it takes barriers and fences, which
// are no stores, for nothing in the way: what a wave reads of shared memory in front of a loop, and
// needs in it alone, it then reads behind the barrier that lets others write there, in the block
// between the question whether the loop runs and the loop. So such a load has a use in its own
// block while LLVM sinks, which takes no code and is gone afterwards. `HoldReads` keeps by assembly
// text what other blocks than loops need; that orders accesses, and would be wanted for most loops.

#include "compiler/Target/AMD/KeepReads.h"

#include "compiler/Target/AMD/MachinePass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

/// Which registers may come to be computed in another block, as nothing that has to stay in this
/// one needs them.
class Sinking {
public:
  explicit Sinking(const llvm::MachineRegisterInfo &registers) : registers(registers) {}

  bool mayLeave(const llvm::MachineInstr &op) {
    auto [entry, isNew] = known.try_emplace(&op, false);
    if (!isNew)
      return entry->second;
    bool result = llvm::all_of(op.all_defs(), [&](const llvm::MachineOperand &result) {
      return result.isDead() ||
             (result.getReg().isVirtual() && mayLeave(result.getReg(), *op.getParent()));
    });
    return known[&op] = result;
  }

private:
  bool mayLeave(llvm::Register value, const llvm::MachineBasicBlock &from) {
    return llvm::all_of(registers.use_nodbg_operands(value), [&](llvm::MachineOperand &use) {
      const llvm::MachineInstr &user = *use.getParent();
      if (user.isPHI())
        return user.getOperand(use.getOperandNo() + 1).getMBB() != &from;
      if (user.getParent() != &from)
        return true;
      return !user.mayStore() && !user.isTerminator() && !user.hasUnmodeledSideEffects() &&
             mayLeave(user);
    });
  }

  const llvm::MachineRegisterInfo &registers;
  llvm::DenseMap<const llvm::MachineInstr *, bool> known;
};

/// In front of LLVM's pass that sinks.
class PinReads {
public:
  static constexpr llvm::StringLiteral name = "Kiln: reads stay in front of barriers";
  explicit PinReads(llvm::MachineFunction &function)
      : function(function), instructions(*function.getSubtarget().getInstrInfo()) {}

  bool run() {
    Sinking sinking(function.getRegInfo());
    llvm::SmallPtrSet<const llvm::MachineBasicBlock *, 16> inFront = blocksInFrontOfOthers();
    llvm::SmallVector<llvm::MachineInstr *> pinned;
    for (llvm::MachineBasicBlock &block : function) {
      bool isOrdered = inFront.contains(&block);
      for (llvm::MachineInstr &op : llvm::reverse(block)) {
        if (isOrdered && op.mayLoad() && !op.mayStore() && !op.isDereferenceableInvariantLoad() &&
            sinking.mayLeave(op))
          pinned.push_back(&op);
        isOrdered |= orders(op);
      }
    }
    for (llvm::MachineInstr *load : pinned)
      for (const llvm::MachineOperand &result : load->all_defs())
        if (result.getReg().isVirtual() && !result.isDead())
          BuildMI(*load->getParent(), std::next(load->getIterator()), load->getDebugLoc(),
                  instructions.get(llvm::TargetOpcode::FAKE_USE))
              .addReg(result.getReg());
    return !pinned.empty();
  }

private:
  /// Text says whether it is one of memory.
  static bool orders(const llvm::MachineInstr &op) {
    return op.hasUnmodeledSideEffects() && !op.isTerminator() && !op.isInlineAsm();
  }

  /// Those that alone lead to a block with a barrier: a load may go there, and then on.
  llvm::SmallPtrSet<const llvm::MachineBasicBlock *, 16> blocksInFrontOfOthers() const {
    llvm::SmallPtrSet<const llvm::MachineBasicBlock *, 16> result;
    for (const llvm::MachineBasicBlock &block : function)
      if (llvm::any_of(block, orders))
        for (const llvm::MachineBasicBlock *from = block.getSinglePredecessor();
             from && result.insert(from).second;)
          from = from->getSinglePredecessor();
    return result;
  }

  llvm::MachineFunction &function;
  const llvm::TargetInstrInfo &instructions;
};

/// Behind it.
class UnpinReads {
public:
  static constexpr llvm::StringLiteral name = "Kiln: reads that have stayed";
  explicit UnpinReads(llvm::MachineFunction &function) : function(function) {}

  bool run() {
    bool changed = false;
    for (llvm::MachineBasicBlock &block : function)
      for (llvm::MachineInstr &op : llvm::make_early_inc_range(block))
        if (op.getOpcode() == llvm::TargetOpcode::FAKE_USE) {
          op.eraseFromParent();
          changed = true;
        }
    return changed;
  }

private:
  llvm::MachineFunction &function;
};

} // namespace

void keepReads() {
  static const llvm::RegisterTargetPassConfigCallback callback(
      [](llvm::TargetMachine &machine, llvm::PassManagerBase &, llvm::TargetPassConfig *passes) {
        // Without optimisations nothing sinks.
        if (!machine.getTargetTriple().isAMDGCN() ||
            machine.getOptLevel() == llvm::CodeGenOptLevel::None)
          return;
        // The last pass in front of that one that runs once.
        passes->insertPass(&llvm::LocalStackSlotAllocationID, new MachinePass<PinReads>());
        passes->insertPass(&llvm::MachineSinkingLegacyID, new MachinePass<UnpinReads>());
      });
}

} // namespace kiln
