// Reductions walked step by step on a simulated block, on sets of elements: after all steps each
// place must hold every element of its row once.

#include "compiler/Layout/AxisSteps.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>
#include <map>

using namespace kiln;

namespace {

/// The elements that went into a total, as coordinates along the axis in the order of combination.
using Total = std::vector<int64_t>;

/// Totals by flat hardware index.
struct Walk {
  const LinearLayout &layout;
  unsigned axis;
  bool inOrder;
  std::vector<Total> totals;

  Walk(const LinearLayout &layout, unsigned axis, bool inOrder)
      : layout(layout), axis(axis), inOrder(inOrder) {
    for (uint64_t place = 0; place < uint64_t(layout.in().totalSize()); ++place)
      totals.push_back({layout.out().unpack(layout.apply(place))[axis]});
  }

  static Total combine(const Total &earlier, const Total &later) {
    Total both = earlier;
    llvm::append_range(both, later);
    return both;
  }

  void step(const AxisStep &step) {
    const LayoutSpace &in = layout.in();
    uint64_t move = in.with(in.with(0, Dim::Register, step.registers), Dim::Lane, step.lanes);
    std::vector<Total> before = totals;
    for (uint64_t place = 0; place < totals.size(); ++place) {
      int64_t coordinate = layout.out().unpack(layout.apply(place))[axis];
      const Total &other = before[place ^ move];
      totals[place] = coordinate >> step.bit & 1 ? combine(other, before[place])
                                                 : combine(before[place], other);
    }
  }

  /// Through scratch memory, as `steps` says.
  void exchange(const AxisSteps &steps) {
    if (steps.exchanged.empty())
      return;
    std::map<uint64_t, Total> scratch;
    for (uint64_t place = 0; place < totals.size(); ++place) {
      auto [at, isNew] = scratch.try_emplace(steps.partials.apply(place), totals[place]);
      EXPECT_TRUE(isNew || sorted(at->second) == sorted(totals[place]))
          << "two different totals of one number";
    }
    EXPECT_EQ(int64_t(scratch.size()), steps.numPartials());
    uint64_t rows = scratch.size() >> steps.exchanged.size();
    for (uint64_t place = 0; place < totals.size(); ++place) {
      uint64_t number = steps.partials.apply(place);
      uint64_t row = number >> steps.rowShift & (rows - 1);
      Total all;
      for (uint64_t total = 0; total < uint64_t(1) << steps.exchanged.size(); ++total)
        all = combine(all, scratch.at((total << steps.totalShift) + (row << steps.rowShift)));
      totals[place] = all;
    }
  }

  Total sorted(Total total) const {
    if (!inOrder)
      llvm::sort(total);
    return total;
  }

  void expectWholeRows() const {
    Total row;
    for (int64_t i = 0; i < layout.shape()[axis]; ++i)
      row.push_back(i);
    for (const Total &total : totals)
      EXPECT_EQ(sorted(total), row) << layout.str();
  }
};

class AxisStepsTest : public testing::TestWithParam<bool> {};

TEST_P(AxisStepsTest, CombineEveryElementOfARowOnce) {
  bool inOrder = GetParam();
  RandomLayouts random(7);
  unsigned exchanges = 0;
  for (int trial = 0; trial < 300; ++trial) {
    LinearLayout layout = random.distributed(2, 3, 1, random.shape(6));
    for (unsigned axis : {0u, 1u}) {
      AxisSteps steps = planAxisSteps(layout, axis, inOrder);
      exchanges += !steps.exchanged.empty();
      Walk walk(layout, axis, inOrder);
      for (const AxisStep &step : steps.local) {
        EXPECT_EQ(step.warps, 0u);
        walk.step(step);
      }
      walk.exchange(steps);
      walk.expectWholeRows();
    }
  }
  EXPECT_GT(exchanges, 100u);
}

INSTANTIATE_TEST_SUITE_P(Order, AxisStepsTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "InOrder" : "AnyOrder"; });

TEST(AxisSteps, RegistersFirstThenLanesThenWarps) {
  // Bits of the axis from low to high: warp, lane, register.
  LinearLayout layout(LayoutSpace({{Dim::Register, 1}, {Dim::Lane, 1}, {Dim::Warp, 1}}),
                      LayoutSpace::ofShape({8}), {4, 2, 1});
  AxisSteps steps = planAxisSteps(layout, 0, /*inOrder=*/false);
  ASSERT_EQ(steps.local.size(), 2u);
  EXPECT_EQ(steps.local[0].bit, 2u);
  EXPECT_EQ(steps.local[0].registers, 1u);
  EXPECT_EQ(steps.local[1].bit, 1u);
  EXPECT_EQ(steps.local[1].lanes, 1u);
  EXPECT_EQ(steps.exchanged, llvm::SmallVector<unsigned>{0});
  // In order nothing can be combined before the warps' bit, the lowest.
  EXPECT_TRUE(planAxisSteps(layout, 0, /*inOrder=*/true).local.empty());
}

TEST(AxisSteps, ScratchIsNeededForWarpsOrForAnotherResultLayout) {
  auto parse = [](const char *text) { return llvm::cantFail(LinearLayout::parse(text)); };
  LinearLayout lanes = parse("register: ; lane: 0,1 0,2; warp: 1,0 -> 2x4");
  LinearLayout warps = parse("register: ; lane: 1,0 0,1; warp: 0,2 -> 2x4");
  LinearLayout kept = reducedLayout(lanes, 1);
  EXPECT_EQ(kept, parse("register: ; lane: 0 0; warp: 1 -> 2"));
  EXPECT_EQ(reduceScratchElements(lanes, &kept, 1, /*inOrder=*/false), 0);
  LinearLayout other = parse("register: ; lane: 1 0; warp: 0 -> 2");
  EXPECT_EQ(reduceScratchElements(lanes, &other, 1, /*inOrder=*/false), 2);
  LinearLayout folded = reducedLayout(warps, 1);
  EXPECT_EQ(reduceScratchElements(warps, &folded, 1, /*inOrder=*/false), 4);
  EXPECT_EQ(scanScratchElements(lanes, 1), 0);
  EXPECT_EQ(scanScratchElements(warps, 1), 4);
}

} // namespace
