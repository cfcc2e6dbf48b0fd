// RDNA 3 can take a constant in place of what a product is added to. LLVM 22 selects an instruction
// that adds to the registers that it writes, and turns it into one of other registers where these
// are needed again, as zeros are, which it makes in front of the loop and holds all through it. So
// it never comes to the constant. RDNA 4's has that from the start.

#include "compiler/Target/AMD/ZeroSums.h"

#include "compiler/Target/AMD/MachinePass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include <optional>

namespace kiln {
namespace {

/// Behind instruction selection, when each register has one definition.
class ZeroSums {
public:
  static constexpr llvm::StringLiteral name = "Kiln: products that begin a sum";
  explicit ZeroSums(llvm::MachineFunction &function)
      : function(function), instructions(*function.getSubtarget().getInstrInfo()),
        registers(function.getRegInfo()) {}

  bool run() {
    if (function.getFunction().hasFnAttribute(zerosInRegisters))
      return false;
    bool changed = false;
    for (llvm::MachineBasicBlock &block : function)
      for (llvm::MachineInstr &one : llvm::make_early_inc_range(block))
        changed |= takeZero(one);
    return changed;
  }

private:
  bool takeZero(llvm::MachineInstr &product) {
    std::optional<unsigned> opcode = ofOtherRegisters(product.getOpcode());
    if (!opcode)
      return false;
    const llvm::MachineOperand *result = &product.getOperand(0);
    if (!result->isReg() || !result->isTied())
      return false;
    unsigned sum = product.findTiedOperandIdx(0);
    if (!isZero(product.getOperand(sum).getReg()))
      return false;
    llvm::MachineInstrBuilder other =
        BuildMI(*product.getParent(), product, product.getDebugLoc(), instructions.get(*opcode))
            .setMIFlags(product.getFlags());
    for (unsigned number = 0; number < product.getNumExplicitOperands(); ++number)
      if (number == sum)
        other.addImm(0);
      else
        other.add(product.getOperand(number));
    product.eraseFromParent();
    return true;
  }

  /// Of a product that adds to the registers that it writes, the opcode for others. LLVM knows
  /// these by names alone, outside of its back end.
  std::optional<unsigned> ofOtherRegisters(unsigned opcode) {
    auto [known, isNew] = opcodes.try_emplace(opcode);
    if (!isNew)
      return known->second;
    constexpr llvm::StringLiteral tied = "_twoaddr";
    llvm::StringRef name = instructions.getName(opcode);
    if (!name.starts_with("V_WMMA_") || !name.contains(tied))
      return std::nullopt;
    auto [stem, width] = name.split(tied);
    std::string wanted = (stem + "_threeaddr" + width).str();
    for (unsigned other = 0; other < instructions.getNumOpcodes(); ++other)
      if (instructions.getName(other) == wanted)
        known->second = other;
    return known->second;
  }

  /// Whether all of a register's parts are moved constants of no bit.
  bool isZero(llvm::Register value) const {
    const llvm::MachineInstr *definition =
        value.isVirtual() ? registers.getUniqueVRegDef(value) : nullptr;
    if (!definition)
      return false;
    if (definition->isCopy() && !definition->getOperand(1).getSubReg())
      return isZero(definition->getOperand(1).getReg());
    if (definition->isMoveImmediate())
      return definition->getOperand(1).isImm() && definition->getOperand(1).getImm() == 0;
    if (!definition->isRegSequence())
      return false;
    for (unsigned part = 1; part < definition->getNumOperands(); part += 2)
      if (definition->getOperand(part).getSubReg() ||
          !isZero(definition->getOperand(part).getReg()))
        return false;
    return true;
  }

  llvm::MachineFunction &function;
  const llvm::TargetInstrInfo &instructions;
  const llvm::MachineRegisterInfo &registers;
  llvm::DenseMap<unsigned, std::optional<unsigned>> opcodes;
};

} // namespace

void useInlineZeros() {
  static const llvm::RegisterTargetPassConfigCallback callback(
      [](llvm::TargetMachine &machine, llvm::PassManagerBase &, llvm::TargetPassConfig *passes) {
        if (machine.getTargetCPU().starts_with("gfx11"))
          passes->insertPass(&llvm::FinalizeISelID, new MachinePass<ZeroSums>());
      });
}

} // namespace kiln
