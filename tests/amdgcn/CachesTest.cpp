#include "tests/amdgcn/Caches.h"
#include <gtest/gtest.h>

namespace kiln::amdgcn {
namespace {

/// Two places of a processor, where each workgroup has two waves.
class Places : public testing::TestWithParam<const char *> {
protected:
  uint32_t load(Caches &caches, unsigned wave, Scope scope = Scope::Unit) {
    uint32_t value = 0;
    caches.ofWave(wave).load(reinterpret_cast<uintptr_t>(&words[1]), &value, 4, scope);
    return value;
  }
  void store(Caches &caches, unsigned wave, uint32_t value, Scope scope = Scope::Unit) {
    caches.ofWave(wave).store(reinterpret_cast<uintptr_t>(&words[1]), &value, 4, scope);
  }
  bool isDistributed() const {
    return std::string(GetParam()) == "gfx942" || std::string(GetParam()) == "gfx950";
  }
  bool isCdna() const { return std::string(GetParam()).substr(0, 4) == "gfx9"; }

  alignas(64) uint32_t words[32] = {};
  Caches one{GetParam()}, other{GetParam()};
};

TEST_P(Places, AWaveSeesItsOwnStores) {
  load(one, 0);
  store(one, 0, 5);
  EXPECT_EQ(load(one, 0), 5u);
  EXPECT_EQ(load(one, 2), 5u);
}

TEST_P(Places, StoresReachMemoryUnlessAnL2KeepsThem) {
  store(one, 0, 5);
  EXPECT_EQ(words[1], isDistributed() ? 0u : 5u);
  one.ofWave(0).writeBack(Scope::Workgroup);
  EXPECT_EQ(words[1], isDistributed() ? 0u : 5u);
  one.ofWave(0).writeBack(Scope::Device);
  EXPECT_EQ(words[1], 5u);
  store(one, 0, 6, Scope::Device);
  EXPECT_EQ(words[1], 6u);
  store(one, 0, 7);
  one.writeBack();
  EXPECT_EQ(words[1], 7u);
}

TEST_P(Places, LinesStayUntilTheyAreDropped) {
  load(other, 0);
  words[1] = 5;
  EXPECT_EQ(load(other, 0), 0u);
  other.ofWave(0).invalidate(Scope::Workgroup);
  EXPECT_EQ(load(other, 0), 0u) << "the cache of the workgroup";
  other.ofWave(0).invalidate(Scope::Device);
  EXPECT_EQ(load(other, 0), 5u);
}

TEST_P(Places, OfAWorkgroupsTwoUnitsEachHasItsOwn) {
  load(one, 0);
  load(one, 1);
  store(one, 0, 5);
  EXPECT_EQ(load(one, 1), isCdna() ? 5u : 0u);
  one.ofWave(1).invalidate(Scope::Workgroup);
  EXPECT_EQ(load(one, 1), 5u);
}

TEST_P(Places, AccessesOfTheDeviceGoByThem) {
  load(other, 0);
  words[1] = 5;
  EXPECT_EQ(load(other, 0, Scope::Device), 5u);
  EXPECT_EQ(load(other, 0), 5u) << "what was fetched stays";
}

TEST_P(Places, NeighboursOfALineStayToo) {
  load(other, 0);
  words[2] = 5;
  uint32_t value = 1;
  other.ofWave(0).load(reinterpret_cast<uintptr_t>(&words[2]), &value, 4, Scope::Unit);
  EXPECT_EQ(value, 0u);
  other.ofWave(0).load(reinterpret_cast<uintptr_t>(&words[16]), &value, 4, Scope::Unit);
  EXPECT_EQ(value, 0u);
}

TEST_P(Places, WhatOthersWroteBackIsKept) {
  store(one, 0, 5);
  words[2] = 9;
  one.ofWave(0).invalidate(Scope::System);
  EXPECT_EQ(load(one, 0), 5u) << "stores that were not written back stay";
  uint32_t both[2];
  one.ofWave(0).load(reinterpret_cast<uintptr_t>(&words[1]), both, 8, Scope::Unit);
  EXPECT_EQ(both[0], 5u);
  EXPECT_EQ(both[1], 9u);
  one.writeBack();
  EXPECT_EQ(words[1], 5u);
  EXPECT_EQ(words[2], 9u);
}

TEST_P(Places, AtomicOperationsFindMemoryUpToDate) {
  load(one, 0);
  store(one, 0, 5);
  one.ofWave(0).release(reinterpret_cast<uintptr_t>(&words[1]), 4);
  EXPECT_EQ(words[1], 5u);
  words[1] = 6;
  EXPECT_EQ(load(one, 0), 6u);
}

TEST_P(Places, ScalarsHaveACacheOfTheirOwn) {
  uint32_t value = 1;
  one.ofScalars().load(reinterpret_cast<uintptr_t>(&words[0]), &value, 4, Scope::Unit);
  store(one, 0, 5);
  one.ofWave(0).writeBack(Scope::System);
  one.ofWave(0).invalidate(Scope::System);
  one.ofScalars().load(reinterpret_cast<uintptr_t>(&words[1]), &value, 4, Scope::Unit);
  EXPECT_EQ(value, 0u);
}

TEST_P(Places, ThereIsNoRoomForAll) {
  std::vector<uint64_t> many(8 * 70000);
  uint64_t value = 3;
  for (size_t line = 0; line != 70000; ++line)
    one.ofWave(0).store(reinterpret_cast<uintptr_t>(&many[8 * line]), &value, 8, Scope::Unit);
  EXPECT_EQ(many[0], 3u);
  one.writeBack();
  EXPECT_EQ(many[8 * 69999], 3u);
}

INSTANTIATE_TEST_SUITE_P(, Places,
                         testing::Values("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace kiln::amdgcn
