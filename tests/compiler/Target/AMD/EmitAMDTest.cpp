//===- EmitAMDTest.cpp - HSACOs, made and read back ----------------------------===//

#include "compiler/Target/AMD/HsacoReader.h"
#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

HsacoInfo read(const DeviceBinary &binary) {
  auto info = readHsaco(llvm::StringRef(binary.bytes.data(), binary.bytes.size()));
  if (info)
    return *info;
  ADD_FAILURE() << llvm::toString(info.takeError());
  return {};
}

KernelFacts factsOfK(unsigned threads = 64) {
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = threads;
  return facts;
}

class Hsacos : public ::testing::TestWithParam<const char *> {};

TEST_P(Hsacos, EveryScalarParameterReadsBack) {
  TargetInfo info = target(GetParam());
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
  EXPECT_EQ(binary.format, BinaryFormat::HSACO);
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)), "");
  EXPECT_GT(binary.resources.registers, 0u);
  EXPECT_GT(binary.resources.scalarRegisters, 0u);
  EXPECT_EQ(binary.resources.staticSharedBytes, 64u);
  EXPECT_EQ(binary.resources.stackBytes, 0u);

  HsacoInfo object = read(binary);
  EXPECT_EQ(object.codeObjectVersion, 5u);
  ASSERT_EQ(object.kernels.size(), 1u);
  const HsacoKernel &kernel = object.kernels[0];
  EXPECT_EQ(kernel.wavefrontSize, info.warpSize);
  EXPECT_EQ(kernel.maxFlatWorkgroupSize, binary.launch.threadsPerBlock);
  EXPECT_EQ(kernel.requiredWorkgroupSize[0], binary.launch.threadsPerBlock);
  EXPECT_EQ(kernel.hiddenParameters, 0u);
  EXPECT_EQ(kernel.parameters[8].name, "h");
}

TEST_P(Hsacos, SameBytesInAnotherFolder) { expectSameBytesInAnotherFolder(target(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Targets, Hsacos,
                         ::testing::Values("hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100",
                                           "hip:gfx1101", "hip:gfx1102", "hip:gfx1103",
                                           "hip:gfx1150", "hip:gfx1151", "hip:gfx1152",
                                           "hip:gfx1153", "hip:gfx1200", "hip:gfx1201"));

TEST(EmitAMD, LargeBlocksAreNotCutTo256) {
  TargetInfo info = target("hip:gfx942");
  KernelFacts facts = everyScalarFacts(info);
  facts.launch.threadsPerBlock = 1024;
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), facts, info));
  EXPECT_EQ(read(binary).kernels[0].maxFlatWorkgroupSize, 1024u);
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)), "");
}

TEST(EmitAMD, WrongArchitectureIsRefused) {
  TargetInfo info = target("hip:gfx942");
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), target("hip:gfx950"))),
            "expected architecture tag 79 for hip:gfx950, got 76");
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), target("cuda:sm_80"))),
            "expected ELF machine 190 for cuda:sm_80, got 224");
  auto parameters = everyScalar();
  parameters[3].size = 4;
  EXPECT_EQ(textOf(verifyAbi(binary, parameters, info)),
            "parameter 3 'c': expected 4 bytes at offset 12, got 2 bytes at offset 10");
}

/// The first 14 words of arguments, and none of those that end behind them.
TEST(EmitAMD, ArgumentsBeginInRegisters) {
  auto words = [](const std::string &parameters, const char *name) {
    std::string text = "define void @k(ptr addrspace(1) %p" + parameters + R"() {
  store i32 %n, ptr addrspace(1) %p
  ret void
})";
    std::string assembly = assemblyOf(text, name);
    llvm::StringRef rest = llvm::StringRef(assembly).split("kernarg_preload_length ").second;
    return rest.split('\n').first.str();
  };
  EXPECT_EQ(words(", i8 %a, i32 %n", "hip:gfx90a"), "4");
  EXPECT_EQ(words(", i8 %a, i32 %n", "hip:gfx942"), "4");
  EXPECT_EQ(words(", [11 x i32] %a, i32 %n, i32 %b", "hip:gfx950"), "14");
  EXPECT_EQ(words(", i8 %a, i32 %n", "hip:gfx1100"), "");
}

TEST(EmitAMD, AssemblyOnRequest) {
  TargetInfo info = target("hip:gfx1100");
  EmitOptions options;
  options.captureAssembly = options.captureLLVM = true;
  DeviceBinary binary =
      emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info, options));
  EXPECT_NE(binary.assembly.find("global_store"), std::string::npos);
  EXPECT_NE(binary.llvmIR.find("define"), std::string::npos);
}

/// Two products a round, of what is read from shared memory, beside a load and a store of WRITTEN;
/// CARRIED is for what it carries beside its sum, and BETWEEN stands between the products' results
/// and the second one's operands.
const char *const productLoop = R"(
@shared = internal addrspace(3) global [8192 x i8] poison, align 16
declare <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half>, <4 x half>, <16 x float>, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()
define void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %n) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %read = getelementptr <4 x half>, ptr addrspace(3) @shared, i32 %thread
  %written = getelementptr i8, ptr addrspace(3) %read, i32 4096
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
  CARRIED
  %at = getelementptr <4 x half>, ptr addrspace(3) %read, i32 %i
  %a = load <4 x half>, ptr addrspace(3) %at
  %from = getelementptr <4 x half>, ptr addrspace(1) %in, i32 %i
  %x = load <4 x half>, ptr addrspace(1) %from
  %to = getelementptr <4 x half>, ptr addrspace(3) %written, i32 %i
  WRITTEN, ptr addrspace(3) %to
  %c = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %a, <4 x half> %a, <16 x float> %sum, i32 0, i32 0, i32 0)
  BETWEEN
  %d = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %b, <4 x half> %a, <16 x float> %c, i32 0, i32 0, i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  store <16 x float> %d, ptr addrspace(1) %out
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
)";

/// The LLVM IR of a loop, as the back end gets it.
std::string optimised(const std::string &text) {
  KernelFacts facts = factsOfK(256);
  EmitOptions options;
  options.captureLLVM = true;
  return emitted(emitText(text.c_str(), facts, target("hip:gfx942"), options)).llvmIR;
}

std::string replaced(std::string text, llvm::StringRef what, llvm::StringRef by) {
  return text.replace(text.find(what), what.size(), by.str());
}

std::string scheduled(llvm::StringRef between, llvm::StringRef written = "store <4 x half> %x") {
  std::string text = replaced(productLoop, "BETWEEN", between);
  return optimised(replaced(replaced(text, "WRITTEN", written), "CARRIED", ""));
}

/// The classes that a recipe names, in order.
std::vector<std::string> recipeIn(llvm::StringRef code) {
  std::vector<std::string> classes;
  const std::string call = "call void @llvm.amdgcn.sched.group.barrier(i32 ";
  for (size_t at = code.find(call); at != llvm::StringRef::npos; at = code.find(call, at + 1))
    classes.push_back(code.slice(at + call.size(), code.find(',', at)).str());
  return classes;
}

std::vector<std::string> recipeOf(llvm::StringRef between) { return recipeIn(scheduled(between)); }

TEST(EmitAMD, AccessesOfALoopStandAmongItsProducts) {
  // What the first product reads; a product; a load from global memory; the other product, and a
  // store to shared memory.
  EXPECT_EQ(recipeOf("%b = fadd <4 x half> %a, %a"),
            (std::vector<std::string>{"256", "8", "32", "8", "512"}));
  // Work on a product that another one waits for: LLVM's own order.
  EXPECT_EQ(
      recipeOf("%w = shufflevector <16 x float> %c, <16 x float> %c, <4 x i32> <i32 0, i32 1, "
               "i32 2, i32 3>\n  %b = fptrunc <4 x float> %w to <4 x half>"),
      std::vector<std::string>());
}

TEST(EmitAMD, WorkOnWhatIsWrittenStandsBehindHalfOfTheProducts) {
  // LLVM would do it first, and wait for memory there.
  std::string text = scheduled("%b = fadd <4 x half> %a, %a",
                               "%y = fadd <4 x half> %x, %x\n  store <4 x half> %y");
  llvm::StringRef code = text;
  auto [before, behind] = code.split("call void @llvm.amdgcn.sched.barrier(i32 0)");
  ASSERT_FALSE(behind.empty());
  EXPECT_EQ(recipeIn(before), (std::vector<std::string>{"256", "8", "32"}));
  EXPECT_EQ(recipeIn(behind), (std::vector<std::string>{"8", "512"}));
  EXPECT_NE(before.find("%c = "), llvm::StringRef::npos);
  EXPECT_NE(behind.find("%y = fadd"), llvm::StringRef::npos);
  EXPECT_NE(behind.find("%d = "), llvm::StringRef::npos);
}

/// Other threads write it in front of the barrier.
TEST(EmitAMD, WhatIsReadBehindABarrierStaysThere) {
  std::string code = replaced(productLoop, "<4 x half> %a, <4 x half> %a, <16 x float> %sum",
                              "<4 x half> %a, <4 x half> %late, <16 x float> %sum");
  code = replaced(code, "WRITTEN", R"(%y = fadd <4 x half> %x, %x
  store <4 x half> %y, ptr addrspace(3) %to
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %late = load <4 x half>)");
  code = replaced(replaced(code, "BETWEEN", "%b = fadd <4 x half> %a, %a"), "CARRIED", "");
  code = optimised(code);
  size_t barrier = code.find("call void @llvm.amdgcn.s.barrier()");
  ASSERT_NE(barrier, std::string::npos);
  EXPECT_GT(code.find("%late = load"), barrier);
}

/// Where "%y = fadd", work on what is carried, stands: behind a barrier for the scheduler?
bool isBehindBarrier(const std::string &code) {
  size_t barrier = code.find("call void @llvm.amdgcn.sched.barrier(i32 0)");
  return barrier != std::string::npos && code.find("%y = fadd") > barrier;
}

TEST(EmitAMD, WorkOnWhatIsCarriedStandsBehindAnOnlyProduct) {
  std::string text = replaced(productLoop, "CARRIED",
                              "%held = phi <4 x half> [ zeroinitializer, %entry ], [ %y, %loop ]");
  text = replaced(text, "WRITTEN", "%y = fadd <4 x half> %x, %x\n  store <4 x half> %a");
  std::string two = replaced(text, "BETWEEN", "%b = fadd <4 x half> %held, %a");
  std::string one = replaced(text, "BETWEEN", "%b = fadd <16 x float> %c, %sum");
  one = replaced(one, "<4 x half> %a, <4 x half> %a, <16 x float> %sum",
                 "<4 x half> %held, <4 x half> %a, <16 x float> %sum");
  size_t second = one.find("%d = call");
  one.replace(second, one.find('\n', second) - second, "%d = fadd <16 x float> %b, %b");
  EXPECT_TRUE(isBehindBarrier(optimised(one)));
  EXPECT_FALSE(isBehindBarrier(optimised(two)));
}

TEST(EmitAMD, OfTwoStoresTheOneThatWaitsLongerComesFirst) {
  std::string code = scheduled("%b = fadd <4 x half> %a, %a",
                               R"(%behind = getelementptr i8, ptr addrspace(1) %from, i64 4096
  %y = load <4 x half>, ptr addrspace(1) %behind
  %apart = getelementptr i8, ptr addrspace(3) %to, i32 2048
  store <4 x half> %x, ptr addrspace(3) %apart
  store <4 x half> %y)");
  size_t ofFirst = code.find("store <4 x half> %x"), ofLast = code.find("store <4 x half> %y");
  ASSERT_NE(ofFirst, std::string::npos);
  ASSERT_NE(ofLast, std::string::npos);
  EXPECT_LT(ofLast, ofFirst);
}

TEST(EmitAMD, WhatLateProductsNeedFirstIsReadLast) {
  std::string code = scheduled(R"(%b = fadd <4 x half> %a, %a
  %place1 = getelementptr i8, ptr addrspace(3) %at, i32 1024
  %a1 = load <4 x half>, ptr addrspace(3) %place1
  %place2 = getelementptr i8, ptr addrspace(3) %at, i32 2048
  %a2 = load <4 x half>, ptr addrspace(3) %place2
  %e = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %b, <4 x half> %a, <16 x float> %c, i32 0, i32 0, i32 0)
  %f = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %a1, <4 x half> %a, <16 x float> %e, i32 0, i32 0, i32 0)
  %g = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %a2, <4 x half> %a, <16 x float> %f, i32 0, i32 0, i32 0)
  store <16 x float> %g, ptr addrspace(1) %out)");
  size_t neededFirst = code.find("%a1 = load"), neededLast = code.find("%a2 = load");
  ASSERT_NE(neededFirst, std::string::npos);
  ASSERT_NE(neededLast, std::string::npos);
  EXPECT_LT(neededLast, neededFirst);
}

TEST(EmitAMD, StoresBehindTheLastReadStandAmongTheLastProducts) {
  // Behind work on a product a barrier, something for the next iteration, and two products.
  const char *between =
      R"(%w = shufflevector <16 x float> %c, <16 x float> %c, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %b = fptrunc <4 x float> %w to <4 x half>
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  store <4 x half> %x, ptr addrspace(3) %read
  %e = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %b, <4 x half> %b, <16 x float> %sum, i32 0, i32 0, i32 0)
  store <16 x float> %e, ptr addrspace(1) %out)";
  EXPECT_EQ(recipeOf(between), (std::vector<std::string>{"8", "8", "512"}));
  std::string code = scheduled(between);
  size_t apart = code.find("call void @llvm.amdgcn.sched.barrier(i32 0)"),
         barrier = code.find("call void @llvm.amdgcn.s.barrier()");
  EXPECT_LT(apart, barrier);
  EXPECT_NE(code.substr(apart, barrier - apart).find("release"), std::string::npos);
}

TEST(EmitAMD, NeighboursAreComputedOnTogether) {
  const char *text = R"(
declare float @llvm.exp2.f32(float)
define void @k(ptr addrspace(1) %p, float %s, float %m) {
  %v = load <2 x float>, ptr addrspace(1) %p
  %a = extractelement <2 x float> %v, i32 0
  %b = extractelement <2 x float> %v, i32 1
  %a1 = fmul float %a, %s
  %b1 = fmul float %b, %s
  %a2 = fsub float %a1, %m
  %b2 = fsub float %b1, %m
  %a3 = call float @llvm.exp2.f32(float %a2)
  %b3 = call float @llvm.exp2.f32(float %b2)
  %x = fptrunc float %a3 to half
  %y = fptrunc float %b3 to half
  store volatile half %x, ptr addrspace(1) %p
  store volatile half %y, ptr addrspace(1) %p
  ret void
}
)";
  auto countOf = [&](const char *name) {
    return llvm::StringRef(assemblyOf(text, name)).count("v_pk_fma_f32");
  };
  EXPECT_EQ(countOf("hip:gfx942"), 1u);
  EXPECT_EQ(countOf("hip:gfx90a"), 1u);
  // No such instruction.
  EXPECT_EQ(countOf("hip:gfx1100"), 0u);
}

TEST(EmitAMD, ExponentialsAreOneInstruction) {
  std::string code = assemblyOf(R"(
declare float @llvm.exp2.f32(float)
define void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %y = call float @llvm.exp2.f32(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
}
)",
                                "hip:gfx942");
  EXPECT_NE(code.find("v_exp_f32"), std::string::npos);
  EXPECT_EQ(code.find("v_ldexp_f32"), std::string::npos);
}

TEST(EmitAMD, BadInlineAssemblyIsAnError) {
  const char *text = R"(
define void @k() {
  call void asm sideeffect "no_such_opcode v0", ""()
  ret void
})";
  std::string error = errorOf(emitText(text, factsOfK(), target("hip:gfx942")));
  EXPECT_NE(error.find("invalid instruction"), std::string::npos) << error;
}

TEST(EmitAMD, CopiesToSharedMemoryWarnOfNothing) {
  const char *text = R"(
define void @k() {
  call void asm sideeffect "s_mov_b32 m0, 0", "~{m0},~{memory}"()
  ret void
})";
  DeviceBinary binary = emitted(emitText(text, factsOfK(), target("hip:gfx950")));
  EXPECT_EQ(binary.warnings, std::vector<std::string>());
}

TEST(EmitAMD, TooMuchSharedMemoryIsAnError) {
  const char *text = R"(
@lds = internal addrspace(3) global [100000 x i8] poison, align 16
define void @k(i32 %i) {
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %i
  store volatile i8 1, ptr addrspace(3) %p
  ret void
})";
  std::string error = errorOf(emitText(text, factsOfK(), target("hip:gfx942")));
  EXPECT_NE(error.find("local memory"), std::string::npos) << error;
}

/// A kernel of `count` stores and a return.
llvm::Expected<DeviceBinary> emitStores(unsigned count) {
  std::string text = "define void @k(ptr addrspace(1) %p) {\n";
  for (unsigned i = 0; i != count; ++i)
    text += "  store volatile i32 1, ptr addrspace(1) %p\n";
  KernelFacts facts = factsOfK();
  facts.parameterNames = {"p"};
  facts.spareRegisters = -1;
  return emitText(text + "  ret void\n}", facts, target("hip:gfx942"));
}

/// A kernel that computes `rounds` times on each of `values` numbers, with another of them.
llvm::Expected<DeviceBinary> emitRounds(unsigned values, unsigned rounds, int spareRegisters) {
  std::string text, stores;
  llvm::raw_string_ostream os(text), last(stores);
  os << "declare float @llvm.fma.f32(float, float, float)\n"
        "define void @k(ptr addrspace(1) %p, float %f) {\n";
  auto name = [](unsigned round, unsigned value) {
    return "%x" + std::to_string(round) + "_" + std::to_string(value);
  };
  for (unsigned i = 0; i != values; ++i) {
    os << "  " << name(0, i) << " = load volatile float, ptr addrspace(1) %p\n";
    last << "  store volatile float " << name(rounds, i) << ", ptr addrspace(1) %p\n";
  }
  for (unsigned round = 0; round != rounds; ++round)
    for (unsigned i = 0; i != values; ++i)
      os << "  " << name(round + 1, i) << " = call float @llvm.fma.f32(float " << name(round, i)
         << ", float %f, float " << name(round, (7 * i + round + 1) % values) << ")\n";
  KernelFacts facts = factsOfK();
  facts.parameterNames = {"p", "f"};
  facts.spareRegisters = spareRegisters;
  return emitText(text + stores + "  ret void\n}", facts, target("hip:gfx1100"));
}

TEST(EmitAMD, HugeThreadsThatReadBackMuchAreNotOptimisedAndSaySo) {
  DeviceBinary huge = emitted(emitRounds(512, 16, /*spareRegisters=*/-280));
  ASSERT_EQ(huge.warnings.size(), 1u);
  EXPECT_NE(huge.warnings[0].find("each thread has 9217 instructions"), std::string::npos);
  EXPECT_EQ(textOf(verifyAbi(huge, {{"p", 8}, {"f", 4}}, target("hip:gfx1100"))), "");
}

/// Nor do those whose registers were estimated too low.
TEST(EmitAMD, HugeThreadsThatReadBackMostOfTheirLengthAreNotOptimised) {
  EXPECT_EQ(emitted(emitRounds(512, 16, /*spareRegisters=*/100)).warnings.size(), 1u);
}

TEST(EmitAMD, HugeThreadsThatReadBackLittleAreOptimised) {
  EXPECT_TRUE(emitted(emitStores(8192)).warnings.empty());
  EXPECT_TRUE(emitted(emitRounds(64, 140, /*spareRegisters=*/-1)).warnings.empty());
}

TEST(EmitAMD, ThreadsOfTooManyInstructionsAreAnError) {
  EXPECT_EQ(errorOf(emitStores(50000)), "each thread has 50001 instructions, the limit is 50000; "
                                        "use more warps or smaller tiles");
}

TEST(HsacoReader, SurvivesDamage) {
  TargetInfo info = target("hip:gfx942");
  DeviceBinary binary = emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
  unsigned accepted = 0;
  damage(binary.bytes, 20000, [&](llvm::StringRef bytes) {
    auto info = readHsaco(bytes);
    if (info)
      ++accepted;
    else
      llvm::consumeError(info.takeError());
  });
  EXPECT_GT(accepted, 100u);
}

} // namespace
