//===- HoldReadsTest.cpp - Loads and products that LLVM would take elsewhere ----===//

#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// The kernel `k`; `%own` and `%other` are a thread's words of shared memory, its own and one of
/// another wave.
std::string kernel(const std::string &body) {
  return R"(
@shared = external addrspace(3) global [4096 x i8], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %n, i32 %m) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %own = getelementptr i32, ptr addrspace(3) @shared, i32 %thread
  %swapped = xor i32 %thread, 64
  %other = getelementptr i32, ptr addrspace(3) @shared, i32 %swapped
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %thread
)" + body +
         R"(
exit:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half>, <16 x half>,
                                                                    <8 x float>)
)";
}

const std::string barrier = "  fence syncscope(\"workgroup\") release\n"
                            "  call void @llvm.amdgcn.s.barrier()\n"
                            "  fence syncscope(\"workgroup\") acquire\n";

const std::string writeAndRead = "  store i32 %thread, ptr addrspace(3) %own\n" + barrier +
                                 "  %x = load i32, ptr addrspace(3) %other\n"
                                 "  %square = mul i32 %x, %x\n";

void expectReadBetweenBarriers(llvm::StringRef code) {
  size_t first = code.find("s_barrier"), last = code.rfind("s_barrier"),
         read = std::min(code.find("ds_read"), code.find("ds_load"));
  ASSERT_NE(read, llvm::StringRef::npos);
  EXPECT_LT(first, read) << code.str();
  EXPECT_LT(read, last) << code.str();
}

class HoldReads : public ::testing::TestWithParam<const char *> {};

/// What is read in front of the second barrier is used in a branch behind it alone.
TEST_P(HoldReads, WhatIsReadInFrontOfABarrierStaysThere) {
  std::string text = kernel(writeAndRead + barrier + R"(
  %goes = icmp slt i32 %n, 5
  br i1 %goes, label %then, label %exit
then:
  store i32 %square, ptr addrspace(1) %to
  br label %exit
)");
  expectReadBetweenBarriers(assemblyOf(text, GetParam()));
}

/// The barrier stands in a block between that of the read and that of its use.
TEST_P(HoldReads, WhatIsReadInABlockInFrontOfABarriersStaysInFrontOfIt) {
  std::string text = kernel(writeAndRead + R"(
  %goes = icmp slt i32 %n, 5
  br i1 %goes, label %then, label %exit
then:
)" + barrier + R"(
  %again = icmp slt i32 %m, 5
  br i1 %again, label %last, label %exit
last:
  store i32 %square, ptr addrspace(1) %to
  br label %exit
)");
  expectReadBetweenBarriers(assemblyOf(text, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Targets, HoldReads,
                         ::testing::Values("hip:gfx90a", "hip:gfx942", "hip:gfx1100",
                                           "hip:gfx1201"));

/// Two products, of which the second adds to the first, are used in a branch of some lanes alone.
TEST(HoldProducts, StayWhereAllLanesAre) {
  const std::string product = "call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16("
                              "<16 x half> %a, <16 x half> %a, <8 x float> ";
  std::string text = kernel(R"(
  %from = getelementptr <16 x half>, ptr addrspace(1) %out, i32 %thread
  %a = load <16 x half>, ptr addrspace(1) %from
  %first = )" + product + R"(zeroinitializer)
  %second = )" + product + R"(%first)
  %goes = icmp slt i32 %thread, 5
  br i1 %goes, label %then, label %exit
then:
  store <8 x float> %second, ptr addrspace(1) %to
  br label %exit
)");
  std::string assembly = assemblyOf(text, "hip:gfx1100");
  llvm::StringRef code(assembly);
  EXPECT_EQ(code.count("v_wmma"), 2u);
  EXPECT_LT(code.rfind("v_wmma"), code.find("_cmp")) << code.str();
}

} // namespace
