// Which operations become calls, and what happens to those that cannot.

#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <algorithm>
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
  EXPECT_EQ(errorsOf("  nvvm.breakpoint loc(\"kernel.py\":5:3)"),
            "kernel.py:5:3: 'nvvm.breakpoint' is not emulated\n");
  EXPECT_EQ(errorsOf("  %x = llvm.mlir.constant(1.0 : f32) : f32\n  %y = llvm.call_intrinsic "
                     "\"llvm.amdgcn.fract\"(%x) : (f32) -> f32 loc(\"kernel.py\":6:3)",
                     "emu:gfx942"),
            "kernel.py:6:3: 'llvm.amdgcn.fract' is not emulated\n");
  EXPECT_EQ(
      errorsOf(
          "  llvm.inline_asm has_side_effects \"nop\", \"\" : () -> () loc(\"kernel.py\":7:3)"),
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

TEST(LowerToEmulator, AtomicsOfSmallFloatsCount) {
  for (const char *target : {"emu:sm_90a", "emu:gfx942"})
    for (const char *type : {"f16", "bf16"}) {
      std::string text = R"(
llvm.func @kernel(%sum: !llvm.ptr<1>, %pair: !llvm.ptr<1>) {
  %half = llvm.mlir.constant(0.5 : TYPE) : TYPE
  %two = llvm.mlir.constant(dense<[0.5, -0.25]> : vector<2xTYPE>) : vector<2xTYPE>
  %a = llvm.atomicrmw fadd %sum, %half syncscope("agent") monotonic : !llvm.ptr<1>, TYPE
  %b = llvm.atomicrmw fadd %pair, %two syncscope("agent") monotonic : !llvm.ptr<1>, vector<2xTYPE>
  llvm.return
})";
      for (size_t place; (place = text.find("TYPE")) != std::string::npos;)
        text.replace(place, 4, type);
      EmulatedKernel kernel(text, target, 128);
      ASSERT_EQ(kernel.errors, "");
      uint16_t sum = 0, pair[2] = {};
      void *pointers[] = {&sum, pair};
      EXPECT_TRUE(kernel.run({&pointers[0], &pointers[1]}, 0).empty());
      bool isHalf = std::string(type) == "f16";
      EXPECT_EQ(sum, isHalf ? 0x5400 : 0x4280) << type << ": 64";
      EXPECT_EQ(pair[0], isHalf ? 0x5400 : 0x4280);
      EXPECT_EQ(pair[1], isHalf ? 0xd000 : 0xc200) << "-32";
    }
}

/// out[0..4) = four words of `in` at %offset, by a buffer of %records bytes; the same stored back
/// to %copy, and 1 added to its word at %offset.
const char *const buffers = R"(
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %copy: !llvm.ptr<1>, %records: i64,
                  %offset: i32, %scalar: i32) {
  %stride = llvm.mlir.constant(0 : i16) : i16
  %flags = llvm.mlir.constant(FLAGS : i32) : i32
  %aux = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %from = rocdl.make.buffer.rsrc %in, %stride, %records, %flags : !llvm.ptr<1> to !llvm.ptr<8>
  %to = rocdl.make.buffer.rsrc %copy, %stride, %records, %flags : !llvm.ptr<1> to !llvm.ptr<8>
  %v = rocdl.raw.ptr.buffer.load %from, %offset, %scalar, %aux : vector<4xf32>
  tilegpu.global_store %out, %v : (!llvm.ptr<1>, vector<4xf32>) -> ()
  rocdl.raw.ptr.buffer.store %v, %to, %offset, %scalar, %aux : vector<4xf32>
  llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"(%one, %to, %offset, %scalar, %aux)
    : (f32, !llvm.ptr<8>, i32, i32, i32) -> f32
  llvm.return
})";

/// What is loaded, and what is then in the copy, which was -1s.
struct Buffers {
  alignas(16) float out[4];
  float copy[8];
  std::vector<std::string> reports;
};
Buffers throughBuffers(const std::string &target, const std::string &flags, int64_t records,
                       int32_t offset, int32_t scalar) {
  std::string text = buffers;
  text.replace(text.find("FLAGS"), 5, flags);
  EmulatedKernel kernel(text, target, 1);
  EXPECT_EQ(kernel.errors, "");
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Buffers result;
  std::fill(result.copy, result.copy + 8, -1.f);
  kernel.use(in, sizeof in);
  kernel.use(result.out, sizeof result.out);
  kernel.use(result.copy, sizeof result.copy);
  void *pointers[] = {in, result.out, result.copy};
  result.reports =
      kernel.run({&pointers[0], &pointers[1], &pointers[2], &records, &offset, &scalar}, 0);
  return result;
}

// CDNA3 ISA: what lies beyond the records is 0 and is not written, word by word; an atomic
// operation out of range does nothing.
TEST(LowerToEmulator, RawBuffersCheckTheirBounds) {
  for (const char *target : {"emu:gfx942", "emu:gfx1100"}) {
    for (int32_t scalar : {0, 4}) {
      Buffers inside = throughBuffers(target, "159744", 32, 8 - scalar, scalar);
      EXPECT_TRUE(inside.reports.empty()) << inside.reports[0];
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(inside.out[i], 3 + i);
        EXPECT_EQ(inside.copy[2 + i], 3 + i + (i == 0));
      }
      Buffers across = throughBuffers(target, "159744", 24, 16 - scalar, scalar);
      EXPECT_TRUE(across.reports.empty()) << across.reports[0];
      const float loaded[] = {5, 6, 0, 0}, stored[] = {-1, -1, -1, -1, 6, 6, -1, -1};
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(across.out[i], loaded[i]) << i;
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(across.copy[i], stored[i]) << i;
      Buffers outside = throughBuffers(target, "159744", 16, 16, scalar);
      EXPECT_TRUE(outside.reports.empty()) << outside.reports[0];
      EXPECT_EQ(outside.out[0], 0);
      EXPECT_EQ(outside.copy[4], -1);
    }
  }
  // RDNA's flags can turn the check off: then the registered allocations decide.
  Buffers unchecked = throughBuffers("emu:gfx1100", "553807872", 8, 16, 0);
  EXPECT_TRUE(unchecked.reports.empty()) << unchecked.reports[0];
  EXPECT_EQ(unchecked.out[3], 8);
  EXPECT_FALSE(throughBuffers("emu:gfx1100", "553807872", 8, 20, 0).reports.empty());
}

} // namespace
