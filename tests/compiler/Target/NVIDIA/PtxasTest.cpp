//===- PtxasTest.cpp - Finding ptxas and reading its report --------------------===//

#include "compiler/Target/NVIDIA/Ptxas.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace kiln;

namespace {

TEST(Ptxas, ReadsTheResourceReport) {
  PtxasReport report = parsePtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    48 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem, 408 bytes cmem[0]\n"
      "ptxas warning : something odd\n");
  EXPECT_EQ(report.resources.registers, 168u);
  EXPECT_EQ(report.resources.stackBytes, 48u);
  EXPECT_EQ(report.resources.spillStoreBytes, 16u);
  EXPECT_EQ(report.resources.spillLoadBytes, 24u);
  EXPECT_EQ(report.resources.staticSharedBytes, 1024u);
  EXPECT_EQ(report.warnings, std::vector<std::string>{"ptxas warning : something odd"});
  EXPECT_TRUE(report.serialized.empty());
}

TEST(Ptxas, SerializedMatrixInstructionsAreSeen) {
  PtxasReport report = parsePtxasReport(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to non wgmma instructions defining accumulator registers\n");
  ASSERT_EQ(report.serialized.size(), 1u);
}

TEST(Ptxas, DamagedReportsAreNoNumbers) {
  PtxasReport report =
      parsePtxasReport("Used  registers\n bytes spill stores\nUsed 99999999999 registers\n");
  EXPECT_EQ(report.resources.registers, 0u);
  EXPECT_EQ(report.resources.spillStoreBytes, 0u);
}

TEST(Ptxas, AssemblesAgainWhereItGaveUp) {
  auto report = [](unsigned registers, unsigned stack, unsigned spills) {
    PtxasReport report;
    report.resources.registers = registers;
    report.resources.stackBytes = stack;
    report.resources.spillStoreBytes = spills;
    return report;
  };
  EXPECT_TRUE(gaveUp(report(32, 3072, 0)));
  EXPECT_FALSE(gaveUp(report(32, 0, 0)));
  EXPECT_FALSE(gaveUp(report(255, 3072, 4000)));
  auto less = [&](const PtxasReport &a, const PtxasReport &b) {
    return usesLessLocalMemory(a.resources, b.resources);
  };
  EXPECT_TRUE(less(report(255, 800, 700), report(32, 3072, 4000)));
  EXPECT_TRUE(less(report(255, 800, 0), report(32, 3072, 0)));
  EXPECT_FALSE(less(report(255, 3072, 0), report(32, 3072, 0)));
  EXPECT_FALSE(less(report(255, 100, 5000), report(32, 3072, 4000)));
}

TEST(Ptxas, AMissingOneSaysWhatToDo) {
  EXPECT_EQ(llvm::toString(findPtxas("/nowhere/ptxas").takeError()),
            "ptxas: '/nowhere/ptxas' is not an executable file");
  ASSERT_TRUE(bool(findPtxas("")));
  for (const char *variable : {"PATH", "CUDA_HOME", "CUDA_PATH"})
    unsetenv(variable);
  EXPECT_EQ(llvm::toString(findPtxas("", "/nowhere").takeError()),
            "ptxas not found (searched PATH, CUDA_HOME, CUDA_PATH and /nowhere): it comes with the "
            "CUDA toolkit's package cuda-nvcc; name it with --ptxas=FILE, or write PTX instead of "
            "cubins with --cuda-emit=ptx");
}

} // namespace
