// Duplicates, vectors and renamings against what registers hold, one by one.

#include "compiler/Layout/RegisterRenaming.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>
#include <set>

using namespace kiln;

namespace {

uint64_t held(const LinearLayout &layout, uint64_t reg, uint64_t lane, uint64_t warp) {
  return layout.apply({{Dim::Register, reg}, {Dim::Lane, lane}, {Dim::Warp, warp}});
}

/// A bijection of which some columns are then zero or repeat another: duplicates of both kinds.
/// With `permuted` each bit of the hardware index is one of the coordinate.
LinearLayout withDuplicates(RandomLayouts &random, bool permuted = false) {
  LayoutSpace out = random.shape(8);
  LinearLayout layout = random.distributed(4, 3, 1, out);
  BinaryColumns columns(layout.columns());
  if (permuted) {
    columns = unitVectors(8);
    for (unsigned bit = 8; bit > 1; --bit)
      std::swap(columns[bit - 1], columns[random.below(bit)]);
  }
  columns[random.below(4)] = 0;
  columns[random.below(4)] = columns[random.below(4)];
  return LinearLayout(layout.in(), out, columns);
}

TEST(RegisterRenaming, FirstDuplicateIsTheFirstRegisterWithTheSameElement) {
  RandomLayouts random(1);
  for (int trial = 0; trial < 200; ++trial) {
    LinearLayout layout = withDuplicates(random);
    llvm::SmallVector<unsigned> first = firstDuplicates(layout);
    ASSERT_EQ(int64_t(first.size()), layout.numRegisters());
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      int64_t expected = 0;
      while (held(layout, expected, 0, 0) != held(layout, reg, 0, 0))
        ++expected;
      EXPECT_EQ(first[reg], expected) << layout.str();
    }
  }
}

TEST(RegisterRenaming, IgnoredPlacesAreTheSame) {
  auto layout = LinearLayout::parse(
      "register: 0,1 0,2 8,0 16,0; lane: 0,4 1,0 2,0; warp: 4,0; block: -> 32x8");
  ASSERT_TRUE(bool(layout));
  BinaryVector rowsOf16 = BinaryVector(15) << layout->out().position(Dim::axis(0));
  EXPECT_EQ(firstDuplicates(*layout, rowsOf16),
            (llvm::SmallVector<unsigned>{0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11}));
}

TEST(RegisterRenaming, StepsAreTheSameInEveryThread) {
  RandomLayouts random(4);
  unsigned steps = 0;
  for (int trial = 0; trial < 400; ++trial) {
    LinearLayout layout = withDuplicates(random, /*permuted=*/trial % 2);
    unsigned axis = layout.shape().size() - 1;
    for (int64_t group = 1; group <= layout.shape()[axis]; group *= 2)
      for (auto [reg, step] :
           llvm::enumerate(registerSteps(layout, layout.out().position(Dim::axis(axis)), group))) {
        steps += step.first != reg;
        ASSERT_LE(step.first, reg);
        for (int64_t lane = 0; lane < layout.numLanes(); ++lane)
          for (int64_t warp = 0; warp < layout.numWarps(); ++warp) {
            auto first = layout.coordinates(step.first, lane, warp);
            auto here = layout.coordinates(reg, lane, warp);
            EXPECT_EQ(first[axis] / group, here[axis] / group) << layout.str();
            first[axis] += step.places;
            EXPECT_EQ(first, here) << layout.str() << ", groups of " << group;
          }
      }
  }
  EXPECT_GT(steps, 100u);
}

TEST(RegisterRenaming, GroupsAreVectorsOfNeighbours) {
  RandomLayouts random(2);
  unsigned vectors = 0;
  for (int trial = 0; trial < 400; ++trial) {
    LinearLayout layout = withDuplicates(random, /*permuted=*/true);
    llvm::SmallVector<unsigned> bits = neighbourBits(layout, 0, 4);
    ASSERT_LE(bits.size(), 2u);
    vectors += !bits.empty();
    std::vector<bool> seen(layout.numRegisters());
    for (llvm::ArrayRef<unsigned> group : groupRegisters(layout, bits)) {
      ASSERT_EQ(group.size(), size_t(1) << bits.size());
      uint64_t start = held(layout, group[0], 0, 0);
      for (auto [place, reg] : llvm::enumerate(group)) {
        EXPECT_EQ(held(layout, reg, 0, 0), start + place) << layout.str();
        EXPECT_FALSE(seen[reg]);
        seen[reg] = true;
      }
    }
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(layout)))
      EXPECT_EQ(seen[reg], reg == first) << layout.str();
  }
  EXPECT_GT(vectors, 20u);
}

TEST(RegisterRenaming, GroupsLeaveOutWhatDiffersInIgnoredPlaces) {
  RandomLayouts random(4);
  unsigned fewer = 0;
  for (int trial = 0; trial < 400; ++trial) {
    LinearLayout layout = withDuplicates(random, /*permuted=*/true);
    llvm::SmallVector<unsigned> bits = neighbourBits(layout, 0, 4);
    constexpr BinaryVector ignored = 0b1101;
    BinaryVector equal = ignored & ~((BinaryVector(1) << bits.size()) - 1);
    std::set<uint64_t> places;
    for (llvm::ArrayRef<unsigned> group : groupRegisters(layout, bits, ignored))
      for (unsigned reg : group)
        EXPECT_TRUE(places.insert(held(layout, reg, 0, 0) & ~equal).second) << layout.str();
    fewer += places.size() < size_t(layout.numRegisters());
    for (unsigned reg = 0; reg < layout.numRegisters(); ++reg)
      EXPECT_TRUE(places.count(held(layout, reg, 0, 0) & ~equal)) << layout.str();
  }
  EXPECT_GT(fewer, 20u);
}

TEST(RegisterRenaming, RenamedRegistersHoldTheWantedElements) {
  RandomLayouts random(3);
  for (int trial = 0; trial < 200; ++trial) {
    LinearLayout source = random.distributed(3, 3, 1, random.shape(7));
    // Registers combined among themselves: other registers of the same threads.
    BinaryColumns mix = random.invertible(3), columns(source.columns());
    for (unsigned bit = 0; bit < 3; ++bit)
      columns[bit] = multiply(source.columns(Dim::Register), mix[bit]);
    LinearLayout wanted(source.in(), source.out(), columns);
    std::optional<llvm::SmallVector<unsigned>> registers = renameRegisters(source, wanted);
    ASSERT_TRUE(registers) << source.str() << " to " << wanted.str();
    for (uint64_t thread = 0; thread < 16; ++thread)
      for (auto [reg, from] : llvm::enumerate(*registers))
        EXPECT_EQ(held(source, from, thread & 7, thread >> 3),
                  held(wanted, reg, thread & 7, thread >> 3));
  }
}

TEST(RegisterRenaming, OtherThreadsElementsAreNoRenaming) {
  LayoutSpace out = LayoutSpace::ofShape({8}),
              in({{Dim::Register, 2}, {Dim::Lane, 1}, {Dim::Warp, 0}});
  LinearLayout source(in, out, {1, 2, 4});
  EXPECT_FALSE(renameRegisters(source, LinearLayout(in, out, {4, 2, 1})));
  EXPECT_FALSE(renameRegisters(source, LinearLayout(in, out, {1, 6, 4})));
  EXPECT_TRUE(renameRegisters(source, LinearLayout(in, out, {2, 1, 4})));
}

} // namespace
