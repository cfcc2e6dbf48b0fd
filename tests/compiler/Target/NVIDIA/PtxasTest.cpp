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
