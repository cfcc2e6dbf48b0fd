// Mistakes that the emulator must find, each beside the right program, on which it must stay
// silent.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include <cstring>

using namespace kiln::emulator::testing;

namespace {

SITE(writes, "llvm.store", 11);
SITE(reads, "llvm.load", 12);
SITE(waits, "nvvm.barrier0", 13);
SITE(otherWaits, "nvvm.barrier0", 14);
SITE(shuffles, "nvvm.shfl.sync", 15);
SITE(arrives, "nvvm.barrier.arrive", 16);
SITE(sets, "nvvm.setmaxregister", 17);
SITE(otherSets, "nvvm.setmaxregister", 18);

void store(kiln_emu_thread *t, uint32_t word, uint32_t value) {
  kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + 4 * word, &value, 4, 4, 1);
}
uint32_t load(kiln_emu_thread *t, uint32_t word) {
  uint32_t value = 0;
  kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + 4 * word, &value, 4, 4, 1);
  return value;
}
void barrier(kiln_emu_thread *t) { kiln_emu_barrier(t, &waits, 0, 0); }

/// Threads exchange words through shared memory, in two rounds, with or without each barrier.
std::vector<std::string> exchange(bool beforeRead, bool beforeNextWrite) {
  EmulatedBlock block;
  block.threads = 128;
  return block.run([&](kiln_emu_thread *t) {
    for (uint32_t round = 0; round < 2; ++round) {
      store(t, t->thread, t->thread + round);
      if (beforeRead)
        barrier(t);
      uint32_t got = load(t, (t->thread + 40) % 128);
      if (beforeRead && beforeNextWrite)
        EXPECT_EQ(got, (t->thread + 40) % 128 + round);
      if (beforeNextWrite)
        barrier(t);
    }
  });
}

TEST(Check, RemovedBarriersAreRaces) {
  EXPECT_TRUE(exchange(true, true).empty());
  auto reports = exchange(true, false);
  ASSERT_FALSE(reports.empty()) << "write after read";
  EXPECT_NE(reports[0].find("race on shared memory: 4 bytes at 0x"), std::string::npos);
  EXPECT_NE(reports[0].find("kernel.py:11"), std::string::npos) << reports[0];
  EXPECT_NE(reports[0].find("kernel.py:12 (llvm.load)"), std::string::npos) << reports[0];
  EXPECT_NE(reports[0].find("program (2, 1, 0), thread "), std::string::npos) << reports[0];
  EXPECT_FALSE(exchange(false, true).empty()) << "read after write";
}

TEST(Check, AccessesOfOneThreadAndReadsOfManyDoNotRace) {
  EmulatedBlock block;
  auto reports = block.run([](kiln_emu_thread *t) {
    if (t->thread == 0)
      store(t, 0, 1);
    barrier(t);
    EXPECT_EQ(load(t, 0), 1u);
    store(t, 1 + t->thread, 2);
    load(t, 1 + t->thread);
    store(t, 1 + t->thread, 3);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(Check, WarpBarriersOrderWithinTheWarpOnly) {
  auto run = [](uint32_t distance) {
    EmulatedBlock block;
    block.threads = 64;
    return block.run([=](kiln_emu_thread *t) {
      store(t, t->thread, t->thread);
      kiln_emu_warp_barrier(t, &waits, ~0u);
      load(t, t->thread ^ distance);
    });
  };
  EXPECT_TRUE(run(1).empty());
  EXPECT_FALSE(run(32).empty());
}

TEST(Check, BarriersOfPartOfABlockOrderThatPartOnly) {
  // Warps 0 and 1 exchange words behind barrier 1; warp 2 reads what warp 0 wrote, behind nothing
  // (or, in the right program, behind a barrier with warp 1, which came after the first).
  auto run = [](bool isOrdered) {
    EmulatedBlock block;
    block.threads = 96;
    return block.run([=](kiln_emu_thread *t) {
      uint32_t warp = t->thread / 32;
      if (warp < 2) {
        store(t, t->thread, t->thread);
        kiln_emu_barrier(t, &waits, 1, 64);
        EXPECT_EQ(load(t, t->thread ^ 32), t->thread ^ 32);
      }
      if (warp > 0 && isOrdered)
        kiln_emu_barrier(t, &otherWaits, 2, 64);
      if (warp == 2)
        load(t, t->thread - 64);
    });
  };
  EXPECT_TRUE(run(true).empty()) << run(true)[0];
  EXPECT_TRUE(anyReport(run(false), "race on shared memory")) << "reads what warp 0 wrote";
}

TEST(Check, BarriersThatCountAreMetByRoles) {
  // Warps 0 and 1 write, warp 2 reads, each at places of its own, for two rounds.
  enum { Right, ArrivesEarly, ArrivesTwice, NoSecond };
  auto run = [](int mistake) {
    EmulatedBlock block;
    block.threads = 96;
    return block.run([=](kiln_emu_thread *t) {
      for (uint32_t round = 0; round < 2; ++round) {
        if (t->thread / 32 == 2) {
          kiln_emu_barrier(t, &waits, 1, 96);
          EXPECT_EQ(load(t, t->thread - 64), mistake == ArrivesEarly ? ~0u : round);
          EXPECT_EQ(load(t, t->thread - 32), round);
          kiln_emu_barrier_arrive(t, &arrives, 2, 96);
          continue;
        }
        bool isEarly = mistake == ArrivesEarly && t->thread < 32;
        if (isEarly)
          kiln_emu_barrier_arrive(t, &arrives, 1, 96);
        else
          store(t, t->thread, round);
        if (mistake == ArrivesTwice && t->thread == 0)
          kiln_emu_barrier_arrive(t, &arrives, 1, 96);
        if (!isEarly)
          kiln_emu_barrier_arrive(t, &arrives, 1, 96);
        if (mistake != NoSecond)
          kiln_emu_barrier(t, &otherWaits, 2, 96);
      }
    });
  };
  EXPECT_TRUE(run(Right).empty()) << run(Right)[0];
  EXPECT_TRUE(oneReport(run(ArrivesEarly), "never written"));
  EXPECT_TRUE(oneReport(run(ArrivesTwice), "the thread comes to barrier 1 again before all 96"));
  EXPECT_TRUE(anyReport(run(NoSecond), "again before all 96 threads have come"));
}

TEST(Check, WhoOnlyArrivesIsNotOrderedWithOthers) {
  // Warp 1 reads behind the barrier; warp 0, which does not wait, writes behind it.
  for (bool waitsToo : {false, true}) {
    EmulatedBlock block;
    block.threads = 64;
    auto reports = block.run([=](kiln_emu_thread *t) {
      if (t->thread >= 32) {
        store(t, t->thread - 32, 1);
        kiln_emu_barrier(t, &waits, 3, 64);
        return;
      }
      if (waitsToo)
        kiln_emu_barrier(t, &otherWaits, 3, 64);
      else
        kiln_emu_barrier_arrive(t, &arrives, 3, 64);
      store(t, t->thread, 2);
    });
    if (waitsToo)
      EXPECT_TRUE(reports.empty()) << reports[0];
    else
      EXPECT_TRUE(oneReport(reports, "race on shared memory"));
  }
}

TEST(Check, BarriersThatCountWrongly) {
  EmulatedBlock block;
  block.threads = 96;
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) { kiln_emu_barrier(t, &waits, 1, 48); }),
                        "expected threads of whole warps at barrier 1, got 48"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    kiln_emu_barrier(t, &waits, 1, t->thread < 32 ? 64 : 96);
  }),
                        "barrier 1 is waited at for another number of threads"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    kiln_emu_barrier(t, t->thread % 2 ? &waits : &otherWaits, 1, 96);
  }),
                        "divergent barrier: other threads wait at nvvm.barrier0 at kernel.py:14"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) { kiln_emu_barrier(t, &waits, 16, 96); }),
                        "barrier 16: there are 16"));
}

/// Two warp groups set their registers: thread by thread what `registersOf` says, 0: not at all.
std::vector<std::string> withRegisters(const std::function<uint32_t(uint32_t)> &registersOf) {
  EmulatedBlock block;
  block.threads = 256;
  return block.run([&](kiln_emu_thread *t) {
    if (uint32_t registers = registersOf(t->thread))
      kiln_emu_set_max_registers(t, t->thread < 128 ? &sets : &otherSets, registers);
  });
}

TEST(Check, RegistersAreSetByWarpGroups) {
  auto right = withRegisters([](uint32_t thread) { return thread < 128 ? 40 : 232; });
  EXPECT_TRUE(right.empty()) << right[0];
  EXPECT_TRUE(oneReport(withRegisters([](uint32_t) { return 36; }),
                        "expected a multiple of 8 registers from 24 to 256, got 36"));
  EXPECT_TRUE(anyReport(withRegisters([](uint32_t) { return 16; }), "from 24 to 256, got 16"));
  EXPECT_TRUE(oneReport(withRegisters([](uint32_t thread) { return thread / 32 == 2 ? 0 : 40; }),
                        "expected all four warps of the group to set their registers, got 3"));
  EXPECT_TRUE(oneReport(withRegisters([](uint32_t thread) { return thread / 32 == 2 ? 48 : 40; }),
                        "divergent warp group: another warp sets 40 registers at kernel.py:17"));
  EXPECT_TRUE(oneReport(withRegisters([](uint32_t thread) { return thread == 7 ? 0 : 40; }),
                        "has returned"));
  EmulatedBlock large;
  large.threads = 512;
  EXPECT_TRUE(
      oneReport(large.run([](kiln_emu_thread *t) { kiln_emu_set_max_registers(t, &sets, 136); }),
                "the warp groups want 69632 registers together"));
}

TEST(Check, BytesOfAWordHaveOwnersOfTheirOwn) {
  // Each thread has a byte; after a barrier the words are read, then written whole, then byte by
  // byte.
  auto run = [](uint32_t step) {
    EmulatedBlock block;
    return block.run([=](kiln_emu_thread *t) {
      uint8_t byte = uint8_t(t->thread);
      auto storeByte = [&](uint32_t at) {
        kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + at, &byte, 1, 1, 1);
      };
      storeByte(t->thread);
      barrier(t);
      if (t->thread < 8) {
        EXPECT_EQ(load(t, t->thread), 0x03020100u + 0x04040404u * t->thread);
        store(t, t->thread, 0);
      }
      barrier(t);
      storeByte(t->thread / step);
    });
  };
  EXPECT_TRUE(run(1).empty()) << run(1)[0];
  EXPECT_TRUE(oneReport(run(2), "race on shared memory: 1 bytes at 0x"));
  EmulatedBlock block;
  auto reports = block.run([](kiln_emu_thread *t) {
    uint8_t byte = 0;
    if (t->thread % 4)
      kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + t->thread, &byte, 1, 1, 1);
    barrier(t);
    if (t->thread == 0)
      load(t, 3);
  });
  EXPECT_TRUE(oneReport(reports, "never written: 4 bytes")) << "one of the four";
}

TEST(Check, SharedMemoryThatNobodyWroteIsFound) {
  EmulatedBlock block;
  auto reports = block.run([](kiln_emu_thread *t) {
    store(t, t->thread, 7);
    barrier(t);
    // A wrong swizzle: 32 words were written, the read is of the next 32.
    EXPECT_EQ(load(t, t->thread ^ 32), ~0u);
  });
  EXPECT_TRUE(oneReport(reports, "never written: 4 bytes at 0x"));
}

TEST(Check, GlobalAccessesStayInRegisteredAllocations) {
  std::vector<float> data(40), out(40);
  for (uint32_t limit : {40, 41}) { // an off-by-one mask
    EmulatedBlock block;
    block.threads = 64;
    auto first = reinterpret_cast<uintptr_t>(data.data());
    block.ranges = {{first, first + 40 * sizeof(float), nullptr, 0}};
    auto reports = block.run([&](kiln_emu_thread *t) {
      float value = 0;
      kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, data.data() + t->thread, &value, 4, 4,
                    t->thread < limit);
    });
    if (limit == 40)
      EXPECT_TRUE(reports.empty()) << reports[0];
    else
      EXPECT_TRUE(oneReport(reports, "thread 40: llvm.load: load from no registered allocation"));
  }
}

TEST(Check, MisalignedAccessesEndTheBlock) {
  alignas(16) char data[64];
  EmulatedBlock block;
  block.check = false;
  auto reports = block.run([&](kiln_emu_thread *t) {
    uint32_t value[4];
    kiln_emu_load(t, &reads, KILN_EMU_GLOBAL, data + 8, value, 16, 16, 1);
    ADD_FAILURE() << "went on";
  });
  EXPECT_TRUE(oneReport(reports, "misaligned access: 16 bytes"));
}

TEST(Check, AccessesBeyondSharedMemoryEndTheBlock) {
  EmulatedBlock block;
  block.check = false;
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) { store(t, 256, 0); }),
                        "outside of the block's 1024 bytes of shared memory"));
}

TEST(Check, DivergentBarriersAreReported) {
  EmulatedBlock block;
  block.threads = 64;
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    kiln_emu_barrier(t, t->thread < 32 ? &waits : &otherWaits, 0, 0);
  }),
                        "divergent barrier: other threads wait at nvvm.barrier0 at kernel.py:13"));
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *t) {
    if (t->thread != 17)
      barrier(t);
  }),
                        "63 wait at nvvm.barrier0 at kernel.py:13, 1 have returned"));
}

TEST(Check, DivergentWarpsAreReported) {
  EmulatedBlock block;
  auto shuffle = [](kiln_emu_thread *t, const kiln_emu_site *site) {
    kiln_emu_shuffle(t, site, KILN_EMU_SHUFFLE_XOR, ~0u, 0, 1, 31);
  };
  EXPECT_TRUE(oneReport(
      block.run([&](kiln_emu_thread *t) { shuffle(t, t->thread % 2 ? &shuffles : &waits); }),
      "divergent warp"));
  EXPECT_TRUE(oneReport(block.run([&](kiln_emu_thread *t) {
    if (t->thread)
      shuffle(t, &shuffles);
  }),
                        "lane 0 of the warp has returned"));
}

TEST(Check, SpinLoopsLetOthersRun) {
  uint32_t flag = 0;
  EmulatedBlock block;
  block.threads = 256;
  auto reports = block.run([&](kiln_emu_thread *t) {
    // Thread 0 runs first and waits for the last one.
    kiln_emu_atomic(t, &writes, KILN_EMU_GLOBAL, &flag, 4, KILN_EMU_READS | KILN_EMU_WRITES,
                    KILN_EMU_RELAXED, KILN_EMU_SCOPE_DEVICE);
    if (t->thread == 255)
      __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
      kiln_emu_yield(t);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(Check, LaunchesThatDoNotFitTheCodeAreReported) {
  EmulatedBlock block;
  block.sharedBytes = 200 * 1024;
  EXPECT_TRUE(oneReport(block.run([](kiln_emu_thread *) {}), "the device has 163840"));
}

} // namespace
