#include "compiler/Target/AMD/Waits.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {

/// The fields of S_WAITCNT, all ones where nothing is waited for (ISA guides, "S_WAITCNT").
static uint32_t fieldsOf(Waits waits, bool isGfx9) {
  bool ofVectors = waits.ofLoads || (isGfx9 && waits.ofStores);
  uint32_t lgkm = isGfx9 ? 0x0f00 : 0x03f0, vector = isGfx9 ? 0xc00f : 0xfc00, all = 0xffff;
  return (waits.ofShared || waits.ofLoads ? all & ~lgkm : all) & (ofVectors ? ~vector : all);
}

void waitFor(Waits waits, llvm::IRBuilder<> &b, const TargetInfo &target) {
  if (target.archNumber >= 0x1200) {
    auto wait = [&](llvm::Intrinsic::ID counter) { b.CreateIntrinsic(counter, {}, b.getInt16(0)); };
    if (waits.ofShared)
      wait(llvm::Intrinsic::amdgcn_s_wait_dscnt);
    if (waits.ofLoads) {
      wait(llvm::Intrinsic::amdgcn_s_wait_loadcnt);
      wait(llvm::Intrinsic::amdgcn_s_wait_kmcnt);
    }
    if (waits.ofStores)
      wait(llvm::Intrinsic::amdgcn_s_wait_storecnt);
    return;
  }
  bool isGfx9 = target.archNumber < 0x1000;
  b.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_waitcnt, {}, b.getInt32(fieldsOf(waits, isGfx9)));
  // RDNA 3 counts stores apart, for which there is no intrinsic.
  if (waits.ofStores && !isGfx9)
    b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false),
                                      "s_waitcnt_vscnt null, 0x0", "~{memory}",
                                      /*hasSideEffects=*/true));
}

} // namespace kiln
