//===- RoundInPairs.cpp - f32 become bf16 two at a time -------------------------===//

#include "compiler/Target/NVIDIA/RoundInPairs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace kiln {

/// Whether f32 is rounded to bf16 for arithmetic: what is only moved and stored ends in pairs.
static bool isForArithmetic(const llvm::Instruction &instruction) {
  auto *cast = llvm::dyn_cast<llvm::FPTruncInst>(&instruction);
  return cast && cast->getType()->isBFloatTy() && cast->getSrcTy()->isFloatTy() &&
         llvm::any_of(cast->users(), [](const llvm::User *user) {
           return llvm::isa<llvm::FPExtInst, llvm::BinaryOperator, llvm::UnaryOperator,
                            llvm::FCmpInst, llvm::CallBase>(user);
         });
}

/// Whether nothing of the block uses the value ahead of `place`.
static bool isUnusedBefore(const llvm::Instruction &value, const llvm::Instruction &place) {
  return llvm::none_of(value.users(), [&](const llvm::User *user) {
    auto *other = llvm::cast<llvm::Instruction>(user);
    return other->getParent() == place.getParent() && !llvm::isa<llvm::PHINode>(other) &&
           (other == &place || other->comesBefore(&place));
  });
}

/// `high` may be null.
static void roundPair(llvm::Instruction &low, llvm::Instruction *high) {
  llvm::IRBuilder<> builder(high ? high : &low);
  llvm::Value *other =
      high ? high->getOperand(0) : llvm::ConstantFP::get(builder.getFloatTy(), 0.0);
  llvm::Value *pair =
      builder.CreateIntrinsic(llvm::Intrinsic::nvvm_ff2bf16x2_rn, {}, {other, low.getOperand(0)});
  llvm::Value *halves[] = {builder.CreateExtractElement(pair, uint64_t(0)),
                           high ? builder.CreateExtractElement(pair, uint64_t(1)) : nullptr};
  low.replaceAllUsesWith(halves[0]);
  low.eraseFromParent();
  if (!high)
    return;
  high->replaceAllUsesWith(halves[1]);
  high->eraseFromParent();
}

void roundInPairs(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      llvm::SmallVector<llvm::Instruction *> casts;
      for (llvm::Instruction &instruction : block)
        if (isForArithmetic(instruction))
          casts.push_back(&instruction);
      for (size_t i = 0; i < casts.size(); ++i) {
        bool isPair = i + 1 < casts.size() && isUnusedBefore(*casts[i], *casts[i + 1]);
        llvm::Instruction *low = casts[i];
        roundPair(*low, isPair ? casts[++i] : nullptr);
      }
    }
}

} // namespace kiln
