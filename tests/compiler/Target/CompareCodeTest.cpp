#include "compiler/Target/CompareCode.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

/// Of a block of eight waves.
DeviceBinary code(uint64_t cycles, uint32_t spilled = 0, uint32_t registers = 256) {
  DeviceBinary result;
  result.target = "hip:gfx1100";
  result.launch.threadsPerBlock = 256;
  result.resources.registers = registers;
  result.resources.spillStoreBytes = spilled;
  result.cycles = cycles;
  return result;
}

TEST(CompareCode, FewerCyclesAreShorter) {
  EXPECT_TRUE(isShorter(code(99), code(100)));
  EXPECT_FALSE(isShorter(code(100), code(100)));
  EXPECT_TRUE(isShorter(code(99, 40), code(100, 40)));
}

TEST(CompareCode, MoreSpillsAreAQuarterLess) {
  auto code = [](uint64_t cycles, uint32_t spilled) {
    DeviceBinary result = ::code(cycles, spilled);
    result.spillsOfLoops = spilled;
    return result;
  };
  EXPECT_TRUE(isShorter(code(75, 80), code(100, 40)));
  EXPECT_FALSE(isShorter(code(76, 80), code(100, 40)));
  EXPECT_FALSE(isShorter(code(75, 84), code(100, 40)));
  EXPECT_TRUE(isShorter(code(56, 160), code(100, 40)));
  EXPECT_FALSE(isShorter(code(57, 160), code(100, 40)));
  EXPECT_FALSE(isShorter(code(50, 164), code(100, 40)));
  EXPECT_FALSE(isShorter(code(50, 4), code(100, 0)));
}

/// Registers that are spilled around a loop go to memory once, however many iterations there are.
TEST(CompareCode, AnySpillsOutsideOfLoopsAreAQuarterLess) {
  auto inLoops = [](DeviceBinary binary, uint32_t spills) {
    binary.spillsOfLoops = spills;
    return binary;
  };
  EXPECT_TRUE(isShorter(inLoops(code(75, 400), 2), inLoops(code(100, 40), 2)));
  EXPECT_FALSE(isShorter(inLoops(code(76, 400), 2), inLoops(code(100, 40), 2)));
  EXPECT_FALSE(isShorter(inLoops(code(50, 400), 3), inLoops(code(100, 40), 2)));
  EXPECT_FALSE(isShorter(code(50, 400), code(100, 0)));
}

TEST(CompareCode, NoSpillsAreWorthHalfAsLongAgain) {
  EXPECT_TRUE(isWorthNoSpills(code(150), code(100, 4)));
  EXPECT_FALSE(isWorthNoSpills(code(151), code(100, 4)));
  EXPECT_FALSE(isWorthNoSpills(code(90, 4), code(100, 40)));
  EXPECT_FALSE(isWorthNoSpills(code(90), code(100)));
  EXPECT_FALSE(isWorthNoSpills(code(150, 0, 256), code(100, 4, 192)));
}

/// Scalars in lanes are no bytes.
TEST(CompareCode, ScalarsInLanesAreSpilled) {
  DeviceBinary inLanes = code(100);
  inLanes.spillsScalars = true;
  EXPECT_TRUE(spillsNothing(code(100)));
  EXPECT_FALSE(spillsNothing(code(100, 4)));
  EXPECT_FALSE(spillsNothing(inLanes));
}

/// Of the vector unit's time other waves have what is left.
TEST(CompareCode, AQuarterLessIsWorthA32ndMoreWork) {
  auto busy = [](uint64_t cycles, uint64_t busy) {
    DeviceBinary result = code(cycles);
    result.busyCycles = busy;
    return result;
  };
  EXPECT_TRUE(isShorterForAll(busy(99, 64), busy(100, 64)));
  EXPECT_FALSE(isShorterForAll(busy(100, 60), busy(100, 64)));
  EXPECT_FALSE(isShorterForAll(busy(76, 65), busy(100, 64)));
  EXPECT_TRUE(isShorterForAll(busy(75, 66), busy(100, 64)));
  EXPECT_FALSE(isShorterForAll(busy(75, 67), busy(100, 64)));
}

/// Of 256 registers a processor holds two such blocks, four waves of a SIMD.
TEST(CompareCode, ASimdTakesAWavesShareOrAllOfItsWork) {
  DeviceBinary binary = code(1000);
  binary.busyCycles = 200;
  EXPECT_EQ(cyclesOfSimd(binary), 250u);
  binary.busyCycles = 300;
  EXPECT_EQ(cyclesOfSimd(binary), 300u);
  binary.resources.staticSharedBytes = 65536;
  binary.launch.threadsPerBlock = 128;
  EXPECT_EQ(cyclesOfSimd(binary), 500u);
  binary.target = "cpu";
  EXPECT_EQ(cyclesOfSimd(binary), 0u);
}

TEST(CompareCode, FewerBlocksAreNot) {
  EXPECT_EQ(blocksOf(code(100, 0, 256)), 2u);
  EXPECT_EQ(blocksOf(code(100, 0, 192)), 4u);
  EXPECT_FALSE(isShorter(code(50, 0, 256), code(100, 0, 192)));
  EXPECT_TRUE(isShorter(code(99, 0, 192), code(100, 0, 256)));
}

TEST(CompareCode, BlocksAreWorthAQuarterOfWhatTheyAreMore) {
  EXPECT_TRUE(isWorthItsBlocks(code(125, 0, 192), code(100, 0, 256)));
  EXPECT_FALSE(isWorthItsBlocks(code(126, 0, 192), code(100, 0, 256)));
  EXPECT_FALSE(isWorthItsBlocks(code(90, 4, 192), code(100, 0, 256)));
  EXPECT_FALSE(isWorthItsBlocks(code(90, 0, 256), code(100, 0, 256)));
}

/// Two blocks of eight waves are four waves of a SIMD.
TEST(CompareCode, FewerBlocksAreNoLossWhereTheUnitIsBusy) {
  auto busy = [](DeviceBinary binary, uint64_t cycles) {
    binary.busyCycles = cycles;
    return binary;
  };
  DeviceBinary other = busy(code(400, 0, 192), 320);
  EXPECT_TRUE(isWorthLessBlocks(busy(code(200), 320), other));
  EXPECT_FALSE(isWorthLessBlocks(busy(code(201), 320), other));
  EXPECT_TRUE(isWorthLessBlocks(busy(code(200), 330), other));
  EXPECT_FALSE(isWorthLessBlocks(busy(code(200), 331), other));
  EXPECT_FALSE(isWorthLessBlocks(busy(code(200, 4), 320), other));
  // Three waves have no work for all that the fourth waits.
  EXPECT_FALSE(isWorthLessBlocks(busy(code(200), 66), busy(code(400, 0, 192), 66)));
  EXPECT_TRUE(isWorthLessBlocks(busy(code(198), 66), busy(code(400, 0, 192), 66)));
  EXPECT_FALSE(isWorthLessBlocks(code(200), code(400, 0, 192)));
}

TEST(CompareCode, SharedMemoryThatHoldsBlocksBack) {
  auto withShared = [](uint32_t bytes, uint32_t registers) {
    DeviceBinary result = code(100, 0, registers);
    result.resources.staticSharedBytes = bytes;
    return result;
  };
  auto blocksWith = [&](uint64_t bytes, uint32_t registers) {
    return blocksOf(withShared(uint32_t(bytes), registers));
  };
  // Registers leave room for four, or up to a fifth fewer of them for one more than there are.
  EXPECT_EQ(blocksWith(60000, 192), 2u);
  ASSERT_TRUE(sharedBytesForMore(withShared(60000, 192)));
  EXPECT_EQ(blocksWith(*sharedBytesForMore(withShared(60000, 192)), 192), 4u);
  EXPECT_EQ(blocksWith(60000, 216), 2u);
  ASSERT_TRUE(sharedBytesForMore(withShared(60000, 216)));
  EXPECT_EQ(blocksWith(*sharedBytesForMore(withShared(60000, 216)), 192), 3u);
  // It does not.
  EXPECT_FALSE(sharedBytesForMore(withShared(20000, 192)));
  EXPECT_FALSE(sharedBytesForMore(withShared(0, 256)));
}

} // namespace
