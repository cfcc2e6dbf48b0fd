#include "compiler/Target/BufferAccesses.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {

llvm::Use *offsetOfBufferAccess(llvm::User *user) {
  auto *access = llvm::dyn_cast<llvm::IntrinsicInst>(user);
  if (!access)
    return nullptr;
  switch (access->getIntrinsicID()) {
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_load:
    return &access->getOperandUse(1);
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_store:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_add:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_and:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_fadd:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_or:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_smax:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_smin:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_umax:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_umin:
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_xor:
    return &access->getOperandUse(2);
  default:
    return nullptr;
  }
}

} // namespace kiln
