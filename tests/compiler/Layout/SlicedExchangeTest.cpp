//===- SlicedExchangeTest.cpp - tiles through less memory than they take --===//

#include "compiler/Layout/SlicedExchange.h"
#include "compiler/Layout/TileLayouts.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>
#include <vector>

using namespace kiln;

namespace {

using Registers = std::vector<uint64_t>;

/// A block that runs the rounds; each register holds the number of its coordinates.
struct Block {
  const LinearLayout &source, &result;

  template <typename Run> void forThreads(Run run) {
    for (int64_t warp = 0; warp < source.numWarps(); ++warp)
      for (int64_t lane = 0; lane < source.numLanes(); ++lane)
        run(uint64_t(lane), uint64_t(warp));
  }

  uint64_t element(const LinearLayout &layout, uint64_t reg, uint64_t lane, uint64_t warp) {
    return layout.apply({{Dim::Register, reg}, {Dim::Lane, lane}, {Dim::Warp, warp}});
  }

  void check(const SlicedExchange &plan) {
    int64_t elements = int64_t(plan.shared.numElements());
    std::vector<unsigned> received(result.numRegisters(), 0);
    for (const SlicedExchange::Round &round : plan.rounds) {
      std::vector<int64_t> memory(elements, -1);
      forThreads([&](uint64_t lane, uint64_t warp) {
        for (const SharedAccess::Part &part : round.store.parts)
          for (auto [index, reg] : llvm::enumerate(part.registers)) {
            uint64_t at = round.store.threadOffset(lane, warp) ^ (part.offset + index);
            ASSERT_LT(int64_t(at), elements);
            memory[at] = int64_t(element(source, reg, lane, warp));
          }
      });
      forThreads([&](uint64_t lane, uint64_t warp) {
        for (const SharedAccess::Part &part : round.load.parts)
          for (auto [index, reg] : llvm::enumerate(part.registers)) {
            uint64_t at = round.load.threadOffset(lane, warp) ^ (part.offset + index);
            ASSERT_LT(int64_t(at), elements);
            EXPECT_EQ(memory[at], int64_t(element(result, reg, lane, warp))) << source.str() << "\n"
                                                                             << result.str();
            received[reg] += lane + warp == 0;
          }
      });
    }
    EXPECT_EQ(received, std::vector<unsigned>(result.numRegisters(), 1));
  }
};

TEST(SlicedExchange, RandomLayoutsArriveWhateverTheSlices) {
  RandomLayouts random(41);
  for (int round = 0; round < 40; ++round) {
    LayoutSpace out = random.shape(11);
    LinearLayout a = random.distributed(7, 3, 1, out), b = random.distributed(7, 3, 1, out);
    int64_t whole = planSlicedExchange(a, b, 32, {}, 1).bytes;
    for (unsigned slices = 1; slices <= maxSlices(a, b); slices *= 2) {
      SlicedExchange plan = planSlicedExchange(a, b, 32, {}, slices);
      EXPECT_EQ(plan.bytes * slices, whole);
      EXPECT_EQ(plan.rounds.size(), slices);
      Block{a, b}.check(plan);
    }
    EXPECT_GE(maxSlices(a, b), 8u); // two layouts, four bits of threads each, eleven dimensions
  }
}

TEST(SlicedExchange, DuplicatesArriveToo) {
  LinearLayout wide = coalescedLayout({16, 64}, {1, 0}, 4, 32, 4);
  LinearLayout small = coalescedLayout({16, 64}, {0, 1}, 1, 32, 4).shrinkAxis(1);
  LinearLayout column = wide.shrinkAxis(1);
  for (unsigned slices = 1; slices <= maxSlices(column, small); slices *= 2)
    Block{column, small}.check(planSlicedExchange(column, small, 16, {}, slices));
}

TEST(SlicedExchange, VectorsStayWholeWhereOtherRegistersTellSlicesApart) {
  LinearLayout along = coalescedLayout({1024, 256}, {1, 0}, 4, 32, 4);
  LinearLayout down = coalescedLayout({1024, 256}, {0, 1}, 4, 32, 4);
  SlicedExchange whole = planSlicedExchange(along, down, 32, {}, 1);
  EXPECT_EQ(whole.bytes, 1 << 20);
  ASSERT_EQ(maxSlices(along, down), 16u);
  SlicedExchange half = planSlicedExchange(along, down, 32, {}, 2);
  EXPECT_EQ(half.rounds[0].store.vector, whole.rounds[0].store.vector);
  EXPECT_EQ(half.rounds[0].load.vector, whole.rounds[0].load.vector);
  Block{along, down}.check(half);
  SlicedExchange smallest = planSlicedExchange(along, down, 32, {}, 16);
  EXPECT_EQ(smallest.bytes, 64 << 10);
  Block{along, down}.check(smallest);
}

} // namespace
