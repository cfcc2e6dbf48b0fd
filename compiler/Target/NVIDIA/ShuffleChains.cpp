//===- ShuffleChains.cpp - Values that go from lane to lane several times ------===//

#include "compiler/Target/NVIDIA/ShuffleChains.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {

namespace {

/// Every lane of a warp reads lane l xor `lanes`.
struct Exchange {
  llvm::IntrinsicInst *call;
  uint64_t lanes;
  llvm::Value *given() const { return call->getArgOperand(1); }
};

} // namespace

/// PTX ISA, "shfl.sync": all lanes take part, of one segment of 32.
static std::optional<Exchange> exchangeOf(llvm::Value *value) {
  using namespace llvm::PatternMatch;
  uint64_t lanes = 0;
  if (!match(value, m_Intrinsic<llvm::Intrinsic::nvvm_shfl_sync_bfly_i32>(
                        m_AllOnes(), m_Value(), m_ConstantInt(lanes), m_SpecificInt(31))))
    return std::nullopt;
  return Exchange{llvm::cast<llvm::IntrinsicInst>(value), lanes};
}

/// Whether the bits that `mask` leaves out are zero anyway.
static bool isWithin(const llvm::Value *value, const llvm::APInt &mask) {
  auto *wide = llvm::dyn_cast<llvm::ZExtInst>(value);
  if (!wide)
    return false;
  unsigned bits = wide->getSrcTy()->getIntegerBitWidth();
  return llvm::APInt::getLowBitsSet(mask.getBitWidth(), bits).isSubsetOf(mask);
}

/// Lets the exchange read where what it is given comes from. Whether it did.
static bool shorten(const Exchange &last) {
  using namespace llvm::PatternMatch;
  auto mask = llvm::APInt::getAllOnes(32);
  llvm::Value *given = last.given(), *inner;
  // A mask is the same in all lanes.
  for (const llvm::APInt *part; match(given, m_And(m_Value(inner), m_APInt(part))); given = inner)
    mask &= *part;
  std::optional<Exchange> first = exchangeOf(given);
  if (!first || first->call->getParent() != last.call->getParent())
    return false;
  llvm::IRBuilder<> builder(last.call);
  llvm::Value *source = first->given(), *result = source;
  if (uint64_t lanes = first->lanes ^ last.lanes)
    result = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                     {last.call->getArgOperand(0), source,
                                      builder.getInt32(uint32_t(lanes)), builder.getInt32(31)});
  if (!mask.isAllOnes() && !isWithin(source, mask))
    result = builder.CreateAnd(result, mask);
  last.call->replaceAllUsesWith(result);
  return true;
}

static llvm::SmallVector<llvm::IntrinsicInst *> exchangesOf(llvm::Function &function) {
  llvm::SmallVector<llvm::IntrinsicInst *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (std::optional<Exchange> exchange = exchangeOf(&instruction))
      calls.push_back(exchange->call);
  return calls;
}

void shortenShuffleChains(llvm::Module &module) {
  for (llvm::Function &function : module) {
    // The first of a chain comes first, so that the later ones find its source.
    bool changes = false;
    for (llvm::IntrinsicInst *call : exchangesOf(function))
      changes |= shorten(*exchangeOf(call));
    if (!changes)
      continue;
    // What nobody reads any more: the last first, which lets the one before it go, and may take it
    // along.
    llvm::SmallVector<llvm::WeakVH> left;
    for (llvm::IntrinsicInst *call : exchangesOf(function))
      left.emplace_back(call);
    for (llvm::WeakVH &handle : llvm::reverse(left)) {
      auto *call = llvm::cast_or_null<llvm::IntrinsicInst>(static_cast<llvm::Value *>(handle));
      if (!call || !call->use_empty())
        continue;
      llvm::Value *given = call->getArgOperand(1);
      call->eraseFromParent();
      llvm::RecursivelyDeleteTriviallyDeadInstructions(given);
    }
  }
}

} // namespace kiln
