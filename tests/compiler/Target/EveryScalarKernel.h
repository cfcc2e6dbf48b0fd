//===- EveryScalarKernel.h - A GPU kernel with a parameter of every type -------===//

#ifndef KILN_TESTS_COMPILER_TARGET_EVERYSCALARKERNEL_H
#define KILN_TESTS_COMPILER_TARGET_EVERYSCALARKERNEL_H

#include "compiler/Target/Emission/Emit.h"
#include "compiler/Target/Emission/VerifyAbi.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

namespace kiln::testing {

/// Parses IR; a mistake in it fails the test.
inline std::unique_ptr<llvm::Module> parseIR(llvm::StringRef text, llvm::LLVMContext &context) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "test"), problem, context);
  if (!module)
    ADD_FAILURE() << problem.getLineNo() << ": " << problem.getMessage().str();
  return module;
}

inline TargetInfo target(llvm::StringRef name) { return llvm::cantFail(parseTarget(name)); }

/// Stores something that depends on each parameter, so that none is dropped; 64 bytes of static
/// shared memory.
inline std::string everyScalarKernel() {
  return R"(
@static = internal addrspace(3) global [64 x i8] poison, align 16
define void @every(ptr addrspace(1) %p, i1 %a, i8 %b, i16 %c, i32 %d, i64 %e, half %f,
                   bfloat %g, float %h, double %i, i8 %j, ptr addrspace(1) %q) {
  %slot = getelementptr i8, ptr addrspace(3) @static, i32 %d
  %a8 = zext i1 %a to i8
  store volatile i8 %a8, ptr addrspace(3) %slot
  %e.f = sitofp i64 %e to double
  %sum = fadd double %e.f, %i
  %s0 = fptrunc double %sum to float
  %s1 = fadd float %s0, %h
  %f.f = fpext half %f to float
  %s2 = fadd float %s1, %f.f
  %g.f = fpext bfloat %g to float
  %s3 = fadd float %s2, %g.f
  %c.f = sitofp i16 %c to float
  %s4 = fadd float %s3, %c.f
  %b.f = sitofp i8 %b to float
  %s5 = fadd float %s4, %b.f
  %j.f = sitofp i8 %j to float
  %s6 = fadd float %s5, %j.f
  %d.f = sitofp i32 %d to float
  %s7 = fadd float %s6, %d.f
  store float %s7, ptr addrspace(1) %p
  store float %s7, ptr addrspace(1) %q
  ret void
}
)";
}

inline std::vector<ExpectedParameter> everyScalar() {
  return {{"p", 8}, {"a", 1}, {"b", 1}, {"c", 2}, {"d", 4}, {"e", 8},
          {"f", 2}, {"g", 2}, {"h", 4}, {"i", 8}, {"j", 1}, {"q", 8}};
}

inline KernelFacts everyScalarFacts(const TargetInfo &target) {
  KernelFacts facts;
  facts.symbol = "every";
  facts.launch.threadsPerBlock = target.threadsPerBlock(4);
  for (const ExpectedParameter &parameter : everyScalar())
    facts.parameterNames.push_back(parameter.name);
  return facts;
}

/// Parses and emits; the error's text in place of a binary when that fails.
inline llvm::Expected<DeviceBinary> emitText(llvm::StringRef text, const KernelFacts &facts,
                                             const TargetInfo &target,
                                             const EmitOptions &options = {}) {
  llvm::LLVMContext context;
  auto module = parseIR(text, context);
  if (!module)
    return llvm::createStringError("the test's own IR does not parse");
  return emitDeviceBinary(std::move(module), facts, target, options);
}

/// The binary, or a test failure and an empty one.
inline DeviceBinary emitted(llvm::Expected<DeviceBinary> binary) {
  if (binary)
    return std::move(*binary);
  ADD_FAILURE() << llvm::toString(binary.takeError());
  return {};
}

/// The assembly of the kernel `k` on 256 threads.
inline std::string assemblyOf(llvm::StringRef text, llvm::StringRef targetName) {
  EmitOptions options;
  options.captureAssembly = true;
  KernelFacts facts;
  facts.symbol = "k";
  facts.launch.threadsPerBlock = 256;
  return emitted(emitText(text, facts, target(targetName), options)).assembly;
}

/// The bytes do not depend on where the tools work, and nothing of theirs stays behind.
inline void expectSameBytesInAnotherFolder(const TargetInfo &info) {
  std::vector<std::vector<char>> bytes;
  for (const char *name : {"/one", "/another-longer-name"}) {
    EmitOptions options;
    options.temporaryRoot = ::testing::TempDir() + name;
    ASSERT_FALSE(llvm::sys::fs::create_directories(options.temporaryRoot));
    bytes.push_back(
        emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info, options)).bytes);
    std::error_code error;
    EXPECT_EQ(llvm::sys::fs::directory_iterator(options.temporaryRoot, error),
              llvm::sys::fs::directory_iterator());
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_FALSE(bytes[0].empty());
}

inline std::string errorOf(llvm::Expected<DeviceBinary> binary) {
  return binary ? "no error" : llvm::toString(binary.takeError());
}

inline std::string textOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "";
}

/// Calls `read` with every truncation of `bytes`, and with `flips` deterministic single-bit
/// changes. Whatever it answers, it must answer.
template <typename Read> void damage(const std::vector<char> &bytes, unsigned flips, Read &&read) {
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 64)
    read(llvm::StringRef(bytes.data(), size));
  std::vector<char> copy = bytes;
  uint64_t state = 88172645463325252u;
  for (unsigned i = 0; i != flips; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    // Twice as often in the headers, where damage does most.
    size_t range = i % 2 ? copy.size() : std::min<size_t>(copy.size(), 4096);
    size_t at = state % range;
    copy[at] ^= static_cast<char>(1 << (state >> 60 & 7));
    read(llvm::StringRef(copy.data(), copy.size()));
    if (i % 8 != 7) // sometimes let the damage add up
      copy[at] = bytes[at];
    if (i % 64 == 63)
      copy = bytes;
  }
}

} // namespace kiln::testing

#endif // KILN_TESTS_COMPILER_TARGET_EVERYSCALARKERNEL_H
