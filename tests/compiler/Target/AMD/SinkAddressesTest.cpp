//===- SinkAddressesTest.cpp - Addresses in shared memory, computed in loops -----===//

#include "compiler/Target/AMD/SinkAddresses.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// What the loop has then: "xors: 2, places: 1", of values that LLVM does not see through.
std::string loopAfter(const std::string &body) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(R"(
@kiln_shared = external addrspace(3) global [32768 x i8], align 16
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half>, <16 x half>, <8 x float>)
declare void @llvm.amdgcn.s.barrier()
define void @f(i32 %thread, i1 %again, ptr addrspace(1) %out, <16 x half> %a) {
entry:
  %other = xor i32 %thread, 32
  %p = getelementptr i8, ptr addrspace(3) @kiln_shared, i32 %thread
  %q = getelementptr i8, ptr addrspace(3) @kiln_shared, i32 %other
  %r = getelementptr i8, ptr addrspace(3) %q, i32 1024
  br label %loop
loop:
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
)" + body + R"(
  br i1 %again, label %loop, label %end
end:
  store <8 x float> %d, ptr addrspace(1) %out
  ret void
})",
                                                 context);
  kiln::sinkAddresses(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned xors = 0, places = 0;
  for (llvm::Instruction &instruction : llvm::instructions(*module->getFunction("f"))) {
    if (instruction.getParent()->getName() != "loop")
      continue;
    xors += instruction.getOpcode() == llvm::Instruction::Xor;
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    places += call && call->isInlineAsm();
  }
  return "xors: " + std::to_string(xors) + ", places: " + std::to_string(places);
}

const std::string product =
    "  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half> %a, "
    "<16 x half> %b, <8 x float> %c)\n";

TEST(SinkAddresses, AccessesBetweenBarriersShareAPlace) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %p
  %y = load <8 x half>, ptr addrspace(3) %q
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 1, places: 1");
}

TEST(SinkAddresses, EachSideOfABarrierHasItsOwn) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %q
  %y = load <8 x half>, ptr addrspace(3) %r
  call void @llvm.amdgcn.s.barrier()
  store <8 x half> %x, ptr addrspace(3) %r
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 2, places: 2");
}

/// Five accesses to a product are not those of its operands.
TEST(SinkAddresses, OtherBlocksStayAsTheyAre) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %p
  %y = load <8 x half>, ptr addrspace(3) %q
  store <8 x half> %x, ptr addrspace(3) %p
  store <8 x half> %x, ptr addrspace(3) %q
  store <8 x half> %x, ptr addrspace(3) %r
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 0, places: 0");
}

} // namespace
