//===- AssembleTest.cpp - Which of two codes for a kernel is better -------------===//

#include "compiler/Target/NVIDIA/Assemble.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

class Assemble : public ::testing::Test {
protected:
  static ResourceUsage usage(uint32_t registers, uint32_t spilled = 0) {
    ResourceUsage used;
    used.registers = registers;
    used.spillStoreBytes = spilled;
    return used;
  }
  static LaunchFacts threads(uint32_t perBlock) {
    LaunchFacts launch;
    launch.threadsPerBlock = perBlock;
    launch.warpSize = 32;
    return launch;
  }
  bool isShort(uint32_t registers, uint32_t spilled = 0) const {
    return isShortOfRegisters(usage(registers, spilled), threads(128), target);
  }
  bool isBetter(const ResourceUsage &first, const ResourceUsage &second) const {
    return runsBetter(first, second, threads(512), target);
  }

  TargetInfo target = llvm::cantFail(parseTarget("cuda:sm_90a"));
};

TEST_F(Assemble, ShortOfRegisters) {
  EXPECT_FALSE(isShort(64)); // 8 blocks of 4 warps, of 64
  EXPECT_TRUE(isShort(72));
  EXPECT_TRUE(isShort(32, 4));
}

TEST_F(Assemble, ManySpillsDecideFirst) {
  EXPECT_TRUE(isBetter(usage(128), usage(64, 400)));
  EXPECT_FALSE(isBetter(usage(64, 400), usage(128)));
  EXPECT_TRUE(isBetter(usage(128, 300), usage(128, 400)));
}

TEST_F(Assemble, ThenTheWarpsThatHaveRoom) {
  EXPECT_TRUE(isBetter(usage(64), usage(80)));
  EXPECT_TRUE(isBetter(usage(64, 40), usage(80)));
  EXPECT_FALSE(isBetter(usage(80), usage(64)));
  EXPECT_FALSE(isBetter(usage(72), usage(80))); // one block either way
  EXPECT_FALSE(isBetter(usage(64), usage(64)));
}

} // namespace
