#include "compiler/Target/AMD/ShortConversions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace kiln {
namespace {

constexpr unsigned shortBits = 16;

/// The conversion of an integer whose f16 the instruction is, itself or by way of f32.
llvm::CastInst *conversionOf(llvm::Instruction &instruction) {
  if (!instruction.getType()->isHalfTy())
    return nullptr;
  llvm::Instruction *conversion = &instruction;
  if (auto *truncation = llvm::dyn_cast<llvm::FPTruncInst>(conversion)) {
    conversion = llvm::dyn_cast<llvm::Instruction>(truncation->getOperand(0));
    if (!conversion || !conversion->getType()->isFloatTy() || !conversion->hasOneUse())
      return nullptr;
  }
  bool isOfInteger = llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(conversion);
  return isOfInteger && conversion->getOperand(0)->getType()->isIntegerTy(2 * shortBits)
             ? llvm::cast<llvm::CastInst>(conversion)
             : nullptr;
}

unsigned leadingZeros(const llvm::Value *integer, const llvm::DataLayout &layout) {
  return llvm::computeKnownBits(integer, layout).countMinLeadingZeros();
}

/// Whether it is a byte (`v_cvt_f32_ubyte0`) whose number becomes part of a word of two.
bool isPackedByte(const llvm::Instruction &half, const llvm::CastInst &conversion,
                  const llvm::DataLayout &layout) {
  constexpr unsigned byteBits = 8;
  auto packs = [](const llvm::User *user) { return llvm::isa<llvm::InsertElementInst>(user); };
  return leadingZeros(conversion.getOperand(0), layout) >= 2 * shortBits - byteBits &&
         llvm::any_of(half.users(), packs);
}

bool isShort(const llvm::CastInst &conversion, const llvm::DataLayout &layout) {
  const llvm::Value *integer = conversion.getOperand(0);
  if (llvm::isa<llvm::SIToFPInst>(conversion))
    return llvm::ComputeNumSignBits(integer, layout) > shortBits;
  return leadingZeros(integer, layout) >= shortBits;
}

void shorten(llvm::Instruction &toHalf, llvm::CastInst &conversion) {
  llvm::IRBuilder<> b(&toHalf);
  llvm::Value *integer = b.CreateTrunc(conversion.getOperand(0), b.getInt16Ty());
  bool isSigned = llvm::isa<llvm::SIToFPInst>(conversion);
  toHalf.replaceAllUsesWith(isSigned ? b.CreateSIToFP(integer, toHalf.getType())
                                     : b.CreateUIToFP(integer, toHalf.getType()));
  toHalf.eraseFromParent();
  if (conversion.use_empty() && &conversion != &toHalf)
    conversion.eraseFromParent();
}

} // namespace

void shortenConversions(llvm::Function &kernel, bool packsHalves) {
  const llvm::DataLayout &layout = kernel.getDataLayout();
  llvm::SmallVector<std::pair<llvm::Instruction *, llvm::CastInst *>> found;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (llvm::CastInst *conversion = conversionOf(instruction))
      if (isShort(*conversion, layout) &&
          !(packsHalves && isPackedByte(instruction, *conversion, layout)))
        found.emplace_back(&instruction, conversion);
  for (auto [toHalf, conversion] : found)
    shorten(*toHalf, *conversion);
}

} // namespace kiln
