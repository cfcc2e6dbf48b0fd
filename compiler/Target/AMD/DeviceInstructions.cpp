#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {

/// Of an intrinsic; else empty.
static llvm::StringRef nameOf(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return call ? call->getCalledFunction()->getName() : "";
}

bool isBarrier(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier;
}

bool isWmma(const llvm::Instruction &op) { return nameOf(op).starts_with("llvm.amdgcn.wmma."); }

bool isProduct(const llvm::Instruction &op) {
  return isWmma(op) || nameOf(op).starts_with("llvm.amdgcn.mfma.");
}

bool isGlobalRead(const llvm::Instruction &op) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&op))
    return load->getPointerAddressSpace() != sharedSpace &&
           load->getPointerAddressSpace() != constantSpace;
  llvm::StringRef name = nameOf(op);
  return name.starts_with("llvm.amdgcn.raw.") && name.contains(".buffer.load");
}

} // namespace kiln
