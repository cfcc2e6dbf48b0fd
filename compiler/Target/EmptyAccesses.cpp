#include "compiler/Target/EmptyAccesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace kiln {

/// Which operand is an access's offset; none: it is no access of a buffer.
static std::optional<unsigned> offsetOperand(const IntrinsicInst &access) {
  switch (access.getIntrinsicID()) {
  case Intrinsic::amdgcn_raw_ptr_buffer_load:
    return 1;
  case Intrinsic::amdgcn_raw_ptr_buffer_store:
    return 2;
  default:
    return std::nullopt;
  }
}

/// The most bytes that a buffer may have. Offsets from there on are of lanes whose masks are false,
/// whatever the buffer.
static uint64_t mostBytes(Value *buffer, const DataLayout &layout) {
  constexpr uint64_t ofAny = 0xfffffff0;
  constexpr unsigned bytes = 2;
  auto *made = dyn_cast<IntrinsicInst>(buffer);
  if (!made || made->getIntrinsicID() != Intrinsic::amdgcn_make_buffer_rsrc)
    return ofAny;
  KnownBits known = computeKnownBits(made->getArgOperand(bytes), layout);
  return std::min(ofAny, known.getMaxValue().getLimitedValue());
}

/// Whether an access is known to lie behind its buffer: nothing is added to an offset behind the
/// check that it is in one.
static bool isEmpty(const IntrinsicInst &access) {
  std::optional<unsigned> operand = offsetOperand(access);
  auto *offset = operand ? dyn_cast<ConstantInt>(access.getArgOperand(*operand)) : nullptr;
  auto *more = offset ? dyn_cast<ConstantInt>(access.getArgOperand(*operand + 1)) : nullptr;
  return more && more->isZero() &&
         offset->getZExtValue() >=
             mostBytes(access.getArgOperand(*operand - 1), access.getDataLayout());
}

PreservedAnalyses LeaveOutEmptyAccesses::run(Function &function, FunctionAnalysisManager &) {
  bool changes = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *access = dyn_cast<IntrinsicInst>(&instruction);
    if (!access || !isEmpty(*access))
      continue;
    if (!access->getType()->isVoidTy())
      access->replaceAllUsesWith(Constant::getNullValue(access->getType()));
    access->eraseFromParent();
    changes = true;
  }
  if (!changes)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace kiln
