//===- EmitNVIDIATest.cpp - Cubins and PTX, made and read back -----------------===//

#include "compiler/Target/NVIDIA/CubinReader.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <fstream>

using namespace kiln;
using namespace kiln::testing;

namespace {

class Cubins : public ::testing::TestWithParam<const char *> {};

TEST_P(Cubins, EveryScalarParameterReadsBack) {
  TargetInfo info = target(GetParam());
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
  EXPECT_EQ(binary.format, BinaryFormat::Cubin);
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)), "");
  ASSERT_EQ(binary.parameters.size(), 12u);
  EXPECT_EQ(binary.parameters[9].name, "i");
  EXPECT_EQ(binary.parameters[9].offset, 32u);
  EXPECT_EQ(binary.parameterBytes, 56u);
  EXPECT_GT(binary.resources.registers, 4u);
  EXPECT_EQ(binary.resources.spillStoreBytes, 0u);
  EXPECT_EQ(binary.resources.staticSharedBytes, 64u);
  EXPECT_TRUE(binary.ptx.empty());
}

TEST_P(Cubins, SameBytesInAnotherFolder) { expectSameBytesInAnotherFolder(target(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Targets, Cubins,
                         ::testing::Values("cuda:sm_80", "cuda:sm_86", "cuda:sm_89", "cuda:sm_90a",
                                           "cuda:sm_100a", "cuda:sm_120a"));

TEST(EmitNVIDIA, PtxForLaterGpus) {
  TargetInfo info = target("cuda:compute_80");
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
  EXPECT_EQ(binary.format, BinaryFormat::PTX);
  ASSERT_FALSE(binary.bytes.empty());
  EXPECT_EQ(binary.bytes.back(), '\0');
  llvm::StringRef text(binary.bytes.data());
  EXPECT_TRUE(text.contains(".version 8.0"));
  EXPECT_TRUE(text.contains(".target sm_80"));
  EXPECT_TRUE(text.contains(".reqntid 128"));
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)), "");
}

TEST(EmitNVIDIA, BothKeepsThePtx) {
  TargetInfo info = target("cuda:sm_90a");
  EmitOptions options;
  options.cudaEmit = CudaEmit::Both;
  DeviceBinary binary =
      emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info, options));
  EXPECT_EQ(binary.format, BinaryFormat::Cubin);
  EXPECT_NE(binary.ptx.find(".target sm_90a"), std::string::npos);
}

TEST(EmitNVIDIA, PtxNeedsNoPtxas) {
  TargetInfo info = target("cuda:sm_90a");
  EmitOptions options;
  options.cudaEmit = CudaEmit::PTX;
  options.ptxasPath = "/nowhere/ptxas";
  DeviceBinary binary =
      emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info, options));
  EXPECT_EQ(binary.format, BinaryFormat::PTX);
  options.cudaEmit = CudaEmit::Cubin;
  EXPECT_EQ(errorOf(emitText(everyScalarKernel(), everyScalarFacts(info), info, options)),
            "ptxas: '/nowhere/ptxas' is not an executable file");
}

/// The loads in the PTX of a loop that begins at `%first` and runs `%times` times, which `entry`
/// says.
size_t loadsOfLoop(const std::string &entry) {
  std::string source = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                       "define void @sum(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n, "
                       "i64 %stride) {\nentry:\n" +
                       entry + R"(
  %some = icmp sgt i32 %times, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = phi ptr addrspace(1) [ %first, %entry ], [ %further, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %x = load float, ptr addrspace(1) %at
  %more = fadd float %sum, %x
  %further = getelementptr float, ptr addrspace(1) %at, i64 %stride
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %times
  br i1 %again, label %loop, label %end
end:
  %all = phi float [ 0.0, %entry ], [ %more, %loop ]
  store float %all, ptr addrspace(1) %q
  ret void
}
)";
  TargetInfo info = target("cuda:sm_90a");
  KernelFacts facts;
  facts.symbol = "sum";
  facts.launch.threadsPerBlock = 128;
  EmitOptions options;
  options.capturePTX = true;
  DeviceBinary binary = emitted(emitText(source, facts, info, options));
  return llvm::StringRef(binary.ptx).count("ld.global");
}

const std::string ofThread = "%tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                             "%first = getelementptr float, ptr addrspace(1) %p, i32 %tid\n";
const std::string ofAll = "%first = getelementptr float, ptr addrspace(1) %p, i32 %n\n";

/// ptxas unrolls them, with their loads in front.
TEST(EmitNVIDIA, LoopsOfUnknownLengthStayLoops) {
  EXPECT_EQ(loadsOfLoop(ofThread + "%times = add i32 %n, 0"), 1u);
}

/// More iterations than ptxas would make at a time.
TEST(EmitNVIDIA, LoopsOverScalarsAreUnrolled) {
  EXPECT_GT(loadsOfLoop(ofAll + "%times = add i32 %n, 0"), 4u);
  EXPECT_EQ(loadsOfLoop(ofAll + "%times = add i32 256, 0"), 32u);
  EXPECT_LT(loadsOfLoop(ofThread + "%times = add i32 256, 0"), 32u);
}

/// The branches in the PTX of two loops, of which the inner one adds up what it loads where `%mask`
/// of `%row`, which the outer one has, and `%column` is true.
size_t branchesOfLoops(const std::string &mask) {
  std::string source = R"(
define void @sum(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %rows, i32 %columns) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %further, %latch ]
  %sum = phi float [ 0.0, %entry ], [ %more, %latch ]
  %row = icmp slt i32 %i, %rows
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %next, %inner ]
  %before = phi float [ %sum, %outer ], [ %more, %inner ]
  %column = icmp slt i32 %j, %columns
  %mask = )" + mask + R"(
  %at = getelementptr float, ptr addrspace(1) %p, i32 %j
  %word = call i32 asm sideeffect "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0"(ptr addrspace(1) %at, i1 %mask, i32 0)
  %x = bitcast i32 %word to float
  %chosen = select i1 %mask, float %x, float 0.0
  %more = fadd float %before, %chosen
  %next = add i32 %j, 1
  %again = icmp slt i32 %next, 1000
  br i1 %again, label %inner, label %latch
latch:
  %further = add i32 %i, 1
  %goes = icmp slt i32 %further, 1000
  br i1 %goes, label %outer, label %end
end:
  store float %more, ptr addrspace(1) %q
  ret void
}
)";
  TargetInfo info = target("cuda:sm_90a");
  KernelFacts facts;
  facts.symbol = "sum";
  facts.launch.threadsPerBlock = 128;
  EmitOptions options;
  options.capturePTX = true;
  DeviceBinary binary = emitted(emitText(source, facts, info, options));
  EXPECT_NE(binary.ptx.find("ld.global"), std::string::npos);
  return llvm::StringRef(binary.ptx).count("bra");
}

/// Where the row is masked off there is a way around the loads.
TEST(EmitNVIDIA, LoopsThatAreMaskedOffAreLeftOut) {
  EXPECT_GT(branchesOfLoops("and i1 %row, %column"), branchesOfLoops("and i1 %column, %column"));
}

TEST(EmitNVIDIA, LaunchBoundsReachThePtx) {
  TargetInfo info = target("cuda:sm_90a");
  KernelFacts facts = everyScalarFacts(info);
  facts.maxRegisters = 64;
  facts.minOccupancy = 2;
  facts.launch.clusterDims = {2, 1, 1};
  EmitOptions options;
  options.capturePTX = true;
  std::string ptx = emitted(emitText(everyScalarKernel(), facts, info, options)).ptx;
  for (const char *directive :
       {".maxnreg 64", ".minnctapersm 2", ".reqntid 128", ".reqnctapercluster 2"})
    EXPECT_NE(ptx.find(directive), std::string::npos) << directive;
}

TEST(EmitNVIDIA, DynamicSharedMemoryIsNotTheBinarys) {
  const char *text = R"(
@shared = external addrspace(3) global [0 x i8], align 16
define void @k(ptr addrspace(1) %p, i32 %i) {
  %slot = getelementptr i8, ptr addrspace(3) @shared, i32 %i
  %v = load volatile i8, ptr addrspace(3) %slot
  store i8 %v, ptr addrspace(1) %p
  ret void
})";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 128;
  facts.launch.dynamicSharedBytes = 200 * 1024;
  for (const char *name : {"cuda:sm_80", "cuda:sm_90a", "cuda:sm_120a"}) {
    DeviceBinary binary = emitted(emitText(text, facts, target(name)));
    EXPECT_EQ(binary.resources.staticSharedBytes, 0u) << name;
    EXPECT_EQ(binary.launch.dynamicSharedBytes, 200u * 1024) << name;
  }
}

TEST(EmitNVIDIA, DeviceLibraryIsLinkedWhenCalled) {
  const char *text = R"(
declare float @__nv_expf(float)
define void @k(ptr addrspace(1) %p, float %x) {
  %y = call float @__nv_expf(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
})";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 32;
  EXPECT_EQ(errorOf(emitText(text, facts, target("cuda:sm_80"))),
            "call to '__nv_expf', which cuda:sm_80 does not have");
  // A stand-in: the toolkit's own library does not come with ptxas everywhere.
  std::string library = ::testing::TempDir() + "/device_library.ll";
  std::ofstream(library) << R"(
declare float @llvm.nvvm.ex2.approx.f(float)
define float @__nv_expf(float %x) {
  %scaled = fmul float %x, 0x3FF7154760000000
  %y = call float @llvm.nvvm.ex2.approx.f(float %scaled)
  ret float %y
}
define float @__nv_unused(float %x) {
  ret float %x
})";
  EmitOptions options;
  options.capturePTX = true;
  options.libdevicePath = library;
  DeviceBinary binary = emitted(emitText(text, facts, target("cuda:sm_80"), options));
  EXPECT_NE(binary.ptx.find("ex2.approx"), std::string::npos);
  EXPECT_EQ(binary.ptx.find("__nv_"), std::string::npos);
  options.libdevicePath = "/nowhere/libdevice.bc";
  std::string error = errorOf(emitText(text, facts, target("cuda:sm_80"), options));
  EXPECT_EQ(error.find("cannot read libdevice '/nowhere/libdevice.bc'"), 0u) << error;
}

TEST(EmitNVIDIA, MultiplyAddIsFused) {
  const char *text = R"(
define void @k(ptr addrspace(1) %p, float %x, float %y) {
  %m = fmul float %x, %y
  %s = fadd float %m, %x
  store float %s, ptr addrspace(1) %p
  ret void
})";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 32;
  EmitOptions options;
  options.capturePTX = true;
  std::string ptx = emitted(emitText(text, facts, target("cuda:sm_80"), options)).ptx;
  EXPECT_NE(ptx.find("fma.rn.f32"), std::string::npos) << ptx;
}

TEST(EmitNVIDIA, SpillsAreReported) {
  // Sixty-four loads alive at once, in forty registers.
  std::string text = "define void @k(ptr addrspace(1) %p) {\n";
  for (int i = 0; i != 64; ++i)
    text += llvm::formatv("  %p{0} = getelementptr float, ptr addrspace(1) %p, i32 {0}\n"
                          "  %v{0} = load volatile float, ptr addrspace(1) %p{0}\n",
                          i);
  for (int i = 0; i != 64; ++i)
    text += llvm::formatv("  store volatile float %v{0}, ptr addrspace(1) %p{0}\n", i);
  text += "  ret void\n}\n";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 32;
  facts.maxRegisters = 40;
  DeviceBinary binary = emitted(emitText(text, facts, target("cuda:sm_80")));
  EXPECT_GT(binary.resources.spillStoreBytes, 0u);
  EXPECT_GT(binary.resources.spillLoadBytes, 0u);
  EXPECT_GE(binary.resources.stackBytes, binary.resources.spillStoreBytes);
  EXPECT_LE(binary.resources.registers, 40u);
}

TEST(EmitNVIDIA, SerializedMatrixInstructionsAreReported) {
  // The accumulators are touched between two asynchronous products.
  const char *wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, $1, $1, 1, 1, "
                      "1, 0, 0;";
  std::string text = R"(
define void @k(ptr addrspace(1) %p, i64 %descriptor) {
  %x = call float asm sideeffect "
    .reg .f32 a,b,c,d;
    mov.f32 a, 0f00000000; mov.f32 b, a; mov.f32 c, a; mov.f32 d, a;
    wgmma.fence.sync.aligned;
    WGMMA
    add.f32 a, a, 0f3f800000;
    WGMMA
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.f32 $0, a, b;", "=f,l"(i64 %descriptor)
  store float %x, ptr addrspace(1) %p
  ret void
})";
  for (size_t at; (at = text.find("WGMMA")) != std::string::npos;)
    text.replace(at, 5, wgmma);
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 128;
  DeviceBinary binary = emitted(emitText(text, facts, target("cuda:sm_90a")));
  ASSERT_FALSE(binary.warnings.empty());
  EXPECT_NE(binary.warnings[0].find("(C75"), std::string::npos);
}

TEST(EmitNVIDIA, AnUnwritableTemporaryFolderIsAnError) {
  TargetInfo info = target("cuda:sm_80");
  EmitOptions options;
  options.temporaryRoot = "/nowhere";
  EXPECT_EQ(errorOf(emitText(everyScalarKernel(), everyScalarFacts(info), info, options)),
            "cannot make a temporary folder in '/nowhere': No such file or directory");
}

TEST(EmitNVIDIA, AnUnknownFunctionIsNamed) {
  const char *text = R"(
declare float @no_such_function(float)
define void @k(ptr addrspace(1) %p, float %x) {
  %y = call float @no_such_function(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
})";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 32;
  EXPECT_EQ(errorOf(emitText(text, facts, target("cuda:sm_80"))),
            "call to 'no_such_function', which cuda:sm_80 does not have");
}

TEST(EmitNVIDIA, WhatPtxasRejectsComesBack) {
  const char *text = R"(
define void @k() {
  call void asm sideeffect "no.such.opcode;", ""()
  ret void
})";
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 32;
  std::string error = errorOf(emitText(text, facts, target("cuda:sm_80")));
  EXPECT_EQ(error.find("ptxas failed for cuda:sm_80"), 0u) << error;
  EXPECT_NE(error.find("Not a name of any known instruction: 'no'"), std::string::npos) << error;
}

TEST(EmitNVIDIA, AMissingKernelIsNamed) {
  KernelFacts facts;
  facts.symbol = "other";
  EXPECT_EQ(errorOf(emitText(everyScalarKernel(), facts, target("cuda:sm_80"))),
            "the module does not define the kernel 'other'");
}

} // namespace
