#include "compiler/Target/HalfWordAtomics.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

namespace kiln {
void hideHalfWords(llvm::Module &module, llvm::StringRef constraint) {
  constexpr unsigned halfBits = 16, wordAlignmentBits = 2;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (!update || update->getType()->getPrimitiveSizeInBits() != halfBits)
        continue;
      llvm::Use &address = update->getOperandUse(llvm::AtomicRMWInst::getPointerOperandIndex());
      llvm::KnownBits known = llvm::computeKnownBits(address, module.getDataLayout());
      if (known.countMinTrailingZeros() < wordAlignmentBits)
        continue;
      llvm::IRBuilder<> builder(update);
      address.set(opaque(builder, address, constraint));
    }
}

} // namespace kiln
