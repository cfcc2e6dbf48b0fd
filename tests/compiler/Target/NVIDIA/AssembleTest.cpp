//===- AssembleTest.cpp - Which of two codes for a kernel is better -------------===//

#include "compiler/Target/NVIDIA/Assemble.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

AssembledText text(uint32_t registers, uint32_t spilled = 0, uint32_t sharedBytes = 64) {
  AssembledText text;
  text.result.report.resources.staticSharedBytes = sharedBytes;
  text.result.report.resources.registers = registers;
  text.result.report.resources.spillStoreBytes = spilled;
  return text;
}

class Assemble : public ::testing::Test {
protected:
  static LaunchFacts threads(uint32_t perBlock) {
    LaunchFacts launch;
    launch.threadsPerBlock = perBlock;
    launch.warpSize = 32;
    return launch;
  }
  bool isShort(const AssembledText &text) const {
    return isShortOfRegisters(text, threads(128), target);
  }
  bool isBetter(const AssembledText &first, const AssembledText &second) const {
    return runsBetter(first, second, threads(512), target);
  }

  TargetInfo target = llvm::cantFail(parseTarget("cuda:sm_90a"));
};

TEST_F(Assemble, ShortOfRegisters) {
  EXPECT_FALSE(isShort(text(64))); // 8 blocks of 4 warps, of 64
  EXPECT_TRUE(isShort(text(72)));
  EXPECT_TRUE(isShort(text(32, 4)));
  EXPECT_FALSE(isShort(text(72, 0, 0)));
  EXPECT_TRUE(isShort(text(72, 4, 0)));
}

TEST_F(Assemble, ManySpillsDecideFirst) {
  EXPECT_TRUE(isBetter(text(128), text(64, 400)));
  EXPECT_FALSE(isBetter(text(64, 400), text(128)));
  EXPECT_TRUE(isBetter(text(128, 300), text(128, 400)));
}

TEST_F(Assemble, ThenTheWarpsThatHaveRoomAndExchangeValues) {
  EXPECT_TRUE(isBetter(text(64), text(80)));
  EXPECT_TRUE(isBetter(text(64, 40), text(80)));
  EXPECT_FALSE(isBetter(text(80), text(64)));
  EXPECT_FALSE(isBetter(text(72), text(80))); // one block either way
  EXPECT_FALSE(isBetter(text(64), text(64)));
  EXPECT_FALSE(isBetter(text(64, 0, 0), text(80, 0, 0)));
}

} // namespace
