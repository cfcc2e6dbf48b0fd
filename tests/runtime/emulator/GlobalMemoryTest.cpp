// Global memory between the threads of a block (races) and between blocks (stores that land late),
// each mistake beside the right program.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include <cstring>
#include <thread>

using namespace kiln::emulator::testing;

namespace {

SITE(writes, "tilegpu.global_store", 11);
SITE(reads, "tilegpu.global_load", 12);
SITE(waits, "nvvm.barrier0", 13);
SITE(updates, "llvm.atomicrmw", 14);
SITE(sums, "tilegpu.global_reduce", 15);
SITE(sharedWrites, "llvm.store", 16);
SITE(sharedReads, "llvm.load", 17);

struct Memory {
  alignas(64) uint32_t words[1024] = {};

  void store(kiln_emu_thread *t, uint32_t at, uint32_t value) {
    kiln_emu_store(t, &writes, KILN_EMU_GLOBAL, &words[at], &value, 4, 4, 1);
  }
  uint32_t load(kiln_emu_thread *t, uint32_t at) {
    uint32_t value = 0;
    kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, &words[at], &value, 4, 4, 1);
    return value;
  }
  uint32_t add(kiln_emu_thread *t, uint32_t at, uint32_t value, uint32_t ordering,
               uint32_t scope = KILN_EMU_SCOPE_DEVICE) {
    kiln_emu_atomic(t, &updates, KILN_EMU_GLOBAL, &words[at], 4, KILN_EMU_READS | KILN_EMU_WRITES,
                    ordering, scope);
    return __atomic_fetch_add(&words[at], value, __ATOMIC_RELAXED);
  }
};

void barrier(kiln_emu_thread *t) { kiln_emu_barrier(t, &waits, 0, 0); }

std::vector<std::string> run(const EmulatedBlock::Body &body, uint32_t threads = 128) {
  EmulatedBlock block;
  block.threads = threads;
  return block.run(body);
}

TEST(GlobalRaces, ReadAfterWrite) {
  auto exchange = [](bool isOrdered) {
    Memory memory;
    return run([&](kiln_emu_thread *t) {
      memory.store(t, t->thread, t->thread);
      if (isOrdered)
        barrier(t);
      uint32_t got = memory.load(t, 127 - t->thread);
      if (isOrdered)
        EXPECT_EQ(got, 127 - t->thread);
    });
  };
  EXPECT_TRUE(exchange(true).empty()) << exchange(true)[0];
  auto reports = exchange(false);
  EXPECT_TRUE(anyReport(reports, "kernel.py:12:5: kernel, program (2, 1, 0), thread "));
  EXPECT_TRUE(anyReport(reports, "tilegpu.global_load: race on global memory: 4 bytes at 0x"));
  EXPECT_TRUE(anyReport(reports, " at kernel.py:11 (tilegpu.global_store) with no barrier"));
}

TEST(GlobalRaces, WriteAfterRead) {
  // All threads read an element that one of them then overwrites.
  auto update = [](bool isOrdered) {
    Memory memory;
    return run([&](kiln_emu_thread *t) {
      uint32_t before = memory.load(t, 7);
      if (isOrdered)
        barrier(t);
      if (t->thread == 127)
        memory.store(t, 7, before + 1);
    });
  };
  EXPECT_TRUE(update(true).empty()) << update(true)[0];
  EXPECT_TRUE(oneReport(update(false), "kernel.py:11:5"));
}

TEST(GlobalRaces, LanesOfAWarpAreOrderedByItsBarriersAlone) {
  auto exchange = [](bool isOrdered) {
    Memory memory;
    return run(
        [&](kiln_emu_thread *t) {
          memory.store(t, t->thread, 1);
          if (isOrdered)
            kiln_emu_warp_barrier(t, &waits, ~0u);
          memory.load(t, t->thread ^ 1);
        },
        32);
  };
  EXPECT_TRUE(exchange(true).empty()) << exchange(true)[0];
  EXPECT_TRUE(anyReport(exchange(false), "race on global memory"));
}

TEST(GlobalRaces, WritesOfOneValueDoNotRace) {
  auto write = [](bool isOne) {
    Memory memory;
    return run([&](kiln_emu_thread *t) { memory.store(t, 3, isOne ? 42 : t->thread); });
  };
  EXPECT_TRUE(write(true).empty()) << write(true)[0];
  EXPECT_TRUE(oneReport(write(false), "race on global memory"));
}

TEST(GlobalRaces, PartsOfAGranuleAreApart) {
  // Vectors, then words, then bytes of the same memory, each with a thread of its own.
  auto write = [](uint32_t overlap) {
    Memory memory;
    return run([&](kiln_emu_thread *t) {
      const uint32_t value[4] = {t->thread, 1, 2, 3};
      auto *bytes = reinterpret_cast<uint8_t *>(memory.words);
      auto store = [&](size_t at, uint32_t size, uint32_t alignment) {
        kiln_emu_store(t, &writes, KILN_EMU_GLOBAL, bytes + at, value, size, alignment, 1);
      };
      store(t->thread * 16, 16, 16);
      barrier(t);
      store(t->thread * 4, 4, 4);
      // Across two granules.
      store(1024 + t->thread * 8 + 4, 8, 4);
      barrier(t);
      store(t->thread - (t->thread == 77 ? overlap : 0), 1, 1);
    });
  };
  EXPECT_TRUE(write(0).empty()) << write(0)[0];
  EXPECT_TRUE(oneReport(write(1), "race on global memory: 1 bytes at 0x"));
}

TEST(GlobalRaces, AtomicOperationsRaceWithPlainOnesAlone) {
  Memory memory;
  auto reports = run([&](kiln_emu_thread *t) {
    memory.add(t, 0, 1, KILN_EMU_RELAXED);
    barrier(t);
    EXPECT_EQ(memory.load(t, 0), 128u);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_TRUE(anyReport(run([&](kiln_emu_thread *t) {
                          memory.add(t, 0, 1, KILN_EMU_RELAXED);
                          if (t->thread == 99)
                            memory.load(t, 0);
                        }),
                        "accessed by thread 98 at kernel.py:14 (llvm.atomicrmw)"));
}

TEST(GlobalRaces, ReductionsAreAtomicForEachElement) {
  /// All threads add to words 4 to 7, if `adds`; thread 99 then loads word `loaded`.
  auto add = [](uint32_t first, bool adds, uint32_t loaded) {
    Memory memory;
    return run([&](kiln_emu_thread *t) {
      uint32_t nowhere[4] = {};
      auto *at = static_cast<uint32_t *>(
          kiln_emu_reduce(t, &sums, &memory.words[first], nowhere, 16, 4, adds));
      for (uint32_t i = 0; i < 4; ++i)
        __atomic_fetch_add(&at[i], 1, __ATOMIC_RELAXED);
      if (t->thread == 99)
        EXPECT_EQ(memory.load(t, loaded), loaded == 7 && adds ? 100u : 0u);
    });
  };
  EXPECT_TRUE(add(4, true, 8).empty()) << add(4, true, 8)[0];
  EXPECT_TRUE(add(4, false, 7).empty()) << add(4, false, 7)[0];
  EXPECT_TRUE(anyReport(add(4, true, 7), "accessed by thread 98 at kernel.py:15"));
}

TEST(GlobalRaces, ReductionsAreAligned) {
  Memory memory;
  uint32_t nowhere[4];
  auto add = [&](kiln_emu_thread *t, uint32_t adds) {
    kiln_emu_reduce(t, &sums, &memory.words[1], nowhere, 16, 4, adds);
  };
  EXPECT_TRUE(run([&](kiln_emu_thread *t) { add(t, 0); }).empty());
  EXPECT_TRUE(anyReport(run([&](kiln_emu_thread *t) { add(t, 1); }),
                        "kernel.py:15:5: kernel, program (2, 1, 0), thread 0: "
                        "tilegpu.global_reduce: misaligned atomic: 16 bytes at 0x"));
}

/// Thread 0 writes and sets a flag; thread 64, of another warp, waits for it and reads.
std::vector<std::string> handOver(uint32_t set, uint32_t wait, bool byFences) {
  Memory memory;
  auto update = [&](kiln_emu_thread *t, uint32_t value, uint32_t ordering) {
    if (byFences)
      kiln_emu_fence(t, KILN_EMU_GLOBAL, ordering & KILN_EMU_RELEASE, KILN_EMU_SCOPE_BLOCK);
    uint32_t before = memory.add(t, 1, value, byFences ? uint32_t(KILN_EMU_RELAXED) : ordering,
                                 KILN_EMU_SCOPE_BLOCK);
    if (byFences)
      kiln_emu_fence(t, KILN_EMU_GLOBAL, ordering & KILN_EMU_ACQUIRE, KILN_EMU_SCOPE_BLOCK);
    return before;
  };
  return run([&](kiln_emu_thread *t) {
    if (t->thread == 0) {
      memory.store(t, 0, 5);
      update(t, 1, set);
    } else if (t->thread == 64) {
      while (!update(t, 0, wait))
        ;
      EXPECT_EQ(memory.load(t, 0), 5u);
    }
  });
}

TEST(GlobalRaces, ReleaseAndAcquireOrder) {
  for (bool byFences : {false, true}) {
    SCOPED_TRACE(byFences);
    EXPECT_TRUE(handOver(KILN_EMU_RELEASE, KILN_EMU_ACQUIRE, byFences).empty());
    EXPECT_TRUE(handOver(KILN_EMU_ACQUIRE_RELEASE, KILN_EMU_ACQUIRE_RELEASE, byFences).empty());
    EXPECT_TRUE(oneReport(handOver(KILN_EMU_RELAXED, KILN_EMU_ACQUIRE, byFences), "race"));
    EXPECT_TRUE(oneReport(handOver(KILN_EMU_RELEASE, KILN_EMU_RELAXED, byFences), "race"));
  }
}

/// What is found of threads that exchange words by way of shared and of global memory, with an
/// s_barrier between and fences of these spaces around it.
std::vector<std::string> exchangeBetween(uint32_t before, uint32_t behind) {
  Memory memory;
  EmulatedBlock block;
  block.threads = 128;
  block.sharedBytes = 512;
  constexpr uint32_t none = ~0u;
  return block.run([&](kiln_emu_thread *t) {
    auto *shared = reinterpret_cast<uint32_t *>(t->shared);
    uint32_t value = t->thread, other = 127 - value, got = 0;
    kiln_emu_store(t, &sharedWrites, KILN_EMU_SHARED, shared + value, &value, 4, 4, 1);
    memory.store(t, value, value);
    if (before != none)
      kiln_emu_fence(t, before, KILN_EMU_RELEASE, KILN_EMU_SCOPE_BLOCK);
    kiln_emu_s_barrier(t, &waits);
    if (behind != none)
      kiln_emu_fence(t, behind, KILN_EMU_ACQUIRE, KILN_EMU_SCOPE_BLOCK);
    kiln_emu_load(t, &sharedReads, KILN_EMU_SHARED, shared + other, &got, 4, 4, 1);
    memory.load(t, other);
  });
}

TEST(SharedFences, OrderSharedMemoryAlone) {
  constexpr uint32_t none = ~0u, shared = KILN_EMU_SHARED, both = KILN_EMU_GLOBAL;
  auto finds = [](const std::vector<std::string> &reports, bool inShared, bool inGlobal) {
    return anyReport(reports, "race on shared memory") == inShared &&
           anyReport(reports, "race on global memory") == inGlobal;
  };
  EXPECT_TRUE(finds(exchangeBetween(both, both), false, false));
  EXPECT_TRUE(finds(exchangeBetween(shared, shared), false, true));
  EXPECT_TRUE(finds(exchangeBetween(both, shared), false, true));
  EXPECT_TRUE(finds(exchangeBetween(shared, both), false, true));
  for (uint32_t space : {shared, both}) {
    EXPECT_TRUE(finds(exchangeBetween(space, none), true, true));
    EXPECT_TRUE(finds(exchangeBetween(none, space), true, true));
  }
}

/// What is found of threads that read other threads' words of global memory, and write their own
/// (or the other way around), with an s_barrier between and these fences around it.
std::vector<std::string> takeTurns(uint32_t before, uint32_t behind, bool writesFirst) {
  Memory memory;
  EmulatedBlock block;
  block.threads = 128;
  return block.run([&](kiln_emu_thread *t) {
    uint32_t own = t->thread, other = 127 - own;
    if (writesFirst)
      memory.store(t, own, own);
    else
      memory.load(t, other);
    kiln_emu_fence(t, before, KILN_EMU_RELEASE, KILN_EMU_SCOPE_BLOCK);
    kiln_emu_s_barrier(t, &waits);
    kiln_emu_fence(t, behind, KILN_EMU_ACQUIRE, KILN_EMU_SCOPE_BLOCK);
    if (writesFirst)
      memory.load(t, other);
    else
      memory.store(t, own, own);
  });
}

TEST(ReadsFences, OrderReadsBeforeWritesAlone) {
  constexpr uint32_t reads = KILN_EMU_GLOBAL_READS, shared = KILN_EMU_SHARED, all = KILN_EMU_GLOBAL;
  EXPECT_TRUE(takeTurns(reads, reads, /*writesFirst=*/false).empty());
  EXPECT_TRUE(takeTurns(all, all, /*writesFirst=*/true).empty());
  EXPECT_TRUE(anyReport(takeTurns(reads, reads, /*writesFirst=*/true), "race on global memory"));
  for (auto [before, behind] : {std::pair(reads, shared), std::pair(shared, reads)})
    EXPECT_TRUE(
        anyReport(takeTurns(before, behind, /*writesFirst=*/false), "race on global memory"));
}

/// What a wave reads in memory that it has read before and another block has written since, behind
/// what `between` does; the block's waves share out so many caches.
uint32_t readAgain(uint32_t caches, uint32_t thread,
                   const std::function<void(Memory &, kiln_emu_thread *)> &between) {
  Memory memory;
  uint32_t got = 0;
  EmulatedBlock block;
  block.threads = 64; // two waves
  block.loadCaches = caches;
  auto reports = block.run([&](kiln_emu_thread *t) {
    memory.load(t, 7);
    // A full one would drop the waves' own caches.
    if (caches > 1)
      kiln_emu_s_barrier(t, &waits);
    else
      barrier(t);
    memory.words[7] = 1;
    between(memory, t);
    if (t->thread == thread)
      got = memory.load(t, 7);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  return got;
}

TEST(LoadCaches, ShowWhatWasThereUntilSomethingDropsIt) {
  auto nothing = [](Memory &, kiln_emu_thread *) {};
  EXPECT_EQ(readAgain(0, 0, nothing), 1u);
  EXPECT_EQ(readAgain(1, 0, nothing), 0u);
  EXPECT_EQ(readAgain(1, 0,
                      [](Memory &memory, kiln_emu_thread *t) {
                        kiln_emu_bypass(t, &memory.words[7], 4);
                      }),
            1u);
  EXPECT_EQ(readAgain(1, 0,
                      [](Memory &memory, kiln_emu_thread *t) {
                        if (t->thread == 0)
                          memory.add(t, 7, 0, KILN_EMU_RELAXED);
                      }),
            1u);
}

TEST(LoadCaches, AnAcquireOfOneWaveIsOfItsCache) {
  auto acquireByFirst = [](uint32_t scope) {
    return [scope](Memory &, kiln_emu_thread *t) {
      if (t->thread < 32)
        kiln_emu_fence(t, KILN_EMU_GLOBAL, KILN_EMU_ACQUIRE, scope);
      kiln_emu_s_barrier(t, &waits);
    };
  };
  for (uint32_t thread : {0u, 32u}) {
    EXPECT_EQ(readAgain(1, thread, acquireByFirst(KILN_EMU_SCOPE_DEVICE)), 1u);
    EXPECT_EQ(readAgain(2, thread, acquireByFirst(KILN_EMU_SCOPE_DEVICE)), thread < 32 ? 1u : 0u);
    // The block's cache is coherent within it.
    for (uint32_t caches : {1u, 2u})
      EXPECT_EQ(readAgain(caches, thread, acquireByFirst(KILN_EMU_SCOPE_BLOCK)), 0u);
  }
}

TEST(GlobalRaces, NameTheArgument) {
  Memory memory;
  EmulatedBlock block;
  block.threads = 64;
  auto first = reinterpret_cast<uintptr_t>(memory.words);
  block.ranges = {{first, first + sizeof memory.words, nullptr, 0}};
  auto reports = block.run([&](kiln_emu_thread *t) { memory.store(t, t->thread / 2, t->thread); });
  EXPECT_TRUE(oneReport(reports, "with no barrier between; it is in the allocation of 4096 bytes"));
}

/// What other blocks see of 64 words that two warps store, when warp 0 has released at `scope`,
/// after a barrier or not.
uint32_t visibleAfterRelease(bool isCumulative, bool hasBarrier, uint32_t scope,
                             bool everyWarp = false) {
  Memory memory;
  uint32_t visible = 0;
  EmulatedBlock block;
  block.threads = 64;
  block.hasCumulativeFences = isCumulative;
  auto reports = block.run([&](kiln_emu_thread *t) {
    memory.store(t, t->thread, 1);
    EXPECT_EQ(memory.load(t, t->thread), 1u) << "the block's own";
    if (everyWarp)
      kiln_emu_fence(t, KILN_EMU_GLOBAL, KILN_EMU_RELEASE, scope);
    if (hasBarrier)
      barrier(t);
    if (t->thread == 0) {
      memory.add(t, 100, 1, KILN_EMU_RELEASE, scope);
      visible = uint32_t(std::count(memory.words, memory.words + 64, 1u));
    }
    barrier(t);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(std::count(memory.words, memory.words + 64, 1u), 64) << "at the end";
  return visible;
}

/// What a block is told that reads its words after it has written those before `written`, all
/// being unwritten at first.
std::vector<std::string> readBehind(uint32_t written,
                                    const std::function<void(Memory &, kiln_emu_thread *)> &read) {
  Memory memory;
  EmulatedBlock block;
  const uint64_t unwritten = 0x7ffa7fc57fb37fe9;
  for (uint32_t i = 0; i < 1024; i += 2)
    std::memcpy(&memory.words[i], &unwritten, sizeof unwritten);
  auto first = reinterpret_cast<uintptr_t>(memory.words);
  block.ranges = {{first, first + 1021 * 4, nullptr, unwritten}};
  return block.run([&](kiln_emu_thread *t) {
    if (t->thread < written)
      memory.store(t, t->thread, 0);
    barrier(t);
    read(memory, t);
  });
}

TEST(Unwritten, ReadsAreReported) {
  auto loads = [](uint32_t count) {
    return [=](Memory &memory, kiln_emu_thread *t) {
      if (t->thread < count)
        memory.load(t, t->thread);
    };
  };
  EXPECT_TRUE(readBehind(32, loads(32)).empty());
  EXPECT_TRUE(readBehind(31, loads(31)).empty());
  EXPECT_TRUE(oneReport(readBehind(30, loads(31)),
                        "thread 30: tilegpu.global_load: read of global memory that was never "
                        "written: 4 bytes at 0x"));
  EXPECT_TRUE(oneReport(readBehind(31, loads(32)), "thread 31: tilegpu.global_load: read of"));
  // The last four bytes of what is registered.
  EXPECT_TRUE(oneReport(readBehind(32,
                                   [](Memory &m, kiln_emu_thread *t) {
                                     if (t->thread == 0)
                                       m.load(t, 1020);
                                   }),
                        "never written"));
}

TEST(Unwritten, AtomicOperationsReadToo) {
  auto sum = [](Memory &memory, kiln_emu_thread *t) { memory.add(t, 0, 1, KILN_EMU_RELAXED); };
  EXPECT_TRUE(readBehind(1, sum).empty());
  EXPECT_TRUE(oneReport(readBehind(0, sum), "llvm.atomicrmw: read of global memory"));
}

TEST(LateStores, AWaveReleasesItsOwnStores) {
  EXPECT_EQ(visibleAfterRelease(false, true, KILN_EMU_SCOPE_DEVICE), 32u);
  EXPECT_EQ(visibleAfterRelease(false, true, KILN_EMU_SCOPE_DEVICE, /*everyWarp=*/true), 64u);
  EXPECT_EQ(visibleAfterRelease(false, true, KILN_EMU_SCOPE_BLOCK, /*everyWarp=*/true), 0u);
}

TEST(LateStores, CumulativeReleasesCoverWhatABarrierOrders) {
  EXPECT_EQ(visibleAfterRelease(true, true, KILN_EMU_SCOPE_DEVICE), 64u);
  EXPECT_EQ(visibleAfterRelease(true, true, KILN_EMU_SCOPE_BLOCK), 0u);
  EXPECT_LT(visibleAfterRelease(true, false, KILN_EMU_SCOPE_DEVICE), 64u);
}

TEST(LateStores, LaterStoresOfOthersDoNotHideAReleasedOne) {
  // Warp 0 stores 1 and, once warp 1 has stored 2 over it, releases: others see 1 or 2.
  Memory memory;
  EmulatedBlock block;
  block.threads = 64;
  auto reports = block.run([&](kiln_emu_thread *t) {
    if (t->thread == 0)
      memory.store(t, 0, 1);
    barrier(t);
    if (t->thread == 32)
      memory.store(t, 0, 2);
    barrier(t);
    if (t->thread == 0) {
      memory.add(t, 100, 1, KILN_EMU_RELEASE);
      EXPECT_NE(memory.words[0], 0u);
      EXPECT_EQ(memory.load(t, 0), 2u);
    }
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(memory.words[0], 2u);
}

TEST(LateStores, AtomicOperationsSeeTheBlocksOwnStores) {
  Memory memory;
  auto reports = run([&](kiln_emu_thread *t) {
    memory.store(t, t->thread, 10);
    EXPECT_EQ(memory.add(t, t->thread, 1, KILN_EMU_RELAXED), 10u);
    EXPECT_EQ(memory.load(t, t->thread), 11u);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(LateStores, BecomeVisibleSomeDay) {
  // A plain store that another block waits for, of a block that then waits for that one.
  Memory memory;
  std::thread other([&] {
    while (!__atomic_load_n(&memory.words[0], __ATOMIC_RELAXED))
      std::this_thread::yield();
    __atomic_store_n(&memory.words[1], 1, __ATOMIC_RELAXED);
  });
  auto reports = run([&](kiln_emu_thread *t) {
    if (t->thread == 0) {
      memory.store(t, 0, 1);
      while (!memory.add(t, 1, 0, KILN_EMU_RELAXED))
        ;
    }
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  other.join();
}

/// Lanes bring the rest of 16 bytes that begin in an array, which is nobody's; no more than that.
TEST(GlobalBounds, BuffersBehindAnArray) {
  alignas(16) static uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EmulatedBlock block;
  block.threads = 1;
  auto load = [&](uint32_t at, uint32_t bytes, uint32_t elements, uint32_t *values) {
    auto first = reinterpret_cast<uintptr_t>(words);
    block.ranges = {{first, first + elements * sizeof(uint32_t), nullptr, 0}};
    return block.run([&](kiln_emu_thread *t) {
      kiln_emu_buffer_load(t, &reads, words, sizeof words, at * sizeof(uint32_t), 0, values, bytes);
    });
  };
  uint32_t values[4];
  EXPECT_TRUE(load(4, 16, 6, values).empty());
  EXPECT_EQ(values[1], 6u);
  EXPECT_EQ(values[2], ~0u);
  EXPECT_EQ(values[3], ~0u);
  EXPECT_TRUE(anyReport(load(4, 16, 4, values), "load from no registered allocation: 16 bytes"));
  EXPECT_TRUE(anyReport(load(2, 16, 4, values), "load from no registered allocation: 16 bytes"));
  EXPECT_TRUE(load(4, 16, 8, values).empty());
  EXPECT_EQ(values[3], 8u);
}

} // namespace
