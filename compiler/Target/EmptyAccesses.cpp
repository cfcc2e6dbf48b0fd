#include "compiler/Target/EmptyAccesses.h"
#include "compiler/Target/BufferAccesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace kiln {

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

/// Whether it is an access that is known to lie behind its buffer: nothing is added to an offset
/// behind the check that it is in one.
static bool isEmpty(Instruction &access) {
  Use *place = offsetOfBufferAccess(&access);
  auto *offset = place ? dyn_cast<ConstantInt>(place->get()) : nullptr;
  auto *more =
      offset ? dyn_cast<ConstantInt>(access.getOperand(place->getOperandNo() + 1)) : nullptr;
  return more && more->isZero() &&
         offset->getZExtValue() >=
             mostBytes(access.getOperand(place->getOperandNo() - 1), access.getDataLayout());
}

PreservedAnalyses LeaveOutEmptyAccesses::run(Function &function, FunctionAnalysisManager &) {
  bool changes = false;
  for (Instruction &access : make_early_inc_range(instructions(function))) {
    if (!isEmpty(access))
      continue;
    if (!access.getType()->isVoidTy())
      access.replaceAllUsesWith(Constant::getNullValue(access.getType()));
    access.eraseFromParent();
    changes = true;
  }
  if (!changes)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace kiln
