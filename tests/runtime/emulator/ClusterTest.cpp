// Clusters of blocks: where they meet, what they see of each other's shared memory, and mistakes
// that must be found, each beside the right program.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/Tensor.h"

using namespace kiln::emulator::testing;

namespace {

SITE(inits, "nvvm.mbarrier.init", 9);
SITE(meets, "nvvm.cluster.arrive", 10);
SITE(waitsForAll, "nvvm.cluster.wait", 11);
SITE(maps, "nvvm.mapa", 12);
SITE(arrives, "nvvm.mbarrier.arrive", 13);
SITE(announces, "nvvm.mbarrier.arrive.expect_tx", 14);
SITE(waits, "nvvm.mbarrier.try_wait.parity", 15);
SITE(copies, "nvvm.cp.async.bulk.tensor.shared.cluster.global", 16);
SITE(reads, "llvm.load", 17);
SITE(ends, "nvvm.cluster.arrive", 18);

using Reports = std::vector<std::string>;

void meet(kiln_emu_thread *t, const kiln_emu_site &site = meets) {
  kiln_emu_cluster_arrive(t, &site);
  kiln_emu_cluster_wait(t, &waitsForAll);
}

uint32_t load(kiln_emu_thread *t, uint32_t offset) {
  uint32_t value = 0;
  kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + offset, &value, 4, 4, 1);
  return value;
}

TEST(Cluster, BlocksHaveRanksAndMemoryOfTheirOwn) {
  for (uint32_t blocks : {1u, 2u, 8u}) {
    EmulatedBlock block;
    block.cluster = blocks;
    block.threads = 64;
    std::vector<uint32_t> threads(blocks);
    std::vector<char *> memory(blocks);
    auto reports = block.run([&](kiln_emu_thread *t) {
      ASSERT_LT(t->rank, blocks);
      EXPECT_EQ(t->program[0], 2u);
      ++threads[t->rank];
      memory[t->rank] = t->shared;
      meet(t);
      for (uint32_t rank = 0; rank < blocks; ++rank)
        EXPECT_EQ(kiln_emu_cluster_address(t, &maps, t->shared + 40, rank), memory[rank] + 40);
      meet(t);
    });
    EXPECT_TRUE(reports.empty()) << reports[0];
    EXPECT_EQ(threads, std::vector<uint32_t>(blocks, 64));
  }
}

TEST(Cluster, WhoHasReturnedIsNotWaitedFor) {
  EmulatedBlock block;
  block.cluster = 2;
  uint32_t met = 0;
  auto reports = block.run([&](kiln_emu_thread *t) {
    if (t->thread % 2)
      return;
    meet(t);
    ++met;
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(met, 32u);
}

TEST(Cluster, ABlockThatDoesNotComeIsADeadlock) {
  EmulatedBlock block;
  block.cluster = 2;
  auto reports = block.run([&](kiln_emu_thread *t) {
    if (t->rank == 0)
      return meet(t);
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
    kiln_emu_warp_barrier(t, &reads, ~0u);
    kiln_emu_mbarrier_wait(t, &waits, t->shared, 0);
  });
  EXPECT_TRUE(oneReport(reports, "deadlock"));
}

TEST(Cluster, AnArrivalIsWaitedFor) {
  EmulatedBlock block;
  auto reports = block.run([&](kiln_emu_thread *t) {
    kiln_emu_cluster_arrive(t, &meets);
    kiln_emu_cluster_arrive(t, &meets);
  });
  EXPECT_TRUE(anyReport(reports, "expected barrier.cluster.wait"));
}

TEST(Cluster, ThereAreOnlySoManyBlocks) {
  EmulatedBlock block;
  block.cluster = 2;
  auto reports =
      block.run([&](kiln_emu_thread *t) { kiln_emu_cluster_address(t, &maps, t->shared, 2); });
  EXPECT_TRUE(anyReport(reports, "block 2 of a cluster of 2"));
}

//===-- a box for all, of which each block's first thread starts a part
//------------------------------===//

/// Rows of 128 bytes, two slots; every warp reads all of them, and says so to all blocks.
struct Shared {
  static constexpr uint32_t blocks = 2, slots = 2, rounds = 5, rowBytes = 128, slotAt = 1024;

  /// What may be wrong.
  bool meetsFirst = true, meetsLast = true, releasesAll = true, waitsForEmpty = true;
  uint32_t expected = blocks * rowBytes;

  Tensor tensor{KILN_TENSOR_U32, {32, blocks *rounds}, {32, 1}};
  uint32_t numWrong = 0;

  static char *full(kiln_emu_thread *t, uint32_t slot) { return t->shared + 8 * slot; }
  static char *empty(kiln_emu_thread *t, uint32_t slot) { return t->shared + 64 + 8 * slot; }
  static uint32_t at(uint32_t slot) { return slotAt + slot * 1024; }

  void produce(kiln_emu_thread *t) {
    for (uint32_t round = 0; round < rounds; ++round) {
      uint32_t slot = round % slots, phase = round / slots;
      if (waitsForEmpty)
        kiln_emu_mbarrier_wait(t, &waits, empty(t, slot), (phase & 1) ^ 1);
      kiln_emu_mbarrier_arrive(t, &announces, full(t, slot), 1, expected);
      const int32_t place[] = {0, int32_t(round * blocks + t->rank)};
      kiln_emu_tensor_multicast(t, &copies, t->shared + at(slot) + t->rank * rowBytes, &tensor.map,
                                place, 2, full(t, slot), (1 << blocks) - 1);
    }
  }

  void consume(kiln_emu_thread *t) {
    for (uint32_t round = 0; round < rounds; ++round) {
      uint32_t slot = round % slots;
      kiln_emu_mbarrier_wait(t, &waits, full(t, slot), round / slots & 1);
      for (uint32_t row = 0; row < blocks; ++row) {
        uint32_t expected, lane = t->thread % 32;
        memcpy(&expected, tensor.at({int32_t(lane), int32_t(round * blocks + row)}), 4);
        numWrong += load(t, at(slot) + row * rowBytes + 4 * lane) != expected;
      }
      kiln_emu_warp_barrier(t, &reads, ~0u);
      uint32_t lane = t->thread % 32;
      if (lane < blocks)
        kiln_emu_mbarrier_arrive(
            t, &arrives,
            kiln_emu_cluster_address(t, &maps, empty(t, slot), releasesAll ? lane : t->rank), 1, 0);
    }
  }

  Reports run(bool check = true) {
    EmulatedBlock block;
    block.check = check;
    block.cluster = blocks;
    block.threads = 96; // two warps consume
    block.sharedBytes = slotAt + slots * 1024;
    block.ranges = {{reinterpret_cast<uintptr_t>(tensor.map.base),
                     reinterpret_cast<uintptr_t>(tensor.end()), nullptr, 0}};
    return block.run([&](kiln_emu_thread *t) {
      if (t->thread == 0) {
        for (uint32_t slot = 0; slot < slots; ++slot) {
          kiln_emu_mbarrier_init(t, &inits, full(t, slot), 1);
          kiln_emu_mbarrier_init(t, &inits, empty(t, slot), 2 * blocks);
        }
        kiln_emu_mbarrier_init_fence(t);
      }
      meetsFirst ? meet(t) : kiln_emu_barrier(t, &reads, 0, 0);
      if (t->thread == 0)
        produce(t);
      else if (t->thread >= 32)
        consume(t);
      if (meetsLast)
        meet(t, ends);
    });
  }
};

TEST(ClusterCopies, TheRightProgramIsSilent) {
  for (bool check : {false, true}) {
    Shared program;
    Reports reports = program.run(check);
    EXPECT_TRUE(reports.empty()) << reports[0];
    EXPECT_EQ(program.numWrong, 0u);
  }
}

TEST(ClusterCopies, ToMBarriersThatAreNotReady) {
  Shared program;
  program.meetsFirst = false;
  EXPECT_TRUE(anyReport(program.run(), "the mbarrier was not initialised"));
}

TEST(ClusterCopies, ToASlotThatAnotherBlockReads) {
  Shared program;
  program.releasesAll = false;
  EXPECT_TRUE(anyReport(program.run(), "race on shared memory"));
}

TEST(ClusterCopies, ToASlotThatNobodyHasReleased) {
  Shared program;
  program.waitsForEmpty = false;
  EXPECT_FALSE(program.run().empty());
}

TEST(ClusterCopies, AnEndThatOthersDoNotWaitFor) {
  Shared program;
  program.meetsLast = false;
  EXPECT_TRUE(anyReport(program.run(), "barrier of the cluster"));
}

TEST(ClusterCopies, OfOtherBytesThanAnnounced) {
  Shared few, many;
  few.expected /= 2;
  EXPECT_TRUE(anyReport(few.run(), "expected expect_tx of all bytes"));
  many.expected *= 2;
  EXPECT_TRUE(anyReport(many.run(), "deadlock"));
}

} // namespace
