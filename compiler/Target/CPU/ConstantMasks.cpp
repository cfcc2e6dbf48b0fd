//===- ConstantMasks.cpp - Masked stores whose mask is known -------------------===//

#include "compiler/Target/CPU/ConstantMasks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>

namespace kiln {

/// The lanes of a constant mask; empty where it is not known. Undefined lanes are not stored.
static std::optional<llvm::SmallVector<bool>> lanesOf(const llvm::Value *mask) {
  const auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  llvm::SmallVector<bool> lanes;
  for (unsigned i = 0; i != type->getNumElements(); ++i) {
    const llvm::Constant *lane = constant->getAggregateElement(i);
    if (!lane || !llvm::isa<llvm::ConstantInt, llvm::UndefValue>(lane))
      return std::nullopt;
    lanes.push_back(llvm::isa<llvm::ConstantInt>(lane) && lane->isOneValue());
  }
  return lanes;
}

/// Stores `count` lanes from `first` of what the masked `store` stores.
static void storeLanes(llvm::IntrinsicInst &store, unsigned first, unsigned count) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value *value = store.getArgOperand(0);
  llvm::Type *element = value->getType()->getScalarType();
  const llvm::DataLayout &layout = store.getModule()->getDataLayout();
  uint64_t offset = first * layout.getTypeStoreSize(element).getFixedValue();
  llvm::Value *part =
      count == 1 ? builder.CreateExtractElement(value, first)
                 : builder.CreateShuffleVector(
                       value, llvm::to_vector(llvm::seq<int>(int(first), int(first + count))));
  llvm::Value *address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), store.getArgOperand(1), offset);
  llvm::Align align = store.getParamAlign(1).valueOrOne();
  builder.CreateAlignedStore(part, address, llvm::commonAlignment(align, offset));
}

void splitConstantMasks(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      std::optional<llvm::SmallVector<bool>> lanes = lanesOf(store->getArgOperand(2));
      if (!lanes)
        continue;
      for (unsigned first = 0, end = lanes->size(); first != end;) {
        unsigned run = 0;
        while (first + run != end && (*lanes)[first + run])
          ++run;
        unsigned count = llvm::bit_floor(run);
        if (count)
          storeLanes(*store, first, count);
        first += std::max(count, 1u);
      }
      store->eraseFromParent();
    }
}

} // namespace kiln
