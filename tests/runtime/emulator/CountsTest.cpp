// Counts against numbers derived by hand.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/Tensor.h"
#include <memory>

using namespace kiln::emulator::testing;

namespace {

COUNTED_SITE(reads, "llvm.load", 12, 0, "shared load", 0);
COUNTED_SITE(writes, "llvm.store", 11, 1, "shared store", 0);
COUNTED_SITE(multiplies, "nvvm.mma.sync", 13, 2, "matrix", 1);
COUNTED_SITE(copies, "nvvm.cp.async.shared.global", 14, 3, "async copy", 0);
COUNTED_SITE(branches, "llvm.cond_br", 15, 4, "branch", 0);
COUNTED_SITE(adds, "llvm.fadd", 16, 5, "float32", 0);
COUNTED_SITE(increments, "llvm.atomicrmw", 17, 6, "atomic", 0);
COUNTED_SITE(boxes, "nvvm.cp.async.bulk.tensor.shared.cluster.global", 18, 7, "async copy", 0);

/// A block that counts at all of these.
struct CountingBlock : EmulatedBlock {
  CountingBlock() {
    count = true;
    sites = {&reads, &writes, &multiplies, &copies, &branches, &adds, &increments, &boxes};
  }
  const kiln_emulator_count &at(const kiln_emu_site &site) const { return counts.at(site.index); }
};

/// 64 KiB, of which the first byte begins a sector.
struct Memory {
  std::vector<char> bytes = std::vector<char>(65536 + 128);
  char *data() {
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (128 - address % 128);
  }
};

kiln_emulator_count globalLoad(uint32_t bytes, uint32_t stride, uint32_t offset) {
  Memory memory;
  CountingBlock block;
  block.threads = 64;
  block.run([&](kiln_emu_thread *t) {
    char value[16];
    kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, memory.data() + offset + stride * t->thread, value,
                  bytes, 1, 1);
  });
  return block.at(reads);
}

TEST(Counts, SectorsOfARequest) {
  // Two warps each.
  kiln_emulator_count words = globalLoad(4, 4, 0);
  EXPECT_EQ(words.global_requests, 2u);
  EXPECT_EQ(words.sectors, 2 * 4u) << "32 lanes of 4 bytes";
  EXPECT_EQ(words.ideal_sectors, 2 * 4u);
  EXPECT_EQ(words.global_read, 256u);
  EXPECT_EQ(words.global_written + words.shared_read + words.shared_written, 0u);
  kiln_emulator_count vectors = globalLoad(16, 16, 0);
  EXPECT_EQ(vectors.sectors, 2 * 16u);
  EXPECT_EQ(vectors.ideal_sectors, 2 * 16u);
  EXPECT_EQ(globalLoad(4, 4, 4).sectors, 2 * 5u) << "misaligned: one more";
  EXPECT_EQ(globalLoad(4, 4, 4).ideal_sectors, 2 * 4u);
  EXPECT_EQ(globalLoad(4, 8, 0).sectors, 2 * 8u) << "every other word: twice as many";
  EXPECT_EQ(globalLoad(4, 64, 0).sectors, 2 * 32u) << "a sector for each lane";
  EXPECT_EQ(globalLoad(4, 0, 0).sectors, 2 * 1u) << "all the same word";
  EXPECT_EQ(globalLoad(4, 0, 30).sectors, 2 * 2u) << "across the end of a sector";
}

TEST(Counts, PredicatedLanesDoNotCount) {
  Memory memory;
  CountingBlock block;
  block.threads = 64;
  block.run([&](kiln_emu_thread *t) {
    uint32_t value;
    for (int i = 0; i < 3; ++i)
      kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, memory.data() + 4 * t->thread, &value, 4, 4,
                    t->thread < 8);
  });
  EXPECT_EQ(block.at(reads).global_requests, 3u) << "none by the second warp";
  EXPECT_EQ(block.at(reads).sectors, 3u);
  EXPECT_EQ(block.at(reads).global_read, 3u * 8 * 4);
}

/// A 32 x 32 transposition through shared memory: rows are written, columns read; word (r, c) is at
/// place(r, c).
std::pair<kiln_emulator_count, kiln_emulator_count>
transposition(const std::function<uint32_t(uint32_t, uint32_t)> &place) {
  CountingBlock block;
  block.sharedBytes = 33 * 32 * 4;
  block.run([&](kiln_emu_thread *t) {
    uint32_t value = 0;
    for (uint32_t row = 0; row < 32; ++row)
      kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + 4 * place(row, t->thread), &value, 4,
                     4, 1);
    for (uint32_t column = 0; column < 32; ++column)
      kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + 4 * place(t->thread, column), &value, 4,
                    4, 1);
  });
  return {block.at(writes), block.at(reads)};
}

TEST(Counts, BankConflictsOfATransposition) {
  auto [plainWrites, plainReads] =
      transposition([](uint32_t row, uint32_t column) { return row * 32 + column; });
  EXPECT_EQ(plainWrites.wavefronts, 32u);
  EXPECT_EQ(plainReads.ideal_wavefronts, 32u);
  EXPECT_EQ(plainReads.wavefronts, 32u * 32) << "a column lies in one bank";
  EXPECT_EQ(plainReads.shared_requests, 32u);
  EXPECT_EQ(plainReads.shared_read, 32u * 32 * 4);
  auto [swizzledWrites, swizzledReads] =
      transposition([](uint32_t row, uint32_t column) { return row * 32 + (column ^ row); });
  EXPECT_EQ(swizzledWrites.wavefronts, 32u);
  EXPECT_EQ(swizzledReads.wavefronts, 32u);
  auto [paddedWrites, paddedReads] =
      transposition([](uint32_t row, uint32_t column) { return row * 33 + column; });
  EXPECT_EQ(paddedWrites.wavefronts, 32u);
  EXPECT_EQ(paddedReads.wavefronts, 32u);
}

TEST(Counts, WideSharedAccessesTakeTurns) {
  CountingBlock block;
  block.run([](kiln_emu_thread *t) {
    uint32_t words[4] = {};
    kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + 16 * t->thread, words, 16, 16, 1);
  });
  EXPECT_EQ(block.at(writes).wavefronts, 4u) << "512 bytes, 128 at a time";
  EXPECT_EQ(block.at(writes).ideal_wavefronts, 4u);
}

/// Rows of all banks, each filled by lanes that waves of 64 are served together when they read.
TEST(Counts, WavesOf64ReadWideByGroupsOfLanes) {
  for (uint32_t banks : {32u, 64u}) {
    CountingBlock block;
    block.threads = block.warpSize = 64;
    block.sharedBanks = banks;
    block.run([&](kiln_emu_thread *t) {
      uint32_t lane = t->thread, place = lane & 3, row;
      if (banks == 64) {
        place |= (lane & 8) >> 1 | (lane & 16) >> 1;
        row = ((lane >> 2 ^ lane >> 3 ^ lane >> 4) & 1) | (lane & 32) >> 4;
      } else {
        place |= (lane & 16) >> 2;
        row = ((lane >> 2 ^ lane >> 4) & 1) | (lane & 8) >> 2 | (lane & 32) >> 3;
      }
      char *address = t->shared + 16 * place + 4 * banks * row;
      uint32_t words[4] = {};
      kiln_emu_store(t, &writes, KILN_EMU_SHARED, address, words, 16, 16, 1);
      kiln_emu_load(t, &reads, KILN_EMU_SHARED, address, words, 16, 16, 1);
    });
    EXPECT_EQ(block.at(reads).wavefronts, 256 / banks) << banks;
    EXPECT_EQ(block.at(reads).ideal_wavefronts, 256 / banks) << banks;
    EXPECT_EQ(block.at(writes).wavefronts, 2 * 256 / banks) << "neighbours are in two rows";
    EXPECT_EQ(block.at(writes).ideal_wavefronts, 256 / banks) << banks;
  }
}

/// A mistake that a layout could have: rows of 64 bytes, a lane of 16 for each and four chunks of
/// it, are padded so that neighbouring lanes never meet in a bank.
TEST(Counts, RowsThatArePaddedForNeighboursConflictInWavesOf64) {
  CountingBlock block;
  block.threads = block.warpSize = 64;
  block.sharedBytes = 16 * 80;
  block.run([](kiln_emu_thread *t) {
    char *address = t->shared + 80 * (t->thread % 16) + 16 * (t->thread / 16);
    uint32_t words[4] = {};
    kiln_emu_store(t, &writes, KILN_EMU_SHARED, address, words, 16, 16, 1);
    kiln_emu_load(t, &reads, KILN_EMU_SHARED, address, words, 16, 16, 1);
  });
  EXPECT_EQ(block.at(writes).wavefronts, 8u);
  EXPECT_EQ(block.at(reads).wavefronts, 16u);
  EXPECT_EQ(block.at(reads).ideal_wavefronts, 8u);
}

TEST(Counts, LdmatrixReadsAMatrixAtATime) {
  // Rows of 16 bytes, one after the other: each 8 x 8 matrix is 128 bytes. With 128 bytes between
  // rows all eight lie in the same four banks.
  for (uint32_t stride : {16u, 128u}) {
    CountingBlock block;
    block.check = false;
    block.sharedBytes = 32 * 128;
    block.run([&](kiln_emu_thread *t) {
      uint32_t out[2];
      kiln_emu_ldmatrix(t, &reads, t->shared + stride * (t->thread % 16), 2, 0, out);
    });
    EXPECT_EQ(block.at(reads).shared_requests, 1u);
    EXPECT_EQ(block.at(reads).ideal_wavefronts, 2u);
    EXPECT_EQ(block.at(reads).wavefronts, stride == 16 ? 2u : 16u);
    EXPECT_EQ(block.at(reads).shared_read, 256u);
  }
}

TEST(Counts, AsyncCopiesReadGlobalAndWriteSharedMemory) {
  Memory memory;
  CountingBlock block;
  block.run([&](kiln_emu_thread *t) {
    // The upper half only writes zeros.
    kiln_emu_cp_async(t, &copies, t->shared + 16 * t->thread, memory.data() + 16 * t->thread, 16,
                      t->thread < 16 ? 16 : 0);
    kiln_emu_cp_async_commit(t);
    kiln_emu_cp_async_wait(t, 0);
  });
  const kiln_emulator_count &counts = block.at(copies);
  EXPECT_EQ(counts.global_requests, 1u);
  EXPECT_EQ(counts.sectors, 8u);
  EXPECT_EQ(counts.global_read, 256u);
  EXPECT_EQ(counts.shared_written, 512u);
  EXPECT_EQ(counts.wavefronts, 4u);
  EXPECT_EQ(counts.shared_read + counts.global_written, 0u);
}

TEST(Counts, BoxesAreOneRequest) {
  // Rows of 64 of 80 bytes; the last of 4 is outside of the tensor, as are 16 bytes of the others.
  Tensor tensor(KILN_TENSOR_F32, {16, 4}, {16, 4});
  ASSERT_EQ(tensor.map.strides[0], 80u);
  std::vector<char> memory(1024);
  tensor.map.base =
      reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(memory.data()) + 127) / 128 * 128);
  for (uint32_t operation : {KILN_EMU_BOX_LOAD, KILN_EMU_BOX_STORE, KILN_EMU_BOX_ADD}) {
    CountingBlock block;
    block.check = false;
    block.run([&](kiln_emu_thread *t) {
      const int32_t first[] = {4, 1};
      if (t->thread)
        return;
      kiln_emu_mbarrier_init(t, &adds, t->shared, 1);
      if (operation == KILN_EMU_BOX_LOAD)
        kiln_emu_tensor_load(t, &boxes, t->shared + 128, &tensor.map, first, 2, t->shared);
      else
        kiln_emu_tensor_store(t, &boxes, operation, &tensor.map, first, 2, t->shared + 128);
    });
    const kiln_emulator_count &count = block.at(boxes);
    const bool isLoad = operation == KILN_EMU_BOX_LOAD;
    EXPECT_EQ(count.global_requests, 1u);
    EXPECT_EQ(count.global_read, operation == KILN_EMU_BOX_STORE ? 0u : 3u * 48);
    EXPECT_EQ(count.global_written, isLoad ? 0u : 3u * 48);
    // Bytes 96 to 143, 176 to 223 and 256 to 303.
    EXPECT_EQ(count.sectors, 2u + 2 + 2);
    EXPECT_EQ(count.ideal_sectors, 5u);
    EXPECT_EQ(count.shared_requests, 1u);
    EXPECT_EQ(count.wavefronts, 2u);
    EXPECT_EQ(count.ideal_wavefronts, 2u);
    EXPECT_EQ(count.shared_written, isLoad ? 256u : 0u);
    EXPECT_EQ(count.shared_read, isLoad ? 0u : 256u);
  }
}

TEST(Counts, AtomicsReadAndWrite) {
  Memory memory;
  CountingBlock block;
  block.run([&](kiln_emu_thread *t) {
    kiln_emu_atomic(t, &increments, KILN_EMU_GLOBAL, memory.data() + 4 * t->thread, 4,
                    KILN_EMU_READS | KILN_EMU_WRITES, KILN_EMU_RELAXED, KILN_EMU_SCOPE_DEVICE);
  });
  EXPECT_EQ(block.at(increments).global_requests, 1u);
  EXPECT_EQ(block.at(increments).sectors, 4u);
  EXPECT_EQ(block.at(increments).global_read, 128u);
  EXPECT_EQ(block.at(increments).global_written, 128u);
}

TEST(Counts, ReductionsAreOneRequest) {
  Memory memory;
  CountingBlock block;
  block.run([&](kiln_emu_thread *t) {
    unsigned char nowhere[8];
    void *at = memory.data() + 8 * t->thread;
    EXPECT_EQ(kiln_emu_reduce(t, &increments, at, nowhere, 8, 2, t->thread < 16),
              t->thread < 16 ? at : nowhere);
  });
  EXPECT_EQ(block.at(increments).global_requests, 1u);
  EXPECT_EQ(block.at(increments).sectors, 4u);
  EXPECT_EQ(block.at(increments).global_read, 128u);
  EXPECT_EQ(block.at(increments).global_written, 128u);
}

TEST(Counts, MatrixInstructionsAreAWarps) {
  // 64 x 32 x 64 by m16n8k16: 4 * 4 * 4 instructions, 16 of each of four warps.
  CountingBlock block;
  block.threads = 128;
  uint32_t operations = 2 * 16 * 8 * 16;
  block.instructions = {{multiplies.index, 16, 16 * operations, 16 * operations}};
  block.blocks = {{0, 1, 0, KILN_EMU_NONE, KILN_EMU_NONE, KILN_EMU_NONE}};
  block.run([](kiln_emu_thread *t) { kiln_emu_enter(t, 0); });
  const kiln_emulator_count &counts = block.at(multiplies);
  EXPECT_EQ(counts.instructions, 64u);
  EXPECT_EQ(counts.thread_instructions, 64u * 32);
  EXPECT_EQ(counts.flops, uint64_t(2) * 64 * 32 * 64);
  EXPECT_EQ(counts.matrix_operations, counts.flops);
  EXPECT_STREQ(counts.operation, "nvvm.mma.sync");
  EXPECT_STREQ(counts.kind, "matrix");
}

/// for (i = 0; i < trips(thread); ++i) { if (way(thread, i)) adds; } by blocks 0 (entry), 1
/// (header), 2 (body's branch), 3 (the addition), 4 (latch), 5 (exit).
CountingBlock loopWithBranch(const std::function<uint32_t(uint32_t)> &trips,
                             const std::function<bool(uint32_t, uint32_t)> &way) {
  constexpr uint32_t none = KILN_EMU_NONE;
  CountingBlock block;
  block.threads = 48; // one and a half warps
  block.instructions = {{branches.index, 1, 0, 0}, {adds.index, 3, 3, 0}};
  block.blocks = {{0, 0, 0, none, none, none},        {0, 1, 1, 1, none, branches.index},
                  {0, 1, 1, 1, none, branches.index}, {1, 1, 1, 1, none, none},
                  {0, 0, 1, 1, none, none},           {0, 0, 0, none, none, none}};
  Memory memory;
  block.run([&](kiln_emu_thread *t) {
    kiln_emu_enter(t, 0);
    for (uint32_t i = 0;; ++i) {
      kiln_emu_enter(t, 1);
      if (i >= trips(t->thread))
        break;
      kiln_emu_enter(t, 2);
      if (way(t->thread, i)) {
        kiln_emu_enter(t, 3);
        uint32_t value;
        kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, memory.data() + 4 * t->thread, &value, 4, 4, 1);
      }
      kiln_emu_enter(t, 4);
    }
    kiln_emu_enter(t, 5);
  });
  return block;
}

TEST(Counts, LanesThatGoTogetherAreOneInstruction) {
  CountingBlock block = loopWithBranch([](uint32_t) { return 5; }, [](auto...) { return true; });
  EXPECT_EQ(block.at(adds).instructions, 2u * 5 * 3);
  EXPECT_EQ(block.at(adds).thread_instructions, 48u * 5 * 3);
  EXPECT_EQ(block.at(adds).flops, 48u * 5 * 3);
  EXPECT_EQ(block.at(branches).instructions, 2u * (6 + 5)) << "the header's last test too";
  EXPECT_EQ(block.at(branches).divergent_branches, 0u);
  EXPECT_EQ(block.at(reads).global_requests, 2u * 5);
}

TEST(Counts, DivergentBranchesSplitAWarp) {
  // In each round half of the lanes, another half each time.
  CountingBlock block = loopWithBranch(
      [](uint32_t) { return 4; }, [](uint32_t thread, uint32_t i) { return (thread + i) % 2; });
  EXPECT_EQ(block.at(adds).instructions, 2u * 4 * 3);
  EXPECT_EQ(block.at(adds).thread_instructions, 24u * 4 * 3);
  EXPECT_EQ(block.at(branches).divergent_branches, 2u * 4);
  EXPECT_EQ(block.at(branches).instructions, 2u * (5 + 4));
  EXPECT_EQ(block.at(reads).global_requests, 2u * 4);
}

TEST(Counts, LanesLeaveALoopAtDifferentTimes) {
  CountingBlock block =
      loopWithBranch([](uint32_t thread) { return thread % 32; }, [](auto...) { return true; });
  EXPECT_EQ(block.at(adds).instructions, (31u + 15) * 3) << "as many rounds as the longest lane";
  EXPECT_EQ(block.at(adds).thread_instructions, (31u * 32 / 2 + 15 * 16 / 2) * 3);
  // Each round one lane leaves; in the last all that are left do.
  EXPECT_EQ(block.at(branches).divergent_branches, 31u + 15);
}

TEST(Counts, LongLoopsAreCountedExactly) {
  // Lanes run far ahead of each other where nothing makes them wait.
  CountingBlock block =
      loopWithBranch([](uint32_t) { return 20000; },
                     [](uint32_t thread, uint32_t i) { return (thread ^ i) % 3 == 0; });
  uint64_t taken = 0;
  for (uint32_t thread = 0; thread < 48; ++thread)
    for (uint32_t i = 0; i < 20000; ++i)
      taken += (thread ^ i) % 3 == 0;
  EXPECT_EQ(block.at(adds).instructions, 2u * 20000 * 3) << "some lane in every round";
  EXPECT_EQ(block.at(adds).thread_instructions, taken * 3);
  EXPECT_EQ(block.at(branches).divergent_branches, 2u * 20000);
  EXPECT_EQ(block.at(reads).global_requests, 2u * 20000);
  EXPECT_EQ(block.at(reads).global_read, taken * 4);
}

TEST(Counts, RoundsOfAnInnerLoopBelongToThoseOfTheOuter) {
  // for i < 3: for j < (lane < 16 ? i : 2): adds. Together a lane is in (i, j) with others.
  constexpr uint32_t none = KILN_EMU_NONE;
  CountingBlock block;
  block.instructions = {{adds.index, 1, 1, 0}};
  block.blocks = {{0, 0, 1, 0, none, none}, {0, 0, 2, 1, 0, none}, {0, 1, 2, 1, none, none}};
  block.run([&](kiln_emu_thread *t) {
    for (uint32_t i = 0; i < 3; ++i) {
      kiln_emu_enter(t, 0);
      for (uint32_t j = 0;; ++j) {
        kiln_emu_enter(t, 1);
        if (j == (t->thread < 16 ? i : 2))
          break;
        kiln_emu_enter(t, 2);
      }
    }
  });
  EXPECT_EQ(block.at(adds).instructions, 6u);
  EXPECT_EQ(block.at(adds).thread_instructions, 16u * (0 + 1 + 2) + 16 * 6);
}

} // namespace
