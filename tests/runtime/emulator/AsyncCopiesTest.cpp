// Asynchronous copies land when they are waited for: each program that lacks a wait gets poison.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include <cstring>

using namespace kiln::emulator::testing;

namespace {

SITE(copies, "nvvm.cp.async.shared.global", 30);
SITE(reads, "llvm.load", 31);
SITE(waits, "nvvm.barrier0", 32);
SITE(mbarrier, "nvvm.mbarrier", 33);

constexpr uint32_t poison = ~0u;

uint32_t load(kiln_emu_thread *t, uint32_t offset) {
  uint32_t value = 0;
  kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + offset, &value, 4, 4, 1);
  return value;
}

/// Two groups in flight, of which a wait leaves `pending`; what a thread sees of the two.
std::pair<uint32_t, uint32_t> afterWait(int pending) {
  alignas(16) uint32_t source[2][32];
  for (uint32_t i = 0; i < 64; ++i)
    source[i / 32][i % 32] = 100 + i;
  std::pair<uint32_t, uint32_t> seen;
  EmulatedBlock block;
  auto reports = block.run([&](kiln_emu_thread *t) {
    for (uint32_t stage = 0; stage < 2; ++stage) {
      kiln_emu_cp_async(t, &copies, t->shared + 128 * stage + 4 * t->thread,
                        &source[stage][t->thread], 4, 4);
      kiln_emu_cp_async_commit(t);
    }
    if (pending >= 0)
      kiln_emu_cp_async_wait(t, uint32_t(pending));
    kiln_emu_barrier(t, &waits, 0, 0);
    uint32_t other = t->thread ^ 1;
    std::pair<uint32_t, uint32_t> mine{load(t, 4 * other), load(t, 128 + 4 * other)};
    if (t->thread == 0)
      seen = mine;
  });
  if (pending == 0)
    EXPECT_TRUE(reports.empty()) << reports[0];
  else
    EXPECT_TRUE(oneReport(reports, "also the destination of an asynchronous copy of thread 30 at "
                                   "kernel.py:30 (nvvm.cp.async.shared.global) that has not been "
                                   "waited for"));
  return seen;
}

TEST(AsyncCopies, LandAsLateAsTheWaitAllows) {
  EXPECT_EQ(afterWait(0), std::make_pair(101u, 133u));
  EXPECT_EQ(afterWait(1), std::make_pair(101u, poison)) << "the younger group is in flight";
  EXPECT_EQ(afterWait(2), std::make_pair(poison, poison));
  EXPECT_EQ(afterWait(-1), std::make_pair(poison, poison)) << "a removed wait";
}

TEST(AsyncCopies, WithoutABarrierOtherThreadsRace) {
  alignas(16) uint32_t source[32] = {};
  EmulatedBlock block;
  auto reports = block.run([&](kiln_emu_thread *t) {
    kiln_emu_cp_async(t, &copies, t->shared + 4 * t->thread, &source[t->thread], 4, 4);
    kiln_emu_cp_async_commit(t);
    kiln_emu_cp_async_wait(t, 0);
    load(t, 4 * (t->thread ^ 1));
  });
  // The first thread to read finds nothing written, a later one what another has just written.
  EXPECT_TRUE(anyReport(reports, "never written"));
  EXPECT_TRUE(anyReport(reports, "race on shared memory"));
}

TEST(AsyncCopies, WhatIsNotCopiedIsZero) {
  alignas(16) uint32_t source[4] = {1, 2, 3, 4};
  EmulatedBlock block;
  auto reports = block.run([&](kiln_emu_thread *t) {
    kiln_emu_cp_async(t, &copies, t->shared + 16 * t->thread, source, 16, t->thread % 2 ? 0 : 8);
    kiln_emu_cp_async_commit(t);
    kiln_emu_cp_async_wait(t, 0);
    EXPECT_EQ(load(t, 16 * t->thread + 4), t->thread % 2 ? 0u : 2u);
    EXPECT_EQ(load(t, 16 * t->thread + 8), 0u);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

SITE(warpCopies, "tilegpu.warp_copy", 34);

/// Three copies of two warps of 64, of which a wait leaves `pending`; what a thread sees of them.
std::vector<uint32_t> afterWaitForWarps(uint32_t pending) {
  constexpr uint32_t threads = 128, bytes = 16 * threads;
  alignas(16) static uint32_t source[3][4 * threads];
  for (uint32_t i = 0; i < 12 * threads; ++i)
    source[i / (4 * threads)][i % (4 * threads)] = 1000 + i;
  std::vector<uint32_t> seen;
  EmulatedBlock block;
  block.threads = threads;
  block.warpSize = 64;
  block.sharedBytes = 3 * bytes;
  auto reports = block.run([&](kiln_emu_thread *t) {
    for (uint32_t stage = 0; stage < 3; ++stage)
      kiln_emu_warp_copy(t, &warpCopies, t->shared + bytes * stage + t->thread / 64 * 1024,
                         &source[stage][4 * t->thread], stage != 1);
    kiln_emu_wait_copies(t, pending);
    kiln_emu_barrier(t, &waits, 0, 0);
    for (uint32_t stage = 0; stage < 3 && t->thread == 70; ++stage)
      seen.push_back(load(t, bytes * stage + 16 * t->thread));
    kiln_emu_wait_copies(t, 0);
  });
  EXPECT_EQ(reports.empty(), pending == 0);
  return seen;
}

TEST(WarpCopies, LandInTheirOrderAsLateAsTheWaitAllows) {
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(afterWaitForWarps(0), (Words{1280, 0, 2304})) << "zeros where nothing is copied";
  EXPECT_EQ(afterWaitForWarps(1), (Words{1280, 0, poison}));
  EXPECT_EQ(afterWaitForWarps(2), (Words{1280, poison, poison}));
  EXPECT_EQ(afterWaitForWarps(3), (Words{poison, poison, poison}));
}

TEST(MemoryBarriers, PhasesCompleteWhenAllHaveArrived) {
  EmulatedBlock block;
  block.threads = 64;
  unsigned order = 0, arrivals = 0;
  auto reports = block.run([&](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 64);
    kiln_emu_barrier(t, &waits, 0, 0);
    for (uint32_t phase = 0; phase < 3; ++phase) {
      ++arrivals;
      EXPECT_EQ(kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, 0), phase);
      kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, phase & 1);
      EXPECT_GE(arrivals, 64 * (phase + 1));
    }
    ++order;
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(order, 64u);
}

TEST(MemoryBarriers, TransactionsHoldAPhaseOpen) {
  EmulatedBlock block;
  auto reports = block.run([&](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 1);
    kiln_emu_barrier(t, &waits, 0, 0);
    if (t->thread == 0) {
      uint64_t state = kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, 256);
      EXPECT_FALSE(kiln_emu_mbarrier_test(t, &mbarrier, t->shared, state, 0));
      kiln_emu_mbarrier_transactions(t, &mbarrier, t->shared, -128);
      EXPECT_FALSE(kiln_emu_mbarrier_test(t, &mbarrier, t->shared, state, 0));
      kiln_emu_mbarrier_transactions(t, &mbarrier, t->shared, -128);
      EXPECT_TRUE(kiln_emu_mbarrier_test(t, &mbarrier, t->shared, state, 0));
      EXPECT_TRUE(kiln_emu_mbarrier_test(t, &mbarrier, t->shared, 0, 1));
    }
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

/// Copies whose mbarrier all threads of two warps wait for, or look at too early.
std::vector<std::string> throughMemoryBarrier(bool isOrdered) {
  alignas(16) uint32_t source[64];
  for (uint32_t i = 0; i < 64; ++i)
    source[i] = 7 * i;
  EmulatedBlock block;
  block.threads = 64;
  return block.run([&](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 64);
    kiln_emu_barrier(t, &waits, 0, 0);
    kiln_emu_cp_async(t, &copies, t->shared + 64 + 4 * t->thread, &source[t->thread], 4, 4);
    kiln_emu_cp_async_arrive(t, &mbarrier, t->shared, 1);
    if (!isOrdered)
      EXPECT_EQ(load(t, 64 + 4 * t->thread), poison);
    kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, 0);
    EXPECT_EQ(load(t, 64 + 4 * (t->thread ^ 35)), 7 * (t->thread ^ 35));
  });
}

TEST(MemoryBarriers, TrackAsynchronousCopies) {
  auto reports = throughMemoryBarrier(true);
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_TRUE(oneReport(throughMemoryBarrier(false), "the destination of an asynchronous copy"));
}

TEST(MemoryBarriers, OrderWhatCameBeforeTheArrivals) {
  // Warp 0 writes, warp 1 reads; the right parity waits for it, the wrong one does not.
  for (uint32_t parity : {0, 1}) {
    EmulatedBlock block;
    block.threads = 64;
    auto reports = block.run([&](kiln_emu_thread *t) {
      if (t->thread == 0)
        kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 32);
      kiln_emu_barrier(t, &waits, 0, 0);
      if (t->thread < 32) {
        kiln_emu_store(t, &copies, KILN_EMU_SHARED, t->shared + 64 + 4 * t->thread, &t->thread, 4,
                       4, 1);
        kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, 0);
      } else {
        kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, parity);
        load(t, 64 + 4 * (t->thread - 32));
      }
    });
    if (parity == 0)
      EXPECT_TRUE(reports.empty()) << reports[0];
    else
      EXPECT_TRUE(anyReport(reports, "race on shared memory"));
  }
}

TEST(MemoryBarriers, MistakesAreNamed) {
  EmulatedBlock block;
  EXPECT_TRUE(oneReport(
      block.run([](kiln_emu_thread *t) { kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, 0); }),
      "the mbarrier was not initialised"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 33);
    kiln_emu_barrier(t, &waits, 0, 0);
    kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, 0);
    kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, 0);
  }),
                        "deadlock: no thread of the block can run; 32 wait at nvvm.mbarrier"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &mbarrier, t->shared, 1);
    kiln_emu_barrier(t, &waits, 0, 0);
    uint64_t state = kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, 0);
    kiln_emu_barrier(t, &waits, 0, 0);
    if (t->thread == 0)
      kiln_emu_mbarrier_test(t, &mbarrier, t->shared, state, 0);
  }),
                        "mismatched phase"));
}

} // namespace
