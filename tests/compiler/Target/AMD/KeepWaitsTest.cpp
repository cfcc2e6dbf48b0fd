//===- KeepWaitsTest.cpp - Waits of fences that LLVM would drop ----------------===//

#include "tests/compiler/Target/EveryScalarKernel.h"

#include <cstring>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// A loop that begins with a barrier and ends in a write to shared memory; `entry` stands in front
/// of it.
std::string loopOf(const std::string &entry) {
  const std::string barrier = "  fence syncscope(\"workgroup\") release\n"
                              "  call void @llvm.amdgcn.s.barrier()\n"
                              "  fence syncscope(\"workgroup\") acquire\n";
  return R"(
@shared = external addrspace(3) global [4096 x i8], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %own = getelementptr i32, ptr addrspace(3) @shared, i32 %thread
  %swapped = xor i32 %thread, 64
  %other = getelementptr i32, ptr addrspace(3) @shared, i32 %swapped
)" + entry +
         R"(
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %sum = phi i32 [0, %entry], [%more, %loop]
)" + barrier +
         "  %x = load i32, ptr addrspace(3) %other\n  %more = add i32 %sum, %x\n" + barrier + R"(
  store i32 %more, ptr addrspace(3) %own
  %next = add i32 %i, 1
  %goes = icmp slt i32 %next, %n
  br i1 %goes, label %loop, label %exit
exit:
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  store i32 %more, ptr addrspace(1) %to
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)";
}

/// The same through global memory: each thread stores what another loads in the next iteration.
std::string loopOfGlobal() {
  std::string text = loopOf("");
  for (auto [from, to] :
       {std::pair("  %own = getelementptr i32, ptr addrspace(3) @shared",
                  "  %own = getelementptr i32, ptr addrspace(1) %out"),
        std::pair("  %other = getelementptr i32, ptr addrspace(3) @shared",
                  "  %other = getelementptr i32, ptr addrspace(1) %out"),
        std::pair("load i32, ptr addrspace(3) %other", "load i32, ptr addrspace(1) %other"),
        std::pair("store i32 %more, ptr addrspace(3) %own",
                  "store i32 %more, ptr addrspace(1) %own")})
    text.replace(text.find(from), std::strlen(from), to);
  return text;
}

/// Whether the loop waits so before it first comes to a barrier.
bool waitsBeforeBarrier(const std::string &assembly, const std::string &wait) {
  size_t loop = assembly.find(".LBB0_1:"), barrier = assembly.find("s_barrier", loop);
  return loop != std::string::npos && barrier != std::string::npos &&
         assembly.substr(loop, barrier - loop).find(wait) != std::string::npos;
}

/// LLVM 22 drops the first wait, where nothing is in flight in front of the loop.
TEST(KeepWaits, ALoopThatEndsInAWriteWaitsAtItsFirstBarrier) {
  for (const char *name : {"hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100"})
    EXPECT_TRUE(waitsBeforeBarrier(assemblyOf(loopOf(""), name), "lgkmcnt(0)")) << name;
  EXPECT_TRUE(waitsBeforeBarrier(assemblyOf(loopOf(""), "hip:gfx1201"), "dscnt 0x0"));
}

TEST(KeepWaits, SoDoesOneThatEndsInAStoreWhereFencesWaitForThose) {
  EXPECT_TRUE(waitsBeforeBarrier(assemblyOf(loopOfGlobal(), "hip:gfx1100"), "vscnt null, 0x0"));
  EXPECT_TRUE(waitsBeforeBarrier(assemblyOf(loopOfGlobal(), "hip:gfx1201"), "storecnt"));
}

TEST(KeepWaits, SoDoesOneBehindAWrite) {
  const std::string entry = "  store i32 %thread, ptr addrspace(3) %own\n";
  EXPECT_TRUE(waitsBeforeBarrier(assemblyOf(loopOf(entry), "hip:gfx942"), "lgkmcnt(0)"));
}

/// A thread tells another block that it has stored something, which has already arrived in its
/// cache. That this is written back LLVM 22 does not count.
TEST(KeepWaits, WhatWritesACacheBackIsWaitedFor) {
  const std::string text = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %flag) {
  store i32 1, ptr addrspace(1) %out
  %old = atomicrmw add ptr addrspace(1) %flag, i32 1 syncscope("agent") monotonic
  %place = getelementptr i32, ptr addrspace(1) %flag, i32 %old
  fence syncscope("agent") release
  store atomic i32 1, ptr addrspace(1) %place syncscope("agent") monotonic, align 4
  ret void
}
)";
  std::string assembly = assemblyOf(text, "hip:gfx942");
  size_t back = assembly.find("buffer_wbl2"), wait = assembly.find("vmcnt(0)", back),
         told = assembly.find("global_store", back);
  ASSERT_NE(back, std::string::npos) << assembly;
  EXPECT_LT(wait, told) << assembly;
}

/// In a loop that ends in a store, too, which the next iteration tells of.
TEST(KeepWaits, WhatTheIterationBeforeStoredIsWaitedFor) {
  const std::string text = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %flag, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  fence syncscope("agent") release
  store atomic i32 %i, ptr addrspace(1) %flag syncscope("agent") monotonic, align 4
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %to
  %next = add i32 %i, 1
  %goes = icmp slt i32 %next, %n
  br i1 %goes, label %loop, label %exit
exit:
  ret void
}
)";
  for (auto [target, wait] : {std::pair("hip:gfx90a", "vmcnt(0)"),
                              {"hip:gfx942", "vmcnt(0)"},
                              {"hip:gfx1100", "vscnt null, 0x0"},
                              {"hip:gfx1201", "storecnt"}}) {
    std::string assembly = assemblyOf(text, target);
    size_t loop = assembly.find(".LBB0_1:"), told = assembly.find("global_store", loop);
    EXPECT_LT(assembly.find(wait, loop), told) << assembly;
  }
}

} // namespace
