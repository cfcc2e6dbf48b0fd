// Decision trees from samples, and estimates between measured shapes.
#include "codegen/DecisionTree.h"
#include "codegen/TimeEstimates.h"
#include "tests/codegen/TestModel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace kiln::test {
namespace {

ChoiceSample sample(std::vector<int64_t> key, std::vector<int64_t> losses, bool isMeasured = true) {
  std::vector<int64_t> waves(losses.size());
  return {std::move(key), std::move(losses), std::move(waves), isMeasured};
}

/// What the tree takes at a sample.
unsigned choice(const DecisionTree &tree, const ChoiceSample &one) {
  auto costOf = [&](const VariantCost &cost) { return cost.cost + one.waves[cost.variant]; };
  const std::vector<VariantCost> &leaf = tree.at(one.key);
  return llvm::min_element(leaf, [&](const VariantCost &a,
                                     const VariantCost &b) { return costOf(a) < costOf(b); })
      ->variant;
}

size_t leavesOf(const DecisionTree &tree) {
  return size_t(llvm::count_if(tree.nodes, [](const auto &node) { return node.isLeaf(); }));
}

TEST(DecisionTree, OfOneSampleIsALeaf) {
  DecisionTree tree = DecisionTree::learn({sample({5}, {200, 0, 100})});
  EXPECT_EQ(tree.nodes.size(), 1u);
  std::vector<unsigned> order;
  for (const VariantCost &one : tree.at({-1}))
    order.push_back(one.variant);
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 0}));
  EXPECT_EQ(tree.nodes[0].numTaken, 1u);
}

TEST(DecisionTree, DividesHalfWayOfTheLogarithms) {
  DecisionTree tree = DecisionTree::learn({sample({16}, {0, 9000}), sample({1024}, {9000, 0})});
  EXPECT_EQ(tree.at({128}).front().variant, 0u);
  EXPECT_EQ(tree.at({129}).front().variant, 1u);
  EXPECT_EQ(tree.at({INT64_MIN}).front().variant, 0u);
  EXPECT_EQ(tree.at({INT64_MAX}).front().variant, 1u);
  DecisionTree odd = DecisionTree::learn(
      {sample({INT64_MIN}, {0, 9000}), sample({INT64_MIN + 1}, {9000, 0}), sample({0}, {0, 9000}),
       sample({1}, {9000, 0}), sample({INT64_MAX - 1}, {0, 9000}), sample({INT64_MAX}, {9000, 0})});
  for (int64_t first : {INT64_MIN, int64_t(0), INT64_MAX - 1}) {
    EXPECT_EQ(odd.at({first}).front().variant, 0u) << first;
    EXPECT_EQ(odd.at({first + 1}).front().variant, 1u) << first;
  }
}

TEST(DecisionTree, KeepsEachMeasuredSampleWithinTheTolerance) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<ChoiceSample> samples;
    std::set<std::vector<int64_t>> keys;
    for (int i = 0; i < 300; ++i) {
      std::vector<int64_t> key = {int64_t(1) << random() % 12, int64_t(random() % 5)};
      std::vector<int64_t> losses;
      for (int v = 0; v < 5; ++v)
        losses.push_back(random() % 3 ? random() % (2 * kLossUnit) : 0);
      losses[random() % 5] = 0;
      if (!keys.insert(key).second)
        continue;
      samples.push_back(sample(key, losses, random() % 2));
      for (int64_t &waves : samples.back().waves)
        waves = int64_t(random() % (3 * kLossUnit));
    }
    DecisionTree tree = DecisionTree::learn(samples);
    for (const ChoiceSample &one : samples)
      if (one.isMeasured) {
        EXPECT_LE(one.losses[choice(tree, one)],
                  *llvm::min_element(one.losses) + kMeasuredTolerance);
      }
  }
}

TEST(DecisionTree, OneLeafFollowsTheWaves) {
  // A wave of the second variant takes one and a half times as long as one of the first.
  const int64_t cost = int64_t(std::log2(1.5) * kLossUnit);
  std::vector<ChoiceSample> samples;
  for (int64_t n = 1; n < 64; ++n) {
    ChoiceSample one = sample({n}, {0, 0});
    for (size_t v : {0, 1})
      one.waves[v] = int64_t(std::log2(std::ceil(double(n) / (v ? 2 : 1))) * kLossUnit);
    int64_t first = one.waves[0], second = one.waves[1] + cost;
    one.losses = {first - std::min(first, second), second - std::min(first, second)};
    samples.push_back(std::move(one));
  }
  DecisionTree tree = DecisionTree::learn(samples);
  for (const ChoiceSample &one : samples)
    EXPECT_EQ(choice(tree, one), one.key[0] == 1 ? 0u : 1u) << one.key[0];
  EXPECT_LE(leavesOf(tree), 12u);
}

TEST(DecisionTree, StopsWhereNothingIsGained) {
  std::vector<ChoiceSample> equal, different;
  for (int64_t i = 0; i < 300; ++i) {
    equal.push_back(sample({i}, {0, 500, 1000}));
    std::vector<int64_t> losses(300, 60000);
    losses[size_t(i)] = 0;
    different.push_back(sample({i}, losses, false));
  }
  EXPECT_EQ(leavesOf(DecisionTree::learn(equal)), 1u);
  EXPECT_EQ(leavesOf(DecisionTree::learn(different)), kMostLeaves);
  for (ChoiceSample &one : different)
    one.isMeasured = true;
  EXPECT_EQ(leavesOf(DecisionTree::learn(different)), 300u);
}

//--- Estimates ---

/// f(x, n) over blocks of 64 and 128 elements.
EntryModel blocks() {
  EntryModel f = entry("f", {{"x", "*fp32"}, {"n", "i32"}});
  f.grid = {expression("cdiv(n, B)")};
  f.dispatchKey = {"n"};
  f.variants = {variant({{"B", 64}}), variant({{"B", 128}})};
  return f;
}

TEST(TimeEstimates, FollowTheWaves) {
  EntryModel f = blocks();
  // At 640 elements ten processors have one block of 64 each; half of them one of 128.
  std::vector<TimedShape> shapes = {{{640}, {1.0, 1.5}}};
  TimeEstimates estimates(f, {0, 1}, shapes, 10);
  auto lossAt = [&](int64_t n) {
    std::vector<int64_t> losses = estimates.estimate({n}).losses;
    return std::exp2(double(losses[1] - losses[0]) / kLossUnit);
  };
  EXPECT_NEAR(lossAt(640), 1.5, 1e-3);
  EXPECT_NEAR(lossAt(100), 1.5, 1e-3);
  EXPECT_NEAR(lossAt(641), 0.75, 1e-3);  // a second wave of blocks of 64
  EXPECT_NEAR(lossAt(1280), 0.75, 1e-3); // two waves, and one
  EXPECT_NEAR(lossAt(1281), 1.0, 1e-3);  // three waves, and two
}

TEST(TimeEstimates, WeighTheNeighboursByTheirNearness) {
  EntryModel f = blocks();
  f.grid.clear();
  std::vector<TimedShape> shapes = {{{64}, {1.0, 2.0}}, {{4096}, {2.0, 1.0}}};
  TimeEstimates estimates(f, {0, 1}, shapes, 10);
  auto difference = [&](int64_t n) {
    std::vector<int64_t> losses = estimates.estimate({n}).losses;
    return losses[1] - losses[0];
  };
  EXPECT_NEAR(difference(512), 0, 1);
  EXPECT_GT(difference(128), 0);
  EXPECT_GT(difference(64), difference(128));
  EXPECT_LT(difference(2048), 0);
}

TEST(TimeEstimates, ExpectNothingOfWhatDidNotRunNearby) {
  EntryModel f = blocks();
  std::vector<TimedShape> shapes = {{{64}, {std::nullopt, 2.0}}, {{4096}, {1.0, 5.0}}};
  TimeEstimates estimates(f, {0, 1}, shapes, 10);
  EXPECT_EQ(estimates.estimate({100}).losses, (std::vector<int64_t>{kImpossibleLoss, 0}));
  EXPECT_EQ(estimates.estimate({2000}).losses[0], 0);
  ArgumentFact fact;
  fact.argument = 1;
  fact.maximum = 3000;
  f.variants[0].facts = {fact};
  EXPECT_EQ(estimates.estimate({3000}).losses[0], 0);
  EXPECT_EQ(estimates.estimate({3001}).losses, (std::vector<int64_t>{kImpossibleLoss, 0}));
}

TEST(TimeEstimates, StayWithinDeclaredRanges) {
  EntryModel f = blocks();
  std::vector<TimedShape> shapes = {{{64}, {1.0, 2.0}}, {{4096}, {2.0, 1.0}}};
  auto keys = [&] {
    std::set<int64_t> all;
    for (const ChoiceSample &one : TimeEstimates(f, {0, 1}, shapes, 10).samples())
      if (!one.isMeasured)
        all.insert(one.key[0]);
    return all;
  };
  std::set<int64_t> free = keys();
  EXPECT_GE(*free.begin(), 32);
  EXPECT_LE(*free.begin(), 33);
  EXPECT_LE(*free.rbegin(), 8192);
  EXPECT_GE(*free.rbegin(), 8100);
  EntryRange range;
  range.argument = 1;
  range.range.minimum = 64;
  range.range.maximum = 5000;
  range.range.multipleOf = 8;
  f.ranges = {range};
  EXPECT_EQ(*keys().begin(), 72); // 64 was measured
  EXPECT_EQ(*keys().rbegin(), 5000);
  for (int64_t n : keys())
    EXPECT_EQ(n % 8, 0) << n;
  f.ranges[0].range = {};
  f.ranges[0].range.values = {100, 1000};
  EXPECT_EQ(keys(), (std::set<int64_t>{100, 1000}));
}

} // namespace
} // namespace kiln::test
