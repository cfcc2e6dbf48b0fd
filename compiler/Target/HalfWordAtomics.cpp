#include "compiler/Target/HalfWordAtomics.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace kiln {

void hideHalfWords(llvm::Module &module, llvm::StringRef constraint) {
  constexpr unsigned wordBits = 32;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (!update || update->getType()->getPrimitiveSizeInBits() >= wordBits)
        continue;
      llvm::IRBuilder<> builder(update);
      llvm::Use &address = update->getOperandUse(llvm::AtomicRMWInst::getPointerOperandIndex());
      address.set(opaque(builder, address, constraint));
    }
}

} // namespace kiln
