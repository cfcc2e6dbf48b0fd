//===- HoldReadsTest.cpp - Loads that LLVM would take past a barrier ------------===//

#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// What is read in front of the second barrier is used in a branch behind it alone.
constexpr char text[] = R"(
@shared = external addrspace(3) global [4096 x i8], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %own = getelementptr i32, ptr addrspace(3) @shared, i32 %thread
  %swapped = xor i32 %thread, 64
  %other = getelementptr i32, ptr addrspace(3) @shared, i32 %swapped
  store i32 %thread, ptr addrspace(3) %own
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %x = load i32, ptr addrspace(3) %other
  %more = mul i32 %x, %x
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  store i32 %n, ptr addrspace(3) %own
  %goes = icmp slt i32 %n, 5
  br i1 %goes, label %then, label %exit
then:
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  store i32 %more, ptr addrspace(1) %to
  br label %exit
exit:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)";

class HoldReads : public ::testing::TestWithParam<const char *> {};

TEST_P(HoldReads, WhatIsReadInFrontOfABarrierStaysThere) {
  EmitOptions options;
  options.captureAssembly = true;
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 256;
  std::string assembly = emitted(emitText(text, facts, target(GetParam()), options)).assembly;
  llvm::StringRef code(assembly);
  size_t first = code.find("s_barrier"),
         read = std::min(code.find("ds_read"), code.find("ds_load")),
         last = code.rfind("s_barrier");
  EXPECT_LT(first, read);
  EXPECT_LT(read, last) << assembly;
}

INSTANTIATE_TEST_SUITE_P(Targets, HoldReads,
                         ::testing::Values("hip:gfx90a", "hip:gfx942", "hip:gfx1100",
                                           "hip:gfx1201"));

} // namespace
