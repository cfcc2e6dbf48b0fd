//===- EmitCPUTest.cpp - Host objects, made, loaded and run --------------------===//

#include "compiler/Target/CPU/EmitCPU.h"
#include "compiler/Target/CPU/HostObjectReader.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include <cmath>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// y[i] = exp(a * x[i]) + y[i], for the n elements of this program.
const char *axpy = R"(
declare float @llvm.exp.f32(float)
define void @axpy(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %p1 = getelementptr ptr, ptr %params, i64 1
  %p2 = getelementptr ptr, ptr %params, i64 2
  %p3 = getelementptr ptr, ptr %params, i64 3
  %xp = load ptr, ptr %params
  %x = load ptr, ptr %xp
  %yp = load ptr, ptr %p1
  %y = load ptr, ptr %yp
  %ap = load ptr, ptr %p2
  %a = load float, ptr %ap
  %np = load ptr, ptr %p3
  %n = load i32, ptr %np
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %xi = getelementptr float, ptr %x, i32 %i
  %yi = getelementptr float, ptr %y, i32 %i
  %v = load float, ptr %xi
  %w = load float, ptr %yi
  %av = fmul float %a, %v
  %e = call float @llvm.exp.f32(float %av)
  %r = fadd float %e, %w
  store float %r, ptr %yi
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
)";

KernelFacts factsOf(const char *symbol) {
  KernelFacts facts;
  facts.symbol = symbol;
  return facts;
}

class HostObjects : public ::testing::TestWithParam<const char *> {};

TEST_P(HostObjects, NeedOnlyTheCLibrary) {
  TargetInfo info = target(GetParam());
  DeviceBinary binary = emitted(emitText(axpy, factsOf("axpy"), info));
  EXPECT_EQ(binary.format, BinaryFormat::HostObject);
  EXPECT_EQ(textOf(verifyAbi(binary, {}, info)), "");
  auto object = readHostObject(llvm::StringRef(binary.bytes.data(), binary.bytes.size()));
  ASSERT_TRUE(bool(object));
  EXPECT_EQ(object->defined, std::vector<std::string>{"axpy"});
  EXPECT_EQ(object->undefined, std::vector<std::string>{"expf"});
  EXPECT_EQ(binary.bytes, emitted(emitText(axpy, factsOf("axpy"), info)).bytes);
}

INSTANTIATE_TEST_SUITE_P(Targets, HostObjects,
                         ::testing::Values("cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v4",
                                           "cpu:aarch64", "cpu"));

TEST(EmitCPU, TheObjectRuns) {
  DeviceBinary binary = emitted(emitText(axpy, factsOf("axpy"), target("cpu")));
  LoadedObject object(binary);
  float x[5] = {0, 1, -1, 2, 0.5f}, y[5] = {1, 2, 3, 4, 5}, a = 2;
  float *xp = x, *yp = y;
  int32_t n = 4;
  object.run({&xp, &yp, &a, &n});
  EXPECT_FLOAT_EQ(y[0], 2);
  EXPECT_FLOAT_EQ(y[3], 4 + std::exp(4.0f));
  EXPECT_FLOAT_EQ(y[4], 5);
}

TEST(EmitCPU, VectorsAreAsWideAsTheTarget) {
  const char *text = R"(
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %v = load <16 x float>, ptr %arena
  %w = fadd <16 x float> %v, %v
  store <16 x float> %w, ptr %arena
  ret void
})";
  EmitOptions options;
  options.captureAssembly = true;
  auto assembly = [&](const char *name) {
    return emitted(emitText(text, factsOf("k"), target(name), options)).assembly;
  };
  EXPECT_NE(assembly("cpu:x86-64-v4").find("%zmm"), std::string::npos);
  EXPECT_NE(assembly("cpu:x86-64-v3").find("%ymm"), std::string::npos);
  EXPECT_EQ(assembly("cpu:x86-64-v2").find("%ymm"), std::string::npos);
  EXPECT_NE(assembly("cpu:aarch64").find("fadd\tv0.4s"), std::string::npos);
}

/// Stores of the lanes that are set, and of nothing else, also where LLVM would make the truncated
/// lane of a masked store a wide one (vector units with AVX-512).
TEST(EmitCPU, ConstantMasksStoreTheirLanesOnly) {
  const char *text = R"(
declare void @llvm.masked.store.v32i8.p0(<32 x i8>, ptr, <32 x i1>)
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %x = load ptr, ptr %params
  %p1 = getelementptr ptr, ptr %params, i64 1
  %y = load ptr, ptr %p1
  %v = load <32 x i32>, ptr %x, align 4
  %t = trunc <32 x i32> %v to <32 x i8>
  call void @llvm.masked.store.v32i8.p0(<32 x i8> %t, ptr align 1 %y, <32 x i1> <MASK>)
  ret void
})";
  std::vector<std::string> targets = {"cpu:x86-64-v3"};
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    targets.push_back("cpu:x86-64-v4");
  for (const std::string &name : targets)
    for (uint32_t mask : {1u, 0x80000000u, 0x10000u, 0x1ffffu, 0x3ffu, 0x50770f01u, 0u, ~0u}) {
      std::string lanes;
      for (unsigned i = 0; i != 32; ++i)
        lanes += std::string(i ? ", " : "") + (mask >> i & 1 ? "i1 true" : "i1 false");
      std::string source = text;
      source.replace(source.find("MASK"), 4, lanes);
      LoadedObject object(emitted(emitText(source, factsOf("k"), target(name))));
      int32_t x[32];
      for (int i = 0; i != 32; ++i)
        x[i] = 100 + i;
      std::vector<uint8_t> y(40, 7), expected = y;
      for (int i = 0; i != 32; ++i)
        if (mask >> i & 1)
          expected[i] = uint8_t(100 + i);
      object.run({x, y.data()});
      EXPECT_EQ(y, expected) << name << ", mask " << mask;
    }
}

TEST(EmitCPU, AnotherFunctionIsNamedWithItsPlace) {
  const char *text = R"(
declare float @printf(float)
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) !dbg !4 {
  %x = call float @printf(float 1.0), !dbg !5
  store float %x, ptr %arena
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernel.py", directory: "/home/me/project")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: null)
!4 = distinct !DISubprogram(name: "k", file: !1, line: 3, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 7, column: 9, scope: !4)
)";
  EmitOptions options;
  options.pathMap = {{"/home/me/project", "src"}};
  EXPECT_EQ(errorOf(emitText(text, factsOf("k"), target("cpu:x86-64-v3"), options)),
            "src/kernel.py:7:9: call to 'printf', which cpu:x86-64-v3 does not have");
}

TEST(EmitCPU, CompilerSupportCallsAreErrors) {
  const char *text = R"(
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %x = load i128, ptr %params
  %y = load i128, ptr %arena
  %z = sdiv i128 %x, %y
  store i128 %z, ptr %arena
  ret void
})";
  EXPECT_EQ(errorOf(emitText(text, factsOf("k"), target("cpu:aarch64"))),
            "the code for cpu:aarch64 needs the function '__divti3', which the C library and libm "
            "do not promise");
}

TEST(HostObjectReader, SurvivesDamage) {
  DeviceBinary binary = emitted(emitText(axpy, factsOf("axpy"), target("cpu:x86-64-v3")));
  damage(binary.bytes, 20000,
         [](llvm::StringRef bytes) { llvm::consumeError(readHostObject(bytes).takeError()); });
}

TEST(EmitCPU, LibraryFunctions) {
  for (const char *name : {"expf", "exp", "memcpy", "powf", "tanhf", "fmaf", "erf", "roundevenf"})
    EXPECT_TRUE(isHostLibraryFunction(name)) << name;
  for (const char *name : {"f", "", "malloc", "memcpyf", "__truncsfbf2", "expff", "exit"})
    EXPECT_FALSE(isHostLibraryFunction(name)) << name;
}

} // namespace
