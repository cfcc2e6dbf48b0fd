// Which operations become calls, and what happens to those that cannot.

#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::testing;

namespace {

std::string errorsOf(const std::string &body, const std::string &target = "emu:sm_90a") {
  return EmulatedKernel("llvm.func @kernel(%p: !llvm.ptr<1>) {\n" + body + "\n  llvm.return\n}\n",
                        target, 32)
      .errors;
}

TEST(LowerToEmulator, WhatIsNotEmulatedIsALocatedError) {
  EXPECT_EQ(errorsOf("  nvvm.wgmma.fence.aligned loc(\"kernel.py\":5:3)"),
            "kernel.py:5:3: 'nvvm.wgmma.fence.aligned' is not emulated\n");
  EXPECT_EQ(errorsOf("  %x = llvm.mlir.constant(1.0 : f32) : f32\n  %y = llvm.call_intrinsic "
                     "\"llvm.amdgcn.fract\"(%x) : (f32) -> f32 loc(\"kernel.py\":6:3)",
                     "emu:gfx942"),
            "kernel.py:6:3: 'llvm.amdgcn.fract' is not emulated\n");
  EXPECT_EQ(errorsOf("  llvm.inline_asm \"nop\", \"\" : () -> () loc(\"kernel.py\":7:3)"),
            "kernel.py:7:3: 'llvm.inline_asm' is not emulated\n");
}

TEST(LowerToEmulator, ArgumentsAreReadAsALauncherPassesThem) {
  EmulatedKernel kernel(R"(
llvm.func @kernel(%flag: i8, %wide: i64, %half: f16, %out: !llvm.ptr<1>) {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %f = llvm.sext %flag : i8 to i64
  %h = llvm.fptosi %half : f16 to i64
  %a = llvm.add %f, %wide : i64
  %b = llvm.add %a, %h : i64
  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
  tilegpu.global_store %to, %b : (!llvm.ptr<1>, i64) -> ()
  llvm.return
})",
                        "emu:sm_80", 64);
  ASSERT_EQ(kernel.errors, "");
  int8_t flag = -2;
  int64_t wide = int64_t(1) << 40, out[64] = {};
  uint16_t half = 0x4500; // 5
  void *pointer = out;
  EXPECT_TRUE(kernel.run({&flag, &wide, &half, &pointer}, 0).empty());
  for (int64_t value : out)
    EXPECT_EQ(value, wide + 3);
}

TEST(LowerToEmulator, ApproximationsAreComputed) {
  EmulatedKernel kernel(R"(
llvm.func @kernel(%x: f32, %out: !llvm.ptr<1>) {
  %r = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%x) : (f32) -> f32
  %d = llvm.call_intrinsic "llvm.nvvm.div.full"(%r, %x) : (f32, f32) -> f32
  tilegpu.global_store %out, %d : (!llvm.ptr<1>, f32) -> ()
  llvm.return
})",
                        "emu:sm_80", 32);
  float x = 3, out = 0;
  void *pointer = &out;
  EXPECT_TRUE(kernel.run({&x, &pointer}, 0).empty());
  EXPECT_NEAR(out, 1 / (3 * std::sqrt(3.f)), 1e-6);
}

TEST(LowerToEmulator, AtomicsOfAllThreadsCount) {
  for (const char *target : {"emu:sm_90a", "emu:gfx1100"}) {
    EmulatedKernel kernel(R"(
llvm.func @kernel(%sum: !llvm.ptr<1>, %real: !llvm.ptr<1>) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %half = llvm.mlir.constant(0.5 : f32) : f32
  %old = llvm.atomicrmw add %sum, %one syncscope("agent") monotonic : !llvm.ptr<1>, i32
  %before = llvm.atomicrmw fadd %real, %half syncscope("agent") acq_rel : !llvm.ptr<1>, f32
  llvm.return
})",
                          target, 256);
    ASSERT_EQ(kernel.errors, "");
    uint32_t sum = 0;
    float real = 0;
    void *pointers[] = {&sum, &real};
    EXPECT_TRUE(kernel.run({&pointers[0], &pointers[1]}, 0).empty());
    EXPECT_EQ(sum, 256u);
    EXPECT_EQ(real, 128.f);
  }
}

} // namespace
