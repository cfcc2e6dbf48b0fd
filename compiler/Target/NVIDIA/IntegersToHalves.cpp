//===- IntegersToHalves.cpp - Integers become 16-bit floats by way of f32 ------===//

#include "compiler/Target/NVIDIA/IntegersToHalves.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace kiln {

/// Whether every value that the operand can have is one of f32.
static bool isExactInF32(const llvm::CastInst &cast, const llvm::DataLayout &layout) {
  constexpr unsigned significandBits = 24;
  const llvm::Value *integer = cast.getOperand(0);
  unsigned bits = integer->getType()->getScalarSizeInBits();
  if (llvm::isa<llvm::SIToFPInst>(cast))
    return bits + 1 - llvm::ComputeNumSignBits(integer, layout) <= significandBits;
  return llvm::computeKnownBits(integer, layout).countMaxActiveBits() <= significandBits;
}

static llvm::Value *throughF32(llvm::CastInst &cast) {
  llvm::IRBuilder<> builder(&cast);
  llvm::Value *integer = cast.getOperand(0);
  bool isSigned = llvm::isa<llvm::SIToFPInst>(cast);
  // There is no such instruction for narrower integers.
  llvm::Type *word = integer->getType()->getWithNewBitWidth(32);
  llvm::Value *wide = builder.CreateIntCast(integer, word, isSigned);
  llvm::Type *single = word->getWithNewType(builder.getFloatTy());
  llvm::Value *exact =
      isSigned ? builder.CreateSIToFP(wide, single) : builder.CreateUIToFP(wide, single);
  return builder.CreateFPTrunc(exact, cast.getType());
}

void convertThroughF32(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (!cast || !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) ||
          cast->getType()->getScalarSizeInBits() != 16 ||
          cast->getSrcTy()->getScalarSizeInBits() == 1 || // a choice of two constants
          !isExactInF32(*cast, module.getDataLayout()))
        continue;
      cast->replaceAllUsesWith(throughF32(*cast));
      cast->eraseFromParent();
    }
}

} // namespace kiln
