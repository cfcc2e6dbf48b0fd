//===- RegisterShareTest.cpp - When fewer registers are tried -------------------===//

#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

class RegisterShare : public ::testing::Test {
protected:
  std::optional<unsigned> limit(unsigned registers, unsigned threads, unsigned sharedBytes = 0,
                                llvm::StringRef ptx = "ld.global.b32", unsigned spilled = 0) {
    ResourceUsage used;
    used.spillStoreBytes = spilled;
    used.registers = registers;
    LaunchFacts launch;
    launch.threadsPerBlock = threads;
    launch.dynamicSharedBytes = sharedBytes;
    return registersForMoreBlocks(used, launch, target, ptx);
  }

  TargetInfo target = llvm::cantFail(parseTarget("cuda:sm_90a"));
};

TEST_F(RegisterShare, AThirdMoreBlocks) {
  EXPECT_EQ(limit(160, 256), 128u); // 1 block, then 2
  EXPECT_EQ(limit(148, 128), 128u); // 3, then 4
  EXPECT_EQ(limit(162, 64), 128u);  // 6, then 8
  EXPECT_EQ(limit(77, 512), 64u);
  EXPECT_EQ(limit(252, 128), 168u); // 2, then 3: 170 registers, in units of 8
}

TEST_F(RegisterShare, ButNotForMoreThanAThirdOfTheRegisters) {
  EXPECT_EQ(limit(255, 128), std::nullopt);
  EXPECT_EQ(limit(200, 256), std::nullopt); // 128
}

TEST_F(RegisterShare, NotOfWhatSpillsAlready) {
  EXPECT_EQ(limit(160, 256, 0, "ld.global.b32", 48), 128u);
  EXPECT_EQ(limit(160, 256, 0, "ld.global.b32", 52), std::nullopt);
}

TEST_F(RegisterShare, NotWhereManyThreadsRunAlready) {
  EXPECT_EQ(limit(80, 256), std::nullopt); // 768 threads
  EXPECT_EQ(limit(64, 1024), std::nullopt);
  EXPECT_EQ(limit(32, 128), std::nullopt);
}

/// All of a large block's threads wait at once.
TEST_F(RegisterShare, ButWhereLargeBlocksMeet) {
  EXPECT_EQ(limit(56, 512, 0, "bar.sync 0;"), 40u); // 2 blocks, then 3
  EXPECT_EQ(limit(40, 512, 0, "bar.sync 0;"), 32u); // 3, then 4
  EXPECT_EQ(limit(56, 512), std::nullopt);
  EXPECT_EQ(limit(32, 512, 0, "bar.sync 0;"), std::nullopt); // all that there are
  EXPECT_EQ(limit(80, 256, 0, "bar.sync 0;"), std::nullopt);
}

TEST_F(RegisterShare, NotWhereSharedMemoryIsTheLimit) {
  EXPECT_EQ(limit(160, 256, 100 * 1024), 128u);
  EXPECT_EQ(limit(160, 256, 120 * 1024), std::nullopt);
}

TEST_F(RegisterShare, OfProductsOneBlockMore) {
  for (llvm::StringRef product : {"mma.sync.aligned.m16n8k16", "wgmma.mma_async.sync"}) {
    EXPECT_EQ(limit(168, 256, 98304, product), 128u);
    EXPECT_EQ(limit(178, 256, 98304, product), std::nullopt); // too far from 128
    EXPECT_EQ(limit(192, 128, 0, product), 168u);             // 2 blocks, then 3
    EXPECT_EQ(limit(255, 128, 0, product), std::nullopt);     // too far from 168
    EXPECT_EQ(limit(94, 128, 0, product), 80u);               // 5, then 6
    EXPECT_EQ(limit(80, 128, 0, product), std::nullopt);      // 768 threads
    EXPECT_EQ(limit(168, 256, 120 * 1024, product), std::nullopt);
  }
  EXPECT_EQ(limit(168, 256, 0, "setmaxnreg.inc wgmma.mma_async.sync"), std::nullopt);
}

TEST_F(RegisterShare, KeepsWhatHardlySpills) {
  auto spills = [](unsigned bytes) {
    ResourceUsage used;
    used.spillStoreBytes = used.spillLoadBytes = bytes;
    return used;
  };
  EXPECT_TRUE(paysForMoreBlocks(spills(0), spills(0), ""));
  EXPECT_TRUE(paysForMoreBlocks(spills(24), spills(0), ""));
  EXPECT_FALSE(paysForMoreBlocks(spills(28), spills(0), ""));
  EXPECT_TRUE(paysForMoreBlocks(spills(3900), spills(4000), ""));
  EXPECT_TRUE(paysForMoreBlocks(spills(0), spills(0), "wgmma."));
  EXPECT_FALSE(paysForMoreBlocks(spills(4), spills(0), "wgmma."));
}

TEST_F(RegisterShare, TheMostThatABlockCanBeLaunchedWith) {
  auto most = [&](unsigned threads) {
    LaunchFacts launch;
    launch.threadsPerBlock = threads;
    return mostRegisters(launch, target);
  };
  EXPECT_EQ(most(128), 255u);
  EXPECT_EQ(most(256), 255u);
  EXPECT_EQ(most(512), 128u);
  EXPECT_EQ(most(1024), 64u);
}

TEST_F(RegisterShare, TheLimitIsADirectiveOfTheKernel) {
  EXPECT_EQ(withRegisterLimit(".entry k(\n)\n.reqntid 128, 1, 1\n{\n", 64),
            ".entry k(\n)\n.reqntid 128, 1, 1\n.maxnreg 64\n{\n");
}

} // namespace
