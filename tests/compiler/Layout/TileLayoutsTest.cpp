//===- TileLayoutsTest.cpp - blocked and shared constructors --------------===//

#include "compiler/Layout/TileLayouts.h"

#include <gtest/gtest.h>

using namespace kiln;

TEST(TileLayouts, BlockedDealsThreadsLanesWarps) {
  LinearLayout layout = blockedLayout({16, 16}, {{1, 4}, {8, 4}, {2, 1}, {1, 0}});
  EXPECT_EQ(layout.str(),
            "register: 0,1 0,2; lane: 0,4 0,8 1,0 2,0 4,0; warp: 8,0; block: -> 16x16");
  EXPECT_TRUE(layout.isBijective());
}

TEST(TileLayouts, BlockedRepeatsInRegistersAndDuplicatesInThreads) {
  LinearLayout large = blockedLayout({256}, {{2}, {32}, {2}, {0}});
  EXPECT_EQ(large.numRegisters(), 4);
  EXPECT_EQ(large.coordinates(2, 0, 0)[0], 128);
  LinearLayout small = blockedLayout({16}, {{2}, {32}, {2}, {0}});
  EXPECT_EQ(small.freeBits(Dim::Lane), 0b11000u);
  EXPECT_EQ(small.freeBits(Dim::Warp), 0b1u);
  EXPECT_TRUE(small.isSurjective());
}

TEST(TileLayouts, CoalescedNeighboursShareAWarp) {
  LinearLayout layout = coalescedLayout({64, 128}, {1, 0}, 8, 32, 4);
  EXPECT_EQ(layout.contiguousRegisters({1, 0}), 8);
  EXPECT_EQ(layout.coordinates(0, 1, 0), (llvm::SmallVector<int64_t, 4>{0, 8}));
  EXPECT_EQ(layout.coordinates(0, 16, 0), (llvm::SmallVector<int64_t, 4>{1, 0}));
  EXPECT_TRUE(layout.isBijective());
  LinearLayout tiny = coalescedLayout({4}, {0}, 8, 32, 4);
  EXPECT_EQ(tiny.numRegisters(), 4);
  EXPECT_EQ(tiny.numLanes(), 32);
  EXPECT_EQ(tiny.numWarps(), 4);
}

TEST(TileLayouts, PlainSharedIsRowOrColumnMajor) {
  EXPECT_EQ(plainShared({4, 8}, {1, 0}).str(), "offset: 0,1 0,2 0,4 1,0 2,0 -> 4x8");
  EXPECT_EQ(plainShared({4, 8}, {0, 1}).str(), "offset: 1,0 2,0 0,1 0,2 0,4 -> 4x8");
}
