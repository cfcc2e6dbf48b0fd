// Counts against numbers derived by hand.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include <memory>

using namespace kiln::emulator::testing;

namespace {

SITE(reads, "llvm.load", 12);
SITE(writes, "llvm.store", 11);
SITE(multiplies, "nvvm.mma.sync", 13);

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
  EmulatedBlock block;
  block.threads = 64;
  block.count = true;
  block.run([&](kiln_emu_thread *t) {
    char value[16];
    kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, memory.data() + offset + stride * t->thread, value,
                  bytes, 1, 1);
  });
  return block.counts.at(0);
}

TEST(Counts, SectorsOfARequest) {
  // Two warps each.
  kiln_emulator_count words = globalLoad(4, 4, 0);
  EXPECT_EQ(words.requests, 2u);
  EXPECT_EQ(words.sectors, 2 * 4u) << "32 lanes of 4 bytes";
  EXPECT_EQ(words.ideal_sectors, 2 * 4u);
  EXPECT_EQ(words.bytes, 256u);
  kiln_emulator_count vectors = globalLoad(16, 16, 0);
  EXPECT_EQ(vectors.sectors, 2 * 16u);
  EXPECT_EQ(vectors.ideal_sectors, 2 * 16u);
  EXPECT_EQ(globalLoad(4, 4, 4).sectors, 2 * 5u) << "misaligned: one more";
  EXPECT_EQ(globalLoad(4, 4, 4).ideal_sectors, 2 * 4u);
  EXPECT_EQ(globalLoad(4, 8, 0).sectors, 2 * 8u) << "every other word: twice as many";
  EXPECT_EQ(globalLoad(4, 64, 0).sectors, 2 * 32u) << "a sector for each lane";
  EXPECT_EQ(globalLoad(4, 0, 0).sectors, 2 * 1u) << "all the same word";
}

TEST(Counts, PredicatedLanesDoNotCount) {
  Memory memory;
  EmulatedBlock block;
  block.threads = 64;
  block.count = true;
  block.run([&](kiln_emu_thread *t) {
    uint32_t value;
    for (int i = 0; i < 3; ++i)
      kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, memory.data() + 4 * t->thread, &value, 4, 4,
                    t->thread < 8);
  });
  EXPECT_EQ(block.counts[0].instructions, 6u);
  EXPECT_EQ(block.counts[0].requests, 3u) << "none by the second warp";
  EXPECT_EQ(block.counts[0].sectors, 3u);
}

/// A 32 x 32 transposition through shared memory: rows are written, columns read; word (r, c) is at
/// place(r, c).
std::pair<kiln_emulator_count, kiln_emulator_count>
transposition(const std::function<uint32_t(uint32_t, uint32_t)> &place) {
  EmulatedBlock block;
  block.sharedBytes = 33 * 32 * 4;
  block.count = true;
  block.run([&](kiln_emu_thread *t) {
    uint32_t value = 0;
    for (uint32_t row = 0; row < 32; ++row)
      kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + 4 * place(row, t->thread), &value, 4,
                     4, 1);
    for (uint32_t column = 0; column < 32; ++column)
      kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + 4 * place(t->thread, column), &value, 4,
                    4, 1);
  });
  auto of = [&](uint32_t line) {
    for (const kiln_emulator_count &count : block.counts)
      if (count.line == line)
        return count;
    return kiln_emulator_count();
  };
  return {of(11), of(12)};
}

TEST(Counts, BankConflictsOfATransposition) {
  auto [plainWrites, plainReads] =
      transposition([](uint32_t row, uint32_t column) { return row * 32 + column; });
  EXPECT_EQ(plainWrites.wavefronts, 32u);
  EXPECT_EQ(plainReads.ideal_wavefronts, 32u);
  EXPECT_EQ(plainReads.wavefronts, 32u * 32) << "a column lies in one bank";
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
  EmulatedBlock block;
  block.count = true;
  block.run([](kiln_emu_thread *t) {
    uint32_t words[4] = {};
    kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + 16 * t->thread, words, 16, 16, 1);
  });
  EXPECT_EQ(block.counts[0].wavefronts, 4u) << "512 bytes, 128 at a time";
  EXPECT_EQ(block.counts[0].ideal_wavefronts, 4u);
}

TEST(Counts, MatrixInstructionsOfAProduct) {
  // 64 x 32 x 64 by m16n8k16: 4 * 4 * 4 instructions.
  static const kiln_emu_matrix matrix = {KILN_EMU_MMA_SYNC, 16,           8, 16, KILN_EMU_F16,
                                         KILN_EMU_F16,      KILN_EMU_F32, 0};
  EmulatedBlock block;
  block.threads = 128;
  block.count = true;
  block.run([](kiln_emu_thread *t) {
    uint32_t a[4] = {}, b[2] = {};
    float c[4] = {};
    for (int i = 0; i < 16; ++i)
      kiln_emu_multiply(t, &multiplies, &matrix, a, b, c, c);
  });
  EXPECT_EQ(block.counts[0].instructions, 64u);
  EXPECT_EQ(block.counts[0].operations, uint64_t(2) * 64 * 32 * 64);
  EXPECT_STREQ(block.counts[0].operation, "nvvm.mma.sync");
}

} // namespace
