// Bounds that follow from the table by hand.

#include "compiler/Report/TimeBound.h"
#include "compiler/Target/TargetInfo.h"
#include <gtest/gtest.h>
#include <set>

using namespace kiln;

namespace {

/// A product of two matrices of 4096 x 4096 of f16, 128 x 256 of it in a block.
CountReport product() {
  CountReport counts;
  counts.target = "emu:sm_90a";
  counts.blocks = 512;
  uint64_t bytes = uint64_t(2) * 4096 * 4096;
  counts.arguments = {{"a", "fp16[4096, 4096]", bytes},
                      {"b", "fp16[4096, 4096]", bytes},
                      {"c", "fp16[4096, 4096]", bytes},
                      {"K", "4096", 0}};
  counts.total.globalRead = 100 * bytes;
  counts.total.flops = uint64_t(2) * 4096 * 4096 * 4096;
  counts.total.wavefronts = 1320000;
  counts.total.instructions = {9280000, 9280000 * 32};
  counts.total.classes = {{"float32", {5000000, 160000000}},
                          {"global load", {280000, 8960000}},
                          {"address", {4000000, 128000000}}}; // which back ends move
  counts.operations = {{"matrix f16", counts.total.flops}, {"float32", 669000000}};
  return counts;
}

const BoundTerm &term(const TimeBound &bound, llvm::StringRef name) {
  for (const BoundTerm &one : bound.terms)
    if (one.name == name)
      return one;
  static const BoundTerm none;
  ADD_FAILURE() << "no " << name.str();
  return none;
}

TEST(TimeBound, IsTheLongestOfItsParts) {
  auto bound = boundOf(product(), *findGpu("h100"));
  ASSERT_TRUE(bound);
  // 512 blocks on 132 processors: four on the fullest, 3.88 on average.
  EXPECT_DOUBLE_EQ(bound->imbalance, 4 * 132 / 512.0);
  EXPECT_EQ(bound->limit(), "matrix f16");
  EXPECT_DOUBLE_EQ(bound->seconds(), 2.0 * 4096 * 4096 * 4096 / 989.4e12 * bound->imbalance);
  // Three arrays of 32 MiB, once, whatever the processors do.
  EXPECT_DOUBLE_EQ(term(*bound, "memory").seconds, 3 * 2.0 * 4096 * 4096 / 3350e9);
  EXPECT_DOUBLE_EQ(term(*bound, "float32").seconds, 669e6 / 66.9e12 * bound->imbalance);
  EXPECT_DOUBLE_EQ(term(*bound, "shared memory").seconds,
                   1320000 / (132 * 1980e6) * bound->imbalance);
  EXPECT_DOUBLE_EQ(term(*bound, "issue").seconds, 5280000 / (4 * 132 * 1980e6) * bound->imbalance);
  EXPECT_TRUE(bound->missing.empty());
  for (size_t i = 1; i < bound->terms.size(); ++i)
    EXPECT_GE(bound->terms[i - 1].seconds, bound->terms[i].seconds);
}

TEST(TimeBound, FollowsTheLargerLimit) {
  CountReport counts = product();
  counts.total.wavefronts *= 1000;
  EXPECT_EQ(boundOf(counts, *findGpu("h100"))->limit(), "shared memory");
  counts.operations["matrix f16"] *= 100;
  EXPECT_EQ(boundOf(counts, *findGpu("h100"))->limit(), "matrix f16");
}

TEST(TimeBound, CountsWhatWasAccessedOfLargeArrays) {
  CountReport counts = product();
  counts.total.globalRead = 1000;
  counts.total.globalWritten = 24;
  EXPECT_EQ(leastBytes(counts), 1024u);
  counts.arguments.clear(); // of counts without arguments nothing else is known
  counts.total.globalRead = 1 << 20;
  EXPECT_EQ(leastBytes(counts), (1u << 20) + 24);
}

TEST(TimeBound, OfFewBlocksIsThatOfTheirProcessors) {
  CountReport counts = product();
  counts.blocks = 1;
  EXPECT_DOUBLE_EQ(boundOf(counts, *findGpu("h100"))->imbalance, 132);
}

TEST(TimeBound, NamesWhatTheTableDoesNotHave) {
  CountReport counts = product();
  counts.target = "emu:gfx1100";
  counts.operations["matrix f8"] = 1;
  auto bound = boundOf(counts, *findGpu("rx7900xtx"));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->missing, (std::vector<std::string>{"matrix f8", "issue"}));
}

TEST(TimeBound, NeedsCountsOfTheGpusTarget) {
  EXPECT_FALSE(boundOf(product(), *findGpu("a100")));
  CountReport nothing;
  nothing.target = "emu:sm_90a";
  EXPECT_FALSE(boundOf(nothing, *findGpu("h100")));
}

TEST(Gpus, HaveTargetsAndRates) {
  std::set<std::string> names;
  for (const GpuModel &gpu : gpuModels()) {
    SCOPED_TRACE(gpu.name);
    EXPECT_TRUE(names.insert(gpu.name).second);
    auto target = parseTarget(gpu.target);
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    EXPECT_GT(gpu.rateOf("float32"), 1e12);
    EXPECT_GT(gpu.rateOf("matrix f16"), gpu.rateOf("float32"));
    EXPECT_EQ(gpu.rateOf("matrix f128"), 0);
    // Two operations of each lane and clock, or four where two go at once; clocks of data sheets
    // differ by a few percent between kinds of work.
    double perClock = gpu.rateOf("float32") / (gpu.clock * gpu.processors);
    EXPECT_GT(perClock, 120);
    bool isOfTwoUnits = llvm::StringRef(gpu.target).starts_with("hip:gfx1"); // a WGP of RDNA
    EXPECT_LT(perClock, isOfTwoUnits ? 540 : 270);
    EXPECT_GT(gpu.bandwidth, 5e11);
    EXPECT_LT(gpu.bandwidth, 1e13);
  }
  EXPECT_EQ(findGpu("h100")->rateOf("special"), 16 * 132 * 1980e6);
  EXPECT_EQ(findGpu("H100"), nullptr);
}

} // namespace
