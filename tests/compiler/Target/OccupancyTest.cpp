// Facts of NVIDIA's occupancy calculator and of LLVM's AMDGPU back end.

#include "compiler/Target/Occupancy.h"
#include "compiler/Target/TargetInfo.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

struct Fact {
  const char *target;
  BlockNeeds needs;
  uint32_t blocks, warps;
  const char *limits;
};

void PrintTo(const Fact &fact, std::ostream *os) {
  *os << fact.target << ", " << fact.needs.threads << " threads, " << fact.needs.registers
      << " registers, " << fact.needs.sharedBytes << " bytes";
}

class OccupancyFacts : public ::testing::TestWithParam<Fact> {};

TEST_P(OccupancyFacts, Hold) {
  const Fact &fact = GetParam();
  std::optional<Occupancy> held = occupancyOf(fact.target, fact.needs);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->blocks, fact.blocks);
  EXPECT_EQ(held->warps, fact.warps);
  EXPECT_EQ(held->limits(), fact.limits);
}

constexpr uint64_t kib = 1024;

INSTANTIATE_TEST_SUITE_P(
    NVIDIA, OccupancyFacts,
    ::testing::Values(
        // 65,536 registers, 256 at a time for a warp, in four parts of 16,384.
        Fact{"cuda:sm_80", {128, 32, 0}, 16, 64, "registers, warps"},
        Fact{"cuda:sm_80", {128, 33, 0}, 12, 48, "registers"},
        Fact{"cuda:sm_80", {128, 64, 0}, 8, 32, "registers"},
        Fact{"cuda:sm_80", {128, 65, 0}, 7, 28, "registers"},
        Fact{"cuda:sm_90a", {256, 128, 0}, 2, 16, "registers"},
        Fact{"cuda:sm_90a", {384, 168, 0}, 1, 12, "registers"},
        Fact{"cuda:sm_90a", {256, 255, 0}, 1, 8, "registers"},
        Fact{"cuda:sm_90a", {512, 255, 0}, 0, 0, "registers"},
        // Each block has 1 KiB more than it asks for.
        Fact{"cuda:sm_80", {128, 32, 81 * kib}, 2, 8, "shared memory"},
        Fact{"cuda:sm_80", {128, 32, 81 * kib + 1}, 1, 4, "shared memory"},
        Fact{"cuda:sm_80", {128, 32, 163 * kib}, 1, 4, "shared memory"},
        Fact{"cuda:sm_80", {128, 32, 163 * kib + 1}, 0, 0, "shared memory"},
        Fact{"cuda:sm_86", {128, 32, 99 * kib}, 1, 4, "shared memory"},
        Fact{"cuda:sm_90a", {128, 32, 227 * kib}, 1, 4, "shared memory"},
        Fact{"cuda:sm_90a", {256, 154, 196640}, 1, 8, "registers, shared memory"},
        // 48 warps and 16 or 24 blocks on the smaller ones.
        Fact{"cuda:sm_86", {1024, 32, 0}, 1, 32, "warps"},
        Fact{"cuda:sm_86", {32, 16, 0}, 16, 16, "blocks"},
        Fact{"cuda:sm_89", {32, 16, 0}, 24, 24, "blocks"},
        Fact{"cuda:sm_120a", {64, 16, 0}, 24, 48, "warps, blocks"},
        Fact{"cuda:sm_100a", {32, 16, 0}, 32, 32, "blocks"},
        // A warp that is not full takes as much.
        Fact{"cuda:sm_80", {33, 32, 0}, 32, 64, "registers, warps, blocks"}));

INSTANTIATE_TEST_SUITE_P(
    AMD, OccupancyFacts,
    ::testing::Values(
        // 512 registers of a lane in each of four SIMDs, 8 at a time; 8 waves.
        Fact{"hip:gfx90a", {256, 64, 0}, 8, 32, "registers, warps"},
        Fact{"hip:gfx90a", {256, 65, 0}, 7, 28, "registers"},
        Fact{"hip:gfx942", {256, 128, 0}, 4, 16, "registers"},
        Fact{"hip:gfx942", {256, 129, 0}, 3, 12, "registers"},
        Fact{"hip:gfx942", {256, 512, 0}, 1, 4, "registers"},
        Fact{"hip:gfx942", {256, 32, 32 * kib}, 2, 8, "shared memory"},
        Fact{"hip:gfx942", {256, 32, 32 * kib + 1}, 1, 4, "shared memory"},
        // 160 KiB, 1,280 bytes at a time.
        Fact{"hip:gfx950", {256, 32, 64 * kib}, 2, 8, "shared memory"},
        // Blocks of several waves take one of 16 barriers.
        Fact{"hip:gfx942", {128, 16, 0}, 16, 32, "warps, blocks"},
        Fact{"hip:gfx942", {64, 16, 0}, 32, 32, "warps, blocks"},
        // 1,536 registers in each of a WGP's four SIMDs, 24 at a time; 16 waves of 32 lanes.
        Fact{"hip:gfx1100", {128, 96, 0}, 16, 64, "registers, warps"},
        Fact{"hip:gfx1100", {128, 97, 0}, 12, 48, "registers"},
        Fact{"hip:gfx1151", {128, 97, 0}, 12, 48, "registers"},
        Fact{"hip:gfx1201", {128, 256, 0}, 5, 20, "registers"},
        // 1,024 registers, 16 at a time.
        Fact{"hip:gfx1102", {128, 64, 0}, 16, 64, "registers, warps"},
        Fact{"hip:gfx1102", {128, 65, 0}, 12, 48, "registers"},
        Fact{"hip:gfx1150", {128, 256, 0}, 4, 16, "registers"},
        // 128 KiB, of which a block may have half.
        Fact{"hip:gfx1100", {128, 32, 40 * kib}, 3, 12, "shared memory"},
        // 32 barriers.
        Fact{"hip:gfx1100", {64, 32, 0}, 32, 64, "warps, blocks"}));

/// A compute unit's: half of an RDNA processor.
TEST(Occupancy, RegistersOfAllLanes) {
  auto all = [](const char *name) {
    std::optional<RegisterFile> file = registerFileOf(llvm::cantFail(parseTarget(name)));
    return file ? file->all : 0;
  };
  EXPECT_EQ(all("cuda:sm_80"), 65536u);
  EXPECT_EQ(all("hip:gfx942"), 4 * 512 * 64u);
  EXPECT_EQ(all("hip:gfx1100"), 2 * 1536 * 32u);
  EXPECT_EQ(all("hip:gfx1102"), 2 * 1024 * 32u);
  EXPECT_EQ(all("emu:gfx1102"), 2 * 1024 * 32u);
  EXPECT_EQ(all("cuda:compute_80"), 0u);
}

TEST(Occupancy, OfMoreBlocksTakesFewerRegisters) {
  EXPECT_EQ(registersForBlocks("hip:gfx942", {256, 138, 0}, 4, 100), 128u);
  EXPECT_EQ(registersForBlocks("hip:gfx942", {256, 138, 0}, 4, 128), 128u);
  EXPECT_EQ(registersForBlocks("hip:gfx942", {256, 138, 0}, 4, 129), std::nullopt);
  EXPECT_EQ(registersForBlocks("cuda:sm_80", {128, 33, 0}, 16, 1), 32u);
  EXPECT_EQ(registersForBlocks("nonsense", {128, 33, 0}, 16, 1), std::nullopt);
}

TEST(Occupancy, OfMoreBlocksTakesLessSharedMemory) {
  EXPECT_EQ(occupancyOf("hip:gfx1100", {128, 64, 40000})->blocks, 3u);
  std::optional<uint64_t> bytes = sharedBytesForBlocks("hip:gfx1100", {128, 64, 40000}, 4);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(occupancyOf("hip:gfx1100", {128, 64, *bytes})->blocks, 4u);
  EXPECT_EQ(occupancyOf("hip:gfx1100", {128, 64, *bytes + 1})->blocks, 3u);
  EXPECT_EQ(sharedBytesForBlocks("hip:gfx1100", {128, 64, 40000}, 3), 40000u);
  EXPECT_EQ(sharedBytesForBlocks("hip:gfx1100", {128, 256, 40000}, 1000), std::nullopt);
  EXPECT_EQ(sharedBytesForBlocks("nonsense", {128, 64, 40000}, 1), std::nullopt);
}

TEST(Occupancy, IsUnknownWithoutAProcessor) {
  EXPECT_FALSE(occupancyOf("cpu:x86-64-v3", {1, 0, 0}));
  EXPECT_FALSE(occupancyOf("emu:sm_90a", {128, 32, 0}));
  EXPECT_FALSE(occupancyOf("cuda:compute_80", {128, 32, 0}));
  EXPECT_FALSE(occupancyOf("nonsense", {128, 32, 0}));
  EXPECT_FALSE(occupancyOf("cuda:sm_80", {0, 32, 0}));
  EXPECT_EQ(occupancyOf("cuda:sm_80", {UINT32_MAX, UINT32_MAX, UINT64_MAX / 2})->blocks, 0u);
}

} // namespace
